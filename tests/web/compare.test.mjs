// compare.test.mjs: the comparison page in a real browser, made from invented data with values worked out by hand.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { artifact, openBrowser, withPage } from "./browser.mjs";
import { fixtureData, pageOf } from "./fixture.mjs";

let browser;
before(async () => { browser = await openBrowser(); });
after(async () => { await browser?.close(); });

const check = (name, options, body, data = fixtureData()) => test(name, () => withPage(browser, pageOf(data), options, body));
const valueOf = (page, key, model) => page.locator(`#facts-table tr[data-key="${key}"] td[data-model="${model}"] .value`).textContent();
const textsOf = (page, key, model) => page.locator(`#facts-table tr[data-key="${key}"] td[data-model="${model}"] summary`).textContent();
const fits = (page, model, column) => page.locator(`#fits tr[data-model="${model}"] .${column} .main`).textContent();
const totalOf = async (page, model) => (await page.locator(`#fits tr[data-model="${model}"] .total .exact`).textContent()).replace(/\D/g, "");
const isFitting = async (page, model) => (await page.locator(`#fits tr[data-model="${model}"]`).getAttribute("data-fits")) === "true";
const cached = async (page, model) => (await page.locator(`#cache-table tr[data-model="${model}"] .total .exact`).textContent()).replace(/\D/g, "");

check("facts are printed as the program prints them", {}, async (page) => {
  assert.equal(await page.locator("h1").textContent(), "xs-2.1:4/64, Laguna-S-2.1-oQ4e and Laguna-S-2.1");
  assert.equal(await page.locator("#facts-table tr[data-key]").count(), 21);
  assert.equal(await valueOf(page, "params.counted_total", 1), "117,561,977,600");
  assert.match(await textsOf(page, "params.counted_total", 1), /117\.6B/);
  assert.equal(await valueOf(page, "params.total", 1), "118B");
  assert.equal(await valueOf(page, "moe.expert_ratio", 1), "0.333333");
  assert.equal(await valueOf(page, "moe.active_ratio", 1), "0.0677966");
  assert.equal(await valueOf(page, "norm.epsilon", 0), "1e-06");
  assert.equal(await valueOf(page, "shape.tied_embeddings", 0), "no");
  assert.equal(await valueOf(page, "moe.load_balancing", 0), "Not disclosed");
  assert.equal(await valueOf(page, "attn.window", 2), "none");
  assert.match(await textsOf(page, "attn.window", 0), /^512 tokens/);
  assert.match(await textsOf(page, "kv.bytes_at_context", 1), /^6,517,948,416 bytes 6\.07 GiB/);
  assert.equal(await page.locator("#models li").nth(1).locator("dd").nth(1).textContent(), "59.72 GiB");
});

check("a value that does not apply says none and why", {}, async (page) => {
  assert.equal(await valueOf(page, "attn.window", 0), "none");
  assert.match(await textsOf(page, "attn.window", 0), /no sliding layers/);
}, (() => {
  const data = fixtureData();
  const window = data.models[0].facts.find((fact) => fact.key === "attn.window");
  Object.assign(window, { value: null, note: "no sliding layers", source: { kind: "config", place: "", excerpt: "" } });
  return data;
})());

check("every value opens its source by keyboard", {}, async (page) => {
  const details = page.locator('#facts-table tr[data-key="params.counted_total"] td[data-model="1"] details');
  await details.locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.ok(await details.locator(".source").isVisible());
  const text = await details.locator(".source").innerText();
  for (const part of ["headers", "model.safetensors.index.json", "without towers", "params.counted_total"]) assert.ok(text.includes(part), part);
  await page.keyboard.press("Space");
  assert.ok(!(await details.locator(".source").isVisible()));
  assert.equal(await page.locator("#facts-table td").count(), await page.locator("#facts-table td details, #facts-table td .bare").count());
  await page.getByRole("button", { name: "Open all sources" }).press("Enter");
  assert.equal(await page.locator("#facts-table details:not([open])").count(), 0);
});

check("facts are marked where models differ, and filtered", {}, async (page) => {
  const shown = () => page.locator("#facts-table tr[data-key]:visible").evaluateAll((rows) => rows.map((row) => row.dataset.key));
  assert.ok(!(await page.locator('tr[data-key="attn.kv_heads"] .mark').textContent()));
  assert.match(await page.locator('tr[data-key="shape.layers"] .mark').textContent(), /Differs/);
  await page.getByLabel("Only differences").check();
  assert.ok(!(await shown()).includes("attn.kv_heads") && (await shown()).includes("shape.layers"));
  assert.match(await page.locator("#shown").textContent(), /^\d+ of 21 facts$/);
  await page.getByLabel("Only differences").uncheck();
  await page.getByLabel("Find a fact").fill("head dim");
  assert.deepEqual(await shown(), ["attn.qk_head_dim", "attn.v_head_dim"]);
  assert.equal(await page.locator("#facts-table .group:visible").count(), 1);
});

