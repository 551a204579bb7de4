// window, router, rotary, KV cache, activations: the parts of the model that need no checkpoint.
#include "laguna/activations.h"

#include "kernels/scalar/weights.h"
#include "laguna/kv_cache.h"
#include "laguna/rotary.h"
#include "laguna/router.h"
#include "laguna/window.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::sentence_of;

TEST(Window, AFullLayerSeesEverythingUpToItself) {
  EXPECT_EQ(visible_keys(AttentionKind::full, 512, 0).begin, 0);
  EXPECT_EQ(visible_keys(AttentionKind::full, 512, 100000).begin, 0);
  EXPECT_EQ(visible_keys(AttentionKind::full, 512, 100000).end, 100001);
}

// The token at 600 with a window of 512 sees 89 to 600: 512 keys, itself included.
TEST(Window, ASlidingLayerSeesWindowKeysItselfIncluded) {
  EXPECT_EQ(visible_keys(AttentionKind::sliding, 512, 600).begin, 89);
  EXPECT_EQ(visible_keys(AttentionKind::sliding, 512, 511).begin, 0);
  EXPECT_EQ(visible_keys(AttentionKind::sliding, 512, 512).begin, 1);
}

TEST(Window, ARingHoldsWindowPlusStepInWholeBlocks) {
  EXPECT_EQ(ring_rows(512, 1), 512);
  EXPECT_EQ(ring_rows(512, 2), 640);
  EXPECT_EQ(ring_rows(512, 256), 768);
  EXPECT_EQ(ring_rows(64, 1), 128);
}

std::vector<int> experts_of(const std::vector<Route>& routes) {
  std::vector<int> experts;
  for (const Route& route : routes) experts.push_back(route.expert);
  return experts;
}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// Expected values by hand: logits [1, 0.5, 3, -2], bias [0, 0, -10, 10], two of four.
TEST(Router, BiasDecidesWhichExpertsButNeverTheirWeights) {
  const std::vector<float> scores = {sigmoid(1.0f), sigmoid(0.5f), sigmoid(3.0f), sigmoid(-2.0f)};
  const std::vector<float> bias = {0.0f, 0.0f, -10.0f, 10.0f};
  std::vector<Route> routes(2);

  choose_experts(scores, bias, routes);

  ASSERT_EQ(experts_of(routes), (std::vector<int>{0, 3}));  // ascending id, although 3 ranks first
  EXPECT_FLOAT_EQ(routes[0].weight * 2.5f, 2.1495110f);     // 2.5 s(1) / (s(1) + s(-2))
  EXPECT_FLOAT_EQ(routes[1].weight * 2.5f, 0.3504890f);
}

TEST(Router, AmongEqualsTheLowerIdIsChosen) {
  const std::vector<float> scores = {0.1f, 0.5f, 0.5f, 0.5f, 0.9f};
  const std::vector<float> bias(5, 0.0f);
  std::vector<Route> routes(3);

  choose_experts(scores, bias, routes);

  EXPECT_EQ(experts_of(routes), (std::vector<int>{1, 2, 4}));
}

