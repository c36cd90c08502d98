#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HIP programs that check themselves, through `wavemem exec` on several products. Exit code 77 (skipped) without clang-15,
Debian's libamdhip64, or a header of the programs.

usage: programs.py WAVEMEM [--products NAME,...] SOURCE... [LINKER WORDS]

Several sources become one program that runs them one after the other, each in a namespace of its own: the compiler takes
longer for the headers than for the rest. Sources that end in .cpp have no code for the GPU.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
BITCODE = LIBRARIES / "amdgcn" / "bitcode"
SKIPPED = 77
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"].*$', re.M)
PRODUCTS = {"vega64": "gfx900", "mi210": "gfx90a", "rx6800": "gfx1030"}


def join(sources, path):
    """One source of all of them, whose messages name the original files."""
    texts = {source: source.read_text(encoding="utf-8") for source in sources}
    includes = dict.fromkeys(match.group(0).strip() for text in texts.values() for match in INCLUDE.finditer(text))
    parts = [*includes]
    for source, text in texts.items():
        parts += [f"namespace program_{source.stem} {{", f'#line 1 "{source}"', INCLUDE.sub("", text), "}"]
    calls = " || ".join(f"program_{source.stem}::main()" for source in sources)
    path.write_text("\n".join([*parts, f"int main() {{ return {calls}; }}", ""]), encoding="utf-8")


def missing(sources):
    """A header of the system that is not there, or None."""
    for source in sources:
        for name in INCLUDE.findall(source.read_text(encoding="utf-8")):
            if "/" in name and not name.startswith(".") and not (Path("/usr/include") / name).exists():
                return name
    return None


def compile_program(sources, words, targets, folder):
    program = Path(folder) / "program"
    source = sources[0]
    if len(sources) > 1:
        source = Path(folder) / "program.hip"
        join(sources, source)
    common = ["clang++-15", "-std=c++17", "-D__HIP_PLATFORM_AMD__", f"-I{HERE / 'hip'}"]
    for_gpu = ["-x", "hip", "-O2", *(f"--offload-arch={target}" for target in targets), "--rocm-path=/usr",
               "--hip-version=5.2.21153", f"--hip-device-lib-path={BITCODE}", source]
    subprocess.run([*common, *(["-O1", source] if source.suffix == ".cpp" else for_gpu), "-o", program, *words, "-lamdhip64",
                    "-pthread"], check=True)
    return program


def main(command, *words):
    products = list(PRODUCTS)
    if words[0] == "--products":
        products = words[1].split(",")
        words = words[2:]
    sources = [HERE / word for word in words if word.endswith((".hip", ".cpp"))]
    if not (shutil.which("clang++-15") and (LIBRARIES / "libamdhip64.so").exists() and BITCODE.exists()):
        return SKIPPED
    if absent := missing(sources):
        print(f"skipped: no {absent}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        linked = [word for word in words if HERE / word not in sources]
        program = compile_program(sources, linked, [PRODUCTS[product] for product in products], folder)
        for product in products:
            done = subprocess.run([command, "exec", "--gpu", product, program], timeout=200, check=False)
            if done.returncode:
                print(f"{product}: exit code {done.returncode}", file=sys.stderr)
                return 1
    return 0


sys.exit(main(*sys.argv[1:]))
