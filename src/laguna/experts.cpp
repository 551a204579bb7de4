#include "laguna/experts.h"

#include "laguna/projection.h"

#include <algorithm>
#include <numeric>
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

/// The experts of a step with their pairs.
struct UsedExperts {
  std::span<const int32_t> ids;
  const ExpertStore::Lease& weights;
  const Activations& a;

  int32_t begin(int32_t expert) const { return a.pair_begin[static_cast<size_t>(expert)]; }
  int32_t count(int32_t expert) const { return begin(expert + 1) - begin(expert); }
};

/// Every matrix that reads the normed rows, and every one that reads the lifted pairs: for their groups.
std::vector<const WeightMatrix*> matrices_of(const UsedExperts& experts, bool down) {
  std::vector<const WeightMatrix*> matrices;
  for (const int32_t id : experts.ids) {
    const MlpWeights& expert = experts.weights[id];
    if (down) {
      matrices.push_back(&expert.down);
    } else {
      matrices.push_back(&expert.gate);
      matrices.push_back(&expert.up);
    }
  }
  return matrices;
}

/// lifted = silu(gate(normed)) * up(normed), of every pair and of the shared expert.
void lift(MatrixView<const float> normed, InputRows input, const UsedExperts& experts, const MlpWeights& shared_expert, MatrixView<float> lifted,
          MatrixView<float> shared_lifted, Activations& a, const Compute& compute) {
  std::vector<const WeightMatrix*> matrices = matrices_of(experts, false);
  matrices.push_back(&shared_expert.gate);
  matrices.push_back(&shared_expert.up);
  add_forms(normed, matrices, a.hidden_forms, input, compute);
  std::vector<Product> products;
  products.reserve(experts.ids.size() + 1);
  products.push_back({&input, &shared_expert.gate, &shared_expert.up, {nullptr, normed.rows}, {shared_lifted.data, shared_lifted.stride}});
  for (const int32_t id : experts.ids) {
    const int32_t begin = experts.begin(id);
    products.push_back({&input,
                        &experts.weights[id].gate,
                        &experts.weights[id].up,
                        {a.pair_row.data() + begin, experts.count(id)},
                        {lifted.row(begin), lifted.stride}});
  }
  run_products(products, compute);
}

/// The down projections of every pair and of the shared expert.
void lower(const UsedExperts& experts, const MlpWeights& shared_expert, MatrixView<const float> lifted, MatrixView<const float> shared_lifted,
           MatrixView<float> output, MatrixView<float> shared, Activations& a, const Compute& compute) {
  const InputRows input = prepare_input(lifted, matrices_of(experts, true), a.pair_forms, compute);
  const InputRows shared_input = prepare_input(shared_lifted, {&shared_expert.down}, a.wide_forms, compute);
  std::vector<int32_t> pairs(static_cast<size_t>(lifted.rows));
  std::iota(pairs.begin(), pairs.end(), 0);
  std::vector<Product> products;
  products.reserve(experts.ids.size() + 1);
  products.push_back({&shared_input, &shared_expert.down, nullptr, {nullptr, shared_lifted.rows}, {shared.data, shared.stride}});
  for (const int32_t id : experts.ids) {
    const int32_t begin = experts.begin(id);
    products.push_back({&input, &experts.weights[id].down, nullptr, {pairs.data() + begin, experts.count(id)}, {output.row(begin), output.stride}});
  }
  run_products(products, compute);
}

}  // namespace

void dense_mlp(MatrixView<const float> x, const MlpWeights& weights, Activations& a, MatrixView<float> out, const Compute& compute) {
  const InputRows input = prepare_input(x, {&weights.gate, &weights.up}, a.hidden_forms, compute);
  const MatrixView<float> lifted(a.lifted.data(), x.rows, weights.gate.rows);
  const Product product = {&input, &weights.gate, &weights.up, {nullptr, x.rows}, {lifted.data, lifted.stride}};
  run_products(std::span(&product, 1), compute);
  project(lifted, weights.down, out, a.wide_forms, compute);
}

std::span<const int32_t> route(const ModelConfig& config, const LayerWeights& weights, MatrixView<const float> normed, const InputRows& input,
                               Activations& a, const Compute& compute) {
  const auto experts = static_cast<size_t>(config.experts);
  const auto chosen = static_cast<size_t>(config.experts_per_token);
  const MatrixView<float> scores(a.scores.data(), normed.rows, config.experts);
  const Product product = {&input, &weights.router, nullptr, {nullptr, normed.rows}, {scores.data, scores.stride}};
  run_products(std::span(&product, 1), compute);
  compute.pool.run(normed.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      compute.kernels.router_scores(scores.row(row), config.experts, config.router_softcap);
      choose_experts({scores.row(row), experts}, weights.expert_bias, {a.routes.data() + static_cast<size_t>(row) * chosen, chosen});
    }
  });
  return sort_pairs(config, normed.rows, a);
}

void mix_experts(const ModelConfig& config, MatrixView<const float> normed, const InputRows& input, std::span<const int32_t> used,
                 const ExpertStore::Lease& weights, const MlpWeights& shared_expert, Activations& a, MatrixView<float> out, const Compute& compute) {
  const int64_t pairs = normed.rows * config.experts_per_token;
  const UsedExperts experts{used, weights, a};
  const MatrixView<float> lifted(a.lifted.data(), pairs, config.expert_width);
  const MatrixView<float> shared_lifted(a.shared_lifted.data(), normed.rows, config.shared_width);
  const MatrixView<float> output(a.pair_output.data(), pairs, config.hidden);
  const MatrixView<float> shared(a.shared.data(), normed.rows, config.hidden);
  lift(normed, input, experts, shared_expert, lifted, shared_lifted, a, compute);
  lower(experts, shared_expert, lifted, shared_lifted, output, shared, a, compute);

  compute.pool.run(normed.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::fill_n(out.row(row), out.columns, 0.0f);
      for (int64_t at = row * config.experts_per_token; at < (row + 1) * config.experts_per_token; ++at) {
        const int32_t pair = a.pair_of[static_cast<size_t>(at)];
        compute.kernels.add_scaled(a.routes[static_cast<size_t>(at)].weight, output.row(pair), out.row(row), out.columns);
      }
      compute.kernels.scale(config.routed_scale, out.row(row), out.columns);
      compute.kernels.add(shared.row(row), out.row(row), out.columns);  // neither gated nor scaled
    }
  });
}

}  // namespace lagoon
