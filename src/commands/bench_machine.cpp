// bench --machine: the limits of this machine, and what they mean for the published models.
#include "base/byte_size.h"
#include "base/error.h"
#include "benchmark/least_bytes.h"
#include "benchmark/machine_limits.h"
#include "checkpoint/synthetic.h"
#include "commands/bench.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "commands/version.h"
#include "kernels/peak_probes.h"
#include "machine/available_memory.h"
#include "machine/cpu_features.h"
#include "machine/file.h"
#include "machine/topology.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

constexpr uint64_t least_disk_bytes = 64u << 20;

struct KnownModel {
  const char* spec;
  const char* name;  // as a sentence has it
};

constexpr std::array<KnownModel, 4> known_models = {
    {{"xs-2.1:4/64", "XS-2.1 at 4 bits"}, {"xs-2.1:8/64", "XS-2.1 at 8 bits"}, {"s-2.1:s-2.1-oq4e", "S-2.1 as oQ4e"}, {"m.1:4/64", "M.1 at 4 bits"}}};

struct ModelBound {
  std::string name;
  uint64_t weights = 0;  // bytes of all
  uint64_t token = 0;    // bytes that a token reads
  double most = 0.0;     // tokens per second
};

std::vector<ModelBound> bounds_of(const MachineLimits& limits) {
  std::vector<ModelBound> bounds;
  for (const KnownModel& known : known_models) {
    const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec(known.spec));
    ModelBound bound = {known.name, checkpoint.weight_bytes(), weight_bytes_of_a_token(checkpoint)};
    bound.most = limits.read_bandwidth.back().median / static_cast<double>(bound.token);
    bounds.push_back(bound);
  }
  return bounds;
}

void print_text(const MachineLimits& limits, const std::vector<ModelBound>& bounds) {
  std::string text = fmt::format("{} ({})\n", processor_name(), describe(detect_cpu_features()));
  text += "\nreading memory\n";
  for (size_t at = 0; at < limits.read_bandwidth.size(); ++at) {
    const Spread& rate = limits.read_bandwidth[at];
    text += fmt::format("  {:3} thread{} {:8.1f} GB/s ({:.1f} to {:.1f})\n", at + 1, at == 0 ? " " : "s", rate.median / 1e9, rate.least / 1e9,
                        rate.most / 1e9);
  }
  text += "\nmultiply-adds of one core while all are busy\n";
  for (const NamedRate& peak : limits.peaks) text += fmt::format("  {:36} {:8.1f} G/s\n", peak.name, peak.per_second / 1e9);
  text += fmt::format("\nhanding work to all threads   {:8.2f} us while they spin, {:.1f} us when they sleep\n", limits.run_seconds * 1e6,
                      limits.wake_seconds * 1e6);
  if (limits.disk_rate) text += fmt::format("reading a file from the disk  {:8.2f} GB/s\n", *limits.disk_rate / 1e9);
  text += fmt::format("\nyour machine reads {:.0f} GB/s:\n", limits.read_bandwidth.back().median / 1e9);
  for (const ModelBound& bound : bounds) {
    text += fmt::format("  {} reads {} a token and cannot exceed {:.1f} tokens/s; its weights take {}\n", bound.name, format_gib(bound.token),
                        bound.most, format_gib(bound.weights));
  }
  write_output(text);
}

Json to_json(const MachineLimits& limits, const std::vector<ModelBound>& bounds) {
  Json document = {{"lagoon", version()},
                   {"machine", {{"processor", processor_name()}, {"features", describe(detect_cpu_features())}}},
                   {"read_bandwidth", Json::array()},
                   {"peaks", Json::array()},
                   {"run_seconds", limits.run_seconds},
                   {"wake_seconds", limits.wake_seconds},
                   {"disk_rate", nullptr},
                   {"models", Json::array()}};
  for (size_t at = 0; at < limits.read_bandwidth.size(); ++at) {
    const Spread& rate = limits.read_bandwidth[at];
    document["read_bandwidth"].push_back({{"threads", at + 1}, {"bytes_per_second", rate.median}, {"least", rate.least}, {"most", rate.most}});
  }
  for (const NamedRate& peak : limits.peaks) document["peaks"].push_back({{"instruction", peak.name}, {"multiply_adds_per_second", peak.per_second}});
  if (limits.disk_rate) document["disk_rate"] = *limits.disk_rate;
  for (const ModelBound& bound : bounds) {
    document["models"].push_back(
        {{"name", bound.name}, {"weight_bytes", bound.weights}, {"bytes_per_token", bound.token}, {"most_tokens_per_second", bound.most}});
  }
  return document;
}

/// Before anything is measured.
void check_disk_file(const std::filesystem::path& path) {
  std::error_code error;
  const bool large = std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) >= least_disk_bytes;
  if (!large)
    fail(ErrorKind::invalid, "--disk {}: a regular file of 64 MiB or more was needed; name one on the disk that is meant", printable_path(path));
}

MachineLimits measure_with_progress(int threads, const std::optional<std::filesystem::path>& disk, MemoryBudget& budget, uint64_t bytes,
                                    const Environment& environment) {
  // Five readings for each number of threads, each probe, and the time that a wake takes.
  const uint64_t steps = 5 * static_cast<uint64_t>(threads) + peak_probes(detect_cpu_features()).size() + 1;
  uint64_t step = 0;
  ProgressLine progress(environment.error_is_terminal, "measuring the machine");
  return measure_machine(threads, disk, budget, bytes, [&] {
    check_interrupt();
    progress.update(std::min(step++, steps - 1), steps);
  });
}

}  // namespace

int run_machine(const BenchFlags& flags, const Environment& environment) {
  leave_in_time();
  MemoryBudget budget;
  const int cores = usable_cores();
  if (flags.runner.threads < 0 || flags.runner.threads > cores)
    fail(ErrorKind::invalid, "--threads {}: this machine has {} core{} to measure; write a number from 1 to {}", flags.runner.threads, cores,
         cores == 1 ? "" : "s", cores);
  const int threads = flags.runner.threads > 0 ? flags.runner.threads : cores;
  const std::optional<std::filesystem::path> disk = flags.disk.empty() ? std::nullopt : std::make_optional<std::filesystem::path>(flags.disk);
  if (disk) check_disk_file(*disk);
  const AvailableMemory memory = read_available_memory();
  const std::optional<uint64_t> usable = memory.usable();
  if (usable && *usable < 2 * ReadBandwidth::least_bytes) {
    fail(ErrorKind::over_budget, "measuring memory needs {}, {} are available ({}); close other programs", format_gib(2 * ReadBandwidth::least_bytes),
         format_gib(*usable), memory.binding());
  }
  const uint64_t bytes = ReadBandwidth::usual_bytes(usable);
  const MachineLimits limits = measure_with_progress(threads, disk, budget, bytes, environment);
  if (disk && !limits.disk_rate)
    fail(ErrorKind::invalid, "--disk {}: it could not be read past the system's cache; name a file on a disk", printable(flags.disk));
  const std::vector<ModelBound> bounds = bounds_of(limits);
  if (flags.format == "json") {
    write_output(to_json(limits, bounds).dump(2) + "\n");
  } else {
    print_text(limits, bounds);
  }
  return 0;
}

}  // namespace lagoon
