// line_history.h: what was sent before, and the file that keeps it. The file holds one entry a line, newlines as \n and backslashes as \\; it
// is the user's alone (mode 0600), bounded, and replaced as a whole, so that a reader never sees half of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon {

class LineHistory {
 public:
  static constexpr size_t most_entries = 1000;
  static constexpr size_t most_entry_bytes = size_t{16} << 10;  // longer ones are remembered, but not kept in the file
  static constexpr size_t most_file_bytes = size_t{1} << 20;

  /// @param file  empty: nothing is kept
  explicit LineHistory(std::filesystem::path file) : file_(std::move(file)) {}

  /// Reads the file; none is an empty history. @throws Error(io), Error(invalid) where something else stands there
  void load();

  /// Remembers an entry, unless it is the last one again or blank.
  void add(const std::string& entry);

  /// Puts what this session added behind what the file holds by now, which another session may have written.
  /// @throws Error(io), Error(invalid); nothing is lost then
  void save();

  const std::vector<std::string>& entries() const { return entries_; }  // oldest first

  /// The newest entry before `end` that holds `part`, byte for byte.
  std::optional<size_t> find_before(size_t end, std::string_view part) const;
  /// The oldest one at or after `begin`.
  std::optional<size_t> find_from(size_t begin, std::string_view part) const;

 private:
  std::vector<std::string> read_file() const;

  std::filesystem::path file_;
  std::vector<std::string> entries_;
  std::vector<std::string> unsaved_;
};

}  // namespace lagoon
