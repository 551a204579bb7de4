#include "planning/inspection.h"

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/generation_config.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "text/tokenizer_config.h"

#include <fmt/ranges.h>
#include <openssl/sha.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

namespace lagoon {
namespace {

struct KnownHash {
  std::string_view sha256;
  std::string_view whose;
};

// Chat templates and tokenizers of published revisions.
constexpr std::array known_templates = {
    KnownHash{"2d3c724b3c2e9eb71fe9ccc5423ff268a370a8bfa89e9238b6de14fe000825c8", "v8 of Laguna-S-2.1 and XS-2.1, thinking off by default"},
    KnownHash{"444819b8ad4612870827ac05b9147fe9e3344d3850cae8c2790898fc514099ff", "v8 of Laguna-S-2.1 (e80da38d), thinking on by default"},
    KnownHash{"cefcef90515772c003776b3d7db3c088f4e0ee89f8470679b95cf83210dc9e06", "v5 of Laguna-XS.2, with a default system message"}};
constexpr std::array known_tokenizers = {
    KnownHash{"807c53a95141e77c14e45f68c51db3f84d2ea6b555a6ea832bc99c88dae6a279", "Laguna-XS.2, XS-2.1 and S-2.1"},
    KnownHash{"809240f7a182cde859a4fc4ebc902e619a173d507e99304c1092aa04e7a6658e", "Laguna-S-2.1 (e80da38d) and S-2.1-NVFP4"},
    KnownHash{"ff04405d2d1e1b6c77a8be25f0fce9371003a558b055c23248d9e8ca1d956d92", "the 4-bit MLX conversion of Laguna-S-2.1, written anew"}};

template <size_t count>
std::string whose(const std::array<KnownHash, count>& known, const std::string& hash) {
  for (const KnownHash& entry : known) {
    if (entry.sha256 == hash) return std::string(entry.whose);
  }
  return {};
}

bool is_matrix(const WeightSource& weight) { return weight.rows > 1; }

using Call = std::function<void(const WeightSource&, ModelPart, int)>;

void visit(const MlpSource& mlp, ModelPart part, int layer, const Call& call) {
  for (const WeightSource* weight : {&mlp.gate, &mlp.up, &mlp.down}) call(*weight, part, layer);
}

void visit_layer(const LayerSource& source, bool dense, int layer, const Call& call) {
  call(source.attention_norm, ModelPart::norms, layer);
  for (const WeightSource* weight : {&source.query, &source.key, &source.value, &source.gate, &source.output}) {
    call(*weight, ModelPart::attention, layer);
  }
  for (const WeightSource* weight : {&source.query_norm, &source.key_norm, &source.mlp_norm}) call(*weight, ModelPart::norms, layer);
  if (dense) return visit(source.mlp, ModelPart::dense_mlp, layer, call);
  call(source.router, ModelPart::routers, layer);
  if (source.expert_bias) call(*source.expert_bias, ModelPart::routers, layer);
  for (const MlpSource& expert : source.experts) visit(expert, ModelPart::experts, layer, call);
  visit(source.shared_expert, ModelPart::shared_experts, layer, call);
}

std::vector<LayerReport> report_layers(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config();
  std::vector<LayerReport> layers(config.layers.size());
  for (size_t at = 0; at < layers.size(); ++at) {
    const LayerConfig& shape = config.layers[at];
    layers[at] = {.layer = static_cast<int>(at),
                  .attention = shape.attention == AttentionKind::full ? "full" : "sliding",
                  .query_heads = shape.query_heads,
                  .kv_heads = config.kv_heads,
                  .gate = shape.gate == GateKind::per_head ? "per head" : "per element",
                  .mlp = shape.dense ? "dense" : "sparse"};
  }
  std::vector<std::map<ModelPart, std::set<std::string>>> formats(layers.size());
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart part, int layer) {
    if (layer < 0) return;
    LayerReport& report = layers[static_cast<size_t>(layer)];
    report.parameters += weight.elements();
    report.bytes += weight.bytes();
    if (is_matrix(weight)) formats[static_cast<size_t>(layer)][part].insert(name_of(weight.format));
  });
  for (size_t at = 0; at < layers.size(); ++at) {
    const auto joined = [&](ModelPart part) { return fmt::format("{}", fmt::join(formats[at][part], " ")); };
    layers[at].attention_format = joined(ModelPart::attention);
    layers[at].mlp_format = joined(checkpoint.config().layers[at].dense ? ModelPart::dense_mlp : ModelPart::shared_experts);
    layers[at].expert_format = joined(ModelPart::experts);
    layers[at].router_format = joined(ModelPart::routers);
  }
  return layers;
}

