// Defaults of flags in the config file, and `lagoon config`, which shows what holds.
#include "base/json.h"

#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::expect_refused;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

class StandingDefaults : public ::testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& arguments, const std::string& text, const std::string& name = "config.toml") {
    const auto path = folder_.write(name, text);
    return run_lagoon(arguments, {.environment = {"LAGOON_CONFIG=" + path.string(), "HF_HUB_CACHE=" + folder_.path().string()}});
  }
  /// The seed of an answer in JSON.
  uint64_t seed_of(const std::vector<std::string>& more, const std::string& text) {
    std::vector<std::string> words = {"generate", "nano", "hi", "--max-tokens", "1", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun answer = run(words, text);
    EXPECT_EQ(answer.exit_code, 0) << answer.error;
    return parse_json(answer.output, "output").at("seed").get<uint64_t>();
  }
  TemporaryFolder folder_;
};

TEST_F(StandingDefaults, FlagWinsOverSectionOverDefaults) {
  const std::string defaults = "[defaults]\nseed = 3\n";
  const std::string both = defaults + "[generate]\nseed = 4\n";
  EXPECT_EQ(seed_of({}, defaults), 3u);
  EXPECT_EQ(seed_of({}, both), 4u);
  EXPECT_EQ(seed_of({}, "[generate]\nseed = 4\n" + defaults), 4u);
  EXPECT_EQ(seed_of({"--seed", "5"}, both), 5u);
}

TEST_F(StandingDefaults, CountAsGiven) {
  // nano's generation_config.json says nothing about this, but greedy answers differ from hot ones.
  EXPECT_EQ(run({"generate", "nano", "What is 17 * 24?"}, "[generate]\ntemperature = 0\nthinking = 'on'\nshow-thinking = true\n").output,
            "<think>17 * 24 = 17 * 20 + 17 * 4. 17 * 20 = 340. 17 * 4 = 68. 340 + 68 = 408.</think>\n17 * 24 = 408\n");
  expect_refused(run({"generate", "nano", "hi"}, "[generate]\nmax_tokens = 0\n"),
                 "line 2: `generate.max_tokens` is 0: --max-tokens 0: write 1 or more");
  for (const char* line : {"threads = 0", "context = 0"})
    expect_refused(run({"generate", "nano", "hi"}, std::string("[defaults]\n") + line), "0: write ");
  expect_refused(run({"generate", "nano", "hi"}, "\n[generate]\ntop_p = 7\n"), "config.toml, line 3: `generate.top_p`");
  expect_refused(run({"generate", "nano", "--raw", "hi"}, "[generate]\nthinking = 'off'\n"), "line 2: `generate.thinking`");
}

TEST_F(StandingDefaults, ListsRepeatTheFlag) {
  EXPECT_EQ(run({"generate", "nano", "What is 17 * 24?"}, "[generate]\nthinking = 'off'\nstop = [' =', 'x']\n").output, "17 * 24\n");
  EXPECT_EQ(run({"generate", "nano", "What is 17 * 24?"}, "[generate]\nstop = '['\n").output, "17 * 24 = 408\n");
}

TEST_F(StandingDefaults, OfOtherCommandsChangeNothing) {
  EXPECT_EQ(run({"tokenize", "nano", "hi"}, "[generate]\nthreads = 1\n[bench]\nrepeats = 1\n[defaults]\nthreads = 1\n").output, "1094\n");
  EXPECT_EQ(run({"tokenize", "nano", "hi"}, "[tokenize]\nspecial = true\nbos = false\n").exit_code, 0);
}

TEST_F(StandingDefaults, AFlagThatExcludesThemLeavesThemOut) {
  const ProgramRun machine = run({"bench", "--compare", "a", "b"}, "[bench]\nprompts = '1k'\nprofile = true\n");
  EXPECT_THAT(machine.error, Not(HasSubstr("excludes")));
  EXPECT_THAT(machine.error, HasSubstr("a: "));
}

TEST_F(StandingDefaults, AValueOfDefaultsIsForTheCommandsThatTakeIt) {
  const std::string text = "[defaults]\nkv = 'f32'\n";
  EXPECT_EQ(run({"facts", "nano"}, text).exit_code, 0) << "facts knows no f32";
  EXPECT_THAT(run({"generate", "nano", "hi", "--max-tokens", "1", "--verbose"}, text).error, HasSubstr("--kv is \"f32\""));
  expect_refused(run({"facts", "nano"}, "[defaults]\nkv = 'f33'\n"), "`defaults.kv` is \"f33\"");
}

