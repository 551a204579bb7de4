// projection.h: products of token rows with weight matrices, in the precision of the step, spread over the threads.
#pragma once

#include "base/matrix_view.h"
#include "laguna/compute.h"
#include "laguna/weights.h"

#include <initializer_list>
#include <span>

namespace lagoon {

/// Room for one input in fixed point, by group_index; empty where no matrix asks for that group.
struct FixedForms {
  ClaimedBuffer<int16_t> q[3];    // [rows][columns]
  ClaimedBuffer<float> scale[3];  // [rows][columns / group]
  ClaimedBuffer<float> sum[3];    // [rows][columns / group]
};

/// Rows of x with the fixed-point forms that `matrices` ask for. x must live as long as the result.
InputRows prepare_input(MatrixView<const float> x, std::initializer_list<const WeightMatrix*> matrices, FixedForms& room, const Compute& compute);
InputRows prepare_input(MatrixView<const float> x, std::span<const WeightMatrix* const> matrices, FixedForms& room, const Compute& compute);

/// Adds the forms that `matrices` ask for beyond those that `input`, made of the same x and room, has already.
void add_forms(MatrixView<const float> x, std::span<const WeightMatrix* const> matrices, FixedForms& room, InputRows& input, const Compute& compute);

/// y[i] = weights * x[rows[i]]; with `up`, y[i] = silu(weights * x[rows[i]]) * (up * x[rows[i]]).
struct Product {
  const InputRows* x = nullptr;
  const WeightMatrix* weights = nullptr;
  const WeightMatrix* up = nullptr;
  RowSelection rows;
  OutputRows y;  // one row for each selected row
};

/// All products, shared out over the threads in pieces of about the same work.
void run_products(std::span<const Product> products, const Compute& compute);

/// y = weights * x, all rows. x [rows][columns], y [rows][matrix rows]
void project(MatrixView<const float> x, const WeightMatrix& weights, MatrixView<float> y, FixedForms& room, const Compute& compute);

}  // namespace lagoon
