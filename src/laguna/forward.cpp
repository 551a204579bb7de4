// forward.cpp: reads top to bottom like the model's definition. A decode step is a step of one row: there is no second copy.
// A row depends on its own prefix only (docs/architecture.md, rule 2). Buffers and their shapes: activations.h.
#include "laguna/forward.h"

#include "laguna/attention.h"
#include "laguna/experts.h"
#include "laguna/projection.h"

namespace lagoon {
namespace {

void embed(const WeightMatrix& embedding, const Step& step, MatrixView<float> residual, const Compute& compute) {
  for (int64_t row = 0; row < residual.rows; ++row) compute.kernels.read_row(embedding, step.rows[static_cast<size_t>(row)].token, residual.row(row));
}

void rms_norm_rows(MatrixView<const float> x, std::span<const float> weight, float epsilon, MatrixView<float> y, const Compute& compute) {
  compute.pool.run(x.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) compute.kernels.rms_norm(x.row(row), weight.data(), x.columns, epsilon, y.row(row));
  });
}

void add_rows(MatrixView<const float> x, MatrixView<float> y, const Compute& compute) {
  for (int64_t row = 0; row < x.rows; ++row) compute.kernels.add(x.row(row), y.row(row), x.columns);
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
  const auto kind = static_cast<size_t>(shape.attention);
  const int64_t width = int64_t{shape.query_heads} * config.head_dim;
  const MatrixView<float> normed = views.hidden(a.normed);
  const MatrixView<float> query = views.of(a.query, width);
  const MatrixView<float> attended = views.of(a.attended, width);
  const MatrixView<float> key = views.of(a.key, config.kv_width());
  const MatrixView<float> value = views.of(a.value, config.kv_width());
  const MatrixView<float> gate = views.of(a.gate, weights.gate.rows);
  const MatrixView<float> cosine = views.of(a.cosine[kind], model.rotary[kind].pairs());
  const MatrixView<float> sine = views.of(a.sine[kind], model.rotary[kind].pairs());

  project(normed, weights.query, query, compute);
  project(normed, weights.key, key, compute);
  project(normed, weights.value, value, compute);
  project(normed, weights.gate, gate, compute);
  normalize_heads(query, weights.query_norm, config.rms_epsilon, compute);  // before rotary
  normalize_heads(key, weights.key_norm, config.rms_epsilon, compute);
  rotate_heads(query, config.head_dim, cosine, sine, compute);
  rotate_heads(key, config.head_dim, cosine, sine, compute);
  append_keys_values(step, layer, key, value, config.head_dim, compute);
  attend(config, step, layer, query, views.of(a.maximum, shape.query_heads), views.of(a.sum, shape.query_heads), attended, compute);
  gate_softplus(gate, shape.gate, config.head_dim, attended, compute);  // before the output projection
  project(attended, weights.output, views.hidden(a.branch), compute);
}

/// branch = the layer's MLP, or its routed experts plus the shared one, of normed.
void feed_forward(const LagunaModel& model, int layer, const Views& views, const Compute& compute, const StepObserver& observer) {
  Activations& a = views.a;
  const ModelConfig& config = model.config;
  const LayerWeights& weights = model.weights.layers[static_cast<size_t>(layer)];
  const MatrixView<float> normed = views.hidden(a.normed);
  const MatrixView<float> branch = views.hidden(a.branch);
  if (config.layers[static_cast<size_t>(layer)].dense) {
    mlp(normed, weights.mlp, views.of(a.mlp_gate, config.dense_width), views.of(a.mlp_up, config.dense_width), branch, compute);
    return;
  }
  const std::span<const int32_t> used = route(config, weights, normed, a, compute);
  if (observer.routes) observer.routes(layer, {a.routes.data(), static_cast<size_t>(views.rows * config.experts_per_token)});
  const ExpertStore::Lease experts = model.experts.acquire(layer, used);
  mix_experts(config, normed, used, experts, a, branch, compute);
  const MatrixView<float> shared = views.hidden(a.shared);  // neither gated nor scaled
  mlp(normed, weights.shared_expert, views.of(a.mlp_gate, config.shared_width), views.of(a.mlp_up, config.shared_width), shared, compute);
  add_rows(shared, branch, compute);
}

}  // namespace

void forward(const LagunaModel& model, const Step& step, Activations& a, MatrixView<float> logits, const Compute& compute,
             const StepObserver& observer) {
  const ModelConfig& config = model.config;
  const Views views{config, a, static_cast<int64_t>(step.rows.size())};
  const MatrixView<float> residual = views.hidden(a.residual);
  const MatrixView<float> normed = views.hidden(a.normed);
  const MatrixView<float> branch = views.hidden(a.branch);

  embed(model.weights.embedding, step, residual, compute);
  fill_angles(model, step, a);
  if (observer.residual) observer.residual(0, residual);
  for (int layer = 0; layer < config.layer_count(); ++layer) {
    if (observer.layer) observer.layer();
    const LayerWeights& weights = model.weights.layers[static_cast<size_t>(layer)];
    rms_norm_rows(residual, weights.attention_norm, config.rms_epsilon, normed, compute);
    attention(model, step, layer, views, compute);
    add_rows(branch, residual, compute);
    rms_norm_rows(residual, weights.mlp_norm, config.rms_epsilon, normed, compute);
    feed_forward(model, layer, views, compute, observer);
    add_rows(branch, residual, compute);
    if (observer.residual) observer.residual(layer + 1, residual);
  }

  const MatrixView<float> asked(a.normed.data(), static_cast<int64_t>(step.logit_rows.size()), config.hidden);
  for (int64_t at = 0; at < asked.rows; ++at) {
    compute.kernels.rms_norm(residual.row(step.logit_rows[static_cast<size_t>(at)]), model.weights.final_norm.data(), config.hidden,
                             config.rms_epsilon, asked.row(at));
  }
  if (observer.residual) observer.residual(config.layer_count() + 1, asked);
  project(asked, model.weights.head, logits, compute);
  for (const StepRow& row : step.rows) row.cache->advance(1);
}

}  // namespace lagoon
