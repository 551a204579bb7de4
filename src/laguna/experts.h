// experts.h: the MLPs of a layer: a dense one, or the routed experts and the shared one.
#pragma once

#include "base/matrix_view.h"
#include "laguna/activations.h"
#include "laguna/compute.h"
#include "laguna/expert_store.h"

namespace lagoon {

/// out = down(silu(gate(x)) * up(x)).
void dense_mlp(MatrixView<const float> x, const MlpWeights& weights, Activations& activations, MatrixView<float> out, const Compute& compute);

/// Scores every expert for every row and chooses; fills activations.routes, the pairs by expert, and experts_used.
/// @param input  the normed rows, in the form that the router asks for
/// @return the ids in experts_used
std::span<const int32_t> route(const ModelConfig& config, const LayerWeights& weights, MatrixView<const float> normed, const InputRows& input,
                               Activations& activations, const Compute& compute);

/// out[row] = routed_scale * (sum over its experts, in ascending id, of weight * expert(normed[row])) + shared expert(normed[row]).
/// @param input  the normed rows with the forms that are there already, in activations.hidden_forms
void mix_experts(const ModelConfig& config, MatrixView<const float> normed, const InputRows& input, std::span<const int32_t> used,
                 const ExpertStore::Lease& experts, const MlpWeights& shared_expert, Activations& activations, MatrixView<float> out,
                 const Compute& compute);

}  // namespace lagoon