check("retained keys and values for each storage", {}, async (page) => {
  // 12 full layers of 131072 tokens and 36 rings of 512, 8 heads, a key and a value of 128 numbers.
  const rows = 12 * 131072 + 36 * 512;
  for (const [storage, bytes] of [["bf16", 6517948416], ["fp8", rows * 8 * 256 + 48 * 4], ["q8", rows * 8 * 2 * 136], ["q4", rows * 8 * 2 * 72]]) {
    await page.getByLabel("KV storage").selectOption(storage);
    assert.equal(await cached(page, 1), String(bytes), storage);
  }
  await page.getByLabel("KV storage").selectOption("bf16");
  assert.equal(await page.locator('#cache-table tr[data-model="1"] .each').textContent(), "49,728");
  assert.match(await page.locator("#cache-table tbody tr").nth(2).textContent(), /"attn.window" is not known/);
});

check("another storage replaces the KV lines in a figure of its own", {}, async (page) => {
  assert.equal(await page.locator("#cache-table .what-if").count(), 0);
  const total = Number(await totalOf(page, 1));
  await page.getByLabel("KV storage").selectOption("q4");
  assert.equal(await totalOf(page, 1), String(total));
  const instead = total - (12 * 128 * 4096 * 1024 + 12 * 3 * 1024 * 4096) + Number(await cached(page, 1));
  assert.match(await page.locator('#cache-table tr[data-model="1"] .what-if').textContent(), new RegExp(instead.toLocaleString("en-US")));
});

check("memory totals, line by line", {}, async (page) => {
  // Weights and tokenizer, then pages and rings, logits, and activations of 512 spans at least.
  const expected = (context, sequences) => 63440000000 + sequences * (12 * 3 * 1024 * 4096 + 401408 + 12 * 128 * 4096 * Math.ceil(context / 128)) +
    180000000 + 150000 * Math.max(512, Math.ceil(context / 1024));
  for (const [context, sequences] of [[131072, 1], [512, 1], [513, 3], [1048576, 1], [600001, 7]]) {
    await page.locator("#context").fill(String(context));
    await page.locator("#sequences").fill(String(sequences));
    assert.equal(await totalOf(page, 1), String(expected(context, sequences)));
  }
  const lines = await page.locator('.ledger[data-model="1"] tbody td:last-child').allTextContents();
  const sum = lines.map((text) => Number(text.replaceAll(",", ""))).reduce((a, b) => a + b, 0);
  assert.equal(String(sum), await totalOf(page, 1));
});

check("the largest context and the most sequences are borders", {}, async (page) => {
  const context = Number((await fits(page, 1, "context")).replaceAll(",", ""));
  for (const [tokens, fitting] of [[context, true], [context + 1, false]]) {
    await page.locator("#context").fill(String(tokens));
    assert.equal(await isFitting(page, 1), fitting, `${tokens} tokens`);
  }
  await page.locator("#context").fill("131072");
  const sequences = Number(await fits(page, 0, "sequences"));
  for (const [count, fitting] of [[sequences, true], [sequences + 1, false]]) {
    await page.locator("#sequences").fill(String(count));
    assert.equal(await isFitting(page, 0), fitting, `${count} sequences`);
  }
  assert.equal(await fits(page, 1, "sequences"), "none");
});

check("one byte decides", {}, async (page) => {
  const total = Number(await totalOf(page, 0));
  const machine = (bytes) => page.locator("#machine").fill(String(bytes / 2 ** 30));
  await machine(total + 2 ** 30);
  assert.equal(await page.locator("#machine-exact").textContent(), `${(total + 2 ** 30).toLocaleString("en-US")} bytes`);
  assert.equal(await isFitting(page, 0), true);
  await machine(total + 2 ** 30 - 1);
  assert.equal(await isFitting(page, 0), false);
});

