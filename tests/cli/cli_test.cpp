// The program as people run it: what it prints, what it refuses, and with which exit code.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include "base/json.h"
#include "support/golden_tensors.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

TEST(Cli, HelpAndVersionSucceed) {
  for (const char* command : {"generate", "logits", "render", "tokenize"}) {
    const ProgramRun run = run_lagoon({command, "--help"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.output, HasSubstr("MODEL"));
  }
  EXPECT_THAT(run_lagoon({"--version"}).output, StartsWith("lagoon "));
  EXPECT_EQ(run_lagoon({"--help"}).exit_code, 0);
}

TEST(Cli, WrongUsageIsOneSentenceAndExitCode2) {
  expect_refused(run_lagoon({"generat"}), "--help");
  expect_refused(run_lagoon({"generate"}), "MODEL");
  expect_refused(run_lagoon({"generate", "nano"}), "either a PROMPT or --messages");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temperature", "hot"}), "--temperature");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temperature", "-1"}), "temperature is -1");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--max-tokens", "0"}), "--max-tokens 0");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--thinking", "maybe"}), "write on or off");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--kernels", "magic"}), "scalar");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--logit-bias", "24"}), "ID=BIAS");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--stop", ""}), "stop string is empty");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--stop", "caf\xe9"}), "the stop string `caf\\xe9` is not valid UTF-8");
  expect_refused(run_lagoon({"chat", "nano", "--context", "0"}), "--context 0: write 1 or more");
  expect_refused(run_lagoon({"plan", "nano", "--threads", "0"}), "--threads 0: write a number from 1 to 1024");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--max-tokens"}), "`--max-tokens` needs a value");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--max-tokens", "1", "--max-tokens", "2"}), "`--max-tokens` is given twice");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--", "--max-tokens", "2"}), "stands behind `--`");
  expect_refused(run_lagoon({"score", "nano", ""}), "the value is empty");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--context", "5000"}), "4,096");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--threads", "-2"}), "--threads -2");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--threads", "0"}), "write a number from 1 to 1024");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temperature", "0,5"}), "`0,5` is no number; write one such as 0.5");
  expect_refused(run_lagoon({"--quiet"}), "a command is missing");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--raw", "--system", "x"}), "--raw");
  expect_refused(run_lagoon({"generate", "no-such-model", "hi"}), "no-such-model");
  expect_refused(run_lagoon({"render", "nano"}), "--messages");
  expect_refused(run_lagoon({"render"}), "one way");
  expect_refused(run_lagoon({"tokenize", "nano", "--decode", "1 x"}), "`x` is no token id");
  expect_refused(run_lagoon({"tokenize", "nano", "--decode", "99999"}), "99999");
}

TEST(Cli, NanoThinksAndAnswers) {
  const ProgramRun run = run_lagoon({"generate", "nano", "What is 17 * 24?", "--show-thinking"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "<think>17 * 24 = 17 * 20 + 17 * 4. 17 * 20 = 340. 17 * 4 = 68. 340 + 68 = 408.</think>\n17 * 24 = 408\n");
  EXPECT_EQ(run.error, "");
}

TEST(Cli, PipedOutputIsTheAnswerAlone) { EXPECT_EQ(run_lagoon({"generate", "nano", "-"}, {.input = "What is 17 * 24?"}).output, "17 * 24 = 408\n"); }

TEST(Cli, JsonOutputHasEveryField) {
  const ProgramRun run = run_lagoon({"generate", "nano", "What is 17 * 24?", "--json", "--seed", "5"});
  const Json result = parse_json(run.output, "output");
  EXPECT_EQ(result.at("text"), "17 * 24 = 408");
  EXPECT_THAT(result.at("reasoning").get<std::string>(), HasSubstr("340 + 68 = 408"));
  EXPECT_EQ(result.at("ids").back(), 24);
  EXPECT_EQ(result.at("completion_tokens"), result.at("ids").size());
  EXPECT_EQ(result.at("prompt_tokens"), 36);
  EXPECT_EQ(result.at("stop_reason"), "end_token");
  EXPECT_EQ(result.at("seed"), 5);
  EXPECT_GT(result.at("timings").at("generate_tokens_per_second"), 0.0);
}

TEST(Cli, TheSameSeedGivesTheSameText) {
  const std::vector<std::string> command = {"generate",     "nano", "Tell me a story.", "--temperature", "2",
                                            "--max-tokens", "12",   "--json",           "--threads"};
  const auto ids = [&](const std::string& threads, const std::string& seed) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {threads, "--seed", seed});
    return parse_json(run_lagoon(arguments).output, "output").at("ids").dump();
  };
  EXPECT_EQ(ids("1", "3"), ids("2", "3"));
  EXPECT_NE(ids("1", "3"), ids("1", "4"));
}

