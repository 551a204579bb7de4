// The plan against hand arithmetic and against what a model really claims; bounds; answers; the curve.
#include "planning/memory_plan.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "checkpoint/artifact.h"
#include "checkpoint/synthetic.h"
#include "planning/memory_curve.h"
#include "planning/memory_room.h"
#include "planning/plan_answer.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>

namespace lagoon {
namespace {

using testing::HasSubstr;

constexpr uint64_t gib = uint64_t{1} << 30;

Checkpoint synthetic(std::string_view spec) { return open_synthetic(parse_synthetic_spec(spec)); }

std::map<std::string, uint64_t> bytes_of(const MemoryPlan& plan) {
  std::map<std::string, uint64_t> bytes;
  for (const PlanLine& line : plan.lines) bytes[line.name] = line.bytes;
  return bytes;
}

TEST(MemoryPlan, KeysAndValuesOfS21AreThePublishedOnes) {
  const Checkpoint checkpoint = synthetic("s-2.1:s-2.1-oq4e");
  const MemoryPlanner planner(checkpoint);
  PlanRequest request = {.model = {.step_rows = 1, .context = 131072}};

  auto bytes = bytes_of(planner.plan(request));
  EXPECT_EQ(bytes["KV: full layers"], 49152ull * 131072u);
  EXPECT_EQ(bytes["KV: sliding layers"], 75'497'472u);  // a chunk of one token needs no more than the window

  request.sequences = 3;
  request.model.step_rows = 512;  // the ring: 512 + 512 - 1 tokens, in whole pages of 128
  bytes = bytes_of(planner.plan(request));
  EXPECT_EQ(bytes["KV: full layers"], 3u * 49152ull * 131072u);
  EXPECT_EQ(bytes["KV: sliding layers"], 3u * 2u * 75'497'472u);
  EXPECT_EQ(bytes["logits"], 3u * 100352u * 4u);

  request.model.kv = ElementType::f32;
  EXPECT_EQ(bytes_of(planner.plan(request))["KV: full layers"], 3u * 2u * 49152ull * 131072u);
}

// docs/memory.md shows this arithmetic.
TEST(MemoryPlan, ThePublishedFiguresOfOQ4eComeOut) {
  const Artifact* artifact = find_artifact(shipped_artifacts(), "mlx-community/Laguna-S-2.1-oQ4e");
  ASSERT_NE(artifact, nullptr);
  EXPECT_EQ(artifact->weight_bytes, 64'122'027'323u);
  EXPECT_EQ(format_gib(*artifact->weight_bytes), "59.72 GiB");
  const ModelConfig config = synthetic("s-2.1:s-2.1-oq4e").config();
  const CpuModelOptions options = {.step_rows = 1};
  const auto keys = CpuModel::sequence_lines(config, options, 32768);
  const uint64_t floor = *artifact->weight_bytes + 8 * gib + keys[0].bytes + keys[1].bytes;
  EXPECT_EQ(floor, 74'398'072'123u);
  EXPECT_EQ(format_gib(floor), "69.29 GiB");
  EXPECT_EQ(format_gib(floor + 16 * gib), "85.29 GiB");
}

TEST(MemoryPlan, WeightsAreThePublishedOnesAndTheirPadding) {
  for (const char* spec : {"s-2.1:s-2.1-oq4e", "xs-2.1:4/64", "m.1:2/128,layers=5", "mini:bf16"}) {
    const Checkpoint checkpoint = synthetic(spec);
    const MemoryPlan plan = MemoryPlanner(checkpoint).plan({.model = {.context = 1024}});
    uint64_t weights = 0;
    for (const PlanLine& line : plan.lines) weights += line.name.starts_with("weights: ") ? line.bytes : 0;
    EXPECT_GE(weights + (2u << 20), checkpoint.weight_bytes()) << spec;  // vectors are not in the lines
    EXPECT_LE(weights, checkpoint.weight_bytes() + checkpoint.weight_bytes() / 200) << spec;
  }
}

TEST(MemoryPlan, TheLedgerOfALoadedModelIsThePlan) {
  for (const char* spec : {"mini:4/64,layers=5", "mini:bf16,layers=2", "mini:s-2.1-oq4e,layers=3", "mini:8/32,layers=1"}) {
    for (const auto& [context, chunk, sequences] : {std::tuple(300, 64, 1), std::tuple(5000, 512, 2), std::tuple(100, 512, 3)}) {
      const Checkpoint checkpoint = synthetic(spec);
      const PlanRequest request = {.model = {.step_rows = chunk, .context = context, .threads = 2}, .sequences = sequences};
      auto planned = bytes_of(MemoryPlanner(checkpoint).plan(request));
      planned.erase(logits_line);
      planned.erase(runtime_line);

      MemoryBudget budget;
      CpuModel model(checkpoint, options_of(request), budget);
      for (int at = 0; at < sequences; ++at) (void)model.create_sequence();

      std::map<std::string, uint64_t> held;
      for (const MemoryBudget::Line& line : budget.lines()) held[line.name] = line.bytes;
      EXPECT_EQ(held, planned) << spec << " " << context;
      EXPECT_EQ(budget.peak(), budget.total()) << spec;
    }
  }
}

TEST(MemoryPlan, FormulasSayTheNumbers) {
  const Checkpoint checkpoint = synthetic("xs-2.1:4/64");
  const MemoryPlan plan = MemoryPlanner(checkpoint).plan({.model = {.step_rows = 512, .context = 65536, .threads = 2}, .text_bytes = 1000});
  std::map<std::string, std::string> formulas;
  for (const PlanLine& line : plan.lines) formulas[line.name] = line.formula;
  EXPECT_EQ(formulas["KV: full layers"], "1 sequences x 10 layers x 512 pages of 128 tokens x 524,288 bytes");
  EXPECT_THAT(formulas["KV: sliding layers"], HasSubstr("window 512 + chunk 512 - 1"));
  EXPECT_THAT(formulas["weights: experts"], HasSubstr("19,968 x [512 x 2048] 4-bit/64 of 589,824"));
  EXPECT_THAT(formulas["tokenizer and template"], HasSubstr("1,000 bytes of files"));
  for (const PlanLine& line : plan.lines) EXPECT_NE(line.formula, "") << line.name;
}

TEST(MemoryPlan, TheLargestContextFitsAndOneTokenMoreDoesNot) {
  const Checkpoint checkpoint = synthetic("xs-2.1:4/64");
  const MemoryPlanner planner(checkpoint);
  for (const uint64_t room : {18 * gib, 20 * gib + 12345, 22 * gib}) {
    for (const int64_t sequences : {1, 3}) {
      PlanRequest request = {.model = {.step_rows = 512, .context = 10}, .sequences = sequences};
      const int64_t largest = planner.largest_context(request, room);
      ASSERT_GT(largest, 0) << room;
      ASSERT_LT(largest, 262144) << room;
      request.model.context = largest;
      EXPECT_LE(planner.plan(request).total_bytes(), room);
      request.model.context = largest + 1;
      EXPECT_GT(planner.plan(request).total_bytes(), room);
    }
  }
  EXPECT_EQ(planner.largest_context({.model = {.context = 10}}, 10 * gib), 0);
  EXPECT_EQ(planner.largest_context({.model = {.context = 10}}, 1000 * gib), 262144);
}

TEST(MemoryPlan, MostSequencesFitAndOneMoreDoesNot) {
  const Checkpoint checkpoint = synthetic("mini:4/64");
  const MemoryPlanner planner(checkpoint);
  PlanRequest request = {.model = {.step_rows = 512, .context = 8192}};
  const int64_t most = planner.largest_sequences(request, 4 * gib);
  ASSERT_GT(most, 1);
  request.sequences = most;
  EXPECT_LE(planner.plan(request).total_bytes(), 4 * gib);
  request.sequences = most + 1;
  EXPECT_GT(planner.plan(request).total_bytes(), 4 * gib);
}

TEST(MemoryPlan, AbsurdSizesStayTheLargestNumber) {
  const Checkpoint checkpoint = synthetic("m.1:2/128,layers=1");
  const MemoryPlan plan = MemoryPlanner(checkpoint).plan({.model = {.context = int64_t{1} << 40}, .sequences = MemoryPlanner::most_sequences});
  EXPECT_EQ(plan.total_bytes(), UINT64_MAX);
}

TEST(MemoryRoom, TheLeastRoomBindsAndReservesCountWhereTheyBelong) {
  AvailableMemory memory = {.total = 64 * gib, .available = 50 * gib, .limits = {{"group", 32 * gib, 30 * gib}}};
  auto bounds = memory_bounds(memory, {});
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].name, "group");
  EXPECT_EQ(bounds[0].room(), 30 * gib);
  EXPECT_EQ(bounds[1].room(), 49 * gib);  // a sixteenth, at most 1 GiB, is left to others

  bounds = memory_bounds(memory, {.memory_limit = 20 * gib, .reserve = 4 * gib});
  EXPECT_EQ(bounds[0].name, "--memory-limit");
  EXPECT_EQ(bounds[0].room(), 16 * gib);
  EXPECT_EQ(bounds[1].room(), 26 * gib);

  bounds = memory_bounds(memory, {.memory_limit = 90 * gib});
  EXPECT_EQ(bounds[0].name, "group");  // a limit above what there is does not bind

  bounds = memory_bounds(memory, {.machine = 96 * gib});
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].room(), 95 * gib);

