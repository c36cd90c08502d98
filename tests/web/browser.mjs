// SPDX-License-Identifier: MIT
// The page of `wavemem prof --html` in Chromium: loads without an error and without network, sorts, opens an
// instruction and draws it, by keyboard too, in light and dark, and has all its tables without scripts.
//
// usage: node browser.mjs CHROMIUM PAGE.html REPORT.json    (what one run of prof wrote)
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, file, reportFile] = process.argv.slice(2);
const report = JSON.parse(readFileSync(reportFile, "utf8"));
const address = pathToFileURL(file).href;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

// Opens the page and runs `check`; whatever the page says, throws or asks for fails.
async function visit(what, options, check, fragment = "") {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("request", (request) => request.url().split("#")[0] === address || troubles.push(`asks for ${request.url()}`));
  await page.goto(address + fragment, { waitUntil: "load" });
  await check(page);
  assert.deepEqual(troubles, [], what);
  await context.close();
  console.log(`ok  ${what}`);
}

// The texts of a column of the table of instructions, from the top.
const column = (page, title) =>
  page.evaluate((title) => {
    const table = document.querySelector("table.sortable");
    const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === title);
    return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
  }, title);
const numbers = (texts) => texts.filter((text) => text !== "").map((text) => Number.parseFloat(text));
const rows = report.rows;
const lines = rows.map((row) => row.lines).filter((count) => count !== null);

await visit("tables have the report's figures", {}, async (page) => {
  assert.equal(await page.title(), "wavemem prof");
  assert.deepEqual(numbers(await column(page, "lines")), lines);
  assert.deepEqual(await column(page, "instruction"), rows.map((row) => row.text));
});

await visit("says what binds, and the arithmetic", {}, async (page) => {
  const kernel = report.kernels[0];
  assert.match(await page.locator("table.bounds caption").innerText(), new RegExp(`bound by ${kernel.binds}: a lower bound`));
  const parts = await page.locator("table.bounds tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(parts.map((part) => [part[0], part[2]]), kernel.bounds.map((bound) => [bound.part, bound.arithmetic]));
  const caches = await page.locator("table.caches tbody th").allInnerTexts();
  assert.deepEqual(caches, kernel.caches.filter((cache) => cache.read.requests + cache.write.requests + cache.atomic.requests).map((cache) => cache.name));
});

await visit("sorts by mouse, both ways", {}, async (page) => {
  const head = page.locator("table.sortable").first().getByRole("button", { name: "lines" });
  await head.click();
  const down = [...lines].sort((a, b) => b - a);
  assert.deepEqual(numbers(await column(page, "lines")), down);
  assert.equal(await page.locator("th[aria-sort]").getAttribute("aria-sort"), "descending");
  await head.click();
  assert.deepEqual(numbers(await column(page, "lines")), down.toReversed?.() ?? [...down].reverse());
  await page.locator("table.sortable").first().getByRole("button", { name: "offset" }).click();
  const offsets = (await column(page, "offset")).map((text) => Number.parseInt(text.split("+0x")[1], 16));
  assert.deepEqual(offsets, rows.map((row) => row.offset).sort((a, b) => b - a));
});

await visit("sorts and opens an instruction by keyboard alone", {}, async (page) => {
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  for (let i = 0; i < 60 && (await focused()) !== "lines"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.deepEqual(numbers(await column(page, "lines")), [...lines].sort((a, b) => b - a));
  for (let i = 0; i < 60 && (await focused()) !== rows[0].text; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#i0").evaluate((details) => details.open), true);
});

await visit("opens an instruction and draws its wave", {}, async (page) => {
  const worst = rows.findIndex((row) => row.path === "GLOBAL" || row.path === "FLAT");
  const details = page.locator(`#i${worst}`);
  assert.equal(await details.locator("svg").first().isVisible(), false);
  await page.locator("table.sortable").first().getByRole("link", { name: rows[worst].text }).click();
  const drawing = details.locator("svg").first();
  assert.equal(await drawing.isVisible(), true);
  // 64 lanes stand in a row, each as large as the others and none upon another.
  const boxes = await drawing.locator("rect:has(title)").evaluateAll((all) =>
    all.filter((cell) => cell.textContent.startsWith("lane ")).map((cell) => cell.getBoundingClientRect().toJSON()));
  assert.equal(boxes.length, 64);
  assert.ok(boxes.every((box) => box.width > 4 && box.height > 4 && box.top === boxes[0].top));
  assert.ok(boxes.every((box, i) => i === 0 || box.left >= boxes[i - 1].right - 1e-3));
  // What it touches is drawn as often as the report counts lines a run.
  const touched = await drawing.locator("text").evaluateAll((all) => all.filter((text) => /^0x/.test(text.textContent)).length);
  assert.equal(touched, rows[worst].lines / rows[worst].executions);
  const colours = await drawing.locator("rect:has(title)").evaluateAll((all) => new Set(all.map((cell) => getComputedStyle(cell).fill)).size);
  assert.ok(colours >= Math.min(touched, 16));
});

await visit("opens the instruction that its address names", {}, async (page) => {
  assert.deepEqual(await page.locator("details[open]").evaluateAll((all) => all.map((details) => details.id)), ["i1"]);
}, "#i1");

// The contrast of text and paper, after WCAG 2.
const contrast = (page) =>
  page.evaluate(() => {
    const luminance = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).map((part) => Number(part) / 255)
        .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const paper = luminance(getComputedStyle(document.body).backgroundColor);
    const ratio = (element) => {
      const ink = luminance(getComputedStyle(element).color);
      return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    };
    return { paper, least: Math.min(...[...document.querySelectorAll("h1, h2, p, td, th, span, summary, caption")].map(ratio)) };
  });
for (const colorScheme of ["light", "dark"])
  await visit(`is readable in ${colorScheme}`, { colorScheme }, async (page) => {
    const { paper, least } = await contrast(page);
    assert.equal(paper > 0.5, colorScheme === "light");
    assert.ok(least >= 4.5, `contrast ${least}`);
  });

await visit("has its tables without scripts", { javaScriptEnabled: false }, async (page) => {
  assert.equal(await page.locator("table.sortable").first().locator("tbody tr").count(), rows.length);
  assert.equal(await page.locator("button").count(), 0);
  await page.locator("#i0 summary").click();
  assert.equal(await page.locator("#i0 svg").first().isVisible(), true);
});

await visit("shows the source with its lines' figures", {}, async (page) => {
  const line = page.locator("table.listing tr", { hasText: "out[x * n + y] = in[y * n + x];" });
  assert.match(await line.first().innerText(), /%/);
  const href = await line.first().locator("a").getAttribute("href");
  await line.first().locator("a").click();
  assert.equal(await page.locator(href).evaluate((details) => details.open), true);
});

await visit("fits a narrow window", { viewport: { width: 400, height: 800 } }, async (page) => {
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

await browser.close();
