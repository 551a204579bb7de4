#include "base/aligned_buffer.h"

#include <sys/mman.h>

namespace lagoon {
namespace {

size_t whole_pages(size_t bytes) {
  constexpr size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

/// A mapping one huge page larger than needed, cut at both ends.
void* map_on_border(size_t bytes) {
  const size_t needed = whole_pages(bytes);
  const size_t mapped = needed + huge_page;
  void* whole = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) {  // where a limit leaves just the bytes themselves, any border will do
    void* exact = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return exact == MAP_FAILED ? nullptr : exact;
  }
  auto* begin = static_cast<std::byte*>(whole);
  const size_t before = (huge_page - reinterpret_cast<uintptr_t>(begin) % huge_page) % huge_page;
  if (before > 0) munmap(begin, before);
  if (huge_page > before) munmap(begin + before + needed, huge_page - before);
  return begin + before;
}

}  // namespace

void* allocate_aligned(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes >= huge_page) return map_on_border(bytes);
  void* place = nullptr;
  return posix_memalign(&place, buffer_alignment, bytes) == 0 ? place : nullptr;
}

void free_aligned(void* data, size_t bytes) {
  if (data == nullptr) return;
  if (bytes >= huge_page) {
    munmap(data, whole_pages(bytes));
  } else {
    std::free(data);
  }
}

}  // namespace lagoon
