#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HIP and OpenMP programs that check themselves, through `wavemem exec` on several products. Exit code 77 (skipped) without clang-15,
Debian's libamdhip64 or LLVM 15's OpenMP runtime, or a header of the programs.

usage: programs.py WAVEMEM [--products NAME,...] SOURCE... [LINKER WORDS]

Several sources become one program that runs them one after the other, each in a namespace of its own: the compiler takes
longer for the headers than for the rest. Sources that end in .cpp have no code for the GPU; one that ends in .c uses OpenMP.

Environment variables: LLVM15 names the folder of the OpenMP runtime, if it is not Debian's. ROCM names that of another ROCm, such as
/opt/rocm, whose clang, headers and libamdhip64 are used.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROCM = Path(os.environ["ROCM"]) if "ROCM" in os.environ else None
LIBRARIES = ROCM / "lib" if ROCM else Path("/usr/lib/x86_64-linux-gnu")
BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
CLANG = str(ROCM / "llvm/bin/clang++") if ROCM else "clang++-15"
FOR_HIP = [f"--rocm-path={ROCM}"] if ROCM else ["--rocm-path=/usr", "--hip-version=5.2.21153", f"--hip-device-lib-path={BITCODE}"]
LLVM = Path(os.environ.get("LLVM15", "/usr/lib/llvm-15"))
HEADERS = [Path("/usr/include"), *([ROCM / "include"] if ROCM else [])]
SKIPPED = 77
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"].*$', re.M)
PRODUCTS = {"vega64": "gfx900", "mi210": "gfx90a", "mi300x": "gfx942", "mi355x": "gfx950", "rx6800": "gfx1030", "rx7900xtx": "gfx1100",
            "rx9070xt": "gfx1201"}
DEFAULT_PRODUCTS = ["mi210", "mi300x", "rx7900xtx"] if ROCM else ["vega64", "mi210", "rx6800"]


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
            if "/" in name and not name.startswith(".") and not any((folder / name).exists() for folder in HEADERS):
                return name
    return None


def compile_program(sources, words, targets, folder):
    program = Path(folder) / "program"
    source = sources[0]
    if len(sources) > 1:
        source = Path(folder) / "program.hip"
        join(sources, source)
    common = [CLANG, "-std=c++17", "-D__HIP_PLATFORM_AMD__", f"-I{HERE / 'hip'}"]
    for_gpu = ["-x", "hip", "-O2", *(f"--offload-arch={target}" for target in targets), *FOR_HIP, source]
    libraries = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lhiprtc"] if ROCM else []
    # clang 15 leaves empty folders for temporary files.
    subprocess.run([*common, *(["-O1", source] if source.suffix == ".cpp" else for_gpu), "-o", program, *words, *libraries,
                    "-lamdhip64", "-pthread"], env=dict(os.environ, TMPDIR=str(folder)), check=True)
    return program


def compile_openmp(source, target, folder):
    """LLVM 15's OpenMP takes one target only."""
    program = Path(folder) / "program"
    subprocess.run(
        ["clang-15", "-O2", "-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa", "-Xopenmp-target=amdgcn-amd-amdhsa",
         f"-march={target}", f"--libomptarget-amdgpu-bc-path={LLVM}/lib", "--rocm-path=/usr",
         f"--rocm-device-lib-path={BITCODE}", f"-I{LLVM}/lib/clang/15.0.6/include", f"-L{LLVM}/lib",
         f"-Wl,-rpath,{LLVM}/lib", source, "-o", program], check=True)
    return program


def run(command, product, program):
    done = subprocess.run([command, "exec", "--gpu", product, program], timeout=200, check=False)
    if done.returncode:
        print(f"{program} on {product}: exit code {done.returncode}", file=sys.stderr)
    return done.returncode == 0


def main(command, *words):
    products = DEFAULT_PRODUCTS
    if words[0] == "--products":
        products = words[1].split(",")
        words = words[2:]
    sources = [HERE / word for word in words if word.endswith((".hip", ".cpp", ".c"))]
    openmp = sources[0].suffix == ".c"
    runtime = LLVM / "lib" / "libomptarget.rtl.amdgpu.so" if openmp else LIBRARIES / "libamdhip64.so"
    if not (shutil.which(CLANG) and runtime.exists() and (ROCM or BITCODE.exists())):
        print(f"skipped: no {CLANG}, {runtime} or {BITCODE}")
        return SKIPPED
    if absent := missing(sources):
        print(f"skipped: no {absent}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        if openmp:
            return 0 if all(run(command, product, compile_openmp(source, PRODUCTS[product], folder))
                            for source in sources for product in products) else 1
        linked = [word for word in words if HERE / word not in sources]
        program = compile_program(sources, linked, [PRODUCTS[product] for product in products], folder)
        return 0 if all(run(command, product, program) for product in products) else 1


sys.exit(main(*sys.argv[1:]))
