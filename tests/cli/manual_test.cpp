// Manual pages as groff and man read them, and docs/cli.md as the program prints it.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

TEST(Manual, EveryPageIsReadWithoutAWarning) {
  const TemporaryFolder folder;
  const fs::path pages = folder.path() / "man1";
  EXPECT_EQ(run_lagoon({"man", "--all", pages.string()}).exit_code, 0);
  size_t count = 0;
  for (const auto& page : fs::directory_iterator(pages)) {
    SCOPED_TRACE(page.path().filename().string());
    ++count;
    const std::string out = (folder.path() / "out").string();
    EXPECT_EQ(std::system(("groff -man -Tutf8 -ww -z '" + page.path().string() + "' > '" + out + "' 2>&1").c_str()), 0);
    EXPECT_EQ(file_text(out), "");
    EXPECT_EQ(std::system(("LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l '" + page.path().string() + "' > '" + out + "' 2>&1").c_str()), 0);
    EXPECT_THAT(file_text(out), HasSubstr("--log-file FILE"));
  }
  EXPECT_GE(count, 16u);
  EXPECT_EQ(file_text(pages / "lagoon-generate.1"), run_lagoon({"man", "generate"}).output);
  EXPECT_EQ(file_text(pages / "lagoon.1"), run_lagoon({"man"}).output);
}

TEST(Manual, ShowsFlagsAsTheyAreTyped) {
  const TemporaryFolder folder;
  const fs::path page = folder.write("page.1", run_lagoon({"man", "tokenize"}).output);
  const std::string out = (folder.path() / "out").string();
  ASSERT_EQ(std::system(("LC_ALL=C.UTF-8 MANWIDTH=100 man -l '" + page.string() + "' > '" + out + "'").c_str()), 0);
  EXPECT_THAT(file_text(out), HasSubstr("lagoon tokenize nano --decode \"1094 290\""));
  EXPECT_THAT(file_text(out), HasSubstr("{\"ids\": [...]}"));
}

TEST(Manual, WhatCannotBePrintedIsRefused) {
  expect_refused(run_lagoon({"man", "generat"}), "did you mean `generate`?");
  expect_refused(run_lagoon({"man", "model-names"}), "is no command");
  expect_refused(run_lagoon({"man", "generate", "--markdown"}), "one thing");
  expect_refused(run_lagoon({"man", "--all", "/dev/null/x"}), "--all /dev/null/x");
}

TEST(Manual, TheReferenceIsWhatTheProgramPrints) {
  EXPECT_EQ(file_text(fs::path(LAGOON_SOURCE_DIR) / "docs" / "cli.md"), run_lagoon({"man", "--markdown"}).output)
      << "docs/cli.md is not what the program prints; renew it: build/release/lagoon man --markdown > docs/cli.md";
}

}  // namespace
}  // namespace lagoon
