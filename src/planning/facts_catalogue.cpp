#include "planning/facts_catalogue.h"

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

using enum FactType;
using enum FactOrigin;

constexpr std::string_view parameters = "parameters";
constexpr std::string_view experts = "experts";
constexpr std::string_view attention = "attention";
constexpr std::string_view feed_forward = "feed-forward";
constexpr std::string_view training = "training";
constexpr std::string_view cache = "KV cache";

constexpr auto kinds = std::to_array<FactKind>({
    {"release.date", "release", "released", text, publisher, "", "day of the first public weights"},
    {"release.license", "release", "license", text, publisher, "", "license of the weights"},
    {"release.modalities", "release", "modalities in", text, both, "", "what the model takes as input"},

    {"params.total", parameters, "total, stated", count, publisher, parameters, "all parameters, as the publisher states them"},
    {"params.active", parameters, "active, stated", count, publisher, parameters, "parameters that one token uses, as the publisher states them"},
    {"params.active_nonembedding", parameters, "active non-embedding, stated", count, publisher, parameters,
     "parameters that one token uses, without embedding and head, as the publisher states them"},
    {"params.counted_total", parameters, "counted total", count, checkpoint, parameters,
     "embedding, head, all experts and the rest, in numbers of the unquantized model; without multi-token prediction, towers and lookup tables"},
    {"params.counted_embedding", parameters, "counted embedding + head", count, checkpoint, parameters,
     "rows x columns of token embedding and output head; once if they are tied"},
    {"params.counted_nonembedding", parameters, "non-embedding, counted", count, checkpoint, parameters, "counted total without embedding and head"},
    {"params.counted_largest_layer", parameters, "largest layer, counted", count, checkpoint, parameters,
     "largest sum over the tensors that share a layers.<index> path, all experts included"},
    {"params.counted_active_nonembedding", parameters, "active non-embedding, counted", count, checkpoint, parameters,
     "weights outside the routed experts, and of those the share that one token is sent to; no embedding, no head"},

    {"shape.layers", "shape", "layers", count, checkpoint, "", "decoder layers"},
    {"shape.d_model", "shape", "d_model", count, checkpoint, "", "width of the residual stream"},
    {"shape.vocab", "shape", "vocabulary", count, checkpoint, "", "rows of the embedding"},
    {"shape.tied_embeddings", "shape", "tied embeddings", flag, checkpoint, "", "whether the head is the embedding"},
    {"shape.tokenizer", "shape", "tokenizer", text, publisher, "", "tokenizer family and size"},
    {"shape.aspect", "shape", "d_model / layers", number, checkpoint, "", "width for each layer of depth; six significant digits"},

    {"attn.mixers", attention, "token mixers", text, both, "", "what mixes tokens: GQA shares KV heads, SWA sees a sliding window"},
    {"attn.layout", attention, "layout", text, checkpoint, "", "order of global and sliding layers"},
    {"attn.global_layers", attention, "global layers", count, checkpoint, "", "layers that see the whole context"},
    {"attn.local_per_global", attention, "SWA : global", number, checkpoint, "", "sliding layers for each global layer; six significant digits"},
    {"attn.local_layers", attention, "sliding layers", count, checkpoint, "", "layers that see a window"},
    {"attn.heads", attention, "query heads (global)", count, checkpoint, "", "query heads of a global layer"},
    {"attn.kv_heads", attention, "KV heads", count, checkpoint, "", "key-value heads of a global layer"},
    {"attn.width", attention, "heads x head dim", count, checkpoint, "", "width of the queries of a global layer"},
    {"attn.heads_per_kv_head", attention, "query heads per KV head", number, checkpoint, "", "query heads of a global layer that share a KV head"},
    {"attn.qk_head_dim", attention, "QK head dim", count, checkpoint, "", "numbers in a query or key of one head"},
    {"attn.v_head_dim", attention, "V head dim", count, checkpoint, "", "numbers in a value of one head"},
    {"attn.window", attention, "window", count, checkpoint, "tokens", "keys that a sliding layer sees, the token itself included"},
    {"attn.local_kv_heads", attention, "SWA KV heads", count, checkpoint, "", "key-value heads of a sliding layer"},
    {"attn.local_heads", attention, "SWA query heads", count, checkpoint, "", "query heads of the first sliding layer"},
    {"attn.local_qk_head_dim", attention, "SWA QK head dim", count, checkpoint, "", "numbers in a query or key of one head of a sliding layer"},
    {"attn.positions", attention, "positions", text, checkpoint, "", "how layers know positions, and the share of a head that is rotated"},
    {"attn.rope_theta", attention, "RoPE base", number, checkpoint, "", "theta of global layers"},
    {"attn.local_rope_theta", attention, "SWA RoPE base", number, checkpoint, "", "theta of sliding layers"},
    {"attn.rotary_fraction", attention, "rotary fraction", number, checkpoint, "", "share of a head that global layers rotate"},
    {"attn.qk_norm", attention, "QK norm", text, checkpoint, "", "norm of queries and keys before rotation"},
    {"attn.output_gate", attention, "output gate", text, both, "", "what scales the heads before the output projection"},
    {"attn.qkv_bias", attention, "QKV bias", flag, checkpoint, "", "whether query, key and value projections add a bias"},

    {"ffn.activation", feed_forward, "activation", text, checkpoint, "", "SwiGLU is silu(gate) x up"},
    {"ffn.dim", feed_forward, "dense width", count, checkpoint, "", "inner width of a dense layer"},
    {"ffn.bias", feed_forward, "bias", flag, checkpoint, "", "whether feed-forward projections add a bias"},
    {"ffn.ratio", feed_forward, "dense width / d_model", number, checkpoint, "", "six significant digits"},

    {"moe.experts", experts, "routed experts", count, checkpoint, "", "experts of a layer that the router chooses from"},
    {"moe.experts_per_token", experts, "experts per token", count, checkpoint, "", "routed experts that one token is sent to"},
    {"moe.expert_dim", experts, "expert width", count, checkpoint, "", "inner width of a routed expert"},
    {"moe.dense_layers", experts, "leading dense layers", count, checkpoint, "", "layers at the front that have no experts"},
    {"moe.router_score", experts, "router score", text, checkpoint, "", "what turns the router's logits into scores"},
    {"moe.load_balancing", experts, "load balancing", text, publisher, "", "how training kept experts evenly used"},
    {"moe.routed_scaling_factor", experts, "routed scaling factor", number, checkpoint, "", "factor of the routed experts' sum"},
    {"moe.renormalize", experts, "renormalize top-k", flag, checkpoint, "", "whether the chosen experts' weights are divided by their sum"},
    {"moe.expert_ratio", experts, "expert width / d_model", number, checkpoint, "", "six significant digits"},
    {"moe.sparsity", experts, "sparsity (experts / top-k)", number, checkpoint, "", "six significant digits"},
    {"moe.active_ratio", experts, "active / total", number, checkpoint, "", "of the stated figures; six significant digits"},

    {"mtp.depth", "multi-token prediction", "depth", count, publisher, "", "extra layers that predict further tokens"},

    {"norm.type", "norm", "norm", text, checkpoint, "", "kind of normalization"},
    {"norm.placement", "norm", "placement", text, checkpoint, "", "pre: before attention and feed-forward"},
    {"norm.epsilon", "norm", "epsilon", number, checkpoint, "", "added to the mean square"},

    {"context.pretraining", "context", "pretraining context", count, publisher, "tokens", "sequence length of most of pretraining"},
    {"context.trained", "context", "trained context", count, publisher, "tokens", "longest sequence in training"},
    {"context.advertised", "context", "advertised context", count, publisher, "tokens", "context that the publisher offers"},
    {"context.extension", "context", "extension", text, checkpoint, "", "how rotary positions are stretched beyond the first training length"},

    {"train.tokens", training, "tokens", count, publisher, "tokens", "tokens of pretraining"},
    {"train.optimizer", training, "optimizer", text, publisher, "", ""},
    {"train.peak_lr", training, "peak LR", number, publisher, "", "largest learning rate"},
    {"train.final_lr", training, "final LR", number, publisher, "", "learning rate at the end"},
    {"train.lr_schedule", training, "LR schedule", text, publisher, "", "course of the learning rate"},
    {"train.warmup", training, "warm-up", text, publisher, "", "how the learning rate starts"},
    {"train.batch_size", training, "batch", text, publisher, "", "tokens or sequences of one step"},
    {"train.weight_decay", training, "weight decay", number, publisher, "", ""},
    {"train.adam_betas", training, "betas", text, publisher, "", "decay rates of the optimizer's moments"},
    {"train.grad_clip", training, "clip", number, publisher, "", "largest norm of the gradient"},
    {"train.precision", training, "precision", text, publisher, "", "number formats of training"},
    {"train.data_mix", training, "data mix", text, publisher, "", "what the training data are"},
    {"train.data_cutoff", training, "data cutoff", text, publisher, "", "date of the latest training data"},
    {"train.hardware", training, "hardware", text, publisher, "", "machines of pretraining"},
    {"train.accelerators", training, "accelerators", count, publisher, "", "number of accelerators in pretraining"},

    {"kv.bytes_per_token", cache, "KV bytes per token", number, checkpoint, "bytes per token",
     "KV at context divided by its tokens, rings of sliding layers included; scales of whole layers are left out"},
    {"kv.global_bytes_per_token", cache, "global KV bytes per token", count, checkpoint, "bytes per token",
     "what each further token adds: keys and values of the global layers; q8 and q4 count a 16-bit scale and bias for each group of 64 "
     "(of 32 where 64 does not divide the head dim; a last group that is not full counts as full), fp8 counts its scales at context only"},
    {"kv.bytes_per_token_per_billion_active", cache, "KV bytes per token per billion active", number, checkpoint, "bytes per token",
     "KV bytes per token for each billion of the stated active parameters"},
    {"kv.bytes_at_context_per_billion_active", cache, "KV at context per billion active", number, checkpoint, "bytes",
     "KV at context for each billion of the stated active parameters"},
    {"kv.bytes_at_context", cache, "KV at context", count, checkpoint, "bytes",
     "retained cache of one sequence: not the peak of prefill, no allocator overhead, no draft caches, no persistent snapshots"},
});

}  // namespace

std::span<const FactKind> fact_catalogue() { return kinds; }

const FactKind* find_fact_kind(std::string_view key) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const FactKind& kind) { return kind.key == key; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace lagoon
