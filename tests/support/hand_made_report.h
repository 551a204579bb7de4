// hand_made_report.h: a speed report with figures that are easy to recognise.
#pragma once

#include "benchmark/report.h"

#include <cstdint>

namespace lagoon::testing_support {

/// Generation at `speed` tokens per second (0.9 and 1.1 times that at the extremes), at half of the bound.
inline SpeedResult hand_made_result(int64_t prompt, int sequences, double speed) {
  const auto around = [](double middle) { return Spread{middle, 0.9 * middle, 1.1 * middle}; };
  SpeedResult result;
  result.asked = {.prompt_tokens = prompt, .generated_tokens = 16, .sequences = sequences, .repeats = 3, .prefills = 2};
  result.generation_tokens_per_second = around(speed);
  result.prefill_tokens_per_second = around(100.0);
  result.ttft_ms = around(250.0);
  result.end_to_end_seconds = around(4.0);
  result.peaks = {.ledger = 3u << 29, .resident = 1u << 30};
  result.decode_bytes_per_step = 1e8;
  result.prefill_multiply_adds = 2e9;
  result.read_bandwidth = around(2e10);
  result.decode_bound_fraction = around(0.5);
  result.prefill_bound_fraction = around(0.25);
  result.decode.seconds = 2.0;
  result.decode.parts.seconds = {0.5, 0.25, 0.75, 0.0, 0.25, 0.0};
  result.decode.waiting_seconds = 0.1;
  result.sampling_seconds = 0.05;
  result.prefill.seconds = 4.0;
  result.prefill.parts.seconds = {1.0, 1.0, 1.0, 0.5, 0.25, 0.25};
  return result;
}

/// Prompts of 1,024 and 3,000 tokens, then two sequences of 1,024.
inline SpeedReport hand_made_report() {
  return {.version = "1.2.3",
          .commit = "abcdef",
          .command = "lagoon bench somewhere",
          .machine = "Some Processor",
          .features = "these those",
          .model = "somewhere",
          .kernel_set = "scalar",
          .threads = 2,
          .limits = {.read_bandwidth = 2e10, .fixed_multiply_adds = 6e10, .float_multiply_adds = 3e10},
          .results = {hand_made_result(1024, 1, 20.0), hand_made_result(3000, 1, 10.0), hand_made_result(1024, 2, 35.0)}};
}

}  // namespace lagoon::testing_support
