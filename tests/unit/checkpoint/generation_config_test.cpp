#include "checkpoint/generation_config.h"

#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing_support::expect_error;

GenerationConfig read(const Json& document) { return read_generation_config(document, "generation_config.json"); }

TEST(GenerationConfig, ReadsThePublishersDefaults) {
  const GenerationConfig config = read({{"do_sample", true},
                                        {"temperature", 1.0},
                                        {"top_p", 0.95},
                                        {"top_k", 20},
                                        {"min_p", 0.0},
                                        {"repetition_penalty", 1.05},
                                        {"eos_token_id", {2, 24}},
                                        {"speculative_config", {{"method", "dflash"}}},
                                        {"default_chat_template_kwargs", {{"enable_thinking", true}}}});
  EXPECT_EQ(config.do_sample, true);
  EXPECT_EQ(config.temperature, 1.0);
  EXPECT_EQ(config.top_p, 0.95);
  EXPECT_EQ(config.top_k, 20);
  EXPECT_EQ(config.min_p, 0.0);
  EXPECT_EQ(config.repetition_penalty, 1.05);
  EXPECT_EQ(config.eos_ids, (std::vector<int32_t>{2, 24}));
  EXPECT_EQ(config.thinking, true);
}

TEST(GenerationConfig, AbsentAndNullKeysStayUnsaid) {
  const GenerationConfig config = read({{"temperature", nullptr}, {"eos_token_id", 2}});
  EXPECT_FALSE(config.temperature);
  EXPECT_FALSE(config.do_sample);
  EXPECT_FALSE(config.thinking);
  EXPECT_EQ(config.eos_ids, (std::vector<int32_t>{2}));
}

TEST(GenerationConfig, MinusOneMeansAllTokens) { EXPECT_EQ(read({{"top_k", -1}}).top_k, 0); }

TEST(GenerationConfig, WrongTypesAndRangesNameTheKey) {
  const std::vector<std::pair<std::string, Json>> faults = {{"do_sample", 1},
                                                            {"temperature", "1"},
                                                            {"temperature", -0.1},
                                                            {"top_k", 2.5},
                                                            {"top_p", 1.5},
                                                            {"min_p", true},
                                                            {"min_p", -1},
                                                            {"repetition_penalty", 0},
                                                            {"eos_token_id", {2, "24"}},
                                                            {"eos_token_id", -1},
                                                            {"default_chat_template_kwargs", 3}};
  for (const auto& [key, value] : faults) {
    const Json document = {{key, value}};
    expect_error([&document] { read(document); }, ErrorKind::corrupt, {"generation_config.json: `" + key + "` is"});
  }
  expect_error(
      [] {
        read({{"default_chat_template_kwargs", {{"enable_thinking", "yes"}}}});
      },
      ErrorKind::corrupt, {"`default_chat_template_kwargs.enable_thinking`"});
}

TEST(GenerationConfig, MissingFileSaysNothingAndBrokenFileIsNamed) {
  const testing_support::TemporaryFolder folder;
  EXPECT_FALSE(load_generation_config(folder.path(), SystemFiles()).do_sample);
  testing_support::write_file(folder.path() / "generation_config.json", R"({"do_sample": false})");
  EXPECT_EQ(load_generation_config(folder.path(), SystemFiles()).do_sample, false);
  testing_support::write_file(folder.path() / "generation_config.json", "{");
  expect_error([&] { load_generation_config(folder.path(), SystemFiles()); }, ErrorKind::corrupt, {"generation_config.json", "JSON"});
}

}  // namespace
}  // namespace lagoon
