// forward.cpp: reads top to bottom like the model's definition. A decode step is a step of one row: there is no second copy.
// A row depends on its own prefix only (docs/architecture.md, rule 2). Buffers and their shapes: activations.h.
#include "laguna/forward.h"

#include "kernels/tile_layout.h"
#include "laguna/attention.h"
#include "laguna/experts.h"
#include "laguna/projection.h"

namespace lagoon {
namespace {

/// Rows that are worth a thread's while where a row is one pass over [hidden].
constexpr int64_t rows_at_once = 4;

void embed(const WeightMatrix& embedding, const Step& step, MatrixView<float> residual, const Compute& compute) {
  compute.pool.run(residual.rows, rows_at_once, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) compute.kernels.read_row(embedding, step.rows[static_cast<size_t>(row)].token, residual.row(row));
  });
  compute.work.weight_bytes += static_cast<uint64_t>(residual.rows * tile_bytes(embedding.format, embedding.columns) / tile_rows);
}

void rms_norm_rows(MatrixView<const float> x, std::span<const float> weight, float epsilon, MatrixView<float> y, const Compute& compute) {
  compute.pool.run(x.rows, rows_at_once, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) compute.kernels.rms_norm(x.row(row), weight.data(), x.columns, epsilon, y.row(row));
  });
}

void add_rows(MatrixView<const float> x, MatrixView<float> y, const Compute& compute) {
  compute.pool.run(x.rows, rows_at_once, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) compute.kernels.add(x.row(row), y.row(row), x.columns);
  });
}

/// The views of a step on the buffers of its activations; the shapes of attention differ by layer.
struct Views {
  const ModelConfig& config;
  Activations& a;
  int64_t rows;

  MatrixView<float> hidden(ClaimedBuffer<float>& buffer) const { return {buffer.data(), rows, config.hidden}; }
  MatrixView<float> of(ClaimedBuffer<float>& buffer, int64_t columns) const { return {buffer.data(), rows, columns}; }
};

void fill_angles(const LagunaModel& model, const Step& step, Activations& a) {
  for (size_t kind = 0; kind < 2; ++kind) {
    const int64_t pairs = model.rotary[kind].pairs();
    for (size_t row = 0; row < step.rows.size(); ++row) {
      const int64_t at = static_cast<int64_t>(row) * pairs;
      model.rotary[kind].angles(step.rows[row].position, a.cosine[kind].data() + at, a.sine[kind].data() + at);
    }
  }
}

/// branch = output(softplus(gate) * attention(normed)).
void attention(const LagunaModel& model, const Step& step, int layer, const Views& views, const Compute& compute) {
  Activations& a = views.a;
  const ModelConfig& config = model.config;
  const LayerConfig& shape = config.layers[static_cast<size_t>(layer)];
  const LayerWeights& weights = model.weights.layers[static_cast<size_t>(layer)];
  const AttentionLayer heads{.config = config,
                             .shape = shape,
                             .weights = weights,
                             .step = step,
                             .layer = layer,
                             .query = views.of(a.query, weights.query.rows),
                             .key = views.of(a.key, weights.key.rows),
                             .value = views.of(a.value, weights.value.rows),
                             .gate = views.of(a.gate, weights.gate.rows),
                             .attended = views.of(a.attended, weights.query.rows),
                             .room = a};
  {
    const PartTimer timer(compute.profile, StepPart::dense);
    const InputRows normed =
        prepare_input(views.hidden(a.normed), {&weights.query, &weights.key, &weights.value, &weights.gate}, a.hidden_forms, compute);
    const RowSelection all = {nullptr, views.rows};
    const Product products[] = {{&normed, &weights.query, nullptr, all, {heads.query.data, heads.query.stride}},
                                {&normed, &weights.key, nullptr, all, {heads.key.data, heads.key.stride}},
                                {&normed, &weights.value, nullptr, all, {heads.value.data, heads.value.stride}},
                                {&normed, &weights.gate, nullptr, all, {heads.gate.data, heads.gate.stride}}};
    run_products(products, compute);
  }
  {
    const PartTimer timer(compute.profile, StepPart::attention);
    attend(heads, compute);
  }
  const PartTimer timer(compute.profile, StepPart::dense);
  project(heads.attended, weights.output, views.hidden(a.branch), a.wide_forms, compute);
}

