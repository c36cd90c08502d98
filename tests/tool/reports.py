#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reports of `wavemem prof`: columns, order, sources, CSV, and the schema of the JSON.

usage: reports.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import csv
import json
import os
import re
import resource
import shutil
import subprocess

import command
from command import Case, TRANSPOSE, pack

SCHEMA = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "schema", "prof.json")


class Reports(Case):
    @staticmethod
    def table(out):
        """The lines of a table, starting at its header, split into words."""
        lines = [line.split() for line in out.splitlines()]
        return lines[next(i for i, line in enumerate(lines) if line[-1:] in (["instruction"], ["code"])):]

    def test_columns(self):
        """Columns and order; a narrow terminal omits columns and truncates text, with a note."""
        out, _ = self.transposes("transpose_naive", "--instructions --all --show lines,read_requests --sort offset")
        lines = self.table(out)
        self.assertEqual(lines[0], "lines read_requests limit source offset instruction".split())
        offsets = [int(line[4], 16) for line in lines[1:] if len(line) > 5 and re.match(r"\+0x", line[4])]
        self.assertEqual(offsets, sorted(offsets))
        store = next(line for line in lines if "global_store_dword" in line)
        self.assertEqual(store[:2], [str(64 * 16), "0"])
        for column, figures in (("lines", [1024, 256]), ("clocks", ["16.0", "4.0"]), ("efficiency", ["25.0%", "100.0%"])):
            for more in ("", "--instructions"):
                out, _ = self.transposes("transpose_naive", f"--show {column} --sort {column}", more)
                self.assertEqual([line[0] for line in self.table(out)[1:3]], list(map(str, figures)))
        out, _ = self.transposes("transpose_naive", "--sort source --instructions")
        self.assertEqual(re.findall(r" transpose\.cl:(\d+)  ", out), ["8"] * 3 + ["10"] * 3)
        everything = self.table(self.transposes("transpose_naive", "--show all --instructions")[0])[0]
        rows = json.loads(self.transposes("transpose_naive", "--json")[0])["rows"]
        # Waves wait for what they load, one after another, and store at their end.
        waits = {operation: sum(row["waits"] for row in rows if row["operation"] == operation) for operation in ("load", "store")}
        self.assertTrue(0.1 < waits["load"] < 1 and waits["store"] == 0, waits)
        titles = " ".join(everything).replace("% of bound", "share").replace("% waiting", "waits").replace("L1 hit", "L1").replace("L2 hit", "L2").split()
        self.assertEqual(len(titles) - 3, sum(key not in (
            "kernel", "text", "path", "operation", "file", "line", "column", "pc", "offset", "worst_conflict", "advice", "gain")
            for key in rows[0]))
        for width in (60, 80, 100):
            os.environ["COLUMNS"] = str(width)
            self.addCleanup(os.environ.pop, "COLUMNS", None)
            for more, kept in (("", "transpose.cl:10"), ("--instructions", "global_store_dword")):
                out, _ = self.transposes("transpose_naive", more)
                note = next(line for line in out.splitlines() if line.startswith("not shown for want of width: "))
                self.assertLessEqual(max(len(line) for line in out.splitlines() if line != note), width)
                self.assertIn(kept, out)
                self.assertIn("49.4%", out)
                self.assertNotIn("% of bound", note)
                if "source" in note:  # the last to go
                    self.assertTrue(note.endswith("L1 hit, L2 hit, limit, source (--show NAME,NAME...)"), note)
                    self.assertEqual((width, more), (60, "--instructions"))

        for message, words in (("--show clock: no such column; did you mean 'clocks'?", "--show lines,clock"),
                               ("--show clock: no such column; did you mean", "--show clock"),
                               ("--sort wavelength: no such column; expected offset, source", "--sort wavelength")):
            self.refused(message, "prof", self.example("vecadd"), words)
        for option in ("--show all", "--sort lines", "--source", "--csv x.csv", "--html x.html", "--timeline x.json", "--viewer x"):
            for verb in ("run", "check"):
                self.refused(f"'wavemem prof' counts, '{verb}' does not", verb, self.example("vecadd"), option)

    def test_files_are_tried_first(self):
        """Files that cannot be written are refused before the run, whose fault would take precedence; existing files
        are kept."""
        fault = "-k transpose_naive -g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=null --arg n=64"
        self.run_tool("prof", self.example("transpose"), fault, code=3)
        self.transposes("transpose_naive", "--trace x.trace --json=old.json")
        self.path("kept", b"kept")
        os.mkdir(self.path("folder"))
        files = sorted(os.listdir(self.folder.name))
        prof, replay, diff = ["prof", self.example("transpose"), fault], ["replay x.trace"], ["diff old.json old.json"]
        for option, verbs in (("--csv ", (prof, replay)), ("--html ", (prof, replay)), ("--counters ", (prof, replay)),
                              ("--trace ", (prof,)), ("--json=", (prof, replay, diff))):
            for path, why in (("no/x", "No such file or directory"), ("folder", "Is a directory"), ("kept/x", "Not a directory")):
                for verb in verbs:
                    self.refused(f"{option[:-1]} {path}: cannot be written: {why}", *verb, option + path)
                    for other in ("--json=kept", "--json=new") if option != "--json=" else ():
                        self.refused("cannot be written", *verb, other, option + path)
        self.assertEqual(sorted(os.listdir(self.folder.name)), files)
        self.assertEqual(self.read("kept"), b"kept")

    def test_verdict(self):
        """The first four lines: what binds, the predicted time, the best fix, and the bound now and after it, as in the
        JSON."""
        words = [*self.example("strided_copy"), "-g", "1024", "-b", "64", *"--arg in=zero:f32:32768 --arg out=zero:f32:1024 --arg n=1024 --arg stride=32".split()]
        out, _ = self.run_tool("prof", words)
        report = json.loads(self.run_tool("prof", words, "--json")[0])
        best = report["advice"][0]
        verdict, predicted, fix, bound = out.splitlines()[:4]
        self.assertRegex(verdict, rf"^verdict    strided_copy is bound by {report['kernels'][0]['binds']} on AMD Radeon RX Vega 64: at least \d+ ns$")
        of = report["kernels"][0]["predicted"]
        self.assertEqual(predicted, f"predicted  {1e6 * of['seconds']:.3g} us (x/÷ {of['factor']:.2g}, latencies of {of['like']}), bound by {of['binds']}, "
                                    + verdict.split(": ")[1])
        self.assertEqual(fix, f"best fix   {best['verdict']} ({best['place']}): {best['change']}")
        self.assertEqual(bound, f"bound      now {1e9 * best['now']['seconds']:.3g} ns -> at best {1e9 * best['after']['seconds']:.3g} ns, "
                                f"then bound by {best['after']['part']}; predicted {1e6 * best['predicted']:.3g} us -> "
                                f"{1e6 * best['predicted_after']:.3g} us")
        self.assertEqual(best["now"]["part"], report["kernels"][0]["binds"])
        # A copy by rows, large enough for the GPU, has nothing to improve.
        words = "-g 1024,1024 -b 16,16 --arg in=zero:f32:1048576 --arg out=zero:f32:1048576 --arg n=1024"
        out, _ = self.run_tool("prof", self.example("transpose"), "-k transpose_lds", words)
        self.assertRegex(out.splitlines()[2], "^best fix   (none known|more waves)")
        self.assertEqual(out.splitlines()[3], "bound      now " + out.splitlines()[0].split("at least ")[1])
        self.assertNotIn("no line table", out)

    def test_rows(self):
        """At most 20 rows by source line and access; all of them, or those of instructions, when asked for."""
        lines = "".join(f"two {4 * i}\n" for i in range(30))
        self.path("many.s", f'''.text\n.globl many\n.type many,@function\n.p2align 8
            .macro two offset\n.rept 2\nglobal_load_dword v1, v0, s[4:5] offset:\\offset\n.endr\n.endm\nmany:\ns_getpc_b64 s[4:5]\n{lines}s_endpgm
            .amdhsa_kernel many\n .amdhsa_next_free_vgpr 8\n .amdhsa_next_free_sgpr 16\n
            .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .end_amdhsa_kernel'''.encode())
        self.run_tool("asm -g -m gfx900 many.s -o many.co")
        for more, rows, rest in (("", 20, "and 10 more rows with "), ("--all", 30, None), ("--instructions", 20, "and 40 more instructions with "),
                                 ("--instructions --all", 60, None)):
            out, _ = self.run_tool("prof many.co -g 64 -b 64", more)
            self.assertEqual(len(re.findall(r"many\.s:\d+ ", out)), rows, out)
            self.assertEqual("more rows" in out or "more instructions" in out, rest is not None)
            self.assertIn(rest or "", out)
        # Both loads of a line: the requests are the sum, the clocks the mean. Each four lanes load 16 bytes, unaligned.
        self.assertRegex(self.run_tool("prof many.co -g 64 -b 64 --show executions,clocks --sort source")[0],
                         r"(?m)^ *2 +4\.0 .*many\.s:\d+ +global load +two 0$")

    def test_colours(self):
        """On a terminal only, and not with NO_COLOR (https://no-color.org) or TERM=dumb."""
        def on_terminal(**more):
            main, other = os.openpty()
            environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
            words = ["prof", *self.example("transpose"), *TRANSPOSE.split(), "-k", "transpose_naive"]
            with subprocess.Popen([command.WAVEMEM, *words], stdout=other, cwd=self.folder.name, env={**environment, **more}) as process:
                os.close(other)
                out = b""
                while True:
                    try:
                        part = os.read(main, 65536)
                    except OSError:  # EIO: the other side is closed
                        part = b""
                    if not part:
                        break
                    out += part
            os.close(main)
            self.assertEqual(process.returncode, 0)
            return out.decode()
        coloured = on_terminal(TERM="xterm")
        self.assertIn("\x1b[31m99.2%\x1b[0m", coloured)
        for more in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
            plain = on_terminal(**more)
            self.assertNotIn("\x1b", plain)
            self.assertEqual(re.sub(r"\x1b\[\d+m", "", coloured), plain)
        self.assertNotIn("\x1b", self.transposes("transpose_naive")[0])

    def test_names(self):
        """C++ names are shown as in the source, in JSON beside the symbol."""
        self.assemble("_ZN4math5scaleIfLi4EEEvPT_", "s_getpc_b64 s[4:5]\nglobal_load_dword v1, v0, s[4:5]\n.rept 20\ns_nop 0\n.endr")
        words = "prof _ZN4math5scaleIfLi4EEEvPT_.co -g 64 -b 64"
        out, _ = self.run_tool(words, "--html page.html --json=x.json")
        self.assertTrue(out.startswith("verdict    math::scale<float, 4> is bound by"), out)
        self.assertIn("\nno line table: compile with -g to see source lines\n", out)
        self.assertIn("<h1>math::scale&lt;float, 4&gt; is bound by", self.read("page.html").decode())
        kernel = json.loads(self.read("x.json"))["kernels"][0]
        self.assertEqual((kernel["kernel"], kernel["source_name"]), ("_ZN4math5scaleIfLi4EEEvPT_", "math::scale<float, 4>"))

    def test_csv(self):
        """The same figures as in the JSON, under the same names."""
        out, _ = self.transposes("transpose_lds", "--csv rows.csv --json")
        rows = json.loads(out)["rows"]
        table = list(csv.DictReader(self.read("rows.csv").decode().splitlines()))
        self.assertEqual(len(table), len(rows))
        for line, row in zip(table, rows):
            for key, text in line.items():
                value = row[key]
                self.assertEqual(text, "" if value is None else text if isinstance(value, float) else str(value))
                if isinstance(value, float):
                    self.assertAlmostEqual(float(text), value)
        self.assertEqual(set(rows[0]) - set(table[0]), {"column", "pc", "worst_conflict", "limit", "advice", "gain"})
        self.refused("--csv no/x.csv: cannot be written", "prof", self.example("transpose"),
                     "-k transpose_lds", TRANSPOSE, "--csv no/x.csv")

    def test_templates(self):
        """Of 24 instances of a template and three other kernels, the two that take longest are described, of instances only
        the longest. The others have a line, all instances of the template one. --all describes each."""
        load = "s_getpc_b64 s[4:5]\nglobal_load_dword v1, v0, s[4:5]\n"
        bodies = {f"_ZN4math5scaleIfLi{n}EEEvPT_": load + f".rept {10 * n}\nv_mul_f32 v2, v3, v3\n.endr" for n in range(1, 25)}
        bodies["_ZN4math5scaleEPf"] = load  # not a template
        bodies["long"] = load + ".rept 2000\nv_mul_f32 v2, v3, v3\n.endr"
        bodies["alu"] = "v_mov_b32 v0, 1"
        jobs = []
        for name, body in bodies.items():
            self.assemble(name, body)
            jobs += ["--then", name + ".co", "-k", name, "-g", "6400", "-b", "64"]
        out, _ = self.run_tool(["prof", *jobs[1:]])
        self.assertLessEqual(len(out.splitlines()), 60)
        self.assertEqual(re.findall(r"(?m)^verdict    (.*?) is bound ", out), ["long", "math::scale<float, 24>"])
        self.assertRegex(out, r"(?m)^ .* 23 instances of math::scale +from \S+ \S+ \(<float, 1>\) to \S+ \S+ \(<float, 23>\)$")
        self.assertEqual(len(re.findall(r"  math::scale  ", out)), 1)
        self.assertEqual(len(re.findall(r"  alu  ", out)), 1)
        out, _ = self.run_tool(["prof", *jobs[1:], "--all"])
        self.assertEqual(len(re.findall(r"(?m)^verdict ", out)), 27)
        self.assertNotIn("instances of", out)

    def assemble(self, name, body, target="gfx900"):
        self.path(name + ".s", f""".globl {name}\n.type {name},@function\n.p2align 8\n{name}:\n{body}\ns_endpgm\n
            .amdhsa_kernel {name}\n .amdhsa_next_free_vgpr 8\n .amdhsa_next_free_sgpr 16\n
            .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .end_amdhsa_kernel""".encode())
        self.run_tool(["asm", "-m", target, name + ".s", "-o", name + ".co"])

    def profiled(self, *words):
        """The kernel and the rows, from JSON; and the text."""
        report = json.loads(self.run_tool("prof", *words, "--json")[0])
        self.validate(report)
        return report["kernels"][0], report["rows"], self.run_tool("prof", *words)[0]

    def test_code_binds(self):
        """If instruction fetch is the limit, which is no row's work, rows have no share, and the report says why. Vega
        64 fetches 32 B per clock, in which its vector, scalar and memory units can begin 40 B of instructions; its
        L2 moves 1024 B per clock to 24 instruction caches of 32 KiB."""
        load = "s_load_dwordx2 s[4:5], s[0:1], 0x0"
        mixed = ("v_add3_u32 v1, v0, v0, v0\ns_mov_b32 s6, 0x12345\nglobal_load_dword v3, v[4:5], off\n"
                 "global_load_dword v3, v[4:5], off\n" + load)
        self.assemble("long", f"s_mov_b64 exec, 0\n.rept 200\n{mixed}\n.endr\n{load}")  # 8016 B, 251 fetches
        kernel, rows, out = self.profiled("long.co -g 65536 -b 64")
        self.assertEqual((kernel["binds"], kernel["fetches"], {row["share"] for row in rows}), ("fetch", 1024 * 251, {None}))
        said = f"{251 * 32 / 1003:.4g} B of code are fetched per executed instruction"
        self.assertIn(said, self.finding("long.co -g 65536 -b 64", "code")["numbers"])
        self.assertIn(said, " ".join(out.split()))
        self.assertNotIn("share  efficiency", out)
        self.assemble("short", load)
        for words in (["short.co -g 4096 -b 64"], [self.example("transpose"), "-k transpose_naive", TRANSPOSE]):
            self.assertNotIn("code", [one["cause"] for one in json.loads(self.run_tool("prof", *words, "--json")[0])["advice"]])

    def finding(self, words, cause):
        """The first finding, which has that cause."""
        found = json.loads(self.run_tool("prof", words, "--json")[0])["advice"][0]
        self.assertEqual(found["cause"], cause)
        return found

    def test_cut(self):
        """The log of two waves that fills 128 MiB by half and more."""
        for times, cuts in ((200000, []), (260000, ["round"])):
            kernel, _, out = self.profiled(self.loop(times))
            self.assertEqual((kernel["cuts"], kernel["resident_cut"]), (cuts, bool(cuts)))
            self.assertEqual("cut        the log of all resident workgroups would exceed 128 MiB, so at "
                             "most 1 workgroups were modelled at once\n" in out, bool(cuts))

    def loop(self, times):
        """Two waves that each execute this many loads of 64 lanes: a log entry has 16 bytes and 63 differences of four,
        plus one for padding (src/profile/caches/log.h)."""
        self.path("k.s", f"""s_load_dwordx2 s[4:5], s[0:1], 0x0
            v_mul_u32_u24 v1, v0, v0\nv_lshlrev_b32 v1, 6, v1\ns_mov_b32 s6, {times}\ns_waitcnt lgkmcnt(0)
            again:\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)
            s_sub_i32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 again\ns_endpgm\n""".encode())
        self.run_tool("asm --raw -m gfx900 k.s -o k.bin")
        return "k.bin -m gfx900 -g 128 -b 64 --arg 0=zero:u8:262144"

    def test_incomplete(self):
        """Analysis that is incomplete for lack of memory is reported in text, in JSON and by the exit code, also by
        comparisons; a condition that holds takes precedence, and a trace with gaps is not written."""
        if command.is_sanitized():
            self.skipTest("address space cannot be limited")
        loop = self.loop(400000)
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))
        def run(*words):
            run = subprocess.run([command.WAVEMEM, *" ".join(words).split()], capture_output=True, text=True, cwd=self.folder.name,
                                 preexec_fn=limited, timeout=120)
            return run.returncode, run.stdout, run.stderr
        code, out, errors = run("prof -j 1", loop, "--json=short.json")
        self.assertEqual(code, 4, errors)
        self.assertIn("analysis is incomplete: profile: no memory for all of it", errors)
        self.assertRegex(out, "(?m)^partial    raw: profile: no memory for all of it$")
        self.assertRegex(out, "(?m)^incomplete .*the host ran out of memory for part of the log")
        report = json.loads(self.read("short.json"))
        self.validate(report)
        self.assertEqual([one["why"] for one in report["incomplete"]], ["profile: no memory for all of it"])
        self.assertEqual(run("prof -j 1", loop, "--fail-if executions>1")[0], 1)
        code, _, errors = run("prof -j 1", loop, "--trace short.trace")
        self.assertEqual((code, errors.splitlines()[-1]), (2, "wavemem: --trace short.trace: not written: no memory for a part of the trace"))
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "short.trace")))
        _, errors = self.run_tool("diff short.json short.json", code=4)
        self.assertEqual(errors.count("short.json: raw: the analysis is incomplete"), 2)

    def test_shares_of_what_leaves_later(self):
        """The second kernel evicts 1 MiB that the first kernel leaves in an L2 of 4 MiB that keeps its contents: this counts neither in the
        bound of the first kernel nor in a share, but still as written by its store."""
        out, _ = self.run_tool("prof", self.example("vecadd"), "-g 262144 -b 64 --arg a=iota:f32:262144 --arg b=iota:f32:262144",
                               "--arg c=zero:f32:262144 --arg n=262144 --then", self.example("strided_copy"), "-g 4194304 -b 64",
                               "--arg in=iota:f32:4194304 --arg out=same:in --arg n=4194304 --arg stride=1 --keep-l2 --json")
        report = json.loads(out)
        first, second = report["kernels"]
        self.assertEqual((first["binds"], first["memory_written"], first["memory_dirty"]), ("memory", 0, 1 << 20))
        store = next(row for row in report["rows"] if row["kernel"] == "vecadd" and row["operation"] == "store")
        self.assertEqual((store["share"], store["memory_written"]), (0, 1 << 20))
        for kernel, code in ((first, 0), (second, 1 << 20)):
            of = sum(row["share"] or 0 for row in report["rows"] if row["kernel"] == kernel["kernel"])
            whole = kernel["memory_read"] + kernel["memory_written"]
            self.assertLessEqual(of, 1)
            self.assertAlmostEqual(of, 1 - code / whole, 3)

    def test_without_memory(self):
        """A kernel without memory instructions: 1024 waves of 8 B of code, one fetch each, on 64 compute units: 16
        clocks of 1546 MHz."""
        self.assemble("alu", "v_mov_b32 v0, 1")
        for words in ("", "--source"):
            out, _ = self.run_tool("prof alu.co -g 65536 -b 64", words)
            self.assertTrue(out.startswith("verdict    alu is bound by fetch on AMD Radeon RX Vega 64: at least 10.3 ns\n"), out)
            for line in ("ran        1 dispatch, 1024 workgroups, 1024 waves, 2048 instructions", "occupancy  10 of 10 waves per SIMD",
                         "code       8 B, 1024 fetches of 32 B", "at least   10.3 ns, bound by fetch: 1024 code fetches"):
                self.assertIn(line, out)
            self.assertTrue(out.endswith("\nit executed no memory instruction itself\n"), out)
        out, _ = self.transposes("transpose_naive", "--then alu.co -k alu -g 64 -b 64")
        self.assertEqual(re.findall(r"(?m)^verdict    (\w+) ", out), ["transpose_naive", "alu"])

    def test_predicted(self):
        """The prediction is at least the bound; its parts are sorted; an empty kernel takes the time of its launch."""
        for kernel in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
            report = json.loads(self.transposes(kernel, "--json")[0])["kernels"][0]
            predicted = report["predicted"]
            bound = max(part["seconds"] for part in report["bounds"])
            self.assertGreaterEqual(predicted["seconds"], bound)
            times = [part["seconds"] for part in predicted["parts"]]
            self.assertEqual(times, sorted(times, reverse=True))
            self.assertEqual(predicted["binds"], predicted["parts"][0]["part"])
            self.assertGreaterEqual(predicted["seconds"], times[0] + predicted["launch"])
        self.transposes("transpose_naive", "--fail-if predicted<1e-9")
        _, err = self.transposes("transpose_naive", "--fail-if predicted>1e-9", code=1)
        self.assertRegex(err, r"--fail-if predicted>1e-9: \S+ of transpose_naive")

    def test_predicted_transposes(self):
        """Stores down columns make a transpose slower than one that is coalesced on both sides, as published: AMD's three on
        MI210 take 4440, 2900 (loads down columns) and 2687 us (padded tile)."""
        words = "-g 1024,1024 -b 16,16 --arg in=zero:f32:1048576 --arg out=zero:f32:1048576 --arg n=1024 --gpu vega64,mi100,mi210 --json"
        times = {}
        for kernel in ("transpose_naive", "transpose_lds"):
            report = json.loads(self.run_tool("prof", self.example("transpose"), "-k", kernel, words)[0])
            times[kernel] = {product["gpu"]: product["kernels"][0]["predicted"]["seconds"] for product in report["products"]}
        for product, seconds in times["transpose_lds"].items():
            self.assertGreater(times["transpose_naive"][product], 1.05 * seconds, product)

    def test_predicted_waits(self):
        """A chain of eight loads, each of which waits for the one before, takes longer than eight loads at once."""
        load = "global_load_dword v1, v0, s[2:3]"
        times = []
        for name, code in (("chain", "\n".join(f"{load}\ns_waitcnt vmcnt(0)" for _ in range(8))),
                           ("burst", "\n".join([load] * 8 + ["s_waitcnt vmcnt(0)"]))):
            self.assemble(name, "s_getpc_b64 s[2:3]\nv_mov_b32_e32 v0, 0\n" + code)
            report = json.loads(self.run_tool(f"prof {name}.co -g 64 -b 64 --json")[0])
            times.append(dict((part["part"], part["seconds"]) for part in report["kernels"][0]["predicted"]["parts"])["latency"])
        # Vega 64 has the latencies of MI100: 133 clocks for a hit in L1, as published by gpu-benches.
        self.assertGreater(times[0] - times[1], 7 * 120 / 1546e6)

    def test_diff_bounds(self):
        """The minimum times and the limits, before and after, and the predicted times."""
        binds = []
        for kernel in ("naive", "lds"):
            report = json.loads(self.transposes("transpose_" + kernel, "--json")[0])
            self.path(kernel + ".json", json.dumps(report).encode())
            binds.append(report["kernels"][0]["binds"])
        out, _ = self.run_tool("diff naive.json lds.json")
        self.assertRegex(out, rf"(?m)^transpose_lds: at least \d\S* [un]s, bound by {binds[0]} -> \d\S* [un]s, bound by {binds[1]}, \S+% (lower|higher)$")
        self.assertRegex(out, r"(?m)^predicted  \d\S* us, bound by \S+ -> \d\S* us, bound by \S+, \S+% (lower|higher)$")

    def test_share(self):
        """Shares are of the limiting part and add up to all of it except instruction fetch; small gains get no advice:
        in the padded kernel, a conflict of two lanes costs 2 clocks of LDS where memory is the limit."""
        work = {"memory": lambda row: (row["memory_read"] or 0) + (row["memory_written"] or 0), "L2": lambda row: row["l2_bytes"] or 0,
                "L1": lambda row: row["tag_clocks"] or 0, "LDS": lambda row: row["lds_passes"] or 0}
        for kernel in ("naive", "lds", "unpadded"):
            report = json.loads(self.transposes("transpose_" + kernel, "--json")[0])
            bound = report["kernels"][0]
            self.assertEqual(bound["binds"] == "VALU", kernel != "naive")  # 64 x 64 elements; see tests/tool/bounds.py
            if bound["binds"] == "VALU":
                self.assertEqual({row["share"] for row in report["rows"]}, {None})
                continue
            of = work[bound["binds"]]
            l2 = next(cache for cache in bound["caches"] if cache["name"] == "L2")
            whole = {"memory": bound["memory_read"] + bound["memory_written"],
                     "L2": sum(l2[kind]["bytes"] for kind in ("read", "write", "atomic"))}.get(
                         bound["binds"], sum(of(row) for row in report["rows"]))
            self.assertLess(sum(of(row) for row in report["rows"]) / whole, 1.000001)
            self.assertGreater(sum(of(row) for row in report["rows"]) / whole, 0.9)
            for row in report["rows"]:
                self.assertAlmostEqual(row["share"] or 0, of(row) / whole, 6)
            self.assertEqual([row["share"] for row in report["rows"]],
                             sorted((row["share"] for row in report["rows"]), key=lambda share: -(share or 0)))
        words = ("prof", self.example("transpose"), "-k transpose_lds -g 1024,1024 -b 16,16 --arg in=zero:f32:1048576 "
                 "--arg out=zero:f32:1048576 --arg n=1024")
        self.assertNotIn("bank conflicts", self.run_tool(*words)[0])

    def advice(self, name, words, mnemonic):
        """The advice on the only instruction of that name; it is also below the table, with its place."""
        rows = json.loads(self.run_tool("prof", name, words, "--json")[0])["rows"]
        row, = (row for row in rows if row["text"].startswith(mnemonic + " "))
        if row["advice"]:
            verdict, numbers = row["advice"].split(": ", 1)
            out = " ".join(self.run_tool("prof", name, words)[0].split())
            self.assertRegex(out, re.escape(verdict) + r" \(\S+\): " + re.escape(numbers))
        return row["advice"] or ""

    def test_names_the_difference(self):
        """Advice that a GPU engineer would give on one kernel but not on the other. The numbers follow from the
        sources."""
        transpose = self.example("transpose")
        # Down a column: 16 lines for 256 bytes, listed though memory needs longer than the address unit's 16 clocks. Through
        # LDS: rows.
        self.assertRegex(self.advice(transpose, TRANSPOSE + " -k transpose_naive", "global_store_dword"),
                         "256 B apart: 16 lines of 64 B for 256 useful bytes per instruction, ideal 4; ")
        self.assertEqual(self.advice(transpose, TRANSPOSE + " -k transpose_lds", "global_store_dword"), "")
        # A tile with rows of 64 bytes: eight dwords of one bank; 14 of 16 passes are conflicts.
        self.assertRegex(self.advice(transpose, TRANSPOSE + " -k transpose_unpadded", "ds_read_b32"), "14 of 16 per instruction")
        # 64 lanes 128 bytes apart need 64 lines; 4 bytes apart, four lines of 64.
        for stride, expected in ((32, r"128 B apart: 64 lines of 64 B for 256 useful bytes.*fastest-varying dimension"), (1, "^$")):
            words = f"-g 1024 -b 64 --arg in=zero:f32:32768 --arg out=zero:f32:1024 --arg n=1024 --arg stride={stride}"
            self.assertRegex(self.advice(self.example("strided_copy"), words, "global_load_dword"), expected)
        # One field of an array of structs of 16 bytes, and the same as a struct of arrays.
        for shift, expected in ((4, r"16 B apart and use 4 of them: 16 lines of 64 B for 256 useful bytes.*one array per member"), (2, "^$")):
            self.path("field.bin", pack("u32", [
                0xC0060100, 0x00000000,          # s_load_dwordx2 s[4:5], s[0:1], 0x0
                0x24000080 + shift,              # v_lshlrev_b32_e32 v0, shift, v0
                0xBF8CC07F,                      # s_waitcnt lgkmcnt(0)
                0xDC508000, 0x01040000,          # global_load_dword v1, v0, s[4:5]
                0xBF810000]))                    # s_endpgm
            words = "-m gfx900 -g 64 -b 64 --arg 0=zero:f32:256"
            self.assertRegex(self.advice("field.bin", words, "global_load_dword"), expected)

    def validate(self, report):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.Draft7Validator(schema).validate(report)
        return jsonschema.Draft7Validator(schema)

    def test_schema(self):
        """The output follows the published schema; deviations are detected."""
        for kernel in ("transpose_naive", "transpose_lds", "transpose_unpadded"):
            self.validate(json.loads(self.transposes(kernel, "--json --fidelity")[0]))
        compared = json.loads(self.transposes("transpose_lds", "--json --gpu vega64,mi210")[0])
        validator = self.validate(compared)
        del compared["products"][1]["kernels"][0]["predicted"]["factor"]
        self.assertTrue(list(validator.iter_errors(compared)))
        self.transposes("transpose_lds", "--trace x.trace --sample 1/2")
        self.validate(json.loads(self.run_tool("replay x.trace --json")[0]))
        report = json.loads(self.transposes("transpose_naive", "--json", "--fail-if efficiency<0.5", code=1)[0])
        validator = self.validate(report)
        self.assertEqual(len(report["failed"]), 1)
        for change in (lambda r: r.pop("rows"), lambda r: r.update(schema=2), lambda r: r["rows"][0].pop("lines"),
                       lambda r: r["rows"][0].update(lines="1"), lambda r: r["rows"][0].update(efficiency=1.5),
                       lambda r: r["rows"][0].update(line=-1), lambda r: r["rows"][0].update(path="BUS"),
                       lambda r: r["totals"].update(kernel="x"), lambda r: r["dispatches"][0].pop("kernel"),
                       lambda r: r.update(more=1), lambda r: r["failed"][0].update(value=None)):
            other = json.loads(json.dumps(report))
            change(other)
            self.assertFalse(validator.is_valid(other))

    def test_source(self):
        """Next to the source's own lines, the figures of their instructions; without the file, the listing."""
        with open(os.path.join(os.path.dirname(command.EXAMPLES), "transpose.cl"), encoding="utf-8") as file:
            source = file.read().splitlines()
        folder = os.path.dirname(command.EXAMPLES)
        out, _ = self.transposes("transpose_naive", "--source", ["--source-path", folder])
        at = next(line for line in out.splitlines() if re.search(r" 10  ", line))
        self.assertTrue(at.endswith(source[10 - 1]), at)
        # Per request: the load's 4 lines, the store's 16 and the line's scalar load's 1; ideal 4, 4 and 1.
        self.assertEqual(at.split()[2:7], [str(3 * 64), "64.0", "-", f"{21 / 3:.1f}", f"{9 / 3:.1f}"])
        shutil.copy(os.path.join(command.EXAMPLES, "transpose.co"), self.path("alone.co"))
        words = "-k transpose_naive " + TRANSPOSE
        listing, _ = self.run_tool("prof alone.co", words, "--source --show lines")
        texts = [re.sub(r".*\+0x\w+ +", "", line) for line in listing.splitlines() if "+0x" in line]
        dis = [line.split("//")[0].strip() for line in
               self.run_tool("dis alone.co --plain -k transpose_naive")[0].splitlines()]
        self.assertEqual(texts, dis[:len(texts)])
        self.assertEqual(texts[-1], "s_endpgm")
        os.mkdir(self.path("folder"))
        shutil.copy(os.path.join(os.path.dirname(command.EXAMPLES), "transpose.cl"), self.path("folder/transpose.cl"))
        self.assertEqual(self.run_tool("prof alone.co", words, "--source=folder")[0], out)


if __name__ == "__main__":
    command.main()
