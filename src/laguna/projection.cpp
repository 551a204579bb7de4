#include "laguna/projection.h"

#include <algorithm>

namespace lagoon {
namespace {

/// Matrix rows of one task: a multiple of 16, small enough that every thread gets several.
int64_t strip_rows(int64_t rows, int threads) {
  const int64_t tasks = int64_t{4} * threads;
  const int64_t wanted = (rows + tasks - 1) / tasks;
  return std::max<int64_t>(16, (wanted + 15) / 16 * 16);
}

bool takes_fixed(const WeightMatrix& weights, const Compute& compute) { return compute.precision == Precision::standard && weights.affine(); }

/// All rows of x in the fixed-point form for groups of this width.
FixedRows to_fixed(MatrixView<const float> x, int group, const Compute& compute) {
  const int64_t groups = x.columns / group;
  compute.pool.run(x.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      compute.kernels.to_fixed_row(x.row(row), x.columns, group,
                                   {.high = compute.fixed.high.data() + row * x.columns,
                                    .low = compute.fixed.low.data() + row * x.columns,
                                    .scale = compute.fixed.scale.data() + row * groups,
                                    .sum = compute.fixed.sum.data() + row * groups});
    }
  });
  return {.high = compute.fixed.high.data(),
          .low = compute.fixed.low.data(),
          .scale = compute.fixed.scale.data(),
          .sum = compute.fixed.sum.data(),
          .columns = x.columns,
          .group = group};
}

}  // namespace

void project_groups(MatrixView<const float> x, std::span<const GroupedProduct> products, const Compute& compute) {
  FixedRows fixed;
  for (size_t first = 0; first < products.size();) {
    // A stretch of products that read x in the same form.
    const bool as_fixed = takes_fixed(*products[first].weights, compute);
    const int group = products[first].weights->format.group;
    size_t last = first + 1;
    while (last < products.size() && takes_fixed(*products[last].weights, compute) == as_fixed &&
           (!as_fixed || products[last].weights->format.group == group)) {
      ++last;
    }
    if (as_fixed) fixed = to_fixed(x, group, compute);

    const std::span<const GroupedProduct> stretch = products.subspan(first, last - first);
    const int64_t matrix_rows = stretch.front().weights->rows;  // the experts of a layer have one shape
    const int64_t strip = strip_rows(matrix_rows * static_cast<int64_t>(stretch.size()), compute.pool.threads());
    const int64_t strips = (matrix_rows + strip - 1) / strip;
    compute.pool.run(strips * static_cast<int64_t>(stretch.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const GroupedProduct& product = stretch[static_cast<size_t>(task / strips)];
        const int64_t row = task % strips * strip;
        const RowRange range = {row, std::min(matrix_rows, row + strip)};
        if (as_fixed) {
          compute.kernels.multiply_fixed(*product.weights, range, fixed, product.rows, product.y);
        } else {
          compute.kernels.multiply_float(*product.weights, range, {x.data, x.stride}, product.rows, product.y);
        }
      }
    });
    first = last;
  }
}

void project(MatrixView<const float> x, const WeightMatrix& weights, MatrixView<float> y, const Compute& compute) {
  const GroupedProduct product = {.weights = &weights, .rows = {nullptr, x.rows}, .y = {y.data, y.stride}};
  project_groups(x, std::span(&product, 1), compute);
}

void mlp(MatrixView<const float> x, const MlpWeights& weights, MatrixView<float> gate, MatrixView<float> up, MatrixView<float> y,
         const Compute& compute) {
  project(x, weights.gate, gate, compute);
  project(x, weights.up, up, compute);
  compute.pool.run(gate.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) compute.kernels.silu_multiply(gate.row(row), up.row(row), gate.columns);
  });
  project(gate, weights.down, y, compute);
}

}  // namespace lagoon
