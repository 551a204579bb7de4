// program.test.mjs: the page that the program writes shows the values that the program prints.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { artifact, openBrowser, withPage } from "./browser.mjs";

const { LAGOON_PROGRAM: program, LAGOON_NANO: nano } = process.env;
const run = (...words) => execFileSync(program, words, { encoding: "utf8", maxBuffer: 2 ** 28 });
const json = (...words) => JSON.parse(run(...words));
const plan = (model, ...words) => json("plan", model, ...words, "--json");

const commas = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const short = (count) => {
  const [scale, letter] = count >= 1e12 ? [1e12, "T"] : count >= 1e9 ? [1e9, "B"] : [1e6, "M"];
  return `${Number((count / scale).toPrecision(4))}${letter}`;
};

/// What a page must show for a fact, found out here another way than in the page: the number's digits, not its formatting code.
function expectedText({ value, unit, source }) {
  if (value === null) return source.kind === "not disclosed" ? "Not disclosed" : "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (unit === "parameters" && value >= 1e6 && source.kind === "published") return short(value);
  if (Number.isInteger(value)) return commas(value);
  if (unit.startsWith("bytes")) return `${commas(Math.floor(value))}${Math.min(value % 1, 0.99).toFixed(2).slice(1)}`;
  return null;  // a fraction: compared as a number
}

