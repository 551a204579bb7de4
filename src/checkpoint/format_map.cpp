#include "checkpoint/format_map.h"

#include "base/error.h"
#include "checkpoint/config_reader.h"
#include "checkpoint/quantization_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace lagoon {
namespace {

struct NamedPart {
  std::string_view name;
  std::vector<Module> modules;
};

const std::vector<NamedPart>& parts() {
  static const std::vector<NamedPart> all = {
      {"embedding", {Module::embedding}},
      {"head", {Module::head}},
      {"router", {Module::router}},
      {"attention", {Module::query, Module::key, Module::value, Module::attention_gate, Module::output}},
      {"attention.query", {Module::query}},
      {"attention.key", {Module::key}},
      {"attention.value", {Module::value}},
      {"attention.gate", {Module::attention_gate}},
      {"attention.output", {Module::output}},
      {"dense", {Module::dense_gate, Module::dense_up, Module::dense_down}},
      {"dense.gate", {Module::dense_gate}},
      {"dense.up", {Module::dense_up}},
      {"dense.down", {Module::dense_down}},
      {"shared", {Module::shared_gate, Module::shared_up, Module::shared_down}},
      {"shared.gate", {Module::shared_gate}},
      {"shared.up", {Module::shared_up}},
      {"shared.down", {Module::shared_down}},
      {"experts", {Module::expert_gate, Module::expert_up, Module::expert_down}},
      {"experts.gate", {Module::expert_gate}},
      {"experts.up", {Module::expert_up}},
      {"experts.down", {Module::expert_down}},
  };
  return all;
}

std::optional<int> layer_number(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number >= layer_limit) return std::nullopt;
  return number;
}

/// "2,8,16-30". @return empty if the text has another form
std::vector<bool> read_layers(std::string_view text) {
  std::vector<bool> layers(layer_limit, false);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const size_t dash = item.find('-');
    const auto first = layer_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : layer_number(item.substr(dash + 1));
    if (!first || !last || *first > *last) return {};
    std::fill(layers.begin() + *first, layers.begin() + *last + 1, true);
    begin = end + 1;
  }
  return layers;
}

/// "bf16" or BITS/GROUP. @return false if it is neither
bool read_format(std::string_view text, FormatMap::Format& format) {
  format.reset();
  if (text == "bf16") return true;
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      if (fmt::format("{}/{}", bits, group) != text) continue;
      format = AffineFormat{bits, group};
      return true;
    }
  }
  return false;
}

FormatMap::Format format_of(const ConfigReader& object, std::string_view key) {
  const auto text = object.text(key);
  FormatMap::Format format;
  if (text && read_format(*text, format)) return format;
  fail(ErrorKind::corrupt, "{} is {}; bf16 or BITS/GROUP such as 4/64 was needed", object.about(key),
       text ? "`" + printable(*text) + "`" : "missing");
}

AffineFormat complete(const StatedFormat& stated) {
  if (!stated.bits || !stated.group) {
    fail(ErrorKind::invalid, "the quantization of {} is {}; both bits and group_size are needed where there are no headers to read",
         stated.path.empty() ? "all matrices" : "`" + printable(stated.path) + "`", describe(stated));
  }
  return {*stated.bits, *stated.group};
}

}  // namespace

bool FormatMap::Rule::holds(const ModulePath& path) const {
  if (std::find(modules.begin(), modules.end(), path.module) == modules.end()) return false;
  return layers.empty() || (path.layer >= 0 && layers[static_cast<size_t>(path.layer)]);
}

std::optional<FormatMap> FormatMap::uniform(std::string_view name) {
  FormatMap map;
  if (!read_format(name, map.default_)) return std::nullopt;
  if (map.default_) map.rules_.push_back({.modules = {Module::router}, .layers = {}, .format = AffineFormat{8, 64}});
  return map;
}

FormatMap::Rule FormatMap::read_rule(const Json& rule, const std::string& what, size_t number) {
  const ConfigReader reader(rule, what, fmt::format("formats.rules[{}]", number));
  reader.refuse_other_keys(std::array<std::string_view, 3>{"parts", "layers", "format"});
  Rule result;
  for (const std::string& name : reader.texts("parts").value_or(std::vector<std::string>{})) {
    const auto part = std::find_if(parts().begin(), parts().end(), [&](const NamedPart& candidate) { return candidate.name == name; });
    if (part == parts().end()) fail(ErrorKind::corrupt, "{} has `{}`, which is no part of a model", reader.about("parts"), printable(name));
    result.modules.insert(result.modules.end(), part->modules.begin(), part->modules.end());
  }
  if (result.modules.empty()) fail(ErrorKind::corrupt, "{} names no part; a list of at least one was needed", reader.about("parts"));
  if (const auto layers = reader.text("layers")) {
    result.layers = read_layers(*layers);
    if (result.layers.empty())
      fail(ErrorKind::corrupt, "{} is `{}`; layer numbers such as 2,8,16-30 were needed", reader.about("layers"), printable(*layers));
  }
  result.format = format_of(reader, "format");
  return result;
}

FormatMap FormatMap::read(const Json& formats, const std::string& what) {
  const ConfigReader reader(formats, what, "formats");
  reader.refuse_other_keys(std::array<std::string_view, 4>{"default", "prefix", "expert_bias", "rules"});
  FormatMap map;
  map.default_ = format_of(reader, "default");
  map.prefix_ = reader.text("prefix").value_or("");
  if (!map.prefix_.empty() && map.prefix_ != "language_model.")
    fail(ErrorKind::corrupt, "{} is `{}`; `language_model.` or nothing was needed", reader.about("prefix"), printable(map.prefix_));
  const std::string bias = reader.text("expert_bias").value_or("F32");
  if (bias != "F32" && bias != "BF16") fail(ErrorKind::corrupt, "{} is `{}`; F32 or BF16 was needed", reader.about("expert_bias"), printable(bias));
  map.half_expert_bias_ = bias == "BF16";
  if (const Json* rules = reader.find("rules")) {
    if (!rules->is_array()) reader.refuse_type("rules", *rules, "a list of rules");
    for (const Json& rule : *rules) map.rules_.push_back(read_rule(rule, what, map.rules_.size()));
  }
  return map;
}

FormatMap FormatMap::of(const QuantizationConfig& quantization) {
  FormatMap map;
  if (quantization.everywhere() != nullptr && quantization.everywhere()->quantized) {
    map.default_ = complete(*quantization.everywhere());
    map.rules_.push_back({.modules = {Module::router}, .layers = {}, .format = std::nullopt});
  }
  for (const auto& [key, stated] : quantization.entries()) map.entries_[key] = stated.quantized ? Format(complete(stated)) : std::nullopt;
  return map;
}

FormatMap::Format FormatMap::of(const ModulePath& path) const {
  for (const ModulePath& candidate : {path, ModulePath{path.module, path.layer, -1}}) {
    const auto entry = entries_.find(candidate.key());
    if (entry != entries_.end()) return entry->second;
  }
  const auto rule = std::find_if(rules_.rbegin(), rules_.rend(), [&](const Rule& candidate) { return candidate.holds(path); });
  return rule == rules_.rend() ? default_ : rule->format;
}

}  // namespace lagoon
