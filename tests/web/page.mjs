// SPDX-License-Identifier: MIT
// usage: node --experimental-websocket page.mjs SITE [SCREENSHOT]: opens the page in headless Chromium; 77: there is none.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import assert from "node:assert/strict";

const [site, picture] = process.argv.slice(2);
if (spawnSync("chromium", ["--version"]).error) process.exit(77);
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };
const server = http.createServer((request, answer) => {
  const name = path.join(site, new URL(request.url, "http://x").pathname.replace(/\/$/, "/index.html"));
  try {
    const bytes = readFileSync(name);
    answer.setHeader("content-type", types[path.extname(name)] ?? "text/plain");
    answer.end(bytes);
  } catch { answer.statusCode = 404; answer.end(); }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const profile = mkdtempSync(path.join(tmpdir(), "chromium-"));
const browser = spawn("chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--window-size=1400,1000", `--user-data-dir=${profile}`, "about:blank"]);
const port = await new Promise((done) => browser.stderr.on("data", (text) => { const found = /127\.0\.0\.1:(\d+)/.exec(text); if (found) done(found[1]); }));
const pages = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
const socket = new WebSocket(pages.find((one) => one.type === "page").webSocketDebuggerUrl);
await new Promise((done) => { socket.onopen = done; });
const waiting = new Map();
let number = 0;
socket.onmessage = (event) => { const one = JSON.parse(event.data); waiting.get(one.id)?.(one.result ?? one); };
const send = (method, params = {}) => new Promise((done) => { waiting.set(++number, done); socket.send(JSON.stringify({ id: number, method, params })); });
const value = async (expression) => (await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result?.value;
const open = async (query) => {
  await send("Page.navigate", { url: `http://127.0.0.1:${server.address().port}/${query}` });
  for (let i = 0; i < 600 && (await value("document.body?.dataset.ready")) !== "yes"; i++) await new Promise((done) => setTimeout(done, 100));
};
try {
  await open("?example=2&tab=accesses");
  console.log(await value("document.getElementById('status').textContent"), await value("document.getElementById('errors').textContent"));
  if (picture) writeFileSync(picture, Buffer.from((await send("Page.captureScreenshot")).data, "base64"));
  assert.match(await value("document.getElementById('panel').textContent"), /LDS bank conflicts/);
  assert.ok((await value("document.querySelectorAll('#panel svg').length")) >= 4);
  await open("?example=4&tab=findings");
  assert.match(await value("document.getElementById('panel').textContent"), /store of 4 bytes|past the end/);
  assert.equal(await value("document.querySelector('#numbers b').textContent"), "\u25cf15");
  // A code object of a compiler, its link, and the way back to an example.
  await open("?example=0&tab=accesses");
  const { root } = await send("DOM.getDocument");
  const { nodeId } = await send("DOM.querySelector", { nodeId: root.nodeId, selector: "#file" });
  const until = async (expression) => {
    for (let i = 0; i < 200 && !(await value(expression)); i++) await new Promise((done) => setTimeout(done, 50));
    assert.ok(await value(expression), expression);
  };
  await send("DOM.setFileInputFiles", { nodeId, files: [path.resolve(path.dirname(new URL(import.meta.url).pathname), "../../examples/gfx900/vecadd.co")] });
  await until("document.getElementById('arguments').value.includes('c=zero')");
  assert.match(await value("document.getElementById('source').value"), /^\/\/ vecadd\.co, \d+ bytes/);
  await value("document.getElementById('run').click()");
  await until("document.getElementById('panel').textContent.includes('global_load_dword')");
  assert.equal(await value("document.getElementById('kernel').value"), "vecadd");
  assert.equal(await value("document.getElementById('errors').hidden"), true);
  await value("document.getElementById('link').click()");
  assert.equal(await value("document.getElementById('status').textContent"), "a link holds no code object");
  const junk = path.join(profile, "junk.co");
  writeFileSync(junk, Buffer.concat([Buffer.from("\x7fELF"), Buffer.alloc(100)]));
  await send("DOM.setFileInputFiles", { nodeId, files: [junk] });
  await until("document.getElementById('errors').textContent.includes('ELF')");
  await value("document.getElementById('example').value = 2, document.getElementById('example').dispatchEvent(new Event('change'))");
  await until("!document.getElementById('source').disabled && document.getElementById('errors').hidden");
  console.log("ok page");
} finally {
  browser.kill();
  server.close();
  socket.close();
}
await new Promise((done) => browser.once("exit", done));
rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
process.exit(0);