describe("the page that the program writes", { skip: program ? false : "LAGOON_PROGRAM is not set" }, () => {
  let models;
  let browser;
  let html;
  before(async () => {
    models = [nano, "xs-2.1:4/64", "s-2.1:s-2.1-oq4e", "m.1:4/64"];  // the last one has no sliding layers
    browser = await openBrowser();
    html = run("compare", ...models, "--format", "html");
  });
  after(async () => { await browser?.close(); });
  const check = (name, body, options = {}) => test(name, () => withPage(browser, html, options, body));

  check("every fact is that of lagoon facts", async (page) => {
    for (const [index, model] of models.entries()) {
      const { facts } = json("facts", model, "--format", "json");
      assert.ok(facts.length > 60);
      const shown = new Map(await page.locator(`#facts-table td[data-model="${index}"]`).evaluateAll((cells) =>
        cells.map((cell) => [cell.closest("tr").dataset.key, ["value", "source"].map((part) => cell.querySelector(`.${part}`)?.textContent ?? "")])));
      for (const fact of facts) {
        const [text, source] = shown.get(fact.key) ?? [];
        const expected = expectedText(fact);
        if (expected !== null) assert.equal(text, expected, `${model} ${fact.key}`);
        else assert.equal(Number(text), Number(fact.value.toPrecision(6)), `${model} ${fact.key}`);
        for (const part of [fact.source.kind, fact.source.place, fact.source.excerpt, fact.note, fact.definition]) {
          assert.ok(source.includes(part ?? ""), `${fact.key}: ${part}`);
        }
      }
    }
  });

  check("rows and their differences are those of lagoon compare", async (page) => {
    const { rows } = json("compare", ...models, "--format", "json");
    const shown = await page.locator("#facts-table tr[data-key]").evaluateAll((lines) =>
      lines.map((line) => [line.dataset.key, line.cells[0].lastChild.textContent, Boolean(line.querySelector(".mark").textContent)]));
    assert.deepEqual(shown, rows.map((row) => [row.key, row.label, row.differs]));
  });

  check("keys and values are those of lagoon kv", async (page) => {
    const contexts = [512, 4096, 5000, 131072, 1048576];
    for (const [index, model] of models.entries()) {
      const { rows } = json("kv", model, "--contexts", contexts.join(), "--format", "json");
      assert.equal(rows.length, contexts.length * 4);
      for (const row of rows) {
        await page.locator("#context").fill(String(row.context));
        await page.locator("#storage").selectOption(row.storage);
        const line = page.locator(`#cache-table tr[data-model="${index}"]`);
        assert.equal(await line.locator(".total .exact").textContent(), `${commas(row.bytes)} bytes`, `${model} ${row.context} ${row.storage}`);
        const each = (await line.locator(".each").textContent()).replaceAll(",", "");
        assert.ok(Math.abs(Number(each) - row.bytes_per_token) <= 0.01, `${model} ${row.context} ${row.storage}`);
      }
    }
  });

  check("totals, lines, verdicts and limits are those of lagoon plan", async (page) => {
    const data = JSON.parse(await page.locator("#lagoon-data").textContent());
    for (const { name, memory } of data.models) assert.ok(memory, `the page has no memory plan of ${name}`);
    let fitting = 0;
    for (const [context, sequences, memory] of [[512, 1, 24], [4096, 3, 64], [131072, 1, 32], [131072, 4, 96], [200001, 1, 64], [1048576, 2, 128]]) {
      await page.locator("#context").fill(String(context));
      await page.locator("#sequences").fill(String(sequences));
      await page.locator("#machine").fill(String(memory));
      for (const [index, model] of models.entries()) {
        const { memory: parameters } = data.models[index];
        if (context > parameters.max_context) continue;
        const what = `${model}, ${context} tokens, ${sequences} sequences, ${memory} GiB`;
        const answer = plan(model, "--context", String(context), "--sequences", String(sequences), "--machine-memory", `${memory}GiB`, "--reserve",
          `${parameters.reserve_bytes}B`);
        const line = page.locator(`#fits tr[data-model="${index}"]`);
        assert.equal(await line.locator(".total .exact").textContent(), `${commas(answer.total_bytes)} bytes`, what);
        assert.equal(await line.getAttribute("data-fits"), String(answer.fits), what);
        fitting += answer.fits ? 1 : 0;
        const least = parameters.prefill_chunk;
        const largest = answer.largest_context < least ? `none from ${least} up` : commas(answer.largest_context);
        assert.equal(await line.locator(".context .main").textContent(), largest, what);
        const most = answer.largest_sequences === 0 ? "none" : commas(answer.largest_sequences);
        assert.equal(await line.locator(".sequences .main").textContent(), most, what);
        const named = ([name, bytes]) => `${name} ${bytes}`;
        const shown = await page.locator(`.ledger[data-model="${index}"] tbody tr`).evaluateAll((rows) =>
          rows.map((row) => [row.cells[0].textContent, row.cells[2].textContent]));
        const expected = answer.lines.map(({ name, bytes }) => [name, commas(bytes)]);
        assert.deepEqual(shown.map(named).sort(), expected.map(named).sort(), what);
      }
    }
    assert.ok(fitting > 3, "some of these fit");
  });

  check("nothing is wider than a phone", async (page) => {
    await page.getByRole("button", { name: "Open all sources" }).click();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    await page.reload();
    await page.screenshot({ path: artifact("program-phone.png"), fullPage: true });
  }, { width: 360, height: 740, deviceScaleFactor: 2 });

  for (const scheme of ["light", "dark"]) {
    check(`a picture in ${scheme} colors`, async (page) => {
      assert.equal(await page.locator("h1").textContent(), "nano, xs-2.1:4/64, s-2.1:s-2.1-oq4e and m.1:4/64");
      await page.screenshot({ path: artifact(`program-${scheme}.png`), fullPage: true });
      if (scheme === "light") await page.pdf({ path: artifact("program-print.pdf"), format: "A4" });
    }, { colorScheme: scheme });
  }

  test("a folder with a hostile name is a name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lagoon-web-"));
    try {
      const hostile = join(folder, "<", 'script><script>window.hit=1<', "script><img src=x onerror=window.hit=1>{{data}}");
      mkdirSync(hostile, { recursive: true });
      cpSync(nano, hostile, { recursive: true });
      await withPage(browser, run("compare", nano, hostile, "--format", "html"), {}, async (page) => {
        assert.equal(await page.locator("#models .name").nth(1).textContent(), hostile);
        assert.equal(await page.evaluate(() => window.hit), undefined);
        assert.equal(await page.locator("img").count(), 0);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
