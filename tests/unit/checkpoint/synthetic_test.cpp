#include "checkpoint/synthetic.h"

#include "base/bfloat16.h"
#include "checkpoint/affine_format.h"
#include "checkpoint/artifact.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/synthetic_shapes.h"
#include "support/affine_reader.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <thread>

namespace lagoon {
namespace {

using namespace testing_support;

using testing::HasSubstr;
using testing_support::sentence_of;

SyntheticCheckpoint synthetic(std::string_view spec) { return SyntheticCheckpoint(parse_synthetic_spec(spec)); }

std::vector<std::byte> read(const ReadableFile& file, uint64_t offset, size_t bytes) {
  std::vector<std::byte> read(bytes);
  file.read_at(offset, read);
  return read;
}

std::vector<std::byte> read(const Checkpoint& checkpoint, const ByteRange& range, size_t most) {
  return read(*checkpoint.files()[static_cast<size_t>(range.file)], range.offset, std::min<uint64_t>(range.bytes, most));
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
  double largest = 0.0;
};

Moments moments_of(const std::vector<float>& numbers) {
  Moments moments;
  double squares = 0.0;
  for (const float number : numbers) {
    moments.mean += number;
    squares += double{number} * number;
    moments.largest = std::max(moments.largest, std::abs(double{number}));
  }
  moments.mean /= static_cast<double>(numbers.size());
  moments.deviation = std::sqrt(squares / static_cast<double>(numbers.size()) - moments.mean * moments.mean);
  return moments;
}

/// The first rows of a matrix, or a vector.
std::vector<float> numbers_of(const Checkpoint& checkpoint, const WeightSource& source, int64_t rows = 64) {
  rows = std::min(rows, source.rows);
  const auto columns = static_cast<size_t>(source.columns);
  std::vector<float> numbers(static_cast<size_t>(rows) * columns);
  const auto part = [&](const ByteRange& range) {
    return read(checkpoint, range, range.bytes / static_cast<uint64_t>(source.rows) * static_cast<uint64_t>(rows));
  };
  const std::vector<std::byte> values = part(source.values);
  if (source.format.kind == WeightFormat::Kind::plain) {
    for (size_t at = 0; at < numbers.size(); ++at) numbers[at] = element_at(values, source.format.element, at);
    return numbers;
  }
  const std::vector<std::byte> scales = part(source.scales);
  const std::vector<std::byte> biases = part(source.biases);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const auto of_row = [&](const std::vector<std::byte>& bytes) {
      const size_t size = bytes.size() / static_cast<size_t>(rows);
      return std::span(bytes).subspan(row * size, size);
    };
    dequantize_row(source.format, of_row(values), of_row(scales), of_row(biases), std::span(numbers).subspan(row * columns, columns));
  }
  return numbers;
}

/// All tensors as their shards' headers describe them.
std::vector<TensorHeader> headers_of(const SyntheticCheckpoint& checkpoint) {
  std::vector<TensorHeader> all;
  for (size_t at = 0; at < checkpoint.shard_count(); ++at) {
    for (TensorHeader& tensor : read_safetensors_header(*checkpoint.open_shard(at, "")).tensors) all.push_back(std::move(tensor));
  }
  return all;
}

TEST(SyntheticSpec, ReadsModelFormatLayersAndSeed) {
  const SyntheticSpec all = parse_synthetic_spec("xs-2.1:4/64");
  EXPECT_EQ(all.model, "xs-2.1");
  EXPECT_EQ(all.format, "4/64");
  EXPECT_EQ(all.layers, 40);
  EXPECT_EQ(all.seed, 0u);
  const SyntheticSpec some = parse_synthetic_spec("s-2.1:s-2.1-oq4e,seed=18446744073709551615,layers=4");
  EXPECT_EQ(some.layers, 4);
  EXPECT_EQ(some.seed, 18446744073709551615u);
  for (const char* spec : {"m.1:bf16", "mini:8/32,layers=2", "mini:s-2.1-oq2e-fast,seed=7", "xs-2.1:xs-2.1-oq2,layers=39,seed=1"}) {
    EXPECT_EQ(to_string(parse_synthetic_spec(spec)), spec);
  }
}

TEST(SyntheticSpec, RefusesWhatItDoesNotUnderstandAndListsWhatItDoes) {
  const auto refused = [](std::string_view spec) { return sentence_of(ErrorKind::invalid, [&] { parse_synthetic_spec(spec); }); };
  EXPECT_THAT(refused(""), HasSubstr("MODEL:FORMAT"));
  EXPECT_THAT(refused("xs-2.1"), HasSubstr("MODEL:FORMAT"));
  EXPECT_THAT(refused("xs-2.1,4/64"), HasSubstr("MODEL:FORMAT"));
  EXPECT_THAT(refused("xs:4/64"), HasSubstr("there is no model `xs`; models are xs.2, xs-2.1, s-2.1, m.1, mini"));
  EXPECT_THAT(refused("XS-2.1:4/64"), HasSubstr("no model"));
  EXPECT_THAT(refused("xs-2.1:"), HasSubstr("there is no format ``"));
  for (const char* format : {"7/64", "4/16", "4/64 ", "04/64", "4/064", "4", "fp16", "4/64/1", "bf16:x", "oq4e"}) {
    EXPECT_THAT(refused(std::string("xs-2.1:") + format), HasSubstr("BITS/GROUP of 2, 3, 4, 5, 6, 8 bits in groups of 32, 64, 128")) << format;
  }
  EXPECT_THAT(refused("xs-2.1:s-2.1-oq4e"), HasSubstr("take it with s-2.1 or mini"));
  for (const char* layers : {"layers=0", "layers=41", "layers=", "layers=-1", "layers=8x", "layers=99999999999999999999", "layers"}) {
    EXPECT_THAT(refused(std::string("xs-2.1:4/64,") + layers), HasSubstr("a number from 1 to 40")) << layers;
  }
  for (const char* seed : {"seed=", "seed=-1", "seed=18446744073709551616", "seed=0x1", "seed"}) {
    EXPECT_THAT(refused(std::string("xs-2.1:4/64,") + seed), HasSubstr("below 2^64")) << seed;
  }
  EXPECT_THAT(refused("xs-2.1:4/64,"), HasSubstr("write layers=N or seed=N"));
  EXPECT_THAT(refused("xs-2.1:4/64,layer=3"), HasSubstr("write layers=N or seed=N"));
  EXPECT_THAT(refused("xs-2.1:4/64,layers=3,layers=3"), HasSubstr("layers is said twice"));
  EXPECT_THAT(refused("xs-2.1:4/64,\x1b[31m"), HasSubstr("\\x1b"));
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [] { SyntheticCheckpoint({"xs-2.1", "4/64", 0, 0}); }), HasSubstr("layers=0"));
}

