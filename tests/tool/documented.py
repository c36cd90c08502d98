# SPDX-License-Identifier: MIT
"""Runs every command of the documentation: README.md and all of docs/ and examples/, the manual page, and each verb's
--help. A command is run in a folder with the files it names, unless it is in NOT_RUN or CI runs it (BY_CI).

usage: documented.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import command
import start

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/librocrand.so.1")
BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")

RUNTIME = Path(sys.argv[1]).resolve().parent / "shim/hsa/libhsa-runtime64.so.1"

# Commands that cannot run here, and why. Entries that no document contains fail.
NOT_RUN = {
    "man docs/wavemem.1": "needs man-db",
    "dev/setup examples": "installs packages",
    "dev/setup hip": "installs packages",
    "dev/setup opencl": "installs packages",
    "dev/setup sparse": "installs packages",
    "make check": "its parts are the first stages of .ci/run",
    "make deb": "ten minutes; dev/deb fails where lintian has a warning",
    "make dist": "builds the command again, and needs a commit",
    ".ci/run --here --all": "the first part of make test-all",
    "make web": "emscripten, and ten minutes; make test-all builds the page",
    "make test-packages": "needs root, and 1 GB of Debian's archive",
    "make test-all": "two hours, and 1.3 GB of librocsparse0",
    "meson setup build-mine -Dtests=enabled && meson test -C build-mine": "what 'make test' does, without its front",
}
# Commands that .ci/run runs, with their text there.
BY_CI = {
    "make": "make test",  # begins with it
    "make test": "make test",
    "make demo": "make demo",
    "make bench": "make bench",
    "make install": "tests/tool/installed.py",
    "pkg-config --cflags --libs wavemem": "tests/tool/installed.py",
    "ninja gemm": "make test",
    "ninja looking": "make test",  # suite bench: each target of bench/meson.build
    "ninja accesses": "make test",
    "ninja matrix": "make test",
    "ninja shards": "make test",
    "dev/fuzz SECONDS": "dev/fuzz",
    ".ci/run": "",
    ".ci/run --here": "--here",
    "ninja checked": "make test",
}
# Exit codes other than 0.
CODES = {
    # what stands for the program runs no kernel
    "build/wavemem exec --html app.html ./app": 2,
    "wavemem exec --html app.html ./app": 2,
    "build/wavemem exec --kernel '^gemm' --launches 3-5 --json=gemm.json ./app": 2,
    "wavemem exec --kernel '^gemm' --launches 3-5 ./app": 2,
    # there is no such program; tests/tool/loader.py runs real ones
    "wavemem loader program.out one two": 2,
    # 'c' is too short
    "build/wavemem run examples/gfx900/vecadd.co -g 1024 -b 64 --arg a=iota:f32:1024 --arg b=iota:f32:1024 "
    "--arg c=zero:f32:1000 --arg n=1024": 3,
    "build/wavemem check examples/gfx900/vecadd.co -g 1024 -b 64 --arg a=iota:f32:1024 --arg b=uninit:f32:1024 "
    "--arg c=zero:f32:1000 --arg n=1024": 1,
    "wavemem check vecadd.co -g 1024 -b 64 --arg a=iota:f32:1024 --arg b=iota:f32:1024 --arg c=uninit:f32:1000 --arg n=1024": 1,
    "build/wavemem exec --check ./app": 4,
    "build/wavemem exec --gpu rx7900xtx --check ./app": 4,
    "wavemem prof ... --fail-if 'efficiency<0.5' --fail-if 'conflicts>0' --json=new.json": 1,  # it has conflicts
}
# Placeholders in a synopsis: its verb and options are checked, but it is not run.
PLACEHOLDERS = {"FILE", "KERNEL", "VERB", "NAME", "TARGET", "WORD", "OLD.json", "NEW.json", "OUTPUT", "QUESTION"}
# Replacements of the dots.
CHECK = "vecadd.co -g 256 -b 64 --arg a=iota:f32:256 --arg b=iota:f32:256 --arg c=uninit:f32:256 --arg n=256"
PROF = "transpose.co -k transpose_lds -g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=zero:f32:4096 --arg n=64"
CLANG = "-x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -nogpulib"

PROGRAM = re.compile(r"(?:[A-Z_]+=\S+ )*(wavemem|make|meson|ninja|clang(\+\+)?(-19)?|cc|pkg-config|man|apt-get|sudo|git|cd|llvm-\S+"
                     r"|mkdir|ln|echo|(dev|bench|tests|isagen|build)/\S+|\.ci/run|\./\S+)( |$)")
KERNEL = """.p2align 8
.globl k
.type k,@function
k:
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_kernarg_size 24
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 8
  %s
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 1
    .max_flat_workgroup_size: 256
    .args:
      - {.address_space: global, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.address_space: global, .offset: 8, .size: 8, .value_kind: global_buffer}
      - {.offset: 16, .size: 4, .value_kind: by_value}
