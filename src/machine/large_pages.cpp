#include "machine/large_pages.h"

#include "base/aligned_buffer.h"
#include "machine/topology.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace lagoon {
namespace {

constexpr size_t small_page = 4096;
constexpr unsigned long most_nodes = 1024;

/// More than one node has memory: the kernel's list is then a range or has a comma ("0-1", "0,2").
bool has_several_nodes() {
  static const bool several = read_kernel_line("/sys/devices/system/node/has_memory").find_first_of(",-") != std::string::npos;
  return several;
}

void interleave(void* data, size_t bytes) {
#if defined(SYS_mbind)
  constexpr int interleave_allowed = 3;  // MPOL_INTERLEAVE of linux/mempolicy.h
  unsigned long nodes[most_nodes / (8 * sizeof(unsigned long))];
  for (unsigned long& word : nodes) word = ~0ul;  // the kernel keeps those that exist and are allowed
  (void)::syscall(SYS_mbind, data, bytes, interleave_allowed, nodes, most_nodes, 0);
#else
  (void)data;
  (void)bytes;
#endif
}

}  // namespace

void advise_large(void* data, size_t bytes) {
  if (bytes < huge_page) return;
  const size_t whole = bytes / small_page * small_page;
  (void)::madvise(data, whole, MADV_HUGEPAGE);
  if (has_several_nodes()) interleave(data, whole);
}

}  // namespace lagoon
