#include "laguna/router.h"

#include "kernels/canonical_math.h"

#include <algorithm>

namespace lagoon {

void choose_experts(std::span<const float> scores, std::span<const float> bias, std::span<Route> routes) {
  // routes doubles as the list of the best so far, best first; `weight` holds the ranking sum meanwhile.
  size_t held = 0;
  for (size_t expert = 0; expert < scores.size(); ++expert) {
    const float rank = scores[expert] + bias[expert];
    if (held == routes.size() && !(rank > routes[held - 1].weight)) continue;
    if (held < routes.size()) ++held;
    size_t at = held - 1;
    for (; at > 0 && rank > routes[at - 1].weight; --at) routes[at] = routes[at - 1];
    routes[at] = {static_cast<int32_t>(expert), rank};
  }
  std::sort(routes.begin(), routes.end(), [](const Route& a, const Route& b) { return a.expert < b.expert; });

  float lanes[lane_count] = {};  // the canonical sum of the chosen scores, in ascending expert id
  for (size_t at = 0; at < routes.size(); ++at) {
    routes[at].weight = scores[static_cast<size_t>(routes[at].expert)];
    lanes[at % lane_count] += routes[at].weight;
  }
  const float sum = reduce_lanes(lanes);
  for (Route& route : routes) route.weight /= sum;
}

}  // namespace lagoon