// Parameters and tensors as published; mini's are its own.
TEST(SyntheticCheckpoint, HasTheParametersAndTensorsOfThePublishedModels) {
  struct Published {
    const char* model;
    uint64_t parameters;
    size_t tensors;
  };
  for (const Published& published :
       {Published{"xs-2.1", 33'442'617'088, 30'513}, Published{"s-2.1", 117'561'977'600, 36'769}, Published{"m.1", 225'795'725'568, 52'433}}) {
    const SyntheticCheckpoint checkpoint = synthetic(std::string(published.model) + ":bf16");
    EXPECT_EQ(checkpoint.parameters(), published.parameters) << published.model;
    EXPECT_EQ(headers_of(checkpoint).size(), published.tensors) << published.model;
  }
  EXPECT_EQ(synthetic("xs-2.1:2/128").parameters(), 33'442'617'088u);
}

TEST(SyntheticCheckpoint, OpensInEveryFormat) {
  std::vector<std::string> specs = {"xs-2.1:bf16", "xs-2.1:xs-2.1-oq2", "s-2.1:s-2.1-oq4e", "s-2.1:s-2.1-oq2e-fast",
                                    "m.1:4/64",    "m.1:bf16,layers=4", "mini:s-2.1-oq4e",  "mini:bf16"};
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      for (const char* model : {"xs-2.1", "s-2.1", "m.1", "mini"}) specs.push_back(fmt::format("{}:{}/{},layers=5", model, bits, group));
    }
  }
  for (const PublishedShape& shape : published_shapes()) specs.push_back(fmt::format("{}:6/32,layers=1", shape.name));
  for (const std::string& spec : specs) {
    const SyntheticSpec parsed = parse_synthetic_spec(spec);
    const Checkpoint checkpoint = open_synthetic(parsed);
    EXPECT_EQ(checkpoint.config().layer_count(), parsed.layers) << spec;
    EXPECT_EQ(checkpoint.folder().string(), spec);
    const GateKind gate = parsed.model == "m.1" ? GateKind::per_element : GateKind::per_head;
    EXPECT_EQ(checkpoint.config().layers[0].gate, gate) << spec;
    uint64_t headers = 0;
    const SyntheticCheckpoint source(parsed);
    for (size_t at = 0; at < source.shard_count(); ++at) headers += source.header_bytes(at);
    EXPECT_EQ(checkpoint.weight_bytes() + headers, source.file_bytes()) << spec;  // no byte is left over
  }
}

