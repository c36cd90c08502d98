# SPDX-License-Identifier: MIT
"""wavemem diff: comparison of two reports.

usage: cmd_diff.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json
import re

import command
from command import Case


class Diff(Case):
    def test_diff(self):
        """From the naive to the padded transpose, the store's lines drop from 64 * 16 to 64 * 4."""
        for kernel in ("naive", "lds"):
            self.transposes("transpose_" + kernel, f"--json={kernel}.json")
        out, _ = self.run_tool("diff naive.json lds.json")
        self.assertRegex(out, r"(?m)^ *\d\S* ns -> .* 64 +1024 -> 256 +25\.0% -> 100\.0% +16\.0 -> 4\.0 +- .*\.cl:10 -> 28 +global_store_dword")
        self.assertRegex(out, r"(?m)^.* -> 2\.0 .* ds_write_b32 .*\(only in the new one\)$")
        self.assertRegex(out, r"(?m)s_load_dword(x\d)? .*\(was s_load_dword")
        self.assertIn("load_dword v", self.run_tool("diff naive.json lds.json --all")[0])
        # What was wrong with the store is gone. 16 workgroups are few for the LDS and VALU that the second one needs.
        self.assertEqual(re.findall(r"(?m)^gone +(uncoalesced stores) \(transpose\.cl:10\)$", out), ["uncoalesced stores"])
        self.assertRegex(out, r"(?m)^transpose_lds: at least \S+ ns, bound by \w+ -> \S+ ns, bound by \w+, \S+% higher$")
        self.assertEqual(re.findall(r"(?m)^new +(.*) \(kernel\)", out), ["the grid does not fill the GPU"])
        out, _ = self.run_tool("diff lds.json naive.json")
        self.assertRegex(out, r"(?m)^new +uncoalesced stores \(transpose\.cl:10\): ")
        self.assertRegex(out, r"(?m)^transpose_naive: .*, \S+% lower$")
        kernel, = json.loads(self.run_tool("diff naive.json lds.json --json")[0])["kernels"]
        self.assertEqual([[one["cause"] for one in kernel[key]] for key in ("gone", "added")], [["uncoalesced"], ["bank-conflicts", "few-workgroups"]])
        bounds = [json.loads(self.read(name + ".json"))["kernels"][0] for name in ("naive", "lds")]
        self.assertEqual([kernel[key]["part"] for key in ("old", "new")], [one["binds"] for one in bounds])
        out, _ = self.run_tool("diff naive.json naive.json")
        self.assertEqual(out, "6 of 6 instructions are unchanged\n")
        self.run_tool("diff naive.json lds.json --fail-if total.lines>1")
        _, err = self.run_tool("diff lds.json naive.json --fail-if total.lines>1.05 --fail-if clocks>=4", code=1)
        self.assertEqual([line.split()[2] for line in err.splitlines()], ["total.lines>1.05:", "clocks>=4:"])
        report = json.loads(self.run_tool("diff naive.json lds.json --json")[0])
        self.assertEqual(sum(pair["old"] is not None and pair["new"] is not None for pair in report["pairs"]), 5)
        # Both have a load and a store; their scalar loads, four and three, differ in width.
        self.path("other.json", b'{"verb": "run", "schema": 1}')
        self.path("later.json", b'{"verb": "prof", "schema": 99}')
        self.path("rows.json", b'{"verb": "prof", "schema": 1, "rows": [{"text": 1}], "totals": {}}')
        self.path("text.json", b"{")
        for name, message in (("other", "not a report of 'wavemem prof --json'"), ("later", "a report of schema 99"),
                              ("rows", "not what 'wavemem prof --json' writes"), ("text", "text.json:1: "),
                              ("missing", "missing.json")):
            self.refused(message, f"diff naive.json {name}.json")
        self.refused("expected OLD.json NEW.json", "diff naive.json")
        self.refused("a third file", "diff naive.json naive.json naive.json")

    def test_predicted(self):
        """The predicted time before and after, as in the reports, and a condition on their ratio."""
        predicted = []
        for kernel in ("naive", "lds"):
            self.transposes("transpose_" + kernel, f"--json={kernel}.json")
            predicted.append(json.loads(self.read(kernel + ".json"))["kernels"][0]["predicted"])
        old, new = predicted
        out, _ = self.run_tool("diff naive.json lds.json")
        line, = re.findall(r"(?m)^predicted +(\S+) us, bound by (\w+) -> (\S+) us, bound by (\w+)(?:, (\S+)% (higher|lower))?$", out)
        self.assertEqual(line[:4], (f"{1e6 * old['seconds']:.3g}", old["binds"], f"{1e6 * new['seconds']:.3g}", new["binds"]))
        ratio = new["seconds"] / old["seconds"]
        self.assertEqual(line[4:], (f"{100 * abs(ratio - 1):.3g}", "higher" if ratio > 1 else "lower"))
        change, = json.loads(self.run_tool("diff naive.json lds.json --json")[0])["kernels"]
        self.assertEqual((change["old_predicted"]["seconds"], change["new_predicted"]["seconds"]), (old["seconds"], new["seconds"]))
        self.run_tool("diff naive.json lds.json", ["--fail-if", f"predicted>{1.001 * ratio}"])
        _, err = self.run_tool("diff naive.json lds.json", ["--fail-if", f"predicted>{0.999 * ratio}"], code=1)
        self.assertIn(f": {ratio:.6g} of transpose_lds", err)


if __name__ == "__main__":
    command.main()
