// available_memory.h: how many bytes this process may still take: what the kernel calls available, and what the memory
// limits of its control groups leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lagoon {

struct AvailableMemory {
  std::optional<uint64_t> total;        // MemTotal
  std::optional<uint64_t> available;    // MemAvailable
  std::optional<uint64_t> group_limit;  // tightest limit of the control groups, memory.max or memory.limit_in_bytes
  std::optional<uint64_t> group_left;   // least that is left under such a limit; page cache counts as free
  std::string group;                    // the folder of the group that leaves least

  /// The smaller of available and group_left; nullopt if neither is known.
  std::optional<uint64_t> usable() const;
  /// "MemAvailable" or the path of the group's limit: which of the two usable() is.
  std::string binding() const;
};

/// @param root  as in topology.h
AvailableMemory read_available_memory(const std::filesystem::path& root = "/");

/// Peak resident memory of this process in bytes, as the kernel counts it.
uint64_t peak_resident_bytes();

}  // namespace lagoon