TEST_F(StandingDefaults, ANumberIsNoText) {
  expect_refused(run({"generate", "nano", "hi"}, "[generate]\nsystem = 5\n"), "`generate.system` is 5, a string was needed");
  expect_refused(run({"generate", "nano", "hi"}, "[generate]\ntemperature = '0.5'\n"), "a number was needed");
}

TEST_F(StandingDefaults, WhatIsNotKnownIsNamedWithWhatIs) {
  struct Case {
    const char* text;
    std::vector<const char*> parts;
  };
  for (const Case& one :
       std::vector<Case>{{"[generat]\nseed = 1", {"line 1: `generat` is no command", "did you mean `generate`?", "defaults, chat, generate, plan"}},
                         {"[generate]\ntemprature = 1", {"line 2: `generate.temprature`", "did you mean `temperature`?", "top-k, top-p"}},
                         {"[defaults]\nthread = 1", {"`defaults.thread` is no flag of any command", "did you mean `threads`?"}},
                         {"[generate]\nmtp = 1", {"`generate.mtp` is no flag"}},
                         {"[generate]\nMODEL = 'nano'", {"`generate.MODEL`", "only flags"}},
                         {"[defaults]\nquiet = true\nverbose = true", {"line 3: `defaults.verbose`", "--quiet and --verbose exclude each other"}},
                         {"[generate]\nchunk = 8\nprefill-chunk = 8", {"line 3: `generate.prefill-chunk` is set twice"}},
                         {"[generate]\nhelp = true", {"--help prints and ends"}},
                         {"[generate]\njson = true", {"--json says what one run does"}},
                         {"[generate]\nmessages = '/x'", {"--messages says what one run does"}},
                         {"[defaults]\njson = true", {"--json says what one run does"}},
                         {"[generate]\nmodels-dir = '/x'", {"models_dirs"}},
                         {"[generate]\ntemperature = 'hot'", {"`generate.temperature` is \"hot\"", "a number"}},
                         {"[generate]\ntemperature = true", {"`generate.temperature` is true", "a number"}},
                         {"[generate]\ntemperature = [1]", {"`generate.temperature` is [1]", "not a list"}},
                         {"[generate]\ntop-k = 1.5", {"`generate.top-k` is 1.5", "is no whole number"}},
                         {"[generate]\ntop-k = '5'", {"`generate.top-k` is \"5\"", "a whole number"}},
                         {"[generate]\nraw = 'yes'", {"`generate.raw` is \"yes\"", "true or false"}},
                         {"[generate]\nthinking = 'maybe'", {"`generate.thinking` is \"maybe\"", "on, off"}},
                         {"[generate]\nthinking = true", {"`generate.thinking` is true", "on, off"}},
                         {"[generate]\nkernels = 'magic'", {"`generate.kernels`", "scalar"}},
                         {"[generate]\nmemory-limit = '48'", {"`generate.memory-limit`", "the unit is missing"}},
                         {"[generate]\ntools = 'tools.json'", {"`generate.tools` is `tools.json`", "a path from / or ~/ on"}}}) {
    SCOPED_TRACE(one.text);
    // Whatever command is run: what is wrong is told before it bites.
    for (const std::vector<std::string>& words : {std::vector<std::string>{"tokenize", "nano", "hi"}, {"config"}}) {
      const ProgramRun refused = run(words, one.text);
      for (const char* part : one.parts) expect_refused(refused, part);
    }
  }
}

TEST_F(StandingDefaults, TheConsoleObeysThemToo) {
  const std::vector<std::string> words = {"generate", "nano", "Once upon a time", "--raw", "--temperature", "0", "--context", "12"};
  EXPECT_EQ(run(words, "[defaults]\nquiet = true\n").error, "");
  std::vector<std::string> loud = words;
  loud.push_back("--verbose");
  EXPECT_THAT(run(loud, "[defaults]\nquiet = true\n").error, HasSubstr("kernel set: "));
  const std::string log = (folder_.path() / "log").string();
  (void)run(words, "[generate]\nlog-file = '" + log + "'\n");
  EXPECT_THAT(testing_support::file_text(log), HasSubstr("warning the context"));
}

