// compare.js: fills the comparison page from the data inside it.
"use strict";

const data = JSON.parse(document.getElementById("lagoon-data").textContent);
const models = data.models;
const byId = (id) => document.getElementById(id);

const factsOf = models.map((model) => new Map(model.facts.map((fact) => [fact.key, fact])));
function factNumber(index, key) {
  const value = factsOf[index].get(key)?.value;
  return typeof value === "number" ? value : null;
}

/// The last part of a repository's or folder's name where that still tells the models apart.
const shortNames = (() => {
  const shorten = (model) => (model.kind === "synthetic" ? model.name : model.name.replace(/\/+$/, "").split("/").pop() || model.name);
  const names = models.map(shorten);
  return models.map((model, index) => (names.filter((name) => name === names[index]).length > 1 ? model.name : names[index]));
})();

const nameOf = (index) => [badge(index), " ", el("span", { class: "name" }, shortNames[index])];
const nameCell = (index) => el("th", { scope: "row" }, nameOf(index));
const dash = "\u2013";

// ---- Header ----

const kinds = {
  checkpoint: "checkpoint on this disk",
  synthetic: "synthetic checkpoint",
  artifact: "published quantization",
  published: "published model, in bf16",
  described: "described by a config file",
};

function modelCard(model, index) {
  const shown = (...keys) => {
    const fact = keys.map((key) => factsOf[index].get(key)).find((candidate) => candidate?.value != null);
    if (!fact) return "";
    const { text, extra } = shownFact(fact);
    return extra || text;
  };
  const line = (title, text) => (text ? el("div", {}, el("dt", {}, title), el("dd", {}, text)) : null);
  return el("li", {},
    el("p", { class: "who" }, badge(index), el("span", { class: "name" }, model.name)),
    el("p", { class: "kind" }, kinds[model.kind] ?? model.kind),
    el("dl", {},
      line("Parameters", shown("params.counted_total", "params.total")),
      line("Active", shown("params.active", "params.counted_active_nonembedding")),
      line("Weights", model.weight_bytes ? gib(model.weight_bytes) : ""),
      line("Context, tokens", shown("context.advertised") || (model.memory ? grouped(model.memory.max_context) : ""))));
}

function showHeader() {
  const joined = shortNames.length > 1 ? `${shortNames.slice(0, -1).join(", ")} and ${shortNames.at(-1)}` : shortNames[0];
  document.title = `${joined} - Lagoon`;
  byId("title").textContent = joined;
  byId("eyebrow").textContent = models.length > 1 ? "Lagoon model comparison" : "Lagoon model facts";
  byId("models").replaceChildren(...models.map(modelCard));
  byId("made").textContent = `Made by ${data.generator}. This file loads nothing from the network and sends nothing.`;
}

// ---- Facts ----

/// A fact as { text, unit, extra }: what stands for its value, the unit, and the same number rounded for people.
function shownFact(fact) {
  if (!fact) return { text: "none", unit: "", extra: "" };
  const { value, source, note } = fact;
  const unit = fact.unit ?? "";
  if (value === null) {
    return source?.kind === "not disclosed" ? { text: "Not disclosed", unit: "", extra: "" } : { text: "none", unit: "", extra: note ?? "" };
  }
  if (typeof value === "boolean") return { text: value ? "yes" : "no", unit: "", extra: "" };
  if (typeof value !== "number") return { text: String(value), unit, extra: "" };
  if (unit === "parameters" && value >= 1e6) {
    // A stated figure is as coarse as its short form.
    const short = shortCount(value);
    return source?.kind === "published" ? { text: short, unit: "", extra: "" } : { text: grouped(value), unit: "", extra: short };
  }
  if (unit === "bytes") return { text: countOrHundredths(value), unit, extra: value >= GIB / 64 ? gib(Math.floor(value)) : "" };
  if (unit === "bytes per token") return { text: countOrHundredths(value), unit: "bytes", extra: "" };
  return { text: Number.isInteger(value) ? grouped(value) : general(value), unit: unit === "parameters" ? "" : unit, extra: "" };
}

function sourcePanel(fact, shown) {
  const entry = (title, text, tag = "span") => (text ? [el("dt", {}, title), el("dd", {}, el(tag, {}, String(text)))] : []);
  const digits = shown.text.replaceAll(",", "");
  return el("dl", { class: "source" },
    entry("Source", fact.source?.kind),
    entry("Place", fact.source?.place, "code"),
    entry("Excerpt", fact.source?.excerpt, "pre"),
    entry("Exact value", typeof fact.value === "number" && String(fact.value) !== digits ? fact.value : "", "code"),
    entry("Note", fact.note),
    entry("Meaning", fact.definition),
    entry("Key", fact.key, "code"));
}

