#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HIP programs as clang-15 and Debian's libamdhip64 make them, through `wavemem exec`. Exit code 77 (skipped) without.

usage: hip.py WAVEMEM RUNTIME [TEST...], mostly with the programs in hip/other; programs.py runs those that check themselves
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "hip"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
BITCODE = LIBRARIES / "amdgcn" / "bitcode"
SKIPPED = 77
TARGETS = ("gfx900", "gfx90a", "gfx1030")


def compile_program(source, folder):
    program = Path(folder) / source.stem
    # clang 15 leaves empty folders for temporary files.
    subprocess.run(
        ["clang++-15", "-x", "hip", "-std=c++17", "-O2", "-g", *(f"--offload-arch={target}" for target in TARGETS),
         "--rocm-path=/usr", "--hip-version=5.2.21153", f"--hip-device-lib-path={BITCODE}", source, "-o", program,
         "-lamdhip64", "-pthread"], env=dict(os.environ, TMPDIR=str(folder)), check=True)
    return program


def execute(*words, **more):
    return subprocess.run([COMMAND, "exec", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=120, check=False, **more)


class Exec(unittest.TestCase):
    """One program at a time, each compiled once."""
    programs = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def program(self, name):
        if name not in self.programs:
            self.programs[name] = compile_program(FOLDER / "other" / f"{name}.hip", self.folder.name)
        return self.programs[name]

    def test_printf_and_exit_code(self):
        done = execute(self.program("printf"))
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "".join(f"lane {i} of 7, text {0.5 * i:.2f}\n" for i in range(3)))

    def debug(self, program, commands, code=0):
        """What the commands print, one per line, without the program's own output."""
        words = [word for line in commands.strip().splitlines() for word in ("--eval-command", line.strip())]
        done = execute("--debug", "--batch", *words, program)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_debug(self):
        """Stops in kernels of a program, backwards within a launch, and breakpoints that later launches find."""
        program = self.program("debugged")
        lines = (FOLDER / "other/debugged.hip").read_text(encoding="utf-8").splitlines()
        line = {mark: number for number, text in enumerate(lines, 1) for mark in ("doubles",) if text.endswith("// " + mark)}
        done = self.debug(program, """info args
                                       break twice if $workgroup_x == 0
                                       continue
                                       print p[10]
                                       watch p if $_index == 10
                                       continue
                                       print p[10]
                                       who p[10]
                                       goto
                                       print p[10]
                                       reverse-continue
                                       print $dispatch
                                       print $now
                                       delete 2
                                       continue
                                       print $dispatch
                                       print p[10]
                                       set p[10] = 7
                                       delete
                                       continue""")
        self.assertEqual(done.stdout, "out[10] = 14\n")  # twice the value that was set
        for text in ("[Kernel fill, dispatch 1]", "p = (global int *) 0x", "n = 256\n", "[Kernel fill has ended, dispatch 1]", "[Kernel twice, dispatch 2]",
                     "$1 = 30\n", "Hardware watchpoint 2: p[10]\n\nOld value = 30\nNew value = 60\n", "$2 = 60\n",
                     f"debugged.hip:{line['doubles']}", "$3 = 30\n", "$4 = 2\n", "$5 = 0\n", "$6 = 3\n", "$7 = 60\n"):
            self.assertIn(text, done.stderr)

    def test_debug_stops_at_a_fault(self):
        """The wave is stopped where it faults; then the fault is the launch's, as without the debugger."""
        done = self.debug(self.program("outside"), """continue
                                                     print $lane
                                                     info waves
                                                     reverse-stepi
                                                     continue
                                                     continue
                                                     continue""", 3)
        self.assertIn("The wave has faulted: lanes 40-63", done.stderr)
        self.assertIn("$1 = 40\n", done.stderr)
        self.assertIn("error: global store outside every allocation", done.stderr)

    def test_debug_checks(self):
        """A launch is checked aside, and changes nothing; with --check, launches stop at what is found in them, and only these."""
        program = self.program("debugged")
        done = self.debug(program, """check
                                       print $now
                                       stepi 5
                                       check memory
                                       print $now""")
        self.assertEqual(done.stdout, "out[10] = 120\n")
        self.assertEqual(done.stderr.count("Nothing found.\n"), 2)
        for text in ("$1 = 0\n", "$2 = 5\n"):
            self.assertIn(text, done.stderr)
        lines = (FOLDER / "other/faulty.hip").read_text(encoding="utf-8").splitlines()
        line = {mark: number for number, text in enumerate(lines, 1) for mark in ("behind", "unwritten") if text.endswith("// " + mark)}
        words = [word for _ in range(3) for word in ("--eval-command", "print $dispatch", "--eval-command", "print $lane", "--eval-command", "continue")]
        done = execute("--debug", "--batch", "--check=memory,uninit", *words, self.program("faulty"))
        self.assertEqual(done.returncode, 1, done.stderr)
        # The numbers of the dispatches count kernels of the runtime, too.
        self.assertRegex(done.stderr, r"(?s)\$1 = 1\n.*\[Kernel store_behind, dispatch (\d+)\]\n.*store_behind \(\) at \S*faulty\.hip:%d\n.*\$3 = \1\n"
                         r"\$4 = 32\n.*\[Kernel load_unwritten, .*load_unwritten \(\) at \S*faulty\.hip:%d\n.*found      2 errors\n" % (line["behind"], line["unwritten"]))

    def between(self, *words, **more):
        """A program that waits between two launches for a file."""
        path = os.path.join(self.folder.name, f"go{len(os.listdir(self.folder.name))}")
        process = subprocess.Popen([COMMAND, "exec", "--debug", *words, self.program("between"), path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **more)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process, path

    def test_interrupted_between_launches(self):
        """Ctrl-C while the program is in code of its own opens the prompt; memory and breakpoints are there."""
        process, path = self.between(stdin=subprocess.PIPE)
        process.stdin.write(b"continue\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"waits\n")
        os.killpg(process.pid, signal.SIGINT)
        seen = b""
        while b"is between launches" not in seen:
            seen += process.stderr.read1()
            self.assertIsNone(process.poll(), seen)
        commands = b"info waves\nprint $dispatch\nreverse-stepi\ngoto begin\nbreak second if $lane == 10\ncontinue\n"
        process.stdin.write(commands)
        process.stdin.flush()
        open(path, "w", encoding="utf-8").close()
        out, err = process.communicate(b"print p[$lane]\ncontinue\n", timeout=60)
        err = err.decode()
        self.assertIn("The program is between launches: no wave is left.", err)
        self.assertEqual(err.count("goes on meanwhile: memory cannot go back."), 2, err)
        self.assertIn("$1 = 1\n", err)
        self.assertRegex(err, r"(?s)\[Kernel second, dispatch 2\].*Breakpoint 1, .* lane 10.*\$2 = 10\n")
        self.assertEqual(out, b"out[10] = 110\n")
        self.assertEqual(process.returncode, 0)

    def test_ctrl_c_after_detach(self):
        """It ends the program, as without a debugger."""
        process, _ = self.between(stdin=subprocess.PIPE)
        process.stdin.write(b"detach\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"waits\n")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)

    def test_debug_by_gdb(self):
        """GDB's protocol: the launches follow one another, and monitor's breakpoints are found in each."""
        process = subprocess.Popen([COMMAND, "exec", "--debug", "--gdb", "0", self.program("debugged")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        port = int(re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", process.stderr.readline()).group(1))
        with socket.create_connection(("127.0.0.1", port), 60) as client, client.makefile("rb") as received:

            def ask(packet):
                client.sendall(b"$%s#%02x" % (packet.encode(), sum(packet.encode()) & 255))
                answer = re.search(rb"\$([^#]*)#$", b"".join(iter(lambda: received.read(1), b"#")) + b"#").group(1)
                received.read(2)
                client.sendall(b"+")
                return answer.decode()

            def monitor(text):
                answer = ask("qRcmd," + text.encode().hex())
                return "" if answer == "OK" else bytes.fromhex(answer).decode()

            self.assertRegex(ask("?"), "^T05thread:")
            self.assertEqual(monitor("print $dispatch"), "$1 = 1\n")
            monitor("break twice if $workgroup_x == 0")
            self.assertIn("hwbreak:;", ask("vCont;c"))
            self.assertEqual(monitor("print $dispatch"), "$2 = 2\n")
            self.assertEqual(monitor("print p[10]"), "$3 = 30\n")
            self.assertIn("hwbreak:;", ask("vCont;c"))
            self.assertEqual(monitor("print $dispatch"), "$4 = 3\n")
            monitor("delete")
            self.assertEqual(ask("vCont;c"), "W00")
        self.assertEqual(process.communicate(timeout=60)[0], "out[10] = 120\n")
        self.assertEqual(process.returncode, 0)

    def test_gdb_interrupts_between_launches(self):
        """The client gets a thread for the program, sets a breakpoint, and goes on."""
        process, path = self.between("--gdb", "0")
        port = int(re.fullmatch(rb"listening on 127\.0\.0\.1:(\d+)\n", process.stderr.readline()).group(1))
        with socket.create_connection(("127.0.0.1", port), 60) as client, client.makefile("rb") as received:

            def send(packet):
                client.sendall(b"$%s#%02x" % (packet.encode(), sum(packet.encode()) & 255))

            def answer():
                text = re.search(rb"\$([^#]*)#$", b"".join(iter(lambda: received.read(1), b"#")) + b"#").group(1)
                received.read(2)
                client.sendall(b"+")
                return text.decode()

            def ask(packet):
                send(packet)
                return answer()

            self.assertRegex(ask("?"), "^T05thread:")
            send("vCont;c")
            self.assertEqual(process.stdout.readline(), b"waits\n")
            client.sendall(b"\x03")
            self.assertEqual(answer(), "T02thread:7fffffff;")
            self.assertEqual(ask("qfThreadInfo"), "m7fffffff")
            self.assertEqual(ask("T7fffffff"), "OK")
            self.assertRegex(ask("T1"), "^E")
            ask("qRcmd," + b"break second".hex())
            send("vCont;c")
            client.sendall(b"\x03")  # and again
            self.assertEqual(answer(), "T02thread:7fffffff;")
            send("vCont;c")
            open(path, "w", encoding="utf-8").close()
            self.assertIn("hwbreak:;", answer())
            self.assertEqual(bytes.fromhex(ask("qRcmd," + b"print p[10]".hex())), b"$1 = 10\n")
            self.assertEqual(ask("vCont;c"), "W00")
        self.assertEqual(process.communicate(timeout=60)[0], b"out[10] = 110\n")
        self.assertEqual(process.returncode, 0)

    def test_gdb_goes_away_between_launches(self):
        """The program goes on without stops."""
        process, path = self.between("--gdb", "0")
        port = int(re.fullmatch(rb"listening on 127\.0\.0\.1:(\d+)\n", process.stderr.readline()).group(1))
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(b"$vCont;c#a8")
            self.assertEqual(process.stdout.readline(), b"waits\n")
        open(path, "w", encoding="utf-8").close()
        self.assertEqual(process.communicate(timeout=60)[0], b"out[10] = 110\n")
        self.assertEqual(process.returncode, 0)

    def test_debug_by_an_editor(self):
        process = subprocess.Popen([COMMAND, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        events = []

        def read():
            length = 0
            while (line := process.stdout.readline().strip()):
                length = int(line.split(b":")[1])
            return json.loads(process.stdout.read(length))

        def request(command, **arguments):
            data = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
            process.stdin.flush()
            while (message := read())["type"] == "event":
                events.append(message)
            self.assertTrue(message["success"], message)
            self.assertEqual(message["command"], command)
            return message.get("body")

        def event(name):
            while not events or events[-1]["event"] != name:
                events.append(read())
            return events[-1].get("body")

        request("initialize", adapterID="wavemem")
        request("launch", program=str(self.program("debugged")), exec=True)
        event("initialized")
        request("setFunctionBreakpoints", breakpoints=[{"name": "twice", "condition": "$workgroup_x == 0"}])
        request("configurationDone")
        self.assertEqual(event("stopped")["reason"], "breakpoint")
        self.assertEqual(request("evaluate", expression="p[10]")["result"], "30")
        self.assertEqual(request("evaluate", expression="$dispatch")["result"], "2")
        request("setFunctionBreakpoints", breakpoints=[])
        request("continue", threadId=0)
        event("terminated")
        request("disconnect")
        process.stdin.close()
        self.assertIn(b"out[10] = 120\n", process.stderr.read())  # standard output is the protocol's
        self.assertEqual(process.wait(60), 0)
        process.stdout.close()
        process.stderr.close()

    def test_editor_pauses_between_launches(self):
        """What comes before the pause is answered too; a breakpoint that is set then stops the next launch. When the editor is
        gone, the program goes on without stops."""
        for gone in (False, True):
            with self.subTest(gone=gone):
                self.pause_between_launches(os.path.join(self.folder.name, f"editor{gone}"), gone)

    def pause_between_launches(self, path, gone):
        process = subprocess.Popen([COMMAND, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        messages = []

        def send(command, **arguments):
            data = json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()
            process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
            process.stdin.flush()

        def wait(kind, name):
            """The body of the next event, or answer, of this name."""
            while True:
                length = 0
                while (line := process.stdout.readline().strip()):
                    length = int(line.split(b":")[1])
                messages.append(json.loads(process.stdout.read(length)))
                if messages[-1]["type"] == kind and messages[-1].get("event" if kind == "event" else "command") == name:
                    return messages[-1].get("body")

        send("initialize", adapterID="wavemem")
        send("launch", program=str(self.program("between")), exec=True, args=[path])
        wait("event", "initialized")
        send("configurationDone")
        while process.stderr.readline() != b"waits\n":
            pass
        send("threads")
        send("pause", threadId=0)
        stopped = wait("event", "stopped")
        self.assertEqual((stopped["reason"], stopped["threadId"]), ("pause", 0x7fffffff))
        self.assertEqual(wait("response", "threads"), {"threads": [{"id": 0x7fffffff, "name": "the program, between launches"}]})
        if gone:
            process.stdout.close()
            process.stdin.close()
            open(path, "w", encoding="utf-8").close()
            self.assertEqual(process.wait(60), 0)
            self.assertIn(b"out[10] = 110", process.stderr.read())
            return
        send("stackTrace", threadId=0x7fffffff)
        self.assertEqual(wait("response", "stackTrace"), {"stackFrames": [], "totalFrames": 0})
        send("setFunctionBreakpoints", breakpoints=[{"name": "second"}])
        send("continue", threadId=0x7fffffff)
        open(path, "w", encoding="utf-8").close()
        self.assertEqual(wait("event", "stopped")["reason"], "breakpoint")
        send("evaluate", expression="p[10]")
        self.assertEqual(wait("response", "evaluate")["result"], "10")
        send("continue", threadId=0)
        wait("event", "terminated")
        send("disconnect")
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)

    def test_debug_mistakes(self):
        program = self.program("debugged")
        for words, message in (
                (["--batch"], "exec: --batch needs --debug"),
                (["--eval-command", "run"], "exec: --eval-command needs --debug"),
                (["--gdb", "0"], "exec: --gdb needs --debug"),
                (["--debug", "--gdb", "x"], "exec: --gdb x: expected a port"),
                (["--debug", "--gdb", "0", "--batch"], "exec: --gdb cannot be combined with -x, --eval-command, --batch and --check"),
                (["--debug", "-x", "/nowhere"], "-x /nowhere: No such file or directory"),
                (["--debug", "--prof"], "exec: --debug cannot be combined with --prof, --fidelity, --shuffle and their options")):
            done = execute(*words, program)
            self.assertEqual((done.returncode, done.stderr, done.stdout), (2, f"wavemem: {message}\n", ""))
        for command, message in (("run", "The program runs already; `goto begin' goes back to where this kernel begins."),
                                 ("print 1 +", "A syntax error in expression: it ends too soon.")):
            done = self.debug(program, command, 2)
            self.assertTrue(done.stderr.endswith(f"wavemem: {message}\n"), done.stderr)
            self.assertEqual(done.stdout, "out[10] = 120\n")

    def test_widened_load(self):
        """It reads four bytes behind a segment, which is no fault and no error."""
        for words in ([], ["--check=memory,uninit"]):
            self.assertEqual(execute(*words, self.program("widened")).returncode, 0)

    def test_check(self):
        """Errors of kernels, with the place that allocated the memory; copies and fills by the host count as writes."""
        program = self.program("faulty")
        lines = (FOLDER / "other/faulty.hip").read_text(encoding="utf-8").splitlines()
        line = {mark: number for number, text in enumerate(lines, 1) for mark in ("behind", "unwritten") if text.endswith("// " + mark)}
        allocates = 1 + next(number for number, text in enumerate(lines) if "hipMalloc(&unwritten" in text)
        done = execute("--check=memory,uninit", program, "clean")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nran        1 kernel, 3 launches, 3 workgroups, 3 waves", done.stderr)
        self.assertIn("found      0 errors\n", done.stderr)
        done = execute("--check=memory,uninit", f"--json={self.folder.name}/check.json", program)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"; allocated by main (faulty.hip:{allocates})", done.stderr)
        with open(f"{self.folder.name}/check.json", encoding="utf-8") as file:
            report = json.load(file)
        found = {one["class"]: one for one in report["findings"]}
        self.assertEqual(set(found), {"memory", "uninit"})
        self.assertEqual([found[name]["launch"] for name in ("memory", "uninit")], [1, 4])  # of their kernels
        self.assertEqual((found["memory"]["line"], found["memory"]["lanes"]), (line["behind"], "0x100000000"))
        self.assertEqual((found["uninit"]["line"], found["uninit"]["lanes"]), (line["unwritten"], "0xffffffff"))
        self.assertEqual([found[name]["memory"]["allocation"]["origin"] for name in ("memory", "uninit")],
                         [f"main (faulty.hip:{allocates + 1})", f"main (faulty.hip:{allocates})"])  # although it has been freed
        self.assertEqual([found[name]["memory"]["allocation"]["bytes"] for name in ("memory", "uninit")], [128, 128])
        done = execute("--check=memory", "--leaks", f"--json={self.folder.name}/check.json", program, "clean")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(f"{self.folder.name}/check.json", encoding="utf-8") as file:
            report = json.load(file)
        origins = [one["memory"]["allocation"]["origin"] for one in report["findings"] if one["rule"] == "leak"]
        self.assertIn(f"main (faulty.hip:{allocates})", origins)
        done = execute("--check=memory", "--kernel", "load", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = execute("--check=memory", "--kernel", "none", program)
        self.assertEqual(done.returncode, 4, done.stderr)

    def checked(self, *words, code):
        """Checks hip/other/orders; returns the findings, and what is printed."""
        path = f"{self.folder.name}/check.json"
        done = execute(*words[:-1], f"--json={path}", self.program("orders"), words[-1])
        self.assertEqual(done.returncode, code, done.stderr)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["findings"], done.stderr

    def test_other_orders(self):
        """Launches are repeated; their results, and later launches, are those of the execution in order."""
        lines = (FOLDER / "other/orders.hip").read_text(encoding="utf-8").splitlines()
        self.assertEqual(self.checked("--check", "--shuffle", "1,2", "none", code=0)[0], [])
        (found,), _ = self.checked("--check=portability", "--shuffle", "1,2", "last", code=0)
        self.assertEqual((found["rule"], found["severity"], found["executions"]), ("order-dependent", "note", 2))
        self.assertEqual((found["line"], found["launch"]), (1 + next(i for i, text in enumerate(lines) if text.endswith("// last")), 1))
        self.assertIn(": 0x00000007 with workgroups and waves in order", found["message"])
        # What is stored to memory of the host cannot be taken back.
        found, text = self.checked("--check=portability", "--shuffle", "1", "host", code=4)
        self.assertEqual(found, [])
        self.assertIn("launch 4 of _Z4samePj: ", text)
        self.assertIn("the kernel stores to memory of the host", text)

    def test_copies_of_unwritten_memory(self):
        lines = (FOLDER / "other/orders.hip").read_text(encoding="utf-8").splitlines()
        number = {mark: 1 + next(i for i, text in enumerate(lines) if mark in text) for mark in ("// copies", "// large", "hipMalloc(&copy")}
        (found,), text = self.checked("--check=uninit", "unwritten", code=1)
        self.assertEqual((found["rule"], found["severity"], found["instruction"]), ("uninit-copy", "error", ""))
        self.assertEqual(found["message"], "1024 bytes that nobody wrote are copied to the host")
        self.assertEqual(found["call"], f"main (orders.hip:{number['// copies']})")
        self.assertEqual(found["memory"]["allocation"]["origin"], f"main (orders.hip:{number['hipMalloc(&copy']})")
        self.assertIn(f"  by   main (orders.hip:{number['// copies']}); 1 time in all\n", text)
        self.assertEqual(self.checked("--check=uninit", "none", code=0)[0], [])
        (found,), text = self.checked("--check=uninit", "partly", code=0)
        self.assertEqual((found["rule"], found["severity"], found["executions"]), ("uninit-copy", "note", 1))
        size = 80 << 20
        self.assertEqual(found["message"], f"{size} bytes are copied to the host, of which nobody wrote {size - 64}")
        self.assertIn(f" (orders.hip:{number['// large']})", found["call"])

    def test_child_processes(self):
        done = execute("sh", "-c", f"{self.program('printf')} && exit 1; test $? = 5 && exit 9")
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn("lane 2 of 7", done.stdout)

    def test_memory_of_two_processes(self):
        for words in ([], ["--check=memory,uninit"]):
            done = execute(*words, self.program("ipc"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertIn("found      0 errors\n" if words else "", done.stderr)

    def test_fault(self):
        """1000 ints: the 24 lanes above 39 of the second wave of the last workgroup are outside. libamdhip64 5.2
        aborts when a queue reports an error, after wavemem has reported it."""
        done = execute(self.program("outside"))
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("wavemem: error: global store outside every allocation"), done.stderr)
        for part in ("outside.hip:7", "workgroup (7,0,0) wave 1, lanes 40-63", "0 bytes before",
                     "in   past_the_end, launch 1, grid 1024x1x1 in workgroups of 128x1x1, on GPU 0",
                     "near 4000 bytes of device memory", "allocated by main (outside.hip:13)",
                     "\n  hint: 'exec --on-fault continue'"):
            self.assertIn(part, done.stderr)
        self.assertEqual(done.stderr.count("hint:"), 1)

    def test_managed_memory(self):
        """10000 ints end within a page. libamdhip64 unmaps freed memory, without a word to the runtime."""
        texts = ["global store outside every allocation", "unmanaged.hip:8", "in   put, launch 2"]
        behind = ["nearest: 'managed memory' ends", "near 40000 bytes of managed memory", "by main (unmanaged.hip:14)"]
        for how, more in (("behind", behind), ("freed", [])):
            done = execute(self.program("unmanaged"), how)
            self.assertEqual(done.returncode, 3, done.stderr)
            for part in texts + more:
                self.assertIn(part, done.stderr)

    def test_fault_that_does_not_stop(self):
        done = execute("--on-fault", "continue", self.program("outside"))
        self.assertEqual((done.returncode, done.stderr.count("error:")), (3, 1), done.stderr)
        self.refused("expected stop or continue", "--on-fault", "maybe", self.program("outside"))

    def test_assert(self):
        done = execute(self.program("assert"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("Device-side assertion `threadIdx.x < n' failed", done.stdout + done.stderr)
        self.assertIn("s_trap 2", done.stderr)

    def test_timeout(self):
        done = execute("--timeout", "0.5", self.program("computes"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("the time limit ran out", done.stderr)
        self.assertIn("in   compute, launch 1", done.stderr)

    def test_waiting(self):
        """A kernel that waits is a deadlock if all threads of the host wait, too, without a time limit."""
        done = execute(self.program("endless"))
        self.assertEqual(done.returncode, 3, done.stderr)
        for part in ("deadlock", "endless.hip:8", "in   wait, launch 1"):
            self.assertIn(part, done.stderr)
        done = execute(self.program("release"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_waiting_with_listener(self):
        """The same in kernels that print: libamdhip64 then has a thread that polls, but only for kernels."""
        done = execute(self.program("listener"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("deadlock", done.stderr)
        for words in (["x"], ["x", "y"]):
            done = execute(self.program("listener"), *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "before\nafter\n", ""))

    def report(self, *words):
        """The JSON of a program that launches fill, with a grid of n workgroups at launch n from 1 to 6, and twice."""
        path = Path(self.folder.name) / "report.json"
        done = execute(f"--json={path}", *words, self.program("launches"))
        self.assertEqual((done.returncode, done.stdout), (7, "30\n"), done.stderr)
        return json.loads(path.read_text(encoding="utf-8"))

    def workgroups(self, *words):
        return {kernel["kernel"]: (kernel["dispatches"], kernel["workgroups"]) for kernel in self.report(*words)["kernels"]}

    def test_launches(self):
        fill, twice = "_Z4fillPii", "_Z5twicePi"
        self.assertEqual(self.workgroups(), {fill: (6, 21), twice: (2, 7)})
        self.assertEqual(self.workgroups("--launches", "2"), {fill: (1, 2), twice: (1, 1)})
        self.assertEqual(self.workgroups("--launches", "1,3-4,6-"), {fill: (4, 14), twice: (1, 6)})
        self.assertEqual(self.workgroups("--launches", "3-5", "--kernel", "^fill$"), {fill: (3, 12)})
        self.assertEqual(self.workgroups("--kernel", "Z5tw"), {twice: (2, 7)})
        for wrong in ("", "0", "3-2", "1,", "-4", "2-3-4", "x", "99999999999999999999"):
            self.refused("expected numbers from 1 on", "--launches", wrong, self.program("launches"))

    def test_fidelity(self):
        """fill executes one store in each of its 4 waves per workgroup."""
        report = self.report("--fidelity", "--kernel", "fill")["fidelity"]
        executions = {row["instruction"]: row["executions"] for row in report["rows"]}
        self.assertEqual((executions["global_store_dword"], executions["s_endpgm"]), (4 * 21, 4 * 21))
        done = execute("--fidelity", "--launches", "1", self.program("launches"))
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"(?m)^ *28  s_endpgm +exact$")  # 4 * (1 + 6)
        self.assertNotIn("bound", done.stderr)

    def test_trace(self):
        """The trace repeats the report, and its conditions; so does another execution."""
        trace, page = (Path(self.folder.name) / name for name in ("kept.trace", "page.html"))
        program = self.program("launches")
        done = execute("--trace", trace, "--html", page, "--fail-if", "efficiency<2", program)
        self.assertEqual((done.returncode, done.stdout), (1, "30\n"), done.stderr)
        self.assertIn("<html", page.read_text(encoding="utf-8"))
        again = subprocess.run([COMMAND, "replay", trace, "--json"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(json.loads(again)["kernels"], self.report()["kernels"])
        self.assertIn("2 kernels, 8 dispatches, 28 workgroups, 112 waves", done.stderr)
        self.assertEqual(execute("--trace", "/nowhere/a.trace", program).returncode, 2)

    def test_several_processes(self):
        """Each has its report; those that ran no kernel have none."""
        report = Path(self.folder.name) / "several.json"
        program = self.program("launches")
        done = execute(f"--json={report}", "sh", "-c", f"{program}; sleep 0; {program}; test $? = 7")
        self.assertEqual((done.returncode, done.stdout), (0, "30\n30\n"), done.stderr)
        self.assertRegex(done.stderr, r"(?ms)^process 1 \(pid \d+, launches\)$.*^process 2 ")
        self.assertFalse(report.exists())
        first, second = (json.loads(report.with_suffix(f".{number}.json").read_text(encoding="utf-8"))
                         for number in (1, 2))
        self.assertEqual(first["kernels"], second["kernels"])

    def test_program_that_is_killed(self):
        """What it ran is not lost in silence."""
        done = execute("--prof", self.program("launches"), "abort")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("it ended before what was observed had been written", done.stderr)
        self.assertEqual(execute(self.program("launches"), "abort").returncode, 128 + 6)
        done = execute(self.program("launches"), "throw")
        self.assertEqual(done.returncode, 128 + 6)
        self.assertIn("from a callback", done.stderr)
        done = execute("--prof", self.program("launches"), "fork")
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_several_gpus(self):
        done = execute("--gpu", "vega64,vega56", "--prof", self.program("peers"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for product in ("vega64", "vega56"):
            self.assertIn(f"({product})", done.stderr)
        self.assertEqual(execute("--gpu", "mi210,mi210", self.program("peers")).returncode, 0)
        self.assertEqual(execute("--gpu", "vega64,mi210", self.program("peers")).returncode, 0)  # of two targets
        self.refused("is built for", "--gpu", "vega64,rx580", self.program("peers"))

    def test_access_of_other_gpus(self):
        program = self.program("no_access")
        done = execute("--gpu", "vega64,mi210", program)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"256 bytes of device memory at 0x[0-9a-f]+, allocated by main .*; "
                                      "GPU 0 has no access to it")
        self.assertEqual(execute("--gpu", "vega64,mi210", program, "enable").returncode, 0)
        self.assertEqual(execute("--gpu", "vega64,vega64", "--check=memory,uninit", program, "enable").returncode, 0)

    def test_trace_has_sources(self):
        trace = Path(self.folder.name) / "with.trace"
        done = execute("--gpu", "vega64,vega64", "--trace", trace, f"--source-path={FOLDER}", self.program("no_access"),
                       "enable")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([Path(COMMAND).resolve(), "replay", "--source", trace], cwd=self.folder.name,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertIn("p[threadIdx.x] = threadIdx.x;", done.stdout + done.stderr)

    def test_profile(self):
        """vecadd: 100001 work-items in 391 workgroups of 4 waves. The kernel is told 100000, which is 1562.5 waves, and
        6250 lines of 64 bytes. hipMemset's kernel is not the program's."""
        program = compile_program(FOLDER / "vecadd.hip", self.folder.name)
        report = Path(self.folder.name) / "report.json"
        done = execute("--prof", f"--json={report}", program)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("global store", done.stderr)
        figures = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual([(kernel["kernel"], kernel["workgroups"], kernel["waves"]) for kernel in figures["kernels"]],
                         [("_Z3addPKfS0_Pfi", 391, 1564)])
        stores = [row for row in figures["rows"] if row["text"].startswith("global_store")]
        self.assertEqual([(row["executions"], row["lanes"], row["lines"]) for row in stores], [(1563, 100000, 6250)])
        self.assertEqual(execute("--fail-if", "efficiency<2", program).returncode, 1)
        self.refused("no kernel was profiled", "--prof", "--kernel", "^sub", program)
        done = execute("--prof", self.program("printf"))
        self.assertEqual(done.returncode, 5, done.stderr)

    def test_profile_of_a_fault(self):
        done = execute("--prof", self.program("outside"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("global store outside every allocation", done.stderr)
        self.assertRegex(done.stderr, r"partial +a dispatch ended with a fault")
        self.assertRegex(done.stderr, r"ran +1 dispatch")

    def test_demo(self):
        """examples/network.hip: the loads of `dense` are the problem of the program."""
        program = compile_program(EXAMPLES / "network.hip", self.folder.name)
        report = Path(self.folder.name) / "network.json"
        done = execute("--gpu", "vega64", "--prof", f"--json={report}", program)
        self.assertEqual((done.returncode, done.stdout), (0, "256 of 256 pictures recognized\n"), done.stderr)
        kernels = json.loads(report.read_text(encoding="utf-8"))["kernels"]
        self.assertEqual(len(kernels), 3)
        self.assertRegex(done.stderr, r"best fix +uncoalesced loads \(network\.hip:24\)")

    def test_choice_of_gpu(self):
        program = self.program("printf")
        for name in ("gfx90a", "mi210"):
            self.assertEqual(execute("--gpu", name, program).returncode, 5)
        self.refused("is built for gfx1030, gfx900, gfx90a; mi100 is gfx908: use --gpu rx6800", "--gpu", "mi100", program)
        self.refused("no product 'gfx9999'", "--gpu", "gfx9999", program)

    def test_device(self):
        for gpu, text in (("vega64", "AMD Radeon RX Vega 64, gfx900:xnack-, 64, 64\n"),
                          ("mi210", "AMD Instinct MI210, gfx90a:sramecc+:xnack-, 104, 64\n")):
            if "device" not in self.programs:
                self.programs["device"] = compile_program(FOLDER / "device.hip", self.folder.name)
            done = execute("--gpu", gpu, self.programs["device"])
            self.assertEqual((done.returncode, done.stdout), (0, text), done.stderr)

    def refused(self, text, *words):
        done = execute(*words)
        self.assertEqual(done.returncode, 2)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_names(self):
        """Every function that the original exports, and so every one that libamdhip64 imports, under its version."""
        def names(library):
            lines = subprocess.check_output(["nm", "-D", "--defined-only", library], encoding="utf-8").split("\n")
            return {line.split()[-1] for line in lines if "hsa_" in line}
        original = LIBRARIES / "libhsa-runtime64.so.1"
        if not original.exists():
            self.skipTest("no libhsa-runtime64.so.1")
        self.assertEqual(names(original) - names(RUNTIME), set())


COMMAND, RUNTIME, *TESTS = sys.argv[1:]
if not (shutil.which("clang++-15") and shutil.which("clang-offload-bundler", path="/usr/lib/llvm-15/bin") and (LIBRARIES / "libamdhip64.so").exists() and BITCODE.exists()):
    sys.exit(SKIPPED)
unittest.main(argv=[sys.argv[0], *TESTS])