check("slider, fields and presets go together", {}, async (page) => {
  const range = page.getByLabel("Context, in steps");
  await range.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#context").inputValue(), "163840");
  assert.equal(await range.getAttribute("aria-valuetext"), "163,840 tokens");
  await page.keyboard.press("Home");
  assert.equal(await page.locator("#context").inputValue(), "512");
  await page.keyboard.press("End");
  assert.equal(await page.locator("#context").inputValue(), "1048576");
  assert.match(await page.locator('#fits tr[data-model="0"]').textContent(), /Context too long.*262,144 tokens/);
  assert.equal(await page.locator("#preset").inputValue(), "68719476736");
  await page.locator("#preset").selectOption({ label: "128 GiB" });
  assert.equal(await page.locator("#machine").inputValue(), "128");
  assert.equal(await page.locator("#answer").textContent(),
    "1,048,576 tokens of context, 1 sequence, 128.00 GiB of memory of which 1.00 GiB stay free. " +
    "Fits: Laguna-S-2.1-oQ4e (107.53 GiB). Has no context this long: xs-2.1:4/64.");
  await page.locator("#machine").fill("100.5");
  assert.equal(await page.locator("#preset").inputValue(), "");
  assert.equal(await isFitting(page, 1), false);
});

check("numbers that cannot be are named, and change nothing", {}, async (page) => {
  const answer = await page.locator("#answer").textContent();
  const impossible = {
    context: ["511", "1048577", "", "600.5"],
    sequences: ["0", "1.5", "1e99"],
    machine: ["-1", "0", ""],
  };
  for (const [field, text] of Object.entries(impossible).flatMap(([name, texts]) => texts.map((one) => [name, one]))) {
    await page.locator(`#${field}`).fill(text);
    assert.equal(await page.locator(`#${field}`).getAttribute("aria-invalid"), "true", `${field} ${text}`);
    assert.match(await page.locator(`#${field}-error`).textContent(), /^Write a /);
    assert.equal(await page.locator("#answer").textContent(), answer);
    await page.locator(`#${field}`).fill({ context: "131072", sequences: "1", machine: "64" }[field]);
    assert.equal(await page.locator(`#${field}-error`).textContent(), "");
  }
});

check("everything is reached by keyboard, with a visible focus", {}, async (page) => {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the comparison");
  assert.ok((await page.locator(".skip").boundingBox()).y >= 0);
  const reached = new Set();
  const state = () => page.evaluate(() => {
    const element = document.activeElement;
    const target = element.type === "radio" ? element.nextElementSibling : element;
    const style = getComputedStyle(target);
    const name = element.id || element.getAttribute("href") || (element.name ? `${element.name}` : "") || element.tagName;
    const box = target.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    const covered = !top || !(target.contains(top) || top.contains(target));
    return { name, covered, outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, end: element === document.body };
  });
  const walk = async (key) => {
    for (let step = 0; step < 150; ++step) {
      const { name, covered, outlined, end } = await state();
      if (end) break;
      assert.ok(!covered, `${name} is hidden behind something`);
      assert.ok(outlined, `${name} has no visible focus`);
      reached.add(name);
      await page.keyboard.press(key);
    }
  };
  await walk("Tab");
  await page.keyboard.press("Shift+Tab");
  await walk("Shift+Tab");
  const all = ["#facts", "#memory", "#cache", "#growth", "theme", "find", "only", "expand", "SUMMARY", "context-range", "context", "sequences",
    "machine", "preset", "storage"];
  for (const name of all) assert.ok(reached.has(name), `${name} is not reached`);
});

