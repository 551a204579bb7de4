// cpu_features.h: what this processor can do, asked of the processor itself and of the operating system.
#pragma once

#include <filesystem>
#include <string>

namespace lagoon {

struct CpuFeatures {
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512vl = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
};

/// All false on processors that are not x86-64.
CpuFeatures detect_cpu_features();

/// "avx2 fma ...", or "none of those that Lagoon asks for".
std::string describe(const CpuFeatures& features);

/// The processor's name as the system has it; "an unnamed processor" where it has none.
std::string processor_name(const std::filesystem::path& root = "/");

}  // namespace lagoon
