#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys of findings survive recompilation, and findings with one cause are one in the text and in SARIF; variables have names.

usage: keys.py WAVEMEM FOLDER          (77: skipped, without a compiler)

A HIP file is compiled as it is and with edits that neither mend nor add a mistake: comments, other code before the mistakes,
another folder. Each time the same keys must be found, so that a baseline and suppressions of the first version hide all.
Edits that add a mistake must show one new finding.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import check
from check import compiler

TARGETS = "gfx900", "gfx1100"
# `scale` reads N elements too far, in two instances; `total` reads a buffer that nobody has written, in three lines; `late` has a
# race.
SOURCE = """#include "hip.h"

template <typename T> __device__ T pick(const T *in, unsigned i)
{
    return in[i + 1];
}

template <typename T, int N> __global__ void scale(const T *in, T *out)
{
    const unsigned i = threadIdx.x;
    out[i] = pick(in, i) * N;
}
template __global__ void scale<float, 2>(const float *, float *);
template __global__ void scale<float, 3>(const float *, float *);

extern "C" __global__ void total(const float *scratch, float *out, int n)
{
    const int i = threadIdx.x;
    out[i] = scratch[i];
    out[i + n] = scratch[i + n];
    out[i + 2 * n] = scratch[i + 2 * n];
}

extern "C" __global__ void late(int *out)
{
    __shared__ int tile[256];
    const int i = threadIdx.x;
    tile[i] = 0;
    __syncthreads();
    tile[i] = i;
    out[i] = tile[255 - i];
}
"""
BUFFERS = "--arg 0=iota:f32:64 --arg 1=zero:f32:64"  # by number: without debug information, arguments have no names
RUN = f"-k scale<float,2> -g 64 -b 64 {BUFFERS} --then -k scale<float,3> --arg 0=same:0 --arg 1=same:1 " \
      "--then -k total --arg 0=uninit:f32:256 --arg 1=zero:f32:256 --arg 2=64 " \
      "--then -k late -g 256 -b 256 --arg 0=zero:u32:256".split()
SAME = {  # edits that change places, addresses and registers
    "as it is": lambda text: text,
    "a line above": lambda text: "// SPDX-License-Identifier: MIT\n\n" + text,
    "a line inside": lambda text: text.replace("    out[i + n]", "    // the next\n\n    out[i + n]"),
    "another kernel": lambda text: text.replace("extern \"C\" __global__ void total",
                                                "extern \"C\" __global__ void early(int *out)\n{\n    *out = 1;\n}\n\nextern \"C\" __global__ void total"),
    "another store": lambda text: text.replace("    out[i] = scratch", "    out[i + 3 * n] = i * 0.5f;\n    __syncthreads();\n    out[i] = scratch"),
}
mistakes = []


def expect(got, expected, what):
    if got != expected:
        mistakes.append(what)
        print(f"{what}: got {got}\n  expected {expected}")


class Tool:
    def __init__(self, wavemem, folder):
        self.wavemem, self.folder = wavemem, folder

    def build(self, text, target, name, flags=("-g",)):
        """Compiles the text as keys.hip in a folder of its own."""
        folder = os.path.join(self.folder, re.sub(r"\W", "_", f"{target} {name}"))
        os.makedirs(folder, exist_ok=True)
        path, output = os.path.join(folder, "keys.hip"), os.path.join(folder, "keys.co")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["clang-19", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={target}", "-nogpulib",
                        "-nogpuinc", "-std=c++17", "-O3", "-w", *flags, "-I", os.path.join(check.ROOT, "examples"), path, "-o", output], check=True)
        return output

    def run(self, built, *words):
        """The text of the report, and its JSON."""
        report = os.path.join(self.folder, "report.json")
        done = subprocess.run([self.wavemem, "check", built, *RUN, f"--json={report}", *words], capture_output=True, text=True)
        if done.returncode > 1:
            sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        with open(report, encoding="utf-8") as file:
            return done.stdout, json.load(file)


