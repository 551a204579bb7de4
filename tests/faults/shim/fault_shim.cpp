// A library that is loaded before the C library (LD_PRELOAD) and makes the k-th operation of a kind go wrong, as a bad disk, a full one, an
// exhausted machine or a person at the keyboard would. Environment:
//
//   FAULT_OPERATION  read, write, sync, rename, close, allocate, step (a step of the model begins, with several threads)
//   FAULT_PATH       count only files whose path holds this text (read, write, sync, close)
//   FAULT_AT         which one, counted from 1; 0: none; "each": every one, each in a process of its own that is forked just before; "from N": N
//                    and all that follow
//   FAULT_KIND       a number: the call fails with this errno; "short": one byte is read or written; "interrupted": every other call fails
//                    with EINTR; "shrink": the file loses its second half first; "signal N", "signals N M": they come just before
//   FAULT_LEAST      bytes from which on an allocation counts; 1 MiB unless given
//   FAULT_REPORT     a file that tells afterwards: a line "operations N fired N live BYTES", and for "each" a line for each process:
//                    "at N exit CODE output BYTES live BYTES error SENTENCE"
//
// The allocating functions of the GNU C library have second names, so that nothing needs to be looked up while memory is being asked for.
#include "faults/shim/fault_plan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

using fault_shim::Fault;
using fault_shim::fault_of;

namespace {

constexpr size_t big = size_t{1} << 20;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_big(size_t bytes) { return bytes >= big; }

/// Counts a block that was given out.
void* given(void* block) {
  if (block != nullptr && is_big(malloc_usable_size(block))) fault_shim::add_live(static_cast<int64_t>(malloc_usable_size(block)));
  return block;
}

/// Counts a block that comes back.
void taken(void* block) {
  if (block != nullptr && is_big(malloc_usable_size(block))) fault_shim::add_live(-static_cast<int64_t>(malloc_usable_size(block)));
}

bool refused(size_t bytes) {
  if (bytes < fault_shim::least_bytes() || fault_of("allocate", -1).kind != Fault::Kind::error) return false;
  errno = ENOMEM;
  return true;
}

int64_t faulty_transfer(const Fault& fault, size_t& bytes) {
  if (fault.kind == Fault::Kind::error) {
    errno = fault.error;
    return -1;
  }
  if (fault.kind == Fault::Kind::one_byte && bytes > 1) bytes = 1;
  return 0;
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

void* malloc(size_t bytes) { return refused(bytes) ? nullptr : given(__libc_malloc(bytes)); }

void* calloc(size_t count, size_t bytes) { return refused(count * bytes) ? nullptr : given(__libc_calloc(count, bytes)); }

void* realloc(void* block, size_t bytes) {
  if (refused(bytes)) return nullptr;
  taken(block);
  return given(__libc_realloc(block, bytes));
}

void* memalign(size_t alignment, size_t bytes) { return refused(bytes) ? nullptr : given(__libc_memalign(alignment, bytes)); }

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  void* place = memalign(alignment, bytes);
  if (place == nullptr) return ENOMEM;
  *block = place;
  return 0;
}

void free(void* block) {
  taken(block);
  __libc_free(block);
}

void* mmap(void* place, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  const bool counted = descriptor == -1 && is_big(bytes);
  if (counted && refused(bytes)) return MAP_FAILED;
  void* mapped = real(place, bytes, protection, flags, descriptor, offset);
  if (counted && mapped != MAP_FAILED) fault_shim::add_live(static_cast<int64_t>(bytes));
  return mapped;
}

/// Only anonymous memory is mapped in this program, and parts of a mapping are given back too.
int munmap(void* place, size_t bytes) {
  static const auto real = next<int (*)(void*, size_t)>("munmap");
  fault_shim::add_live(-static_cast<int64_t>(bytes));
  return real(place, bytes);
}

ssize_t read(int descriptor, void* to, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  if (faulty_transfer(fault_of("read", descriptor), bytes) < 0) return -1;
  return real(descriptor, to, bytes);
}

ssize_t pread(int descriptor, void* to, size_t bytes, off_t offset) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  if (faulty_transfer(fault_of("read", descriptor), bytes) < 0) return -1;
  return real(descriptor, to, bytes, offset);
}

ssize_t pread64(int descriptor, void* to, size_t bytes, off_t offset) { return pread(descriptor, to, bytes, offset); }

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (faulty_transfer(fault_of("write", descriptor), bytes) < 0) return -1;
  return real(descriptor, from, bytes);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  size_t none = 0;
  return faulty_transfer(fault_of("sync", descriptor), none) < 0 ? -1 : real(descriptor);
}

/// The descriptor is gone all the same, as Linux has it.
int close(int descriptor) {
  static const auto real = next<int (*)(int)>("close");
  size_t none = 0;
  const int64_t failed = faulty_transfer(fault_of("close", descriptor), none);
  const int error = errno;
  const int closed = real(descriptor);
  if (failed == 0) return closed;
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  size_t none = 0;
  return faulty_transfer(fault_of("rename", -1), none) < 0 ? -1 : real(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  static const auto real = next<int (*)(int, const char*, int, const char*, int)>("linkat");
  size_t none = 0;
  return faulty_transfer(fault_of("link", -1), none) < 0 ? -1 : real(from_folder, from, to_folder, to, flags);
}

/// The thread that computes is bound to a processor as each step begins, where there are several.
int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
  static const auto real = next<int (*)(pthread_t, size_t, const cpu_set_t*)>("pthread_setaffinity_np");
  if (pthread_equal(thread, pthread_self()) != 0) (void)fault_of("step", -1);
  return real(thread, bytes, set);
}

}  // extern "C"
