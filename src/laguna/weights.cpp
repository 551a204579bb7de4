#include "laguna/weights.h"

#include "base/bfloat16.h"
#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace lagoon {
namespace {

/// Reads many ranges into one buffer. Places are handed out first; ranges that follow each other in the file and in memory
/// are then read as one.
class GroupReader {
 public:
  GroupReader(const Checkpoint& checkpoint, LoadProgress progress) : checkpoint_(checkpoint), progress_(std::move(progress)) {}

  /// Asks for a matrix; `*target` is filled in by read(). Codes, scales and biases of successive calls lie together, so
  /// that experts stacked in one tensor are read in one piece.
  void want(const WeightSource& source, WeightMatrix* target) {
    *target = WeightMatrix{source.format, source.rows, source.columns};
    wanted_.push_back({&source, target});
  }

  void read(const char* name, MemoryBudget& budget, std::vector<ClaimedBuffer<std::byte>>& storage) {
    struct Place {
      ByteRange range;
      const std::byte** target;
      size_t offset;
    };
    std::vector<Place> places;
    size_t size = 0;
    const auto place = [&](const ByteRange& range, const std::byte** target) {
      if (range.bytes == 0) return;
      places.push_back({range, target, size});
      size += (range.bytes + AlignedBuffer<std::byte>::alignment - 1) / AlignedBuffer<std::byte>::alignment * AlignedBuffer<std::byte>::alignment;
    };
    for (const auto& [source, matrix] : wanted_) place(source->values, &matrix->values);
    for (const auto& [source, matrix] : wanted_) place(source->scales, &matrix->scales);
    for (const auto& [source, matrix] : wanted_) place(source->biases, &matrix->biases);
    wanted_.clear();

    ClaimedBuffer<std::byte>& buffer = storage.emplace_back(budget, name, size);
    for (size_t first = 0; first < places.size();) {
      size_t last = first;
      uint64_t bytes = places[first].range.bytes;
      while (last + 1 < places.size() && follows(places[last].range, places[last + 1].range) &&
             places[first].offset + bytes == places[last + 1].offset) {
        bytes += places[++last].range.bytes;
      }
      read_in_steps(places[first].range, std::span(buffer.data() + places[first].offset, bytes));
      for (; first <= last; ++first) *places[first].target = buffer.data() + places[first].offset;
    }
  }

  /// A vector of a few thousand numbers as floats.
  std::vector<float> read_vector(const WeightSource& source) {
    std::vector<std::byte> bytes(source.values.bytes);
    read_in_steps(source.values, bytes);
    std::vector<float> numbers(static_cast<size_t>(source.columns));
    for (size_t at = 0; at < numbers.size(); ++at) numbers[at] = number_at(bytes, source.format.element, at);
    return numbers;
  }

 private:
  static bool follows(const ByteRange& first, const ByteRange& second) {
    return first.file == second.file && first.offset + first.bytes == second.offset;
  }

  static float number_at(std::span<const std::byte> bytes, ElementType type, size_t at) {
    float single = 0.0f;
    uint16_t half = 0;
    if (type == ElementType::f32) {
      std::memcpy(&single, &bytes[at * 4], 4);
      return single;
    }
    std::memcpy(&half, &bytes[at * 2], 2);
    return type == ElementType::bf16 ? to_float(Bfloat16{half}) : to_float(Float16{half});
  }

  /// In pieces, so that progress is shown and a cancelled load ends soon.
  void read_in_steps(const ByteRange& range, std::span<std::byte> destination) {
    constexpr size_t step = 32u << 20;
    const ReadableFile& file = *checkpoint_.files()[static_cast<size_t>(range.file)];
    for (size_t at = 0; at < destination.size(); at += step) {
      const std::span<std::byte> piece = destination.subspan(at, std::min(step, destination.size() - at));
      file.read_at(range.offset + at, piece);
      done_ += piece.size();
      if (progress_) progress_(done_, checkpoint_.weight_bytes());
    }
  }

  const Checkpoint& checkpoint_;
  LoadProgress progress_;
  uint64_t done_ = 0;
  std::vector<std::pair<const WeightSource*, WeightMatrix*>> wanted_;
};

void want_mlp(GroupReader& reader, const MlpSource& source, MlpWeights& target) {
  reader.want(source.gate, &target.gate);
  reader.want(source.up, &target.up);
  reader.want(source.down, &target.down);
}

/// Experts by projection: that is how stacked checkpoints store them.
void want_experts(GroupReader& reader, const std::vector<MlpSource>& sources, std::vector<MlpWeights>& targets) {
  targets.resize(sources.size());
  for (size_t e = 0; e < sources.size(); ++e) reader.want(sources[e].gate, &targets[e].gate);
  for (size_t e = 0; e < sources.size(); ++e) reader.want(sources[e].up, &targets[e].up);
  for (size_t e = 0; e < sources.size(); ++e) reader.want(sources[e].down, &targets[e].down);
}

}  // namespace

ModelWeights ModelWeights::load(const Checkpoint& checkpoint, MemoryBudget& budget, const LoadProgress& progress) {
  ModelWeights weights;
  GroupReader reader(checkpoint, progress);
  const auto read = [&](const char* name) { reader.read(name, budget, weights.storage_); };

  reader.want(checkpoint.embedding(), &weights.embedding);
  read("weights: embedding");
  weights.layers.resize(static_cast<size_t>(checkpoint.config().layer_count()));
  for (int at = 0; at < checkpoint.config().layer_count(); ++at) {
    const LayerSource& source = checkpoint.layer(at);
    LayerWeights& layer = weights.layers[static_cast<size_t>(at)];
    layer.attention_norm = reader.read_vector(source.attention_norm);
    layer.query_norm = reader.read_vector(source.query_norm);
    layer.key_norm = reader.read_vector(source.key_norm);
    layer.mlp_norm = reader.read_vector(source.mlp_norm);
    reader.want(source.query, &layer.query);
    reader.want(source.key, &layer.key);
    reader.want(source.value, &layer.value);
    reader.want(source.gate, &layer.gate);
    reader.want(source.output, &layer.output);
    read("weights: attention");
    if (checkpoint.config().layers[static_cast<size_t>(at)].dense) {
      want_mlp(reader, source.mlp, layer.mlp);
      read("weights: dense layers");
      continue;
    }
    layer.expert_bias = source.expert_bias ? reader.read_vector(*source.expert_bias) : std::vector<float>(source.experts.size(), 0.0f);
    reader.want(source.router, &layer.router);
    read("weights: routers");
    want_experts(reader, source.experts, layer.experts);
    read("weights: experts");
    want_mlp(reader, source.shared_expert, layer.shared_expert);
    read("weights: shared experts");
  }
  weights.final_norm = reader.read_vector(checkpoint.final_norm());
  reader.want(checkpoint.head(), &weights.head);
  read("weights: head");
  return weights;
}

}  // namespace lagoon
