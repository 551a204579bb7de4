#include "planning/memory_curve.h"

#include "kernels/attention_block.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {

Json memory_curve(const MemoryPlanner& planner, PlanRequest request) {
  const Checkpoint& checkpoint = planner.checkpoint();
  const int64_t most = checkpoint.config().max_context;
  request.model.context = std::min(most, std::max<int64_t>(request.model.step_rows, 1));
  request.sequences = 1;
  request.logit_rows = 0;
  const CpuModelOptions options = options_of(request);
  const StepShape shape = CpuModel::step_shape(checkpoint, options);
  const Activations::Cost cost = Activations::cost(checkpoint.config(), shape);
  const MemoryLine full_page = CpuModel::sequence_lines(checkpoint.config(), options, 1)[0];  // of one token: a page of each full layer

  Json fixed = Json::array();
  Json per_sequence = Json::array();
  for (const PlanLine& line : planner.plan(request).lines) {
    if (line.name == full_page.name || line.name == Activations::line_name) continue;
    const bool each = line.name.starts_with("KV: ") || line.name == logits_line;
    (each ? per_sequence : fixed).push_back({{"name", line.name}, {"bytes", line.bytes}});
  }
  return {{"prefill_chunk", options.step_rows},
          {"max_context", most},
          {"fixed", std::move(fixed)},
          {"per_sequence", std::move(per_sequence)},
          {"kv_full", {{"name", full_page.name}, {"page_tokens", int64_t{attention_block}}, {"page_bytes", full_page.bytes}}},
          {"span",
           {{"name", Activations::line_name},
            {"base_bytes", cost.fixed + cost.per_row * static_cast<uint64_t>(shape.rows)},
            {"span_tokens", int64_t{attention_span}},
            {"least", shape.rows},
            {"bytes", cost.per_slot}}}};
}

}  // namespace lagoon
