// fixture.mjs: pages made from invented data, for what no checkpoint of this repository has: hostile text, models without a plan.
// Run by itself it writes such a page: node fixture.mjs FILE
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const web = new URL("../../web/", import.meta.url);
const read = (name) => readFileSync(new URL(name, web), "utf8");

/// The page that holds `data`, put together as the program does: each placeholder once, in one pass, and no `<` in the data.
export function pageOf(data) {
  const script = readdirSync(web).filter((name) => name.endsWith(".js")).sort().map(read).join("");
  const parts = { style: read("compare.css"), script, data: JSON.stringify(data).replaceAll("<", "\\u003c") };
  return read("compare.html").replace(/\{\{(style|script|data)\}\}/g, (whole, name) => parts[name]);
}

const config = (pointer) => ({ kind: "config", place: `config.json ${pointer}`, excerpt: null });
const calc = { kind: "calc", place: "calculated from other facts", excerpt: null };
const published = (place, excerpt) => ({ kind: "published", place, excerpt });
const none = { kind: "not disclosed", place: null, excerpt: null };

/// key, group, label, unit, definition, source, then the values of XS and S.
const rows = [
  ["release.date", "release", "released", null, null, published("announcement", "Laguna S 2.1, July 21, 2026"), null, "2026-07-21"],
  ["release.license", "release", "license", null, null, published("model card, front matter", "license: openmdw-1.1"), "openmdw-1.1", "openmdw-1.1"],
  ["params.total", "parameters", "total, stated", "parameters", null, published("model card", "118B total"), 33000000000, 118000000000],
  ["params.counted_total", "parameters", "counted total", "parameters", "Embedding, head, all experts and the rest; without towers.",
    { kind: "headers", place: "model.safetensors.index.json", excerpt: null }, 33442617088, 117561977600],
  ["shape.layers", "shape", "layers", null, null, config("/num_hidden_layers"), 40, 48],
  ["shape.d_model", "shape", "d_model", null, "Width of the residual stream.", config("/hidden_size"), 2048, 3072],
  ["shape.tied_embeddings", "shape", "tied embeddings", null, null, config("/tie_word_embeddings"), false, false],
  ["attn.layout", "attention", "layout", null, null, config("/layer_types"), ...Array(2).fill("1 global : 3 SWA, starting with global")],
  ["attn.global_layers", "attention", "global layers", "layers", null, config("/layer_types"), 10, 12],
  ["attn.local_layers", "attention", "sliding layers", "layers", null, config("/layer_types"), 30, 36],
  ["attn.kv_heads", "attention", "KV heads", null, null, config("/num_key_value_heads"), 8, 8],
  ["attn.local_kv_heads", "attention", "SWA KV heads", null, null, config("/num_key_value_heads"), 8, 8],
  ["attn.qk_head_dim", "attention", "QK head dim", null, null, config("/head_dim"), 128, 128],
  ["attn.v_head_dim", "attention", "V head dim", null, null, config("/head_dim"), 128, 128],
  ["attn.window", "attention", "window", "tokens", null, config("/sliding_window"), 512, 512],
  ["moe.expert_ratio", "experts", "expert width / d_model", null, null, calc, 0.25, 1 / 3],
  ["moe.active_ratio", "experts", "active / total", null, null, calc, 3 / 33, 8 / 118],
  ["moe.load_balancing", "experts", "load balancing", null, null, none, null, null],
  ["norm.epsilon", "norm", "epsilon", null, null, config("/rms_norm_eps"), 1e-6, 1e-6],
  ["context.advertised", "context", "advertised context", "tokens", null, published("model card", "1M tokens of context"), 262144, 1048576],
  ["kv.bytes_at_context", "KV cache", "KV at context", "bytes", "The retained cache of one sequence of 131,072 tokens in 16-bit.",
    calc, 5431623680, 6517948416],
];

const factsOf = (column) => rows.map((row) => {
  const [key, group, label, unit, definition, source] = row;
  const value = row[6 + column];
  const silent = value === null;
  return { key, group, label, value, unit, source: silent ? none : source, note: silent ? "The publisher does not say." : null, definition };
});

const plan = (scale, layers, context) => ({
  prefill_chunk: 512,
  max_context: context,
  fixed: [
    { name: "weights: experts", bytes: 59000000000 * scale },
    { name: "weights: attention", bytes: 3100000000 * scale },
    { name: "weights: embedding and head", bytes: 1300000000 * scale },
    { name: "tokenizer", bytes: 40000000 },
  ],
  per_sequence: [{ name: "KV: sliding layers", bytes: layers * 3 * 1024 * 4096 }, { name: "logits", bytes: 401408 }],
  kv_full: { name: "KV: full layers", page_tokens: 128, page_bytes: layers * 128 * 4096 },
  span: { name: "activations", base_bytes: 180000000, span_tokens: 1024, least: 512, bytes: 150000 },
  reserve_bytes: 1073741824,
  machine: { available_bytes: 68719476736, total_bytes: 70000000000, limit: "MemAvailable" },
});

/// Two models with plans and one without.
export function fixtureData() {
  const xs = { name: "xs-2.1:4/64", kind: "synthetic", facts: factsOf(0), weight_bytes: 19020000000, memory: plan(0.3, 10, 262144) };
  const name = "mlx-community/Laguna-S-2.1-oQ4e";
  const s = { name, kind: "artifact", facts: factsOf(1), weight_bytes: 64121799680, memory: plan(1, 12, 1048576) };
  const facts = factsOf(1).filter((fact) => fact.key !== "attn.window");
  const unplanned = { name: "poolside/Laguna-S-2.1", kind: "published", facts, weight_bytes: null, memory: null };
  return {
    generator: "lagoon 0.1.0",
    models: [xs, s, unplanned],
    rows: rows.map(([key, group, label, unit, , , first, second]) =>
      ({ key, group, label, unit, differs: first !== second || key === "attn.window" })),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(process.argv[2], pageOf(fixtureData()));