def check_keys(tool, target):
    old, hidden, sarif = (os.path.join(tool.folder, name) for name in ("old.json", "hidden", "keys.sarif"))
    built = tool.build(SOURCE, target, "as it is")
    _, report = tool.run(built, f"--write-suppressions={hidden}")
    shutil.copy(os.path.join(tool.folder, "report.json"), old)
    keys = [one["key"] for one in report["findings"]]
    expect(len(set(keys)), len(keys), f"{target}: different keys")
    for name, edit in SAME.items():
        text = edit(SOURCE)
        built = tool.build(text, target, name)
        _, report = tool.run(built)
        expect(sorted(one["key"] for one in report["findings"]), sorted(keys), f"{target}, {name}: keys")
        text, report = tool.run(built, f"--baseline={old}")
        expect((report["findings"], report["known"]), ([], len(keys)), f"{target}, {name}: baseline")
        _, report = tool.run(built, f"--suppressions={hidden}", f"--sarif={sarif}")
        expect((report["findings"], len(report["suppressed"]), report["unused_suppressions"]), ([], len(keys), []), f"{target}, {name}: suppressions")
        with open(sarif, encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        expect({one["partialFingerprints"]["wavememKey/v1"] for one in results}, {one["group"] for one in report["suppressed"]}, f"{target}, {name}: SARIF")
    # One more mistake of the same kind in the same kernel; a new instance of a template.
    for name, old_text, text, count in (("one more load", "    out[i + 2 * n]", "    out[i + 3 * n] = scratch[i + 3 * n];\n    out[i + 2 * n]", 1),
                                        ("one more instance", "scale<float, 3>(const float *, float *);",
                                         "scale<float, 3>(const float *, float *);\ntemplate __global__ void scale<float, 4>(const float *, float *);", 1)):
        built = tool.build(SOURCE.replace(old_text, text), target, name)
        more = ["--then", "-k", "scale<float,4>", "-g", "64", "-b", "64", "--arg", "0=iota:f32:64", "--arg", "1=zero:f32:64"] if "instance" in name else []
        _, report = tool.run(built, *more, f"--baseline={old}")
        expect((len(report["findings"]), report["known"]), (count, len(keys)), f"{target}, {name}: new findings")
    for name in "as it is", "a line above", "another kernel":  # without lines, the instructions must be the same
        _, report = tool.run(tool.build(SAME[name](SOURCE), target, f"no lines, {name}", ()), *([f"--baseline={old}"] if name != "as it is" else []))
        if name == "as it is":
            shutil.copy(os.path.join(tool.folder, "report.json"), old)
        else:
            expect((report["findings"], report["known"]), ([], len(keys)), f"{target}, {name}, without lines: baseline")


def check_groups(tool, target):
    """Instances of a template, loads of one buffer, and races of one array are one finding each; all places are named."""
    sarif = os.path.join(tool.folder, "groups.sarif")
    text, report = tool.run(tool.build(SOURCE, target, "as it is"), f"--sarif={sarif}", "--github")
    rules = [one["rule"] for one in report["findings"]]
    expect([rules.count(rule) for rule in ("out-of-bounds", "uninit-global", "race-lds")], [2, 3, 2], f"{target}: findings")
    expect((report["causes"], len({one["group"] for one in report["findings"]})), (3, 3), f"{target}: causes")
    races = [one["group"] for one in report["findings"] if one["rule"] == "race-lds"]
    expect(len(set(races)), 1, f"{target}: causes of the two races of one store")
    expect(text.count("\nerror: ") + text.startswith("error: "), 3, f"{target}: errors in the text")
    line = 1 + next(number for number, text in enumerate(SOURCE.splitlines()) if "out[i] = scratch" in text)
    for part in ("\n       in   scale<float, 3>\n", f"keys.hip:{line + 1}, ", f"keys.hip:{line + 2}\n", "\nfound      7 errors (3 causes)\n", "inlined at "):
        expect(part in text, True, f"{target}: {part!r} in the text\n{text}\n")
    notes = [note for note in text.splitlines() if note.startswith("::error ")]
    expect((len(notes), [", inlined at " in note and "keys.hip:11: " in note and note.endswith("; 1 more with the same cause") for note in notes if "scale" in note]),
           (3, [True]), f"{target}: annotations\n{text}")
    with open(sarif, encoding="utf-8") as file:
        results = json.load(file)["runs"][0]["results"]
    expect(len(results), 3, f"{target}: results of SARIF")
    (total,) = [one for one in results if one["ruleId"] == "uninit-global"]
    expect({one["physicalLocation"]["region"]["startLine"] for one in total["locations"] + total["relatedLocations"]}, {line, line + 1, line + 2},
           f"{target}: lines in SARIF")


def check_variables(tool, target):
    """A finding about a variable names it, not the code object that contains it."""
    text = SOURCE + "namespace shared { __device__ int table[64], total; }\n" \
        "extern \"C\" __global__ void sums(int *out)\n{\n    shared::total += out[threadIdx.x];\n}\n"
    report = os.path.join(tool.folder, "variables.json")
    subprocess.run([tool.wavemem, "check", tool.build(text, target, "variables"), *"-k sums -g 256 -b 256 --arg 0=iota:u32:256 --only race".split(),
                    f"--json={report}"], capture_output=True, check=False)
    with open(report, encoding="utf-8") as file:
        found = {(one["memory"]["allocation"]["name"], one["memory"]["allocation"]["bytes"], one["memory"]["address"] == one["memory"]["allocation"]["address"])
                 for one in json.load(file)["findings"]}
    expect(found, {("shared::total", 4, True)}, f"{target}: variables")


def check_private(tool, target):
    """A finding about private memory says where it is in that of the lane; the same byte of LDS is one cause."""
    text = """#include "hip.h"
extern "C" __global__ void last(const float *in, float *out, int n)
{
    float values[32];
    __shared__ float tile[128];
    const int i = threadIdx.x;
    for (int k = 0; k < n; k++)
        values[k] = in[i];
    out[i] = values[n];
    tile[i] = 1;
    __syncthreads();
    out[i + 64] = tile[i + 64];
    __syncthreads();
    out[i + 128] = tile[i + 63];
}
"""
    built, report, at = tool.build(text, target, "private"), os.path.join(tool.folder, "private.json"), {}
    for n in 4, 9:
        for more in [], ["--origins"]:
            subprocess.run([tool.wavemem, "check", built, *f"-k last -g 64 -b 64 --arg 0=iota:f32:64 --arg 1=zero:f32:192 --arg 2={n} --only uninit".split(), *more,
                            f"--json={report}"], capture_output=True, check=False)
            with open(report, encoding="utf-8") as file:
                document = json.load(file)
            lds = [one["group"] for one in document["findings"] if one["memory"]["space"] == "LDS"]
            (private,) = [one["memory"] for one in document["findings"] if one["memory"]["space"] != "LDS"]
            expect((len(lds), len(set(lds)), document["causes"]), (2, 1, 2), f"{target} {more}: causes")
            expect((private["space"], private["allocation"]["name"], private["allocation"]["bytes"] < 300), ("private", "private memory of a lane", True), f"{target} {more}: {private}")
            at[n] = int(private["address"], 16)
    expect(at[9] - at[4], 5 * 4, f"{target}: bytes between values[4] and values[9]")


def check_stale(tool):
    """What the scalar cache reports names the inlined functions, too."""
    text = SOURCE + """
static __device__ int peek(const int *p)
{
    int value;
    asm volatile("s_load_dword %0, %1, 0x0\\n\\ts_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(p));
    return value;
}
extern "C" __global__ void stale(int *p)
{
    p[threadIdx.x] = peek(p) + 1;
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    p[threadIdx.x + 64] = peek(p);
}
"""
    report = os.path.join(tool.folder, "stale.json")
    done = subprocess.run([tool.wavemem, "check", tool.build(text, "gfx900", "stale"), *"-k stale -g 64 -b 64 --arg 0=iota:i32:128 --only wait".split(),
                           "--scalar-cache", "check", f"--json={report}"], capture_output=True, text=True, check=False)
    with open(report, encoding="utf-8") as file:
        found = [(one["rule"], [(call["function"], call["line"]) for call in one["inlined"]]) for one in json.load(file)["findings"]]
    line = 1 + next(number for number, text in enumerate(text.splitlines()) if "threadIdx.x + 64" in text)
    expect(found, [("stale-scalar-load", [("peek", line)])], f"stale\n{done.stdout}")


def main():
    wavemem, folder = map(os.path.abspath, sys.argv[1:])
    for name in ("clang-19", "ld.lld-19"):
        if not shutil.which(name):
            compiler.skip(f"no {name}")
    os.makedirs(folder, exist_ok=True)
    built = [Tool(wavemem, folder).run(Tool(wavemem, folder).build(SOURCE, target, "as it is"))[1] for target in TARGETS]
    expect([one["key"] for one in built[1]["findings"]], [one["key"] for one in built[0]["findings"]], "keys of other targets")
    for target in TARGETS:
        check_keys(Tool(wavemem, folder), target)
        check_groups(Tool(wavemem, folder), target)
        check_variables(Tool(wavemem, folder), target)
        check_private(Tool(wavemem, folder), target)
    check_stale(Tool(wavemem, folder))
    print(f"{len(TARGETS)} targets, {len(SAME)} edits, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
