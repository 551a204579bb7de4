#include "laguna/experts.h"

#include "laguna/projection.h"

#include <algorithm>
#include <vector>

namespace lagoon {
namespace {

/// Numbers the pairs by expert, then row (a counting sort), so that each expert's rows stand together.
std::span<const int32_t> sort_pairs(const ModelConfig& config, int64_t rows, Activations& a) {
  const int64_t k = config.experts_per_token;
  int32_t* begin = a.pair_begin.data();
  std::fill_n(begin, config.experts + 1, 0);
  for (int64_t at = 0; at < rows * k; ++at) ++begin[a.routes[static_cast<size_t>(at)].expert + 1];
  int32_t used = 0;
  for (int32_t expert = 0; expert < config.experts; ++expert) {
    if (begin[expert + 1] > 0) a.experts_used[static_cast<size_t>(used++)] = expert;
    begin[expert + 1] += begin[expert];
  }
  // begin[e] moves on as the pairs of e are placed and ends at begin[e + 1]; it is moved back below.
  for (int64_t at = 0; at < rows * k; ++at) {
    const int32_t pair = begin[a.routes[static_cast<size_t>(at)].expert]++;
    a.pair_row[static_cast<size_t>(pair)] = static_cast<int32_t>(at / k);
    a.pair_of[static_cast<size_t>(at)] = pair;
  }
  for (int32_t expert = config.experts; expert > 0; --expert) begin[expert] = begin[expert - 1];
  begin[0] = 0;
  return {a.experts_used.data(), static_cast<size_t>(used)};
}

}  // namespace

std::span<const int32_t> route(const ModelConfig& config, const LayerWeights& weights, MatrixView<const float> normed, Activations& a,
                               const Compute& compute) {
  const auto experts = static_cast<size_t>(config.experts);
  const auto chosen = static_cast<size_t>(config.experts_per_token);
  const MatrixView<float> scores(a.scores.data(), normed.rows, config.experts);
  project(normed, weights.router, scores, compute);
  compute.pool.run(normed.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      compute.kernels.router_scores(scores.row(row), config.experts, config.router_softcap);
      choose_experts({scores.row(row), experts}, weights.expert_bias, {a.routes.data() + static_cast<size_t>(row) * chosen, chosen});
    }
  });
  return sort_pairs(config, normed.rows, a);
}

void mix_experts(const ModelConfig& config, MatrixView<const float> normed, std::span<const int32_t> used, const ExpertStore::Lease& experts,
                 Activations& a, MatrixView<float> out, const Compute& compute) {
  const int64_t pairs = normed.rows * config.experts_per_token;
  const MatrixView<float> gate(a.mlp_gate.data(), pairs, config.expert_width);
  const MatrixView<float> up(a.mlp_up.data(), pairs, config.expert_width);
  const MatrixView<float> output(a.pair_output.data(), pairs, config.hidden);
  const auto products = [&](WeightMatrix MlpWeights::*part, const int32_t* rows, MatrixView<float> y) {
    std::vector<GroupedProduct> list;
    list.reserve(used.size());
    for (const int32_t expert : used) {
      const int32_t begin = a.pair_begin[static_cast<size_t>(expert)];
      const int32_t count = a.pair_begin[static_cast<size_t>(expert) + 1] - begin;
      list.push_back({.weights = &(experts[expert].*part), .rows = {rows + begin, count}, .y = {y.row(begin), y.stride}});
    }
    return list;
  };

  project_groups(normed, products(&MlpWeights::gate, a.pair_row.data(), gate), compute);
  project_groups(normed, products(&MlpWeights::up, a.pair_row.data(), up), compute);
  compute.pool.run(pairs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair) {
      compute.kernels.silu_multiply(gate.row(pair), up.row(pair), gate.columns);
      a.pair_row[static_cast<size_t>(pair)] = static_cast<int32_t>(pair);  // the down projection reads pairs, not rows
    }
  });
  project_groups(gate, products(&MlpWeights::down, a.pair_row.data(), output), compute);

  compute.pool.run(normed.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::fill_n(out.row(row), out.columns, 0.0f);
      for (int64_t at = row * config.experts_per_token; at < (row + 1) * config.experts_per_token; ++at) {
        const int32_t pair = a.pair_of[static_cast<size_t>(at)];
        compute.kernels.add_scaled(a.routes[static_cast<size_t>(at)].weight, output.row(pair), out.row(row), out.columns);
      }
      compute.kernels.scale(config.routed_scale, out.row(row), out.columns);
    }
  });
}

}  // namespace lagoon
