// The user's config file: what it sets, and how everything else in it is refused.
#include "commands/config_file.h"

#include "support/error_matchers.h"
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/without_privileges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::expect_error;
using testing_support::expect_refused;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

ConfigFile parse(std::string_view text) { return parse_config_file(text, "config.json", "/home/someone"); }

TEST(ConfigFile, EveryKeyIsRead) {
  const ConfigFile config = parse(R"({"memory_limit": "48GiB", "reserve": "2GiB", "models_dirs": ["/data/models", "~/more"],
    "models": {"s21": {"model": "mlx-community/Laguna-S-2.1-oQ4e", "revision": "8e3f5cad", "model_type": "laguna"}, "tiny": {"model": "nano"},
               "far": {"model": "~/far"}}})");
  EXPECT_EQ(config.memory_limit, uint64_t{48} << 30);
  EXPECT_EQ(config.reserve, uint64_t{2} << 30);
  EXPECT_EQ(config.models_dirs, (std::vector<std::filesystem::path>{"/data/models", "/home/someone/more"}));
  ASSERT_EQ(config.aliases.size(), 3u);
  EXPECT_EQ(config.aliases[0].name, "s21");
  EXPECT_EQ(config.aliases[0].model, "mlx-community/Laguna-S-2.1-oQ4e");
  EXPECT_EQ(config.aliases[0].revision, "8e3f5cad");
  EXPECT_EQ(config.aliases[0].model_type, "laguna");
  EXPECT_EQ(config.aliases[1].revision, std::nullopt);
  EXPECT_EQ(config.aliases[2].model, "/home/someone/far");
  EXPECT_TRUE(parse("{}").aliases.empty());
}

struct Refused {
  const char* text;
  std::vector<std::string> parts;
};

TEST(ConfigFile, WhatIsNotUnderstoodIsNamed) {
  const std::vector<Refused> cases = {
      {"[]", {"config.json: the document is []", "memory_limit, reserve, models_dirs, models"}},
      {"7", {"the document is 7"}},
      {"null", {"the document is null"}},
      {R"({"memory_limt": "1GiB"})", {"`memory_limt`", "memory_limit, reserve, models_dirs, models"}},
      {R"({"memory_limit": 48})", {"`memory_limit` is 48", "48GiB"}},
      {R"({"memory_limit": null})", {"`memory_limit` is null"}},
      {R"({"memory_limit": "48"})", {"`memory_limit`"}},
      {R"({"memory_limit": "-1GiB"})", {"`memory_limit`"}},
      {R"({"memory_limit": "99999999999999999999GiB"})", {"`memory_limit`"}},
      {R"({"memory_limit": "0B"})", {"`memory_limit` is 0"}},
      {R"({"reserve": {}})", {"`reserve` is {}"}},
      {R"({"reserve": ""})", {"`reserve`"}},
      {R"({"models_dirs": "/data"})", {"`models_dirs` is \"/data\"", "a list"}},
      {R"({"models_dirs": [1]})", {"`models_dirs` is 1"}},
      {R"({"models_dirs": [""]})", {"`models_dirs`"}},
      {R"({"models_dirs": ["data"]})", {"`models_dirs` is `data`", "~/"}},
      {R"({"models_dirs": ["/a\u0000b"]})", {"`models_dirs`"}},
      {R"({"models": []})", {"`models` is []"}},
      {R"({"models": {"a": "org/name"}})", {"`models.a` is \"org/name\"", "model, revision, model_type"}},
      {R"({"models": {"a": {}}})", {"`models.a.model` is missing"}},
      {R"({"models": {"a": {"model": 1}}})", {"`models.a.model` is 1"}},
      {R"({"models": {"a": {"model": ""}}})", {"`models.a.model`"}},
      {R"({"models": {"a": {"model": "./x"}}})", {"`models.a.model` is `./x`"}},
      {R"({"models": {"a": {"model": "o/n", "path": "/x"}}})", {"`models.a.path`", "model, revision, model_type"}},
      {R"({"models": {"a": {"model": "o/n", "revision": 1}}})", {"`models.a.revision` is 1"}},
      {R"({"models": {"a": {"model": "o/n", "revision": "../x"}}})", {"`models.a.revision` is `../x`"}},
      {R"({"models": {"a": {"model": "o/n@v1", "revision": "v2"}}})", {"`models.a.revision`", "of its own"}},
      {R"({"models": {"a": {"model": "/x", "revision": "v2"}}})", {"`models.a.revision`", "is a folder"}},
      {R"({"models": {"a": {"model": "o/n", "model_type": "llama"}}})", {"`models.a.model_type` is `llama`", "`laguna`"}},
      {R"({"models": {"a": {"model": "o/n", "model_type": true}}})", {"`models.a.model_type` is true"}},
      {R"({"models": {"nano": {"model": "o/n"}}})", {"`models.nano`", "ships"}},
      {R"({"models": {"Nano": {"model": "o/n"}}})", {"`models.Nano`"}},
      {R"({"models": {"": {"model": "o/n"}}})", {"letters, digits"}},
      {R"({"models": {"a/b": {"model": "o/n"}}})", {"`models.a/b`", "letters, digits"}},
      {R"({"models": {"a@b": {"model": "o/n"}}})", {"letters, digits"}},
      {R"({"models": {"-a": {"model": "o/n"}}})", {"letters, digits"}},
      {R"({"models": {"a b\u001b": {"model": "o/n"}}})", {"\\x1b"}},
      {R"({"models": {"a": {"model": "b"}, "b": {"model": "o/n"}}})", {"`models.a.model` is `b`", "an alias itself"}},
      {R"({"models": {"a": {"model": "A"}}})", {"an alias itself"}},
      {R"({"models": {"a": {"model": "b@v1"}, "b": {"model": "a"}}})", {"an alias itself"}}};
  for (const Refused& refused : cases) {
    SCOPED_TRACE(refused.text);
    expect_error([&] { (void)parse(refused.text); }, ErrorKind::invalid, refused.parts);
  }
}

