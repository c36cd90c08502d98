# SPDX-License-Identifier: MIT
"""wavemem check: its reports in all forms, what they hide, exit codes."""
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

import command

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/check"))
import check as kernels

# `early` stores a register before it is there; `right` waits; `branches` skips a store if n is 0; `many` has 105 mistakes;
# `scalar` loads a line of the scalar
# cache that it has changed in memory; `traps` faults; of `last`, the last workgroup decides; `waits` takes it that the first
# one has ended; `inverts` divides by what it loads.
SOURCE = """
// KERNEL: early in out
early:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  global_store_dword v2, v1, s[6:7] // here
  s_endpgm
// KERNEL: right in out
right:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v2, v1, s[6:7]
  s_endpgm
// KERNEL: branches out n:u32
branches:
  s_load_dword s6, s[0:1], 0x8
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 skip
  global_store_dword v2, v0, s[4:5]
skip:
  s_endpgm
// KERNEL: many in
many:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
.rept 105
  global_load_dword v1, v2, s[4:5]
  v_mov_b32 v3, v1
.endr
  s_endpgm
// KERNEL: scalar out
scalar:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dword s4, s[2:3], 0x0
  v_mov_b32 v0, 0
  v_mov_b32 v1, 7
  global_store_dword v0, v1, s[2:3]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_load_dword s4, s[2:3], 0x0 // stale
  s_endpgm
// KERNEL: traps
traps:
  s_trap 2
  s_endpgm
// KERNEL: last out
last:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  v_mov_b32 v1, s2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[4:5]
  s_endpgm
// KERNEL: waits out
waits:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc0 first
  global_load_dword v1, v0, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s6, v1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 done
  s_trap 2
first:
  v_mov_b32 v1, 1
  global_store_dword v0, v1, s[4:5]
done:
  s_endpgm
// KERNEL: inverts in out
inverts:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
  v_rcp_f32 v1, v1
  global_store_dword v2, v1, s[6:7]
  s_endpgm
"""
HERE, STALE = (1 + [line.endswith(mark) for line in SOURCE.splitlines()].index(True) for mark in ("// here", "// stale"))
BUFFERS = "-g 128 -b 64 --arg in=iota:u32:64 --arg out=zero:u32:64"
WAIT = "--only wait,hazard"  # all that the kernels violate
PUBLISHED, SARIF = os.path.join(ROOT, "docs/schema/check.json"), os.path.join(ROOT, "tests/tool/sarif.json")


