#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the kernels of a file with 'wavemem check' and compares what is found with the comments in the file.

usage: check.py WAVEMEM FOLDER SOURCE [TARGET]...          (77: skipped, without a compiler)

WAVEMEM_TEST_REDUCED: each RUN on one of its targets, in turn.

SOURCE is OpenCL (.cl) or HIP (.hip), compiled with -O3 and -g, or assembly (.s), for each TARGET, by default gfx900,
gfx90a, gfx942, gfx1030, gfx1100 and gfx1200. Comments begin with //, in assembly also with ; or #:

    FINDS: RULE[, RULE]...          this line violates these rules
    FINDS gfx900 gfx90a: RULE       only on these targets; `gfx9*` stands for all that begin so. Another "; FINDS ..." may follow
    RUN: KERNEL -g N -b N --arg ... arguments of 'wavemem check'; a kernel may have several. {wave} is its wave size
    TARGETS: gfx900 gfx1030         of the RUN above; before the first RUN: of the whole file
    COMPILE: -O0                    further options for the compiler, of the whole file
    KERNEL: NAME [ARGUMENT]... [lds=BYTES] [scratch=BYTES] [tgsplit=1]      assembly only, see below

A RUN must find exactly what the comments between the first line of its kernel and that of the next one say, each rule at
its line, and nothing else. So a kernel without FINDS must have no findings, and one whose name ends with _good must have
no FINDS. Every kernel needs a RUN. The exit code must be 1 if there is an error, else 0: notes do not count.