TEST(ConfigFile, TextThatIsNoJsonIsRefusedWithTheByte) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"models\": {\"a\": {\"model\": \"o/n\"}, \"a\": {\"model\": \"o/n\"}}}"),
        std::string("{\"reserve\": \"\xff\"}"), std::string("{}\0{}", 5), std::string("\xef\xbb\xbf{"),
        "{\"models\": " + std::string(100000, '[') + std::string(100000, ']') + "}", std::string("{} x")}) {
    SCOPED_TRACE(text.substr(0, 40));
    expect_error([&] { (void)parse(text); }, ErrorKind::corrupt, {"config.json"});
  }
}

TEST(ConfigFile, HomeThatIsNotKnownIsSaid) {
  expect_error([] { (void)parse_config_file(R"({"models_dirs": ["~/models"]})", "config.json", ""); }, ErrorKind::invalid, {"`~/models`"});
}

class ConfigFileOfTheProgram : public ::testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& arguments, const std::string& text) {
    const auto path = folder_.write("config.json", text);
    return run_lagoon(arguments, {.environment = {"LAGOON_CONFIG=" + path.string(), "HF_HUB_CACHE=" + folder_.path().string()}});
  }
  TemporaryFolder folder_;
};

TEST_F(ConfigFileOfTheProgram, ABrokenFileStopsEverythingButHelpAndVersion) {
  for (const char* text : {"{", R"({"modells": {}})", R"({"reserve": 1})"}) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"models"}, {"tokenize", "nano", "hi"}, {"inspect", "nano"}})
      expect_refused(run(command, text), "config.json");
    for (const std::vector<std::string>& command : {std::vector<std::string>{"--help"}, {"--version"}, {"models", "--help"}, {"generate", "--help"}})
      EXPECT_EQ(run(command, text).exit_code, 0);
  }
}

TEST_F(ConfigFileOfTheProgram, HelpNamesTheFileAndItsForm) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"--help"}, {"models", "--help"}}) {
    const ProgramRun help = run(command, "{}");
    EXPECT_THAT(help.output, HasSubstr((folder_.path() / "config.json").string()));
    EXPECT_THAT(help.output, HasSubstr("models_dirs = ["));
    EXPECT_THAT(help.output, HasSubstr("LAGOON_CONFIG"));
  }
}

