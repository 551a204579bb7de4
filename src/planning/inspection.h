// inspection.h: what can be said of a checkpoint without reading a weight: where its parameters are, in which formats, layer by layer;
// which template and tokenizer stand beside them; and what sets it apart from what its publishers usually make.
#pragma once

#include "checkpoint/checkpoint.h"
#include "machine/file.h"
#include "planning/template_generation.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// The parts that parameters are counted by.
enum class ModelPart { embedding, head, attention, dense_mlp, experts, shared_experts, routers, norms };

constexpr std::array all_model_parts = {ModelPart::embedding, ModelPart::head,           ModelPart::attention, ModelPart::dense_mlp,
                                        ModelPart::experts,   ModelPart::shared_experts, ModelPart::routers,   ModelPart::norms};

/// As a key of JSON: "dense_mlp".
std::string_view name_of(ModelPart part);

/// Calls for every matrix and vector. @param layer  -1 outside layers
void for_each_weight(const Checkpoint& checkpoint, const std::function<void(const WeightSource& weight, ModelPart part, int layer)>& call);

struct PartCounts {
  std::array<uint64_t, all_model_parts.size()> parameters{};  // by ModelPart; the router's has the experts' bias
  uint64_t total = 0;
  uint64_t active = 0;                    // of one token: all, but of the routed experts those that are chosen
  uint64_t active_without_embedding = 0;  // the same without embedding and head

  uint64_t of(ModelPart part) const { return parameters[static_cast<size_t>(part)]; }
};

PartCounts count_parts(const Checkpoint& checkpoint);

/// What one format holds of the whole.
struct FormatShare {
  std::string format;  // "4-bit/64", "bf16"
  uint64_t matrices = 0;
  uint64_t vectors = 0;
  uint64_t parameters = 0;
  uint64_t bytes = 0;
};

/// The largest share first.
std::vector<FormatShare> share_formats(const Checkpoint& checkpoint);

/// The format of the matrices in a word: "bf16", "MLX affine 4-bit/64", "MLX affine mixed 4,5,8-bit/64,128".
std::string format_summary(const Checkpoint& checkpoint);

struct LayerReport {
  int layer = 0;
  std::string attention;  // "full" or "sliding"
  int query_heads = 0;
  int kv_heads = 0;
  std::string gate;  // "per head" or "per element"
  std::string mlp;   // "dense" or "sparse"
  // Formats, each once, joined by " "; empty where the layer has no such part
  std::string attention_format;
  std::string mlp_format;  // the dense MLP or the shared expert
  std::string expert_format;
  std::string router_format;
  uint64_t parameters = 0;
  uint64_t bytes = 0;
};

/// Texts beside the weights; nullopt where there is no such file.
struct ModelTexts {
  std::optional<std::string> chat_template;     // chat_template.jinja
  std::optional<std::string> tokenizer_config;  // tokenizer_config.json
  std::optional<std::string> tokenizer;         // tokenizer.json
  std::optional<std::string> generation_config;
  std::vector<std::string> problems;  // files that could not be read, each a sentence
  bool known = true;                  // false: there is no folder to look in, and nothing is said of texts
};

/// What is in the folder. Never throws for a single file that cannot be read.
ModelTexts read_model_texts(const std::filesystem::path& folder, const Files& files);

/// The `chat_template` of a tokenizer_config.json, of a list the one called "default".
std::optional<std::string> inlined_template(std::string_view tokenizer_config);

struct TemplateReport {
  std::string file;    // "chat_template.jinja", or "tokenizer_config.json"
  std::string sha256;  // of the template's text
  std::string known;   // whose text has this hash; empty: nobody's that is known
  TemplateGeneration generation;
};

struct TokenizerReport {
  std::string sha256;  // of tokenizer.json
  std::string known;
  std::optional<int64_t> vocabulary;  // 1 + the highest id
  std::string problem;                // why it cannot be used
};

struct Inspection {
  PartCounts counts;
  std::vector<FormatShare> formats;
  std::vector<LayerReport> layers;
  std::string expert_storage;  // how experts are stored, in words; empty without experts
  std::optional<TemplateReport> chat_template;
  std::optional<TokenizerReport> tokenizer;
  std::vector<std::string> unusual;  // sentences without a full stop
};

Inspection inspect(const Checkpoint& checkpoint, const ModelTexts& texts);

/// The sentences of Inspection::unusual. @param seen  all else that inspect() found
std::vector<std::string> unusual_things(const Checkpoint& checkpoint, const ModelTexts& texts, const Inspection& seen);

/// SHA-256 in small hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace lagoon