KERNEL, on a line of its own before the label, describes a kernel in assembly, from which its descriptor and metadata are
made: its arguments, which are pointers (`out`) or values (`n:u32`), and the bytes of LDS and of scratch per lane. It finds the address of the arguments in
s[0:1], the number of the workgroup in s2 (from gfx12 on in ttmp9) and the work-item in v0.
"""
import collections
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/kernel"))
import compile as compiler

TARGETS = ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"]
COMMENT = re.compile(r"(?://|;|#)\s*(FINDS|RUN|TARGETS|COMPILE|KERNEL)\b([^:]*):\s*(.*)")
DEFINITION = {".cl": re.compile(r"\bkernel\b[^;]*?\bvoid\s+(\w+)\s*\("), ".hip": re.compile(r"\b__global__\b[^;]*?\bvoid\s+(\w+)\s*\("),
              ".s": re.compile(r"^(\w+):")}
LATER = {"valu-read-sgpr"}  # hazards of gfx12 that clang 19 does not know: its code has them; not compared
Run = collections.namedtuple("Run", "kernel words targets")


def matches(target, patterns):
    return not patterns or any(fnmatch.fnmatch(target, pattern) for pattern in patterns)


class Source:
    def __init__(self, path):
        self.path, self.kind = path, os.path.splitext(path)[1]
        self.finds = []  # (line, patterns of targets, rule)
        self.runs, self.options, self.targets = [], [], []
        self.kernels = {}  # assembly: name: arguments
        self.starts = {}  # name: its first line
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        for number, line in enumerate(self.text.splitlines(), 1):
            comment = COMMENT.search(line)
            code = line[:comment.start()] if comment else line
            definition = DEFINITION[self.kind].search(code)
            if definition and (self.kind != ".s" or definition[1] in self.kernels):
                self.starts[definition[1]] = number
            if comment:
                self.read(number, *comment.groups())

    def read(self, number, word, targets, value):
        if word == "FINDS":
            value, _, more = value.partition("; FINDS")
            self.finds += [(number, targets.split(), rule.strip()) for rule in value.split(",")]
            if more:
                self.read(number, "FINDS", *more.split(":", 1))
        elif word == "RUN":
            kernel, *words = shlex.split(value)
            self.runs.append(Run(kernel, words, []))
        elif word == "TARGETS":
            (self.runs[-1].targets if self.runs else self.targets).extend(value.split())
        elif word == "COMPILE":
            self.options += shlex.split(value)
        else:
            name, *arguments = value.split()
            self.kernels[name] = arguments

    def all_targets(self):
        """Those that files without TARGETS run on, and others that the file names."""
        return TARGETS + [target for target in self.targets if target not in TARGETS and "*" not in target]

    def expected(self, kernel, target):
        first = self.starts[kernel]
        after = min((line for line in self.starts.values() if line > first), default=1 << 30)
        return {(line, rule) for line, patterns, rule in self.finds if first <= line < after and matches(target, patterns)}

    def complain(self):
        """What is wrong with the file itself."""
        run = {run.kernel for run in self.runs}
        for name in run - set(self.starts):
            yield f"RUN of {name}, which is no kernel of the file"
        for name in set(self.starts) - run:
            yield f"kernel {name} has no RUN"
        for name in self.starts:
            if name.endswith("_good") and any(self.expected(name, target) for target in self.all_targets()):
                yield f"{name} has FINDS"
        owned = {line for name in self.starts for target in self.all_targets() for line, _ in self.expected(name, target)}
        for line, _, rule in self.finds:
            if line not in owned and not any(line < first for first in self.starts.values()):
                yield f"line {line}: FINDS {rule} for no target"


def layout(arguments):
    """The arguments of a kernel as YAML, their size, and what else KERNEL says."""
    lines, offset, more = [], 0, {"lds": 0, "scratch": 0, "tgsplit": 0}
    for argument in arguments:
        if "=" in argument:
            name, value = argument.split("=")
            more[name] = int(value)
            continue
        name, _, kind = argument.partition(":")
        size = int(kind[1:]) // 8 if kind else 8
        offset = -(-offset // size) * size
        how = ".value_kind: by_value" if kind else ".value_kind: global_buffer, .address_space: global"
        lines.append(f"      - {{.name: '{name}', .offset: {offset}, .size: {size}, {how}}}")
        offset += size
    return lines, offset, more


def descriptor(name, arguments, target):
    """The descriptor of a kernel in assembly, and its metadata."""
    lines, size, more = layout(arguments)
    wave = compiler.wave_of(target)
    directives = [".amdhsa_user_sgpr_kernarg_segment_ptr 1", f".amdhsa_kernarg_size {size}", ".amdhsa_next_free_vgpr 64",
                  ".amdhsa_next_free_sgpr 64", f".amdhsa_group_segment_fixed_size {more['lds']}",
                  f".amdhsa_private_segment_fixed_size {more['scratch']}"]
    if target in ("gfx90a", "gfx942", "gfx950"):
        directives += [".amdhsa_accum_offset 64", f".amdhsa_tg_split {more['tgsplit']}"]
    text = "\n".join([".rodata", ".p2align 6", f".amdhsa_kernel {name}", *directives, ".end_amdhsa_kernel"])
    entry = [f"  - .name: {name}", f"    .symbol: {name}.kd", f"    .kernarg_segment_size: {size}", "    .kernarg_segment_align: 8",
             f"    .group_segment_fixed_size: {more['lds']}", f"    .private_segment_fixed_size: {more['scratch']}",
             f"    .wavefront_size: {wave}", "    .sgpr_count: 64", "    .vgpr_count: 64", "    .max_flat_workgroup_size: 1024"]
    return text, entry + (["    .args:"] + lines if lines else [])


def assembly(source, target):
    """The text of an assembly file with descriptors; lines keep their numbers. KERNEL also aligns the code behind it."""
    lines = [".p2align 8" if re.search(r"(//|;|#)\s*KERNEL:", line) else line for line in source.text.splitlines()]
    parts, metadata = ["\n".join(lines)], []
    for name, arguments in source.kernels.items():
        text, entry = descriptor(name, arguments, target)
        parts += [text, f".globl {name}", f".type {name},@function"]
        metadata += entry
    return "\n".join(parts + [".amdgpu_metadata", "amdhsa.version: [1, 2]", "amdhsa.kernels:", *metadata, ".end_amdgpu_metadata", ""])


def compile_command(source, target, folder, output):
    """The command that compiles an OpenCL or HIP file."""
    options = ["-O3", "-g", "-w", "-mcode-object-version=5", *source.options, source.path, "-o", output]
    if source.kind == ".hip":
        return ["clang-19", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={target}", "-nogpulib", "-nogpuinc",
                "-std=c++17", "-I", os.path.join(ROOT, "examples"), *options]
    bitcode = compiler.bitcode_for(target, os.path.join(folder, "bitcode"))
    return ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}",
            f"--rocm-device-lib-path={bitcode}", f"-DWAVE={compiler.wave_of(target)}", *options]


def build(source, target, wavemem, folder):
    """Compiles or assembles the file; returns the path of the code object."""
    output = os.path.join(folder, f"{os.path.basename(source.path)}-{target}.co")
    if source.kind == ".s":
        text = os.path.join(folder, f"{os.path.basename(source.path)[:-2]}-{target}.s")
        with open(text, "w", encoding="utf-8") as file:
            file.write(assembly(source, target))
        commands = [[wavemem, "asm", "-m", target, "-g", "-I", HERE, text, "-o", output]]
    else:
        commands = [compile_command(source, target, folder, output)]
    failure = compiler.make((output, [source.path, os.path.abspath(__file__), *([wavemem, os.path.join(HERE, "waits.inc")] if source.kind == ".s" else [])], commands))
    if failure:
        sys.exit(failure)
    return output


def place(source, finding):
    """The line of a finding in the file, perhaps the one that calls an inlined function of another file, or a text that
    says where else it is."""
    stem = os.path.splitext(os.path.basename(source.path))[0]
    for frame in finding, *finding["inlined"]:
        if os.path.basename(frame["file"] or "").startswith(stem):
            return frame["line"]
    file = os.path.basename(finding["file"] or "")
    return f"{file or finding['kernel']}:{finding['line'] or hex(finding['offset'])}"


def check(source, target, run, wavemem, path):
    """Runs one line; returns the number of mistakes."""
    words = [word.replace("{wave}", str(compiler.wave_of(target))) for word in run.words]
    command = [wavemem, "check", path, "-k", run.kernel, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print(f"{target}: {shlex.join(command)}\n  exit code {done.returncode} without a report: {done.stderr}")
        return 1
    found = {(place(source, finding), finding["rule"]): finding for finding in report["findings"]}
    if source.kind != ".s":
        found = {key: finding for key, finding in found.items() if key[1] not in LATER}
    expected = source.expected(run.kernel, target)
    mistakes = [f"line {line}: {rule} is not found" for line, rule in sorted(expected - set(found))]
    mistakes += [f"line {line}: {rule} should not be found: {found[line, rule]['message']} (at {found[line, rule]['instruction']})"
                 for line, rule in sorted(set(found) - expected, key=str)]
    code = int(any(finding["severity"] == "error" for finding in report["findings"]))
    if done.returncode != code:
        mistakes.append(f"exit code {done.returncode}, not {code}: {done.stderr.strip()}")
    for mistake in mistakes:
        print(f"{target}: {os.path.basename(source.path)}: {run.kernel}: {mistake}")
    if mistakes:
        print(f"  {shlex.join(command)}")
    return len(mistakes)


def main():
    wavemem, folder, path, *targets = sys.argv[1:]
    wavemem, path = os.path.abspath(wavemem), os.path.abspath(path)
    source = Source(path)
    wrong = list(source.complain())
    if wrong:
        sys.exit("\n".join(wrong))
    if source.kind != ".s":
        compiler.bitcode_folder()
        for tool in ("clang-19", "ld.lld-19"):
            if not shutil.which(tool):
                compiler.skip(f"no {tool}")
    os.makedirs(folder, exist_ok=True)
    mistakes = runs = 0
    wanted = [[target for target in targets or source.all_targets() if matches(target, source.targets) and matches(target, run.targets)]
              for run in source.runs]
    if "WAVEMEM_TEST_REDUCED" in os.environ:
        wanted = [[names[number % len(names)]] if names else [] for number, names in enumerate(wanted)]
    for target in targets or source.all_targets():
        selected = [run for run, names in zip(source.runs, wanted) if target in names]
        built = build(source, target, wavemem, folder) if selected else None
        for run in selected:
            mistakes += check(source, target, run, wavemem, built)
            runs += 1
    print(f"{runs} runs, {mistakes} mistakes")
    return 1 if mistakes or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
