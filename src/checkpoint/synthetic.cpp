#include "checkpoint/synthetic.h"

#include "base/error.h"
#include "checkpoint/synthetic_layout.h"
#include "checkpoint/synthetic_shapes.h"
#include "checkpoint/synthetic_texts.h"
#include "checkpoint/weight_files.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lagoon {
namespace {

constexpr uint64_t largest_shard = 5'000'000'000;  // bytes, header included
constexpr uint64_t entry_bytes = 160;              // of a header for one tensor, beside its name; no entry is longer
constexpr std::string_view index_name = "model.safetensors.index.json";

/// A spec need not come from parse_synthetic_spec().
SyntheticSpec checked(const SyntheticSpec& spec) { return parse_synthetic_spec(to_string(spec)); }

Json json_of(const AffineFormat& format) { return {{"group_size", format.group}, {"bits", format.bits}, {"mode", "affine"}}; }

/// Says in config.json how the layout is quantized, whatever was said before.
void add_quantization(const SyntheticLayout& layout, const FormatMap& formats, Json& config) {
  for (Json* object : {&config, config.contains("text_config") ? &config["text_config"] : &config}) {
    object->erase("quantization");
    object->erase("quantization_config");
  }
  if (!formats.everywhere()) return;
  Json block = json_of(*formats.everywhere());
  for (const FormatEntry& entry : layout.entries) block[entry.module] = json_of(entry.format);
  config["quantization"] = block;
  config["quantization_config"] = std::move(block);
}

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
      fail(ErrorKind::corrupt, "{}: bytes {} to {} were asked for, the file has {}", printable_path(path_), offset, offset + destination.size(),
           size());
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

SyntheticCheckpoint::SyntheticCheckpoint(const SyntheticSpec& spec)
    : SyntheticCheckpoint(config_of(*find_shape(checked(spec).model), checked(spec).layers), synthetic_formats(checked(spec)), spec.seed) {}

SyntheticCheckpoint::SyntheticCheckpoint(Json config, FormatMap formats, uint64_t seed, const std::string& what)
    : config_(std::move(config)), formats_(std::move(formats)) {
  const SyntheticLayout layout = layout_synthetic(read_model_config(config_, what), formats_, seed);
  parameters_ = layout.parameters;
  add_quantization(layout, formats_, config_);
  const std::vector<size_t> ends = shard_ends(layout.tensors);
  for (size_t at = 0, first = 0; at < ends.size(); first = ends[at++]) {
    auto shard = std::make_shared<Shard>();
    shard->name = fmt::format("model-{:05}-of-{:05}.safetensors", at + 1, ends.size());
    std::vector<TensorDeclaration> declarations;
    for (size_t tensor = first; tensor < ends[at]; ++tensor) declarations.push_back(layout.tensors[tensor].declaration);
    shard->header = safetensors_header(declarations, {{"format", formats_.everywhere() ? "mlx" : "pt"}});
    shard->bytes = shard->header.size();
    for (size_t tensor = first; tensor < ends[at]; ++tensor) {
      shard->bytes += bytes_of(layout.tensors[tensor].declaration);
      shard->tensors.push_back({layout.tensors[tensor].declaration.name, layout.tensors[tensor].values, shard->bytes});
    }
    shards_.push_back(std::move(shard));
  }
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

namespace {

Checkpoint open(const SyntheticCheckpoint& synthetic, const std::filesystem::path& folder) {
  std::vector<std::unique_ptr<ReadableFile>> files;
  for (size_t at = 0; at < synthetic.shard_count(); ++at) files.push_back(synthetic.open_shard(at, folder));
  return Checkpoint::assemble(folder, synthetic.config(), read_weight_headers(std::move(files), folder));
}

}  // namespace

Checkpoint open_synthetic(const SyntheticSpec& spec) { return open(SyntheticCheckpoint(spec), to_string(spec)); }

Checkpoint open_described(const std::filesystem::path& folder, const Json& config, const FormatMap& formats) {
  return open(SyntheticCheckpoint(config, formats, 0, printable_path(folder)), folder);
}

}  // namespace lagoon
