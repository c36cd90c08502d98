# SPDX-License-Identifier: MIT
"""The Model Context Protocol: a client that does what an agent does, the official SDK, and nonsense.

usage: cmd_mcp.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]

MCP_SDK names a folder in which `npm install @modelcontextprotocol/sdk` ran; by default that of the command.
"""
import glob
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import command
from command import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REVISION = "2025-11-25"
SAXPY = """__kernel void saxpy(float alpha, __global const float *x, __global float *y, uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        y[i] = alpha * x[i] + y[i];
}
"""
# Adds to a buffer without end.
ENDLESS = """.text
.globl spin
.p2align 8
.type spin,@function
spin:
  s_add_u32 s4, s4, 1
  s_branch spin
.rodata
.p2align 6
.amdhsa_kernel spin
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - {.name: spin, .symbol: spin.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 8, .vgpr_count: 1, .max_flat_workgroup_size: 64}
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""


class Client:
    def __init__(self, case, *options, root=None, initialize=True):
        self.case = case
        self.temporary = tempfile.mkdtemp(dir=case.folder.name)
        self.process = subprocess.Popen([command.WAVEMEM, "mcp", "--root", root or case.folder.name, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, "TMPDIR": self.temporary})
        self.id = 0
        self.notes = []
        case.addCleanup(self.close)
        if initialize:
            result = self.request("initialize", protocolVersion=REVISION, capabilities={}, clientInfo={"name": "t", "version": "1"})
            case.assertEqual(result["protocolVersion"], REVISION)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.case.assertEqual(self.process.wait(timeout=60), 0)
        self.case.assertEqual(self.process.stderr.read(), b"")
        self.process.stderr.close()
        self.case.assertEqual(os.listdir(self.temporary), [])

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def read(self):
        """The next message that is no notification."""
        while True:
            ready, _, _ = select.select([self.process.stdout], [], [], 60)
            self.case.assertTrue(ready, "the server does not answer")
            message = json.loads(self.process.stdout.readline())
            self.case.assertEqual(message["jsonrpc"], "2.0")
            if "method" not in message:
                return message
            self.notes.append(message)

    def start(self, method, **parameters):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": parameters})
        return self.id

    def request(self, method, /, **parameters):
        number = self.start(method, **parameters)
        message = self.read()
        self.case.assertEqual(message["id"], number, message)
        return message["result"] if "result" in message else message["error"]

    def call(self, tool, error=False, **arguments):
        """Calls a tool; returns its structured content, or with error=True its text."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        self.case.assertEqual(result.get("isError", False), error, result)
        self.case.assertEqual([part["type"] for part in result["content"]], ["text"])
        return result["content"][0]["text"] if error else result["structuredContent"]


CLANG = shutil.which("clang-19") and glob.glob("/usr/lib/*/amdgcn/bitcode/ocml.bc")


