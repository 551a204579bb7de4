// topology, available memory, the ledger, the worker pool.
#include "base/error.h"
#include "machine/available_memory.h"
#include "machine/cpu_features.h"
#include "machine/memory_budget.h"
#include "machine/topology.h"
#include "machine/worker_pool.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <stdexcept>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::TemporaryFolder;

TEST(Topology, TheTightestQuotaOfTheWholePathCounts) {
  const TemporaryFolder root;
  root.write("proc/self/cgroup", "0::/outer/inner\n");
  root.write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  root.write("sys/fs/cgroup/outer/cpu.max", "350000 100000\n");
  root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");

  EXPECT_EQ(quota_cores(root.path()), 3);
}

TEST(Topology, VersionOneQuotasAreRead) {
  const TemporaryFolder root;
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n");
  root.write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n");

  EXPECT_EQ(quota_cores(root.path()), 1);
  EXPECT_EQ(usable_cores(root.path()), 1);
}

TEST(Topology, NoQuotaMeansTheAffinityMask) {
  const TemporaryFolder root;
  EXPECT_EQ(quota_cores(root.path()), 0);
  EXPECT_EQ(usable_cores(root.path()), static_cast<int>(affinity_mask().size()));
  root.write("proc/self/cgroup", "garbage\n::\n0::/../..\n");
  root.write("sys/fs/cgroup/cpu.max", "nonsense\n");
  EXPECT_EQ(quota_cores(root.path()), 0);
}

TEST(AvailableMemory, TheGroupThatLeavesLeastBinds) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:   8000000 kB\n");
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/memory.max", "4000000000\n");
  root.write("sys/fs/cgroup/a/memory.current", "3000000000\n");
  root.write("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 400000000\nactive_file 100000000\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");

  const AvailableMemory memory = read_available_memory(root.path());

  EXPECT_EQ(memory.total, 16000000ull * 1024);
  ASSERT_NE(memory.tightest(), nullptr);
  EXPECT_EQ(memory.tightest()->limit, 4'000'000'000u);
  EXPECT_EQ(memory.tightest()->left, 1'500'000'000u);  // page cache counts as free
  EXPECT_EQ(memory.usable(), 1'500'000'000u);
  EXPECT_THAT(memory.binding(), HasSubstr("cgroup/a"));
}

TEST(AvailableMemory, WithoutLimitMemAvailableBinds) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:   8000 kB\n");
  root.write("proc/self/cgroup", "4:memory:/x\n");
  root.write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1\n");

  const AvailableMemory memory = read_available_memory(root.path());

  EXPECT_EQ(memory.usable(), 8000u * 1024);
  EXPECT_EQ(memory.binding(), "MemAvailable");
  EXPECT_TRUE(memory.limits.empty());
  EXPECT_EQ(memory.container, "");
}

TEST(AvailableMemory, EveryGroupOfThePathIsListedWithBothLimitsOfVersion2) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:   8000000 kB\n");
  root.write("proc/self/cgroup", "0::/kubepods/pod7/c1\n");
  root.write("sys/fs/cgroup/memory.max", "9000000000\n");
  root.write("sys/fs/cgroup/kubepods/memory.max", "max\n");
  root.write("sys/fs/cgroup/kubepods/pod7/memory.max", "5000000000\n");
  root.write("sys/fs/cgroup/kubepods/pod7/memory.high", "2000000000\n");
  root.write("sys/fs/cgroup/kubepods/pod7/memory.current", "500000000\n");
  root.write("sys/fs/cgroup/kubepods/pod7/c1/memory.max", "3000000000\n");

  const AvailableMemory memory = read_available_memory(root.path());

  ASSERT_EQ(memory.limits.size(), 4u);
  EXPECT_THAT(memory.limits[0].name, HasSubstr("c1/memory.max"));
  EXPECT_THAT(memory.binding(), HasSubstr("pod7/memory.high"));
  EXPECT_EQ(memory.usable(), 1'500'000'000u);
  EXPECT_EQ(memory.container, "kubernetes");
}

TEST(AvailableMemory, AGroupOfVersion1TellsTheLimitOfGroupsThatCannotBeSeen) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:   8000000 kB\n");
  root.write("proc/self/cgroup", "4:memory:/docker/abc\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000000\n");
  root.write("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 4000000000\ntotal_inactive_file 200000000\n");

  const AvailableMemory memory = read_available_memory(root.path());

  EXPECT_EQ(memory.usable(), 3'200'000'000u);
  EXPECT_THAT(memory.binding(), HasSubstr("hierarchical_memory_limit"));
  EXPECT_EQ(memory.container, "docker");
}

TEST(AvailableMemory, ResourceLimitsOfTheProcessCount) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable:   2251799813685248 kB\n");
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit less = before;
  less.rlim_cur = 1ull << 60;  // far above what this process has, also beside a thread sanitizer
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);

  const AvailableMemory memory = read_available_memory(root.path());

  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(memory.binding(), "RLIMIT_AS (ulimit -v)");
  EXPECT_LT(*memory.usable(), 1ull << 60);
  EXPECT_GT(*memory.usable(), 1ull << 59);
}

TEST(AvailableMemory, AnUnreadableSystemIsUnknownNotFine) {
  const TemporaryFolder root;
  EXPECT_EQ(read_available_memory(root.path()).usable(), std::nullopt);
}

