#include "commands/version.h"

#include "base/error.h"
#include "kernels/kernel_set.h"
#include "machine/cpu_features.h"

#include <fmt/ranges.h>

#include <vector>

namespace lagoon {

extern const char* const built_commit;  // the build writes it: cmake/commit.cmake

namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string version() { return LAGOON_VERSION; }

std::string commit() { return built_commit; }

std::string version_text() {
  const CpuFeatures cpu = detect_cpu_features();
  std::vector<std::string> runnable;
  for (const KernelSet* set : runnable_kernel_sets(cpu)) runnable.emplace_back(set->name);
  const std::string sanitize = LAGOON_SANITIZE;
  return fmt::format(
      "lagoon {}\n"
      "commit      {}\n"
      "compiler    {}\n"
      "build type  {}{}\n"
      "kernel set  {} (this processor runs {}; Lagoon has {})\n"
      "processor   {} ({})\n",
      version(), commit().empty() ? "not known" : commit(), compiler(), LAGOON_BUILD_TYPE, sanitize.empty() ? "" : " with -fsanitize=" + sanitize,
      runnable.front(), fmt::join(runnable, ", "), fmt::join(kernel_set_names, ", "), processor_name(), describe(cpu));
}

}  // namespace lagoon
