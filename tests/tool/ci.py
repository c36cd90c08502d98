# SPDX-License-Identifier: MIT
"""The templates for other projects' CI in contrib/ci: the script, and the shell parts of the action and of GitLab's job.

usage: ci.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]

What is not tested: the actions that are used by name, and the build of the container.
"""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

import command
from command import Case

try:
    import yaml
except ImportError:
    yaml = None
try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CI = os.path.join(ROOT, "contrib/ci")
VECADD = "-g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg n=256"


class Ci(Case):
    def setUp(self):
        super().setUp()
        self.path("kernels.txt", f"# vector addition\n\nadd {self.example('vecadd')[0]} {VECADD} --arg c=uninit:f32:256\n".encode())
        self.path("short.txt", f"  short '{self.example('vecadd')[0]}' {VECADD} --arg c=zero:f32:250".encode())  # no line feed

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "XDG_CACHE_HOME", "ASAN_OPTIONS") if name in os.environ}
        return dict(kept, WAVEMEM=command.WAVEMEM, PATH=CI + ":" + kept["PATH"], **more)

    def script(self, *words, code=0, **more):
        done = subprocess.run(["wavemem-ci", *words], cwd=self.folder.name, env=self.environment(**more), capture_output=True,
                              encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def check_reports(self, folder, name, findings):
        reports = {kind: self.read(f"{folder}/{name}.{kind}").decode() for kind in ("sarif", "xml", "html", "json")}
        sarif = json.loads(reports["sarif"])
        if jsonschema:
            with open(os.path.join(os.path.dirname(__file__), "sarif.json"), encoding="utf-8") as file:
                jsonschema.validate(sarif, json.load(file))
        self.assertEqual(len(sarif["runs"][0]["results"]) > 0, findings)
        self.assertEqual(xml.fromstring(reports["xml"]).find(".//failure") is not None, findings)
        self.assertTrue(reports["html"].startswith("<!"))
        self.assertIn("rows", json.loads(reports["json"]))

    def test_script(self):
        out, _ = self.script("kernels.txt")
        self.assertIn("| add | passed | passed |", out)
        self.check_reports("wavemem-report", "add", False)
        summary = self.path("summary", b"before\n")
        out, _ = self.script("-o", "a folder", "short.txt", code=1, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=summary)
        self.assertIn("::error ", out)
        self.assertEqual(self.read("summary").decode(), "before\n| kernel | check | prof |\n| --- | --- | --- |\n"
                                                        "| short | findings | fault |\n")
        self.check_reports("a folder", "short", True)

    def test_conditions(self):
        self.assertIn("| add | passed | a condition holds |", self.script("-f", "efficiency<=1", "kernels.txt", code=1)[0])
        self.assertIn("| add | passed | passed |", self.script("-f", "efficiency<0.5", "kernels.txt")[0])
        for own in ("--fail-if 'efficiency<=1'", "--fail-if='efficiency<=1'"):  # of a line
            self.path("own.txt", self.read("kernels.txt").strip() + b" " + own.encode() + b"\n")
            self.script("own.txt", code=1)

    def test_wrong(self):
        for text, why in ((b"", "lists no kernel"), (b"# nothing\n", "lists no kernel"), (b"name\n", "expected a name"),
                          (b"a/b x.co\n", "expected a name without /"), (b"a 'x.co\n", "cannot split")):
            self.path("wrong.txt", text)
            self.assertIn(why, self.script("wrong.txt", code=2)[1])
        self.assertIn("missing.txt: cannot be read", self.script("missing.txt", code=2)[1])
        self.assertIn("usage:", self.script(code=2)[1])
        self.assertIn("usage:", self.script("-x", code=2)[1])
        self.assertIn("usage:", self.script("-h")[0])
        self.path("wrong.txt", b"a missing.co -g 1 -b 1\n" + self.read("kernels.txt"))
        out, _ = self.script("wrong.txt", code=2)  # the others still run
        self.assertIn("| a | wrong usage or bad input | wrong usage or bad input |\n| add | passed | passed |", out)

    @unittest.skipUnless(yaml, "no PyYAML")
    def test_action(self):
        """What GitHub documents of composite actions, and the steps that are shell scripts."""
        with open(os.path.join(CI, "action.yml"), encoding="utf-8") as file:
            text = file.read()
        action = yaml.safe_load(text)
        self.assertEqual(action["runs"]["using"], "composite")
        self.assertEqual(set(re.findall(r"inputs\.([\w-]+)", text)) - set(action["inputs"]), set())
        self.assertEqual(set(re.findall(r"steps\.(\w+)\.", text)), {step["id"] for step in action["runs"]["steps"] if "id" in step})
        for step in action["runs"]["steps"]:
            self.assertEqual("uses" in step, "run" not in step)
            self.assertEqual("shell" in step, "run" in step)
            self.assertNotIn("${{", step.get("run", ""))  # values of others go through the environment
        steps = {step["name"]: step for step in action["runs"]["steps"]}
        log = self.path("log", b"")
        os.mkdir(self.path("bin"))
        for name in ("sudo", "curl"):
            self.path("bin/" + name, f'#!/bin/sh\necho {name} "$@" >> {log}\n'.encode())
            os.chmod(self.path("bin/" + name), 0o755)
        output = self.path("output", b"")

        def run(name, code=0, **values):
            step = steps[name]
            self.assertEqual(set(step["env"]), set(values))
            environment = self.environment(GITHUB_OUTPUT=output, **values)
            environment["PATH"] = self.path("bin") + ":" + environment["PATH"]
            done = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], env=environment,
                                  cwd=self.folder.name, capture_output=True, encoding="utf-8")
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done.stdout

        run("Install", PACKAGES="", COMPILER="")
        self.assertEqual(self.read("log"), b"")
        run("Install", PACKAGES="a.deb https://example.org/b.deb", COMPILER=action["inputs"]["compiler"]["default"])
        self.assertEqual(self.read("log").decode().splitlines(),
                         ["curl -fsSL -o /tmp/b.deb https://example.org/b.deb", "sudo apt-get update -qq",
                          f"sudo apt-get install -y -qq --no-install-recommends {os.path.realpath(self.path('a.deb'))} /tmp/b.deb "
                          "clang-19 lld-19 rocm-device-libs"])
        for conditions, code in (("", 0), ("efficiency<0.1\nefficiency<0.2\n", 0), ("efficiency<0.1\nefficiency<=1", 1)):
            out = run("Check and profile", code, KERNELS="kernels.txt", FAIL_IF=conditions, FOLDER="reports", ACTION=CI)
            self.assertIn("| add | passed |", out)
        self.assertEqual(self.read("output"), b"folder=reports\n" * 3)

    @unittest.skipUnless(yaml, "no PyYAML")
    def test_gitlab(self):
        with open(os.path.join(CI, "wavemem.gitlab-ci.yml"), encoding="utf-8") as file:
            job = yaml.safe_load(file)[".wavemem"]
        self.assertEqual(job["artifacts"]["paths"], [job["variables"]["WAVEMEM_FOLDER"] + "/"])
        self.assertEqual(job["artifacts"]["reports"]["junit"], job["variables"]["WAVEMEM_FOLDER"] + "/*.xml")
        for condition, code in (("", 0), ("efficiency<=1", 1)):
            variables = dict(job["variables"], CI_PROJECT_DIR=self.folder.name, WAVEMEM_FAIL_IF=condition)
            variables["XDG_CACHE_HOME"] = variables["XDG_CACHE_HOME"].replace("$CI_PROJECT_DIR", self.folder.name)
            done = subprocess.run(["sh", "-e", "-c", "\n".join(job["script"])], cwd=self.folder.name,
                                  env=dict(self.environment(), **variables), capture_output=True, encoding="utf-8")
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.check_reports("wavemem-report", "add", False)

    def test_container(self):
        """Sources of COPY exist, and what it builds with is what dev/setup installs for a build."""
        with open(os.path.join(CI, "Containerfile"), encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        for source in re.findall(r"(?m)^COPY (?!--from)(\S+) ", text):
            self.assertTrue(os.path.exists(os.path.join(ROOT, source)), source)
        with open(os.path.join(ROOT, "dev/setup"), encoding="utf-8") as file:
            needed = set(re.findall(r"(?m)^build +(\S+) +[cpf] ", file.read())) - {"libc6-dev"}  # gcc depends on it
        stage = re.search(r"(?s)AS build(.*?)FROM", text).group(1)
        self.assertEqual(needed - set(stage.split()), set())

    @unittest.skipUnless(shutil.which("shellcheck"), "no shellcheck")
    def test_shellcheck(self):
        subprocess.run(["shellcheck", os.path.join(CI, "wavemem-ci"), os.path.join(ROOT, "tool/completion/wavemem.bash")], check=True)


if __name__ == "__main__":
    command.main()
