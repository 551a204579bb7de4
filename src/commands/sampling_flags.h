// sampling_flags.h: how the next token is chosen, as flags say it; shared by generate and chat.
#pragma once

#include "checkpoint/generation_config.h"
#include "checkpoint/model_config.h"
#include "commands/console.h"
#include "engine/sampler.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lagoon {

struct SamplingFlags {
  SamplingOptions options;
  std::vector<std::string> logit_bias;  // ID=BIAS
  const CLI::App* parser = nullptr;     // knows which flags were given
};

/// Adds --temperature, --top-k, --top-p, --min-p, the penalties, --logit-bias and --seed.
/// @param flags  must outlive the parser
void add_sampling_flags(CLI::App& parser, SamplingFlags& flags);

/// Flags win over generation_config.json, that over the defaults. Without --seed the seed is random. @throws Error(invalid)
SamplingOptions sampling_of(const SamplingFlags& flags, const GenerationConfig& advice);

/// Whether --seed was given.
bool seed_given(const SamplingFlags& flags);

uint64_t random_seed();

/// Every id that ends an answer: those of generation_config.json and of config.json. Warns where there is none.
std::vector<int32_t> end_ids(const GenerationConfig& advice, const ModelConfig& config, const Console& console);

}  // namespace lagoon
