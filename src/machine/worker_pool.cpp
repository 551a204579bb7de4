#include "machine/worker_pool.h"

#include "base/error.h"
#include "machine/topology.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace lagoon {
namespace {

/// Rounds of spinning before a thread sleeps: about 50 microseconds, longer than the gap between two pieces of a step.
constexpr int spin_rounds = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns when `value` is no longer `old`.
template <typename T>
void wait_for_change(const std::atomic<T>& value, T old) {
  for (int round = 0; round < spin_rounds; ++round) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

void pin(std::thread& thread, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  // A refusal is harmless: the thread then runs wherever the system puts it.
  (void)pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

}  // namespace

WorkerPool::WorkerPool(int threads) {
  require(threads >= 1, "a worker pool has at least one thread");
  const std::vector<int> processors = affinity_mask();
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this] { work(); });
    // The caller is not pinned (it is not ours); it usually finds the first processor free.
    if (static_cast<size_t>(threads) <= processors.size()) pin(workers_.back(), processors[static_cast<size_t>(worker)]);
  }
}

WorkerPool::~WorkerPool() {
  stopping_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::run_pieces(int64_t count, int64_t grain, Piece piece, void* context) {
  if (count <= 0) return;
  if (workers_.empty() || count <= grain) {
    for (int64_t begin = 0; begin < count; begin += grain) piece(context, begin, std::min(count, begin + grain));
    return;
  }
  piece_ = piece;
  context_ = context;
  count_ = count;
  grain_ = grain;
  error_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int32_t>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();

  take_pieces();
  for (int32_t busy = busy_.load(std::memory_order_acquire); busy != 0; busy = busy_.load(std::memory_order_acquire)) wait_for_change(busy_, busy);
  if (error_) std::rethrow_exception(error_);
}

void WorkerPool::work() {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(generation_, seen);
    // One run at a time: the next one begins only after this worker has said that it is done, so no run is missed.
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    take_pieces();
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void WorkerPool::take_pieces() {
  while (!failed_.load(std::memory_order_relaxed)) {
    const int64_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
    if (begin >= count_) return;
    try {
      piece_(context_, begin, std::min(count_, begin + grain_));
    } catch (...) {
      // Only the first failure is kept; the flag makes the others stop early.
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
}

}  // namespace lagoon
