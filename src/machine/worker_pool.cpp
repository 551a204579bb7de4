#include "machine/worker_pool.h"

#include "base/error.h"
#include "machine/topology.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace lagoon {
namespace {

/// Rounds of spinning before a thread sleeps: about 50 microseconds, longer than the gap between two runs of a step. Where
/// threads outnumber processors, whoever spins keeps another from working: a short look only.
constexpr int spin_rounds_alone = 2000;
constexpr int spin_rounds_crowded = 20;

/// A run is shared out in pieces of 1 / (pieces_left * threads) of what is left.
constexpr int64_t pieces_left = 2;

/// In joined_: no worker may enter the run any more.
constexpr uint32_t closed = 1u << 31;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns when `value` is no longer `old`.
template <typename T>
void wait_for_change(const std::atomic<T>& value, T old, int spin_rounds) {
  for (int round = 0; round < spin_rounds; ++round) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

/// A refusal is harmless: the thread then runs wherever the system puts it.
void pin(pthread_t thread, const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  (void)pthread_setaffinity_np(thread, sizeof set, &set);
}

}  // namespace

WorkerPool::WorkerPool() : joined_(closed) {}

// Once the first constructor has returned, the destructor ends the workers that were started, whatever happens to the others.
WorkerPool::WorkerPool(int threads) : WorkerPool() { start(threads); }

void WorkerPool::start(int threads) {
  require(threads >= 1, "a worker pool has at least one thread");
  processors_ = processors_by_core();
  const bool alone = static_cast<size_t>(threads) <= processors_.size();
  spin_rounds_ = alone ? spin_rounds_alone : spin_rounds_crowded;
  if (!alone) processors_.clear();
  workers_.reserve(static_cast<size_t>(threads));
  for (int worker = 1; worker < threads; ++worker) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      fail(ErrorKind::io, "the system gives {} of {} threads ({}); ask for fewer with --threads, or raise the limits of this process", worker,
           threads, error.code().message());
    }
    if (alone) pin(workers_.back().native_handle(), {processors_[static_cast<size_t>(worker)]});
  }
}

WorkerPool::PinnedCaller::PinnedCaller(const WorkerPool& pool) {
  if (pool.workers_.empty() || pool.processors_.empty()) return;
  before_ = affinity_mask();
  pin(pthread_self(), {pool.processors_.front()});
}

WorkerPool::PinnedCaller::~PinnedCaller() {
  if (!before_.empty()) pin(pthread_self(), before_);
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
    piece(context, 0, count);
    return;
  }
  piece_ = piece;
  context_ = context;
  count_ = count;
  grain_ = grain;
  error_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  joined_.store(0, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();

  take_pieces();
  // A worker that has not come by now is not waited for: the system may be running something else in its place.
  const auto begun = std::chrono::steady_clock::now();
  for (uint32_t joined = joined_.fetch_or(closed, std::memory_order_acq_rel) | closed; joined != closed;
       joined = joined_.load(std::memory_order_acquire))
    wait_for_change(joined_, joined, spin_rounds_);
  seconds_waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (error_) std::rethrow_exception(error_);
}

void WorkerPool::work() {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(generation_, seen, spin_rounds_);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_relaxed)) return;
    // The run that is joined may be a later one than the one seen: what counts is that it is open.
    uint32_t joined = joined_.load(std::memory_order_acquire);
    while ((joined & closed) == 0 && !joined_.compare_exchange_weak(joined, joined + 1, std::memory_order_acq_rel)) {
    }
    if ((joined & closed) != 0) continue;
    take_pieces();
    if (joined_.fetch_sub(1, std::memory_order_acq_rel) == (closed | 1)) joined_.notify_one();
  }
}

void WorkerPool::take_pieces() {
  const int64_t share = pieces_left * threads();
  int64_t begin = next_.load(std::memory_order_relaxed);
  while (begin < count_ && !failed_.load(std::memory_order_relaxed)) {
    const int64_t end = std::min(count_, begin + std::max(grain_, (count_ - begin) / share));
    if (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
    try {
      piece_(context_, begin, end);
    } catch (...) {
      // Only the first failure is kept; the flag makes the others stop early.
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
    begin = next_.load(std::memory_order_relaxed);
  }
}

}  // namespace lagoon
