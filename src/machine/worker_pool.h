// worker_pool.h: the threads that compute. One pool for a model; the calling thread works too. Workers spin briefly between
// pieces of one step and sleep when nothing comes, so that an idle program uses no CPU time.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace lagoon {

/// The stack that main() asks for each thread; workers use a few kilobytes of it.
constexpr size_t thread_stack_bytes = size_t{1} << 20;

class WorkerPool {
 public:
  /// @param threads  at least 1, the caller included. Workers are pinned to the processors of the affinity mask, one core
  ///                 after the other, if the mask has that many.
  /// @throws Error(io) if the system gives fewer threads
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Pins the calling thread beside the workers for as long as this lives: while a step is computed.
  class PinnedCaller {
   public:
    explicit PinnedCaller(const WorkerPool& pool);
    ~PinnedCaller();
    PinnedCaller(const PinnedCaller&) = delete;
    PinnedCaller& operator=(const PinnedCaller&) = delete;

   private:
    std::vector<int> before_;  // the caller's own mask; empty if it was not changed
  };

  /// Calls body(begin, end) for pieces of at least `grain` items (the last may have fewer) that cover [0, count), each item
  /// once, on any thread in any order, and returns when all are done. Pieces are large at first and small at the end, so
  /// that all threads end together. Only results that do not depend on the order may be made so: one owner for each output
  /// element. An exception of a body reaches the caller; pieces not yet begun are then left out.
  /// One run at a time: not to be called from two threads at once, nor from a body.
  template <typename Body>
  void run(int64_t count, int64_t grain, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run_pieces(
        count, grain, [](void* context, int64_t begin, int64_t end) { (*static_cast<Plain*>(context))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  /// Seconds that the caller has spent in waiting for workers, of all runs together.
  double seconds_waited() const { return seconds_waited_; }

 private:
  WorkerPool();
  void start(int threads);

  using Piece = void (*)(void* context, int64_t begin, int64_t end);

  void run_pieces(int64_t count, int64_t grain, Piece piece, void* context);
  void work();
  void take_pieces();

  std::vector<std::thread> workers_;
  std::vector<int> processors_;  // where the caller and the workers are pinned; empty: nowhere
  int spin_rounds_ = 0;
  double seconds_waited_ = 0.0;

  // The run in progress; written by the caller before generation_ moves on.
  Piece piece_ = nullptr;
  void* context_ = nullptr;
  int64_t count_ = 0;
  int64_t grain_ = 1;
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false;

  alignas(64) std::atomic<int64_t> next_ = 0;         // first item that nobody has taken
  alignas(64) std::atomic<uint32_t> generation_ = 0;  // counts runs; workers wait for it to change
  alignas(64) std::atomic<uint32_t> joined_;          // workers inside the run, and whether it is closed to more of them
  std::atomic<bool> stopping_ = false;
};

}  // namespace lagoon
