// What this machine can do at most, in one run: read bandwidth for 1 to N threads, the peak of each instruction on all cores at
// once, handing work to threads that spin and that sleep, and the disk (LAGOON_BENCH_FILE names a file of 64 MiB or more on it).
#include "benchmark/machine_limits.h"
#include "kernels/peak_probes.h"
#include "machine/available_memory.h"
#include "machine/topology.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace lagoon {
namespace {

void read_bandwidth(benchmark::State& state) {
  MemoryBudget budget;
  WorkerPool pool(static_cast<int>(state.range(0)));
  ReadBandwidth bandwidth(ReadBandwidth::usual_bytes(read_available_memory().usable()), budget);
  double sum = 0.0;
  for (auto _ : state) sum += bandwidth.measure(pool);
  state.counters["bytes_per_second"] = sum / static_cast<double>(state.iterations());
}

void peak(benchmark::State& state, const std::string& probe) {
  WorkerPool pool(usable_cores());
  double most = 0.0;
  for (auto _ : state) most = std::max(most, measure_peak(probe, pool));
  state.counters["multiply_adds_per_core"] = most;
}

void hand_over(benchmark::State& state) {
  WorkerPool pool(usable_cores());
  for (auto _ : state) pool.run(pool.threads(), 1, [](int64_t, int64_t) {});
}

void wake_up(benchmark::State& state) {
  WorkerPool pool(usable_cores());
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough for all workers to fall asleep
    const auto begun = std::chrono::steady_clock::now();
    pool.run(pool.threads(), 1, [](int64_t, int64_t) {});
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
}

void disk(benchmark::State& state, const std::string& file) {
  for (auto _ : state) {
    MemoryBudget budget;
    const std::optional<double> rate = measure_disk(file, budget);
    if (!rate) {
      state.SkipWithError("the file cannot be read past the system's cache, or has less than 64 MiB");
      return;
    }
    state.counters["bytes_per_second"] = *rate;
  }
}

}  // namespace
}  // namespace lagoon

int main(int count, char** arguments) {
  using namespace lagoon;
  benchmark::RegisterBenchmark("read_bandwidth/threads", read_bandwidth)->DenseRange(1, usable_cores())->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) {
    const std::string name = probe.name;
    benchmark::RegisterBenchmark(("peak/" + name).c_str(), [name](benchmark::State& state) { peak(state, name); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RegisterBenchmark("hand_over", hand_over)->UseRealTime();
  benchmark::RegisterBenchmark("wake_up", wake_up)->UseManualTime()->Iterations(100);
  if (const char* file = std::getenv("LAGOON_BENCH_FILE")) {
    const std::string path = file;
    benchmark::RegisterBenchmark("disk", [path](benchmark::State& state) { disk(state, path); })->Iterations(1)->UseRealTime();
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
