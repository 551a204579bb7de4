// Affine tensors written by mx.quantize, against what mx.dequantize makes of them (tests/golden/mlx-formats).
#include "checkpoint/affine_format.h"

#include "base/bfloat16.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "kernels/kernel_set.h"
#include "support/affine_reader.h"
#include "support/packed_matrix.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

namespace lagoon {
namespace {

using namespace testing_support;

const std::filesystem::path golden = std::filesystem::path(LAGOON_GOLDEN_DIR) / "mlx-formats";

struct GoldenTensor {
  TensorHeader header;
  std::vector<std::byte> bytes;
};
using GoldenFile = std::map<std::string, GoldenTensor>;

GoldenFile load(const std::string& name) {
  const auto file = SystemFiles().open(golden / name);
  GoldenFile tensors;
  for (TensorHeader& header : read_safetensors_header(*file).tensors) {
    GoldenTensor tensor{std::move(header), {}};
    tensor.bytes.resize(tensor.header.bytes);
    file->read_at(tensor.header.offset, tensor.bytes);
    tensors.emplace(tensor.header.name, std::move(tensor));
  }
  return tensors;
}

std::vector<Json> affine_cases() {
  const Json index = parse_json(read_text(SystemFiles(), golden / "index.json", 1 << 20), "index.json");
  std::vector<Json> cases;
  for (const Json& item : index.at("cases")) {
    if (item.at("mode") == "affine") cases.push_back(item);
  }
  return cases;
}

const GoldenTensor& part(const GoldenFile& file, const Json& item, const char* name) {
  return file.at(item.at("tensors").at(name).get<std::string>());
}

ElementType element_of(const TensorHeader& header) {
  return header.type == StoredType::f32 ? ElementType::f32 : header.type == StoredType::f16 ? ElementType::f16 : ElementType::bf16;
}

struct Dequantized {
  std::vector<float> values;     // [rows][columns]
  std::vector<float> magnitude;  // max(|scale q|, |bias|) of each
};

/// All rows of a case, the format told from its shapes.
Dequantized dequantize_case(const GoldenFile& file, const Json& item) {
  const GoldenTensor& codes = part(file, item, "weight");
  const GoldenTensor& scales = part(file, item, "scales");
  const GoldenTensor& biases = part(file, item, "biases");
  const int64_t groups = scales.header.shape.back();
  const int64_t columns = groups * item.at("group_size").get<int64_t>();
  const auto format = affine_format_of(codes.header.shape.back(), groups, columns);
  EXPECT_EQ(format, (AffineFormat{item.at("bits"), item.at("group_size")})) << item.at("name");
  if (!format) return {};
  const WeightFormat weight{WeightFormat::Kind::affine, element_of(scales.header), format->bits, format->group};
  const size_t width = static_cast<size_t>(columns);
  const size_t code_bytes = static_cast<size_t>(codes.header.shape.back()) * 4;
  const size_t scale_bytes = static_cast<size_t>(groups) * static_cast<size_t>(bytes_of(weight.element));
  const size_t rows = codes.bytes.size() / code_bytes;
  Dequantized all{std::vector<float>(rows * width), std::vector<float>(rows * width)};
  for (size_t row = 0; row < rows; ++row) {
    const auto of_row = [&](const GoldenTensor& tensor, size_t bytes) { return std::span(tensor.bytes).subspan(row * bytes, bytes); };
    dequantize_row(weight, of_row(codes, code_bytes), of_row(scales, scale_bytes), of_row(biases, scale_bytes),
                   std::span(all.values).subspan(row * width, width));
    std::vector<uint8_t> unpacked(width);
    unpack_codes(of_row(codes, code_bytes), format->bits, unpacked);
    for (size_t k = 0; k < width; ++k) {
      const size_t group = k / static_cast<size_t>(format->group);
      const float product = element_at(of_row(scales, scale_bytes), weight.element, group) * static_cast<float>(unpacked[k]);
      all.magnitude[row * width + k] = std::max(std::abs(product), std::abs(element_at(of_row(biases, scale_bytes), weight.element, group)));
    }
  }
  return all;
}

/// The same rows out of the tiles that the program keeps.
std::vector<float> read_from_tiles(const KernelSet& kernels, const GoldenFile& file, const Json& item) {
  const GoldenTensor& codes = part(file, item, "weight");
  const GoldenTensor& scales = part(file, item, "scales");
  const int group = item.at("group_size");
  StoredRows stored = {.format = {WeightFormat::Kind::affine, element_of(scales.header), item.at("bits"), group}};
  stored.columns = scales.header.shape.back() * group;
  stored.rows = static_cast<int64_t>(codes.bytes.size()) / (codes.header.shape.back() * 4);
  stored.values = codes.bytes.data();
  stored.scales = scales.bytes.data();
  stored.biases = part(file, item, "biases").bytes.data();
  const PackedMatrix packed(stored, kernels);
  std::vector<float> values(static_cast<size_t>(stored.rows * stored.columns));
  for (int64_t row = 0; row < stored.rows; ++row) kernels.read_row(packed.matrix, row, values.data() + row * stored.columns);
  return values;
}

TEST(AffineFormatGolden, DequantizedValuesEqualMlxBitForBit) {
  std::map<std::string, GoldenFile> files;
  size_t checked = 0;
  for (const Json& item : affine_cases()) {
    if (!item.at("tensors").contains("dequant_f32")) continue;
    const std::string name = item.at("file");
    if (!files.contains(name)) files.emplace(name, load(name));
    const GoldenTensor& wanted = part(files.at(name), item, "dequant_f32");
    const Dequantized ours = dequantize_case(files.at(name), item);
    ASSERT_EQ(ours.values.size() * sizeof(float), wanted.bytes.size()) << item.at("name");
    EXPECT_EQ(std::memcmp(ours.values.data(), wanted.bytes.data(), wanted.bytes.size()), 0) << item.at("name");
    for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
      const std::vector<float> read = read_from_tiles(*kernels, files.at(name), item);
      EXPECT_EQ(std::memcmp(read.data(), wanted.bytes.data(), wanted.bytes.size()), 0) << item.at("name") << ", " << kernels->name;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 60u);
}

// MLX rounds product and sum to the stored type; one rounding from float differs by up to two units in the last place of the larger operand.
TEST(AffineFormatGolden, SixteenBitDequantizationOfMlxIsWithinItsOwnRounding) {
  std::map<std::string, GoldenFile> files;
  size_t checked = 0;
  for (const Json& item : affine_cases()) {
    if (!item.at("tensors").contains("dequant")) continue;
    const std::string name = item.at("file");
    if (!files.contains(name)) files.emplace(name, load(name));
    const GoldenTensor& theirs = part(files.at(name), item, "dequant");
    const ElementType element = element_of(theirs.header);
    if (element == ElementType::f32) continue;
    const int fraction_bits = element == ElementType::bf16 ? 7 : 10;
    const int least_exponent = element == ElementType::bf16 ? -126 : -14;
    const Dequantized ours = dequantize_case(files.at(name), item);
    for (size_t at = 0; at < ours.values.size(); ++at) {
      const int exponent = std::max(ours.magnitude[at] > 0 ? std::ilogb(ours.magnitude[at]) : least_exponent, least_exponent);
      const float unit = std::ldexp(1.0f, exponent - fraction_bits);
      ASSERT_LE(std::abs(ours.values[at] - element_at(theirs.bytes, element, at)), 2.5f * unit) << item.at("name") << " element " << at;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 36u);
}

}  // namespace
}  // namespace lagoon