TEST_F(ConfigFileOfTheProgram, PlaceFollowsTheEnvironment) {
  folder_.write("lagoon/config.json", "{");
  folder_.write(".config/lagoon/config.json", "[");
  const std::string base = folder_.path().string();
  expect_refused(run_lagoon({"models"}, {.environment = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base}}), base + "/lagoon/config.json");
  for (const char* passed_over : {"XDG_CONFIG_HOME=", "XDG_CONFIG_HOME=relative"}) {
    expect_refused(run_lagoon({"models"}, {.environment = {"LAGOON_CONFIG=", passed_over, "HOME=" + base}}), base + "/.config/lagoon/config.json");
  }
}

TEST_F(ConfigFileOfTheProgram, AbsentIsFineUnlessItIsNamed) {
  const std::string base = folder_.path().string();
  const std::vector<std::string> nowhere = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=" + base + "/none"};
  EXPECT_EQ(run_lagoon({"tokenize", "nano", "hi"}, {.environment = nowhere}).exit_code, 0);
  expect_refused(run_lagoon({"tokenize", "nano", "hi"}, {.environment = {"LAGOON_CONFIG=" + base + "/none.json"}}), "LAGOON_CONFIG names this file");
}

TEST_F(ConfigFileOfTheProgram, AHomeThatCannotBeEnteredHasNoConfigFile) {
  testing_support::open_to_all(folder_.path());
  const auto file = folder_.write("home/.config/lagoon/config.json", "{");
  const auto home = folder_.path() / "home";
  const std::vector<std::string> usual = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=", "HF_HUB_CACHE=" + folder_.path().string(), "HOME=" + home.string()};
  const testing_support::ClosedFolder closed(home);
  const testing_support::WithoutPrivileges nobody;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"models"}, {"tokenize", "nano", "hi"}, {"plan", "--artifacts"}}) {
    const ProgramRun run = run_lagoon(command, {.environment = usual});
    EXPECT_EQ(run.exit_code, 0) << run.error;
  }
  expect_refused(run_lagoon({"models"}, {.environment = {"LAGOON_CONFIG=" + file.string()}}), "Permission denied");
}

TEST_F(ConfigFileOfTheProgram, AFileThatCannotBeReadIsRefused) {
  testing_support::open_to_all(folder_.path());
  const auto file = folder_.write(".config/lagoon/config.json", "{}");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const testing_support::WithoutPrivileges nobody;
  expect_refused(run_lagoon({"models"}, {.environment = {"LAGOON_CONFIG=", "XDG_CONFIG_HOME=", "HOME=" + folder_.path().string()}}),
                 "config.json: cannot be opened for reading: Permission denied");
}

TEST_F(ConfigFileOfTheProgram, WhatIsNoFileIsRefused) {
  const std::string base = folder_.path().string();
  const auto with = [](const std::string& path) { return run_lagoon({"models"}, {.environment = {"LAGOON_CONFIG=" + path}}); };
  expect_refused(with(base), base);
  expect_refused(with("/dev/zero"), "/dev/zero");
  folder_.write("huge.json", std::string(3 << 20, ' '));
  expect_refused(with(base + "/huge.json"), "huge.json");
  std::filesystem::create_symlink("loop.json", base + "/loop.json");
  expect_refused(with(base + "/loop.json"), "loop.json");
}

TEST_F(ConfigFileOfTheProgram, AliasesWorkWhereverAModelIsTaken) {
  const std::string text = R"({"models": {"tiny": {"model": "nano"}}})";
  EXPECT_EQ(run({"tokenize", "tiny", "hi"}, text).output, run({"tokenize", "nano", "hi"}, text).output);
  EXPECT_EQ(run({"generate", "tiny", "What is 17 * 24?"}, text).output, "17 * 24 = 408\n");
  EXPECT_THAT(run({"inspect", "tiny"}, text).output, HasSubstr("by the alias tiny"));
  expect_refused(run({"generate", "tinny", "hi"}, text), "did you mean `tiny`?");
}

}  // namespace
}  // namespace lagoon