amdhsa.version: [1, 2]
...
.end_amdgpu_metadata
"""


def without_remark(text):
    """The command at the start of a line: it ends before two blanks outside quotes."""
    text = re.sub(r"^(wavemem [a-z]+) +", r"\1 ", re.sub(r"^wavemem +", "wavemem ", text.strip()))
    end = re.match(r"""(?:'[^']*'|"[^"]*"|\\.| (?! |$)|[^ '"\\])*""", text).end()
    return re.sub(r" #.*", "", text[:end]).strip()


def joined(lines):
    """Joins lines continued with a backslash."""
    text = ""
    for line in lines:
        text += line.strip() if text else line.rstrip()
        if text.endswith("\\"):
            text = text[:-1].rstrip() + " "
            continue
        yield text
        text = ""


def of_block(lines):
    """The commands in a code block: the text after prompts; without any prompt, the lines that begin with a program."""
    lines = [line.strip() for line in joined(lines)]
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    return [without_remark(line) for line in prompted or lines if prompted or PROGRAM.match(line)]


def of_markdown(text):
    commands, block, fence = [], [], False
    for line in text.splitlines() + [""]:
        if line.startswith("```"):
            fence = not fence
        elif fence or line.startswith("    "):
            block.append(line)
            continue
        if block and (line.strip() or not fence):
            commands += of_block(block)
            block = []
        if not fence:
            commands += [span for span in re.findall(r"`([^`]+)`", line) if PROGRAM.match(span) and is_command(span)]
    return commands


def of_manual(text):
    commands = []
    text = text.replace(r"\-", "-").replace(r"\e", "\\").replace(r"\(aq", "'")
    for block in re.findall(r"(?ms)^\.Bd -literal[^\n]*\n(.*?)^\.Ed", text):
        commands += of_block(block.splitlines())
    for line in re.findall(r"(?m)^\.(?:Ql|Cm|Li) (wavemem .*)", text):
        line = re.sub(r" [.,;:)]$", "", line)
        commands += [line] if is_command(line) else []
    return commands


def of_help(text):
    return [without_remark(line) for line in joined(text.splitlines()) if line.startswith("  ") and PROGRAM.match(line[2:])]


def is_command(span):
    """Whether code within a sentence is a command, rather than the name of a file or verb."""
    words = span.split()
    return len(words) > 1 + (words[0] == "wavemem") or words[0] in ("make", "man") or span in BY_CI


def has_operand(text):
    """Whether the command has arguments; a mere mention of an option, such as `wavemem run --check-waits`, has none."""
    return text.split()[0] != "wavemem" or any(not word.startswith("-") for word in text.split()[2:])


