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

  /// All that sources compiled for AVX2, and for AVX-512, take for granted (src/CMakeLists.txt).
  bool runs_avx2() const { return avx2 && fma && f16c; }
  bool runs_avx512() const { return runs_avx2() && avx512f && avx512bw && avx512vl; }
};

/// All false on processors that are not x86-64.
CpuFeatures detect_cpu_features();

/// "avx2 fma ...", or "none of those that Lagoon asks for".
std::string describe(const CpuFeatures& features);

/// The processor's name as the system has it; "an unnamed processor" where it has none.
std::string processor_name(const std::filesystem::path& root = "/");

}  // namespace lagoon
