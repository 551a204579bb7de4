// memory_budget.h: the ledger. Every allocation above 1 MiB is claimed here, under a name, before it is made, so that what
// the process holds can be listed line by line and a limit can refuse in time (design rule: memory is a ledger).
#pragma once

#include "base/aligned_buffer.h"
#include "machine/large_pages.h"

#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace lagoon {

/// A part of what a process needs or holds.
struct MemoryLine {
  std::string name;
  uint64_t bytes = 0;
};

/// Thread-safe. Must outlive its claims.
class MemoryBudget {
 public:
  /// Bytes held under a name; gives them back when destroyed.
  class Claim {
   public:
    Claim() = default;
    Claim(Claim&& other) noexcept;
    Claim& operator=(Claim&& other) noexcept;
    ~Claim() { release(); }
    uint64_t bytes() const { return bytes_; }

   private:
    friend class MemoryBudget;
    Claim(MemoryBudget* budget, size_t line, uint64_t bytes) : budget_(budget), line_(line), bytes_(bytes) {}
    void release() noexcept;

    MemoryBudget* budget_ = nullptr;
    size_t line_ = 0;
    uint64_t bytes_ = 0;
  };

  struct Line {
    std::string name;
    uint64_t bytes = 0;  // held now
    uint64_t peak = 0;   // most that was held at once
  };

  static constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

  explicit MemoryBudget(uint64_t limit = unlimited) : limit_(limit) {}

  /// @throws Error(over_budget) with need, held and limit, and changes nothing, if the limit would be passed
  Claim claim(const std::string& name, uint64_t bytes);

  uint64_t limit() const { return limit_; }
  uint64_t total() const;
  uint64_t peak() const;
  /// In the order of first claims; lines that hold nothing now are kept for their peak.
  std::vector<Line> lines() const;

 private:
  void give_back(size_t line, uint64_t bytes) noexcept;

  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t total_ = 0;
  uint64_t peak_ = 0;
  std::vector<Line> lines_;
};

/// An aligned buffer whose bytes are claimed.
template <typename T>
class ClaimedBuffer {
 public:
  ClaimedBuffer() = default;
  /// Elements are not initialised. @throws Error(over_budget), Error(io)
  ClaimedBuffer(MemoryBudget& budget, const std::string& name, size_t count) : claim_(budget.claim(name, count * sizeof(T))), buffer_(count) {
    advise_large(buffer_.data(), count * sizeof(T));
  }

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }
  std::span<T> span() { return buffer_.span(); }
  std::span<const T> span() const { return buffer_.span(); }
  T& operator[](size_t at) { return buffer_[at]; }
  const T& operator[](size_t at) const { return buffer_[at]; }

 private:
  MemoryBudget::Claim claim_;
  AlignedBuffer<T> buffer_;
};

}  // namespace lagoon
