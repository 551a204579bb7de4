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
// Understood, but only in the one meaning that is computed; checked below.
constexpr std::array<std::string_view, 4> guarded_keys{"truncate", "mscale", "mscale_all_dim", "finetuned"};
constexpr std::array<std::string_view, 2> kinds{"full_attention", "sliding_attention"};

bool contains(const auto& list, std::string_view key) { return std::find(list.begin(), list.end(), key) != list.end(); }

/// One rope, looked up through objects of falling precedence: its own, the loose scalars around it, the top of config.json.
class Rope {
 public:
  Rope(std::vector<ConfigReader> own, const ConfigReader* top) : own_(std::move(own)), top_(top) {}

  std::optional<double> number(std::string_view key, double least, double most) const {
    for (const ConfigReader& reader : own_) {
      if (const auto found = reader.number(key, least, most)) return found;
    }
    return std::nullopt;
  }
  /// For rope_theta and partial_rotary_factor, which also stand at the top of config.json.
  std::optional<double> number_or_top(std::string_view key, double least, double most) const {
    if (const auto found = number(key, least, most)) return found;
    return top_ == nullptr ? std::nullopt : top_->number(key, least, most);
  }
  std::string type() const {
    for (const ConfigReader& reader : own_) {
      const auto type = reader.text("rope_type");
      const auto legacy = reader.text("type");
      if (type && legacy && *type != *legacy) {
        fail(ErrorKind::corrupt, "{} is `{}` and `type` is `{}`; the two must agree", reader.about("rope_type"), printable(*type),
             printable(*legacy));
      }
      if (type || legacy) return type ? *type : *legacy;
    }
    return "default";
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
  std::vector<ConfigReader> own_;
  const ConfigReader* top_;
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
  const std::string type = rope.type();
  if (type != "default" && type != "yarn") {
    fail(ErrorKind::unsupported, "{} is `{}`; Lagoon computes `default` and `yarn`", rope.about("rope_type"), printable(type));
  }
  rotary.yarn = type == "yarn";
  rotary.theta = rope.number_or_top("rope_theta", 1.0, 1e15).value_or(defaults.theta);
  const double partial = rope.number_or_top("partial_rotary_factor", 0.0, 1.0).value_or(defaults.partial);
  rotary.dimensions = static_cast<int>(static_cast<double>(head_dim) * partial);
  if (rotary.dimensions <= 0 || rotary.dimensions % 2 != 0) {
    fail(ErrorKind::corrupt, "{} is {}, which rotates {} of {} dimensions of a head; an even number above 0 was needed",
         rope.about("partial_rotary_factor"), partial, rotary.dimensions, head_dim);
  }
  if (!rotary.yarn) return rotary;

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
  rotary.beta_fast = rope.number("beta_fast", 1e-6, 1e9).value_or(32.0);
  rotary.beta_slow = rope.number("beta_slow", 1e-6, 1e9).value_or(1.0);
  // The key rules where it is present: XS.2 and M.1 say 1.0, which is not what the formula gives.
  rotary.attention_factor = rope.number("attention_factor", 1e-6, 1e6).value_or(0.1 * std::log(rotary.factor) + 1.0);
  return rotary;
}

bool is_nested(const ConfigReader& parameters) {
  return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) { return parameters.has(kind); });
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

}  // namespace

RopeConfigs read_rope_configs(const ConfigReader& config, int head_dim) {
  std::vector<ConfigReader> full;
  std::vector<ConfigReader> sliding;
  bool top_speaks_of_sliding = false;
  if (const auto parameters = stated_parameters(config)) {
    const bool nested = is_nested(*parameters);
    refuse_unknown_keys(*parameters, nested);
    if (nested) {
      if (const auto own = parameters->child("full_attention")) {
        refuse_unknown_keys(*own, false);
        full.push_back(*own);
      }
      full.push_back(*parameters);
      if (const auto own = parameters->child("sliding_attention")) {
        refuse_unknown_keys(*own, false);
        sliding = {*own, *parameters};
        top_speaks_of_sliding = true;
      }
    } else {
      full.push_back(*parameters);
    }
  }
  if (const auto own = config.child("swa_rope_parameters")) {
    refuse_unknown_keys(*own, false);
    sliding = {*own};
    top_speaks_of_sliding = false;
  }
  RopeConfigs ropes;
  ropes.full = read_rope(Rope(full, &config), full_defaults, head_dim);
  ropes.sliding = read_rope(Rope(sliding, top_speaks_of_sliding ? &config : nullptr), sliding_defaults, head_dim);
  return ropes;
}

}  // namespace lagoon
