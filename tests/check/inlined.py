#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the source lines and inlined functions of findings, in JSON, text and SARIF, with llvm-symbolizer-19.

usage: inlined.py WAVEMEM FOLDER SOURCE [TARGET]...          (77: skipped, without a compiler)
"""
import json
import os
import shutil
import subprocess
import sys

import check
from check import compiler


def symbols(path):
    """The addresses of the functions of a code object."""
    lines = subprocess.run(["llvm-nm-19", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[-1]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}


def frames_of(path, address):
    """(function, file, line, column) of the instruction, and of each call around it, by LLVM."""
    done = subprocess.run(["llvm-symbolizer-19", f"--obj={path}", "--output-style=JSON", "--inlines", hex(address)], capture_output=True, text=True, check=True)
    (found,) = json.loads(done.stdout)
    return [(one["FunctionName"].split("(")[0], os.path.basename(one["FileName"]), one["Line"], one["Column"]) for one in found["Symbol"]]


def ours(place):
    """The same of a finding or its earlier instruction."""
    lines = [(os.path.basename(one["file"]), one["line"], one["column"]) for one in (place, *place["inlined"])]
    return [(name, *line) for name, line in zip([one["function"] for one in place["inlined"]] + [place["kernel"]], lines)]


def main():
    wavemem, folder, path, *targets = sys.argv[1:]
    for tool in ("clang-19", "ld.lld-19", "llvm-symbolizer-19", "llvm-nm-19"):
        if not shutil.which(tool):
            compiler.skip(f"no {tool}")
    compiler.bitcode_folder()
    source = check.Source(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    sarif = os.path.join(folder, "inlined.sarif")
    compared = mistakes = 0
    for target in targets or ["gfx900"]:
        built = check.build(source, target, os.path.abspath(wavemem), folder)
        address = symbols(built)
        for run in source.runs:
            command = [wavemem, "check", built, "-k", run.kernel, *run.words]
            if not source.expected(run.kernel, target):
                continue
            findings = json.loads(subprocess.run([*command, "--json", "--sarif", sarif], capture_output=True, text=True).stdout)["findings"]
            text = subprocess.run([*command, "--all"], capture_output=True, text=True).stdout
            with open(sarif, encoding="utf-8") as file:
                results = json.load(file)["runs"][0]["results"]
            for finding, result in zip(findings, results):
                for place in filter(None, (finding, finding["first"])):
                    expected, got = frames_of(built, address[place["kernel"]] + place["offset"]), ours(place)
                    said = all(f"in   {one['function']}, inlined at " in text and f":{one['line']}\n" in text for one in place["inlined"])
                    lines = {one["physicalLocation"]["region"]["startLine"] for one in result["locations"] + result.get("relatedLocations", [])}
                    compared += len(place["inlined"])
                    if expected != got or not said or not {line for _, _, line, _ in got} <= lines:
                        mistakes += 1
                        print(f"{target}: {run.kernel}: {got}, in SARIF lines {lines}; LLVM: {expected}\n{text}")
    print(f"{compared} inlined functions, {mistakes} mistakes")
    return 1 if mistakes or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
