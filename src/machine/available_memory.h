// available_memory.h: how many bytes this process may still take, and who says so: what the kernel calls available, the memory limits
// of its control groups along the whole path, and its own resource limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// One bound on this process beside the machine's memory.
struct MemoryLimit {
  std::string name;            // "/sys/fs/cgroup/a/memory.max", "RLIMIT_AS (ulimit -v)"
  uint64_t limit = 0;          // bytes
  uint64_t left = 0;           // bytes that may still be taken under it; of a control group page cache counts as free
  bool address_space = false;  // what is asked for counts, touched or not: stacks of threads count whole
};

struct AvailableMemory {
  std::optional<uint64_t> total;      // MemTotal
  std::optional<uint64_t> available;  // MemAvailable
  std::vector<MemoryLimit> limits;    // innermost control group first, then resource limits; only those that are set
  std::string container;              // "docker", "kubernetes", "podman", "lxc", ...; empty: none was recognised

  /// The limit that leaves least; nullptr if there is none.
  const MemoryLimit* tightest() const;
  /// The least of `available` and of what the limits leave; nullopt if nothing is known.
  std::optional<uint64_t> usable() const;
  /// "MemAvailable" or the name of the limit that usable() is.
  std::string binding() const;
};

/// @param root  as in topology.h. Resource limits are those of this process, whatever the root.
AvailableMemory read_available_memory(const std::filesystem::path& root = "/");

/// Peak resident memory of this process in bytes, as the kernel counts it.
uint64_t peak_resident_bytes();

}  // namespace lagoon
