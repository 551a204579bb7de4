// machine_limits.h: what this machine can do at most, measured in the run whose speeds are compared with it: machines differ,
// and a shared one differs from minute to minute.
#pragma once

#include "kernels/kernel_set.h"
#include "machine/memory_budget.h"
#include "machine/worker_pool.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// Median, least and most of some repeats.
struct Spread {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
};

/// @param values  at least one
Spread spread_of(std::vector<double> values);

/// Most memory that was held at once.
struct MemoryPeaks {
  uint64_t ledger = 0;    // bytes: of everything that was claimed
  uint64_t resident = 0;  // bytes: of the process, as the kernel counts
};

/// A buffer that is larger than the caches, read from front to back by all threads of a pool at once.
class ReadBandwidth {
 public:
  /// @param bytes  for all threads together; touched here. @param budget  must outlive this
  ReadBandwidth(uint64_t bytes, MemoryBudget& budget);

  /// One pass. @return bytes per second
  double measure(WorkerPool& pool);

  uint64_t bytes() const { return buffer_.size() * sizeof(uint64_t); }

  /// The peaks until now as they would be without this buffer.
  MemoryPeaks peaks() const;

  static constexpr uint64_t least_bytes = 64u << 20;
  static constexpr const char* line_name = "bandwidth measurement";  // in the ledger

  /// Half of `available`, least_bytes to 1 GiB.
  static uint64_t usual_bytes(std::optional<uint64_t> available);

 private:
  const MemoryBudget& budget_;
  MemoryPeaks before_;  // the buffer was made
  ClaimedBuffer<uint64_t> buffer_;
  std::vector<uint64_t> sums_;  // so that the reads are not optimised away
};

/// Multiply-adds per second of one instruction, on every thread of the pool at once for 20 ms, divided by the threads: the
/// median of three tries. A shared machine gives now more, now less: measure it beside what it is compared with.
/// @param probe  a name of kernels/peak_probes.h. @throws Error(bug) for an unknown one
double measure_peak(const std::string& probe, WorkerPool& pool);

/// Bytes per second of reading a file from front to back past the system's cache, 512 MiB at most; nullopt if the system
/// refuses that, or the file has less than 64 MiB.
std::optional<double> measure_disk(const std::filesystem::path& path, MemoryBudget& budget);

/// What speeds are compared with, for one kernel set and number of threads.
struct SpeedLimits {
  double read_bandwidth = 0.0;       // bytes per second, all threads
  double fixed_multiply_adds = 0.0;  // per second, all threads: codes with fixed-point activations
  double float_multiply_adds = 0.0;  // per second, all threads
};

/// The peaks of a kernel set's instructions; read_bandwidth stays 0.
SpeedLimits measure_compute_limits(const KernelSet& kernels, WorkerPool& pool);

struct NamedRate {
  std::string name;
  double per_second = 0.0;
};

/// Everything that `lagoon bench --machine` prints.
struct MachineLimits {
  std::vector<Spread> read_bandwidth;  // bytes per second; [threads - 1]
  std::vector<NamedRate> peaks;        // multiply-adds per second of one core with all cores busy
  double run_seconds = 0.0;            // handing a piece of work to every thread and waiting for it, while they spin
  double wake_seconds = 0.0;           // the same when they sleep
  std::optional<double> disk_rate;     // bytes per second of reading a file that is not in memory; none: it could not be told
};

/// @param disk_file  read with its pages dropped first, where there is one large enough (64 MiB)
/// @param pause      called between measurements; may throw to stop
MachineLimits measure_machine(int threads, const std::optional<std::filesystem::path>& disk_file, MemoryBudget& budget, uint64_t bandwidth_bytes,
                              const std::function<void()>& pause);

}  // namespace lagoon
