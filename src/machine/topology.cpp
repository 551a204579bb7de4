#include "machine/topology.h"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace lagoon {
namespace {

std::optional<int64_t> to_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// quota / period of one group as whole cores; nullopt if it has no quota.
std::optional<int> cores_of_group(const std::filesystem::path& folder, int version) {
  std::optional<int64_t> quota;
  std::optional<int64_t> period;
  if (version == 2) {
    std::istringstream line(read_kernel_line(folder / "cpu.max"));  // "150000 100000" or "max 100000"
    std::string first;
    std::string second;
    line >> first >> second;
    quota = to_integer(first);
    period = to_integer(second);
  } else {
    quota = to_integer(read_kernel_line(folder / "cpu.cfs_quota_us"));  // -1: none
    period = to_integer(read_kernel_line(folder / "cpu.cfs_period_us"));
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  // Rounded down: a thread beyond the quota would make all of them wait at every barrier.
  return static_cast<int>(std::clamp<int64_t>(*quota / *period, 1, 1 << 20));
}

/// "memory" among "cpu,cpuacct"?
bool names_controller(const std::string& list, const std::string& controller) {
  std::istringstream names(list);
  std::string name;
  while (std::getline(names, name, ',')) {
    if (name == controller) return true;
  }
  return false;
}

/// `mount`/`path` and every folder above it down to `mount`, as far as they exist. In a container the path can name a
/// place outside the mount; then the mount alone is left.
std::vector<std::filesystem::path> folders_up(const std::filesystem::path& mount, const std::string& path) {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  std::filesystem::path folder = (mount / std::filesystem::path(path).relative_path()).lexically_normal();
  while (folder != mount && folder.has_relative_path() && folder.string().size() > mount.string().size()) {
    if (std::filesystem::is_directory(folder, ignored)) folders.push_back(folder);
    folder = folder.parent_path();
  }
  if (std::filesystem::is_directory(mount, ignored)) folders.push_back(mount);
  return folders;
}

struct Processors {
  std::vector<int> first;     // one of each core
  std::vector<int> siblings;  // the others
};

Processors processors_of_mask(const std::filesystem::path& root) {
  Processors processors;
  std::set<std::string> cores;  // as the kernel lists their processors
  for (const int processor : affinity_mask()) {
    const std::string core = read_kernel_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
    (core.empty() || cores.insert(core).second ? processors.first : processors.siblings).push_back(processor);
  }
  return processors;
}

}  // namespace

std::string read_kernel_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

ControlGroups control_groups(const std::string& controller, const std::filesystem::path& root) {
  ControlGroups groups;
  std::ifstream list(root / "proc/self/cgroup");  // lines "0::/user.slice" (version 2) or "4:memory:/docker/abc" (version 1)
  std::string line;
  while (std::getline(list, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty() && groups.version == 0) {
      groups = {2, folders_up(root / "sys/fs/cgroup", path)};
    } else if (names_controller(controllers, controller)) {
      // On a hybrid system the controller is where version 1 names it.
      return {1, folders_up(root / "sys/fs/cgroup" / controller, path)};
    }
  }
  return groups;
}

std::vector<int> affinity_mask() {
  std::vector<int> processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
    }
  }
  if (processors.empty()) processors.push_back(0);
  return processors;
}

int quota_cores(const std::filesystem::path& root) {
  const ControlGroups groups = control_groups("cpu", root);
  int tightest = 0;
  for (const auto& folder : groups.folders) {
    const std::optional<int> cores = cores_of_group(folder, groups.version);
    if (cores) tightest = tightest == 0 ? *cores : std::min(tightest, *cores);
  }
  return tightest;
}

std::vector<int> processors_by_core(const std::filesystem::path& root) {
  Processors processors = processors_of_mask(root);
  processors.first.insert(processors.first.end(), processors.siblings.begin(), processors.siblings.end());
  return processors.first;
}

int usable_cores(const std::filesystem::path& root) {
  const int cores = static_cast<int>(processors_of_mask(root).first.size());
  const int quota = quota_cores(root);
  return std::max(1, quota == 0 ? cores : std::min(cores, quota));
}

}  // namespace lagoon
