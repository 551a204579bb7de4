// topology.h: how many cores this process may really use: its affinity mask and the CPU quota of its control groups.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lagoon {

/// The control groups of this process as folders, from its own up to the root, for one controller ("cpu", "memory").
/// Version 2 has one hierarchy for all; version 1 one for each controller. Empty where there are none.
/// @param root  "/" on a real machine; a test gives a tree of its own with proc/self/cgroup and sys/fs/cgroup
struct ControlGroups {
  int version = 0;  // 1, 2, or 0 if there are none
  std::vector<std::filesystem::path> folders;
};
ControlGroups control_groups(const std::string& controller, const std::filesystem::path& root = "/");

/// The first line of a small file of the kernel without its newline; empty if it cannot be read.
std::string read_kernel_line(const std::filesystem::path& path);

/// Processors in the affinity mask, in ascending order.
std::vector<int> affinity_mask();

/// Whole cores of the tightest CPU quota (cpu.max, cpu.cfs_quota_us) on the way up, at least 1; 0 if there is none.
int quota_cores(const std::filesystem::path& root = "/");

/// The processors of the affinity mask, one of each core first, then their siblings: threads that share a core share its
/// multiply units, so that two threads belong on two cores.
std::vector<int> processors_by_core(const std::filesystem::path& root = "/");

/// Threads that compute at full speed: the cores of the affinity mask, cut to the quota. At least 1.
int usable_cores(const std::filesystem::path& root = "/");

}  // namespace lagoon
