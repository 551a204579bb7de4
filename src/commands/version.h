// version.h: which Lagoon this is.
#pragma once

#include <array>
#include <string>

namespace lagoon {

/// "0.1.0".
std::string version();

/// The commit that was built, shortened; empty outside a checkout.
std::string commit();

/// The kernel sets of all machines that Lagoon is written for, best first, as --kernels takes them.
constexpr std::array<const char*, 4> kernel_set_names = {"avx512-vnni", "avx512", "avx2", "scalar"};

/// What --version prints: "lagoon 0.1.0", then commit, compiler, build type, and the kernel set that this processor gets, each on a line.
std::string version_text();

}  // namespace lagoon
