// SPDX-License-Identifier: MIT
// usage: node module.mjs SITE WAVEMEM: runs the examples in the module and by the command, whose outputs must be equal.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import assert from "node:assert/strict";

const [site, wavemem] = process.argv.slice(2).map((one) => path.resolve(one));
delete globalThis.fetch; // or the module would fetch itself instead of reading its file
let out = [];
const module_ = await createRequire(import.meta.url)(path.join(site, "wavemem.js"))({ print: (line) => out.push(line), printErr: (line) => out.push(line) });
const inModule = (...words) => {
  out = [];
  module_.FS.writeFile("/words", words.map((word) => word + "\n").join(""));
  return { code: module_._playground(), text: out.join("\n").trim() };
};
const folder = mkdtempSync(path.join(tmpdir(), "web-"));
const byCommand = (...words) => {
  const done = spawnSync(wavemem, words, { cwd: folder, encoding: "utf8" });
  return { code: done.status, text: (done.stdout + done.stderr).trim() };
};
// Apart from times, and from source lines, which the module does not know.
const plain = (value) => JSON.parse(JSON.stringify(value, (key, one) =>
  ["seconds", "wave_instructions_per_second", "file", "line", "column", "key", "place", "source_lines"].includes(key) ? undefined : one));

for (const one of JSON.parse(readFileSync(path.join(site, "examples.json"), "utf8"))) {
  const source = path.join(site, "examples", `${one.file}.s`);
  module_.FS.writeFile("/kernel.s", readFileSync(source));
  execFileSync("cp", [source, path.join(folder, "kernel.s")]);
  const words = ["kernel.co", "-k", one.file, "-g", one.grid, "-b", one.block, ...Object.entries(one.arguments).flatMap((pair) => ["--arg", pair.join("=")])];
  for (const verb of [["asm", "-m", "gfx900", "kernel.s", "-o", "kernel.co"], ["dis", "kernel.co"], ["info", "--json", "kernel.co"]]) {
    const [a, b] = [inModule(...verb), byCommand(...verb)];
    assert.deepEqual(a, b, `${one.file}: ${verb[0]}`);
  }
  assert.ok(Buffer.from(module_.FS.readFile("/kernel.co")).equals(readFileSync(path.join(folder, "kernel.co"))), `${one.file}: the code objects differ`);
  for (const verb of ["check", "prof"]) {
    const report = [...words, "--json=report.json"];
    assert.equal(inModule(verb, ...report).code, byCommand(verb, ...report).code, `${one.file}: ${verb}`);
    const [a, b] = [module_.FS.readFile("/report.json", { encoding: "utf8" }), readFileSync(path.join(folder, "report.json"), "utf8")].map((text) => plain(JSON.parse(text)));
    assert.deepEqual(a, b, `${one.file}: ${verb} --json`);
  }
  const ran = [...words, "--out", "out=out.npy"];
  const code = inModule("run", ...ran).code;
  assert.equal(code, byCommand("run", ...ran).code, `${one.file}: run`);
  if (!code) assert.ok(Buffer.from(module_.FS.readFile("/out.npy")).equals(readFileSync(path.join(folder, "out.npy"))), `${one.file}: the outputs differ`);
  const steps = JSON.parse(inModule("steps", ...words, "--registers", "x", "--of", "0,0,0:0").text);
  const final = byCommand("run", ...words, "--registers", "registers.json", "--of", "0,0,0:0");
  if (!final.code) {
    const wanted = JSON.parse(readFileSync(path.join(folder, "registers.json"), "utf8")), last = { ...steps.registers };
    for (const step of steps.steps) Object.assign(last, step.changed ?? {});
    wanted.vgprs.forEach((values, i) => assert.deepEqual(last[`v${i}`], values, `${one.file}: v${i}`));
    assert.equal(steps.steps.length, wanted.instructions + 1, `${one.file}: number of steps`);
  }
  console.log(`ok ${one.file}`);
}
// What WebAssembly cannot compute is refused.
module_.FS.writeFile("/kernel.s", readFileSync(path.join(site, "examples/reduce.s"), "utf8").replace("float_denorm_mode_32 3", "float_denorm_mode_32 0"));
inModule("asm", "-m", "gfx900", "kernel.s", "-o", "kernel.co");
const refused = inModule("run", "kernel.co", "-k", "reduce", "-g", "64", "-b", "64", "--arg", "in=zero:f32:64", "--arg", "out=zero:f32:1");
assert.equal(refused.code, 2);
assert.match(refused.text, /denorm_mode_32 3/);
// So is a mode that the kernel sets while it runs: denormals of f32 become 0.
module_.FS.writeFile("/kernel.s", readFileSync(path.join(site, "examples/copy.s"), "utf8").replace("  s_endpgm", "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n  s_endpgm"));
inModule("asm", "-m", "gfx900", "kernel.s", "-o", "kernel.co");
const faulted = inModule("run", "kernel.co", "-g", "64", "-b", "64", "--arg", "in=zero:f32:64", "--arg", "out=zero:f32:64");
assert.equal(faulted.code, 3, faulted.text);
assert.match(faulted.text, /a mode of rounding or denormals that this host's CPU does not have/);
console.log("ok modes");
// Numbers with fractions are read as by the command.
for (const number of ["0.1", "-1.5e-7", "1e39", "3.4028236e38"]) {
  const words = ["kernel.co", "-g", "64", "-b", "64", "--arg", `in=fill:f32:64:${number}`, "--arg", "out=zero:f32:64", "--out", "out=out.npy"];
  module_.FS.writeFile("/kernel.s", readFileSync(path.join(site, "examples/copy.s")));
  execFileSync("cp", [path.join(site, "examples/copy.s"), path.join(folder, "kernel.s")]);
  for (const run of [inModule, byCommand]) run("asm", "-m", "gfx900", "kernel.s", "-o", "kernel.co");
  assert.deepEqual(inModule("run", ...words), byCommand("run", ...words), number);
  if (!inModule("run", ...words).code) assert.ok(Buffer.from(module_.FS.readFile("/out.npy")).equals(readFileSync(path.join(folder, "out.npy"))), number);
}
console.log("ok fractions");
// A loop without end is ended by the time limit, and not before.
module_.FS.writeFile("/kernel.s", readFileSync(path.join(site, "examples/copy.s"), "utf8").replace("  s_endpgm", "forever:\n  s_add_u32 s9, s9, 1\n  s_branch forever\n  s_endpgm"));
inModule("asm", "-m", "gfx900", "kernel.s", "-o", "kernel.co");
const began = performance.now();
const endless = inModule("run", "kernel.co", "-g", "64", "-b", "64", "--arg", "in=zero:f32:64", "--arg", "out=zero:f32:64", "--timeout", "0.5");
assert.equal(endless.code, 3);
assert.match(endless.text, /^error: kernel.co: the time limit ran out/);
assert.ok(performance.now() - began > 490);
console.log("ok time limit");