test("no page is wider than a phone", async () => {
  const data = fixtureData();
  data.models[1].name = `a/${"long-name-without-an-end".repeat(6)}`;
  for (const width of [320, 360, 800]) {
    await withPage(browser, pageOf(data), { width, height: 740 }, async (page) => {
      await page.getByRole("button", { name: "Open all sources" }).click();
      await page.getByLabel("KV storage").selectOption("q8");
      await page.locator("#sequences").fill("1000000");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width} pixels`);
    });
  }
});

/// Texts whose color is too near to what is behind them (WCAG AA: 4.5, large ones 3).
const faintTexts = () => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = channels(color).map((value) => linear(value / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!(channels(color)[3] === 0)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || ["SCRIPT", "NOSCRIPT"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const both = [luminance(element instanceof SVGElement ? style.fill : style.color), luminance(behind(element))];
    const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (contrast < (large ? 3 : 4.5)) faint.add(`${node.textContent.trim()} ${contrast.toFixed(2)}`);
  }
  return [...faint];
};

for (const scheme of ["light", "dark"]) {
  check(`the ${scheme} page can be read`, { colorScheme: scheme }, async (page) => {
    await page.getByRole("button", { name: "Open all sources" }).click();
    await page.locator("#machine").fill("-1");
    assert.deepEqual(await page.evaluate(faintTexts), []);
    await page.reload();
    await page.screenshot({ path: artifact(`compare-${scheme}.png`), fullPage: true });
  });
}

check("colors follow the system and can be chosen", { colorScheme: "dark" }, async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole("radio", { name: "Auto" }).focus();
  await page.keyboard.press("ArrowRight");
  const light = await background();
  assert.notEqual(light, dark);
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("#theme").getByText("Dark").click();
  assert.equal(await background(), dark);
  await page.locator("#theme").getByText("Auto").click();
  assert.equal(await background(), light);
});

check("a phone shows it", { width: 360, height: 740, deviceScaleFactor: 2, hasTouch: true, isMobile: true }, async (page) => {
  await page.screenshot({ path: artifact("compare-phone.png"), fullPage: true });
  assert.ok(await page.locator("#facts-table .which").first().isVisible());
});

check("paper shows everything and no controls, in light colors", { colorScheme: "dark" }, async (page) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.ok(await page.locator("#facts-table .source").last().isVisible());
  for (const part of ["#controls", "#theme", ".tools", "nav"]) assert.ok(!(await page.locator(part).isVisible()), part);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("details[open]").count(), 0);
  const pdf = await page.pdf({ path: artifact("compare-print.pdf"), format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
});

check("charts have a name and their numbers as text", {}, async (page) => {
  for (const chart of await page.locator("svg.chart").all()) assert.ok((await chart.getAttribute("aria-label")).length > 20);
  assert.equal(await page.locator("svg.chart").count(), 2);
  assert.equal(await page.locator("#growth-figure tbody tr").count(), 12);
  assert.equal(await page.locator("#growth-figure tbody tr").last().textContent(), "1,048,576\u2013107.53 GiB");
  assert.equal(await page.locator(".series polyline").count(), 2);
});

test("hostile names and texts are shown, and do nothing", async () => {
  const hostile = ['<img src=x onerror="window.hit=1">', "</script><script>window.hit=1</script>", "{{style}}{{script}}{{data}}$&$`$'",
    "\u2028\u202Eabc\u0000", "'\"><svg onload=window.hit=1>", "javascript:window.hit=1", "__proto__", "<!--<script>"];
  for (const text of hostile) {
    const data = fixtureData();
    data.models[0].name = text;
    data.models[0].kind = text;
    data.models[1].memory.fixed[0].name = text;
    data.models[1].memory.machine.limit = text;
    data.generator = text;
    data.rows[0] = { key: text, group: text, label: text, unit: text, differs: true };
    const source = { kind: text, place: text, excerpt: text };
    Object.assign(data.models[0].facts[0], { key: text, value: text, unit: text, note: text, definition: text, source });
    await withPage(browser, pageOf(data), {}, async (page) => {
      await page.getByRole("button", { name: "Open all sources" }).click();
      assert.equal(await page.evaluate(() => window.hit), undefined);
      assert.equal(await page.locator("#models .name").first().textContent(), text);
      assert.equal(await page.locator("#facts-table .source code").first().textContent(), text);
      assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
    });
  }
});

test("the page refers to nothing outside itself", () => {
  const html = pageOf({ generator: "", models: [], rows: [] });
  const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
  assert.ok(html.includes(`http-equiv="Content-Security-Policy" content="${policy}"`));
  const addresses = [...html.matchAll(/(?:src|href|action|srcset)\s*=\s*"([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(addresses.filter((address) => !/^(#|data:)/.test(address)), []);
  assert.doesNotMatch(html, /@import|url\(|\son[a-z]+\s*=\s*"|fetch\(|XMLHttpRequest|WebSocket|import\(/);
  assert.doesNotMatch(html, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/);
  assert.doesNotMatch(html, /\{\{/);
});

check("one model alone is a page of facts", {}, async (page) => {
  assert.equal(await page.locator("#eyebrow").textContent(), "Lagoon model facts");
  assert.ok(!(await page.getByText("Only differences").isVisible()));
}, (() => {
  const data = fixtureData();
  return { ...data, models: [data.models[1]] };
})());

check("models without a plan have facts and keys and values", {}, async (page) => {
  assert.match(await page.locator("#answer").textContent(), /^No memory plan/);
  for (const part of ["#growth", "#fit-figure", "#bytes", "#machine"]) assert.ok(!(await page.locator(part).isVisible()), part);
  await page.locator("#context").fill("1");
  assert.equal(await cached(page, 0), String(48 * 8 * 256 * 2));
}, (() => {
  const data = fixtureData();
  data.models[1].memory = null;
  return { ...data, models: [data.models[1]] };
})());
