// parts.h: how much of 16 lanes takes part in a load or a store. The types alone say it, so that whole vectors cost nothing.
#pragma once

#include <cstdint>

namespace lagoon::vector {

constexpr int lanes = 16;

/// All 16 lanes.
struct Whole {};

/// Lanes [0, count) alone; memory beyond is neither read nor written, and loads give 0 there.
struct First {
  int count = 0;  // 0 to 16
};

/// Calls step(at, part) for 0, 16, 32, ...: whole vectors, then what is left of `count`.
template <class Step>
void over(int64_t count, Step step) {
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes) step(at, Whole{});
  if (at < count) step(at, First{static_cast<int>(count - at)});
}

}  // namespace lagoon::vector
