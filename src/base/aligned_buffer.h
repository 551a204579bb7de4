// aligned_buffer.h: an owned array of plain elements on a 64-byte border (a cache line, and the widest vector).
// Buffers above 1 MiB are made through machine/memory_budget.h, which claims their bytes under a name first.
#pragma once

#include "base/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

namespace lagoon {

constexpr size_t buffer_alignment = 64;
/// Buffers of this many bytes and more are mappings of their own, which begin on the border of a huge page, so that the system can back them with
/// such pages, and which take no more of the address space than their bytes.
constexpr size_t huge_page = size_t{2} << 20;

/// nullptr if the system has no memory, or for no bytes.
void* allocate_aligned(size_t bytes);
/// @param bytes  as they were asked for
void free_aligned(void* data, size_t bytes);

template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  static constexpr size_t alignment = buffer_alignment;

  AlignedBuffer() = default;

  /// Elements are not initialised. @throws Error(io) if the system has no memory
  explicit AlignedBuffer(size_t count) : data_(allocate(count)), count_(count) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return count_; }
  std::span<T> span() { return {data_.get(), count_}; }
  std::span<const T> span() const { return {data_.get(), count_}; }
  T& operator[](size_t at) { return data_.get()[at]; }
  const T& operator[](size_t at) const { return data_.get()[at]; }

 private:
  struct Free {
    size_t bytes = 0;
    void operator()(T* data) const { free_aligned(data, bytes); }
  };

  static std::unique_ptr<T, Free> allocate(size_t count) {
    size_t bytes = 0;
    void* data = nullptr;
    if (!__builtin_mul_overflow(count, sizeof(T), &bytes) && bytes <= PTRDIFF_MAX - huge_page) data = allocate_aligned(bytes);
    if (!data && count > 0)
      fail(ErrorKind::io, "the system has no memory for a buffer of {} elements of {} bytes; close other programs or ask for less", count, sizeof(T));
    return {static_cast<T*>(data), Free{bytes}};
  }

  std::unique_ptr<T, Free> data_;
  size_t count_ = 0;
};

}  // namespace lagoon
