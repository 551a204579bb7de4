#include "commands/sampling_flags.h"

#include "base/error.h"
#include "commands/option_checks.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <random>
#include <set>
#include <utility>

namespace lagoon {
namespace {

std::pair<int32_t, double> parse_bias(const std::string& text) {
  const size_t equals = text.find('=');
  int32_t id = -1;
  double bias = 0.0;
  const char* end = text.data() + text.size();
  const auto whole = [](std::from_chars_result result, const char* last) { return result.ec == std::errc() && result.ptr == last; };
  const bool read = equals != std::string::npos && whole(std::from_chars(text.data(), text.data() + equals, id), text.data() + equals) &&
                    whole(std::from_chars(text.data() + equals + 1, end, bias), end);
  if (!read || id < 0) fail(ErrorKind::invalid, "--logit-bias `{}`: write ID=BIAS, such as 24=-5", printable(text));
  return {id, bias};
}

}  // namespace

void add_sampling_flags(CLI::App& parser, SamplingFlags& flags) {
  flags.parser = &parser;
  SamplingOptions& sampling = flags.options;
  parser.add_option("--temperature", sampling.temperature, "0 is greedy (what generation_config.json says, else 1)");
  parser.add_option("--top-k", sampling.top_k, "keep the K likeliest tokens; 0 is off")->transform(whole_number<int64_t>());
  parser.add_option("--top-p", sampling.top_p, "keep the likeliest tokens up to this sum of probabilities; 1 is off");
  parser.add_option("--min-p", sampling.min_p, "keep tokens with at least this share of the largest probability; 0 is off");
  parser.add_option("--repetition-penalty", sampling.repetition_penalty, "divides logits of tokens that were there; 1 is off");
  parser.add_option("--presence-penalty", sampling.presence_penalty, "subtracted from logits of tokens of the answer");
  parser.add_option("--frequency-penalty", sampling.frequency_penalty, "subtracted for each time a token stands in the answer");
  parser.add_option("--logit-bias", flags.logit_bias, "added to a token's logit; may be repeated")->type_name("ID=BIAS")->allow_extra_args(false);
  parser.add_option("--seed", sampling.seed, "same seed, same text (random)")->transform(whole_number<uint64_t>());
  for (const char* name : {"--temperature", "--top-k", "--top-p", "--min-p", "--repetition-penalty", "--presence-penalty", "--frequency-penalty",
                           "--logit-bias", "--seed"})
    parser.get_option(name)->group("Sampling");
  for (const char* name : {"--temperature", "--top-p", "--min-p", "--repetition-penalty", "--presence-penalty", "--frequency-penalty"})
    parser.get_option(name)->check(real_number());
}

SamplingOptions sampling_of(const SamplingFlags& flags, const GenerationConfig& advice) {
  const auto given = [&](const char* option) { return flags.parser->count(option) > 0; };
  SamplingOptions sampling = flags.options;
  if (!given("--temperature")) sampling.temperature = advice.do_sample.value_or(true) ? advice.temperature.value_or(1.0) : 0.0;
  if (!given("--top-k")) sampling.top_k = advice.top_k.value_or(0);
  if (!given("--top-p")) sampling.top_p = advice.top_p.value_or(1.0);
  if (!given("--min-p")) sampling.min_p = advice.min_p.value_or(0.0);
  if (!given("--repetition-penalty")) sampling.repetition_penalty = advice.repetition_penalty.value_or(1.0);
  if (!seed_given(flags)) sampling.seed = random_seed();
  for (const std::string& text : flags.logit_bias) {
    if (!sampling.logit_bias.insert(parse_bias(text)).second)
      fail(ErrorKind::invalid, "--logit-bias `{}`: this token has a bias already", printable(text));
  }
  check_sampling_options(sampling);
  return sampling;
}

bool seed_given(const SamplingFlags& flags) { return flags.parser->count("--seed") > 0; }

uint64_t random_seed() {
  constexpr int bits = 53;  // what every reader of JSON and TOML can hold
  return ((static_cast<uint64_t>(std::random_device()()) << 32) | std::random_device()()) >> (64 - bits);
}

std::vector<int32_t> end_ids(const GenerationConfig& advice, const ModelConfig& config, const Console& console) {
  std::set<int32_t> ids(advice.eos_ids.begin(), advice.eos_ids.end());
  ids.insert(config.eos_ids.begin(), config.eos_ids.end());
  if (ids.empty()) {
    console.warning(
        "neither generation_config.json nor config.json has an `eos_token_id`: answers go on until --max-tokens, --stop or the end of the context");
  }
  return {ids.begin(), ids.end()};
}

}  // namespace lagoon
