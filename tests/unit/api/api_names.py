#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public function is in the test of bad parameters.

usage: api_names.py API.C HEADER...
"""
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    tested = set(re.findall(r"\bwm_\w+", file.read()))
functions = set()
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        for declaration in re.findall(r"^WM_API [^;]*;", file.read(), re.M):
            functions.add(re.search(r"\b(wm_\w+)\(", declaration).group(1))
missing = sorted(functions - tested)
assert len(functions) > 80, f"only {len(functions)} functions were found"
assert not missing, f"not in {sys.argv[1]}: {', '.join(missing)}"
print(f"{len(functions)} functions")
