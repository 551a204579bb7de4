// kernels_bench.cpp: products with quantized weights against what the machine can do, measured in turns in one run, since other
// programs disturb both.
//   kernels_bench [--benchmark_filter=decode/avx512-vnni/4] [flags of Google Benchmark]
// decode: one token or a few, weights from memory, against a loop that only reads them.
// prefill: many tokens on one core, against a loop of nothing but the products' instruction.
// pack: a checkpoint's rows to tiles, in bytes of the checkpoint.
#include "base/aligned_buffer.h"
#include "kernels/kernel_set.h"
#include "kernels/peak_probes.h"
#include "kernels/tile_layout.h"
#include "machine/large_pages.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lagoon {
namespace {

constexpr int64_t columns = 2048;
constexpr int group = 64;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds that this thread has computed: what other programs take of a core does not count.
double computed() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

WeightFormat format_of(int bits) { return {WeightFormat::Kind::affine, ElementType::bf16, bits, group}; }

/// More than caches hold. As bf16 its numbers are 0.03 or so, since scales of NaN or next to 0 would take another time.
const AlignedBuffer<std::byte>& tile_memory() {
  static const AlignedBuffer<std::byte> memory = [] {
    AlignedBuffer<std::byte> bytes(size_t{1200} << 20);
    advise_large(bytes.data(), bytes.size());
    std::mt19937_64 random(1);
    for (size_t at = 0; at < bytes.size(); at += 8) {
      const uint64_t word = (random() & 0x80ff80ff80ff80ffu) | 0x3c003c003c003c00u;
      std::memcpy(bytes.data() + at, &word, 8);
    }
    return bytes;
  }();
  return memory;
}

/// As many rows as fit `bytes`.
WeightMatrix matrix_in(const std::byte* memory, size_t bytes, int bits) {
  const int64_t stride = tile_bytes(format_of(bits), columns);
  return {format_of(bits), static_cast<int64_t>(bytes) / stride * tile_rows, columns, memory, stride};
}

struct Tokens {
  std::vector<int16_t> q;
  std::vector<float> scale, sum;
  FixedRows rows;