function factCell(row, index) {
  const fact = factsOf[index].get(row.key);
  const shown = shownFact(fact);
  const value = [
    el("span", { class: fact?.value == null ? "value absent" : "value" }, shown.text),
    shown.unit ? el("span", { class: "unit" }, ` ${shown.unit}`) : "",
    shown.extra ? el("span", { class: "extra" }, ` ${shown.extra}`) : "",
  ];
  const cell = el("td", {},
    el("span", { class: "which" }, badge(index), el("span", {}, shortNames[index])),
    fact ? el("details", {}, el("summary", {}, value, hidden(", source")), sourcePanel(fact, shown)) : el("p", { class: "bare" }, value));
  cell.dataset.model = index;
  return cell;
}

function factRow(row) {
  const mark = el("span", { class: "mark" }, row.differs ? [el("span", { "aria-hidden": "true" }, "\u2260"), hidden("Differs: ")] : "");
  const line = el("tr", { class: row.differs ? "differs" : "" },
    el("th", { scope: "row" }, mark, row.label),
    models.map((model, index) => factCell(row, index)));
  line.dataset.key = row.key;
  return line;
}

function showFacts() {
  const table = byId("facts-table");
  const columnHead = (...content) => el("th", { scope: "col" }, content);
  table.style.setProperty("--count", models.length);
  table.append(
    el("caption", { class: "hidden" }, "Facts of each model, in groups"),
    el("thead", {}, el("tr", {}, columnHead("Fact"), models.map((model, index) => columnHead(nameOf(index))))));
  let group = null;
  for (const row of data.rows) {
    if (group?.dataset.group !== row.group) {
      group = el("tbody", {}, el("tr", { class: "group" }, el("th", { scope: "rowgroup", colspan: models.length + 1 }, row.group)));
      group.dataset.group = row.group;
      table.append(group);
    }
    group.append(factRow(row));
  }
  describeTable(table);
  byId("only-field").hidden = models.length < 2;
  byId("differs-legend").textContent = models.length < 2 ? "" : "The sign \u2260 marks facts in which the models differ.";
}

function filterFacts() {
  const words = byId("find").value.trim().toLowerCase();
  const only = byId("only").checked;
  let shown = 0;
  for (const body of byId("facts-table").tBodies) {
    const lines = [...body.rows].slice(1);
    for (const line of lines) {
      const texts = [body.dataset.group, line.dataset.key, line.cells[0].textContent];
      for (const value of line.querySelectorAll(".value")) texts.push(value.textContent);
      line.hidden = (only && !line.classList.contains("differs")) || !texts.join(" ").toLowerCase().includes(words);
    }
    const visible = lines.filter((line) => !line.hidden).length;
    body.hidden = visible === 0;
    shown += visible;
  }
  const all = data.rows.length;
  byId("shown").textContent = shown === all ? plural(all, "fact") : `${grouped(shown)} of ${plural(all, "fact")}`;
}

function openSources(open) {
  byId("expand").setAttribute("aria-pressed", String(open));
  for (const details of byId("facts-table").querySelectorAll("details")) details.open = open;
}

// ---- Controls ----

const planned = [...models.keys()].filter((index) => models[index].memory);
const machineOf = (planned.length && models[planned[0]].memory.machine) || {};
const reserveBytes = Math.max(0, ...planned.map((index) => models[index].memory.reserve_bytes));
const leastContext = Math.max(1, ...planned.map((index) => models[index].memory.prefill_chunk));
const greatestContext = (() => {
  const known = models.map((model, index) => model.memory?.max_context ?? factNumber(index, "context.advertised")).filter(Boolean);
  return Math.max(leastContext, ...(known.length ? known : [2 ** 20]));
})();
const bounds = {
  context: { low: leastContext, high: greatestContext, whole: true },
  sequences: { low: 1, high: mostAtOnce, whole: true },
  machine: { low: 0.01, high: 1000000, whole: false },
};

/// Four steps from each power of two to the next.
const steps = (() => {
  const values = new Set([leastContext, greatestContext]);
  for (let power = 16; power <= greatestContext; power *= 2) {
    for (const value of [power, power * 1.25, power * 1.5, power * 1.75]) {
      if (value > leastContext && value < greatestContext) values.add(value);
    }
  }
  return [...values].sort((a, b) => a - b);
})();

