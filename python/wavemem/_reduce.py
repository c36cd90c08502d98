# SPDX-License-Identifier: MIT
"""Reduces the public C headers to the declarations that cffi parses.

usage: _reduce.py FOLDER_OF_HEADERS OUTPUT

cffi's parser knows C, but no preprocessor. The headers use that for include guards, for C++ and for WM_API only, so
it suffices to follow the includes and to leave out what belongs to those. Comments go, too. Anything else that begins
with '#' is an error, so that a header that needs more is found when the package is built.
"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FOR_CPP = re.compile(r"^#ifdef __cplusplus\n.*?^#endif\n", re.S | re.M)
API = re.compile(r"^#if defined\(__GNUC__\)\n#define WM_API .*\n#else\n#define WM_API\n#endif\n", re.M)
GUARD = re.compile(r"^#ifndef (WAVEMEM_?\w*_?H)\n#define \1\n(.*)^#endif\n", re.S | re.M)
INCLUDE = re.compile(r'^#include (?:"(\w+\.h)"|<std\w+\.h>).*\n', re.M)


def reduce(folder):
    """Returns the declarations of wavemem.h in `folder` (bytes of guest code are none of its business)."""
    folder = Path(folder)
    done = set()

    def one(name):
        if name in done:
            return ""
        done.add(name)
        text = COMMENT.sub("", (folder / name).read_text(encoding="utf-8"))
        text = API.sub("", FOR_CPP.sub("", text))
        text, guards = GUARD.subn(r"\2", text)
        if guards != 1:
            raise ValueError(f"{folder / name}: expected one include guard WAVEMEM_..._H")
        first = "".join(one(found.group(1)) for found in INCLUDE.finditer(text) if found.group(1))
        text = re.sub(r"\bWM_API\b ?", "", INCLUDE.sub("", text))
        left = re.search(r"^\s*#.*", text, re.M)
        if left:
            raise ValueError(f"{folder / name}: no rule for {left.group().strip()!r}")
        return first + text

    return re.sub(r"\n\s*\n+", "\n", one("wavemem.h")).lstrip()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Path(sys.argv[2]).write_text(reduce(sys.argv[1]), encoding="utf-8")
