#include "checkpoint/foreign_formats.h"

#include "support/error_matchers.h"

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing_support::expect_error;

TensorHeader tensor(std::string name, StoredType type, std::vector<int64_t> shape = {4, 4}) {
  return {std::move(name), type, std::move(shape), 0, 0, 0};
}

void expect_named(const std::vector<TensorHeader>& tensors, const std::string& format) {
  expect_error([&] { refuse_foreign_formats(tensors, "/models/x"); }, ErrorKind::unsupported, {"/models/x: `" + tensors.front().name + "`", format});
}

TEST(ForeignFormats, AreNamedByTheTensorThatShowsThem) {
  const std::string module = "model.layers.1.mlp.experts.0.up_proj";
  expect_named({tensor(module + ".qweight", StoredType::i32), tensor(module + ".g_idx", StoredType::i32)}, "GPTQ");
  expect_named({tensor(module + ".qweight", StoredType::i32), tensor(module + ".qzeros", StoredType::i32)}, "AWQ");
  expect_named({tensor(module + ".weight_packed", StoredType::u8), tensor(module + ".weight_scale", StoredType::f8_e4m3)}, "NVFP4");
  expect_named({tensor(module + ".weight_packed", StoredType::i32), tensor(module + ".weight_scale", StoredType::bf16)}, "INT4 or INT8");
  expect_named({tensor(module + ".weight", StoredType::f8_e4m3), tensor(module + ".weight_scale", StoredType::bf16)}, "FP8");
  expect_named({tensor(module + ".weight", StoredType::f8_e5m2)}, "FP8");
  expect_named({tensor(module + ".weight_scale", StoredType::bf16), tensor(module + ".weight", StoredType::i8)}, "INT8");
  expect_named({tensor(module + ".scales", StoredType::u8, {4, 4}), tensor(module + ".weight", StoredType::u32, {4, 8})}, "MLX NVFP4");
  expect_named({tensor(module + ".scales", StoredType::u8, {4, 2}), tensor(module + ".weight", StoredType::u32, {4, 8})}, "MLX MXFP4");
  expect_named({tensor(module + ".scales", StoredType::u8, {4, 1}), tensor(module + ".weight", StoredType::u32, {4, 8})}, "MLX MXFP8");
  expect_named({tensor(module + ".weight.absmax", StoredType::u8)}, "bitsandbytes");
  expect_named({tensor("base_model.model." + module + ".lora_A.weight", StoredType::f32)}, "LoRA");
  expect_named({tensor("aux_hidden_norms.0.weight", StoredType::bf16)}, "draft model");
  expect_named({tensor("mtp.layers.0.weight", StoredType::bf16)}, "multi-token prediction");
}

TEST(ForeignFormats, PlainAndAffineTensorsAreNotForeign) {
  EXPECT_NO_THROW(
      refuse_foreign_formats({tensor("lm_head.weight", StoredType::u32), tensor("lm_head.scales", StoredType::bf16),
                              tensor("lm_head.biases", StoredType::bf16), tensor("model.layers.0.self_attn.k_scale", StoredType::f8_e4m3)},
                             "x"));
}

}  // namespace
}  // namespace lagoon
