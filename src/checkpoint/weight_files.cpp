#include "checkpoint/weight_files.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/impostor.h"
#include "checkpoint/safetensors_json.h"
#include "machine/file.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>

namespace lagoon {
namespace {

constexpr std::string_view single_name = "model.safetensors";
constexpr std::string_view index_name = "model.safetensors.index.json";
constexpr uint64_t index_limit = 256'000'000;

/// Names in the folder, sorted.
std::set<std::string> list_folder(const std::filesystem::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) names.insert(at->path().filename().string());
  if (error) fail(ErrorKind::io, "{}: the folder cannot be listed: {}", printable_path(folder), error.message());
  return names;
}

bool is_weight_file(const std::string& name) { return name.ends_with(".safetensors") && !name.starts_with("adapter_") && !name.starts_with("."); }

const std::string* first_ending(const std::set<std::string>& names, std::initializer_list<std::string_view> endings) {
  for (const std::string& name : names) {
    for (const std::string_view ending : endings) {
      if (name.ends_with(ending)) return &name;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse_without_safetensors(const std::filesystem::path& folder, const std::set<std::string>& names) {
  const std::string where = printable_path(folder);
  if (const std::string* gguf = first_ending(names, {".gguf"})) {
    fail(ErrorKind::unsupported, "{}: the weights are a GGUF file (`{}`), which Lagoon does not read; fetch a safetensors checkpoint", where,
         printable(*gguf));
  }
  if (const std::string* torch = first_ending(names, {".bin", ".bin.index.json", ".pt", ".pth"})) {
    fail(ErrorKind::unsupported, "{}: the weights are PyTorch files (`{}`), which Lagoon does not read; fetch a safetensors checkpoint", where,
         printable(*torch));
  }
  if (const std::string* numpy = first_ending(names, {".npz"})) {
    fail(ErrorKind::unsupported, "{}: the weights are a NumPy archive (`{}`), which Lagoon does not read; fetch a safetensors checkpoint", where,
         printable(*numpy));
  }
  if (names.contains(std::string(index_name))) {
    fail(ErrorKind::corrupt, "{}: `{}` is there, but none of the files that it names; the download is incomplete, fetch it again", where, index_name);
  }
  fail(ErrorKind::invalid, "{}: there are no weights here; give a folder with config.json and .safetensors files", where);
}

/// A name in an index must be that of a file in the folder itself.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos && name.find('\\') == std::string::npos &&
         name.find('\0') == std::string::npos && name.ends_with(".safetensors");
}

struct ShardNumber {
  int64_t at = 0;
  int64_t of = 0;
};

/// "model-00002-of-00013.safetensors" -> 2, 13.
std::optional<ShardNumber> shard_number(std::string_view name) {
  constexpr std::string_view front = "model-";
  constexpr std::string_view middle = "-of-";
  constexpr std::string_view back = ".safetensors";
  if (!name.starts_with(front) || !name.ends_with(back)) return std::nullopt;
  name = name.substr(front.size(), name.size() - front.size() - back.size());
  const size_t cut = name.find(middle);
  if (cut == std::string_view::npos) return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<int64_t> {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.size() != 5 || error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
    return value;
  };
  const auto at = number(name.substr(0, cut));
  const auto of = number(name.substr(cut + middle.size()));
  if (!at || !of) return std::nullopt;
  return ShardNumber{*at, *of};
}

[[noreturn]] void refuse_missing_files(const std::string& where, const std::vector<std::string>& missing, size_t of) {
  const size_t shown_count = std::min<size_t>(missing.size(), 4);
  std::vector<std::string> first;
  for (size_t i = 0; i < shown_count; ++i) first.push_back("`" + printable(missing[i]) + "`");
  fail(ErrorKind::corrupt, "{}: {} of {} files with weights {} missing: {}{}; the download is incomplete, fetch it again", where, missing.size(), of,
       missing.size() == 1 ? "is" : "are", fmt::join(first, ", "), missing.size() > shown_count ? ", ..." : "");
}

/// The shards of a folder without an index: all of model-00001-of-N to model-N-of-N and nothing else.
std::vector<std::string> numbered_shards(const std::filesystem::path& folder, const std::vector<std::string>& weights) {
  const std::string where = printable_path(folder);
  std::set<int64_t> found;
  int64_t of = 0;
  for (const std::string& name : weights) {
    const auto number = shard_number(name);
    if (!number || (of != 0 && number->of != of) || number->at < 1 || number->at > number->of) {
      fail(ErrorKind::corrupt,
           "{}: there are {} .safetensors files, no `{}`, and `{}` is none of one numbered series; fetch the index, or leave the files of one "
           "checkpoint only",
           where, weights.size(), index_name, printable(name));
    }
    of = number->of;
    found.insert(number->at);
  }
  std::vector<std::string> missing;
  for (int64_t at = 1; at <= of; ++at) {
    if (!found.contains(at)) missing.push_back(fmt::format("model-{:05}-of-{:05}.safetensors", at, of));
  }
  if (!missing.empty()) refuse_missing_files(where, missing, static_cast<size_t>(of));
  return weights;
}

using WeightMap = std::unordered_map<std::string, std::string>;

WeightMap read_index(const std::filesystem::path& path, const Files& files) {
  const std::string what = printable_path(path);
  const std::string text = read_text(files, path, index_limit);
  refuse_impostor(text, what, "an index");
  WeightMap map;
  for (auto& [tensor, file] : read_weight_map(text, what)) {
    if (!is_plain_file_name(file)) {
      fail(ErrorKind::corrupt, "{}: tensor `{}` is said to be in `{}`, which is no .safetensors file of this folder; fetch the index again", what,
           printable(tensor), printable(file));
    }
    map.emplace(std::move(tensor), std::move(file));
  }
  if (map.empty()) fail(ErrorKind::corrupt, "{}: `weight_map` names no tensor; fetch the index again", what);
  return map;
}

/// @param present  the names in the folder
std::vector<std::string> files_of(const WeightMap& map, const std::filesystem::path& folder, const std::set<std::string>& present) {
  std::set<std::string> names;
  for (const auto& [tensor, file] : map) names.insert(file);
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    std::error_code error;
    if (!present.contains(name) || !std::filesystem::exists(folder / name, error)) missing.push_back(name);
  }
  if (!missing.empty()) refuse_missing_files(printable_path(folder), missing, names.size());
  return {names.begin(), names.end()};
}

[[noreturn]] void refuse_two_checkpoints(const std::filesystem::path& folder, const std::string& shard, std::string_view named_by) {
  fail(ErrorKind::corrupt, "{}: `{}` is here, and so is {}`{}`, which belongs to another checkpoint; remove the files of the one that is not meant",
       printable_path(folder), single_name, named_by, printable(shard));
}

/// An index beside model.safetensors that does not speak of it.
void refuse_index_of_others(const WeightMap& map, const std::filesystem::path& folder) {
  const auto speaks_of_it = [](const auto& item) { return item.second == single_name; };
  if (std::none_of(map.begin(), map.end(), speaks_of_it)) refuse_two_checkpoints(folder, map.begin()->second, "an index that names ");
}

void check_against_index(const WeightFiles& opened, const WeightMap& map, const std::string& index) {
  size_t found = 0;
  for (const TensorHeader& tensor : opened.tensors) {
    const std::string name = opened.files[static_cast<size_t>(tensor.file)]->path().filename().string();
    const auto at = map.find(tensor.name);
    if (at == map.end()) {
      fail(ErrorKind::corrupt, "{}: tensor `{}` of `{}` is not in the index; fetch index and weights from the same revision", index,
           printable(tensor.name), printable(name));
    }
    if (at->second != name) {
      fail(ErrorKind::corrupt, "{}: tensor `{}` should be in `{}` and is in `{}`; fetch index and weights from the same revision", index,
           printable(tensor.name), printable(at->second), printable(name));
    }
    ++found;
  }
  const size_t missing = map.size() - found;
  if (missing == 0) return;
  std::set<std::string_view> present;
  for (const TensorHeader& tensor : opened.tensors) present.insert(tensor.name);
  const auto absent = std::find_if(map.begin(), map.end(), [&](const auto& item) { return !present.contains(item.first); });
  fail(ErrorKind::corrupt, "{}: {} of the index {} in no file, such as `{}`, which should be in `{}`; fetch index and weights from the same revision",
       index, missing == 1 ? "one tensor" : format_count(missing) + " tensors", missing == 1 ? "is" : "are", printable(absent->first),
       printable(absent->second));
}

WeightFiles open_files(const std::filesystem::path& folder, const std::vector<std::string>& names, const Files& files) {
  std::vector<std::unique_ptr<ReadableFile>> opened;
  for (const std::string& name : names) opened.push_back(files.open(folder / name));
  return read_weight_headers(std::move(opened), folder);
}

}  // namespace

WeightFiles read_weight_headers(std::vector<std::unique_ptr<ReadableFile>> files, const std::filesystem::path& folder) {
  WeightFiles read;
  for (const auto& file : files) {
    SafetensorsHeader header = read_safetensors_header(*file);
    for (TensorHeader& tensor : header.tensors) {
      tensor.file = static_cast<int>(&file - files.data());
      read.tensors.push_back(std::move(tensor));
    }
  }
  read.files = std::move(files);
  if (read.files.size() == 1) return read;
  std::unordered_map<std::string_view, int> owners;
  owners.reserve(read.tensors.size());
  for (const TensorHeader& tensor : read.tensors) {
    const auto [at, added] = owners.emplace(tensor.name, tensor.file);
    if (added) continue;
    const auto name_of_file = [&](int file) { return printable(read.files[static_cast<size_t>(file)]->path().filename().string()); };
    fail(ErrorKind::corrupt, "{}: tensor `{}` is in `{}` and in `{}`; leave the files of one checkpoint only", printable_path(folder),
         printable(tensor.name), name_of_file(at->second), name_of_file(tensor.file));
  }
  return read;
}

void check_folder(const std::filesystem::path& folder) {
  const std::set<std::string> names = list_folder(folder);
  const std::string where = printable_path(folder);
  for (const std::string& name : names) {
    if (name != "adapter_config.json" && !name.starts_with("adapter_model.")) continue;
    fail(ErrorKind::unsupported, "{}: `{}` means a LoRA adapter, which Lagoon does not apply; merge it into its base model and give that", where,
         name);
  }
  if (std::none_of(names.begin(), names.end(), is_weight_file)) refuse_without_safetensors(folder, names);
  if (!names.contains("config.json")) {
    fail(ErrorKind::invalid, "{}: config.json is missing, which says the sizes of the model; fetch the whole checkpoint", where);
  }
}

WeightFiles open_weight_files(const std::filesystem::path& folder, const Files& files) {
  const std::set<std::string> names = list_folder(folder);
  std::vector<std::string> weights;
  std::copy_if(names.begin(), names.end(), std::back_inserter(weights), is_weight_file);
  const std::filesystem::path index = folder / index_name;
  const bool has_index = names.contains(std::string(index_name));
  const bool has_single = names.contains(std::string(single_name));
  if (has_index) {
    const WeightMap map = read_index(index, files);
    if (has_single) refuse_index_of_others(map, folder);
    WeightFiles opened = open_files(folder, files_of(map, folder, names), files);
    check_against_index(opened, map, printable_path(index));
    return opened;
  }
  if (has_single) {
    const auto shard = std::find_if(weights.begin(), weights.end(), [](const std::string& name) { return shard_number(name).has_value(); });
    if (shard != weights.end()) refuse_two_checkpoints(folder, *shard, "");
    return open_files(folder, {std::string(single_name)}, files);
  }
  if (weights.size() == 1 && !shard_number(weights.front())) return open_files(folder, weights, files);
  return open_files(folder, numbered_shards(folder, weights), files);
}

}  // namespace lagoon