TEST(MemoryBudget, ClaimsAreListedByNameAndGivenBack) {
  MemoryBudget budget(1000);
  {
    const MemoryBudget::Claim first = budget.claim("weights", 300);
    MemoryBudget::Claim second = budget.claim("KV", 100);
    const MemoryBudget::Claim third = budget.claim("weights", 50);
    EXPECT_EQ(budget.total(), 450u);
    second = MemoryBudget::Claim();
    EXPECT_EQ(budget.total(), 350u);
  }

  EXPECT_EQ(budget.total(), 0u);
  EXPECT_EQ(budget.peak(), 450u);
  ASSERT_EQ(budget.lines().size(), 2u);
  EXPECT_EQ(budget.lines()[0].name, "weights");
  EXPECT_EQ(budget.lines()[0].peak, 350u);
}

TEST(MemoryBudget, BeyondTheLimitNothingIsClaimed) {
  MemoryBudget budget(1000);
  const MemoryBudget::Claim kept = budget.claim("a", 900);

  EXPECT_THROW(budget.claim("b", 101), Error);
  EXPECT_THROW(budget.claim("b", UINT64_MAX), Error);
  EXPECT_EQ(budget.total(), 900u);
  EXPECT_EQ(budget.claim("b", 100).bytes(), 100u);
}

TEST(MemoryBudget, AMovedClaimIsGivenBackOnce) {
  MemoryBudget budget;
  MemoryBudget::Claim first = budget.claim("a", 10);
  {
    const MemoryBudget::Claim second = std::move(first);
    EXPECT_EQ(budget.total(), 10u);
  }
  EXPECT_EQ(budget.total(), 0u);
}

TEST(WorkerPool, EveryItemIsDoneOnceWhateverThreadsAndGrain) {
  for (const int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    for (const int64_t grain : {1, 3, 1000}) {
      for (const int64_t count : {0, 1, 7, 1000}) {
        std::vector<std::atomic<int>> done(static_cast<size_t>(count));
        pool.run(count, grain, [&](int64_t begin, int64_t end) {
          ASSERT_TRUE(end - begin >= grain || end == count);
          for (int64_t at = begin; at < end; ++at) ++done[static_cast<size_t>(at)];
        });
        for (const auto& times : done) ASSERT_EQ(times.load(), 1);
      }
    }
  }
}

TEST(WorkerPool, ManyShortRunsFollowEachOther) {
  WorkerPool pool(3);
  std::atomic<int64_t> sum = 0;
  for (int round = 0; round < 3000; ++round) pool.run(3, 1, [&](int64_t begin, int64_t) { sum += begin; });
  EXPECT_EQ(sum.load(), 3000 * 3);
}

TEST(WorkerPool, AnExceptionReachesTheCallerAndThePoolLives) {
  WorkerPool pool(3);
  const auto failing = [](int64_t begin, int64_t) {
    if (begin >= 50) throw std::runtime_error("fifty");
  };
  for (int round = 0; round < 20; ++round) EXPECT_THROW(pool.run(100, 1, failing), std::runtime_error);

  std::atomic<int> done = 0;
  pool.run(10, 1, [&](int64_t, int64_t) { ++done; });
  EXPECT_EQ(done.load(), 10);
}

double seconds_of(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// CPU time of all threads but this one while it waits for so long.
double others_compute(double seconds) {
  const auto others = [] { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID); };
  const double before = others();
  for (const double begun = seconds_of(CLOCK_MONOTONIC); seconds_of(CLOCK_MONOTONIC) - begun < seconds;) {
  }
  return others() - before;
}

// Spinning threads would use as much CPU time as there are of them; the limit leaves room for a slow machine.
TEST(WorkerPool, UsesNoProcessorWhileItIsIdle) {
  WorkerPool pool(3);
  std::atomic<int> done = 0;
  pool.run(100, 1, [&](int64_t, int64_t) { ++done; });
  others_compute(0.05);  // until all have fallen asleep
  EXPECT_LT(others_compute(0.3), 0.03);
}

TEST(WorkerPool, ThePinnedCallerIsLetGoAgain) {
  const std::vector<int> before = affinity_mask();
  {
    const WorkerPool pool(static_cast<int>(before.size()));
    const WorkerPool::PinnedCaller pinned(pool);
    EXPECT_EQ(affinity_mask().size(), 1u);
  }
  EXPECT_EQ(affinity_mask(), before);
}

TEST(Topology, EveryProcessorOfTheMaskIsListedOnce) {
  std::vector<int> processors = processors_by_core();
  std::sort(processors.begin(), processors.end());
  EXPECT_EQ(processors, affinity_mask());
}

TEST(Topology, SiblingsComeAfterAllCores) {
  const TemporaryFolder root;
  const std::vector<int> mask = affinity_mask();
  if (mask.size() < 2) GTEST_SKIP() << "one processor has no siblings";
  for (const int processor : mask) {  // two processors of the mask to a core, neighbours
    const size_t at = static_cast<size_t>(std::find(mask.begin(), mask.end(), processor) - mask.begin());
    root.write("sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list", "core " + std::to_string(at / 2) + "\n");
  }
  EXPECT_EQ(usable_cores(root.path()), static_cast<int>((mask.size() + 1) / 2));
  const std::vector<int> order = processors_by_core(root.path());
  EXPECT_EQ(order.front(), mask.front());
  EXPECT_EQ(order[(mask.size() + 1) / 2], mask[1]);
}

TEST(CpuFeatures, AreConsistent) {
  const CpuFeatures features = detect_cpu_features();
  EXPECT_TRUE(!features.avx512bw || (features.avx512f && features.avx2));
  EXPECT_FALSE(describe(features).empty());
  EXPECT_FALSE(processor_name().empty());
  EXPECT_EQ(describe(CpuFeatures{}), "none of those that Lagoon asks for");
}

}  // namespace
}  // namespace lagoon
