#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""batch: a line of JSON per run whatever happens to it, going on after a kill; and the launchers in contrib/hpc.

usage: batches.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]

What is not tested: Slurm itself (its environment variables are), and more than one host.
"""
import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

import command
from command import Case, TRANSPOSE

HPC = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "contrib/hpc")


class Batches(Case):
    def list(self, *lines):
        self.path("list", "\n".join(lines).encode())
        return "list"

    def results(self, name="r"):
        """By number; each number once."""
        lines = [json.loads(line) for line in self.read(name).splitlines()]
        self.assertEqual(len({line["number"] for line in lines}), len(lines))
        return {line["number"]: line for line in lines}

    def vecadd_line(self, count=256):
        return " ".join(self.vecadd(count=count))

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI_", "SLURM_"))}
        return dict(kept, WAVEMEM=command.WAVEMEM, **more)

    def script(self, name, *words, code=0, **environment):
        done = subprocess.run([os.path.join(HPC, name), *words], cwd=self.folder.name, env=self.environment(**environment),
                              capture_output=True, encoding="utf-8", timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_usage_of_scripts(self):
        for script in sorted(os.listdir(HPC)):
            done = subprocess.run([os.path.join(HPC, script), "2"], capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, rf"^usage: (sbatch )?{script} [A-Z]+ .*\n$")

    def test_matrix(self):
        self.list("# none", "", "wavemem run a{1,2}-{x,y,}.co 'a b' {c} # end", "dis {q,r}")
        words = self.run_tool("batch list --list")[0].splitlines()
        self.assertEqual(words, [f"wavemem run a{i}-{j}.co 'a b' {{c}}".replace("{c}", "'{c}'" if "'{c}'" in words[0] else "{c}")
                                 for i in "12" for j in ("x", "y", "")] + ["wavemem dis q", "wavemem dis r"])
        self.assertEqual(self.run_tool("batch list --list --shard 2/3")[0].splitlines(), words[1::3])

    def test_whatever_happens(self):
        """A result, a mismatch, a fault, a wrong command, a crash, a run without an end."""
        waits = self.example("waiting")[0]
        self.list(self.vecadd_line(), self.vecadd_line() + " --expect c=zero:f32:256", f"run {waits} -k wait_for_nobody --guess",
                  "run absent.co", f"run {waits} -k spin_lock --guess --timeout 0.000001", "nonsense",
                  f"prof {self.example('transpose')[0]} -k transpose_naive {TRANSPOSE}", "info " + waits)
        self.assertEqual(self.run_tool("batch list --out r -j 3", code=1), ("", ""))
        results = self.results()
        self.assertEqual([results[n]["exit"] for n in range(1, 9)], [0, 1, 3, 2, 3, 2, 0, 0])
        self.assertEqual({results[n]["signal"] for n in results} | {results[n]["timed_out"] for n in results}, {None, False})
        self.assertEqual(results[1]["report"]["dispatches"][0]["kernel"], "vecadd")
        self.assertIn("rows", results[7]["report"])
        self.assertIn("absent.co", results[4]["stderr"])
        self.assertIn("spin_lock", results[8]["stdout"] if "stdout" in results[8] else json.dumps(results[8]["report"]))
        self.assertEqual(results[4]["command"], ["run", "absent.co"])
        self.run_tool("batch list --out r", code=1)  # nothing is left to run
        self.assertEqual(self.results(), results)

    def long_line(self):
        """A run of some minutes."""
        path = shutil.copy(self.example("nbody")[0], self.path("long.co"))  # a name of its own, among all processes
        return f"check {path} -g 1048576 -b 128 --guess -j 1"

    def test_long_output(self):
        """Of text, 64 KiB are kept; JSON of more than 64 MiB is text."""
        size, value = 2**24 + 256, struct.unpack("<f", b"{{{{")[0]
        self.list(f"run {self.example('vecadd')[0]} -g 64 -b 64 --arg a=iota:f32:64 --arg b=iota:f32:64 --arg n=0 "
                  f"--arg c=fill:f32:{size}:{value!r} --out c=/dev/stdout")
        self.run_tool("batch list --out r")
        self.assertEqual(self.results()[1]["stdout"], "{" * 65536)

    def test_timeout(self):
        self.list(self.long_line(), self.vecadd_line())
        self.run_tool("batch list --out r -j 2 --timeout 1.5", code=1)
        results = self.results()
        self.assertEqual((results[1]["exit"], results[1]["signal"], results[1]["timed_out"]), (None, signal.SIGKILL, True))
        self.assertEqual(results[2]["exit"], 0)

    def start(self, lines):
        """A batch of which the quick run is over and the long one is not."""
        self.list(*lines)
        batch = subprocess.Popen([command.WAVEMEM, *"batch list --out r -j 2".split()], cwd=self.folder.name)
        self.addCleanup(batch.wait)
        self.addCleanup(batch.kill)
        self.wait_until(lambda: os.path.exists(self.path("r")) and self.read("r").endswith(b"\n") and self.runs_long())
        return batch

    def wait_until(self, holds):
        limit = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)

    def runs_long(self):
        return subprocess.run(["pgrep", "-f", self.path("long.co")], capture_output=True).returncode == 0

    def test_kill(self):
        """SIGKILL, in the middle of a line; the runs end with the batch. What is there is not run again."""
        batch = self.start([self.vecadd_line(), self.long_line()])
        batch.kill()
        batch.wait()
        before = self.read("r")
        self.wait_until(lambda: not self.runs_long())
        self.path("r", before + b'{"number": 2, "comm')
        self.run_tool("batch list --out r --timeout 0.2", code=1)
        self.assertTrue(self.read("r").startswith(before))
        self.assertEqual(sorted(self.results()), [1, 2])

    def test_interrupt(self):
        batch = self.start([self.vecadd_line(), self.long_line()])
        batch.send_signal(signal.SIGINT)
        self.assertEqual(batch.wait(timeout=60), 130)
        self.assertEqual(list(self.results()), [1])

    def test_ignored_signal(self):
        """A caller that ignores SIGCHLD, which programs inherit, does not hide that runs end."""
        self.list("isa s_nop")
        done = subprocess.run([command.WAVEMEM, "batch", "list", "--out", "r"], cwd=self.folder.name, timeout=60,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.results()[1]["exit"], 0)

    def test_wrong(self):
        self.list(self.vecadd_line())
        self.refused("a file of commands is needed", "batch -j 2")
        self.refused("one file at a time", "batch list list")
        self.refused("absent", "batch absent")
        self.refused("-j x: expected", "batch list -j x")
        self.refused("--timeout 0: expected", "batch list --timeout 0")
        self.refused("expected I/N", "batch list --shard 3/2")
        self.refused("expected a name with %i", "batch list --shard 1/2 --out r")
        self.refused("cannot be written", "batch list --out nowhere/r")
        self.path("r", b'{"number": 1, "command": ["dis"]}\n')
        self.refused("--out r:1: no result of this batch", "batch list --out r")
        self.path("r", b"\0\n")
        self.refused("--out r:1: no result of this batch", "batch list --out r")
        self.path("r", b"a text without a line feed")
        self.refused("ends with something that is no result", "batch list --out r")
        self.assertEqual(self.read("r"), b"a text without a line feed")
        with open(self.path("locked"), "wb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            self.refused("another batch writes this file", "batch list --out locked")
        for line, expected in [("run 'a", "list:2: a quote is not closed"), ("batch x", "list:2: 'batch' in a batch"),
                               ("run " + "{1,2,3,4,5,6,7,8}" * 8, "list:2: more than 1048576 runs")]:
            self.list("", line)
            self.refused(expected, "batch list --list")
        self.list("# nothing")
        self.refused("holds no command", "batch list")
        self.path("list", b"a\0b")
        self.refused("not a text file", "batch list")

    @unittest.skipUnless(shutil.which("parallel"), "no GNU parallel")
    def test_parallel(self):
        self.list(*[self.vecadd_line(count) for count in (64, 100, 200, 300)], "run absent.co")
        lines = [json.loads(line) for line in self.script("batch-parallel", "2", "list", "r").splitlines()]
        self.assertEqual(sorted((line["number"], line["exit"]) for line in lines), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 2)])
        self.assertEqual(sorted(self.results("r.1")), [1, 3, 5])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_mpirun(self):
        words = ["-k", "transpose_naive", *TRANSPOSE.split()]
        merged = self.script("prof-mpirun", "2", "parts", *self.example("transpose"), *words,
                             MPIRUN="mpirun --allow-run-as-root --oversubscribe")
        self.assertEqual(merged, self.transposes("transpose_naive")[0])

    def test_slurm(self):
        """The script with the variables that Slurm sets for the tasks of an array."""
        words = [*self.example("transpose"), "-k", "transpose_naive", *TRANSPOSE.split()]
        for task in "321":
            self.script("prof-slurm", "parts", *words, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_MIN="1",
                        SLURM_ARRAY_TASK_MAX="3", SLURM_ARRAY_TASK_STEP="1", SLURM_ARRAY_TASK_COUNT="3", SLURM_PROCID="0",
                        SLURM_NTASKS="1")
        self.assertEqual(self.run_tool("merge parts/part.1 parts/part.2 parts/part.3")[0], self.transposes("transpose_naive")[0])


if __name__ == "__main__":
    command.main()
