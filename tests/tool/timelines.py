# SPDX-License-Identifier: MIT
"""Timelines of prof: the events for Perfetto, and the folder for ROCprof Compute Viewer, which is read by the viewer's rules.

usage: timelines.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import collections
import json
import os
import re
import unittest

import command
from command import Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZE = "-g 512,512 -b 16,16 --arg in=iota:f32:262144 --arg out=zero:f32:262144 --arg n=512"
TINY = 1e-6  # of a microsecond: rounding of sums
# Loads twice what it then waits for, and computes in between.
WAITING = """.globl k
.p2align 8
.type k,@function
k:
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[0:1]
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[0:1]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 8
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 4
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""


class Timelines(Case):
    def timeline(self, *words, code=0):
        """The slices by process and thread, in order of time, and the description of each timeline."""
        self.run_tool("prof", *words, "--timeline", "t.json", "--json=r.json", code=code)
        file = json.loads(self.read("t.json"))
        self.assertIn("predicted", file["otherData"]["note"])
        threads = collections.defaultdict(list)
        for event in file["traceEvents"]:
            self.assertIn(event["ph"], "XM")
            if event["ph"] == "X":
                threads[event["pid"], event["tid"]].append(event)
            elif event["name"] == "process_name":
                self.assertIn("(predicted, not measured)", event["args"]["name"])
        return threads, file["otherData"]["timelines"]

    @staticmethod
    def waves(events):
        """The events of a thread by wave."""
        lists = []
        for event in events:
            if event["cat"] == "wave":
                lists.append([event])
            else:
                lists[-1].append(event)
        return lists

    def check_nesting(self, threads):
        """Waves of a slot follow one another; the slices of a wave fill it without gaps."""
        for events in threads.values():
            end = 0
            for wave, *slices in self.waves(events):
                self.assertGreaterEqual(wave["ts"], end - TINY)
                end = wave["ts"]
                for event in slices:
                    self.assertAlmostEqual(event["ts"], end, delta=TINY)
                    self.assertGreater(event["dur"], 0)
                    end = event["ts"] + event["dur"]
                self.assertAlmostEqual(wave["ts"] + wave["dur"], end, delta=TINY)

    def test_waves(self):
        threads, (facts,) = self.timeline(self.example("transpose"), SIZE, "-k transpose_lds")
        report = json.loads(self.read("r.json"))["kernels"][0]
        each = report["instructions"] / report["waves"]  # all waves do the same
        clock = 1 / 1546  # of vega64 in microseconds, AMD's product page
        self.check_nesting(threads)
        lists = [wave for events in threads.values() for wave in self.waves(events)]
        # Workgroups are dealt to 64 compute units in turn, so each of those that are shown has 16 of 1024.
        self.assertEqual((facts["units_shown"], facts["workgroups"], facts["workgroups_shown"], len(lists)), (4, 1024, 64, 256))
        for wave in lists:
            self.assertEqual(sum(event["cat"] not in ("wave", "wait", "stall") for event in wave), each)
        # GCN: a SIMD starts a vector instruction every four clocks, of one wave.
        for pid in {pid for pid, _ in threads}:
            for simd in range(4):
                busy = sorted((event["ts"], event["dur"]) for (p, tid), events in threads.items() if (p, tid // 64) == (pid, simd)
                              for event in events if event["cat"] == "VALU")
                self.assertTrue(busy)
                for (first, length), (second, _) in zip(busy, busy[1:]):
                    self.assertGreaterEqual(length, 4 * clock - TINY)
                    self.assertGreaterEqual(second, first + length - TINY)
        # No wave leaves a barrier before all waves of its workgroup are there.
        groups = collections.defaultdict(list)
        for wave in lists:
            groups[re.match(r"workgroup \S+", wave[0]["name"]).group()].append(
                next((i, wave) for i, event in enumerate(wave) if event["name"] == "s_barrier"))
        for members in groups.values():
            self.assertEqual(len(members), 4)
            leave = min(wave[i]["ts"] for i, wave in members)
            arrive = max(wave[i - 1]["ts"] if wave[i - 1]["cat"] in ("wait", "stall") else wave[i]["ts"] for i, wave in members)
            self.assertGreaterEqual(leave, arrive - TINY)
        # The waves end when the dispatch is predicted to end.
        self.assertGreater(facts["memory_latencies_multiplied_by"], 1)
        self.assertAlmostEqual(facts["end_clocks"] / (facts["predicted_clocks"] - facts["launch_clocks"] - 250), 1, delta=0.02)  # 250: turnaround
        self.assertAlmostEqual(report["predicted"]["seconds"] * 1546e6, facts["predicted_clocks"], delta=1)

    def test_one_wave(self):
        """Instruction by instruction: 4 clocks each, and the load's latency less what is issued meanwhile. No latency is
        multiplied, because one wave uses nothing up."""
        self.path("k.s", WAITING.encode())
        threads, (facts,) = self.timeline("k.s -m gfx908 -g 64 -b 64 --arg x=iota:u32:64")
        (wave, *slices), = self.waves(*threads.values())
        clock = 1 / 1502  # of mi100
        self.assertEqual(facts["memory_latencies_multiplied_by"], 1)
        names = [event["name"] for event in slices]
        self.assertEqual(names, ["s_load_dwordx2", "v_lshlrev_b32_e32", "wait", "s_waitcnt", "global_load_dword", "v_mov_b32_e32",
                                 "v_mov_b32_e32", "wait", "s_waitcnt", "global_store_dword", "s_endpgm"])
        for event in slices:
            if event["cat"] != "wait":
                self.assertAlmostEqual(event["dur"] / clock, 4, delta=1e-3)
        for load, behind, wait in ((0, 2, 2), (4, 3, 7)):
            latency = slices[load]["args"]["latency_clocks"]
            self.assertAlmostEqual(slices[wait]["dur"] / clock, latency - 4 * behind, delta=1e-3)
        # gpu-benches (gpu-latency): a load that misses L2 takes 545 clocks at 1502 MHz, 8 of which are its issue and the wait.
        self.assertAlmostEqual(slices[4]["args"]["latency_clocks"], 545 - 8, delta=1)
        self.assertIn("workgroup (0,0,0) wave 0", wave["name"])

    def test_rdna(self):
        """gfx1030: waves issue each clock, and wait for results: those of a VALU instruction for 5 clocks."""
        self.path("k.s", WAITING.replace("v_mov_b32 v3, 0", "v_mov_b32 v3, v2").replace(".wavefront_size: 64", ".wavefront_size: 32").replace(
            ".amdhsa_kernarg_size 8", ".amdhsa_kernarg_size 8\n.amdhsa_wavefront_size32 1").encode())
        threads, _ = self.timeline("k.s -m gfx1030 -g 32 -b 32 --arg x=iota:u32:64")
        self.check_nesting(threads)
        (_, *slices), = self.waves(*threads.values())
        names = [event["name"] for event in slices]
        move = names.index("v_mov_b32_e32")
        self.assertEqual(names[move:move + 3], ["v_mov_b32_e32", "stall", "v_mov_b32_e32"])
        self.assertAlmostEqual(slices[move + 1]["dur"] / slices[move]["dur"], 4, delta=1e-3)

    def test_threads(self):
        """The timeline does not depend on threads."""
        files = []
        for threads in (1, 3):
            self.run_tool("prof", self.example("transpose"), SIZE, "-k transpose_lds -j", str(threads), "--timeline t.json")
            files.append(self.read("t.json"))
        self.assertEqual(*files)

    def test_dispatches(self):
        """Dispatches follow one another; waves that execute too much are cut, and say so."""
        self.timeline(self.example("transpose"), SIZE, "-k transpose_naive --then -k transpose_lds", SIZE.split("512,512")[1].split("16,16")[1])
        events = json.loads(self.read("t.json"))["traceEvents"]
        spans = []
        for kernel in ("transpose_naive", "transpose_lds"):
            of = {event["pid"] for event in events if event["name"] == "process_name" and kernel in event["args"]["name"]}
            times = [event["ts"] for event in events if event["ph"] == "X" and event["pid"] in of]
            spans.append((min(times), max(times)))
        self.assertLess(spans[0][1], spans[1][0])
        if command.REDUCED:
            return
        loop = WAITING.replace("  s_endpgm", "  s_mov_b32 s2, 400000\nloop:\n  s_sub_u32 s2, s2, 1\n  s_cmp_lg_u32 s2, 0\n"
                               "  s_cbranch_scc1 loop\n  s_endpgm", 1)
        self.path("k.s", loop.encode())
        threads, _ = self.timeline("k.s -m gfx908 -g 64 -b 64 --arg x=iota:u32:64")
        (wave, *slices), = self.waves(*threads.values())
        self.assertIn("(its beginning)", wave["name"])
        self.assertGreater(len(slices), 500000)

    def viewer(self, name="v"):
        """Reads the folder as json_emitter.cpp, wavemanager.cpp and codeload.cpp of the viewer do."""
        def load(file):
            return json.loads(self.read(os.path.join(name, file)))
        files, code, occupancy = load("filenames.json"), load("code.json"), load("occupancy.json")
        lines = {row[2]: row for row in code["code"]}
        self.assertEqual(len(lines), len(code["code"]))
        for row in code["code"]:
            self.assertEqual([type(value) for value in row], [str, int, int, str] + [int] * 6)
        waves = {}
        for engine, simds in files["wave_filenames"].items():
            for simd, slots in simds.items():
                for slot, numbers in slots.items():
                    for number, (file, begin, end) in numbers.items():
                        self.assertEqual(file, f"se{engine}_sm{simd}_sl{slot}_wv{number}.json")
                        wave = load(file)["wave"]
                        self.assertEqual((wave["begin"], wave["end"], wave["id"], wave["simd"], wave["slot"]),
                                         (begin, end, int(number), int(simd), int(slot)))
                        now = begin
                        for time, category, stall, duration, line in wave["instructions"]:
                            self.assertEqual(time, now)
                            self.assertTrue(0 <= stall <= duration and 1 <= category <= 12)
                            self.assertIn(line, lines)
                            now += duration
                        self.assertEqual(now, end)
                        self.assertEqual(sum(duration for _, duration in wave["timeline"]), end - begin)
                        self.assertTrue({state for state, _ in wave["timeline"]} <= {2, 3, 4})
                        waves[engine, simd, slot, number] = wave
        starts = collections.Counter()
        for engine, events in occupancy.items():
            times = [event[0] for event in events] if engine.isdigit() else []
            self.assertEqual(times, sorted(times))
            for _, _, simd, slot, start, kernel in events if engine.isdigit() else []:
                starts[engine, simd, slot] += 1 if start else -1
                self.assertIn(starts[engine, simd, slot], (0, 1))  # a slot holds one wave
                self.assertIn(str(kernel), occupancy["dispatches"])
        self.assertEqual(set(starts.values()), {0})
        return files, lines, waves

    def test_viewer(self):
        source = os.path.join(ROOT, "examples/transpose.cl")
        paths = ["--source-path", os.path.dirname(source)]
        self.run_tool("prof", self.example("transpose"), SIZE, "-k transpose_naive --viewer v", paths)
        self.run_tool("prof", self.example("transpose"), SIZE, "-k transpose_lds --viewer v --json=r.json", paths)  # in its place
        files, lines, waves = self.viewer()
        report = json.loads(self.read("r.json"))["kernels"][0]
        self.assertEqual((files["gfxip"], files["gfxv"], files["thread_trace"]), (9, "vega", True))
        self.assertIn("predicted", files["wavemem"])
        self.assertEqual(len(waves), 256)
        self.assertEqual(len([file for file in os.listdir(self.path("v")) if file.startswith("se")]), 256)
        self.assertEqual(sum(row[6] for row in lines.values()), 256 * report["instructions"] / report["waves"])
        # Categories of trace_decoder_types.h, by mnemonic.
        expected = {"s_load": 1, "s_mul": 2, "v_": 6, "global_": 3, "ds_": 5, "s_waitcnt": 9, "s_barrier": 9, "s_endpgm": 9}
        wave = next(iter(waves.values()))
        for _, category, _, _, line in wave["instructions"]:
            for prefix, number in expected.items():
                if lines[line][0].startswith(prefix):
                    self.assertEqual(category, number, lines[line][0])
        self.assertEqual({row[3].split(":")[0] for row in lines.values() if row[6]} - {""}, {"transpose.cl"})
        snapshots = json.loads(self.read("v/snapshots.json"))
        with open(source, "rb") as file:
            self.assertEqual(self.read(os.path.join("v", snapshots["transpose.cl"])), file.read())

    def test_refused(self):
        vecadd = [*self.example("vecadd"), "--guess"]
        os.mkdir(self.path("full"))
        self.path("full/other", b"")
        for words, message in ((["--viewer", "full"], "--viewer full: expected an empty folder"), (["--viewer", "full/other"], "Not a directory"),
                               (["--timeline", "absent/t.json"], "--timeline absent/t.json"), (["--timeline", "t.json", "--shard", "1/2", "--part", "p"],
                                                                                            "--timeline")):
            _, err = self.run_tool("prof", vecadd, words, code=2)
            self.assertIn(message, err)
        for verb in ("run", "debug"):
            for option in ("--timeline", "--viewer"):
                _, err = self.run_tool(verb, vecadd, option, "x", code=2)
                self.assertIn(option, err)


if __name__ == "__main__":
    command.main()
