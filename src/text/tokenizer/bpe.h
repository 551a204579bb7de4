// bpe.h: byte pair encoding of one piece: its bytes become tokens, and neighbours are merged, the pair of lowest rank first and of
// equal ranks the leftmost, until no neighbours have a rank.
//
// A piece that is a token, and that the merges would make one anyway, is looked up whole: which tokens these are is worked out
// when the file is read. Short pieces are merged in an array, long ones in a linked list, driven by a queue (rank_queue.h):
// the time grows with the length and no faster.
// Source: openai/gpt-2, encoder.py, bpe; huggingface/tokenizers, models/bpe (unknown bytes, ignore_merges).
#pragma once

#include "text/tokenizer/piece_table.h"
#include "text/tokenizer/rank_queue.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon {

/// The `model` of a tokenizer.json, checked: ids are unique and in range, parts and results of merges are in the vocabulary.
struct BpeModel {
  struct Merge {
    int32_t left;
    int32_t right;
    int32_t result;
  };
  std::vector<std::pair<std::string, int32_t>> vocabulary;  // as bytes, byte-level alphabet undone; tokens outside of it are absent
  std::vector<Merge> merges;                                // by rank; of two with the same parts the later one counts
  int32_t unknown = -1;                                     // stands for bytes without a token; -1: such bytes vanish
  bool fuse_unknown = false;                                // neighbouring unknown bytes become one token
  bool ignore_merges = false;                               // a piece that is a token is that token, whatever the merges say
};

/// Buffers of one thread.
struct BpeScratch {
  struct Symbol {
    int32_t id;  // -1: merged into the one before
    int32_t previous;
    int32_t next;
  };
  std::vector<Symbol> symbols;
  RankQueue queue;  // empty between pieces
};

class BytePairEncoder {
 public:
  /// @param reserved  ids that encode() with `reserved_allowed` false never produces by a merge or a look-up (added tokens)
  BytePairEncoder(const BpeModel& model, std::span<const int32_t> reserved);

  /// Appends the ids of a piece to `out`. @pre the piece is shorter than 2 GiB
  void encode(std::string_view piece, bool reserved_allowed, BpeScratch& scratch, std::vector<int32_t>& out) const;

 private:
  struct Slot {
    uint64_t pair = ~uint64_t{0};  // left << 32 | right
    uint32_t rank = 0;
    int32_t result = -1;
  };
  static constexpr size_t short_piece = 32;  // bytes

  void insert_merges(const std::vector<BpeModel::Merge>& merges);
  const Slot* merge_of(int32_t left, int32_t right, bool reserved_allowed) const;
  bool is_reserved(int32_t id) const;
  void find_whole_tokens();
  size_t first_symbols(std::string_view piece, int32_t* ids) const;
  size_t merge_short(int32_t* ids, size_t count, bool reserved_allowed) const;
  void merge_long(std::vector<int32_t>& ids, size_t begin, bool reserved_allowed, BpeScratch& scratch) const;
  void merge_at(RankQueue::Item item, bool reserved_allowed, BpeScratch& scratch) const;
  void push_candidate(int32_t position, bool reserved_allowed, BpeScratch& scratch) const;

  std::array<int32_t, 256> id_of_byte_;
  PieceTable table_;               // the whole vocabulary
  std::vector<Slot> merge_slots_;  // open addressing, a power of two
  std::vector<bool> reserved_;     // by id
  bool merges_reach_reserved_ = false;
  int32_t unknown_;
  bool fuse_unknown_;
  bool ignore_merges_;
};

}  // namespace lagoon
