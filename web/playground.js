// SPDX-License-Identifier: MIT
// The page: calls verbs of the command in the module and draws what they print.
"use strict";
const $ = (id) => document.getElementById(id);
const TARGETS = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030",
  "gfx1100", "gfx1150", "gfx1200", "gfx1250"];

const SECONDS = 3; // of one verb: the page waits
const make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const hex = (number, digits = 1) => "0x" + number.toString(16).padStart(digits, "0");

// ---- the module ----

let out = [], err = [];
let module_;
const load = async () => {
  module_ = await wavemem({ print: (line) => out.push(line), printErr: (line) => err.push(line) });
};

// Runs a verb: {code, out, err}. A module that ended (no memory) is replaced.
const call = async (...words) => {
  out = []; err = [];
  module_.FS.writeFile("/words", words.map((word) => word + "\n").join(""));
  let code;
  try {
    code = module_._playground();
  } catch (error) {
    code = 2;
    err.push(`the module ended: ${error.message ?? error}`);
    await load();
  }
  return { code, out: out.join("\n"), err: err.join("\n") };
};

// ---- state, and the link that holds it ----

const MOST_BYTES = 64 << 20; // of a file that is opened
let object = null; // bytes of an opened code object, instead of the source
let result = null, tab = "registers", step = 0, marked = new Set();

const state = () => ({ source: $("source").value, target: $("target").value, kernel: $("kernel").value, grid: $("grid").value,
  block: $("block").value, wave: $("wave").value, arguments: $("arguments").value });
const pack = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
const encode = async (value) => {
  const bytes = await pack(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
};
const decode = async (text) => {
  const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await pack(bytes, new DecompressionStream("deflate-raw"))));
};
const show = (value) => {
  for (const key of ["source", "target", "kernel", "grid", "block", "wave", "arguments"]) if (key in value) $(key).value = value[key];
  object = null;
  $("file").value = "";
  $("source").disabled = false;
  number();
};

// ---- the editor ----

const number = () => {
  const lines = $("source").value.split("\n").length;
  $("numbers").replaceChildren(...Array.from({ length: lines }, (_, i) => [
    marked.has(i + 1) ? make("b", {}, `\u25cf${i + 1}`) : `${i + 1}`, "\n"]).flat());
  $("numbers").scrollTop = $("source").scrollTop;
};
const goTo = (line) => {
  const before = $("source").value.split("\n").slice(0, line - 1).join("\n").length + (line > 1);
  const end = $("source").value.indexOf("\n", before);
  $("source").focus();
  $("source").setSelectionRange(before, end < 0 ? $("source").value.length : end);
  $("source").scrollTop = Math.max(0, line - 8) * 18.85;
};
const lineButton = (line) => {
  const button = make("button", { type: "button" }, `line ${line}`);
  button.addEventListener("click", () => goTo(line));
  return button;
};