/// From the names of the experts' matrices: a slice of a stack has [e], half of fused rows has [rows a:b].
std::string describe_expert_storage(const Checkpoint& checkpoint) {
  std::set<std::string> ways;
  for (int layer = 0; layer < checkpoint.config().layer_count(); ++layer) {
    for (const MlpSource& expert : checkpoint.layer(layer).experts) {
      const std::string& name = expert.gate.name;
      const bool fused = name.find("[rows ") != std::string::npos;
      const size_t bracket = name.find('[');
      const bool stacked = bracket != std::string::npos && !name.substr(bracket).starts_with("[rows ");
      ways.insert(fmt::format("{}, {}", stacked ? "stacked" : "singly", fused ? "gate and up fused" : "gate and up apart"));
    }
  }
  return fmt::format("{}", fmt::join(ways, "; in other layers "));
}

std::optional<TemplateReport> report_template(const ModelTexts& texts) {
  std::string text;
  TemplateReport report;
  if (texts.chat_template) {
    text = *texts.chat_template;
    report.file = "chat_template.jinja";
  } else if (const auto inlined = texts.tokenizer_config ? inlined_template(*texts.tokenizer_config) : std::nullopt) {
    text = *inlined;
    report.file = "tokenizer_config.json";
  } else {
    return std::nullopt;
  }
  report.sha256 = sha256(text);
  report.known = whose(known_templates, report.sha256);
  report.generation = recognise_template(text);
  return report;
}

std::optional<TokenizerReport> report_tokenizer(const ModelTexts& texts) {
  if (!texts.tokenizer) return std::nullopt;
  TokenizerReport report;
  report.sha256 = sha256(*texts.tokenizer);
  report.known = whose(known_tokenizers, report.sha256);
  try {
    report.vocabulary = Tokenizer::parse(*texts.tokenizer, "tokenizer.json").vocabulary_size();
  } catch (const Error& error) {
    report.problem = error.what();
  }
  return report;
}

}  // namespace

std::string_view name_of(ModelPart part) {
  constexpr std::array<std::string_view, all_model_parts.size()> names = {"embedding", "head",           "attention", "dense_mlp",
                                                                          "experts",   "shared_experts", "routers",   "norms"};
  return names[static_cast<size_t>(part)];
}

void for_each_weight(const Checkpoint& checkpoint, const Call& call) {
  call(checkpoint.embedding(), ModelPart::embedding, -1);
  for (int layer = 0; layer < checkpoint.config().layer_count(); ++layer) {
    visit_layer(checkpoint.layer(layer), checkpoint.config().layers[static_cast<size_t>(layer)].dense, layer, call);
  }
  call(checkpoint.final_norm(), ModelPart::norms, -1);
  call(checkpoint.head(), ModelPart::head, -1);
}

