#include "text/tokenizer/bpe.h"

#include <algorithm>
#include <bit>

namespace lagoon {
namespace {

uint64_t pair_of(int32_t left, int32_t right) { return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right); }

size_t hash_of(uint64_t pair) {
  pair *= 0x9e3779b97f4a7c15u;
  return pair ^ (pair >> 32);
}

constexpr uint32_t no_rank = ~uint32_t{0};

}  // namespace

BytePairEncoder::BytePairEncoder(const BpeModel& model, std::span<const int32_t> reserved)
    : unknown_(model.unknown), fuse_unknown_(model.fuse_unknown), ignore_merges_(model.ignore_merges) {
  id_of_byte_.fill(-1);
  size_t bytes = 0;
  for (const auto& [token, id] : model.vocabulary) bytes += token.size();
  table_.reserve(model.vocabulary.size(), bytes);
  for (const auto& [token, id] : model.vocabulary) {
    if (token.size() == 1) id_of_byte_[static_cast<unsigned char>(token[0])] = id;
    if (!token.empty()) table_.insert(token, id);
  }
  for (const int32_t id : reserved) {
    if (static_cast<size_t>(id) >= reserved_.size()) reserved_.resize(static_cast<size_t>(id) + 1);
    reserved_[static_cast<size_t>(id)] = true;
  }
  insert_merges(model.merges);
  find_whole_tokens();
}

void BytePairEncoder::insert_merges(const std::vector<BpeModel::Merge>& merges) {
  merge_slots_.assign(std::bit_ceil(merges.size() * 2 + 2), Slot{});
  const size_t mask = merge_slots_.size() - 1;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const BpeModel::Merge& merge = merges[rank];
    const uint64_t pair = pair_of(merge.left, merge.right);
    size_t slot = hash_of(pair) & mask;
    while (merge_slots_[slot].result >= 0 && merge_slots_[slot].pair != pair) slot = (slot + 1) & mask;
    merge_slots_[slot] = {pair, static_cast<uint32_t>(rank), merge.result};
    if (is_reserved(merge.result)) merges_reach_reserved_ = true;
  }
}

bool BytePairEncoder::is_reserved(int32_t id) const { return static_cast<size_t>(id) < reserved_.size() && reserved_[static_cast<size_t>(id)]; }

const BytePairEncoder::Slot* BytePairEncoder::merge_of(int32_t left, int32_t right, bool reserved_allowed) const {
  const size_t mask = merge_slots_.size() - 1;
  const uint64_t pair = pair_of(left, right);
  for (size_t slot = hash_of(pair) & mask;; slot = (slot + 1) & mask) {
    const Slot& found = merge_slots_[slot];
    if (found.pair == pair) return reserved_allowed || !is_reserved(found.result) ? &found : nullptr;
    if (found.result < 0) return nullptr;
  }
}

void BytePairEncoder::find_whole_tokens() {
  BpeScratch scratch;
  std::vector<int32_t> ids;
  for (PieceTable::Entry& entry : table_.entries()) {
    if (entry.id < 0) continue;
    const std::string_view bytes = table_.bytes_of(entry);
    ids.resize(bytes.size());
    ids.resize(first_symbols(bytes, ids.data()));
    merge_long(ids, 0, true, scratch);
    entry.whole = ids.size() == 1 && ids[0] == entry.id;
  }
}

/// One id for each byte that has one, `unknown` for the others; at most piece.size() ids.
size_t BytePairEncoder::first_symbols(std::string_view piece, int32_t* ids) const {
  size_t count = 0;
  bool fusing = false;  // the byte before was unknown
  for (const char character : piece) {
    const int32_t id = id_of_byte_[static_cast<unsigned char>(character)];
    if (id >= 0) {
      ids[count++] = id;
    } else if (unknown_ >= 0 && !fusing) {
      ids[count++] = unknown_;
    }
    fusing = id < 0 && fuse_unknown_;
  }
  return count;
}

