#include "planning/facts_counts.h"

#include "base/byte_size.h"
#include "planning/facts_sheet.h"
#include "planning/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

namespace lagoon {
namespace {

bool is_tied(const Checkpoint& checkpoint) {
  const ByteRange& head = checkpoint.head().values;
  const ByteRange& embedding = checkpoint.embedding().values;
  return head.file == embedding.file && head.offset == embedding.offset;
}

using Scopes = std::initializer_list<std::pair<std::string_view, uint64_t>>;

ScopeMatch closest(const Scopes& scopes, double stated) {
  ScopeMatch best;
  for (const auto& [scope, count] : scopes) {
    const double deviation = std::abs(static_cast<double>(count) - stated) / stated;
    if (best.scope.empty() || deviation < best.deviation) best = {std::string(scope), count, deviation};
  }
  return best;
}

constexpr std::array<std::string_view, 5> counted_keys{"params.counted_total", "params.counted_embedding", "params.counted_nonembedding",
                                                       "params.counted_largest_layer", "params.counted_active_nonembedding"};

std::string comparison(std::string_view name, const ScopeMatch& match, double stated) {
  return fmt::format("{} {} counted ({}), {} stated, {:.1f} % off", name, short_count(static_cast<double>(match.counted)), match.scope,
                     short_count(stated), 100.0 * match.deviation);
}

/// Whether the counts may be shown, and the sentence that says why.
struct Verdict {
  bool total = false;
  bool active = false;
  std::string note;
};

Verdict judge(const ParameterCounts& counts, const Json& stated_total, const Json& stated_active) {
  if (stated_total.is_null()) return {false, false, "no published total to compare with"};
  const auto total = stated_total.get<double>();
  const ScopeMatch of_total = match_total(counts, total);
  if (stated_active.is_null()) {
    if (of_total.reproduces()) return {true, false, fmt::format("reproduces stated total ({}); no active figure is stated", of_total.scope)};
    return {false, false, "does not reproduce what is stated within 5 %: " + comparison("total", of_total, total)};
  }
  const auto active = stated_active.get<double>();
  const ScopeMatch of_active = match_active(counts, active);
  if (of_total.reproduces() && of_active.reproduces()) {
    return {true, true, fmt::format("reproduces stated total ({}) and active ({})", of_total.scope, of_active.scope)};
  }
  return {false, false,
          "does not reproduce what is stated within 5 %: " + comparison("total", of_total, total) + "; " + comparison("active", of_active, active)};
}

void set_counts(FactSheet& sheet, const ParameterCounts& counts, const Verdict& verdict, const std::string& headers) {
  const std::array<uint64_t, 5> values{counts.total, counts.embedding, counts.nonembedding, counts.largest_layer, counts.active_nonembedding};
  const std::string largest = fmt::format("{} of layers.{}", headers, counts.largest_at);
  for (size_t at = 0; at < counted_keys.size(); ++at) {
    const bool shown = at + 1 == counted_keys.size() ? verdict.active : verdict.total;
    const FactSource source{"headers", counted_keys[at] == "params.counted_largest_layer" ? largest : headers, ""};
    if (shown) {
      sheet.set(counted_keys[at], values[at], source, verdict.note);
    } else {
      const std::string why = verdict.total ? "no active figure is stated to compare with" : verdict.note;
      sheet.set(counted_keys[at], nullptr, source, fmt::format("counted {}, not shown as a fact: {}", format_count(values[at]), why));
    }
  }
}

}  // namespace

ParameterCounts count_parameters(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config();
  ParameterCounts counts;
  counts.head = checkpoint.head().elements();
  counts.embedding = is_tied(checkpoint) ? counts.head : checkpoint.embedding().elements() + counts.head;
  std::vector<uint64_t> layers(config.layers.size());
  uint64_t routed = 0;
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart part, int layer) {
    if (part == ModelPart::embedding || part == ModelPart::head) return;
    counts.nonembedding += weight.elements();
    if (layer >= 0) layers[static_cast<size_t>(layer)] += weight.elements();
    if (part == ModelPart::experts) routed += weight.elements();
  });
  const auto largest = std::max_element(layers.begin(), layers.end());
  counts.largest_layer = *largest;
  counts.largest_at = static_cast<int>(largest - layers.begin());
  counts.active_nonembedding = counts.nonembedding - routed;
  // Experts are of one size, so that the division leaves nothing.
  if (routed > 0) counts.active_nonembedding += routed / static_cast<uint64_t>(config.experts) * static_cast<uint64_t>(config.experts_per_token);
  counts.total = counts.embedding + counts.nonembedding;
  return counts;
}

ScopeMatch match_total(const ParameterCounts& counts, double stated) {
  return closest({{"backbone", counts.total}, {"without embedding and head", counts.nonembedding}}, stated);
}

ScopeMatch match_active(const ParameterCounts& counts, double stated) {
  return closest({{"non-embedding", counts.active_nonembedding},
                  {"with output head", counts.active_nonembedding + counts.head},
                  {"with embedding and head", counts.active_nonembedding + counts.embedding}},
                 stated);
}

std::string short_count(double count) {
  constexpr std::array<std::pair<double, const char*>, 4> units{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
  for (const auto& [scale, name] : units) {
    if (count >= scale) return fmt::format("{:.4g}{}", count / scale, name);
  }
  return fmt::format("{:.4g}", count);
}

void add_count_facts(FactSheet& sheet, const Checkpoint& checkpoint, const std::string& headers) {
  const Json total = sheet.at("params.total").value;
  const Json active = sheet.at("params.active").value;
  const ParameterCounts counts = count_parameters(checkpoint);
  set_counts(sheet, counts, judge(counts, total, active), headers);
  const FactSource calculated{"calc", "params.active / params.total", ""};
  if (total.is_null() || active.is_null()) {
    sheet.set("moe.active_ratio", nullptr, calculated, "total or active is not stated");
    return;
  }
  sheet.set("moe.active_ratio", ratio(active.get<double>(), total.get<double>()),
            {calculated.kind, calculated.place, fmt::format("{} / {}", short_count(active.get<double>()), short_count(total.get<double>()))});
}

}  // namespace lagoon