const state = {
  context: Math.min(greatestContext, Math.max(leastContext, 131072)),
  sequences: 1,
  machine: machineOf.available_bytes ?? 64 * GIB,
  storage: "bf16",
};

function presets() {
  const { available_bytes: available, total_bytes: total } = machineOf;
  const options = [];
  if (available != null) options.push([available, "This machine"]);
  if (total != null && total !== available) options.push([total, "This machine, all"]);
  for (const size of [16, 24, 32, 48, 64, 96, 128, 192, 256, 512]) options.push([size * GIB, `${size} GiB`]);
  return [...options, ["", "Other"]].map(([bytes, text]) => el("option", { value: bytes }, text));
}

/// Reads a number field. What is out of bounds is said beside it, and gives null: the last good value stays.
function readNumber(id) {
  const { low, high, whole } = bounds[id];
  const field = byId(id);
  const number = field.value.trim() === "" ? NaN : Number(field.value);
  const good = number >= low && number <= high && (!whole || Number.isInteger(number));
  const message = good ? "" : `Write a ${whole ? "whole " : ""}number from ${whole ? grouped(low) : low} to ${grouped(high)}.`;
  if (byId(`${id}-error`).textContent !== message) byId(`${id}-error`).textContent = message;
  field.setAttribute("aria-invalid", String(!good));
  return good ? number : null;
}

function writeNumber(id, number) {
  byId(id).value = String(number);
  readNumber(id);
}

const writeMachine = () => writeNumber("machine", Math.round((state.machine / GIB) * 100) / 100);

function showControls() {
  const range = byId("context-range");
  const step = steps.filter((context) => context <= state.context).length - 1;
  range.value = step;
  range.setAttribute("aria-valuetext", plural(state.context, "token"));
  range.style.setProperty("--filled", `${(100 * step) / Math.max(1, steps.length - 1)}%`);
  const preset = byId("preset");
  const size = String(state.machine);
  preset.value = [...preset.options].some((option) => option.value === size) ? size : "";
  const limit = state.machine === machineOf.available_bytes && machineOf.limit ? ` (${machineOf.limit})` : "";
  byId("machine-exact").textContent = exactBytes(state.machine) + limit;
}

function connectControls() {
  const onInput = (id, handle) => byId(id).addEventListener("input", () => { handle(byId(id)); showResults(); });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  Object.assign(byId("context"), { min: leastContext, max: greatestContext });
  byId("context-range").max = steps.length - 1;
  byId("preset").append(...presets());
  writeNumber("context", state.context);
  writeMachine();
  onInput("context-range", (range) => { writeNumber("context", state.context = steps[range.value]); });
  onInput("context", () => { state.context = readNumber("context") ?? state.context; });
  onInput("sequences", () => { state.sequences = readNumber("sequences") ?? state.sequences; });
  onInput("machine", () => {
    const size = readNumber("machine");
    if (size !== null) state.machine = Math.round(size * GIB);
  });
  onInput("preset", (preset) => {
    if (preset.value === "") return byId("machine").select();
    state.machine = Number(preset.value);
    return writeMachine();
  });
  onInput("storage", (storage) => { state.storage = storage.value; });
  byId("find").addEventListener("input", filterFacts);
  byId("only").addEventListener("change", filterFacts);
  byId("expand").addEventListener("click", () => openSources(byId("expand").getAttribute("aria-pressed") !== "true"));
  if (planned.length === 0) for (const field of document.querySelectorAll(".needs-plan")) field.hidden = true;
}

// ---- Results ----

const headRow = (...titles) =>
  el("thead", {}, el("tr", {}, titles.map(([title, number]) => el("th", { scope: "col", class: number ? "number" : "" }, title))));
const exact = (text) => el("span", { class: "exact" }, text);
const numberCell = (kind, text, below) => el("td", { class: `number ${kind}` }, el("span", { class: "main" }, text), below ? exact(below) : "");
const bytesCell = (kind, bytes) => numberCell(kind, gib(bytes), exactBytes(bytes));

/// What can be said of a model at the chosen point. `beyond`: it has no context this long.
function verdictOf(index) {
  const { memory } = models[index];
  const plan = planAt(memory, state.context, state.sequences);
  const beyond = state.context > memory.max_context;
  return {
    index, memory, plan, beyond,
    fits: !beyond && fitsIn(memory, plan.total, state.machine),
    spare: state.machine - memory.reserve_bytes - plan.total,
    context: largestContext(memory, state.sequences, state.machine),
    sequences: beyond ? null : mostSequences(memory, state.context, state.machine),
  };
}

