// kv_cost.h: bytes of the keys and values that one sequence keeps. Full layers keep every position, sliding layers the last
// `window` ones. Not counted: the peak of reading a prompt, allocator overhead, caches of draft models, snapshots on disk.
#pragma once

#include "checkpoint/model_config.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// How one key or value vector of a head is stored.
///   bf16  16 bits a number
///   fp8   8 bits a number; one bf16 scale for the keys and one for the values of each layer, which no token adds to
///   q8    MLX affine groups: 8 bits a number, and a 16-bit scale and bias for each group
///   q4    the same with 4 bits
/// Groups have 64 numbers where 64 divides head_dim; else 32, and a last group that is not full takes the room of a full one.
enum class KvStorage { bf16, fp8, q8, q4 };

constexpr std::array<KvStorage, 4> kv_storages{KvStorage::bf16, KvStorage::fp8, KvStorage::q8, KvStorage::q4};

std::string_view name_of(KvStorage storage);
std::optional<KvStorage> kv_storage_named(std::string_view name);

/// One sentence for people: how the numbers of a head are stored.
std::string describe(KvStorage storage, int head_dim);

struct KvRequest {
  uint64_t context = 0;  // tokens; 0: kv_default_context, or what the checkpoint was made for if that is less
  KvStorage storage = KvStorage::bf16;
};

constexpr uint64_t kv_default_context = 131072;
constexpr uint64_t kv_most_context = uint64_t{1} << 40;

struct KvCost {
  uint64_t context = 0;
  uint64_t position_bytes = 0;  // keys and values of one position in one layer
  uint64_t full_layers = 0;
  uint64_t sliding_layers = 0;
  uint64_t window = 0;              // positions that a sliding layer keeps at this context
  uint64_t global_token_bytes = 0;  // full layers, one position
  uint64_t sliding_token_bytes = 0;
  uint64_t scale_bytes = 0;  // once a sequence, whatever its length
  uint64_t bytes = 0;        // all of it at this context

  /// Mean over the context, scales of whole layers left out.
  double bytes_per_token() const { return static_cast<double>(bytes - scale_bytes) / static_cast<double>(context); }
};

/// @throws Error(invalid) for a context outside 1 .. 2^40 and a cache of more than 2^62 bytes
KvCost kv_cost(const ModelConfig& config, const KvRequest& request);

/// "131072", "128k", "1M": k is 1024, M is 1024 k. @param what  the flag. @throws Error(invalid) unless 1 .. 2^40
uint64_t parse_context(std::string_view text, std::string_view what);

/// As parse_context, with commas between.
std::vector<uint64_t> parse_contexts(std::string_view text, std::string_view what);

/// "131072" as "128k", "1048576" as "1M", "1000" as it is.
std::string short_context(uint64_t tokens);

/// Layers of one kind of attention.
int64_t count_layers(const ModelConfig& config, AttentionKind kind);

/// 4k, 8k, 16k, 32k, 64k, 128k, 256k, 1M as far as the checkpoint goes; what it was made for alone if that is less than 4k.
std::vector<uint64_t> usual_contexts(const ModelConfig& config);

}  // namespace lagoon
