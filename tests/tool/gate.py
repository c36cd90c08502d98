# SPDX-License-Identifier: MIT
"""--fail-if: conditions on rows, totals and kernels.

usage: gate.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import json

import command
from command import Case


class Gate(Case):
    def test_fail_if(self):
        """The naive store uses a quarter of its 64 * 16 lines, the load all of its 64 * 4."""
        _, err = self.transposes("transpose_naive", "--fail-if efficiency<0.5 --fail-if total.lines>1", code=1)
        self.assertRegex(err, r"(?m)^wavemem: --fail-if efficiency<0\.5: 0\.25 at transpose_naive\+0x\w+  global_store")
        self.assertEqual(len(err.splitlines()), 2)
        self.transposes("transpose_naive", "--fail-if efficiency<0.25 --fail-if conflicts>0")
        self.transposes("transpose_naive", "--fail-if efficiency<=0.25", code=1)
        self.transposes("transpose_lds", "--fail-if efficiency<1 --fail-if clocks>4")
        self.transposes("transpose_lds", "--fail-if conflicts>=2", code=1)
        for condition, message in (("eficiency<1", "did you mean 'efficiency'"), ("lines", "expected FIGURE<NUMBER"),
                                   ("lines=1", "expected FIGURE<NUMBER"), ("lines<", "expected FIGURE<NUMBER"),
                                   ("lines<1e", "expected FIGURE<NUMBER"), ("x" * 99 + "<1", "no figure")):
            self.refused(message, "prof", self.example("vecadd"), "--fail-if", [condition])
        self.refused("'run' does not", "run", self.example("vecadd"), "--fail-if lines<1")

    def test_fail_if_kernel(self):
        """Occupancy, waves and bounds: from the report's own arithmetic, clocks over clocks."""
        report = json.loads(self.transposes("transpose_naive", "--json")[0])["kernels"][0]
        need = {bound["part"]: bound["clocks"] for bound in report["bounds"]}
        longest = max(need, key=need.get)
        waves = report["occupancy"]
        self.assertEqual((report["binds"], waves["waves_per_simd"], waves["waves_per_simd_most"]), (longest, 10, 10))
        data = need["data"] / need[longest]
        for condition, code, told in (
                ("occupancy<1", 0, ""), ("occupancy<=1", 1, "1 of transpose_naive"), ("waves_per_simd>9", 1, "10 of transpose_naive"),
                ("bound==" + longest, 1, f"it is {longest} of transpose_naive"), ("bound!=" + longest, 0, ""),
                ("bound==LDS", 0, ""), ("bound!=LDS", 1, f"it is {longest} of"), ("bound.LDS>0", 0, ""),
                (f"bound.{longest}>=1", 1, "1 of transpose_naive"), (f"bound.data>{data * 1.001:.6f}", 0, ""),
                (f"bound.data>{data * 0.999:.6f}", 1, f"{data:.4}"[:5]), ("seconds>1", 0, ""), ("seconds>1e-9", 1, " of transpose_naive"),
                ("gain<0.5", 1, " at transpose_naive+0x"), ("wait_depth_most<2", 1, "1 at transpose_naive+0x")):
            _, err = self.transposes("transpose_naive", ["--fail-if", condition], code=code)
            self.assertEqual(err.startswith(f"wavemem: --fail-if {condition}: "), bool(code), err)
            self.assertIn(told, err)
        for condition, message in (("ocupancy<1", "did you mean 'occupancy'?"), ("bound>1", "expected bound==PART"),
                                   ("bound==L4", "no part 'L4'; expected one of memory, Infinity Cache, L2, atomics, L1, address, data, LDS, LDS issue, issue, fetch, VALU, transcendental, f64, matrix, SALU, branch, export, dispatch"),
                                   ("bound.mem<1", "no part 'mem'"), ("occupancy==1", "expected FIGURE<NUMBER"),
                                   ("total.gain<1", "no figure 'gain'"), ("total.predicted>1", "'predicted' is a figure of a kernel, without a total"),
                                   ("l2_hit<1", "did you mean 'l2_hit_rate' or 'l2_hits'"), ("bound==", "no part ''")):
            self.refused(message, "prof", self.example("vecadd"), ["--fail-if", condition])
        self.transposes("transpose_naive", "--json=old.json")
        self.transposes("transpose_lds", "--json=new.json")
        # 64 x 64 elements are few for what the second one computes: its bound is higher.
        self.run_tool("diff new.json old.json", ["--fail-if", "seconds>1"])
        _, err = self.run_tool("diff old.json new.json", ["--fail-if", "seconds>1", "--fail-if", "bound==VALU"], code=1)
        self.assertEqual(len(err.splitlines()), 2)


if __name__ == "__main__":
    command.main()
