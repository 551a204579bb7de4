// Weights that are finite and absurd: what the model computes leaves the range of floats, and nothing that looks like an answer comes out.
#include "laguna/cpu_model.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"
#include "support/model_under_test.h"

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using namespace testing_support;

/// The largest bfloat16, 3.39e38, in the place of element 1.
void overwrite(CheckpointBuilder& builder, const char* tensor) {
  std::vector<std::byte>& bytes = builder.at(tensor).bytes;
  bytes[2] = std::byte{0x7f};
  bytes[3] = std::byte{0x7f};
}

TEST(NumbersOutOfRange, AreRefusedWhereverTheWeightIs) {
  for (const char* tensor : {"model.embed_tokens.weight", "model.layers.0.input_layernorm.weight", "model.layers.0.mlp.up_proj.weight",
                             "model.layers.1.self_attn.o_proj.weight", "model.norm.weight", "lm_head.weight"}) {
    SCOPED_TRACE(tensor);
    const TemporaryFolder folder;
    CheckpointBuilder builder;
    overwrite(builder, tensor);
    builder.write(folder.path());
    ModelUnderTest model(folder.path().string());
    expect_error([&] { model.logits({0, 1, 2, 3}); }, ErrorKind::corrupt, {"leave the range of floats at position", "absurdly large"});
  }
}

TEST(NumbersOutOfRange, AnOrdinaryModelStaysInside) {
  const TemporaryFolder folder;
  CheckpointBuilder().write(folder.path());
  ModelUnderTest model(folder.path().string());
  EXPECT_NO_THROW(model.logits({0, 1, 2, 3}));
}

}  // namespace
}  // namespace lagoon