class Documented(unittest.TestCase):
    found = set()  # all commands, for the last test
    help_of = {}

    @classmethod
    def help(cls, *verb):
        if verb not in cls.help_of:
            done = subprocess.run([command.WAVEMEM, *verb, "--help"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
            cls.help_of[verb] = done.stdout
        return cls.help_of[verb]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        examples = ROOT / "examples"
        for source in [*examples.glob("*.cl"), *examples.glob("*.hip"), *examples.glob("*.h"), *examples.glob("gfx900/*.co")]:
            shutil.copy(source, self.folder)
        for name in ("gfx900", "hip"):
            shutil.copytree(examples / name, self.folder / name)
        for name in ("examples", "dev"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "build").mkdir()
        (self.folder / "build" / "wavemem").symlink_to(command.WAVEMEM)
        bin = self.folder / "bin"
        bin.mkdir()
        (bin / "wavemem").symlink_to(command.WAVEMEM)
        for tool in ("clang", "clang++"):
            if shutil.which(tool + "-19"):
                (bin / tool).symlink_to(shutil.which(tool + "-19"))
        self.environment = dict(os.environ, PATH=f"{bin}:{os.environ['PATH']}")
        self.prepare()

    def prepare(self):
        """The files that the commands name."""
        files = {
            "a.co": "gfx900/vecadd.co", "b.co": "gfx900/saxpy.co", "t.co": "gfx900/transpose.co",
            "kernels.hipfb": "hip/convolve.plain.hipfb",
        }
        for name, source in files.items():
            shutil.copy(self.folder / source, self.folder / name)
        if LIBRARY.exists():
            (self.folder / "librocrand.so.1").symlink_to(LIBRARY)
        self.write("app", b"#!/bin/sh\n")  # stands for a HIP program; tests/shim/hip.py runs real ones
        (self.folder / "app").chmod(0o755)
        manual = (ROOT / "docs/wavemem.1").read_text(encoding="utf-8")
        job = re.search(r"(?ms)^\.Pa (\S+\.job) :\n\.Bd[^\n]*\n(.*?)^\.Ed", manual)
        self.write(job.group(1), job.group(2).encode())
        self.write("runs.txt", b"run vecadd.co --guess\nprof transpose.co -k {transpose_naive,transpose_lds} --guess\n")
        self.write("words.bin", bytes.fromhex("0000 80bf 0000 81bf"))
        self.write("k.s", KERNEL.replace("%s", ".amdhsa_reserve_vcc 0").encode())
        self.write("k.cl", b"kernel void k(global int *out) { out[0] = 1; }\n")
        self.shell("wavemem asm -m gfx900 k.s -o k.co")
        self.write("chain.s", start.CHAIN)
        self.shell("wavemem asm -m gfx900 chain.s -o chain.co")
        self.write("fragment.s", start.FRAGMENT)
        self.shell("wavemem asm -m gfx1030:wave64 --raw fragment.s -o fragment.bin")
        floats = command.pack("f32", range(4096))
        self.write("in.npy", command.npy("<f4", "(4096,)", floats))
        self.write("x.npy", command.npy("<f4", "(1000,)", floats[:4000]))
        self.write("y.npy", command.npy("<f4", "(1000,)", floats[:4000]))
        # Two reports to compare: before and after.
        for name, kernel in (("old", "transpose_naive"), ("new", "transpose_lds")):
            self.shell(f"wavemem prof {PROF} --json={name}.json".replace("transpose_lds", kernel))

    def prepare_for(self, text):
        """Images, and the reference for comparison: a transpose of random numbers, or 2 * x + y."""
        for name, size in {"in.raw": 1920 * 1080 * 4, "texels.raw": 1920 * 1080 * 4, "tiled.raw": 13 * 10 << 16,
                           "chain.raw": sum((64 >> i) ** 2 for i in range(7)) * 12 * 8}.items():
            if name in text.split():
                self.write(name, bytes(size))
        if "ref.npy" in text and "transpose" in text:
            self.shell("wavemem run transpose.co -k transpose_lds -g 1024,1024 -b 16,16 --arg in=rand:f32:1048576:7 "
                       "--arg out=zero:f32:1048576 --arg n=1024 --out out=ref.npy")
        elif "ref.npy" in text:
            self.write("ref.npy", command.npy("<f4", "(1000,)", command.pack("f32", [3 * i for i in range(1000)])))

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def shell(self, text, code=0):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=self.folder, env=self.environment, timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, code, f"{text}\n{done.stdout.decode(errors='replace')[-2000:]}")

    def check_options(self, text):
        """The verb and options of each wavemem in a line must be in the help."""
        for part in re.split(r" [|;&]+ ", text):
            words = part.split()
            if words[0] != "wavemem" or len(words) == 1 or words[1].startswith("-"):
                continue
            if words[1] == "VERB":
                continue
            self.assertRegex(self.help(), rf"(?m)^  {re.escape(words[1])} ")
            verb = words[1:3] if words[1] == "explain" and len(words) > 2 and words[2] != "QUESTION" else words[1:2]
            for option in re.findall(r"(?<= )--?[a-z][\w-]*", re.sub("'[^']*'", "", part)):
                if option not in ("--help", "-h"):
                    self.assertRegex(self.help(*verb), rf"(?m)(^|[\s\[|(`]){option}\b", f"option {option} in: {part}")

    def check(self, text):
        self.found.add(text)
        self.check_options(text)
        if text in NOT_RUN or not has_operand(text) or PLACEHOLDERS & set(re.split(r"[ \[\]|]", text)) and "wavemem" in text:
            return
        if text in BY_CI:
            self.assertTrue(BY_CI[text] in (ROOT / ".ci/run").read_text(encoding="utf-8"), f".ci/run has no '{BY_CI[text]}'")
            return
        self.prepare_for(text)
        missing = [name for name, there in (("librocrand.so.1", LIBRARY.exists()), ("clang", shutil.which("clang-19")),
                                            (".cl ", shutil.which("clang-19") and shutil.which("ld.lld-19") and BITCODE.exists()),
                                            ("FOLDER", BITCODE.exists()), ("bitcode", BITCODE.exists()), ("./app", RUNTIME.exists() and not command.is_sanitized()), ("jq", shutil.which("jq")))
                   if name in text and not there]
        if missing:
            self.skipTest(f"{missing[0]} is not installed: {text}")
        code = CODES.get(text, 0)
        text = text.replace("FOLDER", str(BITCODE))
        text = re.sub(r"^(wavemem prof) \.\.\.", rf"\1 {PROF}", text)
        text = re.sub(r"^(wavemem check) \.\.\.", rf"\1 {CHECK}", text)
        text = re.sub(r"^(clang-19 -S) \.\.\.", rf"\1 {CLANG}", text)
        self.shell(text, code)

    def check_all(self, commands, least):
        self.assertGreaterEqual(len(commands), least, "the documentation's form is not what this test knows")
        for text in commands:
            with self.subTest(text):
                self.check(text)

    def test_markdown(self):
        files = ["README.md", "examples/README.md", *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").glob("*.md") if file.name not in ("tour.md", "debugging.md"))]  # tour.py runs those
        for file in files:
            with self.subTest(file):
                self.check_all(of_markdown((ROOT / file).read_text(encoding="utf-8")), 3 if file == "README.md" else 0)

    def test_manual(self):
        self.check_all(of_manual((ROOT / "docs/wavemem.1").read_text(encoding="utf-8")), 5)

    def test_help(self):
        self.check_all(of_help(self.help()), 2)
        verbs = re.findall(r"(?m)^  ([a-z]+) +[a-z]", self.help().split("\n\n")[2])
        self.assertIn("tess", verbs)
        questions = re.search(r"usage: wavemem explain (\S+)", self.help("explain")).group(1).split("|")
        for verb in [[verb] for verb in verbs] + [["explain", question] for question in questions]:
            with self.subTest(" ".join(verb)):
                self.check_all(of_help(self.help(*verb)), 1)

    def test_z_lists(self):
        """Runs after the others: excluded commands must still be documented."""
        if len(sys.argv) == 3:
            for text in [*NOT_RUN, *BY_CI, *CODES]:
                self.assertTrue(text in self.found, f"no document has '{text}' any more")


if __name__ == "__main__":
    command.main()
