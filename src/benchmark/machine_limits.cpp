#include "benchmark/machine_limits.h"

#include "base/error.h"
#include "kernels/peak_probes.h"
#include "machine/available_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

namespace lagoon {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

/// Calls body(thread) once on every thread of the pool, all at the same time.
template <typename Body>
void on_every_thread(WorkerPool& pool, Body&& body) {
  const int threads = pool.threads();
  std::atomic<int> here = 0;
  pool.run(threads, 1, [&](int64_t begin, int64_t end) {
    require(end - begin == 1, "each thread takes one piece");
    here.fetch_add(1);
    while (here.load() < threads) std::this_thread::yield();
    body(static_cast<int>(begin));
  });
}

/// Repeats of something short: where other programs keep the threads from meeting, fewer of them.
class Tries {
 public:
  Tries(size_t least, size_t most, double seconds) : least_(least), most_(most), seconds_(seconds) {}
  bool more(size_t done) const { return done < least_ || (done < most_ && seconds_since(begun_) < seconds_); }

 private:
  size_t least_;
  size_t most_;
  double seconds_;
  Clock::time_point begun_ = Clock::now();
};

double seconds_of_a_run(WorkerPool& pool, size_t runs, std::chrono::milliseconds rest) {
  std::vector<double> each;
  for (const Tries tries(5, runs, 1.0); tries.more(each.size());) {
    if (rest.count() > 0) std::this_thread::sleep_for(rest);
    const auto begun = Clock::now();
    on_every_thread(pool, [](int) {});
    each.push_back(seconds_since(begun));
  }
  return spread_of(std::move(each)).median;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  require(!values.empty(), "a spread is of at least one value");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

ReadBandwidth::ReadBandwidth(uint64_t bytes, MemoryBudget& budget)
    : budget_(budget), before_{budget.peak(), peak_resident_bytes()}, buffer_(budget, line_name, bytes / sizeof(uint64_t)) {
  std::fill_n(buffer_.data(), buffer_.size(), uint64_t{0x0123456789abcdef});
}

MemoryPeaks ReadBandwidth::peaks() const {
  const auto without = [this](uint64_t before, uint64_t now) { return std::max(before, now - std::min(now, bytes())); };
  return {without(before_.ledger, budget_.peak()), without(before_.resident, peak_resident_bytes())};
}

double ReadBandwidth::measure(WorkerPool& pool) {
  const auto threads = static_cast<size_t>(pool.threads());
  constexpr size_t step = 256;  // what read_memory reads whole
  const size_t share = buffer_.size() * sizeof(uint64_t) / threads / step * step;
  const CpuFeatures features = detect_cpu_features();
  sums_.resize(threads);
  std::vector<double> seconds(threads);
  const WorkerPool::PinnedCaller pinned(pool);
  on_every_thread(pool, [&](int thread) {
    const auto at = static_cast<size_t>(thread);
    const auto begun = Clock::now();
    sums_[at] = read_memory(reinterpret_cast<const std::byte*>(buffer_.data()) + at * share, share, features);
    seconds[at] = seconds_since(begun);
  });
  return static_cast<double>(threads * share) / *std::max_element(seconds.begin(), seconds.end());
}

uint64_t ReadBandwidth::usual_bytes(std::optional<uint64_t> available) {
  constexpr uint64_t most = 1u << 30;
  return available ? std::clamp(*available / 2, least_bytes, most) : most;
}

double measure_peak(const std::string& name, WorkerPool& pool) {
  constexpr int64_t rounds = 20'000;
  constexpr double seconds = 0.02;  // long enough for a core to settle at the clock that it keeps
  const std::vector<PeakProbe> probes = peak_probes(detect_cpu_features());
  const auto probe = std::find_if(probes.begin(), probes.end(), [&](const PeakProbe& one) { return name == one.name; });
  if (probe == probes.end()) fail(ErrorKind::bug, "there is no probe `{}`", name);
  std::vector<double> rates;
  const WorkerPool::PinnedCaller pinned(pool);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<double> rate(static_cast<size_t>(pool.threads()));
    on_every_thread(pool, [&](int thread) {
      const auto begun = Clock::now();
      double done = 0.0;
      while (seconds_since(begun) < seconds) done += probe->run(rounds);
      rate[static_cast<size_t>(thread)] = done / seconds_since(begun);
    });
    rates.push_back(std::accumulate(rate.begin(), rate.end(), 0.0) / pool.threads());
  }
  return spread_of(std::move(rates)).median;
}

std::optional<double> measure_disk(const std::filesystem::path& path, MemoryBudget& budget) {
  constexpr size_t step = 8u << 20;
  constexpr size_t least = 64u << 20;
  constexpr size_t most = 512u << 20;
  ClaimedBuffer<std::byte> target(budget, "disk measurement", step + 4096);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor < 0) return std::nullopt;
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(target.data()) + 4095) / 4096 * 4096);
  const auto begun = Clock::now();
  size_t done = 0;
  while (done < most) {
    const ssize_t got = ::pread(descriptor, aligned, step, static_cast<off_t>(done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
    if (static_cast<size_t>(got) < step) break;
  }
  const double seconds = seconds_since(begun);
  ::close(descriptor);
  if (done < least) return std::nullopt;
  return static_cast<double>(done) / seconds;
}

SpeedLimits measure_compute_limits(const KernelSet& kernels, WorkerPool& pool) {
  const double threads = pool.threads();
  return {.fixed_multiply_adds = threads * measure_peak(kernels.fixed_probe, pool) / kernels.fixed_products,
          .float_multiply_adds = threads * measure_peak(kernels.float_probe, pool)};
}

MachineLimits measure_machine(int threads, const std::optional<std::filesystem::path>& disk_file, MemoryBudget& budget, uint64_t bandwidth_bytes,
                              const std::function<void()>& pause) {
  MachineLimits limits;
  ReadBandwidth bandwidth(bandwidth_bytes, budget);
  for (int count = 1; count <= threads; ++count) {
    WorkerPool pool(count);
    std::vector<double> rates;
    for (int repeat = 0; repeat < 5; ++repeat) {
      pause();
      rates.push_back(bandwidth.measure(pool));
    }
    limits.read_bandwidth.push_back(spread_of(std::move(rates)));
  }
  WorkerPool pool(threads);
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) {
    pause();
    limits.peaks.push_back({probe.name, measure_peak(probe.name, pool)});
  }
  limits.run_seconds = seconds_of_a_run(pool, 2000, std::chrono::milliseconds(0));
  pause();
  limits.wake_seconds = seconds_of_a_run(pool, 50, std::chrono::milliseconds(2));
  if (disk_file) limits.disk_rate = measure_disk(*disk_file, budget);
  return limits;
}

}  // namespace lagoon
