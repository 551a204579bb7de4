#include "checkpoint/tensor_table.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <fmt/ranges.h>

namespace lagoon {
namespace {

uint64_t key_of(const ModulePath& path, Part part) { return path.key() | static_cast<uint64_t>(part) << 56; }

struct Wording {
  std::string_view one;
  std::string_view many;
  std::string_view advice;
};

constexpr std::array<Wording, 5> wordings{{
    {"one tensor is present under two spellings", "{} tensors are present under two spellings", "keep one of each"},
    {"one tensor is stored otherwise than config.json says", "{} tensors are stored otherwise than config.json says",
     "the two must agree; fetch both from the same revision"},
    {"one tensor has another shape than config.json implies", "{} tensors have another shape than config.json implies",
     "fetch config.json and weights from the same revision"},
    {"one tensor is missing", "{} tensors are missing", "fetch the whole checkpoint again"},
    {"one tensor belongs to no part of the model that config.json describes", "{} tensors belong to no part of the model that config.json describes",
     "Lagoon does not pass over weights that it cannot place; use a checkpoint without them"},
}};

}  // namespace

void FaultList::add(Kind kind, const std::string& item) {
  const auto at = static_cast<size_t>(kind);
  if (!known_[at].insert(item).second) return;
  ++entries_[at].count;
  if (entries_[at].first.size() < shown) entries_[at].first.push_back(item);
}

void FaultList::throw_if_any(const std::string& where) const {
  std::string sentence = where;
  bool only_surplus = true;
  size_t kinds = 0;
  for (size_t at = 0; at < entries_.size(); ++at) {
    const Entry& entry = entries_[at];
    if (entry.count == 0) continue;
    only_surplus = only_surplus && at == static_cast<size_t>(Kind::surplus);
    const std::string count =
        entry.count == 1 ? std::string(wordings[at].one) : fmt::format(fmt::runtime(wordings[at].many), format_count(entry.count));
    sentence += fmt::format("{}{}: {}{}; {}", kinds++ == 0 ? ": " : ". Also, ", count, fmt::join(entry.first, ", "),
                            entry.count > shown ? ", ..." : "", wordings[at].advice);
  }
  if (kinds > 0) throw Error(only_surplus ? ErrorKind::unsupported : ErrorKind::corrupt, sentence);
}

TensorTable::TensorTable(const std::vector<TensorHeader>& tensors, const std::string& where, FaultList& faults)
    : tensors_(tensors), used_(tensors.size(), false) {
  by_key_.reserve(tensors.size());
  const TensorHeader* bare = nullptr;
  const TensorHeader* prefixed = nullptr;
  for (size_t at = 0; at < tensors.size(); ++at) {
    const TensorHeader& tensor = tensors[at];
    const auto name = parse_tensor_name(tensor.name);
    if (!name) continue;
    if (name->prefix == Prefix::language_model) prefixed = &tensor;
    // transformers keeps lm_head outside of "model.language_model."
    if (name->prefix == Prefix::none && name->path.module != Module::head) bare = &tensor;
    const auto [found, added] = by_key_.emplace(key_of(name->path, name->part), at);
    if (added) continue;
    faults.add(FaultList::Kind::doubled, fmt::format("`{}` and `{}`", printable(tensors[found->second].name), printable(tensor.name)));
    used_[at] = true;  // told already
  }
  if (bare == nullptr || prefixed == nullptr) return;
  faults.throw_if_any(where);
  fail(
      ErrorKind::corrupt,
      "{}: `{}` has the prefix `language_model.` and `{}` has not; all tensors of one checkpoint are spelled one way, fetch it whole from one source",
      where, printable(prefixed->name), printable(bare->name));
}

const TensorHeader* TensorTable::find(const ModulePath& path, Part part) const {
  const auto at = by_key_.find(key_of(path, part));
  return at == by_key_.end() ? nullptr : &tensors_[at->second];
}

const TensorHeader* TensorTable::take(const ModulePath& path, Part part) {
  const auto at = by_key_.find(key_of(path, part));
  if (at == by_key_.end()) return nullptr;
  used_[at->second] = true;
  return &tensors_[at->second];
}

void TensorTable::report_surplus(FaultList& faults) const {
  for (size_t at = 0; at < tensors_.size(); ++at) {
    if (!used_[at] && !is_ignorable(tensors_[at].name)) faults.add(FaultList::Kind::surplus, fmt::format("`{}`", printable(tensors_[at].name)));
  }
}

void TensorTable::refuse_layers_beyond(int layer_count, const std::string& where) const {
  for (const TensorHeader& tensor : tensors_) {
    const auto layer = layer_of(tensor.name);
    if (!layer || *layer < layer_count) continue;
    fail(ErrorKind::unsupported,
         "{}: `{}` belongs to layer {}, but config.json counts {} layers, 0 to {}; layers beyond are multi-token prediction, which Lagoon does not "
         "run, or "
         "another model",
         where, printable(tensor.name), *layer, layer_count, layer_count - 1);
  }
}

}  // namespace lagoon
