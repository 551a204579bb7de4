#include "machine/cpu_features.h"

#include <array>
#include <fstream>
#include <utility>

namespace lagoon {

CpuFeatures detect_cpu_features() {
  CpuFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") != 0;
  features.fma = __builtin_cpu_supports("fma") != 0;
#if !defined(__clang__) || __clang_major__ >= 16
  features.f16c = __builtin_cpu_supports("f16c") != 0;
#else
  features.f16c = features.avx2;  // clang 14 cannot ask for f16c; no processor has AVX2 without it
#endif
  features.avx512f = __builtin_cpu_supports("avx512f") != 0;
  features.avx512bw = __builtin_cpu_supports("avx512bw") != 0;
  features.avx512vl = __builtin_cpu_supports("avx512vl") != 0;
  features.avx512_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  features.avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0;
#endif
  return features;
}

std::string describe(const CpuFeatures& features) {
  const std::array<std::pair<bool, const char*>, 8> names = {{{features.avx2, "avx2"},
                                                              {features.fma, "fma"},
                                                              {features.f16c, "f16c"},
                                                              {features.avx512f, "avx512f"},
                                                              {features.avx512bw, "avx512bw"},
                                                              {features.avx512vl, "avx512vl"},
                                                              {features.avx512_vnni, "avx512_vnni"},
                                                              {features.avx512_bf16, "avx512_bf16"}}};
  std::string text;
  for (const auto& [present, name] : names) {
    if (present) text += (text.empty() ? "" : " ") + std::string(name);
  }
  return text.empty() ? "none of those that Lagoon asks for" : text;
}

std::string processor_name(const std::filesystem::path& root) {
  std::ifstream list(root / "proc/cpuinfo");
  for (std::string line; std::getline(list, line);) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos && (line.starts_with("model name") || line.starts_with("Processor"))) return line.substr(colon + 2);
  }
  return "an unnamed processor";
}

}  // namespace lagoon
