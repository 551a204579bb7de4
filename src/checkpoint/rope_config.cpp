#include "checkpoint/rope_config.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon {
namespace {

constexpr std::array<std::string_view, 9> known_keys{
    "rope_type", "type",      "rope_theta",      "partial_rotary_factor", "factor", "original_max_position_embeddings",
    "beta_fast", "beta_slow", "attention_factor"};
constexpr std::span<const std::string_view> yarn_keys = std::span(known_keys).subspan(4);
// Understood, but only in the one meaning that is computed; checked below.
constexpr std::array<std::string_view, 4> guarded_keys{"truncate", "mscale", "mscale_all_dim", "finetuned"};
constexpr std::array<std::string_view, 2> kinds{"full_attention", "sliding_attention"};

bool contains(const auto& list, std::string_view key) { return std::find(list.begin(), list.end(), key) != list.end(); }

/// One rope, looked up through objects of falling precedence: its own, the loose scalars around it, the top of config.json.
class Rope {
 public:
  /// @param kind         in sentences
  /// @param assumptions  gets a sentence for each default that is taken; nullptr: no layer has this rope
  Rope(std::string_view kind, std::vector<ConfigReader> own, const ConfigReader* top, std::vector<std::string>* assumptions)
      : kind_(kind), own_(std::move(own)), top_(top), assumptions_(assumptions) {}

  std::optional<double> number(std::string_view key, double least, double most) const {
    for (const ConfigReader& reader : own_) {
      if (const auto found = reader.number(key, least, most)) return found;
    }
    return std::nullopt;
  }
  /// @param otherwise  what is taken where nothing says it
  double number_or(std::string_view key, double least, double most, double otherwise) const {
    if (const auto found = number(key, least, most)) return *found;
    note(key, fmt::format("{}", otherwise));
    return otherwise;
  }
  /// For rope_theta and partial_rotary_factor, which also stand at the top of config.json.
  double number_or_top(std::string_view key, double least, double most, double otherwise) const {
    if (const auto found = top_ == nullptr || number(key, least, most) ? std::nullopt : top_->number(key, least, most)) return *found;
    return number_or(key, least, most, otherwise);
  }
  /// A key that the objects lack.
  void note(std::string_view key, std::string_view taken) const {
    if (assumptions_ != nullptr && !own_.empty()) assumptions_->push_back(fmt::format("{} is missing; {} is taken", about(key), taken));
  }
  /// Where no object speaks of this rope at all.
  void note_absence(const std::string& what, const RotaryConfig& taken) const {
    if (assumptions_ == nullptr || !own_.empty()) return;
    assumptions_->push_back(
        fmt::format("{}: nothing says the rope of layers of the kind `{}`; the plain one with base {} over {} dimensions is taken", what, kind_,
                    taken.theta, taken.dimensions));
  }
  /// nullopt: nothing says it.
  std::optional<std::string> type() const {
    for (const ConfigReader& reader : own_) {
      const auto type = reader.text("rope_type");
      const auto legacy = reader.text("type");
      if (type && legacy && *type != *legacy) {
        fail(ErrorKind::corrupt, "{} is `{}` and `type` is `{}`; the two must agree", reader.about("rope_type"), printable(*type),
             printable(*legacy));
      }
      if (type || legacy) return type ? *type : *legacy;
    }
    return std::nullopt;
  }
  /// Keys of YaRN in its own object; those around it may be another rope's.
  void refuse_yarn_keys(const std::optional<std::string>& type) const {
    if (!own_.empty()) refuse_yarn_keys_in(own_.front(), type);
  }
  static void refuse_yarn_keys_in(const ConfigReader& reader, const std::optional<std::string>& type) {
    for (const std::string_view key : yarn_keys) {
      if (!reader.has(key)) continue;
      fail(ErrorKind::corrupt, "{} is {}, but `{}` is there, which belongs to the type `yarn` alone; correct the type, or remove the key",
           reader.about("rope_type"), type ? "`" + printable(*type) + "`" : "missing", key);
    }
  }
  std::string about(std::string_view key) const {
    for (const ConfigReader& reader : own_) {
      if (reader.has(key)) return reader.about(key);
    }
    return own_.empty() ? std::string(key) : own_.front().about(key);
  }
  void refuse_what_is_not_computed() const {
    for (const ConfigReader& reader : own_) {
      if (reader.boolean("truncate") == false) {
        fail(ErrorKind::unsupported, "{} is false; Lagoon computes YaRN with truncated bounds only, as every published Laguna does",
             reader.about("truncate"));
      }
      for (const std::string_view key : {"mscale", "mscale_all_dim"}) {
        if (!reader.has(key) || number("attention_factor", 0.0, 1e6)) continue;
        fail(ErrorKind::unsupported, "{} is present without `attention_factor`; Lagoon takes the attention factor or the formula 0.1 ln(factor) + 1",
             reader.about(key));
      }
    }
  }

