// The config file in TOML: the same settings and the same strictness as in JSON, with lines; hostile files end in a sentence.
#include "commands/config_file.h"

#include "support/error_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing_support::expect_error;

ConfigFile parse(std::string_view text) { return parse_config_file(text, "config.toml", "/home/someone"); }

TEST(ConfigToml, EveryKeyIsRead) {
  const ConfigFile config = parse(R"(memory_limit = "48GiB"
reserve = "2GiB"   # kept free
models_dirs = ["/data/models", "~/more"]
[models.s21]
model = "mlx-community/Laguna-S-2.1-oQ4e"
revision = "8e3f5cad"
model_type = "laguna"
[models]
tiny = {model = "nano"}
[defaults]
threads = 4
[generate]
temperature = 0.7
stop = ["a", "b"]
raw = false
)");
  EXPECT_EQ(config.memory_limit, uint64_t{48} << 30);
  EXPECT_EQ(config.reserve, uint64_t{2} << 30);
  EXPECT_EQ(config.models_dirs, (std::vector<std::filesystem::path>{"/data/models", "/home/someone/more"}));
  ASSERT_EQ(config.aliases.size(), 2u);
  EXPECT_EQ(config.aliases[0].name, "s21");
  EXPECT_EQ(config.aliases[0].revision, "8e3f5cad");
  ASSERT_EQ(config.flags.size(), 4u);
  EXPECT_EQ(config.flags[0].section, "defaults");
  EXPECT_EQ(config.flags[0].values, std::vector<std::string>{"4"});
  EXPECT_EQ(config.flags[0].line, 11);
  EXPECT_EQ(config.lines.at("models.s21"), 4);
  EXPECT_TRUE(parse("").aliases.empty());
  EXPECT_EQ(parse("\xef\xbb\xbfreserve = '1GiB'").reserve, uint64_t{1} << 30);
  EXPECT_EQ(parse("reserve = '1GiB'\r\n[models.a]\r\nmodel = 'o/n'\r\n").aliases.size(), 1u);
}

TEST(ConfigToml, TheSameKeysInJsonGiveTheSame) {
  const ConfigFile toml = parse("reserve = '1GiB'\n[generate]\ntop_k = 5\nstop = ['x']\n");
  const ConfigFile json = parse_config_file(R"({"reserve": "1GiB", "generate": {"top_k": 5, "stop": ["x"]}})", "config.json", "/home/someone");
  EXPECT_EQ(toml.reserve, json.reserve);
  ASSERT_EQ(toml.flags.size(), json.flags.size());
  for (const ConfigFile* config : {&toml, &json}) {
    EXPECT_EQ(config->flags[0].section, "generate");
    EXPECT_EQ(config->flags.size(), 2u);
  }
}

struct Refused {
  const char* text;
  std::vector<std::string> parts;
};

TEST(ConfigToml, WhatIsNotUnderstoodIsNamedWithItsLine) {
  const std::vector<Refused> cases = {
      {"\nmemory_limt = '1GiB'", {"config.toml, line 2: `memory_limt`", "memory_limit, reserve, models_dirs, models", "sections"}},
      {"memory_limit = 48", {"config.toml, line 1: `memory_limit` is 48", "48GiB"}},
      {"memory_limit = '48'", {"`memory_limit`", "unit"}},
      {"memory_limit = '0B'", {"line 1", "is 0"}},
      {"memory_limit = true", {"`memory_limit` is true"}},
      {"memory_limit = 1979-05-27", {"line 1: `memory_limit` is a date or a time"}},
      {"memory_limit = 07:32:00", {"date or a time"}},
      {"memory_limit = inf", {"no finite number"}},
      {"x = nan", {"no finite number"}},
      {"models_dirs = '/data'", {"`models_dirs`", "a list"}},
      {"models_dirs = [['/data']]", {"`models_dirs`"}},
      {"models_dirs = ['data']", {"line 1: `models_dirs` is `data`", "~/"}},
      {"models = 1", {"`models` is 1"}},
      {"[models.a]\nmodel = 1", {"line 2: `models.a.model` is 1"}},
      {"[models.a]\n", {"`models.a.model` is missing"}},
      {"[models.a]\nmodel = 'o/n'\npath = 'x'", {"line 3: `models.a.path`"}},
      {"[models.nano]\nmodel = 'o/n'", {"line 1: `models.nano`", "ships"}},
      {"[models]\n'a b' = {model = 'o/n'}", {"letters, digits"}},
      {"[models.a]\nmodel = 'b'\n[models.b]\nmodel = 'o/n'", {"line 2: `models.a.model` is `b`", "an alias itself"}},
      {"[[models]]\nmodel = 'o/n'", {"`models` is [", "an object"}},
      {"[generate]\nstop = []", {"line 2: `generate.stop` is an empty list"}},
      {"[generate]\nstop = ['a', 1]", {"values of one kind"}},
      {"[generate]\nseed = {a = 1}", {"line 2: `generate.seed`"}},
      {"[generate.a]\nb = 1", {"`generate.a`"}},
      {"[generate]\nmax_tokens = 1\nmax-tokens = 1", {"set twice"}},
      {"[generate]\nsystem = \"a\\u0000b\"", {"without a NUL"}}};
  for (const Refused& refused : cases) {
    SCOPED_TRACE(refused.text);
    expect_error([&] { (void)parse(refused.text); }, ErrorKind::invalid, refused.parts);
  }
}

