// browser.mjs: a real Chromium for the tests of pages, which fails a test for anything that the page logs, throws or fetches.
import assert from "node:assert/strict";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

function findChromium() {
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    for (const folder of folders) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not in this folder
      }
    }
  }
  throw new Error("no chromium and no google-chrome in PATH: install the package chromium");
}

const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync"];

/// A browser and a folder for pages; close() ends both.
export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: findChromium(), args: quiet });
  const folder = mkdtempSync(join(tmpdir(), "lagoon-web-"));
  let pages = 0;

  /// Opens `html` as a file. What is wrong with it is gathered in page.complaints.
  async function open(html, { width = 1280, height = 900, ...options } = {}) {
    const file = join(folder, `page-${++pages}.html`);
    writeFileSync(file, html);
    const address = pathToFileURL(file).href;
    const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "reduce", offline: true, ...options });
    const page = await context.newPage();
    page.complaints = [];
    page.on("console", (message) => page.complaints.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => page.complaints.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => page.complaints.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
    page.on("request", (request) => {
      if (request.url().split("#")[0] !== address && !request.url().startsWith("data:")) page.complaints.push(`request: ${request.url()}`);
    });
    await page.goto(address);
    return page;
  }

  return { open, close: async () => { await browser.close(); rmSync(folder, { recursive: true, force: true }); } };
}

/// Runs `check` on the page and closes it: nothing may have been logged, thrown or fetched meanwhile.
export async function withPage(browser, html, options, check) {
  const page = await browser.open(html, options);
  try {
    await check(page);
    assert.deepEqual(page.complaints, []);
  } finally {
    await page.context().close();
  }
}

/// Where a test leaves a picture for people: a path, or undefined where nobody asked for any.
export function artifact(name) {
  const folder = process.env.LAGOON_ARTIFACTS;
  if (!folder) return undefined;
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
}
