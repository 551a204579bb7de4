// Checkpoints that other people's software wrote (tests/golden/transformers, tests/golden/mlx-models), opened.
#include "checkpoint/affine_format.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/generation_config.h"
#include "support/affine_reader.h"

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using namespace testing_support;

Checkpoint open(const std::string& name) { return Checkpoint::open((std::filesystem::path(LAGOON_GOLDEN_DIR) / name).string(), {}, SystemFiles()); }

std::vector<std::byte> read(const Checkpoint& checkpoint, const ByteRange& range) {
  std::vector<std::byte> bytes(range.bytes);
  checkpoint.files()[static_cast<size_t>(range.file)]->read_at(range.offset, bytes);
  return bytes;
}

/// The numbers of a matrix, whatever its format.
std::vector<float> values_of(const Checkpoint& checkpoint, const WeightSource& source) {
  std::vector<float> values(static_cast<size_t>(source.rows * source.columns));
  const std::vector<std::byte> bytes = read(checkpoint, source.values);
  if (source.format.kind == WeightFormat::Kind::plain) {
    for (size_t at = 0; at < values.size(); ++at) values[at] = element_at(bytes, source.format.element, at);
    return values;
  }
  const std::vector<std::byte> scales = read(checkpoint, source.scales);
  const std::vector<std::byte> biases = read(checkpoint, source.biases);
  const size_t rows = static_cast<size_t>(source.rows);
  const size_t columns = static_cast<size_t>(source.columns);
  const auto of_row = [&](const std::vector<std::byte>& all, size_t row) {
    return std::span(all).subspan(row * (all.size() / rows), all.size() / rows);
  };
  for (size_t row = 0; row < rows; ++row) {
    dequantize_row(source.format, of_row(bytes, row), of_row(scales, row), of_row(biases, row), std::span(values).subspan(row * columns, columns));
  }
  return values;
}

TEST(GoldenCheckpoints, TransformersFormsOpen) {
  const Checkpoint xs = open("transformers/xs");
  EXPECT_EQ(xs.config().layers[1].query_heads, 16);
  EXPECT_EQ(xs.config().sliding_window, 16);
  EXPECT_EQ(xs.layer(4).experts.size(), 16u);
  EXPECT_EQ(xs.layer(1).expert_bias->format.element, ElementType::f32);
  EXPECT_EQ(xs.config().full_rotary.dimensions, 16);
  EXPECT_EQ(xs.config().full_rotary.attention_factor, 1.3465735902799727);

  const Checkpoint s = open("transformers/s");
  EXPECT_EQ(s.config().experts_per_token, 5);
  EXPECT_EQ(s.config().full_rotary.factor, 128.0);

  const Checkpoint m = open("transformers/m");
  EXPECT_EQ(m.config().layers[0].gate, GateKind::per_element);
  EXPECT_EQ(m.layer(0).gate.rows, 8 * 32);
  EXPECT_TRUE(m.config().layers[2].dense);
  EXPECT_FALSE(m.config().layers[3].dense);
  EXPECT_EQ(m.config().sliding_window, 0);
  EXPECT_EQ(m.config().full_rotary.attention_factor, 1.0);
  EXPECT_EQ(load_generation_config(m.folder(), SystemFiles()).eos_ids, (std::vector<int32_t>{2, 24}));
}

TEST(GoldenCheckpoints, UniformMlxFormHasAQuantizedRouter) {
  const Checkpoint uniform = open("mlx-models/uniform");
  EXPECT_EQ(uniform.layer(1).router.format, (WeightFormat{WeightFormat::Kind::affine, ElementType::bf16, 8, 64}));
  EXPECT_EQ(uniform.layer(1).experts[7].down.format, (WeightFormat{WeightFormat::Kind::affine, ElementType::bf16, 4, 64}));
}

TEST(GoldenCheckpoints, MixedMlxFormResolvesEachTensor) {
  const Checkpoint mixed = open("mlx-models/mixed");
  const auto format = [](int bits, int group) { return WeightFormat{WeightFormat::Kind::affine, ElementType::bf16, bits, group}; };
  EXPECT_EQ(mixed.embedding().format, format(8, 64));
  EXPECT_EQ(mixed.layer(0).mlp.gate.format, format(3, 64));
  EXPECT_EQ(mixed.layer(0).mlp.down.format, format(6, 64));
  EXPECT_EQ(mixed.layer(1).experts[0].gate.format, format(2, 128));
  EXPECT_EQ(mixed.layer(4).experts[0].down.format, format(4, 64));
  EXPECT_EQ(mixed.layer(3).output.format, format(8, 64));
  EXPECT_EQ(mixed.layer(3).shared_expert.up.format, format(6, 32));
  EXPECT_EQ(mixed.layer(1).router.format.kind, WeightFormat::Kind::plain);
}

TEST(GoldenCheckpoints, RespelledShardsHoldTheNumbersOfMixed) {
  const Checkpoint mixed = open("mlx-models/mixed");
  const Checkpoint respelled = open("mlx-models/respelled");
  ASSERT_EQ(respelled.files().size(), 2u);
  EXPECT_EQ(respelled.weight_bytes(), mixed.weight_bytes());
  const auto same = [&](const WeightSource& a, const WeightSource& b) {
    EXPECT_EQ(b.name, "language_model." + a.name);
    EXPECT_EQ(values_of(mixed, a), values_of(respelled, b)) << a.name;
  };
  same(mixed.embedding(), respelled.embedding());
  same(mixed.head(), respelled.head());
  same(mixed.final_norm(), respelled.final_norm());
  for (int at = 0; at < mixed.config().layer_count(); ++at) {
    const LayerSource& a = mixed.layer(at);
    const LayerSource& b = respelled.layer(at);
    for (const auto member : {&LayerSource::attention_norm, &LayerSource::mlp_norm, &LayerSource::query, &LayerSource::key, &LayerSource::value,
                              &LayerSource::gate, &LayerSource::output, &LayerSource::query_norm, &LayerSource::key_norm}) {
      same(a.*member, b.*member);
    }
    const auto same_mlp = [&](const MlpSource& left, const MlpSource& right) {
      same(left.gate, right.gate);
      same(left.up, right.up);
      same(left.down, right.down);
    };
    if (mixed.config().layers[static_cast<size_t>(at)].dense) {
      same_mlp(a.mlp, b.mlp);
      continue;
    }
    same(a.router, b.router);
    same(*a.expert_bias, *b.expert_bias);
    same_mlp(a.shared_expert, b.shared_expert);
    for (size_t expert = 0; expert < a.experts.size(); ++expert) same_mlp(a.experts[expert], b.experts[expert]);
  }
}

}  // namespace
}  // namespace lagoon