  EXPECT_TRUE(memory_bounds({}, {}).empty());
  EXPECT_EQ(memory_bounds({}, {.memory_limit = gib}).size(), 1u);
  EXPECT_EQ((MemoryBound{"x", 5, 9}).room(), 0u);
}

TEST(PlanAnswer, SaysWhatToChange) {
  const Checkpoint checkpoint = synthetic("xs-2.1:4/64");
  const MemoryPlanner planner(checkpoint);
  const AvailableMemory machine = {.total = 32 * gib, .available = 19 * gib};
  const PlanRequest request = {.model = {.step_rows = 512, .context = 131072, .kv = ElementType::f32}, .sequences = 2};
  PlanAnswer answer = answer_plan(planner, request, machine, {});
  EXPECT_EQ(answer.fits, false);
  answer.alternatives = {{"small", "org/small", "2-bit", {}, 15 * gib, true, 1000}, {"smaller", "org/smaller", "1-bit", {}, 9 * gib, true, 1000}};
  const std::string advice = testing::PrintToString(advise(planner, answer));
  for (const char* part : {"--context ", "--kv bf16", "take org/small "}) EXPECT_THAT(advice, HasSubstr(part));

  EXPECT_TRUE(advise(planner, answer_plan(planner, {.model = {.context = 10}}, machine, {})).empty());
  const PlanAnswer unknown = answer_plan(planner, request, {}, {});
  EXPECT_EQ(unknown.fits, std::nullopt);
  EXPECT_EQ(unknown.largest_context, std::nullopt);
  EXPECT_TRUE(advise(planner, unknown).empty());
}