  Tokens(const KernelSet& set, int64_t count)
      : q(static_cast<size_t>(count * columns)),
        scale(q.size() / group),
        sum(scale.size()),
        rows{q.data(), scale.data(), sum.data(), columns, group} {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    std::vector<float> x(columns);
    for (int64_t row = 0; row < count; ++row) {
      for (float& value : x) value = normal(random);
      const int64_t groups = columns / group;
      set.to_fixed_row(x.data(), columns, group, {q.data() + row * columns, scale.data() + row * groups, sum.data() + row * groups});
    }
  }
};

/// Runs part(0) ... part(threads - 1) at once. @return seconds
template <class Part>
double time_threads(int threads, const Part& part) {
  const double begin = now();
  std::vector<std::thread> others;
  for (int at = 1; at < threads; ++at) others.emplace_back([&part, at] { part(at); });
  part(0);
  for (std::thread& other : others) other.join();
  return now() - begin;
}

void read_all(const std::byte* from, int64_t bytes) {
  benchmark::DoNotOptimize(read_memory(from, static_cast<size_t>(bytes), detect_cpu_features()));
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// What was reached, as the median, and as the median of what part it was of the limit measured beside it.
void report(benchmark::State& state, const std::string& unit, const std::vector<double>& reached, const std::vector<double>& limits) {
  std::vector<double> shares;
  for (size_t at = 0; at < reached.size(); ++at) shares.push_back(reached[at] / limits[at]);
  state.counters[unit] = median(reached);
  state.counters["limit_" + unit] = median(limits);
  state.counters["share"] = median(shares);
}

/// Each thread has its part of the tiles; parts are read and multiplied by turns, an eighth at a time.
void decode(benchmark::State& state, const KernelSet& set, int bits, int64_t tokens, int threads) {
  constexpr int64_t sections = 8;
  const auto& memory = tile_memory();
  const WeightMatrix matrix = matrix_in(memory.data(), memory.size(), bits);
  const int64_t tiles = tile_count(matrix.rows) / threads / sections;
  const Tokens x(set, tokens);
  std::vector<float> y(static_cast<size_t>(tokens * matrix.rows));
  const double gigabytes = static_cast<double>(tiles * matrix.tile_stride * threads) * 1e-9;
  std::vector<double> read, multiplied;
  for (auto _ : state) {
    for (int64_t section = 0; section < sections; ++section) {
      const auto first = [&](int part) { return (part * sections + section) * tiles; };
      read.push_back(gigabytes / time_threads(threads, [&](int part) { read_all(matrix.tile(first(part)), tiles * matrix.tile_stride); }));
      multiplied.push_back(gigabytes / time_threads(threads, [&](int part) {
                             set.multiply_fixed(matrix, {first(part), first(part) + tiles}, x.rows, {nullptr, tokens}, {y.data(), matrix.rows});
                           }));
    }
  }
  report(state, "GBps", multiplied, read);
}

/// Products per second on one core, of those that one multiply-add takes.
double peak_rate(const KernelSet& set) {
  constexpr int64_t rounds = 200000;
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) {
    if (std::string_view(probe.name) != set.fixed_probe) continue;
    const double begin = computed();
    const double products = probe.run(rounds);
    return products / (computed() - begin) / set.fixed_products;
  }
  return 0;
}

void prefill(benchmark::State& state, const KernelSet& set, int bits, int64_t tokens) {
  const WeightMatrix matrix = [&] {
    WeightMatrix all = matrix_in(tile_memory().data(), tile_memory().size(), bits);
    all.rows = 2048;
    return all;
  }();
  const Tokens x(set, 2 * tokens);
  std::vector<int32_t> index;  // as an expert's tokens are chosen
  for (int64_t i = 0; i < tokens; ++i) index.push_back(static_cast<int32_t>(2 * i));
  std::vector<float> y(static_cast<size_t>(tokens * matrix.rows));
  const double adds = static_cast<double>(tokens * matrix.rows * columns);
  std::vector<double> rates, peaks;
  for (auto _ : state) {
    peaks.push_back(2e-9 * peak_rate(set));
    const double begin = computed();
    set.multiply_fixed(matrix, {0, tile_count(matrix.rows)}, x.rows, {index.data(), tokens}, {y.data(), matrix.rows});
    rates.push_back(2e-9 * adds / (computed() - begin));
  }
  report(state, "GFLOPs", rates, peaks);
}

void pack(benchmark::State& state, const KernelSet& set, int bits) {
  const WeightFormat format = format_of(bits);
  const std::byte* source = tile_memory().data();
  const int64_t row_bytes = columns * bits / 8;
  const int64_t parameters = columns / group * bytes_of(format.element);
  std::vector<std::byte> tile(static_cast<size_t>(tile_bytes(format, columns)));
  for (auto _ : state) {
    set.pack_tile({format, tile_rows, columns, source, source + tile_rows * row_bytes, source + tile_rows * (row_bytes + parameters)}, tile.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * tile_rows * (row_bytes + 2 * parameters));
}

void add_benchmarks() {
  constexpr int all_bits[] = {2, 3, 4, 5, 6, 8};
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  for (const KernelSet* set : runnable_kernel_sets(detect_cpu_features())) {
    const std::string name = set->name;
    for (const int bits : all_bits) {
      const std::string width = std::to_string(bits);
      benchmark::RegisterBenchmark(("pack/" + name + "/" + width).c_str(), pack, *set, bits);
      if (set == &scalar_kernels()) continue;
      for (const int tokens : {1, 2, 4, 8}) {
        for (const int threads : {1, cores}) {
          const std::string shape = "/tokens:" + std::to_string(tokens) + "/threads:" + std::to_string(threads);
          benchmark::RegisterBenchmark(("decode/" + name + "/" + width + shape).c_str(), decode, *set, bits, tokens, threads)
              ->Iterations(5)
              ->Unit(benchmark::kMillisecond);
        }
      }
      for (const int tokens : {4, 16, 48, 512}) {
        benchmark::RegisterBenchmark(("prefill/" + name + "/" + width + "/tokens:" + std::to_string(tokens)).c_str(), prefill, *set, bits, tokens)
            ->Iterations(std::max(9, 400 / tokens))
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace lagoon

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  lagoon::add_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
