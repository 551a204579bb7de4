#include "laguna/projection.h"

#include "kernels/tile_layout.h"

#include <algorithm>
#include <vector>

namespace lagoon {
namespace {

/// A unit of work is so many bytes of weights for one token: less, and handing it out costs as much as doing it.
constexpr int64_t unit_bytes = 32 << 10;

/// After so many units in one call somebody may stop the step: long enough for streams, some tenths of a second with the slowest kernels.
constexpr int64_t units_of_a_call = 64;

/// Kernels for many tokens take two tiles at a time, those for one token four.
constexpr int64_t tiles_at_once = 4;

/// The work of a product with many tokens grows with their number; its bytes count once, like those of this many tokens.
constexpr int64_t tokens_of_a_read = 4;

/// A stretch of units of one product: units [begin, end) of the whole list are `tiles` tiles each.
struct UnitRange {
  const Product* product = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t tiles = 0;
};

int64_t bytes_per_tile(const Product& product) {
  const int64_t bytes = tile_bytes(product.weights->format, product.weights->columns);
  return product.up ? bytes + tile_bytes(product.up->format, product.up->columns) : bytes;
}

std::vector<UnitRange> share_out(std::span<const Product> products) {
  std::vector<UnitRange> ranges;
  ranges.reserve(products.size());
  for (const Product& product : products) {
    if (product.rows.count > 0) ranges.push_back({.product = &product});
  }
  // Units of many tokens are the longest: they come first, so that the end is shared out finely.
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const UnitRange& a, const UnitRange& b) { return a.product->rows.count > b.product->rows.count; });
  int64_t units = 0;
  for (UnitRange& range : ranges) {
    const int64_t weight = std::max<int64_t>(1, range.product->rows.count / tokens_of_a_read);
    range.tiles = std::max<int64_t>(1, unit_bytes / (bytes_per_tile(*range.product) * weight * tiles_at_once)) * tiles_at_once;
    range.begin = units;
    units += (tile_count(range.product->weights->rows) + range.tiles - 1) / range.tiles;
    range.end = units;
  }
  return ranges;
}

void run_tiles(const Product& product, TileRange tiles, const KernelSet& kernels) {
  if (product.up) {
    multiply_gate_up(kernels, *product.weights, *product.up, tiles, *product.x, product.rows, product.y);
  } else {
    multiply(kernels, *product.weights, tiles, *product.x, product.rows, product.y);
  }
}

/// Asks for the beginning of the tiles that come next, so that their first lines and pages do not have to be waited for.
void announce(const WeightMatrix& matrix) {
  constexpr int64_t lines = 8;
  constexpr int64_t line_bytes = 64;
  for (int64_t tile = 0; tile < std::min(tiles_at_once, tile_count(matrix.rows)); ++tile) {
    for (int64_t line = 0; line < lines; ++line) __builtin_prefetch(matrix.tile(tile) + line * line_bytes, 0, 2);
  }
}

/// Units [begin, end): each product's part of them in one call, or in a few.
void run_units(const std::vector<UnitRange>& ranges, int64_t begin, int64_t end, const Compute& compute) {
  auto range = std::upper_bound(ranges.begin(), ranges.end(), begin, [](int64_t unit, const UnitRange& r) { return unit < r.end; });
  for (; range != ranges.end() && range->begin < end; ++range) {
    if (range + 1 != ranges.end() && range->end < end) announce(*(range + 1)->product->weights);
    const int64_t first = std::max(begin, range->begin) - range->begin;
    const int64_t last = std::min(end, range->end) - range->begin;
    const int64_t tiles = tile_count(range->product->weights->rows);
    for (int64_t unit = first; unit < last; unit += units_of_a_call) {
      if (compute.check != nullptr) (*compute.check)();
      run_tiles(*range->product, {unit * range->tiles, std::min(tiles, std::min(last, unit + units_of_a_call) * range->tiles)}, compute.kernels);
    }
  }
}

void count_work(std::span<const Product> products, StepWork& work) {
  for (const Product& product : products) {
    if (product.rows.count == 0) continue;
    work.weight_bytes += static_cast<uint64_t>(tile_count(product.weights->rows) * bytes_per_tile(product));
    const double each = static_cast<double>(product.weights->rows) * static_cast<double>(product.weights->columns) *
                        static_cast<double>(product.rows.count) * (product.up ? 2.0 : 1.0);
    (product.x->has_fixed(product.weights->format) ? work.fixed_multiply_adds : work.float_multiply_adds) += each;
  }
}

}  // namespace

void add_forms(MatrixView<const float> x, std::span<const WeightMatrix* const> matrices, FixedForms& room, InputRows& input, const Compute& compute) {
  if (compute.precision == Precision::oracle) return;
  for (const WeightMatrix* matrix : matrices) {
    if (!matrix->affine() || input.has_fixed(matrix->format)) continue;
    const int group = matrix->format.group;
    const int at = group_index(group);
    const int64_t groups = x.columns / group;
    int16_t* q = room.q[at].data();
    float* scale = room.scale[at].data();
    float* sum = room.sum[at].data();
    const int64_t rows_at_once = std::max<int64_t>(1, unit_bytes / x.columns);
    compute.pool.run(x.rows, rows_at_once, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        compute.kernels.to_fixed_row(x.row(row), x.columns, group, {q + row * x.columns, scale + row * groups, sum + row * groups});
      }
    });
    input.fixed[at] = {.q = q, .scale = scale, .sum = sum, .columns = x.columns, .group = group};
  }
}

InputRows prepare_input(MatrixView<const float> x, std::span<const WeightMatrix* const> matrices, FixedForms& room, const Compute& compute) {
  InputRows input;
  input.floats = {x.data, x.stride};
  add_forms(x, matrices, room, input, compute);
  return input;
}

InputRows prepare_input(MatrixView<const float> x, std::initializer_list<const WeightMatrix*> matrices, FixedForms& room, const Compute& compute) {
  return prepare_input(x, std::span<const WeightMatrix* const>(matrices.begin(), matrices.size()), room, compute);
}

void run_products(std::span<const Product> products, const Compute& compute) {
  count_work(products, compute.work);
  const std::vector<UnitRange> ranges = share_out(products);
  if (ranges.empty()) return;
  compute.pool.run(ranges.back().end, 1, [&](int64_t begin, int64_t end) { run_units(ranges, begin, end, compute); });
}

void project(MatrixView<const float> x, const WeightMatrix& weights, MatrixView<float> y, FixedForms& room, const Compute& compute) {
  const InputRows input = prepare_input(x, {&weights}, room, compute);
  const Product product = {.x = &input, .weights = &weights, .rows = {nullptr, x.rows}, .y = {y.data, y.stride}};
  run_products(std::span(&product, 1), compute);
}

}  // namespace lagoon
