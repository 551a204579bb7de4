// memory_curve.h: a plan as a function of context and sequences, for pages that calculate it again.
//   total = sum(fixed) + sequences * sum(per_sequence) + sequences * kv_full.page_bytes * ceil(context / kv_full.page_tokens)
//         + span.base_bytes + span.bytes * max(span.least, ceil(context / span.span_tokens))
#pragma once

#include "base/json.h"
#include "planning/memory_plan.h"

namespace lagoon {

/// Exact for every context of at least the chunk.
/// @param request  its chunk and threads count; context and sequences do not
/// @return {"prefill_chunk", "max_context", "fixed": [{"name", "bytes"}], "per_sequence": [...], "kv_full": {...}, "span": {...}}
Json memory_curve(const MemoryPlanner& planner, PlanRequest request);

}  // namespace lagoon