class Mcp(Case):
    def setUp(self):
        super().setUp()
        done = subprocess.run([command.WAVEMEM, "mcp"], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
        if "no Landlock" in done.stderr:
            self.skipTest("this kernel has no Landlock")

    def examples(self):
        """The code objects, in the root."""
        for name in ("transpose", "vecadd"):
            shutil.copy(self.example(name)[0], self.path(name + ".co"))

    def test_protocol(self):
        client = Client(self, initialize=False)
        self.assertEqual(client.request("tools/list")["code"], -32600)
        self.assertEqual(client.request("ping"), {})
        self.assertEqual(client.request("initialize")["code"], -32602)
        for wanted, given in (("2025-06-18", "2025-06-18"), ("1999-01-01", REVISION), (REVISION, REVISION)):
            result = client.request("initialize", protocolVersion=wanted, capabilities={}, clientInfo={})
            self.assertEqual((result["protocolVersion"], result["capabilities"]), (given, {"tools": {}}))
        tools = client.request("tools/list")["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["compile", "info", "check", "prof", "compare", "disassemble", "isa",
                                                            "explain_address", "explain_descriptor"])
        try:
            import jsonschema
        except ImportError:
            jsonschema = None
        for tool in tools:
            self.assertEqual((tool["inputSchema"]["type"], tool["outputSchema"]["type"]), ("object", "object"))
            for name, schema in tool["inputSchema"]["properties"].items():
                self.assertTrue(schema["description"], name)
            if jsonschema:
                jsonschema.Draft7Validator.check_schema(tool["inputSchema"])
        self.assertEqual(client.request("tools/list", cursor="x")["code"], -32602)
        self.assertEqual(client.request("resources/list")["code"], -32601)
        self.assertEqual(client.request("tools/call", name="run")["code"], -32602)
        self.assertEqual(client.request("tools/call", name="isa", arguments=[])["code"], -32602)

    def test_tools(self):
        """Each tool on code objects and assembly, which need no compiler. The figures are those of docs/tour.md's kernels: a
        transpose stores 16 lines of 64 bytes where 4 would do."""
        self.examples()
        client = Client(self)
        kernels = client.call("info", file="transpose.co")["report"]["kernels"]
        self.assertEqual([kernel["name"] for kernel in kernels], ["transpose_naive", "transpose_lds", "transpose_unpadded"])
        size = {"grid": [64, 64], "workgroup": [16, 16], "arguments": {"in": "iota:f32:4096", "out": "zero:f32:4096", "n": 64}}
        answer = client.call("prof", file="transpose.co", kernel="transpose_naive", **size)
        report = answer["report"]
        self.assertEqual(answer["outcome"], "clean")
        self.assertEqual((report["kernels"][0]["kernel"], report["kernels"][0]["workgroups"]), ("transpose_naive", 16))
        self.assertGreater(report["kernels"][0]["predicted"]["seconds"], report["kernels"][0]["bound"]["seconds"])
        self.assertEqual(report["advice"][0]["verdict"], "uncoalesced stores")
        self.assertEqual((report["advice"][0]["file"], report["advice"][0]["line"]), ("transpose.cl", 10))
        store = next(row for row in report["rows"] if row["operation"] == "store")
        self.assertEqual((store["lines_per_request"], store["ideal_per_request"], store["efficiency"]), (16, 4, 0.25))
        answer = client.call("compare", file="transpose.co", kernel="transpose_naive", other_file="transpose.co",
                             other_kernel="transpose_lds", outputs=["out"], **size)
        self.assertEqual(answer["outcome"], "clean")
        self.assertEqual([d["fault"] if "fault" in d else None for d in answer["report"]["other"]["dispatches"]], [None])
        self.assertEqual(answer["report"]["other"]["dispatches"][0]["expect"][0]["different"], 0)
        self.assertIn("changes", answer["report"])
        different = {**size, "arguments": {"in": "iota:f32:4096", "out": "fill:f32:4096:3", "n": 63}}
        answer = client.call("compare", file="transpose.co", kernel="transpose_naive", other_file="vecadd.co", error=True, **different)
        self.assertIn("vecadd", answer)
        short = {"a": "iota:f32:1024", "b": "iota:f32:1024", "c": "uninit:f32:1000", "n": 1024}
        answer = client.call("check", file="vecadd.co", grid=1024, workgroup=64, arguments=short)
        self.assertEqual(answer["outcome"], "findings")
        finding = answer["report"]["findings"][0]
        self.assertEqual((finding["class"], finding["file"], finding["line"]), ("memory", "vecadd.cl", 8))
        self.assertTrue(finding["remedy"])
        answer = client.call("disassemble", file="vecadd.co")
        self.assertEqual(answer["outcome"], "clean")
        text = client.request("tools/call", name="disassemble", arguments={"file": "vecadd.co"})["content"][0]["text"]
        self.assertIn("s_endpgm", text)
        answer = client.call("compile", source=ENDLESS, language="assembly", target="gfx900")
        self.assertEqual(answer["report"]["kernels"][0]["name"], "spin")
        answer = client.call("compile", source=ENDLESS.replace("s_branch", "s_brunch"), language="assembly", target="gfx900", error=True)
        self.assertRegex(answer, r"(?m)^kernel\.s:7:")
        answer = client.call("isa", instruction="s_add_u32", target="gfx900")
        self.assertIn("gfx900", json.dumps(answer["report"]))
        answer = client.call("isa", instruction="e00c2000 80010203", target="gfx900")
        self.assertIn("buffer_load_format_xyzw", json.dumps(answer["report"]))
        answer = client.call("explain_address", instruction="global_load_dword v1, v2, s[4:5] offset:16", target="gfx1030",
                             registers={"s[4:5]": "0x7f0000000000", "v2": "lane*8"}, lane=3)
        self.assertIn("0x7f0000000028", json.dumps(answer["report"]))  # 16 + 3 * 8
        answer = client.call("explain_descriptor", words=["0x00010000", "0x00100000", "0x00000400", "0x00027fac"], target="gfx900")
        self.assertIn("BASE_ADDRESS", json.dumps(answer["report"]))

    @unittest.skipUnless(CLANG, "no clang-19 or no device library")
    def test_sources(self):
        client = Client(self)
        answer = client.call("compile", source=SAXPY, target="gfx1100")
        self.assertEqual([argument["name"] for argument in answer["report"]["kernels"][0]["arguments"]][:4], ["alpha", "x", "y", "n"])
        answer = client.call("prof", source=SAXPY, gpu="mi210", grid=1024, workgroup=64)
        self.assertEqual(answer["report"]["kernels"][0]["kernel"], "saxpy")
        self.assertEqual({row["file"] for row in answer["report"]["rows"]}, {"kernel.cl"})
        self.assertIn("guessed: ", answer["messages"])
        text = client.call("compile", source=SAXPY.replace("alpha *", "beta *"), target="gfx1100", error=True)
        self.assertRegex(text, r"(?m)^kernel\.cl:5:16: error: ")
        self.path("half.h", b"#define HALF 2\n")
        for source, error in (('#include "half.h"\n' + SAXPY, False), ('#include "/etc/passwd"\n' + SAXPY, True)):
            self.path("including.cl", source.encode())
            answer = client.call("compile", file="including.cl", target="gfx1100", error=error)
        client.call("compile", source='#include "half.h"\n' + SAXPY, target="gfx1100")
        self.assertIn("/etc/passwd", answer)
        self.assertNotIn("root:", answer)

    def test_outside(self):
        """No file outside of the root is read: by name, by a link, as an argument, by a source."""
        outside = tempfile.TemporaryDirectory()
        self.addCleanup(outside.cleanup)
        secret = os.path.join(outside.name, "secret.s")
        with open(secret, "w", encoding="utf-8") as file:
            file.write(".secret_directive 42\n")
        shutil.copy(self.example("vecadd")[0], os.path.join(outside.name, "vecadd.co"))
        self.examples()
        os.symlink(outside.name, self.path("link"))
        os.symlink(secret, self.path("link.s"))
        client = Client(self)
        for name in (secret, "../" + os.path.relpath(secret, os.path.dirname(self.folder.name)), "link/vecadd.co", "link.s", "absent.co",
                     "/dev/zero", "/proc/self/environ", "", ".", "link"):
            text = client.call("info", file=name, error=True)
            self.assertRegex(text, "no such file below the root|expected a file")
        values = {"a": "@" + secret, "b": "iota:f32:64", "c": "zero:f32:64", "n": 64}
        text = client.call("prof", file="vecadd.co", arguments=values, grid=64, workgroup=64, error=True)
        self.assertIn("secret.s", text)
        for directive in (".include", ".incbin"):
            for path in (secret, self.path("link.s")):
                text = client.call("compile", source=f'{directive} "{path}"\n' + ENDLESS, language="assembly", target="gfx900", error=True)
                self.assertNotIn("secret_directive", text)
                self.assertIn(os.path.basename(path), text)
        # What the tests rely on: with the folder allowed, the same file is read.
        client = Client(self, "--allow", outside.name)
        text = client.call("compile", source=f'.include "{secret}"\n' + ENDLESS, language="assembly", target="gfx900", error=True)
        self.assertIn("secret_directive", text)

    def test_limits(self):
        """An endless kernel, too much memory, a long answer."""
        client = Client(self, "--timeout", "2")
        begin = time.monotonic()
        answer = client.call("prof", source=ENDLESS, language="assembly", target="gfx900", grid=64, workgroup=64)
        self.assertEqual(answer["outcome"], "fault")
        self.assertEqual(answer["report"]["dispatches"][0]["fault"]["kind"], "timeout")
        self.assertLess(time.monotonic() - begin, 30)
        endless_macro = ".rept 100000000\ns_nop 0\n.endr\n"
        answer = client.call("compile", source=endless_macro + ENDLESS, language="assembly", target="gfx900", error=True)
        self.assertRegex(answer, "more than 16 MiB of text")
        self.examples()
        if not command.is_sanitized():
            answer = client.call("prof", file="vecadd.co", grid=4294967295, workgroup=64, arguments={"a": "zero:f32:1024G"}, error=True)
            self.assertRegex(answer, "memory|bytes|large|elements")
        client = Client(self, "--output", "1k")
        answer = client.request("tools/call", name="disassemble", arguments={"file": "transpose.co"})
        self.assertLess(len(answer["content"][0]["text"]), 1200)
        self.assertIn("... (cut", answer["content"][0]["text"])
        answer = client.request("tools/call", name="info", arguments={"file": "transpose.co"})
        self.assertLess(len(json.dumps(answer["structuredContent"], separators=(",", ":"))), 2048)
        if not command.is_sanitized():
            client = Client(self, "--memory", "64k")
            self.assertTrue(client.call("info", file="vecadd.co", error=True))

    def test_cancelled(self):
        """A call that is cancelled gets no answer, and the next ones are served; progress comes to those who ask for it."""
        client = Client(self, "--timeout", "100")
        spin = {"name": "prof", "arguments": {"source": ENDLESS, "language": "assembly", "target": "gfx900"}, "_meta": {"progressToken": "t"}}
        running = client.start("tools/call", **spin)
        waiting = client.start("tools/call", **spin)
        last = client.start("tools/call", name="isa", arguments={"instruction": "s_add_u32"})
        while not client.notes:
            client.notes.append(json.loads(client.process.stdout.readline()))
        self.assertEqual(client.notes[0]["method"], "notifications/progress")
        self.assertEqual(client.notes[0]["params"]["progressToken"], "t")
        again = client.start("ping")
        self.assertEqual(client.read()["id"], again)  # while a kernel runs
        client.send({"jsonrpc": "2.0", "id": running, "method": "ping"})
        self.assertEqual(client.read()["error"]["code"], -32600)
        for number in (waiting, running, 12345):
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        self.assertEqual(client.read()["id"], last)
        times = [note["params"]["progress"] for note in client.notes]
        self.assertEqual(times, sorted(set(times)))
        # The client goes away while a kernel runs.
        client.start("tools/call", **spin)
        client.process.send_signal(signal.SIGTERM)

    def test_nonsense(self):
        """What is no message is refused, and the server goes on."""
        client = Client(self)
        for line, code in ((b"{", -32700), (b"\xff\xfe", -32700), (b"[" * 100000, -32700), (b'{"a":1,"a":2}', -32700),
                           (b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"method":"ping"}', -32700),
                           (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32700), (b"[]", -32600), (b"3", -32600), (b"null", -32600),
                           (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600), (b'{"jsonrpc":"2.0","id":1}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"\\u0000"}', -32700), (b" " + b"x" * (17 << 20), -32700)):
            client.write(line + b"\n")
            self.assertEqual(client.read()["error"]["code"], code, line[:60])
        client.write(b"\n \r\n")
        client.send({"jsonrpc": "2.0", "method": "nothing"})
        client.send({"jsonrpc": "2.0", "id": 77, "result": {}})
        self.assertEqual(client.request("ping"), {})
        self.examples()
        for tool, arguments, message in (
                ("info", {}, "expected file or source"), ("info", {"file": "vecadd.co", "source": "x"}, "not both"),
                ("info", {"file": 3}, "file: expected a string"), ("info", {"files": "vecadd.co"}, "no parameter 'files'"),
                ("prof", {"file": "vecadd.co", "grid": 0}, "grid: expected"), ("prof", {"file": "vecadd.co", "grid": [1, 2, 3, 4]}, "grid: expected"),
                ("prof", {"file": "vecadd.co", "grid": [[1]]}, "grid: expected"), ("prof", {"file": "vecadd.co", "grid": 2**63 - 1}, "grid: expected"),
                ("prof", {"file": "vecadd.co", "lds": -1}, "lds: expected"), ("prof", {"file": "vecadd.co", "lds": 1.5}, "lds: expected"),
                ("prof", {"file": "vecadd.co", "arguments": {"n": [1]}}, "arguments: expected"),
                ("prof", {"file": "vecadd.co", "arguments": {"n": "x" * 5000}}, "arguments: expected"),
                ("prof", {"file": "vecadd.co", "arguments": {"--help": 1}}, "--help"),
                ("prof", {"file": "vecadd.co", "kernel": "--json=/tmp/x"}, "--json=/tmp/x"),
                ("prof", {"file": "vecadd.co", "target": "-h"}, "-h"), ("info", {"source": "", "language": "c"}, "language: expected"),
                ("compile", {"file": "vecadd.co"}, "expected a source"), ("compile", {"source": "\u0001\u0002", "target": "gfx900"}, ""),
                ("compare", {"file": "vecadd.co", "other_file": "vecadd.co", "outputs": ["../c"]}, "outputs: expected names"),
                ("explain_address", {"target": "gfx900"}, "needs instruction"), ("isa", {"instruction": "--help"}, ""),
                ("isa", {"instruction": "0 0 0"}, "their target"), ("explain_descriptor", {"words": ["-h"], "target": "gfx900"}, "")):
            with self.subTest(tool, **arguments):
                self.assertIn(message, client.call(tool, error=True, **arguments))
        client.write(b'{"jsonrpc":"2.0","id":5,"method":"ping"}')  # without its end
        client.process.stdin.close()
        self.assertEqual(client.read()["id"], 5)

    def test_command_line(self):
        for words, message in ((["x"], "unexpected 'x'"), (["--root", "absent"], "--root absent: No such file"),
                               (["--root", command.WAVEMEM], "expected a folder"), (["--timeout", "0"], "--timeout 0: expected seconds"),
                               (["--timeout", "nan"], "expected seconds"), (["--memory", "x"], "--memory x: expected"),
                               (["--output", "1"], "--output 1: expected"), (["--allow", "absent"], "--allow absent")):
            _, err = self.run_tool("mcp", *words, code=2)
            self.assertIn(message, err)

    @unittest.skipUnless(shutil.which("node"), "no node")
    def test_sdk(self):
        """The client of the protocol's authors, which checks each message against the schema."""
        folder = os.environ.get("MCP_SDK", os.path.dirname(command.WAVEMEM))
        if not os.path.isdir(os.path.join(folder, "node_modules/@modelcontextprotocol/sdk")):
            self.skipTest("no @modelcontextprotocol/sdk: MCP_SDK names the folder where npm has installed it")
        self.examples()
        self.path("spin.s", ENDLESS.encode())
        done = subprocess.run(["node", os.path.join(ROOT, "tests/tool/mcp_sdk.mjs"), folder, command.WAVEMEM, self.folder.name], check=False,
                              capture_output=True, encoding="utf-8", timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "all 9 tools")


if __name__ == "__main__":
    command.main()