/// branch = the layer's MLP, or its routed experts plus the shared one, of normed.
void feed_forward(const LagunaModel& model, int layer, const Views& views, const Compute& compute, const StepObserver& observer) {
  Activations& a = views.a;
  const ModelConfig& config = model.config;
  const LayerWeights& weights = model.weights.layers[static_cast<size_t>(layer)];
  const MatrixView<float> normed = views.hidden(a.normed);
  const MatrixView<float> branch = views.hidden(a.branch);
  if (config.layers[static_cast<size_t>(layer)].dense) {
    const PartTimer timer(compute.profile, StepPart::dense);
    dense_mlp(normed, weights.mlp, a, branch, compute);
    return;
  }
  InputRows input;
  std::span<const int32_t> used;
  {
    const PartTimer timer(compute.profile, StepPart::router);
    input = prepare_input(normed, {&weights.router}, a.hidden_forms, compute);
    used = route(config, weights, normed, input, a, compute);
  }
  if (observer.routes) observer.routes(layer, {a.routes.data(), static_cast<size_t>(views.rows * config.experts_per_token)});
  const PartTimer timer(compute.profile, StepPart::experts);
  const ExpertStore::Lease experts = model.experts.acquire(layer, used);
  mix_experts(config, normed, input, used, experts, weights.shared_expert, a, branch, compute);
}

/// logits of the rows asked for.
void head(const LagunaModel& model, const Step& step, const Views& views, MatrixView<float> logits, const Compute& compute,
          const StepObserver& observer) {
  const ModelConfig& config = model.config;
  const MatrixView<float> asked(views.a.normed.data(), static_cast<int64_t>(step.logit_rows.size()), config.hidden);
  for (int64_t at = 0; at < asked.rows; ++at) {
    const float* residual = views.hidden(views.a.residual).row(step.logit_rows[static_cast<size_t>(at)]);
    compute.kernels.rms_norm(residual, model.weights.final_norm.data(), config.hidden, config.rms_epsilon, asked.row(at));
  }
  if (observer.residual) observer.residual(config.layer_count() + 1, asked);
  project(asked, model.weights.head, logits, views.a.hidden_forms, compute);
}

}  // namespace

void forward(const LagunaModel& model, const Step& step, Activations& a, MatrixView<float> logits, const Compute& compute,
             const StepObserver& observer) {
  const ModelConfig& config = model.config;
  const Views views{config, a, static_cast<int64_t>(step.rows.size())};
  const MatrixView<float> residual = views.hidden(a.residual);
  const MatrixView<float> normed = views.hidden(a.normed);
  const MatrixView<float> branch = views.hidden(a.branch);

  {
    const PartTimer timer(compute.profile, StepPart::other);
    embed(model.weights.embedding, step, residual, compute);
    fill_angles(model, step, a);
  }
  if (observer.residual) observer.residual(0, residual);
  for (int layer = 0; layer < config.layer_count(); ++layer) {
    if (observer.layer) observer.layer(layer);
    const LayerWeights& weights = model.weights.layers[static_cast<size_t>(layer)];
    rms_norm_rows(residual, weights.attention_norm, config.rms_epsilon, normed, compute);
    attention(model, step, layer, views, compute);
    add_rows(branch, residual, compute);
    rms_norm_rows(residual, weights.mlp_norm, config.rms_epsilon, normed, compute);
    feed_forward(model, layer, views, compute, observer);
    add_rows(branch, residual, compute);
    if (observer.residual) observer.residual(layer + 1, residual);
  }
  const PartTimer timer(compute.profile, StepPart::head);
  head(model, step, views, logits, compute, observer);
  for (const StepRow& row : step.rows) row.cache->advance(1);
}

}  // namespace lagoon
