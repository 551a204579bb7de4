// arithmetic.js: numbers as the program prints them, the memory plan, and retained keys and values. Nothing here touches the page.
// The page's script is arithmetic.js, charts.js and compare.js, one after the other.
"use strict";

const GIB = 2 ** 30;

/// 64122027323 -> "64,122,027,323".
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const exactBytes = (bytes) => plural(bytes, "byte");

/// 64122027323 -> "59.72 GiB": the nearest hundredth, ties away from zero, in integers.
function gib(bytes) {
  const hundredths = (BigInt(bytes) * 100n + BigInt(GIB / 2)) / BigInt(GIB);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, "0")} GiB`;
}

/// As %.6g of C: six significant digits, no trailing zeros, an exponent where the number is very small or large.
function general(number) {
  const [mantissa, exponent] = number.toExponential(5).split("e");
  const power = Number(exponent);
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < 6) return trimmed(number.toFixed(5 - power));
  return `${trimmed(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/// 117561977600 -> "117.6B", 118000000000 -> "118B".
function shortCount(count) {
  const [scale, letter] = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]].find(([least]) => count >= least) ?? [1, ""];
  return general(Number((count / scale).toPrecision(4))) + letter;
}

/// Whole, or with two decimals that never round up to the next whole number: 12441.996 -> "12,441.99".
function countOrHundredths(number) {
  const whole = Math.floor(number);
  return grouped(whole) + (whole === number ? "" : Math.min(number - whole, 0.99).toFixed(2).slice(1));
}

/// 131072 -> "128k", 1048576 -> "1M": k is 1024, M is 1024 k.
function shortContext(tokens) {
  if (tokens >= 2 ** 20) return `${general(tokens / 2 ** 20)}M`;
  return tokens >= 1024 ? `${general(tokens / 1024)}k` : String(tokens);
}

/// Parts of a ledger, in their order.
const partNames = { weights: "Weights", kv: "KV cache", working: "Working memory", reserve: "Reserve, kept free" };
const partOf = (name) => (/^weights/i.test(name) ? "weights" : /^KV/.test(name) ? "kv" : "working");

/// The ledger at a context and a number of sequences, as `lagoon plan` adds it up: { lines: [{ name, bytes }], total }.
/// Exact from `prefill_chunk` tokens up.
function planAt(memory, context, sequences) {
  const { kv_full: full, span } = memory;
  const lines = [
    ...memory.fixed.map(({ name, bytes }) => ({ name, bytes })),
    { name: full.name, bytes: full.page_bytes * Math.ceil(context / full.page_tokens) * sequences },
    ...memory.per_sequence.map(({ name, bytes }) => ({ name, bytes: bytes * sequences })),
    { name: span.name, bytes: span.base_bytes + span.bytes * Math.max(span.least, Math.ceil(context / span.span_tokens)) },
  ];
  const order = Object.keys(partNames);
  lines.sort((a, b) => order.indexOf(partOf(a.name)) - order.indexOf(partOf(b.name)));
  return { lines, total: lines.reduce((sum, line) => sum + line.bytes, 0) };
}

const sumOf = (plan, part) => plan.lines.reduce((sum, line) => sum + (partOf(line.name) === part ? line.bytes : 0), 0);
const fitsIn = (memory, total, machine) => total + memory.reserve_bytes <= machine;

/// The largest whole number from low to high that passes, or null. Whatever is below a number that passes must pass as well.
function largest(low, high, passes) {
  if (low > high || !passes(low)) return null;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

const largestContext = (memory, sequences, machine) =>
  largest(memory.prefill_chunk, memory.max_context, (context) => fitsIn(memory, planAt(memory, context, sequences).total, machine));
const mostAtOnce = 2 ** 20;
const mostSequences = (memory, context, machine) =>
  largest(1, mostAtOnce, (sequences) => fitsIn(memory, planAt(memory, context, sequences).total, machine));

/// Bytes of one key or value of one head. q8 and q4 have a 16-bit scale and bias for each group.
function vectorBytes(dimension, storage) {
  if (storage === "bf16") return 2 * dimension;
  if (storage === "fp8") return dimension;
  const group = dimension % 64 === 0 ? 64 : 32;
  return Math.ceil(dimension / group) * ((group * (storage === "q8" ? 8 : 4)) / 8 + 4);
}

/// Keys and values that one sequence keeps: { total, full, sliding, scales } in bytes, or { missing: key } where a fact is not known.
/// @param number  gives the fact of a key, or null
function retained(number, context, storage) {
  const layers = number("attn.global_layers") ?? 0;
  const sliding = number("attn.local_layers") ?? 0;
  const needed = ["attn.qk_head_dim", "attn.v_head_dim"];
  if (layers) needed.push("attn.kv_heads");
  if (sliding) needed.push("attn.local_kv_heads", "attn.window");
  const missing = layers + sliding === 0 ? "attn.global_layers" : needed.find((key) => number(key) === null);
  if (missing) return { missing };
  const headBytes = vectorBytes(number("attn.qk_head_dim"), storage) + vectorBytes(number("attn.v_head_dim"), storage);
  const scale = storage === "fp8" ? 4 : 0;  // of a layer: one bf16 for its keys, one for its values
  const part = (count, positions, heads) => (count ? count * (positions * heads * headBytes + scale) : 0);
  const full = part(layers, context, number("attn.kv_heads"));
  const ring = part(sliding, Math.min(context, number("attn.window") ?? 0), number("attn.local_kv_heads"));
  return { total: full + ring, full, sliding: ring, scales: scale * (layers + sliding) };
}

/// Mean bytes a token, scales of whole layers left out.
const perToken = (cache, context) => countOrHundredths((cache.total - cache.scales) / context);
