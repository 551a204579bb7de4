#include "machine/memory_budget.h"

#include "base/byte_size.h"

#include <algorithm>
#include <utility>

namespace lagoon {

MemoryBudget::Claim::Claim(Claim&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), line_(other.line_), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryBudget::Claim& MemoryBudget::Claim::operator=(Claim&& other) noexcept {
  if (this == &other) return *this;
  release();
  budget_ = std::exchange(other.budget_, nullptr);
  line_ = other.line_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void MemoryBudget::Claim::release() noexcept {
  if (budget_) budget_->give_back(line_, bytes_);
  budget_ = nullptr;
}

MemoryBudget::Claim MemoryBudget::claim(const std::string& name, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - std::min(limit_, total_)) {
    fail(ErrorKind::over_budget, "{} needs {}, {} of the limit of {} are taken already; ask for less or raise the limit", name, format_gib(bytes),
         format_gib(total_), format_gib(limit_));
  }
  auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& candidate) { return candidate.name == name; });
  if (line == lines_.end()) line = lines_.insert(lines_.end(), Line{name});
  line->bytes += bytes;
  line->peak = std::max(line->peak, line->bytes);
  total_ += bytes;
  peak_ = std::max(peak_, total_);
  return {this, static_cast<size_t>(line - lines_.begin()), bytes};
}

uint64_t MemoryBudget::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

uint64_t MemoryBudget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::vector<MemoryBudget::Line> MemoryBudget::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

void MemoryBudget::give_back(size_t line, uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  lines_[line].bytes -= bytes;
  total_ -= bytes;
}

}  // namespace lagoon
