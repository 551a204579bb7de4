// step_work.h: what a step had to do at least, counted while it is computed, and where its time went: what bounds and
// profiles are made of.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace lagoon {

/// Bytes that had to be read from memory, each once for the whole batch, and multiply-adds.
struct StepWork {
  uint64_t weight_bytes = 0;         // of the matrices that took part, experts that were chosen only, as they lie in memory
  uint64_t key_value_bytes = 0;      // of the positions that were looked at, once for each sequence and layer
  double fixed_multiply_adds = 0.0;  // of codes with activations in fixed point
  double float_multiply_adds = 0.0;  // of floats, attention included

  StepWork& operator+=(const StepWork& more) {
    weight_bytes += more.weight_bytes;
    key_value_bytes += more.key_value_bytes;
    fixed_multiply_adds += more.fixed_multiply_adds;
    float_multiply_adds += more.float_multiply_adds;
    return *this;
  }
};

enum class StepPart { attention, router, experts, dense, head, other };
constexpr int step_parts = 6;

/// Seconds by part, on the thread that leads the step.
struct StepProfile {
  std::array<double, step_parts> seconds = {};
};

/// Adds the time until its end to a part. Parts do not nest.
class PartTimer {
 public:
  PartTimer(StepProfile* profile, StepPart part) : profile_(profile), part_(part) {
    if (profile_) begun_ = std::chrono::steady_clock::now();
  }
  ~PartTimer() {
    if (profile_) profile_->seconds[static_cast<size_t>(part_)] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  StepProfile* profile_;
  StepPart part_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace lagoon
