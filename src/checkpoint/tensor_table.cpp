#include "checkpoint/tensor_table.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <fmt/ranges.h>

#include <algorithm>

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
     "use a checkpoint without them, Lagoon passes over no weights"},
}};

}  // namespace

void FaultList::add(Kind kind, const std::string& item) {
  Entry& entry = entries_[static_cast<size_t>(kind)];
  if (entry.known.size() == limit || !entry.known.insert(item).second) return;
  if (entry.first.size() < shown) entry.first.push_back(printable(item, item_room - 8));
}

bool FaultList::full() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.known.size() == limit; });
}

std::string FaultList::told(Kind kind, size_t& room) const {
  const Entry& entry = entries_[static_cast<size_t>(kind)];
  const Wording& wording = wordings[static_cast<size_t>(kind)];
  const size_t count = entry.known.size();
  std::string sentence =
      count == 1 ? std::string(wording.one) : fmt::format(fmt::runtime(wording.many), format_count(count) + (count == limit ? " or more" : ""));
  size_t named = 0;
  for (const std::string& item : entry.first) {
    if (item.size() > room) break;
    room -= item.size();
    sentence += (named++ == 0 ? ": " : ", ") + item;
  }
  return named == 0 || named == count ? sentence : sentence + ", ...";
}

void FaultList::throw_if_any(const std::string& where) const {
  std::vector<Kind> kinds;
  for (const Kind kind : {Kind::doubled, Kind::contradictory, Kind::misshaped, Kind::missing, Kind::surplus}) {
    if (!entries_[static_cast<size_t>(kind)].known.empty()) kinds.push_back(kind);
  }
  if (kinds.empty()) return;
  size_t room = item_room;
  std::string sentence = told(kinds[0], room);
  if (kinds.size() > 1) sentence += "; also, " + told(kinds[1], room);
  size_t others = 0;
  for (size_t at = 2; at < kinds.size(); ++at) others += entries_[static_cast<size_t>(kinds[at])].known.size();
  if (others > 0) sentence += fmt::format("; and {} {}", format_count(others), others == 1 ? "other fault" : "other faults");
  throw Error(kinds[0] == Kind::surplus ? ErrorKind::unsupported : ErrorKind::corrupt,
              fmt::format("{}: {}; {}", where, sentence, wordings[static_cast<size_t>(kinds[0])].advice));
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

void TensorTable::report_surplus(FaultList& faults, bool all_looked_for) const {
  for (size_t at = 0; at < tensors_.size(); ++at) {
    const std::string& name = tensors_[at].name;
    if (used_[at] || is_ignorable(name) || (!all_looked_for && parse_tensor_name(name))) continue;
    faults.add(FaultList::Kind::surplus, fmt::format("`{}`", printable(name)));
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
