// synthetic_spec.cpp: how a synthetic checkpoint is named.
#include "base/error.h"
#include "checkpoint/artifact.h"
#include "checkpoint/format_map.h"
#include "checkpoint/synthetic.h"
#include "checkpoint/synthetic_shapes.h"

#include <charconv>
#include <optional>

namespace lagoon {
namespace {

/// A published map by its name; nullptr if there is none.
const Artifact* mixed_format(std::string_view name) {
  const Artifact* artifact = find_artifact(shipped_artifacts(), name);
  return artifact != nullptr && artifact->name == name && artifact->formats && artifact->formats->is_mixed() ? artifact : nullptr;
}

std::vector<std::string> mixed_format_names() {
  std::vector<std::string> names;
  for (const Artifact& artifact : shipped_artifacts()) {
    if (mixed_format(artifact.name) != nullptr) names.push_back(artifact.name);
  }
  return names;
}

std::string models_understood() {
  std::vector<std::string_view> names;
  for (const PublishedShape& shape : published_shapes()) names.push_back(shape.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string formats_understood() {
  return fmt::format("bf16, BITS/GROUP of {} bits in groups of {}, such as 4/64, and the published maps {}", fmt::join(affine_bits, ", "),
                     fmt::join(affine_groups, ", "), fmt::join(mixed_format_names(), ", "));
}

/// Decimal digits alone.
std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const PublishedShape& shape_of(const std::string& where, std::string_view model) {
  const PublishedShape* shape = find_shape(model);
  if (shape == nullptr) fail(ErrorKind::invalid, "{}: there is no model `{}`; models are {}", where, printable(model), models_understood());
  return *shape;
}

void check_format(const std::string& where, std::string_view model, std::string_view format) {
  if (FormatMap::uniform(format)) return;
  const Artifact* artifact = mixed_format(format);
  if (artifact == nullptr) fail(ErrorKind::invalid, "{}: there is no format `{}`; formats are {}", where, printable(format), formats_understood());
  // mini takes every map, so that mixed formats can be had small.
  if (artifact->model == model || model == "mini") return;
  fail(ErrorKind::invalid, "{}: the format `{}` is the map of {} and does not fit {}; take it with {} or mini, or another format", where, format,
       artifact->model, model, artifact->model);
}

void read_option(const std::string& where, std::string_view option, const PublishedShape& shape, std::optional<int>& layers,
                 std::optional<uint64_t>& seed) {
  const size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const auto number = equals == std::string_view::npos ? std::nullopt : whole_number(option.substr(equals + 1));
  if (key != "layers" && key != "seed") fail(ErrorKind::invalid, "{}: `{}` is no option; write layers=N or seed=N", where, printable(option));
  if (key == "layers" ? layers.has_value() : seed.has_value()) fail(ErrorKind::invalid, "{}: {} is said twice; say it once", where, key);
  if (key == "seed") {
    if (!number) fail(ErrorKind::invalid, "{}: `{}` is no seed; write seed= and a whole number below 2^64", where, printable(option));
    seed = number;
    return;
  }
  if (!number || *number < 1 || *number > static_cast<uint64_t>(shape.layers)) {
    fail(ErrorKind::invalid, "{}: `{}`: {} has {} layers; write layers= and a number from 1 to {}", where, printable(option), shape.name,
         shape.layers, shape.layers);
  }
  layers = static_cast<int>(*number);
}

}  // namespace

FormatMap synthetic_formats(const SyntheticSpec& spec) {
  if (const auto uniform = FormatMap::uniform(spec.format)) return *uniform;
  return *mixed_format(spec.format)->formats;
}

SyntheticSpec parse_synthetic_spec(std::string_view text) {
  const std::string where = "synthetic checkpoint `" + printable(text) + "`";
  const size_t comma = text.find(',');
  const std::string_view front = text.substr(0, comma);
  const size_t colon = front.find(':');
  if (colon == std::string_view::npos) {
    fail(ErrorKind::invalid, "{}: a model and a format were expected; write {}", where, synthetic_spec_help());
  }
  SyntheticSpec spec;
  spec.model = front.substr(0, colon);
  spec.format = front.substr(colon + 1);
  const PublishedShape& shape = shape_of(where, spec.model);
  check_format(where, spec.model, spec.format);
  std::optional<int> layers;
  std::optional<uint64_t> seed;
  for (size_t at = comma; at != std::string_view::npos;) {
    const size_t next = text.find(',', at + 1);
    read_option(where, text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1), shape, layers, seed);
    at = next;
  }
  spec.layers = layers.value_or(shape.layers);
  spec.seed = seed.value_or(0);
  return spec;
}

std::string to_string(const SyntheticSpec& spec) {
  std::string text = spec.model + ":" + spec.format;
  const PublishedShape* shape = find_shape(spec.model);
  if (shape == nullptr || spec.layers != shape->layers) text += fmt::format(",layers={}", spec.layers);
  if (spec.seed != 0) text += fmt::format(",seed={}", spec.seed);
  return text;
}

std::string synthetic_spec_help() {
  return fmt::format("MODEL:FORMAT[,layers=N][,seed=N], where models are {}; formats are {}", models_understood(), formats_understood());
}

}  // namespace lagoon
