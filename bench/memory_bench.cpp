// memory_bench.cpp: what `lagoon plan` says beside what the kernel counts, over models, contexts, sequences and chunks.
//   build/release/bench/memory_bench [--all]      without --all, cases that take seconds; with it also a model of 17 GiB and contexts of 65536, for
//                                             hours
#include "base/byte_size.h"
#include "support/memory_case.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lagoon {
namespace {

using testing_support::MemoryCase;
using testing_support::MemoryOutcome;

const std::vector<MemoryCase> quick_cases = {
    {"nano", 64, 64, 1},
    {"nano", 4096, 512, 1},
    {"nano", 1024, 128, 4},
    {"nano", 256, 16, 8},
    {"mini:4/64,layers=1", 300, 512, 1},
    {"mini:4/64", 300, 512, 1},
    {"mini:4/64", 4096, 512, 1},
    {"mini:4/64", 2048, 128, 4},
    {"mini:4/64", 1000, 512, 8},
    {"mini:4/64", 2048, 2048, 1},
    {"mini:bf16", 1024, 512, 1},
    {"mini:bf16,layers=4", 1024, 256, 8},
    {"mini:2/128", 1024, 512, 2},
    {"mini:3/64", 1024, 512, 1},
    {"mini:5/64", 777, 100, 3},
    {"mini:6/32", 1024, 512, 1},
    {"mini:8/32", 1024, 512, 1},
    {"mini:s-2.1-oq4e", 2048, 512, 1},
    {"mini:xs-2.1-oq2", 2048, 512, 2},
    {"xs-2.1:4/64,layers=1", 4096, 512, 1},
    {"xs-2.1:4/64,layers=4", 4096, 512, 1},
    {"xs-2.1:4/64,layers=4", 1024, 512, 4},
    {"xs-2.1:4/64,layers=2", 2048, 2048, 1},
    {"xs-2.1:bf16,layers=2", 1024, 512, 1},
    {"xs-2.1:xs-2.1-oq2,layers=4", 2048, 512, 1},
    {"s-2.1:s-2.1-oq4e,layers=3", 1024, 512, 1},
    {"s-2.1:s-2.1-oq2e-fast,layers=4", 1024, 512, 2},
    {"m.1:4/64,layers=4", 1024, 512, 1},
};

const std::vector<MemoryCase> long_cases = {
    {"xs-2.1:4/64", 1024, 512, 1},         {"xs-2.1:4/64", 1024, 512, 4},          {"xs-2.1:xs-2.1-oq2", 1024, 512, 1},
    {"mini:4/64,layers=1", 65536, 512, 1}, {"mini:4/64,layers=2", 65536, 1024, 1}, {"xs-2.1:4/64,layers=1", 65536, 512, 1},
    {"mini:4/64,layers=1", 32768, 512, 4}, {"xs-2.1:4/64", 65536, 512, 1},
};

/// @return whether the plan was right
bool run(const MemoryCase& one) {
  const MemoryOutcome outcome = testing_support::run_memory_case(one);
  const bool right = outcome.difference() <= outcome.tolerance();
  const double relative = 100.0 * (static_cast<double>(outcome.planned) / static_cast<double>(outcome.resident) - 1.0);
  std::printf("%-32s %8ld %6ld %4ld %16s %16s %+7.2f %% %10s %s\n", one.model.c_str(), static_cast<long>(one.context), static_cast<long>(one.chunk),
              static_cast<long>(one.sequences), format_count(outcome.planned).c_str(), format_count(outcome.resident).c_str(), relative,
              format_binary(outcome.difference()).c_str(), right ? "" : "WRONG");
  std::fflush(stdout);
  return right;
}

}  // namespace
}  // namespace lagoon

int main(int count, char** arguments) {
  std::vector<lagoon::testing_support::MemoryCase> cases = lagoon::quick_cases;
  if (count > 1 && std::strcmp(arguments[1], "--all") == 0) cases.insert(cases.end(), lagoon::long_cases.begin(), lagoon::long_cases.end());
  std::printf("%-32s %8s %6s %4s %16s %16s %9s %10s\n", "model", "context", "chunk", "seqs", "planned", "resident", "error", "difference");
  const auto wrong = std::count_if(cases.begin(), cases.end(), [](const auto& one) { return !lagoon::run(one); });
  std::printf("%zu cases, %ld beyond 2 %% and 64 MiB\n", cases.size(), static_cast<long>(wrong));
  return wrong == 0 ? 0 : 1;
}
