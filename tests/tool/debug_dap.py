# SPDX-License-Identifier: MIT
"""The Debug Adapter Protocol: a client that does what an editor does, and nonsense.

usage: debug_dap.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import base64
import json
import os
import struct
import subprocess
import unittest

import command
from command import Case

SUMS = [sum(range(256 * i, 256 * i + 256)) for i in range(4)]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Client:
    def __init__(self, case):
        self.case = case
        self.process = subprocess.Popen([command.WAVEMEM, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.sequence = 0
        self.events = []
        case.addCleanup(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def read(self):
        """The next message; None: the end."""
        length = None
        while (line := self.process.stdout.readline().strip()):
            length = int(line.split(b":")[1])
        return None if length is None else json.loads(self.process.stdout.read(length))

    def request(self, name, /, success=True, **arguments):
        """Sends a request and returns the body of its answer; success False: its message."""
        self.sequence += 1
        self.write(json.dumps({"seq": self.sequence, "type": "request", "command": name, "arguments": arguments}))
        while (message := self.read())["type"] == "event":
            self.events.append(message)
        self.case.assertEqual((message["type"], message["request_seq"], message["command"]), ("response", self.sequence, name))
        self.case.assertEqual(message["success"], success, message)
        return message.get("body", {}) if success else message["message"]

    def event(self, name):
        """Waits for an event; returns its body."""
        while True:
            for i, message in enumerate(self.events):
                if message["event"] == name:
                    del self.events[:i + 1]
                    return message.get("body", {})
            message = self.read()
            self.case.assertEqual(message["type"], "event", message)
            self.events.append(message)


class Dap(Case):
    def launch(self, **more):
        client = Client(self)
        able = client.request("initialize", adapterID="wavemem")
        self.assertTrue(able["supportsStepBack"] and able["supportsDataBreakpoints"] and able["supportsDisassembleRequest"])
        request = {"program": self.example("reduction")[0], "kernel": "reduce", "grid": [1024], "workgroup": 256,
                   "arguments": {"in": "iota:f32:1024", "sums": "zero:f32:4", "n": 1024},
                   "args": ["--source-path", os.path.join(ROOT, "examples")]}
        client.request("launch", **{**request, **more})
        client.event("initialized")
        return client

    def frame(self, client, thread):
        return client.request("stackTrace", threadId=thread)["stackFrames"][0]

    def value(self, client, expression, frame=None):
        return client.request("evaluate", expression=expression, context="watch", **({"frameId": frame["id"]} if frame else {}))["result"]

    def line(self):
        with open(os.path.join(ROOT, "examples/reduction.cl"), encoding="utf-8") as file:
            return next(i for i, text in enumerate(file, 1) if "sums[get_group_id(0)] = partial[0];" in text)

    def test_program_that_is_missing(self):
        """Is refused before the adapter becomes it."""
        data = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in (
            json.dumps({"seq": 1, "type": "request", "command": "launch", "arguments": {"program": "/nowhere/app", "exec": True}}).encode(),
            json.dumps({"seq": 2, "type": "request", "command": "disconnect"}).encode()))
        out, err = self.run_tool("dap", stdin=data)
        self.assertIn('"success":false', out)
        self.assertIn("/nowhere/app: No such file or directory", out)
        self.assertEqual(err, "")

    def test_session(self):
        client = self.launch()
        path = os.path.join(ROOT, "examples/reduction.cl")
        answer = client.request("setBreakpoints", source={"path": path}, breakpoints=[
            {"line": self.line(), "condition": "$workgroup_x == 2"}, {"line": 4000}])["breakpoints"]
        self.assertEqual([b["verified"] for b in answer], [True, False])
        self.assertEqual(answer[0]["line"], self.line())
        client.request("configurationDone")
        stopped = client.event("stopped")
        self.assertEqual(stopped["reason"], "breakpoint")
        self.assertEqual(stopped["hitBreakpointIds"], [answer[0]["id"]])
        thread = stopped["threadId"]
        self.assertEqual(thread, 2 * 4 + 1)
        threads = client.request("threads")["threads"]
        self.assertEqual([t["id"] for t in threads], [9, 10, 11, 12])
        frame = self.frame(client, thread)
        self.assertEqual((frame["name"], frame["line"], frame["source"]["path"]), ("reduce", self.line(), path))
        scopes = {s["name"]: s["variablesReference"] for s in client.request("scopes", frameId=frame["id"])["scopes"]}
        arguments = {v["name"]: v for v in client.request("variables", variablesReference=scopes["Arguments"])["variables"]}
        self.assertEqual(arguments["n"]["value"], "1024")
        elements = client.request("variables", variablesReference=arguments["sums"]["variablesReference"])["variables"]
        self.assertEqual([v["value"] for v in elements], [str(SUMS[0]), str(SUMS[1]), "0", "0"])
        registers = {v["name"]: v for v in client.request("variables", variablesReference=scopes["Scalar registers"])["variables"]}
        self.assertEqual(registers["exec"]["value"], str(int(self.value(client, "$exec"))))
        self.assertIn("v0", [v["name"] for v in client.request("variables", variablesReference=scopes["Vector registers of the lane"])["variables"]])
        lds = client.request("variables", variablesReference=scopes["LDS"])["variables"]
        self.assertEqual(lds[0]["value"], str(struct.unpack("<I", struct.pack("<f", SUMS[2]))[0]))
        self.assertEqual(self.value(client, "in[5] + 0.5", frame), "5.5")
        self.assertIn("No symbol", client.request("evaluate", success=False, expression="nothing", context="watch"))
        memory = client.request("readMemory", memoryReference=arguments["sums"]["memoryReference"], count=8)
        self.assertEqual(base64.b64decode(memory["data"]), struct.pack("<2f", *SUMS[:2]))
        client.request("continue", threadId=thread)
        client.event("exited")
        client.event("terminated")
        client.request("disconnect")

    def test_steps_and_back(self):
        client = self.launch(stopOnEntry=True, stopAtEnd=True)
        client.request("configurationDone")
        self.assertEqual(client.event("stopped")["reason"], "entry")
        client.request("next", threadId=1, granularity="instruction")
        client.event("stopped")
        self.assertEqual(self.value(client, "$instructions"), "1")
        client.request("stepBack", threadId=1, granularity="instruction")
        client.event("stopped")
        self.assertEqual(self.value(client, "$instructions"), "0")
        client.request("stepIn", threadId=1)
        client.event("stopped")
        info = client.request("dataBreakpointInfo", name="sums[3]")
        client.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
        client.request("continue", threadId=1)
        stopped = client.event("stopped")
        self.assertEqual((stopped["reason"], stopped["text"]), ("data breakpoint", f"0 -> {SUMS[3]}"))
        client.request("setDataBreakpoints", breakpoints=[])
        client.request("continue", threadId=stopped["threadId"])
        self.assertIn("ended", client.event("stopped")["text"])
        answer = client.request("evaluate", expression="who sums[1]", context="repl")["result"]
        self.assertIn(f"sums[1] = {SUMS[1]} was last written by workgroup (1,0,0)", answer)
        client.request("evaluate", expression="goto", context="repl")
        stopped = client.event("stopped")
        self.assertEqual(stopped["threadId"], 5)
        self.assertEqual(self.value(client, "sums[1]"), "0")
        client.request("reverseContinue", threadId=5)
        self.assertIn("No more", client.event("stopped")["text"])
        client.request("disconnect")

    def test_changes(self):
        client = self.launch(stopOnEntry=True)
        client.request("configurationDone")
        client.event("stopped")
        self.assertEqual(client.request("setExpression", expression="in[5]", value="7.25")["value"], "7.25")
        frame = self.frame(client, 1)
        scopes = {s["name"]: s["variablesReference"] for s in client.request("scopes", frameId=frame["id"])["scopes"]}
        self.assertEqual(client.request("setVariable", variablesReference=scopes["Scalar registers"], name="s9", value="77")["value"], "77")
        self.assertEqual(self.value(client, "$s9"), "77")
        reference = hex(int(self.value(client, "&in[6]").split("0x")[1], 16))
        client.request("writeMemory", memoryReference=reference, data=base64.b64encode(struct.pack("<f", 1.5)).decode())
        self.assertEqual(self.value(client, "in[6]"), "1.5")
        client.request("disconnect")

    def test_disassembly(self):
        client = self.launch(stopOnEntry=True)
        client.request("configurationDone")
        client.event("stopped")
        pc = self.frame(client, 1)["instructionPointerReference"]
        listed = client.request("disassemble", memoryReference=pc, instructionOffset=0, instructionCount=4)["instructions"]
        self.assertEqual(listed[0]["address"], pc)
        self.assertTrue(listed[0]["instruction"].startswith("s_load_dword"), listed[0])
        answer = client.request("setInstructionBreakpoints", breakpoints=[{"instructionReference": listed[3]["address"]}])["breakpoints"]
        client.request("continue", threadId=1)
        self.assertEqual(client.event("stopped")["hitBreakpointIds"], [answer[0]["id"]])
        self.assertEqual(self.frame(client, 1)["instructionPointerReference"], listed[3]["address"])
        client.request("disconnect")

    def test_mistakes(self):
        client = Client(self)
        client.request("initialize")
        self.assertEqual(client.request("threads", success=False), "nothing has been launched")
        self.assertIn("missing.co", client.request("launch", success=False, program="missing.co"))
        self.assertIn("no kernel", client.request("launch", success=False, program=self.example("reduction")[0], kernel="other").lower())
        client.request("launch", program=self.example("reduction")[0], args=["--guess"])
        client.event("initialized")
        self.assertEqual(client.request("frobnicate", success=False), "this request is not supported")
        self.assertIn("no frame", client.request("scopes", success=False, frameId=64 + 63).lower())
        self.assertIn("no thread", client.request("stackTrace", success=False, threadId=100000).lower())
        client.request("variables", success=False, variablesReference=99)
        client.request("disassemble", success=False, memoryReference="0x1000", instructionCount=10**9)
        client.request("readMemory", success=False, memoryReference="(", count=4)
        for text in ("[]", "{}", '{"command": 5}', '{"command": "evaluate", "seq": "x"}', '{"command": "next", "arguments": []}'):
            client.write(text)
        client.sequence = 100
        client.write("no json")  # ends the session
        client.process.stdin.close()
        self.assertEqual(client.process.wait(timeout=60), 2)

    def test_no_message(self):
        for text in (b"garbage\r\n\r\n", b"Content-Length: 99999999999\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: 5\r\n\r\nab"):
            with self.subTest(text):
                done = subprocess.run([command.WAVEMEM, "dap"], input=text, capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr.count(b"\n")), (2, 1), done.stderr)
                self.assertIn(b"is no message of the Debug Adapter Protocol", done.stderr)


if __name__ == "__main__":
    command.main()
