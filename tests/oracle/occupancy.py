#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Occupancy reported by 'wavemem prof' against LLVM's for the same kernels ("; Occupancy:" in its assembly), for
several workgroup sizes, numbers of VGPRs and sizes of LDS, in each mode and wave size.

usage: occupancy.py WAVEMEM CLANG
"""
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile

# LDS sizes are multiples of each generation's granule: LLVM does not round them up.
ITEMS, VGPRS, LDS = (32, 64, 128, 192, 256, 512, 1024), (10, 33, 60, 84, 96, 128), (0, 1024, 5120, 12288, 24576, 65536)
RDNA = (["-mcumode"], [], ["-mcumode", "-mwavefrontsize64"], ["-mwavefrontsize64"])
# SIMDs per compute unit.
TARGETS = {"gfx700": 4, "gfx803": 4, "gfx900": 4, "gfx908": 4, "gfx90a": 4, "gfx942": 4, "gfx1010": 2, "gfx1030": 2,
           "gfx1100": 2, "gfx1102": 2, "gfx1150": 2, "gfx1151": 2, "gfx1200": 2, "gfx1201": 2}


def kernels():
    """(name, work-items, VGPRs, bytes of LDS): a subset of all combinations that includes every pair of values."""
    for number, (items, vgprs, lds) in enumerate(itertools.product(ITEMS, VGPRS, LDS)):
        if (number * 7 + number // 13) % 4 == 0:
            yield f"k{items}_{vgprs}_{lds}", items, vgprs, lds


def source():
    text = ""
    for name, items, vgprs, lds in kernels():
        place = f"x[i % {lds // 4}]" if lds else "p[i]"
        text += (f"__attribute__((reqd_work_group_size({items}, 1, 1))) kernel void {name}(global int *p) {{\n"
                 f"  unsigned i = __builtin_amdgcn_workitem_id_x();\n" +
                 (f"  local int x[{lds // 4}];\n" if lds else "") +
                 f"  {place} = p[i];\n  __asm__ volatile(\"\" ::: \"v{vgprs - 1}\");\n  p[i] = {place} + 1;\n}}\n")
    return text


def main():
    wavemem, clang = sys.argv[1:3]
    if not shutil.which(clang):
        print(f"{clang} is not there")
        sys.exit(77)
    compared = same = modes = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/k.cl", "w", encoding="utf-8") as file:
            file.write(source())
        for target, simds in TARGETS.items():
            for flags in RDNA if target.startswith("gfx1") else ([],):
                to_target = [clang, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", *flags]
                subprocess.run(to_target + ["-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-O1", "-S", f"{folder}/k.cl", "-o", f"{folder}/k.s"],
                               check=True)
                with open(f"{folder}/k.s", encoding="utf-8") as file:
                    said = dict(re.findall(r"^; Kernel info:|^(k\w+):.*?^; Occupancy: (\d+)", file.read(), re.M | re.S))
                subprocess.run([wavemem, "asm", "-m", target, f"{folder}/k.s", "-o", f"{folder}/k.co"], check=True)
                words = []
                for name, items, _, _ in kernels():
                    words += ["--then"] * bool(words) + ["-k", name, "-g", str(items), "-b", str(items), "--arg", "0=zero:u32:1024"]
                run = subprocess.run([wavemem, "prof", f"{folder}/k.co", *words, "--json"], check=True, capture_output=True)
                shown = {kernel["kernel"]: kernel["occupancy"] for kernel in json.loads(run.stdout)["kernels"]}
                wgp = simds == 2 and "-mcumode" not in flags
                mode = "WGP" if wgp else "CU" if simds == 2 else None
                shared = simds * (2 if wgp else 1)
                for name, items, vgprs, lds in kernels():
                    waves = -(-items // (32 if simds == 2 and "-mwavefrontsize64" not in flags else 64))
                    ours, theirs = shown[name], int(said[name])
                    where = (target, *flags, name, ours, theirs)
                    if ours["vgprs"] < vgprs:  # LLVM stayed within the limit
                        sys.exit(f"{where}: fewer VGPRs than asked for")
                    if ours["mode"] != mode:
                        sys.exit(f"{where}: expected mode {mode}")
                    if theirs * shared < waves:  # not even one workgroup fits
                        continue
                    # LLVM may count partial workgroups; the counts are equal if workgroups fill the SIMDs evenly.
                    if not 0 <= theirs - ours["waves_per_simd"] < max(waves / shared, 1) or (
                            theirs * shared % waves == 0 and theirs != ours["waves_per_simd"]):
                        sys.exit(f"{where}: waves a SIMD differ")
                    compared += 1
                    same += theirs == ours["waves_per_simd"]
                modes += 1
    print(f"{compared} kernels on {len(TARGETS)} targets, {modes} modes: {same} as LLVM says, the others less than a workgroup below")
    if same < compared * 0.9 or compared < 1000:
        sys.exit("too few are the same")


main()
