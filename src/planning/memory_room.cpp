#include "planning/memory_room.h"

#include "machine/worker_pool.h"

#include <algorithm>

namespace lagoon {

namespace {

/// Mappings are whole pages, the heap grows in steps, and a large buffer takes a huge page more while it is made.
constexpr uint64_t address_slack = 16u << 20;

uint64_t room_under(const MemoryLimit& limit, int threads) {
  if (!limit.address_space) return limit.left;
  return limit.left - std::min(limit.left, static_cast<uint64_t>(threads) * thread_stack_bytes + address_slack);
}

}  // namespace

uint64_t usual_reserve(std::optional<uint64_t> total) {
  constexpr uint64_t most = uint64_t{1} << 30;
  return total ? std::min(most, *total / 16) : most;
}

std::vector<MemoryBound> memory_bounds(const AvailableMemory& memory, const MemoryWishes& wishes) {
  std::vector<MemoryBound> bounds;
  const uint64_t asked = wishes.reserve.value_or(0);
  if (wishes.memory_limit) bounds.push_back({wishes.limit_name, *wishes.memory_limit, asked});
  if (wishes.machine) {
    bounds.push_back({"--machine-memory", *wishes.machine, wishes.reserve.value_or(usual_reserve(wishes.machine))});
  } else {
    if (memory.available) bounds.push_back({"MemAvailable", *memory.available, wishes.reserve.value_or(usual_reserve(memory.total))});
    // A limit is this process's own: nobody else's memory is reserved under it unless that was asked for.
    for (const MemoryLimit& limit : memory.limits) bounds.push_back({limit.name, room_under(limit, wishes.threads), asked});
  }
  std::stable_sort(bounds.begin(), bounds.end(), [](const MemoryBound& a, const MemoryBound& b) { return a.room() < b.room(); });
  return bounds;
}

}  // namespace lagoon
