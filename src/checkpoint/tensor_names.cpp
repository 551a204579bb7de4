#include "checkpoint/tensor_names.h"

#include "base/error.h"

#include <array>
#include <charconv>
#include <span>

namespace lagoon {
namespace {

struct Spelling {
  std::string_view text;
  Module module;
};

// The first spelling of a module is the one that published_name() writes.
constexpr std::array<Spelling, 3> top_level{{
    {"model.embed_tokens", Module::embedding},
    {"model.norm", Module::final_norm},
    {"lm_head", Module::head},
}};
constexpr std::array<Spelling, 9> of_layer{{
    {"input_layernorm", Module::attention_norm},
    {"post_attention_layernorm", Module::mlp_norm},
    {"self_attn.q_proj", Module::query},
    {"self_attn.k_proj", Module::key},
    {"self_attn.v_proj", Module::value},
    {"self_attn.g_proj", Module::attention_gate},
    {"self_attn.o_proj", Module::output},
    {"self_attn.q_norm", Module::query_norm},
    {"self_attn.k_norm", Module::key_norm},
}};
constexpr std::array<Spelling, 14> of_mlp{{
    {"gate_proj", Module::dense_gate},
    {"up_proj", Module::dense_up},
    {"down_proj", Module::dense_down},
    {"gate_up_proj", Module::dense_gate_up},
    {"shared_expert.gate_proj", Module::shared_gate},
    {"shared_expert.up_proj", Module::shared_up},
    {"shared_expert.down_proj", Module::shared_down},
    {"shared_expert.gate_up_proj", Module::shared_gate_up},
    {"shared_experts.gate_proj", Module::shared_gate},
    {"shared_experts.up_proj", Module::shared_up},
    {"shared_experts.down_proj", Module::shared_down},
    {"shared_experts.gate_up_proj", Module::shared_gate_up},
    {"gate", Module::router},
    {"gate.proj", Module::router},
}};
constexpr std::array<Spelling, 4> of_expert{{
    {"gate_proj", Module::expert_gate},
    {"up_proj", Module::expert_up},
    {"down_proj", Module::expert_down},
    {"gate_up_proj", Module::expert_gate_up},
}};
// In the order of search of reference readers; a checkpoint has one of them or none.
constexpr std::array<std::string_view, 3> correction_biases{"gate.e_score_correction_bias", "experts.e_score_correction_bias",
                                                            "e_score_correction_bias"};

std::optional<Module> find(std::span<const Spelling> spellings, std::string_view text) {
  for (const Spelling& spelling : spellings) {
    if (spelling.text == text) return spelling.module;
  }
  return std::nullopt;
}

std::optional<std::string_view> spelling_of(std::span<const Spelling> spellings, Module module) {
  for (const Spelling& spelling : spellings) {
    if (spelling.module == module) return spelling.text;
  }
  return std::nullopt;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

/// A decimal number and the dot after it from the front of `text`; no sign, no leading zeros, at most 9 digits.
std::optional<int> take_number(std::string_view& text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot > 9 || (dot > 1 && text[0] == '0')) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + dot, number);
  if (error != std::errc() || end != text.data() + dot || number < 0) return std::nullopt;
  text.remove_prefix(dot + 1);
  return number;
}

/// Removes the prefix of a multimodal wrapper. "model.language_model.layers" is how transformers nests it (there, lm_head
/// stays outside), "language_model.model.layers" how MLX does.
Prefix take_prefix(std::string_view& name, std::string& holder) {
  if (take(name, "language_model.")) return Prefix::language_model;
  if (name.starts_with("model.language_model.")) {
    holder = "model.";
    holder += name.substr(std::string_view("model.language_model.").size());
    name = holder;
    return Prefix::language_model;
  }
  return Prefix::none;
}

std::optional<ModulePath> parse_mlp(std::string_view rest, int layer) {
  if (const auto module = find(of_mlp, rest)) return ModulePath{*module, layer, -1};
  for (const std::string_view spelling : correction_biases) {
    if (rest == spelling) return ModulePath{Module::expert_bias, layer, -1};
  }
  if (take(rest, "switch_mlp.")) {
    if (const auto module = find(of_expert, rest)) return ModulePath{*module, layer, -1};
    return std::nullopt;
  }
  if (!take(rest, "experts.")) return std::nullopt;
  if (const auto module = find(of_expert, rest)) return ModulePath{*module, layer, -1};
  const auto expert = take_number(rest);
  if (!expert) return std::nullopt;
  if (const auto module = find(of_expert, rest)) return ModulePath{*module, layer, *expert};
  return std::nullopt;
}

/// A path without prefix and without ".weight".
std::optional<ModulePath> parse_bare_path(std::string_view path) {
  if (const auto module = find(top_level, path)) return ModulePath{*module, -1, -1};
  if (!take(path, "model.layers.")) return std::nullopt;
  const auto layer = take_number(path);
  if (!layer || *layer >= layer_limit) return std::nullopt;
  if (const auto module = find(of_layer, path)) return ModulePath{*module, *layer, -1};
  if (take(path, "mlp.")) return parse_mlp(path, *layer);
  return std::nullopt;
}

std::optional<Part> part_of(std::string_view name) {
  if (name.ends_with(".weight")) return Part::values;
  if (name.ends_with(".scales")) return Part::scales;
  if (name.ends_with(".biases")) return Part::biases;
  return std::nullopt;
}

/// Parameters that modules own directly, so that their names end without ".weight".
bool is_bare_parameter(const ModulePath& path) {
  const bool stacked_experts = path.module == Module::expert_gate || path.module == Module::expert_up || path.module == Module::expert_down ||
                               path.module == Module::expert_gate_up;
  return path.module == Module::expert_bias || (stacked_experts && path.expert < 0);
}

}  // namespace

