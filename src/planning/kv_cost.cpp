#include "planning/kv_cost.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <algorithm>
#include <charconv>

namespace lagoon {
namespace {

constexpr size_t most_contexts = 1000;  // of one list
constexpr std::array<std::string_view, 4> names{"bf16", "fp8", "q8", "q4"};
constexpr uint64_t most_bytes = uint64_t{1} << 62;
constexpr uint64_t group_overhead = 4;   // bytes: a 16-bit scale and a 16-bit bias
constexpr uint64_t fp8_scale_bytes = 4;  // of a layer: one bf16 for keys, one for values
constexpr std::string_view advice = "write a number of tokens from 1 to 2^40, such as 131072, 128k (k is 1024) or 1M (1024 k)";

uint64_t group_of(uint64_t head_dim) { return head_dim % 64 == 0 ? 64 : 32; }

uint64_t code_bits(KvStorage storage) { return storage == KvStorage::q8 ? 8 : 4; }

uint64_t vector_bytes(uint64_t head_dim, KvStorage storage) {
  if (storage == KvStorage::bf16) return head_dim * 2;
  if (storage == KvStorage::fp8) return head_dim;
  const uint64_t group = group_of(head_dim);
  return (head_dim + group - 1) / group * (group * code_bits(storage) / 8 + group_overhead);
}

/// layers x positions + sliding layers x window, without leaving 64 bits.
uint64_t sum_of_products(const KvCost& cost) {
  uint64_t full = 0;
  uint64_t sliding = 0;
  uint64_t sum = 0;
  const bool over = __builtin_mul_overflow(cost.global_token_bytes, cost.context, &full) ||
                    __builtin_mul_overflow(cost.sliding_token_bytes, cost.window, &sliding) || __builtin_add_overflow(full, sliding, &sum);
  if (over || sum > most_bytes) {
    fail(ErrorKind::invalid, "--context {}: keys and values of this many tokens take more than 2^62 bytes; ask for less", cost.context);
  }
  return sum;
}

}  // namespace

std::string_view name_of(KvStorage storage) { return names[static_cast<size_t>(storage)]; }

std::optional<KvStorage> kv_storage_named(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return kv_storages[static_cast<size_t>(found - names.begin())];
}

std::string describe(KvStorage storage, int head_dim) {
  if (storage == KvStorage::bf16) return "bf16: 16 bits a number";
  if (storage == KvStorage::fp8)
    return "fp8: 8 bits a number, with one bf16 scale for keys and one for values in each layer, counted at context only";
  const auto numbers = static_cast<uint64_t>(head_dim);
  const double bits = 8.0 * static_cast<double>(vector_bytes(numbers, storage)) / head_dim;
  return fmt::format("{}: {} bits a number, with a 16-bit scale and bias for each group of {}, {:.4g} bits in all", name_of(storage),
                     code_bits(storage), group_of(numbers), bits);
}

int64_t count_layers(const ModelConfig& config, AttentionKind kind) {
  return std::count_if(config.layers.begin(), config.layers.end(), [kind](const LayerConfig& layer) { return layer.attention == kind; });
}

KvCost kv_cost(const ModelConfig& config, const KvRequest& request) {
  KvCost cost;
  const auto made_for = static_cast<uint64_t>(config.max_context);
  cost.context = request.context == 0 ? std::min(kv_default_context, made_for) : request.context;
  if (cost.context < 1 || cost.context > kv_most_context) fail(ErrorKind::invalid, "--context {}: {}", cost.context, advice);
  const auto layers = static_cast<uint64_t>(config.layer_count());
  cost.sliding_layers = static_cast<uint64_t>(count_layers(config, AttentionKind::sliding));
  cost.full_layers = layers - cost.sliding_layers;
  cost.position_bytes = 2 * static_cast<uint64_t>(config.kv_heads) * vector_bytes(static_cast<uint64_t>(config.head_dim), request.storage);
  cost.window = cost.sliding_layers == 0 ? 0 : std::min(cost.context, static_cast<uint64_t>(config.sliding_window));
  cost.global_token_bytes = cost.full_layers * cost.position_bytes;
  cost.sliding_token_bytes = cost.sliding_layers * cost.position_bytes;
  cost.scale_bytes = request.storage == KvStorage::fp8 ? layers * fp8_scale_bytes : 0;
  cost.bytes = sum_of_products(cost) + cost.scale_bytes;
  return cost;
}

uint64_t parse_context(std::string_view text, std::string_view what) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const uint64_t scale = unit.empty() ? 1 : unit == "k" ? 1024 : unit == "M" ? 1024 * 1024 : 0;
  if (error != std::errc() || scale == 0 || number < 1 || number > kv_most_context / scale) {
    fail(ErrorKind::invalid, "{} `{}`: {}", what, printable(text), advice);
  }
  return number * scale;
}

std::vector<uint64_t> parse_contexts(std::string_view text, std::string_view what) {
  std::vector<uint64_t> contexts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    contexts.push_back(parse_context(text.substr(at, comma - at), what));
    if (contexts.size() > most_contexts) fail(ErrorKind::invalid, "{}: more than {} contexts; give fewer", what, most_contexts);
    at = comma + 1;
  }
  return contexts;
}

std::string short_context(uint64_t tokens) {
  if (tokens > 0 && tokens % (1024 * 1024) == 0) return format_count(tokens / (1024 * 1024)) + "M";
  if (tokens > 0 && tokens % 1024 == 0) return format_count(tokens / 1024) + "k";
  return format_count(tokens);
}

std::vector<uint64_t> usual_contexts(const ModelConfig& config) {
  std::vector<uint64_t> contexts;
  const auto most = static_cast<uint64_t>(config.max_context);
  for (const uint64_t thousands : {4, 8, 16, 32, 64, 128, 256, 1024}) {
    if (thousands * 1024 <= most) contexts.push_back(thousands * 1024);
  }
  if (contexts.empty()) contexts.push_back(most);
  return contexts;
}

}  // namespace lagoon