// The line of each instruction of a kernel. The module has no reader of line tables: the i-th instruction is in the i-th line
// with one, as long as the mnemonics agree (they do not after macros).
const linesOf = (source, kernel, instructions) => {
  const lines = source.split("\n").map((text, i) => [text.replace(/(\/\/|;|#).*/, "").trim(), i + 1]);
  const start = lines.findIndex(([text]) => text.startsWith(kernel + ":"));
  const found = new Map();
  if (start < 0) return found;
  const code = lines.slice(start).map(([text, line]) => [text.replace(/^[\w.$]+:\s*/, ""), line])
    .filter(([text]) => text && !text.startsWith("."));
  for (let i = 0; i < instructions.length && i < code.length; i++) {
    const written = code[i][0].split(/\s/)[0], decoded = instructions[i].text.split(/\s/)[0];
    const base = (word) => word.replace(/_(e32|e64|dpp|sdwa)$/, "");
    if (base(written) !== base(decoded)) break;
    found.set(instructions[i].offset, code[i][1]);
  }
  return found;
};

// ---- running ----

const fail = (text) => {
  $("errors").hidden = !text;
  $("errors").textContent = text;
  marked = new Set();
  for (const [, line] of text.matchAll(/kernel\.s:(\d+)/g)) marked.add(Number(line));
  number();
  if (marked.size) goTo(Math.min(...marked));
};

const build = async () => {
  if (object) {
    module_.FS.writeFile("/kernel.co", object);
    fail("");
    return true;
  }
  module_.FS.writeFile("/kernel.s", $("source").value);
  const built = await call("asm", "-m", $("target").value, "-g", "kernel.s", "-o", "kernel.co");
  fail(built.code ? built.err : "");
  return !built.code;
};

const launch = () => {
  const words = ["-k", $("kernel").value.trim(), "-g", $("grid").value.trim(), "-b", $("block").value.trim()];
  for (const line of $("arguments").value.split("\n")) if (line.trim()) words.push("--arg", line.trim());
  return words;
};
const parse = (text) => { try { return JSON.parse(text); } catch { return null; } };

const instructionsOf = async (kernel) => {
  const listed = parse((await call("dis", "--json", "-k", kernel.name, "kernel.co")).out) ?? [];
  const entry = Number(kernel.entry);
  return listed.map((one) => ({ text: one.text, offset: Number(one.address) - entry }));
};

// A .npy file: its type and values.
const readArray = (path) => {
  const bytes = module_.FS.readFile(path), view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = view.getUint16(8, true), head = new TextDecoder().decode(bytes.subarray(10, 10 + length));
  const type = /'descr': '([^']*)'/.exec(head)?.[1] ?? "|u1";
  const kinds = { "<f4": Float32Array, "<f8": Float64Array, "<i4": Int32Array, "<u4": Uint32Array, "<i2": Int16Array, "<u2": Uint16Array,
    "|i1": Int8Array, "|u1": Uint8Array, "<u8": BigUint64Array, "<i8": BigInt64Array };
  return { type, values: new (kinds[type] ?? Uint8Array)(bytes.slice(10 + length).buffer) };
};

const run = async () => {
  const began = performance.now();
  $("status").textContent = "running";
  result = null;
  if (!(await build())) { $("status").textContent = "not assembled"; draw(); return; }
  const told = await call("info", "--json", "kernel.co");
  if (told.code) { fail(told.err); $("status").textContent = "not run"; draw(); return; }
  const info = parse(told.out);
  const kernels = info?.kernels ?? [];
  $("kernels").replaceChildren(...kernels.map((one) => make("option", { value: one.name })));
  if (!kernels.some((one) => one.name === $("kernel").value) && kernels.length) $("kernel").value = kernels[0].name;
  const kernel = kernels.find((one) => one.name === $("kernel").value);
  if (!kernel) { fail("the code has no kernel: .amdhsa_kernel makes one"); draw(); return; }
  const buffers = kernel.arguments.filter((one) => one.kind === "global_buffer" && !one.hidden && !/\bnull$/.test($("arguments").value));
  const words = [...launch(), "--timeout", String(SECONDS)];
  const outs = buffers.flatMap((one) => ["--out", `${one.name}=/${one.name}.npy`]);
  const check = await call("check", "kernel.co", ...words, "--json=/check.json");
  if (check.code === 2) { fail(check.err); $("status").textContent = "not run"; draw(); return; }
  const read = (path) => parse(module_.FS.readFile(path, { encoding: "utf8" }));
  result = { kernel, check: read("/check.json"), notes: check.err };
  const endless = check.code === 3 && /time limit ran out/.test(check.err); // once is enough
  const ran = endless ? check : await call("run", "kernel.co", ...words, ...outs);
  result.fault = ran.code === 3 ? ran.err : "";
  result.memory = ran.code ? [] : buffers.map((one) => ({ name: one.name, ...readArray(`/${one.name}.npy`) }));
  const prof = endless ? check : await call("prof", "kernel.co", ...words, "--json=/prof.json", "--html", "/prof.html");
  result.prof = prof.code === 0 || prof.code === 4 ? read("/prof.json") : null;
  if (result.prof) {
    result.page = module_.FS.readFile("/prof.html", { encoding: "utf8" });
    result.drawn = parse(/id="data">([^]*?)<\/script>/.exec(result.page)?.[1] ?? "null");
  }
  const steps = await call("steps", "kernel.co", ...words, "--registers", "/unused", "--of", $("wave").value.trim());
  result.steps = parse(steps.out);
  result.stepsFailed = steps.err;
  result.listing = (await call("dis", "-k", kernel.name, "kernel.co")).out;
  result.instructions = await instructionsOf(kernel);
  result.lines = object ? new Map() : linesOf($("source").value, kernel.name, result.instructions);
  result.texts = new Map(result.instructions.map((one) => [one.offset, one.text]));
  for (const finding of result.check?.findings ?? []) {
    const line = result.lines.get(finding.offset);
    if (line) marked.add(line);
  }
  number();
  step = 0;
  const found = (result.check?.findings ?? []).length;
  const took = (performance.now() - began).toFixed(0);
  $("status").textContent = `${found ? `${found} finding${found > 1 ? "s" : ""}` : "no findings"}; ${took} ms`;
  if (result.fault) { $("errors").hidden = false; $("errors").textContent = result.fault; }
  draw();
};

const guess = async () => {
  if (!(await build())) return;
  const kernel = $("kernel").value.trim();
  const done = await call("run", "kernel.co", ...(kernel ? ["-k", kernel] : []), "--guess");
  const words = [...`${done.err}\n${done.out}`.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replace(/^'|'$/g, ""));
  const after = (...names) => words[words.findIndex((word) => names.includes(word)) + 1];
  if (!words.includes("--arg") && !words.includes("-g")) { fail(done.err); return; }
  $("grid").value = after("-g", "--grid");
  $("block").value = after("-b", "--block");
  if (words.includes("-k")) $("kernel").value = after("-k");
  $("arguments").value = words.flatMap((word, i) => (word === "--arg" ? [words[i + 1]] : [])).join("\n");
};

// ---- drawing ----

const svgOf = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const SIZE = 10;
const canvas = (height, what) => svgOf("svg", { viewBox: `0 0 700 ${height}`, width: 700, role: "img", "aria-label": what });
const cell = (into, x, y, colour, title) => {
  const made = svgOf("rect", { x, y, width: SIZE - 1, height: SIZE - 1, rx: 1 });
  if (colour === null) made.setAttribute("class", "empty");
  else made.setAttribute("fill", `hsl(${(colour * 137) % 360} 65% 55%)`);
  if (title) made.append(svgOf("title", {}, title));
  into.append(made);
};
const label = (into, x, y, text) => into.append(svgOf("text", { x, y }, text));

// The address of each lane, or null.
const addressesOf = (wave) => {
  const lanes = BigInt("0x" + wave.lanes), found = [];
  let address = null, next = 0;
  for (let lane = 0n; lane < 64n; lane++) {
    if (!((lanes >> lane) & 1n)) { found.push(null); continue; }
    address = address === null ? BigInt("0x" + wave.base) : address + BigInt(wave.apart[next++]);
    found.push(address);
  }
  return found;
};
const dwordsOf = (addresses, bytes) => {
  const who = new Map();
  addresses.forEach((address, lane) => {
    if (address === null) return;
    for (let dword = address / 4n; dword <= (address + BigInt(bytes) - 1n) / 4n; dword++) who.set(dword, [...(who.get(dword) ?? []), lane]);
  });
  return who;
};
const drawLines = (drawn) => {
  const addresses = addressesOf(drawn.wave), who = dwordsOf(addresses, drawn.wave.bytes), dwords = BigInt(drawn.line / 4);
  const lines = [...new Set([...who.keys()].map((dword) => dword / dwords))].sort((a, b) => (a < b ? -1 : 1)).slice(0, 64);
  const width = Number(dwords) * SIZE + 20, per = Math.max(1, Math.floor(700 / width));
  const into = canvas(36 + Math.ceil(lines.length / per) * 26, "lanes of one wave on cache lines");
  label(into, 0, 9, "lanes, by the cache line that they access");
  addresses.forEach((address, lane) => cell(into, lane * SIZE, 13, address === null ? null : Number((address / BigInt(drawn.line)) % 997n),
    address === null ? "" : `lane ${lane}: ${hex(address)}`));
  lines.forEach((line, i) => {
    const x = (i % per) * width, y = 36 + Math.floor(i / per) * 26;
    label(into, x, y + 8, hex(line * BigInt(drawn.line)));
    for (let k = 0n; k < dwords; k++) {
      const lanes = who.get(line * dwords + k);
      cell(into, x + Number(k) * SIZE, y + 11, lanes ? Number(line % 997n) : null, lanes ? `${hex((line * dwords + k) * 4n)}: lanes ${lanes.join(" ")}` : "not used");
    }
  });
  return into;
};
const drawBanks = (drawn) => {
  const banks = Array.from({ length: 32 }, () => []);
  for (const [dword, lanes] of dwordsOf(addressesOf(drawn.wave), drawn.wave.bytes)) banks[Number(dword % 32n)].push([dword, lanes]);
  const most = Math.max(...banks.map((bank) => bank.length));
  const into = canvas(20 + most * SIZE, "lanes of one wave on LDS banks");
  label(into, 0, 9, `LDS banks 0 to 31: the distinct dwords that the wave accesses in each, at most ${most}`);
  banks.forEach((bank, i) => {
    if (!bank.length) cell(into, i * 2 * SIZE, 15, null, `bank ${i}`);
    bank.forEach(([dword, lanes], k) => cell(into, i * 2 * SIZE, 15 + k * SIZE, i, `bank ${i}, ${hex(dword * 4n)}: lanes ${lanes.join(" ")}`));
  });
  return into;
};

const floats = new DataView(new ArrayBuffer(4));
const valueText = (value, format) => {
  if (format === "hex") return hex(value, 8);
  floats.setUint32(0, value);
  if (format === "f32") return String(Number(floats.getFloat32(0).toPrecision(7)));
  return String(format === "i32" ? floats.getInt32(0) : value);
};

let format = "hex";
const panels = {
  registers: ["Registers", (into) => {
    const all = result.steps;
    if (!all?.steps?.length) { into.append(result.stepsFailed || "This wave was not executed."); return; }
    const steps = all.steps;
    step = Math.min(step, steps.length - 1);
    const values = { ...all.registers };
    for (let i = 0; i < step; i++) Object.assign(values, steps[i].changed ?? {});
    const changed = step ? steps[step - 1].changed ?? {} : {};
    const slider = make("input", { type: "range", min: 0, max: steps.length - 1, value: step, id: "step", "aria-label": "instruction" });
    slider.addEventListener("input", () => { step = Number(slider.value); draw(); $("step").focus(); });
    const choice = make("select", { "aria-label": "format" }, ...["hex", "u32", "i32", "f32"].map((one) => make("option", one === format ? { selected: "" } : {}, one)));
    choice.addEventListener("change", () => { format = choice.value; draw(); });
    const line = result.lines.get(steps[step].offset);
    into.append(make("div", { class: "bar" }, slider, choice, `before instruction ${step + 1} of ${steps.length}${all.cut ? " recorded" : ""}: `,
      make("code", { class: "now" }, result.texts.get(steps[step].offset) ?? hex(steps[step].offset)), ...(line ? [lineButton(line)] : [])));
    const scalars = make("div", { class: "values mono" });
    const interesting = (name) => name in changed || values[name] !== 0 || /^(vcc|exec|scc|m0)/.test(name);
    for (const [name, value] of Object.entries(values))
      if (!Array.isArray(value) && interesting(name))
        scalars.append(make("span", name in changed ? { class: "now" } : {}, `${name} ${valueText(value, format === "f32" ? "hex" : format)}`));
    into.append(make("h2", {}, "Scalar registers; others than these are 0"), scalars, make("h2", {}, "Vector registers, by lane"));
    const table = make("table"), used = Object.entries(values).filter(([name, value]) => Array.isArray(value) && (name in changed || value.some((one) => one)));
    table.append(make("thead", {}, make("tr", {}, make("th", {}, "lane"), ...used.map(([name]) => make("th", name in changed ? { class: "now" } : {}, name)))));
    const body = make("tbody");
    for (let lane = 0; lane < all.wave.lanes; lane++)
      body.append(make("tr", {}, make("th", {}, String(lane)), ...used.map(([name, value]) => make("td", name in changed ? { class: "changed" } : {}, valueText(value[lane], format)))));
    table.append(body);
    into.append(used.length ? table : make("p", { class: "soft" }, "all are 0"));
  }],
  memory: ["Memory", (into) => {
    for (const { name, type, values } of result.memory) {
      into.append(make("h2", {}, `${name}: ${values.length} elements (${type})`));
      const box = make("div", { class: "values mono", id: `memory-${name}` });
      const most = Math.min(values.length, 1024);
      for (let i = 0; i < most; i++) box.append(make("span", { title: `[${i}]` }, String(typeof values[i] === "number" ? Number(values[i].toPrecision(7)) : values[i])));
      into.append(box);
      if (most < values.length) into.append(make("p", { class: "soft" }, `and ${values.length - most} more`));
    }
    if (!result.memory.length) into.append("The kernel faulted, or has no buffers.");
    const lds = result.steps?.lds ?? [];
    if (lds.length) into.append(make("h2", {}, `LDS of the shown workgroup at the last instruction of the wave: ${lds.length} dwords`),
      make("div", { class: "values mono" }, ...lds.slice(0, 2048).map((one, i) => make("span", { title: hex(i * 4) }, valueText(one, format)))));
  }],
  accesses: ["Accesses", (into) => {
    if (!result.prof) { into.append("There is no profile, because the kernel faulted."); return; }
    const kernel = result.prof.kernels[0];
    if (kernel?.predicted) into.append(make("p", {}, `Predicted: ${(kernel.predicted.seconds * 1e6).toFixed(2)} \u00b5s on ${kernel.gpu}; longest part: ${kernel.predicted.binds}.`));
    for (const one of result.prof.advice ?? [])
      into.append(make("div", { class: "finding note" }, make("strong", {}, one.verdict), `: ${one.numbers}. `, one.change ?? ""));
    result.prof.rows.forEach((row, i) => {
      const drawn = result.drawn?.rows[i], line = result.lines.get(row.offset);
      into.append(make("h2", {}, make("code", {}, row.text), " ", ...(line ? [lineButton(line)] : [])));
      const facts = [`${row.executions} requests`, row.lines_per_request ? `${row.lines_per_request} cache lines each, ideal ${row.ideal_per_request}` : "",
        row.lds_passes ? `${row.lds_passes} LDS passes, ${row.lds_conflicts} of them conflicts` : "", `${row.clocks ?? 0} clocks each`];
      into.append(make("p", { class: "soft" }, facts.filter(Boolean).join("; ")));
      if (drawn?.wave) into.append(drawn.wave.lds ? drawBanks(drawn) : drawLines(drawn));
    });
  }],
  findings: ["Findings", (into) => {
    const found = result.check?.findings ?? [];
    if (!found.length) into.append(make("p", {}, `Nothing was found. Checked: ${(result.check?.classes ?? []).join(", ")}.`));
    for (const one of found) {
      const line = result.lines.get(one.offset);
      const list = make("dl");
      for (const [name, value] of [["at", one.instruction], ["rule", one.rule], ["because", one.source], ["fix", one.remedy]])
        if (value) list.append(make("dt", {}, name), make("dd", {}, name === "at" ? make("code", {}, value) : value, ...(name === "at" && line ? [" ", lineButton(line)] : [])));
      into.append(make("div", { class: `finding ${one.severity}` }, make("strong", {}, `${one.severity}: ${one.message}`), list));
    }
    if (result.notes) into.append(make("h2", {}, "The whole text"), make("pre", {}, result.notes));
  }],
  listing: ["Disassembly", (into) => into.append(make("pre", {}, result.listing))],
  report: ["Report", (into) => {
    if (!result.page) { into.append("There is no report."); return; }
    const frame = make("iframe", { title: "report", style: "width:100%;height:75vh;border:0;background:#fff", sandbox: "allow-scripts" });
    frame.srcdoc = result.page;
    into.append(frame);
  }],
};

const draw = () => {
  $("tabs").replaceChildren(...Object.entries(panels).map(([name, [title]]) => {
    const count = name === "findings" && result ? ` (${(result.check?.findings ?? []).length})` : "";
    const button = make("button", { role: "tab", id: `tab-${name}`, "aria-controls": "panel", "aria-selected": String(name === tab), tabindex: name === tab ? 0 : -1 }, title + count);
    button.addEventListener("click", () => choose(name));
    return button;
  }));
  $("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  $("panel").replaceChildren();
  if (result) panels[tab][1]($("panel"));
  else $("panel").append(make("p", { class: "soft" }, "Run the program to see what it does."));
};
const choose = (name) => { tab = name; draw(); $(`tab-${name}`).focus(); };
$("tabs").addEventListener("keydown", (event) => {
  const names = Object.keys(panels), move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (move) choose(names[(names.indexOf(tab) + move + names.length) % names.length]);
});

// ---- start ----

const begin = async () => {
  draw();
  $("target").replaceChildren(...TARGETS.map((one) => make("option", {}, one)));
  $("target").value = "gfx900";
  const examples = await (await fetch("examples.json")).json();
  $("example").replaceChildren(make("option", { value: "" }, "choose"), ...examples.map((one, i) => make("option", { value: i }, one.title)));
  const open = async (i) => {
    const one = examples[i];
    show({ source: await (await fetch(`examples/${one.file}.s`)).text(), target: "gfx900", kernel: one.file, grid: one.grid, block: one.block,
      wave: "0,0,0:0", arguments: Object.entries(one.arguments).map((pair) => pair.join("=")).join("\n") });
  };
  $("example").addEventListener("change", async () => { if ($("example").value) { await open($("example").value); await run(); } });
  $("source").addEventListener("input", number);
  $("source").addEventListener("scroll", () => { $("numbers").scrollTop = $("source").scrollTop; });
  document.addEventListener("keydown", (event) => { if (event.ctrlKey && event.key === "Enter") run(); });
  $("run").addEventListener("click", run);
  $("guess").addEventListener("click", guess);
  $("file").addEventListener("change", async () => {
    const file = $("file").files[0];
    if (!file) return;
    $("file").value = ""; // so that the same file can be opened again
    if (file.size > MOST_BYTES) { fail(`${file.name}: ${file.size} bytes; at most ${MOST_BYTES} are opened here`); return; }
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.subarray(0, 4096).includes(0)) { // no text: a code object, or a bundle
      object = bytes;
      $("source").disabled = true;
      $("source").value = `// ${file.name}, ${bytes.length} bytes: choose an example to edit again`;
      $("kernel").value = "";
    } else {
      show({ source: new TextDecoder().decode(bytes) });
    }
    number();
    await guess();
  });
  $("link").addEventListener("click", async () => {
    if (object) { $("status").textContent = "a link holds no code object"; return; }
    location.hash = await encode(state());
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    $("status").textContent = "the link is in the address bar";
  });
  const wanted = new URLSearchParams(location.search);
  if (location.hash.length > 1) show(await decode(location.hash.slice(1)));
  else { await open(wanted.get("example") ?? 0); $("example").value = wanted.get("example") ?? 0; }
  if (panels[wanted.get("tab")]) tab = wanted.get("tab");
  await load();
  $("run").disabled = $("guess").disabled = false;
  await run();
  document.body.dataset.ready = "yes";
};
begin().catch((error) => fail(`the playground did not start: ${error.message ?? error}`));