TEST(Router, AllExpertsCanBeChosen) {
  const std::vector<float> scores = {0.25f, 0.5f, 0.25f};
  const std::vector<float> bias = {1.0f, -1.0f, 0.0f};
  std::vector<Route> routes(3);

  choose_experts(scores, bias, routes);

  EXPECT_EQ(experts_of(routes), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(routes[1].weight, 0.5f);
}

RotaryConfig yarn(int dimensions, double factor, double original, double beta_fast) {
  return {.yarn = true, .theta = 500000.0, .dimensions = dimensions, .factor = factor, .original_context = original, .beta_fast = beta_fast};
}

void expect_frequencies(const Rotary& rotary, const std::vector<std::pair<size_t, double>>& expected) {
  for (const auto& [at, value] : expected) EXPECT_NEAR(static_cast<double>(rotary.frequencies().at(at)) / value, 1.0, 1e-6) << "frequency " << at;
}

// The published tables, computed in double from the formula.
TEST(Rotary, YarnFrequenciesOfThePublishedModels) {
  expect_frequencies(Rotary(yarn(64, 32, 8192, 32)),
                     {{0, 1.0}, {9, .0249554087}, {10, .0147778927}, {17, .000130343593}, {18, 1.94616382e-05}, {31, 9.41830673e-08}});
  expect_frequencies(Rotary(yarn(64, 128, 8192, 32)), {{10, .0147347666}, {17, .000110792054}, {31, 2.35457668e-08}});
  expect_frequencies(Rotary(yarn(64, 32, 8192, 64)), {{7, .0566696214}, {8, .0342941362}, {17, .000111976996}});
  expect_frequencies(Rotary(yarn(64, 64, 4096, 64)), {{5, .128687373}, {6, .0777550302}, {15, .000224009724}, {31, 4.70915336e-08}});
  expect_frequencies(Rotary(yarn(128, 64, 4096, 64)), {{1, .814617234}, {11, .104830952}, {13, .0630441418}, {63, 3.83615749e-08}});
}

TEST(Rotary, TheAttentionFactorScalesCosineAndSine) {
  RotaryConfig config = yarn(4, 8, 64, 32);
  config.attention_factor = 1.5;
  float cosine[2];
  float sine[2];
  Rotary(config).angles(0, cosine, sine);
  EXPECT_EQ(cosine[0], 1.5f);
  EXPECT_EQ(sine[1], 0.0f);
}

TEST(Rotary, ThePlainRopeHasNoFactor) {
  const RotaryConfig config = {.yarn = false, .theta = 10000.0, .dimensions = 8, .attention_factor = 9.0};
  float cosine[4];
  float sine[4];
  Rotary(config).angles(3, cosine, sine);
  EXPECT_NEAR(cosine[0], std::cos(3.0), 1e-7);
  EXPECT_NEAR(sine[1], std::sin(0.3), 1e-7);
}

ModelConfig small_config() {
  ModelConfig config;
  config.vocabulary = 50;
  config.hidden = 64;
  config.head_dim = 8;
  config.kv_heads = 2;
  config.dense_width = 96;
  config.expert_width = 32;
  config.shared_width = 64;
  config.experts = 6;
  config.experts_per_token = 2;
  config.sliding_window = 100;
  config.max_context = 4096;
  config.full_rotary.dimensions = 4;
  config.sliding_rotary.dimensions = 8;
  config.layers = {{.attention = AttentionKind::full, .query_heads = 4, .dense = true}, {.attention = AttentionKind::sliding, .query_heads = 6}};
  return config;
}

/// Marks keys and values of positions so that they can be recognised: with a number below 256, which bf16 keeps.
void append_positions(KvCache& cache, int64_t count, char mark) {
  cache.reserve(count);
  for (int64_t at = 0; at < count; ++at) {
    const std::vector<float> number(8, static_cast<float>(mark + (cache.length() + at) % 50));
    for (const int layer : {0, 1}) cache.store(layer, 1, cache.length() + at, number.data(), number.data());
  }
  cache.advance(count);
}

/// The mark of a position, read at the last dimension of its key and its value.
char mark_of(const KvCache& cache, int layer, int64_t position) {
  const KeyValueBlock block = cache.block(layer, 1, position, position + 1);
  EXPECT_EQ(block.end, block.begin + 1);
  const float key = scalar::element_at(block.keys, block.element, key_offset(block.begin, 7, 8));
  const float value = scalar::element_at(block.values, block.element, value_offset(block.begin, 7));
  EXPECT_EQ(key, value);
  return static_cast<char>(key);
}

TEST(KvCache, ASlidingLayerKeepsItsWindowWhateverTheContext) {
  const ModelConfig config = small_config();
  KvCache cache(config, 29, ElementType::bf16);  // 100 + 29 - 1 = 128 rows: one page
  const uint64_t page = KvCache::page_bytes(config, ElementType::bf16);
  EXPECT_EQ(page, 2u * 128 * (8 + 32) * 2);  // 2 heads; values are kept in strips of 32 dimensions
  EXPECT_EQ(cache.bytes(), page);

  for (int step = 0; step < 100; ++step) append_positions(cache, 29, 'A');

  EXPECT_EQ(cache.bytes(), page + 23 * page);  // 2900 positions of the full layer: 23 pages
  for (int64_t position = 2800; position < 2900; ++position) EXPECT_EQ(mark_of(cache, 1, position), 'A' + position % 50);
}

TEST(KvCache, ForksShareAPastAndWriteApart) {
  KvCache cache(small_config(), 10, ElementType::bf16);
  for (int step = 0; step < 15; ++step) append_positions(cache, 10, 'A');
  const std::unique_ptr<KvCache> copy = cache.fork();

  append_positions(cache, 2, 'A');
  append_positions(*copy, 2, 'B');

  EXPECT_EQ(mark_of(cache, 0, 150), 'A' + 0);
  EXPECT_EQ(mark_of(*copy, 0, 150), 'B' + 0);
  EXPECT_EQ(mark_of(cache, 1, 151), 'A' + 1);
  EXPECT_EQ(mark_of(*copy, 1, 151), 'B' + 1);
  EXPECT_EQ(mark_of(*copy, 0, 149), 'A' + 49);
}

TEST(KvCache, CanBeCutAsFarAsTheRingRemembers) {
  KvCache cache(small_config(), 29, ElementType::bf16);  // a ring of 128 rows, a window of 100
  for (int step = 0; step < 10; ++step) append_positions(cache, 20, 'A');

  EXPECT_TRUE(cache.can_rewind(200));
  EXPECT_TRUE(cache.can_rewind(171));  // its token sees 72 to 171; the ring begins at 200 - 128 = 72
  EXPECT_FALSE(cache.can_rewind(170));
  EXPECT_TRUE(cache.can_rewind(0));
  EXPECT_FALSE(cache.can_rewind(201));
  EXPECT_FALSE(cache.can_rewind(-1));
}

TEST(KvCache, AfterACutTheRingStillBeginsWhereItsLongestLengthPutIt) {
  KvCache cache(small_config(), 29, ElementType::bf16);
  for (int step = 0; step < 10; ++step) append_positions(cache, 20, 'A');

  cache.rewind(180);
  EXPECT_FALSE(cache.can_rewind(170));
  append_positions(cache, 5, 'B');
  EXPECT_EQ(mark_of(cache, 1, 179), 'A' + 29);
  EXPECT_EQ(mark_of(cache, 1, 180), 'B' + 30);
  EXPECT_FALSE(cache.can_rewind(170));
  EXPECT_TRUE(cache.can_rewind(171));
}

TEST(KvCache, ACutGivesPagesBack) {
  KvCache cache(small_config(), 29, ElementType::bf16);
  const uint64_t empty = cache.bytes();
  for (int step = 0; step < 20; ++step) append_positions(cache, 20, 'A');
  cache.rewind(0);
  EXPECT_EQ(cache.bytes(), empty);
}

TEST(Activations, TheirBytesAreKnownBeforeTheyAreClaimed) {
  for (const int64_t rows : {1, 7, 256}) {
    for (const bool per_element : {false, true}) {
      ModelConfig config = small_config();
      if (per_element) config.layers[1].gate = GateKind::per_element;
      const StepShape shape = {.rows = rows,
                               .context = 5000,
                               .hidden_groups = {true, false, per_element},
                               .wide_groups = {false, true, false},
                               .pair_groups = {per_element, false, false}};
      MemoryBudget budget;
      const Activations activations(config, shape, budget);
      EXPECT_EQ(Activations::bytes(config, shape), budget.total()) << rows;
      EXPECT_EQ(activations.span_slots, std::max<int64_t>(rows, 5));
    }
  }
}

}  // namespace
}  // namespace lagoon
