// memory_case.h: one run of the program whose peak resident memory is compared with what `lagoon plan` said before.
#pragma once

#include "base/json.h"
#include "support/run_program.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace lagoon::testing_support {

struct MemoryCase {
  std::string model;  // a checkpoint or a SPEC
  int64_t context = 0;
  int64_t chunk = 512;
  int64_t sequences = 1;
};

struct MemoryOutcome {
  uint64_t planned = 0;   // bytes, of `lagoon plan`, and the buffer of 64 MiB with which `lagoon bench` measures bandwidth
  uint64_t resident = 0;  // bytes at most, as the kernel counted

  uint64_t difference() const { return planned > resident ? planned - resident : resident - planned; }
  /// 2 %, or 64 MiB where that is more.
  uint64_t tolerance() const { return std::max<uint64_t>(planned / 50, 64u << 20); }
};

inline Json run_for_json(const std::vector<std::string>& arguments) {
  const ProgramRun run = run_lagoon(arguments);
  if (run.exit_code != 0) throw std::runtime_error("lagoon " + arguments[0] + " failed: " + run.error);
  return parse_json(run.output, "output");
}

/// Plans, then fills every sequence to its last position, under a limit that leaves the plan no room but for the least buffer with which bench
/// measures bandwidth.
inline MemoryOutcome run_memory_case(const MemoryCase& one) {
  constexpr uint64_t bandwidth_bytes = 64u << 20;
  const std::string chunk = std::to_string(one.chunk);
  const Json plan = run_for_json({"plan", one.model, "--context", std::to_string(one.context), "--sequences", std::to_string(one.sequences),
                                  "--prefill-chunk", chunk, "--json"});
  MemoryOutcome outcome = {.planned = plan.at("total_bytes").get<uint64_t>() + bandwidth_bytes};
  for (const Json& line : plan.at("lines")) {
    if (line.at("name") == "tokenizer and template") outcome.planned -= line.at("bytes").get<uint64_t>();  // bench reads no text
  }
  const Json bench = run_for_json({"bench", one.model, "--prompts", std::to_string(one.context - 2), "--generate", "2", "--repeats", "1", "--batches",
                                   std::to_string(one.sequences), "--context", std::to_string(one.context), "--chunk", chunk, "--format", "json",
                                   "--memory-limit", std::to_string(outcome.planned) + "B"});
  outcome.resident = bench.at("memory").at("peak_resident_bytes").get<uint64_t>();
  return outcome;
}

}  // namespace lagoon::testing_support
