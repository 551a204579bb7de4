#include "checkpoint/synthetic.h"

#include "base/error.h"
#include "checkpoint/synthetic_formats.h"
#include "checkpoint/synthetic_layout.h"
#include "checkpoint/synthetic_shapes.h"
#include "checkpoint/synthetic_texts.h"
#include "checkpoint/weight_files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lagoon {
namespace {

constexpr uint64_t largest_shard = 5'000'000'000;  // bytes, header included
constexpr uint64_t entry_bytes = 160;              // of a header for one tensor, beside its name; no entry is longer
constexpr std::string_view index_name = "model.safetensors.index.json";

/// The model as its config.json says it, and the format of each matrix.
struct Model {
  Json document;
  ModelConfig config;
  FormatMap formats;
};

/// A spec need not come from parse_synthetic_spec().
Model model_of(const SyntheticSpec& spec) {
  const SyntheticSpec checked = parse_synthetic_spec(to_string(spec));
  Model model;
  model.document = config_of(*find_shape(checked.model), checked.layers);
  model.config = read_model_config(model.document, "config.json");
  model.formats = *FormatMap::find(checked.format);
  return model;
}

Json json_of(const AffineFormat& format) { return {{"group_size", format.group}, {"bits", format.bits}, {"mode", "affine"}}; }

/// Where the tensors of each shard end, in counts of tensors.
std::vector<size_t> shard_ends(const std::vector<SyntheticTensor>& tensors) {
  std::vector<size_t> ends;
  uint64_t bytes = 0;
  for (size_t at = 0; at < tensors.size(); ++at) {
    const uint64_t more = bytes_of(tensors[at].declaration) + tensors[at].declaration.name.size() + entry_bytes;
    if (bytes > 0 && bytes + more > largest_shard) {
      ends.push_back(at);
      bytes = 0;
    }
    bytes += more;
  }
  ends.push_back(tensors.size());
  return ends;
}

}  // namespace

struct SyntheticCheckpoint::Shard {
  struct Tensor {
    std::string name;
    SyntheticValues values;
    uint64_t end = 0;  // in the file
  };
  std::string name;
  std::string header;           // the length and the JSON
  std::vector<Tensor> tensors;  // in the order of the file, without gaps
  uint64_t bytes = 0;
};

class SyntheticCheckpoint::File final : public ReadableFile {
 public:
  File(std::shared_ptr<const Shard> shard, std::filesystem::path path) : shard_(std::move(shard)), path_(std::move(path)) {}

  const std::filesystem::path& path() const override { return path_; }
  uint64_t size() const override { return shard_->bytes; }

  void read_at(uint64_t offset, std::span<std::byte> destination) const override {
    if (offset > size() || destination.size() > size() - offset) {
      fail(ErrorKind::corrupt, "{}: bytes {} to {} were asked for, the file has {}", printable(path_.string(), 4096), offset,
           offset + destination.size(), size());
    }
    const std::string& header = shard_->header;
    if (offset < header.size()) {
      const size_t taken = std::min<uint64_t>(header.size() - offset, destination.size());
      std::memcpy(destination.data(), header.data() + offset, taken);
      offset += taken;
      destination = destination.subspan(taken);
    }
    const auto& tensors = shard_->tensors;
    auto tensor =
        std::upper_bound(tensors.begin(), tensors.end(), offset, [](uint64_t position, const Shard::Tensor& item) { return position < item.end; });
    for (; !destination.empty(); ++tensor) {
      const uint64_t begin = tensor == tensors.begin() ? header.size() : std::prev(tensor)->end;
      const size_t taken = std::min<uint64_t>(tensor->end - offset, destination.size());
      make_synthetic_values(tensor->values, offset - begin, destination.first(taken));
      offset += taken;
      destination = destination.subspan(taken);
    }
  }

 private:
  std::shared_ptr<const Shard> shard_;
  std::filesystem::path path_;
};

SyntheticCheckpoint::SyntheticCheckpoint(SyntheticSpec spec) : spec_(std::move(spec)) {
  const Model model = model_of(spec_);
  const SyntheticLayout layout = layout_synthetic(model.config, model.formats, spec_.seed);
  parameters_ = layout.parameters;
  const std::vector<size_t> ends = shard_ends(layout.tensors);
  for (size_t at = 0, first = 0; at < ends.size(); first = ends[at++]) {
    auto shard = std::make_shared<Shard>();
    shard->name = fmt::format("model-{:05}-of-{:05}.safetensors", at + 1, ends.size());
    std::vector<TensorDeclaration> declarations;
    for (size_t tensor = first; tensor < ends[at]; ++tensor) declarations.push_back(layout.tensors[tensor].declaration);
    shard->header = safetensors_header(declarations, {{"format", model.formats.everywhere() ? "mlx" : "pt"}});
    shard->bytes = shard->header.size();
    for (size_t tensor = first; tensor < ends[at]; ++tensor) {
      shard->bytes += bytes_of(layout.tensors[tensor].declaration);
      shard->tensors.push_back({layout.tensors[tensor].declaration.name, layout.tensors[tensor].values, shard->bytes});
    }
    shards_.push_back(std::move(shard));
  }
}

Json SyntheticCheckpoint::config() const {
  Model model = model_of(spec_);
  const auto everywhere = model.formats.everywhere();
  if (!everywhere) return std::move(model.document);
  Json block = json_of(*everywhere);
  const SyntheticLayout layout = layout_synthetic(model.config, model.formats, spec_.seed);
  for (const FormatEntry& entry : layout.entries) block[entry.module] = json_of(entry.format);
  model.document["quantization"] = block;
  model.document["quantization_config"] = std::move(block);
  return std::move(model.document);
}

std::vector<TextFile> SyntheticCheckpoint::texts() const {
  uint64_t data = 0;
  std::string map;
  for (const auto& shard : shards_) {
    data += shard->bytes - shard->header.size();
    for (const Shard::Tensor& tensor : shard->tensors) map += fmt::format("{}\n    \"{}\": \"{}\"", map.empty() ? "" : ",", tensor.name, shard->name);
  }
  std::string index = fmt::format("{{\n  \"metadata\": {{\"total_size\": {}, \"total_parameters\": {}}},\n  \"weight_map\": {{{}\n  }}\n}}\n", data,
                                  parameters_, map);
  return {{std::string(index_name), std::move(index)},
          {"generation_config.json", synthetic_generation_config().dump(2) + "\n"},
          {"tokenizer.json", synthetic_tokenizer(synthetic_vocabulary)},
          {"tokenizer_config.json", synthetic_tokenizer_config().dump(2) + "\n"},
          {"chat_template.jinja", synthetic_chat_template()}};
}

std::unique_ptr<ReadableFile> SyntheticCheckpoint::open_shard(size_t at, const std::filesystem::path& folder) const {
  return std::make_unique<File>(shards_[at], folder / shards_[at]->name);
}

uint64_t SyntheticCheckpoint::header_bytes(size_t at) const { return shards_[at]->header.size(); }

uint64_t SyntheticCheckpoint::file_bytes() const {
  uint64_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard->bytes;
  return bytes;
}

Checkpoint open_synthetic(const SyntheticSpec& spec) {
  const SyntheticCheckpoint synthetic(spec);
  const std::filesystem::path folder = to_string(synthetic.spec());
  std::vector<std::unique_ptr<ReadableFile>> files;
  for (size_t at = 0; at < synthetic.shard_count(); ++at) files.push_back(synthetic.open_shard(at, folder));
  return Checkpoint::assemble(folder, synthetic.config(), read_weight_headers(std::move(files), folder));
}

}  // namespace lagoon