TEST(ConfigToml, TextThatIsNoTomlIsRefusedWithLineAndColumn) {
  for (const std::string& text :
       {std::string("x"), std::string("\na = "), std::string("a = 1\na = 2"), std::string("[a]\n[a]"), std::string("a = 'x"),
        std::string("a = '\xff'"), std::string("a = 1\0", 6), std::string("a = \"\\q\""), std::string("{\"reserve\": \"1GiB\"}"),
        std::string("a = [1, 2"), std::string("a = 99999999999999999999"), "a = " + std::string(64, '['), "a = " + std::string(64, '{')}) {
    SCOPED_TRACE(text.substr(0, 40));
    expect_error([&] { (void)parse(text); }, ErrorKind::corrupt, {"config.toml, line ", "column "});
  }
}

TEST(ConfigToml, DeepAndLargeFilesEndInASentence) {
  std::string dotted = "a";
  for (int at = 0; at < 300000; ++at) dotted += ".a";
  expect_error([&] { (void)parse(dotted + " = 1"); }, ErrorKind::invalid, {"line 1: more than 100 dots"});
  expect_error([&] { (void)parse("\n[" + dotted + "]"); }, ErrorKind::invalid, {"line 2: more than 100 dots"});
  for (const auto& [depth, refused] :
       {std::pair<int, const char*>{32, "line 2: `generate.a` is {"}, {33, "line 34: lists and tables stand more than 64 deep"}}) {
    std::string nested = "[generate]\na = ";
    for (int at = 0; at < depth; ++at) nested += "{" + dotted.substr(0, 199) + " = [\n";
    for (int at = 0; at < depth; ++at) nested += "]}";
    expect_error([&] { (void)parse(nested); }, ErrorKind::invalid, {refused});
  }
  for (const char bracket : {'[', '{'}) {
    expect_error([&] { (void)parse("a = 1\nb = " + std::string(100000, bracket)); }, ErrorKind::invalid,
                 {"config.toml, line 2: lists and tables stand more than 64 deep"});
  }
  const std::string after_a_block = "a = {b = \"\"\"x\\\n\n\"\"\"\"\", c = " + std::string(100000, '[');
  expect_error([&] { (void)parse(after_a_block); }, ErrorKind::invalid, {"config.toml, line 3: lists and tables"});
  EXPECT_EQ(parse("# " + std::string(500, '.') + "\n").flags.size(), 0u) << "dots that decorate";
  std::string sentences;
  for (int at = 0; at < 200; ++at) sentences += "a. [{\\\"";
  EXPECT_EQ(parse("[chat]\nsystem = \"" + sentences + "\"").flags.size(), 1u) << "dots and brackets of a text";
  EXPECT_EQ(parse("[chat]\nsystem = \"\"\"" + sentences + "\n\"\"\"").flags.size(), 1u);
  std::string keys = "[generate]\n";
  for (int at = 0; at < 50000; ++at) keys += fmt::format("a{} = 1\n", at);
  EXPECT_EQ(parse(keys).flags.size(), 50000u);
  std::string aliases;
  for (int at = 0; at < 20000; ++at) aliases += fmt::format("[models.a{}]\nmodel = 'o/n'\n", at);
  EXPECT_EQ(parse(aliases).aliases.size(), 20000u);
}

}  // namespace
}  // namespace lagoon