TEST(Cli, AFullContextIsSaidWithTheNumbers) {
  const ProgramRun run = run_lagoon({"generate", "nano", "Tell me a story.", "--context", "40"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.error, HasSubstr("the context of 40 tokens is full"));
}

TEST(Cli, RawCompletesTheTextAsItIs) {
  const Json result = parse_json(run_lagoon({"generate", "nano", "<user>hi", "--raw", "--max-tokens", "1", "--json"}).output, "output");
  const Json again =
      parse_json(run_lagoon({"generate", "nano", "\xe3\x80\x88|EOS|\xe3\x80\x89<user>hi", "--raw", "--max-tokens", "1", "--json"}).output, "output");
  EXPECT_EQ(result.at("ids"), again.at("ids"));  // the beginning of a text is not doubled
  EXPECT_EQ(result.at("prompt_tokens"), again.at("prompt_tokens"));
}

TEST(Cli, ControlTokensInMessagesStayText) {
  const TemporaryFolder folder;
  const auto messages = folder.write("messages.json", R"([{"role": "user", "content": "</assistant>"}])");
  const Json rendered = parse_json(run_lagoon({"render", "nano", "--messages", messages, "--ids", "--json"}).output, "output");
  const auto ids = rendered.at("ids").get<std::vector<int>>();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 24), 0);
  EXPECT_EQ(ids.front(), 2);
  EXPECT_EQ(ids.back(), 18);
  EXPECT_THAT(rendered.at("text").get<std::string>(), HasSubstr("<user></assistant></user>"));
}

TEST(Cli, RenderPrintsExactlyWhatIsFed) {
  const TemporaryFolder folder;
  const auto messages = folder.write("messages.json", R"([{"role": "user", "content": "hi"}])");
  EXPECT_EQ(run_lagoon({"render", "nano", "--messages", messages, "--thinking", "off"}).output,
            "\xe3\x80\x88|EOS|\xe3\x80\x89<system>You are Lagoon nano, a very small assistant that ships with "
            "Lagoon.</system>\n<user>hi</user>\n<assistant></think>");
}

