// faults.h: runs of the program in which an operation of the system goes wrong (tests/faults/shim says which can).
#pragma once

#include "faults/program/hostile.h"

#include <sstream>
#include <string>
#include <vector>

namespace lagoon::testing_support {

struct FaultPlan {
  std::string operation;  // read, write, sync, rename, close, allocate, step
  std::string at;         // a number, "each", "from N"; "0": none
  std::string kind;       // an errno, "short", "interrupted", "shrink", "signal N", "signals N M"
  std::string path = "";  // part of the path of the files that count; empty: all
};

/// One of the processes that "each" makes.
struct ForkedRun {
  int at = 0;
  int exit_code = 0;
  int64_t output_bytes = 0;
  int64_t live_bytes = 0;  // in blocks of 1 MiB and more, at its end
  std::string error;
};

struct FaultyRun {
  ProgramRun run;
  int operations = 0;
  int fired = 0;
  int64_t live_bytes = -1;
  std::vector<ForkedRun> forked;
};

inline bool faults_can_be_made() { return !std::string(FAULT_SHIM).empty(); }

inline FaultyRun run_with_fault(const Arguments& arguments, const FaultPlan& plan, ProgramInput given = {}) {
  const TemporaryFolder folder;
  const std::filesystem::path report = folder.path() / "report";
  given.environment.insert(given.environment.end(), {std::string("LD_PRELOAD=") + FAULT_SHIM, "FAULT_OPERATION=" + plan.operation,
                                                     "FAULT_AT=" + plan.at, "FAULT_KIND=" + plan.kind, "FAULT_REPORT=" + report.string()});
  if (!plan.path.empty()) given.environment.push_back("FAULT_PATH=" + plan.path);
  FaultyRun faulty = {.run = run_lagoon(arguments, given)};
  std::istringstream lines(file_text(report));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "operations") {
      words >> faulty.operations >> word >> faulty.fired >> word >> faulty.live_bytes;
      continue;
    }
    ForkedRun& forked = faulty.forked.emplace_back();
    words >> forked.at >> word >> forked.exit_code >> word >> forked.output_bytes >> word >> forked.live_bytes >> word;
    std::getline(words >> std::ws, forked.error);
  }
  return faulty;
}

/// What a process says that could not go on: one sentence, exit code 1 (or another), no output, nothing kept.
inline void expect_clean_failure(const ForkedRun& forked, const std::string& part, int exit_code = 1) {
  EXPECT_EQ(forked.exit_code, exit_code) << forked.error;
  EXPECT_EQ(forked.output_bytes, 0) << forked.error;
  EXPECT_EQ(forked.live_bytes, 0) << forked.error;
  EXPECT_THAT(forked.error, testing::StartsWith("lagoon: "));
  EXPECT_THAT(forked.error, testing::HasSubstr(part));
  EXPECT_EQ(forked.error.find('|'), std::string::npos) << forked.error;  // a second line
}

class Faulty : public testing::Test {
 protected:
  void SetUp() override {
    if (!faults_can_be_made()) GTEST_SKIP() << "sanitizers must be loaded first";
  }
  static std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }
};

}  // namespace lagoon::testing_support
