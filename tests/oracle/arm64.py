#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The words that the compiler's encoder makes for AArch64 are llvm-mc's for the same text. usage: arm64.py ARM64_LINES"""

import re
import subprocess
import sys

import llvm

LEAST = 500  # lines, so that an empty list does not pass


def main():
    llvm.need_llvm('gfx900')
    lines = subprocess.run(sys.argv[1], check=True, capture_output=True, text=True).stdout.splitlines()
    words, texts = zip(*(line.split("\t") for line in lines))
    result = subprocess.run([llvm.mc("gfx900"), "-triple=aarch64", "-show-encoding"], input="\n".join(texts) + "\n", capture_output=True,
                            text=True, check=False)
    if result.returncode:
        sys.exit(result.stderr)
    encodings = re.findall(r"encoding: \[([^\]]*)\]", result.stdout)
    if len(encodings) != len(words) or len(words) < LEAST:
        sys.exit(f"{len(words)} instructions, {len(encodings)} of them encoded by llvm-mc")
    wrong = 0
    for word, text, encoding in zip(words, texts, encodings):
        expected = bytes(int(byte, 16) for byte in encoding.split(","))
        if int(word, 16).to_bytes(4, "little") != expected:
            print(f"{text}: {word}, expected {expected[::-1].hex()}")
            wrong += 1
    print(f"{len(words)} instructions, {wrong} wrong")
    sys.exit(wrong != 0)


main()
