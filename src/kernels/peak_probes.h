// peak_probes.h: loops that do nothing but one instruction, as fast as a core can: what a kernel's speed is compared with.
#pragma once

#include "machine/cpu_features.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lagoon {

struct PeakProbe {
  const char* name;               // "byte products (vpdpbusd)", ...
  double (*run)(int64_t rounds);  // returns the multiply-adds that were executed, of the instruction's own kind
};

/// Those that `cpu` can run. The first is scalar code and always there.
std::vector<PeakProbe> peak_probes(const CpuFeatures& cpu);

/// Reads `bytes` bytes, rounded down to a multiple of 256, from front to back with the widest loads that `cpu` has, looking ahead:
/// what the speed of reading weights is compared with. Returns something that depends on all of them.
uint64_t read_memory(const std::byte* from, size_t bytes, const CpuFeatures& cpu);

}  // namespace lagoon
