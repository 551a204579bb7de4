#include "kernels/kernel_set.h"

#include "base/error.h"

#include <array>

namespace lagoon {

std::span<const KernelSet* const> runnable_kernel_sets(const CpuFeatures& /*cpu*/) {
  static const std::array<const KernelSet*, 1> sets = {&scalar_kernels()};
  return sets;
}

const KernelSet& kernel_set_named(std::string_view name, const CpuFeatures& cpu) {
  const auto sets = runnable_kernel_sets(cpu);
  if (name == "auto") return *sets.front();
  std::string names = "auto";
  for (const KernelSet* set : sets) {
    if (name == set->name) return *set;
    names += std::string(", ") + set->name;
  }
  fail(ErrorKind::invalid, "kernel set `{}`: this program on this machine has {}; name one of these", printable(name), names);
}

}  // namespace lagoon
