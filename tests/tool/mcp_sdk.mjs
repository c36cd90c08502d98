// SPDX-License-Identifier: MIT
// A client of `wavemem mcp` made of the protocol's own SDK, which checks every message against the protocol's schema
// and every answer against the tool's. usage: node mcp_sdk.mjs FOLDER_OF_NODE_MODULES WAVEMEM ROOT
import {createRequire} from "node:module";
import assert from "node:assert/strict";

const [folder, wavemem, root] = process.argv.slice(2);
const load = createRequire(folder + "/");
const {Client} = load("@modelcontextprotocol/sdk/client/index.js");
const {StdioClientTransport} = load("@modelcontextprotocol/sdk/client/stdio.js");
const {LATEST_PROTOCOL_VERSION} = load("@modelcontextprotocol/sdk/types.js");

const client = new Client({name: "test", version: "1"});
await client.connect(new StdioClientTransport({command: wavemem, args: ["mcp", "--root", root, "--timeout", "20"]}));
console.log("protocol of the SDK:", LATEST_PROTOCOL_VERSION);
assert.equal(client.getServerVersion().name, "wavemem");
const {tools} = await client.listTools();
const size = {kernel: "transpose_naive", grid: [64, 64], workgroup: [16, 16], arguments: {n: 64}};
const calls = {
  compile: {source: "s_endpgm", language: "assembly", target: "gfx900"},
  info: {file: "transpose.co"},
  check: {file: "transpose.co", ...size},
  prof: {file: "transpose.co", ...size},
  compare: {file: "transpose.co", other_file: "transpose.co", other_kernel: "transpose_lds", outputs: ["out"], ...size},
  disassemble: {file: "vecadd.co"},
  isa: {instruction: "s_add_u32"},
  explain_address: {target: "gfx900", instruction: "ds_read_b32 v0, v1", registers: {v1: "lane*4"}},
  explain_descriptor: {target: "gfx900", words: ["0x10000", "0x100000", "0x400", "0x27fac"]},
};
for (const tool of tools) {
  const result = await client.callTool({name: tool.name, arguments: calls[tool.name]});
  assert.ok(!result.isError, tool.name + ": " + result.content[0].text);
  console.log(tool.name, result.structuredContent.outcome);
}
// Progress, and a call that the client gives up.
const stop = new AbortController();
let told = 0;
await assert.rejects(client.callTool({name: "prof", arguments: {file: "spin.s", target: "gfx900"}}, undefined,
  {signal: stop.signal, onprogress: progress => { told++; assert.equal(progress.total, 20); stop.abort("enough"); }}));
assert.ok(told > 0);
await client.ping();
await client.close();
console.log(`all ${tools.length} tools`);