// Published sizes are those of the files; differences come from what their headers say beside names and shapes, and in oQ2 maps
// from the choice of which matrices have which of the published formats.
TEST(SyntheticCheckpoint, MixedFormatsHaveThePublishedSizes) {
  const auto difference = [](std::string_view spec, double published) {
    return (static_cast<double>(synthetic(spec).file_bytes()) - published) / published;
  };
  EXPECT_NEAR(difference("s-2.1:s-2.1-oq4e", 64'122'027'323), 0.0, 3e-6);
  EXPECT_NEAR(difference("s-2.1:s-2.1-oq2e-fast", 34'736'172'776), 0.0, 1e-4);
  EXPECT_NEAR(difference("xs-2.1:xs-2.1-oq2", 11'751'261'776), 0.0, 1e-4);
}

TEST(SyntheticCheckpoint, MixedFormatsHaveThePublishedCounts) {
  const Json block = synthetic("s-2.1:s-2.1-oq2e-fast").config().at("quantization");
  EXPECT_EQ(block.at("bits"), 2);
  EXPECT_EQ(block.at("group_size"), 128);
  std::map<std::string, int> counts;
  for (const auto& [path, entry] : block.items()) {
    if (!entry.is_object()) continue;
    EXPECT_TRUE(path.starts_with("language_model.")) << path;
    ++counts[fmt::format("{}/{}", entry.at("bits").get<int>(), entry.at("group_size").get<int>())];
  }
  EXPECT_EQ(counts, (std::map<std::string, int>{{"8/128", 141}, {"3/64", 137}, {"4/64", 59}, {"8/64", 34}, {"6/64", 15}}));

  std::set<std::string> formats;
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec("s-2.1:s-2.1-oq4e"));
  const auto format = [](const WeightSource& source) { return fmt::format("{}/{}", source.format.bits, source.format.group); };
  EXPECT_EQ(format(checkpoint.layer(33).output), "8/64");
  EXPECT_EQ(format(checkpoint.layer(33).query), "5/64");
  EXPECT_EQ(format(checkpoint.layer(16).gate), "8/64");
  EXPECT_EQ(format(checkpoint.layer(1).experts[255].down), "4/128");
  EXPECT_EQ(format(checkpoint.layer(0).mlp.down), "6/64");
  EXPECT_EQ(checkpoint.layer(7).router.format.kind, WeightFormat::Kind::plain);
}

TEST(SyntheticCheckpoint, UniformFormatsKeepRoutersInEightBits) {
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec("xs-2.1:4/32,layers=2"));
  EXPECT_EQ(checkpoint.layer(1).router.format.bits, 8);
  EXPECT_EQ(checkpoint.layer(1).router.format.group, 64);
  EXPECT_EQ(checkpoint.layer(1).router.name, "model.layers.1.mlp.gate.proj");
  EXPECT_EQ(checkpoint.layer(1).experts[3].up.name, "model.layers.1.mlp.switch_mlp.up_proj[3]");
}

TEST(SyntheticCheckpoint, ShardsAreNoLargerThanPublishersMakeThem) {
  for (const char* spec : {"xs-2.1:bf16", "s-2.1:s-2.1-oq4e", "m.1:8/32"}) {
    const SyntheticCheckpoint checkpoint = synthetic(spec);
    for (size_t at = 0; at < checkpoint.shard_count(); ++at) {
      const auto shard = checkpoint.open_shard(at, "folder");
      EXPECT_LE(shard->size(), 5'000'000'000u) << spec;
      EXPECT_EQ(shard->path().string(), fmt::format("folder/model-{:05}-of-{:05}.safetensors", at + 1, checkpoint.shard_count()));
    }
  }
}

TEST(SyntheticCheckpoint, BytesDoNotDependOnHowTheyAreRead) {
  for (const char* spec : {"mini:3/64,layers=2", "mini:bf16,layers=2"}) {
    const SyntheticCheckpoint checkpoint = synthetic(spec);
    const auto file = checkpoint.open_shard(0, "");
    const std::vector<TensorHeader> tensors = read_safetensors_header(*file).tensors;
    // Around the end of the header, and around borders of tensors, where codes, scales, norms and floats meet.
    for (size_t at = 0; at < tensors.size(); at += 1 + tensors.size() / 40) {
      const uint64_t begin = tensors[at].offset - 300'000 * (at > 0 ? 1 : 0);
      const std::vector<std::byte> whole = read(*file, begin, std::min<uint64_t>(400'000, file->size() - begin));
      for (const size_t step : {size_t{1'003}, size_t{65'536}, size_t{131'077}}) {
        std::vector<std::byte> pieces;
        for (size_t from = 0; from < whole.size(); from += step) {
          const auto piece = read(*file, begin + from, std::min(step, whole.size() - from));
          pieces.insert(pieces.end(), piece.begin(), piece.end());
        }
        ASSERT_EQ(std::memcmp(pieces.data(), whole.data(), whole.size()), 0) << tensors[at].name << " in steps of " << step;
      }
    }
    EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { read(*file, file->size() - 1, 2); }), HasSubstr("the file has"));
  }
}

TEST(SyntheticCheckpoint, ThreadsMayReadAtOnce) {
  const SyntheticCheckpoint checkpoint = synthetic("mini:4/64,layers=2");
  const auto file = checkpoint.open_shard(0, "");
  const std::vector<std::byte> expected = read(*file, 1'000, 1 << 20);
  std::array<std::vector<std::byte>, 4> found;
  {
    std::vector<std::jthread> threads;
    for (auto& bytes : found) threads.emplace_back([&bytes, &file] { bytes = read(*file, 1'000, 1 << 20); });
  }
  for (const auto& bytes : found) EXPECT_EQ(bytes, expected);
}

TEST(SyntheticCheckpoint, TheSeedDecidesTheNumbersAndLayersDoNot) {
  const auto numbers = [](std::string_view spec) {
    const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec(spec));
    return numbers_of(checkpoint, checkpoint.layer(1).experts[5].gate, 4);
  };
  const std::vector<float> first = numbers("mini:4/64,layers=2,seed=1");
  EXPECT_EQ(first, numbers("mini:4/64,layers=2,seed=1"));
  EXPECT_EQ(first, numbers("mini:4/64,seed=1"));  // the same layer of the whole model
  EXPECT_NE(first, numbers("mini:4/64,layers=2,seed=2"));
  // Pinned: what was measured with a seed can be measured again.
  const auto file = synthetic("mini:4/64,layers=1,seed=1").open_shard(0, "");
  const uint64_t data = read_safetensors_header(*file).tensors.front().offset;
  uint64_t word = 0;
  std::memcpy(&word, read(*file, data, 8).data(), 8);
  EXPECT_EQ(word, 0x76e7f34d261bb7f2u) << std::hex << word;
}

void expect_matrix(const Checkpoint& checkpoint, const WeightSource& source) {
  const std::vector<float> numbers = numbers_of(checkpoint, source);
  const Moments moments = moments_of(numbers);
  const double unit = 1.0 / std::sqrt(static_cast<double>(source.columns));
  // Five standard errors of the mean; quantized ones also have biases that are rounded to bf16.
  EXPECT_NEAR(moments.mean, 0.0, (5.0 / std::sqrt(static_cast<double>(numbers.size())) + 0.002) * unit) << source.name;
  EXPECT_GT(moments.deviation, 0.9 * unit) << source.name;
  EXPECT_LT(moments.deviation, 1.4 * unit) << source.name;
  EXPECT_LT(moments.largest, 2.2 * unit) << source.name;
}

TEST(SyntheticCheckpoint, NumbersAreThoseOfASaneModel) {
  for (const char* spec : {"mini:bf16,layers=2", "mini:2/32,layers=2", "mini:3/128,layers=2", "mini:8/64,layers=2", "mini:s-2.1-oq4e,layers=2"}) {
    SCOPED_TRACE(spec);
    const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec(spec));
    const LayerSource& layer = checkpoint.layer(1);
    for (const WeightSource* source : {&checkpoint.embedding(), &checkpoint.head(), &layer.query, &layer.output, &layer.gate, &layer.router,
                                       &layer.experts[0].gate, &layer.experts[63].down, &layer.shared_expert.up, &checkpoint.layer(0).mlp.down}) {
      expect_matrix(checkpoint, *source);
    }
    for (const WeightSource* source : {&layer.attention_norm, &layer.query_norm, &checkpoint.final_norm()}) {
      const Moments moments = moments_of(numbers_of(checkpoint, *source));
      EXPECT_NEAR(moments.mean, 1.0, 0.03) << source->name;
      EXPECT_NEAR(moments.deviation, 0.058, 0.01) << source->name;
    }
    ASSERT_TRUE(layer.expert_bias.has_value());
    const Moments bias = moments_of(numbers_of(checkpoint, *layer.expert_bias));
    EXPECT_LT(bias.largest, 0.0101);
    EXPECT_GT(bias.deviation, 0.003);
  }
}

TEST(SyntheticCheckpoint, CodesAreUniform) {
  for (const int bits : affine_bits) {
    const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec(fmt::format("mini:{}/64,layers=1", bits)));
    const std::vector<std::byte> packed = read(checkpoint, checkpoint.embedding().values, static_cast<size_t>(bits) << 16);
    std::vector<uint8_t> codes(packed.size() * 8 / static_cast<size_t>(bits));
    unpack_codes(packed, bits, codes);
    std::vector<double> counts(size_t{1} << bits);
    for (const uint8_t code : codes) ++counts[code];
    const double expected = static_cast<double>(codes.size()) / static_cast<double>(counts.size());
    double square = 0.0;
    for (const double count : counts) square += (count - expected) * (count - expected) / expected;
    const auto freedom = static_cast<double>(counts.size() - 1);
    EXPECT_LT(square, freedom + 5.0 * std::sqrt(2.0 * freedom)) << bits << " bits";
  }
}

TEST(SyntheticCheckpoint, TextsAreAsPublishersWriteThem) {
  const SyntheticCheckpoint checkpoint = synthetic("mini:4/64,layers=2");
  std::map<std::string, Json> documents;
  for (const TextFile& file : checkpoint.texts()) {
    if (file.name.ends_with(".json") && file.name != "tokenizer.json") documents[file.name] = parse_json(file.text, file.name);
  }
  const Json& index = documents.at("model.safetensors.index.json");
  EXPECT_EQ(index.at("metadata").at("total_parameters"), checkpoint.parameters());
  EXPECT_EQ(index.at("metadata").at("total_size"), checkpoint.file_bytes() - checkpoint.header_bytes(0));
  EXPECT_EQ(index.at("weight_map").size(), headers_of(checkpoint).size());
  EXPECT_EQ(documents.at("generation_config.json").at("eos_token_id"), (Json::array({2, 24})));
  const Json config = checkpoint.config();
  EXPECT_EQ(config.at("quantization"), config.at("quantization_config"));
  EXPECT_EQ(config.at("quantization").at("model.layers.1.mlp.gate.proj").at("bits"), 8);
}

}  // namespace
}  // namespace lagoon
