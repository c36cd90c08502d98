# SPDX-License-Identifier: MIT
"""Ctrl-C ends `run` and `prof` with a partial report that says so, and exit code 130; a second one ends them at once.

usage: interrupt.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import re
import signal
import subprocess
import time

import command
from command import Case

# Loads a dword, then counts to 2^31: hours.
KERNEL = b"""
    s_load_dword s2, s[0:1], 0x0
    s_mov_b32 s3, 0
1:  s_add_u32 s3, s3, 1
    s_cmp_lt_i32 s3, 0
    s_cbranch_scc0 1b
    s_endpgm
"""
WORDS = "k.bin -m gfx900 -g 512 -b 64 --arg 0=zero:u32:64"
WHY = "stopped by Ctrl-C when 0 of 8 workgroups were complete"


class Interrupt(Case):
    def setUp(self):
        super().setUp()
        self.path("k.s", KERNEL)
        self.run_tool("asm -m gfx900 --raw k.s -o k.bin")

    def begin(self, *words, **options):
        """Starts the command and waits until it handles SIGINT (proc(5): SigCgt)."""
        process = subprocess.Popen([command.WAVEMEM, *" ".join(words).split()], cwd=self.folder.name, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while not self.handles(process):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        begun = self.ticks(process)
        while self.ticks(process) < begun + 5:  # waves run
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        return process

    @staticmethod
    def ticks(process):
        """The CPU time so far, in hundredths of a second (proc(5): utime)."""
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
            return int(file.read().rpartition(")")[2].split()[11])

    @staticmethod
    def handles(process):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"SigCgt:\t(\w+)", file.read()).group(1), 16) >> signal.SIGINT - 1 & 1

    def stop(self, *words):
        process = self.begin(*words)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        return out, err

    def test_run(self):
        """Nothing is written, and no further dispatch begins."""
        out, err = self.stop("run", WORDS, "--out 0=x.npy --then --json")
        self.assertIn(f"wavemem: raw: the analysis is incomplete: {WHY}\n", err)
        report = json.loads(out)
        self.assertEqual(report["incomplete"], [{"what": "raw", "why": WHY}])
        self.assertEqual([one["fault"]["kind"] for one in report["dispatches"]], ["stopped"])
        self.assertRaises(FileNotFoundError, self.read, "x.npy")

    def test_prof(self):
        """The report covers what ran, and says that it is partial."""
        out, err = self.stop("prof", WORDS, "--json=x.json --html x.html -j 2")
        self.assertEqual(err, f"wavemem: raw: the analysis is incomplete: {WHY}\n")
        self.assertTrue(out.startswith(f"partial    raw: {WHY}\n"), out)
        self.assertIn("s_load_dword s2", out)
        report = json.loads(self.read("x.json"))
        self.assertEqual(report["incomplete"], [{"what": "raw", "why": WHY}])
        self.assertGreater(report["rows"][0]["executions"], 0)
        self.assertIn(WHY, self.read("x.html").decode())

    def test_check(self):
        """Findings up to there are reported, and what was not seen."""
        out, err = self.stop("check", WORDS)
        self.assertEqual(err, f"wavemem: raw: the analysis is incomplete: {WHY}\n")
        self.assertIn("unchecked  raw: " + WHY, out)

    def test_second(self):
        process = self.begin("run", WORDS)
        process.send_signal(signal.SIGSTOP)  # so that both come before the first can be noticed
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.001)
        self.assertIn(process.returncode, (-signal.SIGINT, 130))

    def test_ignored(self):
        """As by nohup."""
        process = subprocess.Popen(["sh", "-c", f"trap '' INT; exec {command.WAVEMEM} run {WORDS} --timeout 1"],
                                   cwd=self.folder.name, stderr=subprocess.PIPE, text=True)
        while self.ticks(process) < 5:  # the shell has become the command, and waves run
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("the time limit ran out", err)


if __name__ == "__main__":
    command.main()
