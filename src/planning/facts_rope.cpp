// facts_rope.cpp: positions. Where a number stands follows the precedence of checkpoint/rope_config.cpp, which decides its value.
#include "base/byte_size.h"
#include "planning/facts_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lagoon {
namespace {

constexpr double default_full_fraction = 0.5;

/// One rope's objects, the first to be asked first.
struct RopePlaces {
  std::vector<ConfigPlaces::Found> objects;
  bool top = false;  // rope_theta and partial_rotary_factor may stand at the top

  std::optional<ConfigPlaces::Found> find(const ConfigPlaces& places, const std::string& key) const {
    for (const ConfigPlaces::Found& object : objects) {
      const auto found = object.value->find(key);
      if (found != object.value->end() && !found->is_null()) return ConfigPlaces::Found{object.pointer + "/" + key, &*found};
    }
    if (top && (key == "rope_theta" || key == "partial_rotary_factor")) return places.find(key);
    return std::nullopt;
  }
  FactSource source(const ConfigPlaces& places, const std::string& key) const {
    if (const auto found = find(places, key)) return {"config", found->pointer, excerpt_of(*found->value)};
    return {"model code", "class default of `" + key + "`", ""};
  }
  /// Of the rope as a whole.
  FactSource source() const {
    if (objects.empty()) return {"model code", "class default of `rope_parameters`", ""};
    return {"config", objects.front().pointer, excerpt_of(*objects.front().value)};
  }
};

struct Ropes {
  std::optional<ConfigPlaces::Found> container;
  RopePlaces full{.top = true};
  RopePlaces sliding;
};

std::optional<ConfigPlaces::Found> child(const ConfigPlaces::Found& object, const std::string& key) {
  const auto found = object.value->find(key);
  if (found == object.value->end() || !found->is_object()) return std::nullopt;
  return ConfigPlaces::Found{object.pointer + "/" + key, &*found};
}

Ropes ropes_in(const ConfigPlaces& places) {
  Ropes ropes;
  ropes.container = places.find("rope_parameters");
  if (!ropes.container) ropes.container = places.find("rope_scaling");
  if (ropes.container) {
    if (const auto own = child(*ropes.container, "full_attention")) ropes.full.objects.push_back(*own);
    ropes.full.objects.push_back(*ropes.container);
    if (const auto own = child(*ropes.container, "sliding_attention")) {
      ropes.sliding = {{*own, *ropes.container}, true};
    }
  }
  if (const auto own = places.find("swa_rope_parameters")) ropes.sliding = {{*own}, false};
  return ropes;
}

std::string position_text(const RotaryConfig& rotary, int head_dim) {
  if (rotary.dimensions == head_dim) return "RoPE";
  return fmt::format("partial RoPE {:.4g} %", 100.0 * rotary.dimensions / head_dim);
}

std::string yarn_text(const RotaryConfig& rotary, std::string_view layers) {
  return fmt::format("YaRN factor {:.6g} over {} on {} layers; beta_fast {:.6g}, beta_slow {:.6g}, attention factor {:.4g}", rotary.factor,
                     format_count(static_cast<uint64_t>(std::llround(rotary.original_context))), layers, rotary.beta_fast, rotary.beta_slow,
                     rotary.attention_factor);
}

void add_extension(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places, const Ropes& ropes, bool global, bool sliding) {
  const bool full_yarn = global && config.full_rotary.yarn;
  const bool sliding_yarn = sliding && config.sliding_rotary.yarn;
  const RopePlaces& decisive = full_yarn || !sliding_yarn ? ropes.full : ropes.sliding;
  if (!full_yarn && !sliding_yarn) return sheet.set("context.extension", "none", decisive.source(), "plain RoPE");
  std::string text;
  if (full_yarn) text = yarn_text(config.full_rotary, "global");
  if (sliding_yarn) text += (text.empty() ? "" : "; ") + yarn_text(config.sliding_rotary, "sliding");
  const bool formula = !decisive.find(places, "attention_factor");
  sheet.set("context.extension", std::move(text), decisive.source(), formula ? "attention factor by the formula 0.1 ln(factor) + 1" : "");
}

}  // namespace

void add_rope_facts(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places) {
  const auto has = [&](AttentionKind kind) { return count_layers(config, kind) > 0; };
  const bool global = has(AttentionKind::full);
  const bool sliding = has(AttentionKind::sliding);
  const Ropes ropes = ropes_in(places);

  std::string positions;
  if (global) positions = position_text(config.full_rotary, config.head_dim) + (sliding ? " (global)" : "");
  if (sliding) positions += (global ? ", " : "") + position_text(config.sliding_rotary, config.head_dim) + (global ? " (SWA)" : "");
  FactSource place = {"model code", "class default of `rope_parameters`", ""};
  if (ropes.container) place = {"config", ropes.container->pointer, excerpt_of(*ropes.container->value)};
  if (const auto own = places.find("swa_rope_parameters"); own && sliding) place.place += ", " + own->pointer;
  sheet.set("attn.positions", std::move(positions), std::move(place));

  if (global) {
    sheet.set("attn.rope_theta", plain_number(config.full_rotary.theta), ropes.full.source(places, "rope_theta"));
    const auto fraction = ropes.full.find(places, "partial_rotary_factor");
    sheet.set("attn.rotary_fraction", plain_number(fraction ? fraction->value->get<double>() : default_full_fraction),
              ropes.full.source(places, "partial_rotary_factor"));
  } else {
    for (const std::string_view key : {"attn.rope_theta", "attn.rotary_fraction"})
      sheet.set(key, nullptr, places.source("layer_types"), "no global layers");
  }
  if (sliding) {
    sheet.set("attn.local_rope_theta", plain_number(config.sliding_rotary.theta), ropes.sliding.source(places, "rope_theta"));
  } else {
    sheet.set("attn.local_rope_theta", nullptr, places.source("layer_types"), "no sliding layers");
  }
  add_extension(sheet, config, places, ropes, global, sliding);
}

}  // namespace lagoon