TEST_F(StandingDefaults, ConfigShowsEachSettingWithItsOrigin) {
  const std::string text =
      "reserve = '2GiB'\nmodels_dirs = ['" + folder_.path().string() + "']\n[models.tiny]\nmodel = 'nano'\n[generate]\ntop_k = 7\n";
  const ProgramRun shown = run({"config", "--json"}, text);
  const Json document = parse_json(shown.output, "output");
  const std::string file = (folder_.path() / "config.toml").string();
  EXPECT_EQ(document.at("config_file"), file);
  const auto setting = [&](const std::string& name) {
    for (const Json& one : document.at("settings")) {
      if (one.at("name") == name) return std::pair(one.at("value").get<std::string>(), one.at("from").get<std::string>());
    }
    return std::pair(std::string("none"), std::string("none"));
  };
  EXPECT_EQ(setting("config_file"), std::pair(file, std::string("LAGOON_CONFIG")));
  EXPECT_EQ(setting("reserve"), std::pair(std::string("2,147,483,648 bytes"), file + ", line 1"));
  EXPECT_EQ(setting("models_dirs").second, file + ", line 2");
  EXPECT_EQ(setting("models.tiny"), std::pair(std::string("nano"), file + ", line 3"));
  EXPECT_EQ(setting("generate.top-k"), std::pair(std::string("7"), file + ", line 6"));
  EXPECT_EQ(setting("generate.chunk"), std::pair(std::string("512"), std::string("built-in")));
  EXPECT_EQ(setting("memory_limit").second, "built-in");
  EXPECT_EQ(setting("hub_cache"), std::pair(folder_.path().string(), std::string("HF_HUB_CACHE")));
  EXPECT_EQ(setting("quiet"), std::pair(std::string("off"), std::string("built-in")));
  const ProgramRun table = run({"config", "--models-dir", folder_.path().string(), "--verbose"}, text);
  EXPECT_THAT(table.output, HasSubstr("command line"));
  EXPECT_THAT(table.output, HasSubstr("generate.top-k"));
  EXPECT_THAT(table.output, Not(HasSubstr("generate.chunk")));
  EXPECT_THAT(run({"config", "--all"}, text).output, HasSubstr("generate.chunk"));
}

TEST_F(StandingDefaults, ConfigNamesTheVariablesThatDecide) {
  const std::string base = folder_.path().string();
  const ProgramRun run =
      run_lagoon({"config", "--quiet"},
                 {.environment = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base, "HF_HUB_CACHE=", "HF_HOME=" + base, "NO_COLOR=1", "TERM=xterm"}});
  EXPECT_THAT(run.output, testing::ContainsRegex("config_file +" + base + "/lagoon/config.toml +XDG_CONFIG_HOME"));
  EXPECT_THAT(run.output, testing::ContainsRegex("hub_cache +" + base + "/hub +HF_HOME"));
  EXPECT_THAT(run.output, testing::ContainsRegex("colour +off +NO_COLOR"));
  EXPECT_THAT(run.output, testing::ContainsRegex("progress +off +--quiet"));
  EXPECT_THAT(run.output, testing::ContainsRegex("quiet +on +command line"));
}

TEST_F(StandingDefaults, TheFileIsFoundWhereItsNamesSay) {
  const std::string base = folder_.path().string();
  const auto path = [&](const std::vector<std::string>& environment) { return run_lagoon({"config", "--path"}, {.environment = environment}); };
  EXPECT_EQ(path({"LAGOON_CONFIG=/x/y.toml"}).output, "/x/y.toml\n");
  EXPECT_EQ(path({"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base}).output, base + "/lagoon/config.toml\n");
  EXPECT_EQ(path({"LAGOON_CONFIG=", "XDG_CONFIG_HOME=", "HOME=" + base}).output, base + "/.config/lagoon/config.toml\n");
  folder_.write("lagoon/config.json", "{}");
  EXPECT_EQ(path({"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base}).output, base + "/lagoon/config.json\n");
  folder_.write("lagoon/config.toml", "");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"config"}, {"config", "--path"}, {"models"}}) {
    const ProgramRun both = run_lagoon(words, {.environment = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base}});
    expect_refused(both, base + "/lagoon/config.toml and " + base + "/lagoon/config.json");
  }
}

TEST_F(StandingDefaults, ABrokenFileStopsNeitherHelpNorPages) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"--version"},
                                                {"generate", "--help"},
                                                {"completion", "bash"},
                                                {"man"},
                                                {"man", "generate"},
                                                {"model-names"},
                                                {"config", "--path"}}) {
    const ProgramRun broken = run(words, "[[[");
    EXPECT_EQ(broken.exit_code, 0) << words.front();
    EXPECT_EQ(broken.error, "");
    EXPECT_NE(broken.output, "");
  }
  expect_refused(run({"config"}, "[[["), "config.toml, line 1");
}

}  // namespace
}  // namespace lagoon