 private:
  std::string_view kind_;
  std::vector<ConfigReader> own_;
  const ConfigReader* top_;
  std::vector<std::string>* assumptions_;
};

void refuse_unknown_keys(const ConfigReader& rope, bool kinds_allowed) {
  for (const auto& [key, value] : rope.object().items()) {
    if (contains(known_keys, key) || contains(guarded_keys, key) || (kinds_allowed && contains(kinds, key))) continue;
    fail(ErrorKind::unsupported, "{} is no key that Lagoon knows, and passing over it could change every angle; known are {}", rope.about(key),
         fmt::join(known_keys, ", "));
  }
}

struct Defaults {
  double theta;
  double partial;
};
constexpr Defaults full_defaults{500000.0, 0.5};
constexpr Defaults sliding_defaults{10000.0, 1.0};

RotaryConfig read_rope(const Rope& rope, const Defaults& defaults, int head_dim) {
  RotaryConfig rotary;
  const std::optional<std::string> stated_type = rope.type();
  if (!stated_type) rope.note("rope_type", "`default`");
  const std::string type = stated_type.value_or("default");
  if (type != "default" && type != "yarn") {
    fail(ErrorKind::unsupported, "{} is `{}`; Lagoon computes `default` and `yarn`", rope.about("rope_type"), printable(type));
  }
  rotary.yarn = type == "yarn";
  rotary.theta = rope.number_or_top("rope_theta", 1.0, 1e15, defaults.theta);
  const double partial = rope.number_or_top("partial_rotary_factor", 0.0, 1.0, defaults.partial);
  rotary.dimensions = static_cast<int>(static_cast<double>(head_dim) * partial);
  if (rotary.dimensions <= 0 || rotary.dimensions % 2 != 0) {
    fail(ErrorKind::corrupt, "{} is {}, which rotates {} of {} dimensions of a head; an even number above 0 was needed",
         rope.about("partial_rotary_factor"), partial, rotary.dimensions, head_dim);
  }
  if (!rotary.yarn) {
    rope.refuse_yarn_keys(stated_type);
    return rotary;
  }
  if (rotary.theta <= 1.0) fail(ErrorKind::corrupt, "{} is {}; YaRN needs more than 1", rope.about("rope_theta"), rotary.theta);
  rope.refuse_what_is_not_computed();
  const auto factor = rope.number("factor", 1.0, 1e9);
  const auto original = rope.number("original_max_position_embeddings", 1.0, 1e15);
  if (!factor) fail(ErrorKind::corrupt, "{} is missing; a rope of type `yarn` needs it", rope.about("factor"));
  if (!original) fail(ErrorKind::corrupt, "{} is missing; a rope of type `yarn` needs it", rope.about("original_max_position_embeddings"));
  if (std::floor(*original) != *original) {
    fail(ErrorKind::corrupt, "{} is {}, a whole number was needed", rope.about("original_max_position_embeddings"), *original);
  }
  rotary.factor = *factor;
  rotary.original_context = *original;
  rotary.beta_fast = rope.number_or("beta_fast", 1e-6, 1e9, 32.0);
  rotary.beta_slow = rope.number_or("beta_slow", 1e-6, 1e9, 1.0);
  // The key rules where it is present: XS.2 and M.1 say 1.0, which is not what the formula gives.
  rotary.attention_factor = rope.number_or("attention_factor", 1e-6, 1e6, 0.1 * std::log(rotary.factor) + 1.0);
  return rotary;
}

bool is_nested(const ConfigReader& parameters) {
  return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return parameters.object().contains(std::string(kind)); });
}

/// The one of rope_parameters and rope_scaling that speaks; both may stand there if they say the same.
std::optional<ConfigReader> stated_parameters(const ConfigReader& config) {
  auto parameters = config.child("rope_parameters");
  auto scaling = config.child("rope_scaling");
  if (!parameters || !scaling) return parameters ? parameters : scaling;
  const auto said_by_scaling = [&](const Json& other) { return nlohmann::json(scaling->object()) == nlohmann::json(other); };  // in any order
  const Json* full = parameters->find("full_attention");
  if (!said_by_scaling(parameters->object()) && (full == nullptr || !said_by_scaling(*full))) {
    fail(ErrorKind::corrupt, "{} and `rope_scaling` say different things; keep the one that the weights were trained with",
         config.about("rope_parameters"));
  }
  return parameters;
}