std::string_view without_part(std::string_view name) {
  return part_of(name) ? name.substr(0, name.size() - std::string_view(".weight").size()) : name;
}

std::optional<TensorName> parse_tensor_name(std::string_view name) {
  std::string holder;
  TensorName parsed;
  parsed.prefix = take_prefix(name, holder);
  const auto part = part_of(name);
  const auto path = parse_bare_path(without_part(name));
  // ".weight" belongs to every parameter but those that modules own directly; the correction bias has no other part.
  if (!path || (!part && !is_bare_parameter(*path)) || (part && path->module == Module::expert_bias)) return std::nullopt;
  parsed.path = *path;
  parsed.part = part.value_or(Part::values);
  return parsed;
}

std::optional<ModulePath> parse_module_path(std::string_view path) {
  std::string holder;
  take_prefix(path, holder);
  const std::string_view bare = without_part(path);
  if (const auto parsed = parse_bare_path(bare)) return parsed;
  return parse_bare_path("model." + std::string(bare));  // as seen from inside the model
}

std::string published_name(const ModulePath& path, Part part) {
  const std::string suffix = part == Part::values ? ".weight" : part == Part::scales ? ".scales" : ".biases";
  if (const auto spelling = spelling_of(top_level, path.module)) return std::string(*spelling) + suffix;
  const std::string layer = fmt::format("model.layers.{}.", path.layer);
  if (const auto spelling = spelling_of(of_layer, path.module)) return layer + std::string(*spelling) + suffix;
  if (const auto spelling = spelling_of(of_mlp, path.module)) return layer + "mlp." + std::string(*spelling) + suffix;
  if (path.module == Module::expert_bias) return layer + "mlp.experts.e_score_correction_bias";
  const auto spelling = spelling_of(of_expert, path.module);
  require(spelling.has_value(), "a module without a spelling");
  return fmt::format("{}mlp.experts.{}{}{}", layer, path.expert < 0 ? std::string() : fmt::format("{}.", path.expert), *spelling, suffix);
}

bool is_ignorable(std::string_view name) {
  for (const std::string_view ending : {".k_scale", ".v_scale", ".kv_scale", ".k_proj.output_scale", ".v_proj.output_scale"}) {
    if (name.ends_with(ending)) return true;
  }
  return name.find("rotary_emb.") != std::string_view::npos && name.ends_with("inv_freq");
}

std::optional<int> layer_of(std::string_view name) {
  std::string holder;
  take_prefix(name, holder);
  if (!take(name, "model.layers.")) return std::nullopt;
  return take_number(name);
}

}  // namespace lagoon
