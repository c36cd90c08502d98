#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual page of each verb from its --help: man_pages.py WAVEMEM FOLDER VERSION.

Lines that begin with two blanks, examples and options, stay as they are; all others are filled.
"""
import os
import re
import subprocess
import sys


def escape(line):
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + line if line.startswith(".") else line


def page(verb, summary, text, version):
    """A page in the macros of man(7)."""
    title = "-".join(["wavemem", *verb])
    out = [f'.TH {title.upper()} 1 "" "wavemem {version}"', ".SH NAME", f"{escape(title)} \\- {escape(summary)}", ".SH SYNOPSIS"]
    usage, rest = text.split("\n\n", 1)
    out += [".nf"] + [escape(re.sub("^(usage:|      ) ", "", line)) for line in usage.splitlines()] + [".fi", ".SH DESCRIPTION"]
    literal = False
    for line in rest.splitlines():
        if not line:
            out += [".fi"] if literal else []
            literal = False
            out.append(".PP")
            continue
        if line.startswith("  ") != literal:
            out.append(".fi" if literal else ".nf")
            literal = not literal
        out.append(escape(line))
    out += [".fi"] if literal else []
    return "\n".join(out + [".SH SEE ALSO", ".BR wavemem (1)", ""])


def main():
    wavemem, folder, version = sys.argv[1:]
    run = lambda *words: subprocess.run([wavemem, *words], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    verbs = [((verb,), summary) for verb, summary in re.findall(r"(?m)^  ([a-z]+) +([a-z].*)", run("--help").split("\n\n")[2])]
    for verb, summary in verbs:
        name = "-".join(["wavemem", *verb]) + ".1"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(page(verb, summary, run(*verb, "--help"), version))


if __name__ == "__main__":
    main()