/// The object of one kind, which must say something if there are layers of the kind.
std::optional<ConfigReader> own_parameters(const ConfigReader& parameters, std::string_view kind, bool used) {
  auto own = parameters.child(kind);
  if (own) refuse_unknown_keys(*own, false);
  if (used && !own) {
    fail(ErrorKind::corrupt, "{} is missing, but `layer_types` has such layers; say their rope, or fetch config.json again", parameters.about(kind));
  }
  const bool says_nothing = own && std::all_of(own->object().begin(), own->object().end(), [](const Json& value) { return value.is_null(); });
  if (used && says_nothing && !parameters.has("rope_type")) {
    fail(ErrorKind::corrupt, "{} says nothing, but `layer_types` has such layers; say their rope, or fetch config.json again",
         parameters.about(kind));
  }
  return own;
}

/// What stands at the top of config.json beside ropes that have their own must be the value of one of them.
void refuse_other_values_at_the_top(const ConfigReader& config, const std::vector<RotaryConfig>& ropes, int head_dim) {
  const auto theta = config.number("rope_theta", 1.0, 1e15);
  const auto partial = config.number("partial_rotary_factor", 0.0, 1.0);
  const auto dimensions = static_cast<int>(head_dim * partial.value_or(0.0));
  const auto any = [&](const auto& agrees) { return std::any_of(ropes.begin(), ropes.end(), agrees); };
  if (theta && !any([&](const RotaryConfig& rope) { return rope.theta == *theta; })) {
    fail(ErrorKind::corrupt, "{} is {}, but the ropes have {}; the two must agree", config.about("rope_theta"), *theta, ropes.front().theta);
  }
  if (partial && !any([&](const RotaryConfig& rope) { return rope.dimensions == dimensions; })) {
    fail(ErrorKind::corrupt, "{} is {}, but the ropes turn {} of {} dimensions; the two must agree", config.about("partial_rotary_factor"), *partial,
         ropes.front().dimensions, head_dim);
  }
}

}  // namespace

RopeConfigs read_rope_configs(const ConfigReader& config, int head_dim, std::span<const LayerConfig> layers) {
  const auto used = [&](AttentionKind kind) {
    return std::any_of(layers.begin(), layers.end(), [&](const LayerConfig& layer) { return layer.attention == kind; });
  };
  const auto swa = config.child("swa_rope_parameters");
  const auto parameters = stated_parameters(config);
  const bool nested = parameters && is_nested(*parameters);
  std::vector<ConfigReader> full;
  std::vector<ConfigReader> sliding;
  bool top_speaks_of_sliding = false;
  if (parameters) refuse_unknown_keys(*parameters, nested);
  if (nested) {
    if (const auto own = own_parameters(*parameters, "full_attention", used(AttentionKind::full))) full.push_back(*own);
    if (const auto own = own_parameters(*parameters, "sliding_attention", used(AttentionKind::sliding) && !swa)) {
      sliding = {*own, *parameters};
      top_speaks_of_sliding = true;
    }
  }
  if (parameters) full.push_back(*parameters);
  if (swa) {
    refuse_unknown_keys(*swa, false);
    sliding = {*swa};
    top_speaks_of_sliding = false;
  }
  RopeConfigs ropes;
  const auto assumptions_of = [&](AttentionKind kind) { return used(kind) ? &ropes.assumptions : nullptr; };
  const Rope full_rope("full_attention", full, &config, assumptions_of(AttentionKind::full));
  const Rope sliding_rope("sliding_attention", sliding, top_speaks_of_sliding ? &config : nullptr, assumptions_of(AttentionKind::sliding));
  ropes.full = read_rope(full_rope, full_defaults, head_dim);
  ropes.sliding = read_rope(sliding_rope, sliding_defaults, head_dim);
  full_rope.note_absence(config.what(), ropes.full);
  sliding_rope.note_absence(config.what(), ropes.sliding);
  if (nested && !ropes.full.yarn && !ropes.sliding.yarn) Rope::refuse_yarn_keys_in(*parameters, parameters->text("rope_type"));
  std::vector<RotaryConfig> stated = {ropes.full};
  if (!sliding.empty()) stated.push_back(ropes.sliding);
  refuse_other_values_at_the_top(config, stated, head_dim);
  return ropes;
}

}  // namespace lagoon
