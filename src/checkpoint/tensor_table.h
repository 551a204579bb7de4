// tensor_table.h: the tensors of a checkpoint by what their names mean, each marked when it is used, and the faults found on
// the way, gathered so that one short sentence can name the first of them and the counts.
#pragma once

#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_names.h"

#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lagoon {

class FaultList {
 public:
  enum class Kind { doubled, contradictory, misshaped, missing, surplus };

  /// The same item counts once. Of a kind that is full nothing more is kept.
  void add(Kind kind, const std::string& item);

  /// Whether some kind has so many that whoever looks for more may stop.
  bool full() const;

  /// @throws Error if anything was added: corrupt, or unsupported if there is nothing but surplus
  void throw_if_any(const std::string& where) const;

 private:
  static constexpr size_t limit = 1000;  // of one kind
  struct Entry {
    std::vector<std::string> first;  // at most `shown`
    std::unordered_set<std::string> known;
  };
  static constexpr size_t shown = 2;
  static constexpr size_t item_room = 220;  // bytes of all items in the sentence
  /// "3 tensors are missing: `a`, ...", with as many names as there is room for.
  std::string told(Kind kind, size_t& room) const;

  std::array<Entry, 5> entries_;
};

class TensorTable {
 public:
  /// @param tensors  must outlive the table
  /// @throws Error(corrupt) if some names carry the prefix "language_model." and some do not
  TensorTable(const std::vector<TensorHeader>& tensors, const std::string& where, FaultList& faults);

  /// nullptr if no spelling of it is there. Marks nothing.
  const TensorHeader* find(const ModulePath& path, Part part) const;

  /// As find; the tensor counts as used.
  const TensorHeader* take(const ModulePath& path, Part part);

  /// Adds what was never taken and is not ignorable to the faults as surplus.
  /// @param all_looked_for  false: some tensors were not looked for, so only names that mean nothing are surplus
  void report_surplus(FaultList& faults, bool all_looked_for) const;

  /// Throws Error(unsupported) if there are tensors of layers from `layer_count` on.
  void refuse_layers_beyond(int layer_count, const std::string& where) const;

 private:
  const std::vector<TensorHeader>& tensors_;
  std::unordered_map<uint64_t, size_t> by_key_;
  std::vector<bool> used_;
};

}  // namespace lagoon
