# SPDX-License-Identifier: MIT
"""wavemem exec: its command line. tests/shim/hip.py runs HIP programs.

usage: cmd_exec.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import subprocess
import unittest.mock

import command
from command import Case


def run(*words, **more):
    return subprocess.run([command.WAVEMEM, "exec", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          check=False, **more)


class Exec(Case):
    def need_runtime(self):
        """Returns the library that programs load."""
        library = os.path.join(os.path.dirname(os.path.realpath(command.WAVEMEM)), "shim/hsa/libhsa-runtime64.so.1")
        if not os.path.exists(library):
            self.refused("libhsa-runtime-dev", "exec true")
            raise unittest.SkipTest("built without the runtime")
        if command.is_sanitized():
            raise unittest.SkipTest("a shell cannot load a library with a sanitizer")
        return library

    def test_own_exit_code(self):
        """Codes that wavemem has a meaning for, too, are said to be the program's."""
        self.need_runtime()
        for code in (0, 1, 3, 4, 5, 77):
            done = run("--gpu", "mi100", "sh", "-c", f"exit {code}")
            self.assertEqual(done.returncode, code, done.stderr)
            said = f"wavemem: exec: the program itself exited with {code}\n" if 1 <= code <= 4 else ""
            self.assertEqual(done.stderr, said)

    def test_wrong_usage(self):
        self.refused("a program is needed", "exec --prof")
        self.refused("-j 0: expected 1 to 256", "exec -j 0 true")
        self.refused("--timeout soon: expected seconds", "exec --timeout soon true")
        self.refused("no product 'gtx1080'", "exec --gpu gtx1080 true")
        self.refused("did you mean --gpu?", "exec --gpy vega64 true")
        with unittest.mock.patch.dict("os.environ", WAVEMEM_COMPILE="on"):
            self.refused("WAVEMEM_COMPILE=on in the environment: expected off, auto or always", "exec --gpu mi100 true")
        for option, instead in [("--shard 1/2", "'wavemem prof PROGRAM -k KERNEL --shard I/N"), ("--part=p", "'wavemem batch'")]:
            self.refused("not with 'exec': ", "exec", option, "true")
            self.refused(instead, "exec", option, "true")
        # Before the program runs, not after it.
        self.refused("--shuffle 1,0: expected seeds, numbers above 0", "exec --check --shuffle 1,0 false")
        self.refused("--shuffle is an option of checks: it needs --check", "exec --shuffle 1 false")
        self.refused("--kernel (: expected a regular expression", "exec --kernel ( false")
        self.refused("--launches 0: expected numbers from 1 on", "exec --launches 0 false")
        self.refused("--on-fault ignore: expected stop or continue", "exec --on-fault ignore false")
        self.refused("at most 16 GPUs", "exec --gpu " + ",".join(["mi100"] * 17) + " false")
        self.refused("no product ''", "exec --gpu mi100, false")
        self.refused("--trace missing/x.trace: cannot be written", "exec --trace missing/x.trace false")
        self.refused("--sort foo: no such column", "exec --sort foo false")
        self.refused("--fail-if x: expected", "exec --fail-if x false")
        self.refused("cannot be written", "exec --csv missing/x.csv false")
        self.assertIn("vega64", self.run_tool("exec --gpu list")[0])

    def test_program(self):
        """Exit codes, arguments that look like options, the environment, a program that is not there."""
        library = self.need_runtime()
        driver = os.path.join(os.path.dirname(os.path.realpath(command.WAVEMEM)), "shim/drm/libwavemem-drm.so")
        if os.path.exists(driver):
            library += f":{driver}"
        self.assertEqual(run("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(run("--gpu", "mi210", "-j", "3", "--timeout", "2.5", "printenv", "WAVEMEM_GPU", "WAVEMEM_TARGET",
                             "WAVEMEM_THREADS", "WAVEMEM_TIMEOUT", "LD_PRELOAD").stdout, f"mi210\ngfx90a\n3\n2.5\n{library}\n")
        environment = dict(os.environ, LD_PRELOAD="libc.so.6", WAVEMEM_THREADS="9")
        self.assertEqual(run("printenv", "LD_PRELOAD", "WAVEMEM_THREADS", env=environment).stdout, f"{library}:libc.so.6\n")
        self.assertEqual(run("echo", "-j", "--gpu").stdout, "-j --gpu\n")
        # What wavemem is told to end with goes to the program; a signal that ends the program is told.
        self.assertEqual(run("sh", "-c", "trap 'exit 9' TERM; kill -TERM $PPID; sleep 5 >&- 2>&- & wait").returncode, 9)
        self.assertEqual(run("sh", "-c", "kill -KILL $$").returncode, 128 + 9)
        crash = run("sh", "-c", "kill -SEGV $$")
        self.assertEqual((crash.returncode, crash.stderr), (128 + 11, "wavemem: exec: the program itself crashed: Segmentation fault\n"))
        self.assertEqual(run("--prof", "sh", "-c", "exit 6").returncode, 6)
        self.assertEqual(run("--fidelity", "true").returncode, 0)
        self.refused("no kernel was profiled", "exec --prof true")
        # A program may write anything into the folder of its results.
        done = run("--check", "sh", "-c", "echo 1 x > $WAVEMEM_RESULTS/1.process; : > $WAVEMEM_RESULTS/1.end;"
                   """ echo '{"findings": [{}, 7, {"rule": 5}], "coverage": [5]}' > $WAVEMEM_RESULTS/1.check""")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("what it found is damaged", done.stderr)
        folder = os.path.join(self.folder.name, "temporary")
        os.mkdir(folder)
        run("sh", "-c", "kill -TERM $$", env=dict(os.environ, TMPDIR=folder))
        self.assertEqual(os.listdir(folder), [])  # no results stay behind
        self.refused("'not-there': No such file", "exec not-there")


if __name__ == "__main__":
    command.main()
