// The rules of CONTRIBUTING.md that a machine can check, checked on the sources and on the built libraries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path source_root = LAGOON_SOURCE_DIR;

/// The folders of src/ in the order of docs/architecture.md: each may use those before it.
const std::vector<std::string> layers = {"base", "machine", "kernels", "checkpoint", "laguna", "text", "planning", "engine", "benchmark", "commands"};

std::vector<fs::path> sources_under(const std::vector<std::string>& folders) {
  std::vector<fs::path> files;
  for (const std::string& folder : folders) {
    if (!fs::exists(source_root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(source_root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) files.push_back(entry.path());
    }
  }
  EXPECT_GT(files.size(), 10u);
  return files;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string shown(const fs::path& path) { return fs::relative(path, source_root).string(); }

/// Every line of the sources that matches, as "file:line: text".
std::vector<std::string> matching_lines(const std::vector<fs::path>& files, const std::regex& pattern) {
  std::vector<std::string> found;
  for (const fs::path& path : files) {
    int number = 0;
    for (const std::string& line : lines_of(path)) {
      ++number;
      if (std::regex_search(line, pattern)) found.push_back(shown(path) + ":" + std::to_string(number) + ": " + line);
    }
  }
  return found;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) text.append(buffer.data(), got);
  return text;
}

std::string layer_of(const fs::path& path) { return fs::relative(path, source_root / "src").begin()->string(); }

TEST(Hygiene, IncludesGoUpwardOnly) {
  std::map<std::string, size_t> rank;
  for (const std::string& layer : layers) rank.emplace(layer, rank.size());
  const std::regex include("^#include \"([a-z_]+)/");
  for (const fs::path& path : sources_under({"src"})) {
    const std::string own = layer_of(path);
    if (own == "main.cpp") continue;
    ASSERT_TRUE(rank.contains(own)) << "src/" << own << " is not in the list of folders";
    for (const std::string& line : lines_of(path)) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string used = match[1];
      ASSERT_TRUE(rank.contains(used)) << shown(path) << ": " << line;
      EXPECT_LE(rank[used], rank[own]) << shown(path) << ": " << line;
    }
  }
}

TEST(Hygiene, OnlyKernelsIncludeInstructionSets) {
  const std::regex header("#include <(x86|imm|emm|xmm|avx|nmm|smm|tmm|arm_)[a-z0-9_]*\\.h>");
  for (const std::string& line : matching_lines(sources_under({"src"}), header)) {
    EXPECT_EQ(line.rfind("src/kernels/", 0), 0u) << line;
    EXPECT_NE(line.rfind("src/kernels/scalar/", 0), 0u) << line;
  }
}

TEST(Hygiene, OnlyCommandsReadTheEnvironment) {
  for (const std::string& line : matching_lines(sources_under({"src"}), std::regex("\\bgetenv\\b")))
    EXPECT_EQ(line.rfind("src/commands/", 0), 0u) << line;
}

TEST(Hygiene, NothingIsLeftForLater) { EXPECT_EQ(joined(matching_lines(sources_under({"src", "bench"}), std::regex("\\b(TODO|FIXME|XXX)\\b"))), ""); }

TEST(Hygiene, NoTestSleepsOrIsSwitchedOff) {
  std::vector<fs::path> tests;
  for (const fs::path& path : sources_under({"tests"})) {
    if (path.filename() != "hygiene_test.cpp") tests.push_back(path);
  }
  EXPECT_EQ(joined(matching_lines(tests, std::regex("\\bsleep_for\\b|\\busleep\\b|DISABLED_"))), "");
}

TEST(Hygiene, SourcesAreAscii) { EXPECT_EQ(joined(matching_lines(sources_under({"src", "tests", "bench"}), std::regex("[\\x80-\\xff]"))), ""); }

TEST(Hygiene, NoSourceHasMoreThan500Lines) {
  for (const fs::path& path : sources_under({"src", "tests", "bench"})) {
    if (shown(path).find("_tables.") != std::string::npos) continue;  // generated data
    EXPECT_LE(lines_of(path).size(), 500u) << shown(path);
  }
}

// Two types of one name make one of their functions stand for both, whichever the linker keeps.
TEST(Hygiene, NoTwoHeadersDefineATypeOfOneName) {
  const std::regex type("^(struct|class|enum class|union) ([A-Z][A-Za-z0-9]*)( final)?( :.*)? \\{");
  std::map<std::string, std::string> first;
  for (const fs::path& path : sources_under({"src"})) {
    // Templates of kernel sets stand in anonymous namespaces of the units that include them.
    if (path.extension() != ".h" || shown(path).rfind("src/kernels/", 0) == 0) continue;
    for (const std::string& line : lines_of(path)) {
      std::smatch match;
      if (!std::regex_search(line, match, type)) continue;
      const auto [at, added] = first.emplace(match[2], shown(path));
      EXPECT_TRUE(added) << match[2] << " in " << at->second << " and " << shown(path);
    }
  }
  EXPECT_GT(first.size(), 100u);
}

