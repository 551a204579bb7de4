#include "machine/available_memory.h"

#include "machine/topology.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace lagoon {
namespace {

std::optional<uint64_t> to_bytes(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// The number that follows `key` in a file of lines "key number ...".
std::optional<uint64_t> value_of(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    std::string value;
    words >> name >> value;
    if (name == key) return to_bytes(value);
  }
  return std::nullopt;
}

std::optional<uint64_t> meminfo(const std::filesystem::path& root, const std::string& key) {
  const std::optional<uint64_t> kib = value_of(root / "proc/meminfo", key + ":");
  if (!kib || *kib > UINT64_MAX / 1024) return std::nullopt;
  return *kib * 1024;
}

struct Group {
  uint64_t limit;
  uint64_t left;
};

std::optional<Group> read_group(const std::filesystem::path& folder, int version) {
  const bool second = version == 2;
  const std::optional<uint64_t> limit = to_bytes(read_kernel_line(folder / (second ? "memory.max" : "memory.limit_in_bytes")));
  const std::optional<uint64_t> used = to_bytes(read_kernel_line(folder / (second ? "memory.current" : "memory.usage_in_bytes")));
  // Version 1 writes "no limit" as the largest multiple of a page; version 2 as "max", which is no number.
  if (!limit || *limit >= 1ull << 62) return std::nullopt;
  // The kernel drops these pages before it refuses.
  const std::string prefix = second ? "" : "total_";
  const uint64_t cache =
      value_of(folder / "memory.stat", prefix + "inactive_file").value_or(0) + value_of(folder / "memory.stat", prefix + "active_file").value_or(0);
  const uint64_t held = used.value_or(0) - std::min(used.value_or(0), cache);
  return Group{*limit, *limit - std::min(*limit, held)};
}

}  // namespace

std::optional<uint64_t> AvailableMemory::usable() const {
  if (available && group_left) return std::min(*available, *group_left);
  return available ? available : group_left;
}

std::string AvailableMemory::binding() const {
  if (group_left && (!available || *group_left < *available)) return "limit of " + group;
  return "MemAvailable";
}

AvailableMemory read_available_memory(const std::filesystem::path& root) {
  AvailableMemory memory;
  memory.total = meminfo(root, "MemTotal");
  memory.available = meminfo(root, "MemAvailable");
  const ControlGroups groups = control_groups("memory", root);
  for (const auto& folder : groups.folders) {
    const std::optional<Group> group = read_group(folder, groups.version);
    if (!group) continue;
    memory.group_limit = std::min(memory.group_limit.value_or(UINT64_MAX), group->limit);
    if (!memory.group_left || group->left < *memory.group_left) {
      memory.group_left = group->left;
      memory.group = folder.string();
    }
  }
  return memory;
}

uint64_t peak_resident_bytes() {
  // What getrusage() counts begins with the peak of the process that started this one.
  if (const std::optional<uint64_t> kib = value_of("/proc/self/status", "VmHWM:")) return *kib * 1024;
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace lagoon
