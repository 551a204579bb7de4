// charts.js: elements, and the charts drawn with them. Text reaches the page as text nodes and attributes only, never as markup.
"use strict";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const hidden = (text) => el("span", { class: "hidden" }, text);

/// A model's letter and color: one place in the list, whatever part of the page speaks of it.
const letterOf = (index) => (index < 26 ? String.fromCharCode(65 + index) : String(index + 1));
const colorOf = (index) => `model-${index % 6}`;
const badge = (index) => el("span", { class: `badge ${colorOf(index)}`, "aria-hidden": "true" }, letterOf(index));

/// Says what the parts of a table are, for small screens: there its cells are laid out as blocks, each with the title of its column.
function describeTable(table) {
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const setRole = (selector, role) => table.querySelectorAll(selector).forEach((part) => part.setAttribute("role", role));
  table.setAttribute("role", "table");
  setRole("thead, tbody", "rowgroup");
  setRole("tr", "row");
  setRole("th", "rowheader");
  setRole("thead th", "columnheader");
  setRole("td", "cell");
  for (const cell of table.querySelectorAll("td:not([colspan])")) cell.dataset.title = titles[cell.cellIndex];
}

const legend = (entries) => el("ul", { class: "legend" }, entries.map((entry) => el("li", {}, entry)));
const swatch = (part) =>
  svg("svg", { class: "swatch", viewBox: "0 0 12 12", "aria-hidden": "true" },
    svg("rect", { class: `part-${part}`, x: 1, y: 1, width: 10, height: 10 }));

/// A bar as long as its share of a whole.
function shareBar(share, part) {
  return svg("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 4 }),
    svg("rect", { class: `part-${part}`, width: 100 * share, height: 4 }));
}

const picture = (title, width, height, ...children) =>
  svg("svg", { class: "chart", role: "img", "aria-label": title, viewBox: `0 0 ${width} ${height}` }, children);
const label = (x, y, text, kind = "", anchor = "start") => svg("text", { x, y, class: kind, "text-anchor": anchor }, text);
const rule = (kind, x1, y1, x2, y2) => svg("line", { class: kind, x1, y1, x2, y2 });

/// Text cut to about `width` pixels.
function clipped(text, width) {
  const room = Math.max(3, Math.floor(width / 8));
  return text.length <= room ? text : `${text.slice(0, room - 1)}\u2026`;
}

/// One bar a model: what it needs, part by part, beside what the machine has.
/// @param entries  [{ index, name, plan, reserve }]
function fitChart(title, entries, machine, width) {
  const step = 60;
  const bottom = entries.length * step;
  const most = Math.max(machine, ...entries.map((entry) => entry.plan.total + entry.reserve));
  const x = (bytes) => 1 + (bytes / most) * (width - 2);
  const limit = x(machine);
  const rows = entries.map(({ index, name, plan, reserve }, place) => {
    const top = place * step;
    const parts = [...["weights", "kv", "working"].map((part) => [part, sumOf(plan, part)]), ["reserve", reserve]];
    let start = 0;
    const bars = parts.map(([part, bytes]) => {
      const left = x(start);
      start += bytes;
      return svg("rect", { class: `part-${part}`, x: left, y: top + 26, width: x(start) - left, height: 22 },
        svg("title", {}, `${partNames[part]}: ${gib(bytes)}`));
    });
    const heading = svg("text", { x: 0, y: top + 16 },
      svg("tspan", { class: `letter ${colorOf(index)}` }, letterOf(index)),
      svg("tspan", { dx: 10 }, clipped(name, width - 130)),
      svg("tspan", { dx: 10, class: "strong" }, gib(plan.total)));
    return [heading, bars, rule("limit", limit, top + 21, limit, top + 53)];
  });
  const atEnd = limit > 150;
  return picture(title, width, bottom + 20, rows, rule("limit", limit, bottom - 7, limit, bottom + 2),
    label(limit, bottom + 16, `Machine ${gib(machine)}`, "limit-text", atEnd ? "end" : "start"));
}

/// Round steps of an axis from 0 to `most`, at most about `count` of them.
function ticks(most, count) {
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (unused, place) => Number((place * step).toPrecision(6)));
}

/// Where a chart of memory over context draws what: { x(context), y(bytes) } and its borders.
function growthScale(least, greatest, most, width) {
  const box = { left: 48, right: width - 28, top: 28, bottom: 292, width, height: 340 };
  const low = Math.log2(least);
  const high = Math.log2(Math.max(greatest, least * 2));
  return {
    ...box, least, greatest, most,
    x: (context) => box.left + ((Math.log2(context) - low) / (high - low)) * (box.right - box.left),
    y: (bytes) => box.bottom - (bytes / most) * (box.bottom - box.top),
  };
}

function growthAxes(scale) {
  const { x, y, left, right, bottom } = scale;
  const rows = ticks(scale.most / GIB, 6).map((value) => [
    rule("grid", left, y(value * GIB), right, y(value * GIB)),
    label(left - 8, y(value * GIB) + 4, general(value), "tick", "end"),
  ]);
  const first = Math.ceil(Math.log2(scale.least));
  const octaves = Math.floor(Math.log2(scale.greatest)) - first;
  const every = Math.max(1, Math.ceil(octaves / Math.max(1, Math.floor((right - left) / 56))));
  const columns = Array.from({ length: Math.floor(octaves / every) + 1 }, (unused, place) => 2 ** (first + place * every));
  return [
    label(0, 12, "GiB", "tick"), rows,
    columns.map((context) => label(x(context), bottom + 20, shortContext(context), "tick", "middle")),
    label(right, scale.height - 6, "tokens of context (k is 1,024)", "tick", "end"),
  ];
}

/// One line a model over the contexts it has, beside what the machine can give.
/// @param lines  [{ index, points: [[context, bytes]] }] with ascending contexts
/// @param room   the machine's memory without the reserve
function growthChart(title, lines, { least, greatest, chosen, room, width }) {
  const highest = Math.max(...lines.map((line) => line.points.at(-1)[1]));
  const most = (room > highest && room < 2 * highest ? room : highest) * 1.06;
  const scale = growthScale(least, greatest, most, width);
  const { x, y, left, right, top, bottom } = scale;
  const ends = new Map(lines.map((line) => [line, y(line.points.at(-1)[1])]).sort((a, b) => a[1] - b[1]));
  let above = -Infinity;
  for (const [line, at] of ends) {
    above = Math.max(at, above + 16);
    ends.set(line, above);
  }
  const drawn = lines.map((line) => {
    const point = line.points.find(([context]) => context === chosen);
    return svg("g", { class: `series ${colorOf(line.index)}` },
      svg("polyline", { points: line.points.map(([context, bytes]) => `${x(context).toFixed(1)},${y(bytes).toFixed(1)}`).join(" ") }),
      point ? svg("circle", { cx: x(chosen), cy: y(point[1]), r: 4.5 }) : null,
      label(x(line.points.at(-1)[0]) + 9, ends.get(line) + 5, letterOf(line.index), "strong"));
  });
  const limit = room <= 0 || room > most ? [] : [
    rule("limit", left, y(room), right, y(room)),
    label(left + 4, y(room) - 7, `Machine less reserve: ${gib(room)}`, "limit-text"),
  ];
  return picture(title, width, scale.height, growthAxes(scale), rule("chosen", x(chosen), top, x(chosen), bottom), drawn, limit);
}