TEST(MemoryCurve, GivesThePlanForEveryContextAndSequences) {
  for (const char* spec : {"s-2.1:s-2.1-oq4e", "m.1:4/64,layers=4", "mini:bf16"}) {
    const Checkpoint checkpoint = synthetic(spec);
    const MemoryPlanner planner(checkpoint);
    PlanRequest request = {.model = {.step_rows = 512, .threads = 2}, .text_bytes = 12345};
    const Json curve = memory_curve(planner, request);
    for (const int64_t context : {512, 513, 4096, 100'000, 262'144}) {
      for (const int64_t sequences : {1, 7}) {
        uint64_t total = 0;
        for (const Json& line : curve["fixed"]) total += line["bytes"].get<uint64_t>();
        for (const Json& line : curve["per_sequence"]) total += static_cast<uint64_t>(sequences) * line["bytes"].get<uint64_t>();
        const auto steps = [&](const Json& part, const char* key) { return (context + part[key].get<int64_t>() - 1) / part[key].get<int64_t>(); };
        total += static_cast<uint64_t>(sequences * steps(curve["kv_full"], "page_tokens")) * curve["kv_full"]["page_bytes"].get<uint64_t>();
        const auto slots = static_cast<uint64_t>(std::max(curve["span"]["least"].get<int64_t>(), steps(curve["span"], "span_tokens")));
        total += curve["span"]["base_bytes"].get<uint64_t>() + curve["span"]["bytes"].get<uint64_t>() * slots;
        request.model.context = context;
        request.sequences = sequences;
        EXPECT_EQ(total, planner.plan(request).total_bytes()) << spec << " " << context << " " << sequences;
      }
    }
  }
}

}  // namespace
}  // namespace lagoon
