#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kind of work of each vector and scalar instruction against LLVM's scheduling model: each kind must be one of the
latencies that LLVM gives its class, and MFMA takes four clocks for each of LLVM's passes (LLVM has no times of WMMA).

usage: work.py WORK LISTS...; lists are forms-TARGET.tsv
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MCA = "llvm-mca-19"
# LLVM 19, SISchedule.td, SIQuarterSpeedModel: latency 1 / (operations / clock) / 4. v_cmp_class_f64 and the like are
# WriteDoubleAdd, conversions WriteDoubleCvt or WriteFloatCvt; the latter count as full here (measured: CLRX).
GCN = {"full": {1, 2, 4}, "multiply": {4}, "divide": {16}, "wide": {2}, "trans": {4}, "double": {4, 8, 16}, "double_mul": {8, 16},
       "double_trans": {16}}
# gfx90a and later: SIDPFullSpeedModel.
CDNA = {"full": {1, 4}, "multiply": {1, 4}, "divide": {1}, "wide": {1}, "trans": {4}, "double": {1}, "double_mul": {1},
        "double_trans": {4}}
# GFX10SpeedModel, GFX11SpeedModel: 1 / (operations / clock), plus 4 stages.
RDNA = {"full": {5, 6}, "multiply": {8}, "divide": {5}, "wide": {6}, "trans": {10}, "double": {6, 22, 38}, "double_mul": {22, 38},
        "double_trans": {24, 40}}
MODELS = {"gfx900": GCN, "gfx906": GCN, "gfx908": GCN, "gfx90a": CDNA, "gfx942": CDNA, "gfx1010": RDNA, "gfx1030": RDNA,
          "gfx1100": RDNA, "gfx1200": RDNA}
# What counts as full although LLVM has a class of its own: exchanges (half rate), conversions between f32 and integers
# (a quarter on GCN).
SLOWER = re.compile(r"v_(cvt_(f32_[iu]32|[iu]32_f32|f16_f32|f32_f16|rpi_i32_f32|flr_i32_f32|off_f32_i4|(sr|pk)_(fp|bf)8_f32|(pk_)?f32_(fp|bf)8)|swap(rel)?_b(16|32))(_\w+)?")
# The latency of a matrix instruction is its passes and this.
BEFORE = 4


def main():
    if not shutil.which(MCA):
        print(f"{MCA} is not there")
        sys.exit(77)
    compared = wrong = 0
    for path in sys.argv[2:]:
        target = re.search(r"forms-(\w+)\.tsv", path).group(1)
        with open(path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
        rows = [(words, text) for _, _, words, text in rows if re.match(r"v_(?!nop|s_|illegal|s?wmma)", text)]
        kinds = subprocess.run([sys.argv[1], target], input="\n".join(words for words, _ in rows) + "\n", text=True,
                               stdout=subprocess.PIPE, check=True).stdout.splitlines()
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "x.s")
            with open(name, "w", encoding="utf-8") as file:
                file.write("\n".join(text for _, text in rows) + "\n")
            out = subprocess.run([MCA, "-mtriple=amdgcn", f"-mcpu={target}", "-instruction-tables", name], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        latencies = re.findall(r"(?m)^ *\d+ +(\d+) +[\d.]+ [^v]*(v_\S+)", out.stdout.split("Resources:")[0])
        if out.returncode or len(latencies) != len(rows):
            sys.exit(f"{target}: {MCA}: {out.stderr[:400]}, {len(latencies)} of {len(rows)}")
        for (latency, _), (_, text), kind in zip(latencies, rows, kinds):
            kind, _, clocks = kind.split()
            mnemonic, latency, clocks = text.split()[0], int(latency), int(clocks)
            if kind == "matrix":
                good = clocks == 4 * (latency - BEFORE)
            else:
                good = latency in MODELS[target].get(kind, ()) and (kind != "full" or latency == min(MODELS[target]["full"]) or
                                                            SLOWER.fullmatch(mnemonic))
            compared += 1
            if not good:
                wrong += 1
                print(f"{target}: {text}: {kind}, {clocks} clocks, LLVM's latency {latency}")
    print(f"{compared} compared, {wrong} differ")
    sys.exit(wrong > 0 or compared < 3000)


if __name__ == "__main__":
    main()
