# SPDX-License-Identifier: MIT
"""Completion of shells, and that the tables of options, --help and the manual pages agree.

usage: complete.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

import command
from command import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SUBJECTS = ("descriptor", "address", "format", "image")
# Options that only some verbs with the table of `run` take: cmd_run.c refuses them.
OF_PROF = {"counters", "sample", "keep-l2", "trace", "timeline", "viewer", "html", "csv", "show", "instructions", "sort", "source", "source-path",
           "fail-if", "gpu", "all"}
OF_CHECK = {"only", "only-kernel", "suppressions", "write-suppressions", "baseline", "sarif", "junit", "github", "strict", "origins",
            "all", "portability", "float", "needless", "shuffle"}
# Options that only `debug` takes, and those of the shared table that it refuses.
OF_DEBUG = {"command", "eval-command", "batch", "gdb"}


class Complete(Case):
    def offered(self, *words):
        return self.run_tool(["__complete", *words])[0].splitlines()

    def verbs(self):
        return [verb for verb in self.offered("") if not verb.startswith("-")]

    def test_options_are_documented(self):
        """Each option of a table is in the help, and each option of the help in the table."""
        self.assertIn("prof", self.verbs())
        for verb in [[verb] for verb in self.verbs() if verb != "explain"] + [["explain", subject] for subject in SUBJECTS]:
            with self.subTest(" ".join(verb)):
                help = self.run_tool(verb, "--help")[0]
                table = {option[2:] for option in self.offered(*verb, "--")} - {"help"}
                letters = {option[1:] for option in self.offered(*verb, "-") if not option.startswith("--")} - {"h"}
                listed = set()
                for line in re.findall(r"(?m)^ +((?:-\w, |)--.*)", help):
                    listed |= set(re.findall(r"--([a-z][\w-]*)", re.split(r" {2}|  ", line)[0]))
                shown_letters = set(re.findall(r"(?m)^ +-(\w), --", help))
                absent = (OF_PROF | OF_CHECK | {"check"}) if verb == ["run"] else OF_CHECK - {"all"} | {"check"} if verb == ["prof"] \
                    else OF_PROF - {"all"} | {"check"} if verb == ["check"] else OF_CHECK if verb == ["exec"] \
                    else OF_PROF | OF_CHECK | {"check"} if verb == ["debug"] else set()
                absent |= OF_DEBUG if verb != ["debug"] else set()
                self.assertEqual(table - absent - listed, set(), "not in the help")
                self.assertEqual(listed - table - {"help"}, set(), "not in the table")
                self.assertEqual(letters - shown_letters - ({"x"} if verb != ["debug"] else set()), set())
                self.assertEqual(shown_letters - letters - {"h"}, set())

    def test_candidates(self):
        self.assertEqual(self.offered("pr"), ["prof"])
        self.assertEqual(self.offered("explain", ""), list(SUBJECTS))
        self.assertEqual(self.offered("prof", "--fail"), ["--fail-if"])
        transpose, = self.example("transpose")
        kernels = ["transpose_naive", "transpose_lds", "transpose_unpadded"]
        self.assertEqual(self.offered("prof", transpose, "-k", ""), kernels)
        self.assertEqual(self.offered("info", "-k", ""), [])  # of which file?
        self.assertEqual(self.offered("run", transpose, "--kernel", "transpose_l"), ["transpose_lds"])
        self.assertEqual(self.offered("run", transpose, "-k", "transpose_lds", "-a", ""), ["in=", "out=", "n="])
        self.assertIn("gfx90a", self.offered("dis", "-m", "gfx90"))
        self.assertEqual(len(set(self.offered("dis", "-m", ""))), len(self.offered("dis", "-m", "")))
        self.assertIn("mi210", self.offered("prof", "--gpu", "mi"))
        self.assertEqual(self.offered("prof", ""), [":files"])
        self.assertEqual(self.offered("prof", "--job", "x"), [":files"])
        self.assertEqual(self.offered("nothing", ""), [])
        self.assertEqual(self.offered("run", "missing.co", "-k", ""), [])

    def in_bash(self, *words):
        """What bash's function answers for these words; the last one is at the cursor."""
        script = (f"source {ROOT}/tool/completion/wavemem.bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                  "_wavemem \"$1\"; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", command.WAVEMEM, *words], stdout=subprocess.PIPE,
                              cwd=self.folder.name, encoding="utf-8", check=True)
        return done.stdout.split("\n")[:-1]

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash(self):
        self.assertEqual(self.in_bash("pr"), ["prof"])
        self.assertEqual(self.in_bash("prof", "--fail"), ["--fail-if"])
        transpose, = self.example("transpose")
        self.assertEqual(self.in_bash("prof", transpose, "-k", "transpose_u"), ["transpose_unpadded"])
        for name in ("a b.co", "ab.co"):
            self.path(name, b"")
        self.assertEqual(sorted(self.in_bash("info", "a")), ["a b.co", "ab.co"])
        self.assertEqual(self.in_bash("info", "x"), [""])

    def test_other_shells(self):
        for shell, script in (("zsh", "_wavemem"), ("fish", "wavemem.fish")):
            if shutil.which(shell):
                subprocess.run([shell, "-n", os.path.join(ROOT, "tool/completion", script)], check=True)

    def test_manual_pages(self):
        """One for each verb, with every line of its help, and without warnings of groff."""
        subprocess.run([sys.executable, os.path.join(ROOT, "docs/man_pages.py"), command.WAVEMEM, self.folder.name, "1.2.3"], check=True)
        self.assertEqual(sorted(os.listdir(self.folder.name)), sorted(f"wavemem-{verb}.1" for verb in self.verbs()))
        with open(os.path.join(ROOT, "docs/meson.build"), encoding="utf-8") as file:
            installed = re.search(r"foreach verb : \[(.*)\]", file.read()).group(1)
        self.assertEqual(sorted(re.findall(r"\w+", installed)), sorted(self.verbs()))
        for verb in self.verbs() if shutil.which("groff") else []:
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rLL=200n", self.path(f"wavemem-{verb}.1")], capture_output=True,
                                  encoding="utf-8", check=True)
            self.assertEqual(done.stderr, "")
            plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
            squeezed = re.sub(r"[\s\u2010\u00ad-]+", "", plain)
            for line in self.run_tool(verb, "--help")[0].split("\n\n", 1)[1].splitlines():
                self.assertIn(re.sub(r"[\s-]+", "", line), squeezed)

    def test_usage(self):
        """A verb alone prints its own usage."""
        for verb in self.verbs():
            if verb in ("dap", "mcp"):  # which editors and agents start so
                continue
            out, err = self.run_tool(verb, code=2)
            self.assertEqual(out, "")
            self.assertTrue(err.startswith(f"usage: wavemem {verb} "), err)
            self.assertTrue(err.endswith(f"'wavemem {verb} --help' lists the options.\n"), err)
            self.assertLess(err.count("\n"), 50)
        _, err = self.run_tool(code=2)
        self.assertIn("--guess", err)


if __name__ == "__main__":
    command.main()
