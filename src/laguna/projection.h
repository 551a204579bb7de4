// projection.h: products of token rows with weight matrices, in the precision of the step, spread over the threads.
#pragma once

#include "base/matrix_view.h"
#include "laguna/compute.h"
#include "laguna/weights.h"

#include <span>

namespace lagoon {

/// y[i] = weights * x[i]. x [rows][columns], y [rows][matrix rows].
void project(MatrixView<const float> x, const WeightMatrix& weights, MatrixView<float> y, const Compute& compute);

/// A product of some rows of x with one matrix of several: routed experts.
struct GroupedProduct {
  const WeightMatrix* weights = nullptr;
  RowSelection rows;  // of x
  OutputRows y;       // one row for each selected row
};

/// Several products over one x. Matrices that are stored alike share its fixed-point form.
void project_groups(MatrixView<const float> x, std::span<const GroupedProduct> products, const Compute& compute);

/// y = down(silu(gate(x)) * up(x)). @param gate, up  room for [rows][width]
void mlp(MatrixView<const float> x, const MlpWeights& weights, MatrixView<float> gate, MatrixView<float> up, MatrixView<float> y,
         const Compute& compute);

}  // namespace lagoon
