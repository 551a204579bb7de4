// memory_room.h: how much of a machine's memory a plan may take, and which bound says so.
#pragma once

#include "machine/available_memory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// What a person set, by flags or in the config file.
struct MemoryWishes {
  std::optional<uint64_t> memory_limit;  // most bytes of the process
  std::string limit_name = "--memory-limit";
  std::optional<uint64_t> reserve;  // bytes to leave free under every bound; nullopt: usual_reserve() of what MemAvailable says
  std::optional<uint64_t> machine;  // plan for a machine with so much available memory instead of this one
  int threads = 1;                  // whose stacks count where address space is limited
};

/// One bound on a plan: total + reserve must be at most `bytes`.
struct MemoryBound {
  std::string name;  // "MemAvailable", "--memory-limit", "/sys/fs/cgroup/a/memory.max"
  uint64_t bytes = 0;
  uint64_t reserve = 0;

  uint64_t room() const { return bytes - (reserve < bytes ? reserve : bytes); }
};

/// What is left to the machine's other programs unless something else is said: a sixteenth of its memory, at most 1 GiB.
uint64_t usual_reserve(std::optional<uint64_t> total);

/// Every bound, the one that binds first; empty if nothing is known and nothing was set.
std::vector<MemoryBound> memory_bounds(const AvailableMemory& memory, const MemoryWishes& wishes);

}  // namespace lagoon