class Check(command.Case):
    def setUp(self):
        super().setUp()
        self.assemble("k.s")

    def assemble(self, name):
        """k.co, whose line table names the file."""
        path = self.path("source.s", SOURCE.encode())
        text = kernels.assembly(kernels.Source(path), "gfx900")
        self.path(name, text.encode())
        self.source = name
        self.run_tool(["asm", "-m", "gfx900", "-g", name, "-o", "k.co"])

    def check(self, kernel, *words, code=0):
        return self.run_tool("check k.co -k", kernel, *words, code=code)[0]

    def report(self, kernel, *words, code=0):
        return json.loads(self.check(kernel, *words, "--json", code=code))

    def validate(self, path, document):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.Draft7Validator(schema).validate(document)

    def test_text(self):
        """Two waves, of six instructions each; the figures follow from the code."""
        out = self.check("early", BUFFERS, WAIT, code=1)
        self.assertRegex(out, r"^error: v1 is read before its data is there: 's_waitcnt vmcnt\(0\)' is missing")
        self.assertRegex(out, rf"\n  at   early\+0x[0-9a-f]+   global_store_dword v2, v1, s\[6:7\]   k\.s:{HERE}\n")
        self.assertRegex(out, rf"\n  and  early\+0x[0-9a-f]+   global_load_dword v1, v2, s\[4:5\]   k\.s:{HERE - 1}\n")
        self.assertIn("; 2 executions in all\n", out)
        self.assertIn("\n  rule read-before-wait (wait): ", out)
        self.assertIn("\nchecked    wait, hazard\n", out)
        self.assertIn("\nran        1 kernel, 1 launch, 2 workgroups, 2 waves, 12 instructions\n", out)
        self.assertIn("\naccesses   4 global, 2 scalar\n", out)
        self.assertIn("\nunchecked  8 kernels that did not run: right, branches, many, ...\n", out)
        self.assertTrue(out.endswith("\nfound      1 error\n"), out)
        self.assertIn("found      0 errors\n", self.check("right", BUFFERS, WAIT))

    def test_coverage(self):
        """Instructions that no wave reached."""
        line = "branches -g 64 -b 64 --arg out=zero:u32:64 --arg n="
        self.assertIn("unchecked  1 of 8 instructions of branches, which no wave reached\n", self.check(line + "0", WAIT))
        self.assertNotIn("which no wave reached", self.check(line + "1", WAIT))
        both = self.report(line + "0", WAIT, "--then --arg n=1")["coverage"]
        self.assertEqual([(one["launches"], one["code"], one["executed_code"], one["accesses"]["global"]) for one in both], [(2, 8, 8, 1)])

    def test_json(self):
        for kernel, code in ("early", 1), ("right", 0):
            report = self.report(kernel, BUFFERS, WAIT, code=code)
            self.validate(PUBLISHED, report)
            self.assertEqual(len(report["findings"]), code)
        self.validate(PUBLISHED, self.report("early", BUFFERS, WAIT, "--fidelity", code=1))
        text = {self.check("early", BUFFERS, WAIT, "-j", threads, code=1) for threads in "124"}
        self.assertEqual(len(text), 1)

    def test_sarif(self):
        self.check("early", BUFFERS, WAIT, "--sarif x.sarif", code=1)
        document = json.loads(self.read("x.sarif"))
        self.validate(SARIF, document)
        (run,) = document["runs"]
        (result,) = run["results"]
        self.assertEqual((result["ruleId"], result["level"], result["occurrenceCount"]), ("read-before-wait", "error", 2))
        self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], "read-before-wait")
        (finding,) = self.report("early", BUFFERS, WAIT, code=1)["findings"]
        self.assertEqual(result["partialFingerprints"], {"wavememKey/v1": finding["key"]})
        physical = [place["physicalLocation"] for place in result["locations"] + result["relatedLocations"]]
        self.assertEqual([one["artifactLocation"]["uri"] for one in physical], ["k.s", "k.s"])
        self.assertEqual([one["region"]["startLine"] for one in physical], [HERE, HERE - 1])
        self.path("hide", b"read-* early\n")
        self.check("early", BUFFERS, WAIT, "--sarif x.sarif --suppressions hide")
        document = json.loads(self.read("x.sarif"))
        self.validate(SARIF, document)
        self.assertEqual(document["runs"][0]["results"][0]["suppressions"], [{"kind": "external"}])
        self.assemble("a b%.s")  # RFC 3986: blanks and % are escaped
        self.check("early", BUFFERS, WAIT, "--sarif x.sarif", code=1)
        document = json.loads(self.read("x.sarif"))
        self.validate(SARIF, document)
        self.assertEqual(document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b%25.s")

    def test_junit(self):
        """A test case for each cause, and for each kernel and class without errors, in the form that CI servers read."""
        self.check("early", BUFFERS, WAIT, "--junit x.xml --then -k right --arg in=same:in --arg out=same:out", code=1)
        (suite,) = xml.fromstring(self.read("x.xml"))
        (finding,) = self.report("early", BUFFERS, WAIT, code=1)["findings"]
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors")], ["4", "1", "0"])
        self.assertEqual([(case.get("classname"), case.get("name"), len(case)) for case in suite],
                         [("early", f"read-before-wait {finding['key']}", 1), ("early", "hazard", 0), ("right", "wait", 0), ("right", "hazard", 0)])
        self.assertIn(f"k.s:{HERE}", suite[0][0].text)
        self.assertEqual(suite[0][0].get("type"), "read-before-wait")

    def test_github(self):
        """Escapes as in the toolkit of GitHub Actions: %, line feeds, and in properties : and , ."""
        self.assemble("a,b%.s")
        line = [line for line in self.check("early", BUFFERS, WAIT, "--github", code=1).splitlines() if line.startswith("::")]
        self.assertEqual(len(line), 1)
        self.assertTrue(line[0].startswith(f"::error file=a%2Cb%25.s,line={HERE},title=wavemem read-before-wait::v1 is read"), line)

    def test_suppressions(self):
        self.check("early", BUFFERS, WAIT, "--write-suppressions known", code=1)
        out = self.check("early", BUFFERS, WAIT, "--suppressions known")
        self.assertIn("found      0 errors, 1 suppressed\n", out)
        (finding,) = self.report("early", BUFFERS, WAIT, code=1)["findings"]
        self.assertEqual(self.read("known").decode().splitlines()[1], f"read-before-wait early {finding['key']} # k.s:{HERE}: {finding['message']}")
        self.assertIn("unused     known:2: nothing matches 'read-before-wait early ", self.check("right", BUFFERS, WAIT, "--suppressions known"))
        for text, code in (("read-before-wait early k.s\n", 0), (f"* ear?y *.s:{HERE} # why\n", 0), ("* * +0x18\n", 0), ("* right\n", 1),
                           (f"* * k.s:{HERE - 1}\n", 1), ("# nothing\n\n", 1)):
            self.path("known", text.encode())
            report = self.report("early", BUFFERS, WAIT, "--suppressions known", code=code)
            self.assertEqual((len(report["findings"]), len(report["suppressed"])), (code, 1 - code), text)
            self.assertEqual(report["unused_suppressions"], [1] if code and "#" not in text else [])
        key = finding["key"]
        for text, used in ((f"* late {key}\n* early {key}\n* early {key}\n", [1, 3]), (f"* *\n* early {key}\n", [1]), ("* right\n* early\n* *\n", [1, 3])):
            self.path("known", text.encode())
            self.assertEqual(self.report("early", BUFFERS, WAIT, "--suppressions known")["unused_suppressions"], used, text)
        self.path("known", b"one\n")
        self.refused("known:1: expected RULE KERNEL [PLACE]", "check k.co -k early", BUFFERS, "--suppressions known")

    def test_baseline(self):
        self.check("early", BUFFERS, WAIT, "--json=old.json", code=1)
        self.assertIn("found      0 errors, 1 in the baseline\n", self.check("early", BUFFERS, WAIT, "--baseline old.json"))
        self.check("right", BUFFERS, WAIT, "--json=old.json")
        self.check("early", BUFFERS, WAIT, "--baseline old.json", code=1)
        self.path("no.json", b"[]")
        self.refused("expected the JSON report of a check", "check k.co -k early", BUFFERS, "--baseline no.json")
        self.path("no.json", b'{"findings": [{"rule": "leak"}]}')
        self.refused("expected the JSON report of a check", "check k.co -k early", BUFFERS, "--baseline no.json")
        self.refused("no.txt", "check k.co -k early", BUFFERS, "--baseline no.txt")

    def test_older_baseline(self):
        """Reports from before findings had keys are read as if they had them."""
        self.check("many", "-g 64 -b 64 --arg in=iota:u32:64", WAIT, "--json=old.json", code=1)
        old = json.loads(self.read("old.json"))
        for one in old["findings"]:
            del one["key"], one["group"], one["cause"]
        self.path("old.json", json.dumps(old).encode())
        self.assertIn("found      0 errors, 105 in the baseline\n",
                      self.check("many", "-g 64 -b 64 --arg in=iota:u32:64", WAIT, "--baseline old.json"))
        old["findings"].pop()
        self.path("old.json", json.dumps(old).encode())
        out = self.check("many", "-g 64 -b 64 --arg in=iota:u32:64", WAIT, "--baseline old.json", code=1)
        self.assertIn("found      1 error, 104 in the baseline\n", out)  # although it is of the same line

    def test_keys(self):
        """Code without lines: keys remain when instructions are added in front, and tell equal instructions apart."""
        code = """  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
{}  global_load_dword v1, v2, s[4:5]
  {}v_add_u32 v3, 0x{}, v1 // may be an address
  global_load_dword v1, v2, s[4:5] offset:4
  v_add_u32 v3, 0x1234, v1
  s_waitcnt vmcnt(0)
  s_endpgm
"""
        words = "check -m gfx900 raw.bin -g 64 -b 64 --arg 0=iota:u32:128 --arg 1=zero:u32:64", WAIT
        reports = []
        for number, parts in enumerate((("", "", "1234"), ("  v_mov_b32 v5, 0\n", "", "5678"), ("", "s_waitcnt vmcnt(0)\n  ", "1234"))):
            self.path("raw.s", code.format(*parts).encode())
            self.run_tool("asm -m gfx900 --raw raw.s -o raw.bin")
            out, _ = self.run_tool(*words, "--json", code=1)
            reports.append([one["key"] for one in json.loads(out)["findings"]])
            if not number:
                self.path("old.json", out.encode())
                self.run_tool(*words, "--write-suppressions hidden", code=1)
            self.run_tool(*words, "--baseline old.json")
            self.run_tool(*words, "--suppressions hidden")
        first, second, mended = reports
        self.assertEqual([key.partition(":")[2] for key in first], ["1", "2"])
        self.assertEqual(len({key.partition(":")[0] for key in first}), 1)
        self.assertEqual(second, first)
        self.assertEqual(mended, first[:1])

    def test_needless_of_many(self):
        """Long code without branches: the list of uses grows in steps beyond the instructions that there are."""
        self.path("raw.s", b".rept 1000\nv_mov_b32 v1, v0\n.endr\ns_waitcnt vmcnt(0)\ns_endpgm\n")
        self.run_tool("asm -m gfx900 --raw raw.s -o raw.bin")
        out, _ = self.run_tool("check -m gfx900 raw.bin -g 64 -b 64 --needless --json")
        self.assertEqual([one["rule"] for one in json.loads(out)["findings"]], ["needless-wait"])

    def test_limits(self):
        """A run without errors says per class what it cannot see, as the documentation does."""
        report = self.report("right", BUFFERS)
        self.assertEqual(list(report["limits"]), report["classes"])
        with open(os.path.join(ROOT, "docs/checking.md"), encoding="utf-8") as file:
            documented = dict(re.findall(r"(?m)^\| `(\w+)` \| cannot see (.*) \|$", file.read()))
        every = self.report("right", BUFFERS, "--portability --float")["limits"]
        self.assertEqual(documented, every)
        out = self.check("right", BUFFERS, WAIT)
        lines = [f"{name:7} {report['limits'][name]}\n" for name in ("wait", "hazard")]
        self.assertIn(f"\nmisses     {lines[0]}           {lines[1]}found      0 errors\n", out)
        self.assertNotIn("misses", self.check("early", BUFFERS, WAIT, code=1))

    def test_kernels(self):
        """A check that covers nothing is no success."""
        self.check("early", BUFFERS, WAIT, "--only-kernel ^ear", code=1)
        out, err = self.run_tool("check k.co -k early", BUFFERS, WAIT, "--only-kernel other", code=4)
        self.assertIn("no kernel ran that it covers", err)
        self.assertIn("ran        0 kernels", out)
        self.refused("expected a regular expression", "check k.co -k early", BUFFERS, "--only-kernel (")

    def test_many(self):
        line = "many -g 64 -b 64 --arg in=iota:u32:64"
        out = self.check(line, WAIT, code=1)
        self.assertEqual(out.count("\n  at   "), 1)  # they are all of the same lines
        self.assertIn("\n  also 104 more findings of this rule with the same cause: --all\n", out)
        self.assertIn("\nfound      105 errors (1 cause)\n", out)
        self.run_tool("asm -m gfx900", [self.source], "-o plain.co")
        out, _ = self.run_tool("check plain.co -k", line, WAIT, code=1)  # without lines
        self.assertEqual(out.count("\n  at   "), 100)
        self.assertIn("\nand 5 more findings: --all\n", out)
        self.assertIn("\nfound      105 errors\n", out)
        self.assertEqual(self.check(line, WAIT, "--all", code=1).count("\n  at   "), 105)
        self.assertEqual(len(self.report(line, WAIT, code=1)["findings"]), 105)

    def test_scalar_cache(self):
        """What --scalar-cache check reports is a finding like any other."""
        line = "scalar -g 64 -b 64 --arg out=zero:u32:4 --then --arg out=same:out"
        self.assertEqual(self.report(line, WAIT)["findings"], [])
        report = self.report(line, WAIT, "--scalar-cache check", code=1)
        self.validate(PUBLISHED, report)
        (found,) = report["findings"]
        self.assertEqual((found["rule"], found["class"], found["kernel"], found["line"], found["executions"], found["launch"]),
                         ("stale-scalar-load", "wait", "scalar", STALE, 1, 1))  # the second launch changes nothing
        self.assertTrue(found["instruction"].startswith("s_load_dword s4, s[2:3]"), found)
        self.assertEqual(found["memory"]["allocation"]["name"], "out")

    def test_fault(self):
        report = self.report("traps -g 64 -b 64", WAIT, code=3)
        self.validate(PUBLISHED, report)
        self.assertEqual([one["what"] for one in report["incomplete"]], ["traps"])

    def test_verbs(self):
        """run and prof check the same with --check; a profile counts the blocks instead."""
        found = self.report("early", BUFFERS, WAIT, code=1)["findings"]
        for verb in "run", "prof":
            report = json.loads(self.run_tool(verb, "k.co -k early", BUFFERS, "--check=wait,hazard --json", code=1)[0])
            self.assertEqual(report["findings"], found)
            self.assertEqual(report["coverage"][0]["accesses"] is None, verb == "prof")
        self.refused("--sarif is an option of checks: it needs --check", "run k.co -k early", BUFFERS, "--sarif x")

    def test_documented(self):
        """The report in docs/checking.md is what is printed."""
        with open(os.path.join(ROOT, "docs/checking.md"), encoding="utf-8") as file:
            block = re.search(r"(?m)^    \$ wavemem (check vecadd.co .*)\n((?:    .*\n)+)", file.read())
        words = block[1].replace("vecadd.co", self.example("vecadd")[0])
        out, _ = self.run_tool(words, code=1)
        printed, shown = (re.sub("(?m)^checked .*\n", "", text) for text in (out, re.sub("(?m)^    ", "", block[2])))
        self.assertEqual(printed, shown)

    def test_float(self):
        """Floating-point exceptions are looked for on request alone, and then with any number of threads."""
        words = "-g 128 -b 64 --arg in=iota:f32:64 --arg out=zero:f32:64"
        report = self.report("inverts", words, "--only float", code=1)
        self.validate(PUBLISHED, report)
        finding, = report["findings"]
        self.assertEqual((finding["rule"], finding["class"], finding["severity"]), ("float-division-by-zero", "float", "error"))
        self.assertEqual((finding["workgroup"], finding["wave"], finding["lanes"], finding["executions"]), ([0, 0, 0], 0, "0x1", 2))
        self.assertEqual(finding["message"], "division by zero: 0 gives inf, which reaches a store")
        self.assertTrue(finding["instruction"].startswith("v_rcp_f32"))
        self.assertTrue(finding["first"]["instruction"].startswith("global_store_dword"))
        self.assertEqual(self.report("inverts", words, "--only float -j 3", code=1)["findings"], [finding])
        self.assertEqual(self.report("inverts", words.replace("iota:f32:64", "fill:f32:64:2"), "--only float")["findings"], [])
        self.assertIn("float", self.report("inverts", words, "--float", code=1)["classes"])
        self.assertNotIn("float", self.report("right", BUFFERS)["classes"])
        self.refused("--float is an option of checks: it needs --check", "run k.co -k inverts", words, "--float")

    def test_shuffle(self):
        """Of two workgroups there is one other order. The results are those of the order of their numbers."""
        words = "-g 128 -b 64 --arg out=zero:u32:64 --only portability"
        finding, = self.report("last", words, "--shuffle 5 --expect out=fill:u32:64:1")["findings"]
        self.assertEqual((finding["rule"], finding["class"], finding["severity"]), ("order-dependent", "portability", "note"))
        self.assertRegex(finding["message"], r"^byte 0 of 'out': 0x00000001 .*, 0x00000000 \(by wave 0 of workgroup 0\) in the order of seed 5; "
                                             r"64 bytes differ$")
        self.assertEqual((finding["workgroup"], finding["wave"], finding["lanes"]), ([1, 0, 0], 0, "0x1"))
        self.assertEqual(self.report("last", words, "--shuffle 5 -j 3")["findings"], [finding])
        self.assertEqual(self.report("last", words, "--shuffle 5,6,7")["findings"], [{**finding, "executions": 3}])
        self.assertEqual(self.report("last", words)["findings"], [])
        self.assertEqual(self.report("last", words.replace("128", "64"), "--shuffle 5,6,7")["findings"], [])
        self.assertIn("portability", self.report("last", words.replace("--only portability", "--shuffle 5"), code=1)["classes"])
        self.assertNotIn("portability", self.report("right", BUFFERS)["classes"])
        finding, = self.report("waits", words, "--shuffle 5")["findings"]
        self.assertEqual((finding["rule"], finding["workgroup"]), ("order-fault", [1, 0, 0]))
        for bad in "0", "x", "1,", ",1", "1,,2", "1,0", "-1", "18446744073709551616", "1" * 40:
            self.refused(f"--shuffle {bad}: expected seeds, numbers above 0", "check k.co -k last", words, "--shuffle", [bad])
        self.refused("--shuffle is an option of checks: it needs --check", "run k.co -k last", "-g 64 -b 64 --arg out=zero:u32:64 --shuffle 1")

    def test_errors(self):
        self.refused("'x' is no class of findings", "check k.co -k early", BUFFERS, "--only x")
        self.refused("the list is empty", "check k.co -k early", BUFFERS, "--only", [""])
        for option in "sarif", "junit", "write-suppressions":
            self.refused(f"--{option}", "check k.co -k early", BUFFERS, f"--{option} none/x")


command.main()
