# SPDX-License-Identifier: MIT
"""Compiles each public header by itself, in C and C++; wavemem.h must include them all.

usage: headers.py HEADER... -- COMPILER [ARGUMENT...]   (the installed headers)
"""
import os
import re
import subprocess
import sys

FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LANGUAGES = (["-x", "c", "-std=c11"], ["-x", "c++", "-std=c++11"])


def compiles(compiler, language, text):
    done = subprocess.run([*compiler, *FLAGS, *language, "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        print(text, *language, done.stderr, sep="\n")
    return done.returncode == 0


def main():
    split = sys.argv.index("--")
    headers, compiler = [os.path.abspath(path) for path in sys.argv[1:split]], sys.argv[split + 1:]
    folder = os.path.dirname(headers[0])
    there = {name for name in os.listdir(folder) if name.endswith(".h")}
    installed = {os.path.basename(path) for path in headers}
    with open(os.path.join(folder, "wavemem.h"), encoding="utf-8") as file:
        had = set(re.findall(r'(?m)^#include "(\w+\.h)"', file.read()))
    wrong = [f"{name}: not installed, or not there" for name in there ^ installed]
    wrong += [f"{name}: not in wavemem.h, or not there" for name in had ^ there - {"wavemem.h"}]
    for language in LANGUAGES:
        if not compiles(compiler, language, "int i;\n"):
            print("no compiler for", *language)
            continue
        for name in sorted(there):
            include = f'#include "{os.path.join(folder, name)}"\n'
            if not compiles(compiler, language, include * 2 + "int i;\n"):
                wrong.append(f"{name}: does not stand alone")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
