// Products with MLX affine weights against float64: tests/golden/mlx-formats, cases "matmul" and "gather".
#include "base/json.h"
#include "kernels/kernel_set.h"
#include "support/golden_tensors.h"
#include "support/packed_matrix.h"
#include "support/tolerances.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lagoon {
namespace {

using namespace testing_support;

const std::string golden = LAGOON_GOLDEN_DIR "/mlx-formats/";

/// One case: x [tokens][columns] times experts [e][rows][columns]; a matmul has one expert that every token takes.
struct Case {
  int bits, group;
  int64_t rows, columns, tokens;
  std::vector<std::byte> weight, scales, biases;
  std::vector<float> x;
  std::vector<double> exact;     // [tokens][per token][rows]
  std::vector<int32_t> experts;  // [tokens][per token]
  ElementType element;

  PackedMatrix matrix(int32_t expert) const {
    const int64_t parameters = rows * columns / group * bytes_of(element);
    return PackedMatrix({.format = {WeightFormat::Kind::affine, element, bits, group},
                         .rows = rows,
                         .columns = columns,
                         .values = weight.data() + expert * (rows * columns * bits / 8),
                         .scales = scales.data() + expert * parameters,
                         .biases = biases.data() + expert * parameters});
  }
};

Case read_case(const Json& item) {
  const GoldenTensors tensors(golden + item["file"].get<std::string>());
  const GoldenTensors exact(golden + item["file_y64"].get<std::string>());
  const auto name = [&](const char* part) { return item["tensors"][part].get<std::string>(); };
  Case c;
  c.bits = item["bits"];
  c.group = item["group_size"];
  c.x = tensors.floats(name("x"));
  c.columns = tensors.shape(name("x")).back();
  c.tokens = static_cast<int64_t>(c.x.size()) / c.columns;
  c.rows = tensors.shape(name("weight")).end()[-2];
  c.weight = tensors.bytes(name("weight"));
  c.scales = tensors.bytes(name("scales"));
  c.biases = tensors.bytes(name("biases"));
  c.element = item["dtype"] == "bf16" ? ElementType::bf16 : (item["dtype"] == "f16" ? ElementType::f16 : ElementType::f32);
  c.exact = exact.numbers(name("y64"));
  c.experts = item["kind"] == "gather" ? tensors.integers(name("experts")) : std::vector<int32_t>(static_cast<size_t>(c.tokens), 0);
  return c;
}

std::vector<Json> affine_cases() {
  const Json index = parse_json(read_text(SystemFiles(), golden + "index.json", 1 << 20), "index.json");
  std::vector<Json> cases;
  for (const Json& item : index["cases"]) {
    const std::string kind = item.value("kind", "");
    if ((kind == "matmul" || kind == "gather") && item["mode"] == "affine") cases.push_back(item);
  }
  return cases;
}

/// Bounds of one output: sum of |x w|, and sum over groups of max|x| * sum|w|.
std::pair<double, double> magnitudes(const WeightMatrix& matrix, int64_t row, const float* x) {
  std::vector<float> weights(static_cast<size_t>(matrix.columns));
  scalar_kernels().read_row(matrix, row, weights.data());
  double products = 0.0;
  double groups = 0.0;
  for (int64_t begin = 0; begin < matrix.columns; begin += matrix.format.group) {
    double largest = 0.0;
    double sum = 0.0;
    for (int64_t k = begin; k < begin + matrix.format.group; ++k) {
      const double weight = std::fabs(static_cast<double>(weights[static_cast<size_t>(k)]));
      products += weight * std::fabs(static_cast<double>(x[k]));
      largest = std::max(largest, std::fabs(static_cast<double>(x[k])));
      sum += weight;
    }
    groups += largest * sum;
  }
  return {products, groups};
}

template <typename Multiply>
void check(const Case& c, Multiply&& multiply, bool fixed) {
  const size_t per_token = c.experts.size() / static_cast<size_t>(c.tokens);
  std::vector<float> y(static_cast<size_t>(c.rows));
  for (size_t at = 0; at < c.experts.size(); ++at) {
    const float* x = c.x.data() + static_cast<int64_t>(at / per_token) * c.columns;
    const PackedMatrix packed = c.matrix(c.experts[at]);
    const WeightMatrix& matrix = packed.matrix;
    multiply(packed, x, y);
    for (int64_t row = 0; row < c.rows; ++row) {
      const auto [products, groups] = magnitudes(matrix, row, x);
      const double bound = fixed ? fixed_product * groups + 4 * float_product * products : float_product * products;
      ASSERT_NEAR(y[static_cast<size_t>(row)], c.exact[at * static_cast<size_t>(c.rows) + static_cast<size_t>(row)], bound) << row;
    }
  }
}

TEST(AffineProducts, OraclePrecision) {
  ASSERT_EQ(affine_cases().size(), 20u);
  for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
    for (const Json& item : affine_cases()) {
      SCOPED_TRACE(std::string(kernels->name) + " " + item["name"].get<std::string>());
      const Case c = read_case(item);
      const auto multiply = [&](const PackedMatrix& packed, const float* x, std::vector<float>& y) {
        kernels->multiply_float(packed.matrix, packed.all(), {x, c.columns}, {nullptr, 1}, {y.data(), c.rows});
      };
      check(c, multiply, false);
    }
  }
}

TEST(AffineProducts, DefaultPrecision) {
  for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
    for (const Json& item : affine_cases()) {
      SCOPED_TRACE(std::string(kernels->name) + " " + item["name"].get<std::string>());
      const Case c = read_case(item);
      std::vector<int16_t> q(static_cast<size_t>(c.columns));
      std::vector<float> scale(q.size() / static_cast<size_t>(c.group));
      std::vector<float> sum(scale.size());
      const auto multiply = [&](const PackedMatrix& packed, const float* x, std::vector<float>& y) {
        kernels->to_fixed_row(x, c.columns, c.group, {q.data(), scale.data(), sum.data()});
        kernels->multiply_fixed(packed.matrix, packed.all(), {q.data(), scale.data(), sum.data(), c.columns, c.group}, {nullptr, 1},
                                {y.data(), c.rows});
      };
      check(c, multiply, true);
    }
  }
}

}  // namespace
}  // namespace lagoon
