# SPDX-License-Identifier: MIT
"""Runs the commands of docs/tour.md in a copy of examples/tour, and those of docs/debugging.md in one of examples/debugging,
and compares what they print; with --write renews the text.

usage: tour.py WAVEMEM FOLDER_OF_CODE_OBJECTS [--write]

Skipped without clang 19, ld.lld 19, AMD's device library and HIP's headers, or with another compiler in front of them.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import command

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = {"docs/tour.md": "examples/tour", "docs/debugging.md": "examples/debugging"}


def run(text, folder):
    """What a command prints, with its exit code if that is not 0."""
    environment = dict(os.environ, PATH=f"{folder}/bin:{ROOT}/contrib/ci:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    for name in ("ROCM_PATH", "HIP_CLANG_PATH", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        environment.pop(name, None)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    output = re.sub(r"[ \t]+$", "", done.stdout, flags=re.M)
    # 141: head has read enough
    return output + (f"[exit code {done.returncode}]\n" if done.returncode not in (0, 141) else "")


def renewed(page, folder):
    """The page with the output of all commands."""
    def block(match):
        return "```\n" + "".join(f"$ {text}\n{run(text, folder)}" for text in re.findall(r"(?m)^\$ (.*)$", match.group(1))) + "```"
    return re.sub(r"(?ms)^```\n(\$ .*?)^```", block, page)


def main():
    command.WAVEMEM = os.path.abspath(sys.argv[1])
    if command.is_sanitized() or command.REDUCED:
        print("skipped: takes long with a sanitizer, and shows nothing that other tests do not")
        sys.exit(77)
    missing = [name for name in ("clang-19", "ld.lld-19") if not shutil.which(name)]
    if missing or not glob.glob("/usr/lib/*/amdgcn/bitcode") or not os.path.exists("/usr/include/hip/hip_runtime.h") \
            or os.path.exists("/opt/rocm/llvm/bin/clang"):
        print("skipped: needs clang-19, lld-19, rocm-device-libs and libamdhip64-dev, and no ROCm")
        sys.exit(77)
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(command.WAVEMEM), "tests", "cache")
    return any([check(name, folder, sys.argv[3:] == ["--write"]) for name, folder in PAGES.items()])


def check(name, sources, writes):
    """Whether the page differs from what its commands print now."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        for source in glob.glob(os.path.join(ROOT, sources, "*")):
            shutil.copy(source, folder)
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(command.WAVEMEM, os.path.join(folder, "bin/wavemem"))
        now = renewed(page, folder)
    if writes:
        with open(os.path.join(ROOT, name), "w", encoding="utf-8") as file:
            file.write(now)
        return False
    differing = [(a, b) for a, b in zip(page.splitlines(), now.splitlines()) if a != b]
    for a, b in differing[:10]:
        print(f"{name} has: {a}\nit is now:        {b}")
    if page != now:
        print(f"{name} does not have what its commands print; tests/tool/tour.py BUILD/wavemem examples/gfx900 --write renews it")
    return page != now


if __name__ == "__main__":
    sys.exit(main())
