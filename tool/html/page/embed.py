#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes files as C strings: embed.py OUTPUT NAME=FILE..."""
import sys

with open(sys.argv[1], "w", encoding="utf-8") as out:
    for argument in sys.argv[2:]:
        name, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        out.write(f"static const char {name}[] =\n")
        for line in lines:
            escaped = line.replace("\\", "\\\\").replace('"', '\\"')
            out.write(f'    "{escaped}\\n"\n')
        out.write("    ;\n")
