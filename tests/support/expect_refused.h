// expect_refused.h: what every refusal of the program looks like.
#pragma once

#include "support/run_program.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace lagoon::testing_support {

/// One sentence on standard error, nothing on standard output, this exit code.
inline void expect_refused(const ProgramRun& run, const std::string& part, int exit_code = 2) {
  EXPECT_EQ(run.exit_code, exit_code) << run.error;
  EXPECT_EQ(run.output, "");
  EXPECT_THAT(run.error, testing::StartsWith("lagoon: "));
  EXPECT_THAT(run.error, testing::HasSubstr(part));
  EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
}

}  // namespace lagoon::testing_support
