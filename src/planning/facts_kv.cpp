// facts_kv.cpp: the retained cache of one sequence.
#include "base/byte_size.h"
#include "planning/facts_sheet.h"
#include "planning/facts_text.h"

#include <fmt/format.h>

namespace lagoon {
namespace {

std::string request_note(const ModelConfig& config, const KvCost& cost, KvStorage storage) {
  std::string note = fmt::format("at {} tokens, {}", format_count(cost.context), name_of(storage));
  if (cost.context > static_cast<uint64_t>(config.max_context)) {
    note += fmt::format("; the checkpoint is made for {} tokens", format_count(static_cast<uint64_t>(config.max_context)));
  }
  return note;
}

/// "12 layers x 2 x 8 x 128 x 2 bytes"; quantized storage has no whole number of bytes for each number.
std::string global_formula(const ModelConfig& config, const KvCost& cost, KvStorage storage) {
  const uint64_t vector = cost.position_bytes / (2 * static_cast<uint64_t>(config.kv_heads));
  if (storage == KvStorage::bf16 || storage == KvStorage::fp8) {
    return fmt::format("{} layers x 2 x {} x {} x {}", cost.full_layers, config.kv_heads, config.head_dim,
                       storage == KvStorage::bf16 ? "2 bytes" : "1 byte");
  }
  return fmt::format("{} layers x 2 x {} x {} bytes for {} numbers", cost.full_layers, config.kv_heads, vector, config.head_dim);
}

std::string context_formula(const ModelConfig& config, const KvCost& cost) {
  std::string formula = fmt::format("{} x {}", format_count(cost.global_token_bytes), format_count(cost.context));
  if (cost.sliding_layers > 0) {
    formula += fmt::format(" + {} x min({}, {})", format_count(cost.sliding_token_bytes), format_count(cost.context),
                           format_count(static_cast<uint64_t>(config.sliding_window)));
  }
  if (cost.scale_bytes > 0) formula += fmt::format(" + {} of scales", format_count(cost.scale_bytes));
  return formula;
}

std::string share_formula(const KvCost& cost) {
  if (cost.scale_bytes == 0) return fmt::format("{} / {}", format_count(cost.bytes), format_count(cost.context));
  return fmt::format("({} - {} of scales) / {}", format_count(cost.bytes), format_count(cost.scale_bytes), format_count(cost.context));
}

}  // namespace

void add_kv_facts(FactSheet& sheet, const ModelConfig& config, const KvRequest& request) {
  const KvCost cost = kv_cost(config, request);
  const std::string note = request_note(config, cost, request.storage);
  const double token_bytes = cost.bytes_per_token();
  sheet.set("kv.bytes_per_token", plain_number(token_bytes), {"calc", "kv.bytes_at_context / context", share_formula(cost)}, note);
  sheet.set("kv.global_bytes_per_token", cost.global_token_bytes, {"calc", "attn.global_layers", global_formula(config, cost, request.storage)},
            describe(request.storage, config.head_dim));
  sheet.set("kv.bytes_at_context", cost.bytes, {"calc", "global layers x context + sliding layers x window", context_formula(config, cost)}, note);

  const Json& active = sheet.at("params.active").value;
  const auto add_share = [&](std::string_view key, const std::string& of, double bytes) {
    const FactSource source{"calc", of + " / params.active", ""};
    if (active.is_null()) return sheet.set(key, nullptr, source, "no active figure is stated");
    const double billions = active.get<double>() / 1e9;
    sheet.set(key, plain_number(bytes / billions), {source.kind, source.place, fmt::format("{} / {:.6g}", exact_text(plain_number(bytes)), billions)},
              note);
  };
  add_share("kv.bytes_per_token_per_billion_active", "kv.bytes_per_token", token_bytes);
  add_share("kv.bytes_at_context_per_billion_active", "kv.bytes_at_context", static_cast<double>(cost.bytes));
}

}  // namespace lagoon