const unplanned = "No memory plan: what the weights take in memory is not known.";

function fitsRow(index, found) {
  if (!found) return el("tr", {}, nameCell(index), el("td", { colspan: 4, class: "why" }, unplanned));
  const { memory } = found;
  const [kind, sign, text, below] = found.beyond ? ["beyond", dash, "Context too long", `it ends at ${plural(memory.max_context, "token")}`]
    : found.fits ? ["yes", "\u2713", "Fits", `${gib(found.spare)} to spare`]
      : ["no", "\u2715", "Does not fit", `${gib(-found.spare)} too much`];
  const context = found.context === null ? `none from ${grouped(memory.prefill_chunk)} up` : grouped(found.context);
  const sequences = found.sequences === null ? "none" : grouped(found.sequences);
  const row = el("tr", {}, nameCell(index),
    el("td", {}, el("span", { class: `verdict ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ` ${text}`), exact(below)),
    found.beyond ? numberCell("total", dash) : bytesCell("total", found.plan.total),
    numberCell("context", context, found.context === memory.max_context ? "all it has" : ""),
    numberCell("sequences", found.beyond ? dash : sequences));
  Object.assign(row.dataset, { model: index, fits: found.fits });
  return row;
}

function answer(verdicts) {
  if (planned.length === 0) return unplanned;
  const list = (title, belongs) => {
    const names = [...verdicts.values()].filter(belongs).map(({ index, plan, beyond }) =>
      shortNames[index] + (beyond ? "" : ` (${gib(plan.total)})`));
    return names.length ? `${title}: ${names.join(", ")}.` : "";
  };
  const point = `${plural(state.context, "token")} of context, ${plural(state.sequences, "sequence")}`;
  return [
    `${point}, ${gib(state.machine)} of memory of which ${gib(reserveBytes)} stay free.`,
    list("Fits", ({ fits }) => fits),
    list("Does not fit", ({ fits, beyond }) => !fits && !beyond),
    list("Has no context this long", ({ beyond }) => beyond),
  ].filter(Boolean).join(" ");
}

function showFits(verdicts) {
  byId("fits").replaceChildren(
    headRow(["Model"], ["In this memory"], ["Memory needed", true], [`Largest context, ${plural(state.sequences, "sequence")}`, true],
      [`Most sequences, ${plural(state.context, "token")}`, true]),
    el("tbody", {}, models.map((model, index) => fitsRow(index, verdicts.get(index)))));
  describeTable(byId("fits"));
  byId("answer").textContent = answer(verdicts);
}

function ledger({ index, plan }) {
  const cells = (bytes) => [el("td", { class: "number" }, gib(bytes)), el("td", { class: "number quiet" }, grouped(bytes))];
  const table = el("table", { class: "plain ledger" },
    el("caption", {}, nameOf(index)),
    headRow(["Line"], ["Size", true], ["Bytes", true]),
    el("tbody", {}, plan.lines.map(({ name, bytes }) =>
      el("tr", {}, el("th", { scope: "row" }, name, shareBar(bytes / plan.total, partOf(name))), cells(bytes)))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "Total"), cells(plan.total))));
  table.dataset.model = index;
  return el("div", { class: "scroll", role: "region", "aria-label": `Lines of ${shortNames[index]}` }, table);
}

function whatIfCell(memory, cache) {
  if (!memory || state.context > memory.max_context) return numberCell("what-if", dash);
  const plan = planAt(memory, state.context, state.sequences);
  const total = plan.total - sumOf(plan, "kv") + cache.total * state.sequences;
  const cell = bytesCell("what-if", total);
  cell.append(exact(fitsIn(memory, total, state.machine) ? "would fit" : "would not fit"));
  return cell;
}

function cacheRow(index) {
  const cache = retained((key) => factNumber(index, key), state.context, state.storage);
  const whatIf = state.storage !== "bf16";
  if (cache.missing) {
    const missing = factsOf[index].get(cache.missing)?.label ?? cache.missing;
    return el("tr", {}, nameCell(index), el("td", { colspan: whatIf ? 5 : 4, class: "why" }, `Cannot be computed: "${missing}" is not known.`));
  }
  const row = el("tr", {}, nameCell(index), bytesCell("total", cache.total), numberCell("each", perToken(cache, state.context)),
    bytesCell("full", cache.full), bytesCell("sliding", cache.sliding), whatIf ? whatIfCell(models[index].memory, cache) : "");
  row.dataset.model = index;
  return row;
}

function showCache() {
  const whatIf = state.storage === "bf16" ? [] : [[`What-if: plan with ${state.storage}, ${plural(state.sequences, "sequence")}`, true]];
  const chosen = `One sequence of ${plural(state.context, "token")}, stored as ${state.storage}.`;
  byId("cache-lead").textContent = `${chosen} Context and storage are chosen above.`;
  byId("cache-table").replaceChildren(
    headRow(["Model"], ["Keys and values", true], ["Bytes a token", true], ["Full layers", true], ["Sliding layers", true], ...whatIf),
    el("tbody", {}, [...models.keys()].map(cacheRow)));
  describeTable(byId("cache-table"));
}

function growthTable() {
  const contexts = steps.filter((step) => Number.isInteger(Math.log2(step)) || step === greatestContext);
  const cell = ({ memory }, context) => (context <= memory.max_context ? gib(planAt(memory, context, state.sequences).total) : dash);
  const table = el("table", { class: "plain" },
    headRow(["Context"], ...planned.map((index) => [shortNames[index], true])),
    el("tbody", {}, contexts.map((context) => el("tr", {}, el("th", { scope: "row" }, grouped(context)),
      planned.map((index) => el("td", { class: "number" }, cell(models[index], context)))))));
  return el("details", { class: "alternative" }, el("summary", {}, "The same as a table"), el("div", { class: "scroll" }, table));
}

function showGrowth() {
  const figure = byId("growth-figure");
  const contexts = [...new Set([...steps, state.context, ...planned.map((index) => models[index].memory.max_context)])].sort((a, b) => a - b);
  const lines = planned.map((index) => {
    const { memory } = models[index];
    const own = contexts.filter((context) => context <= memory.max_context);
    return { index, points: own.map((context) => [context, planAt(memory, context, state.sequences).total]) };
  });
  const title = `Lines: memory over context with ${plural(state.sequences, "sequence")}. The table below has the numbers.`;
  const room = state.machine - reserveBytes;
  const extent = { least: leastContext, greatest: greatestContext, chosen: state.context, room, width: widthOf(figure) };
  const table = growthTable();
  table.open = Boolean(figure.querySelector("details")?.open);
  figure.replaceChildren(growthChart(title, lines, extent), legend(planned.map(nameOf)), table);
}

let printing = false;
const widthOf = (figure) => (printing ? 700 : Math.max(240, Math.round(figure.clientWidth)));

function showPlans(verdicts) {
  const shown = [...verdicts.values()].filter((found) => !found.beyond);
  const entries = shown.map(({ index, plan, memory }) => ({ index, name: shortNames[index], plan, reserve: memory.reserve_bytes }));
  const figure = byId("fit-figure");
  figure.hidden = byId("bytes").hidden = shown.length === 0;
  byId("ledgers").replaceChildren(...shown.map(ledger));
  if (shown.length === 0) return;
  figure.replaceChildren(fitChart(`Bars: ${byId("answer").textContent}`, entries, state.machine, widthOf(figure)),
    legend(Object.entries(partNames).map(([part, name]) => [swatch(part), name])));
}

function showResults() {
  showControls();
  const verdicts = new Map(planned.map((index) => [index, verdictOf(index)]));
  showFits(verdicts);
  showPlans(verdicts);
  showCache();
  if (planned.length) showGrowth();
  fitContainers();
}

// ---- The page itself ----

/// Containers that are wider than their place scroll, and only those can be reached by keyboard.
function fitContainers() {
  for (const container of document.querySelectorAll(".scroll")) {
    const wide = container.scrollWidth > container.clientWidth + 1;
    container.classList.toggle("loose", !wide);
    if (wide) container.tabIndex = 0;
    else container.removeAttribute("tabindex");
  }
}

/// On paper everything is open and charts are as wide as a page; afterwards all is as it was.
function prepareForPrint() {
  const redraw = (paper) => {
    printing = paper;
    showResults();
  };
  redraw(true);
  const closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
  const restore = () => {
    for (const details of closed) details.open = false;
    redraw(false);
  };
  addEventListener("afterprint", restore, { once: true });
}

function connectPage() {
  byId("theme").addEventListener("change", (event) => {
    if (event.target.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = event.target.value;
  });
  addEventListener("beforeprint", prepareForPrint);
  let width = 0;
  new ResizeObserver(() => {
    if (width === document.documentElement.clientWidth) return;
    width = document.documentElement.clientWidth;
    showResults();
  }).observe(document.documentElement);
}

showHeader();
showFacts();
filterFacts();
connectControls();
showResults();
connectPage();
