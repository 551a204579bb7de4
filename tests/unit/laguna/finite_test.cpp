// finite: NaN and infinities found among weights of every type, wherever they stand.
#include "laguna/finite.h"

#include "base/bfloat16.h"
#include "laguna/cpu_model.h"
#include "support/checkpoint_builder.h"
#include "support/sentence_of.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace lagoon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::CheckpointBuilder;
using testing_support::sentence_of;
using testing_support::TemporaryFolder;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<std::byte> bytes_of_numbers(ElementType type, uint32_t bits, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * bytes_of(type)));
  for (int64_t at = 0; at < count; ++at) std::memcpy(bytes.data() + at * bytes_of(type), &bits, static_cast<size_t>(bytes_of(type)));
  return bytes;
}

struct TypeCase {
  ElementType type;
  std::vector<uint32_t> finite;
  std::vector<uint32_t> not_finite;
};

const std::array<TypeCase, 3> type_cases = {{
    {ElementType::bf16, {0, 0x8000, 0x7f7f, 0xff7f, 0x3f80, 0x0001}, {0x7f80, 0xff80, 0x7fc0, 0xffff, 0x7f81}},
    {ElementType::f16, {0, 0x8000, 0x7bff, 0xfbff, 0x3c00, 0x0001}, {0x7c00, 0xfc00, 0x7e00, 0xffff, 0x7c01}},
    {ElementType::f32, {0, 0x80000000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 1}, {0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff, 0x7f800001}},
}};

TEST(FirstNotFinite, IsFoundAtEveryPlaceAndInEveryType) {
  for (const TypeCase& row : type_cases) {
    for (const uint32_t around : row.finite) {
      for (const int64_t count : {1, 3, 63, 64, 65, 127, 128, 129, 300}) {
        std::vector<std::byte> bytes = bytes_of_numbers(row.type, around, count);
        ASSERT_EQ(first_not_finite(bytes.data(), row.type, count), count) << around;
        for (int64_t at = 0; at<count; at += count> 10 ? 7 : 1) {
          std::memcpy(bytes.data() + at * bytes_of(row.type), &row.not_finite[static_cast<size_t>(at) % row.not_finite.size()],
                      static_cast<size_t>(bytes_of(row.type)));
          ASSERT_EQ(first_not_finite(bytes.data(), row.type, count), at) << around;
          bytes = bytes_of_numbers(row.type, around, count);
        }
      }
    }
  }
}

void overwrite(testing_support::BuiltTensor& tensor, size_t index, float value) {
  if (tensor.type == StoredType::f32) {
    std::memcpy(tensor.bytes.data() + index * 4, &value, 4);
  } else {
    const Bfloat16 number = to_bfloat16(value);
    std::memcpy(tensor.bytes.data() + index * 2, &number, 2);
  }
}

TEST(Loading, NamesTheTensorAndThePlaceOfANumberThatIsNotFinite) {
  struct Case {
    const char* tensor;
    size_t index;
    float value;
    const char* said;
  };
  for (const Case& row :
       {Case{"model.norm.weight", 5, std::nanf(""), "element [5] of tensor `model.norm.weight` is NaN"},
        Case{"model.layers.1.input_layernorm.weight", 0, -infinity, "[0] of tensor `model.layers.1.input_layernorm.weight` is an inf"},
        Case{"model.embed_tokens.weight", 64 * 47 + 63, infinity, "element [47, 63] of tensor `model.embed_tokens.weight` is an inf"},
        Case{"model.layers.2.mlp.experts.e_score_correction_bias", 3, std::nanf(""), "element [3] of tensor `model.layers.2.mlp.exp"},
        Case{"model.layers.1.mlp.experts.2.up_proj.scales", 3, infinity, "[1, 1] of tensor `model.layers.1.mlp.experts.2.up_proj.scales`"},
        Case{"model.layers.2.mlp.experts.3.down_proj.biases", 0, std::nanf(""), "[0, 0] of tensor `model.layers.2.mlp.experts.3.down_"}}) {
    SCOPED_TRACE(row.tensor);
    CheckpointBuilder builder;
    builder.quantize("mlp.experts.", 4, 32);
    overwrite(builder.at(row.tensor), row.index, row.value);
    const TemporaryFolder folder;
    builder.write(folder.path());
    const Checkpoint checkpoint = Checkpoint::open(folder.path().string(), {}, SystemFiles());
    MemoryBudget budget;
    EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { const CpuModel model(checkpoint, {.step_rows = 8}, budget); }),
                AllOf(HasSubstr("model.safetensors: element "), HasSubstr(row.said), HasSubstr("fetch it again")));
    EXPECT_EQ(budget.total(), 0u);
  }
}

}  // namespace
}  // namespace lagoon