TEST(Hygiene, EveryHeaderIsGuardedAndBeginsWithItsPurpose) {
  for (const fs::path& path : sources_under({"src"})) {
    if (path.extension() != ".h") continue;
    const auto lines = lines_of(path);
    EXPECT_NE(std::find(lines.begin(), lines.end(), "#pragma once"), lines.end()) << shown(path);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front().rfind("// " + path.filename().string() + ": ", 0), 0u) << shown(path) << " begins with: " << lines.front();
  }
}

// compile_commands.json lists the flags of every unit that was built.
TEST(Hygiene, EveryUnitKeepsTheMeaningOfFloats) {
  std::ifstream file(LAGOON_BUILD_DIR "/compile_commands.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(text.empty());
  const std::regex command("\"command\": \"([^\\n]*)");
  int units = 0;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), command); at != std::sregex_iterator(); ++at, ++units) {
    const std::string flags = (*at)[1];
    EXPECT_NE(flags.find("-ffp-contract=off"), std::string::npos) << flags;
    for (const char* lax : {"-ffast-math", "-Ofast", "-funsafe-math", "-fassociative-math", "-march=native"}) {
      EXPECT_EQ(flags.find(lax), std::string::npos) << flags;
    }
  }
  EXPECT_GT(units, 50);
}

std::string symbols_of(const std::string& layer) { return output_of("nm -u -C '" LAGOON_BUILD_DIR "/src/liblagoon_" + layer + ".a' 2>/dev/null"); }

TEST(Hygiene, LibrariesNeitherPrintNorExit) {
  const std::regex forbidden(" U (abort|exit|_exit|quick_exit|printf|puts|putchar|vprintf|perror|std::cout|std::cerr|std::clog)(@|$)");
  for (const std::string& layer : layers) {
    if (layer == "commands") continue;
    const std::string symbols = symbols_of(layer);
    ASSERT_FALSE(symbols.empty()) << layer;
    std::istringstream lines(symbols);
    for (std::string line; std::getline(lines, line);) EXPECT_FALSE(std::regex_search(line, forbidden)) << layer << ": " << line;
  }
}

// The C library's functions differ between machines; kernels and model use their own (rule 2).
TEST(Hygiene, KernelsAndModelCallNoElementaryFunctionOfTheCLibrary) {
  const std::regex forbidden(" U (exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|sincos|tan|tanh|cbrt|hypot|erf)f?(@|$)");
  for (const std::string layer : {"base", "kernels", "laguna", "engine"}) {
    std::istringstream lines(symbols_of(layer));
    for (std::string line; std::getline(lines, line);) EXPECT_FALSE(std::regex_search(line, forbidden)) << layer << ": " << line;
  }
}

// What is compiled for instructions that not every machine has may not be called where they were not asked for. The linker keeps
// one of several equal weak functions, whichever that is: so these units define none, and nothing else but their entry points.
TEST(Hygiene, UnitsOfInstructionSetsDefineTheirEntryPointsOnly) {
  const fs::path objects = LAGOON_BUILD_DIR "/src/CMakeFiles/lagoon_kernels.dir/kernels";
  const std::vector<std::string> folders = {"avx2", "avx512", "avx512_vnni", "probes"};
  std::ifstream file(LAGOON_BUILD_DIR "/compile_commands.json");
  const std::string flags((std::istreambuf_iterator<char>(file)), {});
  if (!fs::exists(objects / "avx2")) GTEST_SKIP() << "this build has no vector kernel sets";
  if (flags.find("-fsanitize=") != std::string::npos || !std::regex_search(flags, std::regex("-O[23]")))
    GTEST_SKIP() << "only optimized builds without sanitizers put the small functions of shared headers in line";
  const std::regex entry(
      " T lagoon::(avx2|avx512|avx512_vnni)::add_[a-z_]+\\(lagoon::KernelSet&\\)$| T lagoon::probes::([a-z0-9_]+\\(long\\)|read_[0-9]+\\(std::byte "
      "const\\*, unsigned long\\))$");
  const std::regex global(" [A-Zu] ");
  int entries = 0;
  for (const std::string& folder : folders) {
    for (const auto& object : fs::directory_iterator(objects / folder)) {
      if (object.path().extension() != ".o") continue;
      std::istringstream symbols(output_of("nm -C --defined-only '" + object.path().string() + "' 2>/dev/null"));
      for (std::string line; std::getline(symbols, line);) {
        const bool expected = std::regex_search(line, entry);
        entries += expected ? 1 : 0;
        EXPECT_TRUE(expected || !std::regex_search(line.substr(0, 20), global)) << folder << "/" << object.path().filename().string() << ": " << line;
      }
    }
  }
  EXPECT_GE(entries, 17);  // 4 + 4 + 1 of the sets, 6 probes, 2 read loops
}

}  // namespace
