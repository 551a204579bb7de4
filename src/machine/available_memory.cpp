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

/// Bytes that a control group holds and cannot drop: the kernel drops page cache before it refuses.
uint64_t held_by(const std::filesystem::path& folder, bool second) {
  const uint64_t used = to_bytes(read_kernel_line(folder / (second ? "memory.current" : "memory.usage_in_bytes"))).value_or(0);
  const std::string prefix = second ? "" : "total_";
  const uint64_t cache =
      value_of(folder / "memory.stat", prefix + "inactive_file").value_or(0) + value_of(folder / "memory.stat", prefix + "active_file").value_or(0);
  return used - std::min(used, cache);
}

/// The limits of one control group. Beyond memory.high the kernel makes the group wait for its own memory to be freed, which a model never
/// is. In a container of version 1 the groups above cannot be seen; hierarchical_memory_limit is the tightest of them.
void add_group(const std::filesystem::path& folder, int version, std::vector<MemoryLimit>& limits) {
  const bool second = version == 2;
  const auto add = [&](const std::string& file, std::optional<uint64_t> limit) {
    // Version 1 writes "no limit" as the largest multiple of a page; version 2 as "max", which is no number.
    if (!limit || *limit >= 1ull << 62) return;
    limits.push_back({(folder / file).string(), *limit, *limit - std::min(*limit, held_by(folder, second))});
  };
  if (second) {
    for (const char* file : {"memory.max", "memory.high"}) add(file, to_bytes(read_kernel_line(folder / file)));
    return;
  }
  const auto own = to_bytes(read_kernel_line(folder / "memory.limit_in_bytes"));
  const auto above = value_of(folder / "memory.stat", "hierarchical_memory_limit");
  add("memory.limit_in_bytes", own);
  if (above && (!own || *above < *own)) add("memory.stat (hierarchical_memory_limit)", above);
}

/// @param key  the line of /proc/self/status that counts against the limit
void add_resource_limit(int resource, const char* name, const std::string& key, std::vector<MemoryLimit>& limits) {
  struct rlimit limit = {};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const uint64_t taken = value_of("/proc/self/status", key).value_or(0) * 1024;
  limits.push_back({name, limit.rlim_cur, limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, taken), true});
}

/// The runtime that this process is in, by the marks that each leaves.
std::string container_of(const std::filesystem::path& root) {
  std::error_code ignored;
  if (std::filesystem::exists(root / ".dockerenv", ignored)) return "docker";
  if (std::filesystem::exists(root / "run/.containerenv", ignored)) return "podman";
  if (const std::string manager = read_kernel_line(root / "run/systemd/container"); !manager.empty()) return manager.substr(0, 40);
  std::ifstream list(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(list, line)) {
    for (const auto& [mark, name] : {std::pair("kubepods", "kubernetes"), std::pair("docker", "docker"), std::pair("libpod", "podman"),
                                     std::pair("containerd", "containerd"), std::pair("lxc", "lxc")}) {
      if (line.find(mark) != std::string::npos) return name;
    }
  }
  return "";
}

}  // namespace

const MemoryLimit* AvailableMemory::tightest() const {
  const auto least = std::min_element(limits.begin(), limits.end(), [](const MemoryLimit& a, const MemoryLimit& b) { return a.left < b.left; });
  return least == limits.end() ? nullptr : &*least;
}

std::optional<uint64_t> AvailableMemory::usable() const {
  const MemoryLimit* limit = tightest();
  if (available && limit != nullptr) return std::min(*available, limit->left);
  return limit != nullptr ? limit->left : available;
}

std::string AvailableMemory::binding() const {
  const MemoryLimit* limit = tightest();
  return limit != nullptr && (!available || limit->left < *available) ? limit->name : "MemAvailable";
}

AvailableMemory read_available_memory(const std::filesystem::path& root) {
  AvailableMemory memory;
  memory.total = meminfo(root, "MemTotal");
  memory.available = meminfo(root, "MemAvailable");
  const ControlGroups groups = control_groups("memory", root);
  for (const auto& folder : groups.folders) add_group(folder, groups.version, memory.limits);
  add_resource_limit(RLIMIT_AS, "RLIMIT_AS (ulimit -v)", "VmSize:", memory.limits);
  add_resource_limit(RLIMIT_DATA, "RLIMIT_DATA (ulimit -d)", "VmData:", memory.limits);
  memory.container = container_of(root);
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