size_t BytePairEncoder::merge_short(int32_t* ids, size_t count, bool reserved_allowed) const {
  std::array<uint32_t, short_piece> ranks{};   // of the pair that begins at each symbol
  std::array<int32_t, short_piece> results{};  // of the same merges
  const auto look_up = [&](size_t at) {
    const Slot* merge = merge_of(ids[at], ids[at + 1], reserved_allowed);
    ranks[at] = merge ? merge->rank : no_rank;
    results[at] = merge ? merge->result : -1;
  };
  for (size_t at = 0; at + 1 < count; ++at) look_up(at);
  while (count > 1) {
    size_t best = 0;
    for (size_t at = 1; at + 1 < count; ++at) {
      if (ranks[at] < ranks[best]) best = at;
    }
    if (ranks[best] == no_rank) break;
    ids[best] = results[best];
    for (size_t at = best + 1; at + 1 < count; ++at) {
      ids[at] = ids[at + 1];
      ranks[at] = ranks[at + 1];
      results[at] = results[at + 1];
    }
    --count;
    if (best > 0) look_up(best - 1);
    if (best + 1 < count) look_up(best);
  }
  return count;
}

void BytePairEncoder::push_candidate(int32_t position, bool reserved_allowed, BpeScratch& scratch) const {
  const BpeScratch::Symbol& symbol = scratch.symbols[static_cast<size_t>(position)];
  if (symbol.next < 0) return;
  const Slot* merge = merge_of(symbol.id, scratch.symbols[static_cast<size_t>(symbol.next)].id, reserved_allowed);
  if (merge) scratch.queue.push({merge->rank, static_cast<uint32_t>(position)});
}

/// Merges the pair that begins at the position, unless it has changed since it was queued.
void BytePairEncoder::merge_at(RankQueue::Item item, bool reserved_allowed, BpeScratch& scratch) const {
  BpeScratch::Symbol& symbol = scratch.symbols[item.position];
  if (symbol.id < 0 || symbol.next < 0) return;
  BpeScratch::Symbol& right = scratch.symbols[static_cast<size_t>(symbol.next)];
  const Slot* merge = merge_of(symbol.id, right.id, reserved_allowed);
  if (!merge || merge->rank != item.rank) return;
  symbol.id = merge->result;
  symbol.next = right.next;
  right.id = -1;
  if (symbol.next >= 0) scratch.symbols[static_cast<size_t>(symbol.next)].previous = static_cast<int32_t>(item.position);
  if (symbol.previous >= 0) push_candidate(symbol.previous, reserved_allowed, scratch);
  push_candidate(static_cast<int32_t>(item.position), reserved_allowed, scratch);
}

/// Merges the symbols from `begin` to the end of `ids`.
void BytePairEncoder::merge_long(std::vector<int32_t>& ids, size_t begin, bool reserved_allowed, BpeScratch& scratch) const {
  const size_t count = ids.size() - begin;
  scratch.symbols.resize(count);
  for (size_t at = 0; at < count; ++at) {
    scratch.symbols[at] = {ids[begin + at], static_cast<int32_t>(at) - 1, at + 1 < count ? static_cast<int32_t>(at) + 1 : -1};
  }
  for (size_t at = 0; at + 1 < count; ++at) push_candidate(static_cast<int32_t>(at), reserved_allowed, scratch);
  while (!scratch.queue.empty()) merge_at(scratch.queue.pop(), reserved_allowed, scratch);
  ids.resize(begin);
  for (const BpeScratch::Symbol& symbol : scratch.symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
}

void BytePairEncoder::encode(std::string_view piece, bool reserved_allowed, BpeScratch& scratch, std::vector<int32_t>& out) const {
  if (piece.size() == 1 && id_of_byte_[static_cast<unsigned char>(piece[0])] >= 0) {
    out.push_back(id_of_byte_[static_cast<unsigned char>(piece[0])]);
    return;
  }
  if (const PieceTable::Entry* entry = table_.find(piece)) {
    const bool whole = ignore_merges_ || (entry->whole && (reserved_allowed || !merges_reach_reserved_));
    if (whole && (reserved_allowed || !is_reserved(entry->id))) {
      out.push_back(entry->id);
      return;
    }
  }
  if (piece.size() <= short_piece) {
    std::array<int32_t, short_piece> ids{};
    size_t count = first_symbols(piece, ids.data());
    count = merge_short(ids.data(), count, reserved_allowed);
    out.insert(out.end(), ids.data(), ids.data() + count);
    return;
  }
  const size_t begin = out.size();
  out.resize(begin + piece.size());
  out.resize(begin + first_symbols(piece, out.data() + begin));
  merge_long(out, begin, reserved_allowed, scratch);
}

}  // namespace lagoon