TEST(Cli, RenderLinesGoOnAfterAFailure) {
  const ProgramRun run = run_lagoon({"render", "--jsonl", "-"}, {.input = R"({"template": "{{ a + 1 }}", "context": {"a": 1}}
{"template": "{{ raise_exception('no') }}", "context": {}}

not json
{"template": "{{ a }}", "context": {"a": 1e16}}
)"});
  EXPECT_EQ(run.exit_code, 2);
  const std::string lines = run.output;
  EXPECT_THAT(lines, StartsWith("{\"rendered\": \"2\"}\n{\"error\": {\"class\": \"TemplateError\", \"message\": \"no\""));
  EXPECT_THAT(lines, testing::EndsWith("{\"rendered\": \"1e+16\"}\n"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
}

TEST(Cli, TokenizeGoesThereAndBack) {
  EXPECT_EQ(run_lagoon({"tokenize", "nano", "What is 17?"}).output, run_lagoon({"tokenize", "nano", "-"}, {.input = "What is 17?"}).output);
  const std::string ids = run_lagoon({"tokenize", "nano", "a </think> b"}).output;
  EXPECT_EQ(run_lagoon({"tokenize", "nano", "--decode", "-"}, {.input = ids}).output, "a </think> b\n");
  EXPECT_THAT(run_lagoon({"tokenize", "nano", "</think>", "--special"}).output, "19\n");
  EXPECT_THAT(run_lagoon({"tokenize", "nano", "</think>", "--special", "--bos", "--json"}).output, "{\"ids\": [2, 19]}\n");
  EXPECT_EQ(run_lagoon({"tokenize", "nano", "--jsonl", "-", "--decode"}, {.input = "{\"ids\": [19]}\n"}).output,
            "{\"text\": \"</think>\", \"pieces\": [\"</think>\"]}\n");
}

TEST(Cli, LogitsAreWrittenAsSafetensors) {
  const TemporaryFolder folder;
  const auto ids = folder.write("ids.json", "[[2, 97, 355], [2]]");
  const std::string output = folder.path() / "out.safetensors";

  const ProgramRun run = run_lagoon({"logits", "nano", "--ids", ids, "--output", output});

  EXPECT_EQ(run.exit_code, 0) << run.error;
  const testing_support::GoldenTensors tensors(output);
  EXPECT_EQ(tensors.shape("logits_0"), (std::vector<int64_t>{3, 1845}));
  EXPECT_EQ(tensors.shape("logits_1"), (std::vector<int64_t>{1, 1845}));
  const auto first = tensors.floats("logits_0");
  EXPECT_EQ(std::vector<float>(first.begin(), first.begin() + 1845), tensors.floats("logits_1"));  // the same prefix

  const ProgramRun printed = run_lagoon({"logits", "nano", "--ids", ids, "--positions", "last"});
  EXPECT_THAT(printed.output, HasSubstr("logits_0\n     2:"));
}

TEST(Cli, LogitsRefusesWhatIsNoListOfIds) {
  const TemporaryFolder folder;
  for (const char* text : {"[]", "{}", "[1, -1]", "[1.5]", "[[1], []]", "[1, [2]]", "\"x\"", "[99999]", "["}) {
    expect_refused(run_lagoon({"logits", "nano", "--ids", folder.write("ids.json", text)}), "");
  }
}

TEST(Cli, OutputThatCannotBeWrittenIsAFailure) {
  const ProgramRun run = run_lagoon({"generate", "nano", "What is 17 * 24?"}, {.output_path = "/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.error, HasSubstr("standard output cannot be written"));
}

TEST(Cli, AnOutputFileThatCannotBeWrittenIsSaid) {
  const TemporaryFolder folder;
  const auto ids = folder.write("ids.json", "[2]");
  expect_refused(run_lagoon({"logits", "nano", "--ids", ids, "--output", "/no/such/folder/out"}), "/no/such/folder/out");
}

TEST(Cli, AnOutputFileThatOutgrowsItsLimitLeavesNothing) {
  const TemporaryFolder folder;
  const auto ids = folder.write("ids.json", "[2, 3, 4, 5]");
  const ProgramRun run = run_lagoon({"logits", "nano", "--ids", ids, "--output", folder.path() / "out"}, {.file_limit = 10'000});
  expect_refused(run, "File too large; nothing was kept", 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Cli, OddArgumentsAreNamedInOneCleanLine) {
  expect_refused(run_lagoon({"bogus"}), "`bogus` is no command");
  const ProgramRun run = run_lagoon({"generate", "nano", "hi", "--temperature", "\xff\n\x1b[31m"});
  expect_refused(run, "\\x1b[31m");
  EXPECT_EQ(run.error.find('\x1b'), std::string::npos);
}

TEST(Cli, NumbersAreTakenAsWrittenOrRefused) {
  EXPECT_EQ(parse_json(run_lagoon({"generate", "nano", "hi", "--json", "--max-tokens", "003"}).output, "output").at("completion_tokens"), 3);
  for (const char* number : {"0x10", "18446744073709551616", "1.5", "", "-"}) {
    expect_refused(run_lagoon({"generate", "nano", "hi", "--max-tokens", number}), "--max-tokens");
  }
  expect_refused(run_lagoon({"generate", "nano", "hi", "--seed", "18446744073709551616"}), "--seed");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temperature", "1e-45"}), "temperature is 1e-45");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--logit-bias", "24=1e400"}), "ID=BIAS");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--logit-bias", "24=1", "--logit-bias", "24=2"}), "a bias already");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--logit-bias", "99999=1"}), "outside the vocabulary");
}

TEST(Cli, AnEmptyValueIsNotAnAbsentOne) {
  expect_refused(run_lagoon({"generate", "nano", "hi", "--tools", ""}), "--tools");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--thinking", ""}), "--thinking");
  expect_refused(run_lagoon({"logits", "nano", "--ids", "x.json", "--output", ""}), "--output");
  const auto tokens = [](const std::vector<std::string>& extra) {
    std::vector<std::string> command = {"generate", "nano", "hi", "--json", "--max-tokens", "1"};
    command.insert(command.end(), extra.begin(), extra.end());
    return parse_json(run_lagoon(command).output, "output").at("prompt_tokens").get<int>();
  };
  EXPECT_LT(tokens({"--system", ""}), tokens({}));  // an empty system message switches off the template's own
}

TEST(Cli, RenderLinesNeedNoContext) {
  EXPECT_EQ(run_lagoon({"render", "--jsonl", "-"}, {.input = "{\"template\": \"{{ 1 + 1 }}\"}\n"}).output, "{\"rendered\": \"2\"}\n");
}

TEST(Cli, WhatFollowsANulByteIsNotPassedOver) {
  const TemporaryFolder folder;
  expect_refused(run_lagoon({"logits", "nano", "--ids", folder.write("ids.json", std::string("[1,2]\0junk", 10))}), "a NUL byte");
}

TEST(Cli, AnOutputThatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  const auto ids = folder.write("ids.json", "[2]");
  expect_refused(run_lagoon({"logits", "nano", "--ids", ids, "--output", "/dev/null"}), "a device");
  expect_refused(run_lagoon({"logits", "nano", "--ids", ids, "--output", folder.path()}), "a folder");
}

TEST(Cli, LogitsTakeWhatTokenizePrints) {
  const std::string ids = run_lagoon({"tokenize", "nano", "hi", "--json"}).output;
  EXPECT_EQ(run_lagoon({"logits", "nano", "--ids", "-"}, {.input = ids}).exit_code, 0);
}

}  // namespace
}  // namespace lagoon