PartCounts count_parts(const Checkpoint& checkpoint) {
  PartCounts counts;
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart part, int) {
    counts.parameters[static_cast<size_t>(part)] += weight.elements();
    counts.total += weight.elements();
  });
  const ModelConfig& config = checkpoint.config();
  const uint64_t routed = counts.of(ModelPart::experts);
  // All experts of a layer have one shape, so the division is exact.
  const uint64_t chosen = routed == 0 ? 0 : routed / static_cast<uint64_t>(config.experts) * static_cast<uint64_t>(config.experts_per_token);
  counts.active = counts.total - routed + chosen;
  counts.active_without_embedding = counts.active - counts.of(ModelPart::embedding) - counts.of(ModelPart::head);
  return counts;
}

std::vector<FormatShare> share_formats(const Checkpoint& checkpoint) {
  std::map<std::string, FormatShare> shares;
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart, int) {
    FormatShare& share = shares[name_of(weight.format)];
    ++(is_matrix(weight) ? share.matrices : share.vectors);
    share.parameters += weight.elements();
    share.bytes += weight.bytes();
  });
  std::vector<FormatShare> sorted;
  for (auto& [name, share] : shares) {
    share.format = name;
    sorted.push_back(share);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const FormatShare& a, const FormatShare& b) { return a.bytes > b.bytes; });
  return sorted;
}

std::string format_summary(const Checkpoint& checkpoint) {
  std::set<std::string> plain;
  std::set<std::pair<int, int>> affine;
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart, int) {
    if (!is_matrix(weight)) return;
    if (weight.format.kind == WeightFormat::Kind::affine) {
      affine.emplace(weight.format.bits, weight.format.group);
    } else {
      plain.insert(name_of(weight.format));
    }
  });
  if (affine.empty()) return fmt::format("{}", fmt::join(plain, ", "));
  std::set<int> bits;
  std::set<int> groups;
  for (const auto& [bit, group] : affine) {
    bits.insert(bit);
    groups.insert(group);
  }
  return fmt::format("MLX affine {}{}-bit/{}", affine.size() > 1 ? "mixed " : "", fmt::join(bits, ","), fmt::join(groups, ","));
}

ModelTexts read_model_texts(const std::filesystem::path& folder, const Files& files) {
  ModelTexts texts;
  const auto read = [&](const char* name, uint64_t limit) -> std::optional<std::string> {
    const std::filesystem::path path = folder / name;
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() == std::filesystem::file_type::not_found) return std::nullopt;
    try {
      return read_text(files, path, limit);
    } catch (const Error& failure) {
      texts.problems.emplace_back(failure.what());
      return std::nullopt;
    }
  };
  texts.chat_template = read("chat_template.jinja", chat_template_limit);
  texts.tokenizer_config = read("tokenizer_config.json", tokenizer_config_limit);
  texts.tokenizer = read("tokenizer.json", tokenizer_file_limit);
  texts.generation_config = read("generation_config.json", generation_config_limit);
  return texts;
}

std::optional<std::string> inlined_template(std::string_view tokenizer_config) {
  try {
    const Json config = parse_json(tokenizer_config, "tokenizer_config.json");
    if (!config.is_object() || !config.contains("chat_template")) return std::nullopt;
    const Json& given = config["chat_template"];
    if (given.is_string()) return given.get<std::string>();
    for (const Json& entry : given) {
      if (entry.is_object() && entry.value("name", Json()) == "default" && entry.value("template", Json()).is_string())
        return entry["template"].get<std::string>();
    }
  } catch (const Error&) {
    // A file that is no JSON holds no template; unusual_things() says what is wrong with it.
  }
  return std::nullopt;
}

Inspection inspect(const Checkpoint& checkpoint, const ModelTexts& texts) {
  Inspection inspection;
  inspection.counts = count_parts(checkpoint);
  inspection.formats = share_formats(checkpoint);
  inspection.layers = report_layers(checkpoint);
  inspection.expert_storage = describe_expert_storage(checkpoint);
  inspection.chat_template = report_template(texts);
  inspection.tokenizer = report_tokenizer(texts);
  inspection.unusual = unusual_things(checkpoint, texts, inspection);
  return inspection;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace lagoon
