#include "planning/facts_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace lagoon {
namespace {

struct Run {
  AttentionKind kind;
  size_t length;
};

std::string_view name_of(AttentionKind kind) { return kind == AttentionKind::full ? "global" : "SWA"; }

std::vector<Run> runs_of(std::span<const LayerConfig> layers) {
  std::vector<Run> runs;
  for (const LayerConfig& layer : layers) {
    if (runs.empty() || runs.back().kind != layer.attention) runs.push_back({layer.attention, 0});
    ++runs.back().length;
  }
  return runs;
}

/// The shortest stretch whose repetition gives all layers.
size_t period_of(std::span<const LayerConfig> layers) {
  for (size_t period = 1; period < layers.size(); ++period) {
    const bool repeats = std::equal(layers.begin() + static_cast<std::ptrdiff_t>(period), layers.end(), layers.begin(),
                                    [](const LayerConfig& a, const LayerConfig& b) { return a.attention == b.attention; });
    if (repeats) return period;
  }
  return layers.size();
}

std::string times(size_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

}  // namespace

LayoutText layout_of(std::span<const LayerConfig> layers) {
  const auto global = static_cast<size_t>(
      std::count_if(layers.begin(), layers.end(), [](const LayerConfig& layer) { return layer.attention == AttentionKind::full; }));
  if (global == layers.size()) return {"all global", ""};
  if (global == 0) return {"all SWA", ""};

  const size_t period = period_of(layers);
  const size_t repeats = layers.size() / period;
  const std::vector<Run> runs = runs_of(layers.first(period));
  if (repeats < 2 && runs.size() > 2) return {fmt::format("irregular: {} global, {} SWA", global, layers.size() - global), ""};

  const std::string_view first = name_of(layers.front().attention);
  std::string note = fmt::format("inferred: the pattern stands there {}", times(repeats));
  if (repeats > 1) note = fmt::format("inferred: the pattern repeats {} times", repeats);
  if (layers.size() % period != 0) note += fmt::format(", then {} of its {} layers", layers.size() % period, period);
  // A pattern that begins in the middle of a run has three runs and is still a ratio of two.
  const bool rotated = runs.size() == 3 && runs.front().kind == runs.back().kind;
  if (runs.size() == 2 || (rotated && repeats > 1)) {
    const auto in_period = static_cast<size_t>(std::count_if(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(period),
                                                             [](const LayerConfig& layer) { return layer.attention == AttentionKind::full; }));
    if (rotated) note += fmt::format(", beginning with {} of {}", runs.front().length, runs.front().length + runs.back().length);
    return {fmt::format("{} global : {} SWA, starting with {}", in_period, period - in_period, first), note};
  }
  std::vector<std::string> parts;
  parts.reserve(runs.size());
  for (const Run& run : runs) parts.push_back(fmt::format("{} {}", run.length, name_of(run.kind)));
  return {fmt::format("{}, starting with {}", fmt::join(parts, " : "), first), note};
}

}  // namespace lagoon
