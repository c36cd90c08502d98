# SPDX-License-Identifier: MIT
"""16-bit operands of gfx11 and gfx12: an instruction on upper halves computes what it does on lower halves.

LLVM 22 tells which operands are halves: it prints the words of tests/oracle/forms-TARGET.tsv as v2.l, and assembles v2.h.
"""
import itertools
import pathlib
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

import wavemem

LANES, REGISTERS = 32, 12
FORMS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "oracle"
HALF = re.compile(r"\bv(\d+)\.l\b")
MEMORY = re.compile("(buffer|global|flat|scratch|ds|image|exp|interp|wmma|swmmac)_")
# Behind the instruction: EXEC, which it may have changed, VCC and s8 are results like the VGPRs.
TAIL = """
    s_mov_b32 s30, exec_lo
    s_mov_b32 exec_lo, -1
    v_mov_b32 v12, s30
    v_mov_b32 v13, vcc_lo
    v_mov_b32 v14, s8
    v_lshlrev_b32 v100, 2, v99
""" + "".join(f"    global_store_b32 v100, v{r}, s[40:41] offset:{4 * LANES * r}\n" for r in range(REGISTERS + 3)) + "    s_endpgm\n"


def llvm_mc(target, *options, text):
    command = ["llvm-mc-22", "-triple=amdgcn", f"-mcpu={target}", "-mattr=+real-true16", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def texts_with_halves(target):
    """Texts of vector instructions with 16-bit operands, all of them lower halves."""
    lines = []
    for line in (FORMS / f"forms-{target}.tsv").read_text().splitlines():
        if not line.startswith("#"):
            words = re.findall(r"[0-9a-f]{8}", line.split("\t")[2])
            lines.append(",".join(f"0x{byte:02x}" for word in words for byte in int(word, 16).to_bytes(4, "little")))
    printed = llvm_mc(target, "-disassemble", text="\n".join(lines) + "\n").splitlines()
    return [text.strip() for text in printed if HALF.search(text) and ".h" not in text and not MEMORY.search(text)]


def variants(text):
    """(text, registers whose upper half it names) with each choice of halves; all lower ones come first."""
    numbers = [int(number) for number in HALF.findall(text)]
    for halves in itertools.product("lh", repeat=len(numbers)):
        choice = dict(zip(numbers, halves))
        if all(choice[number] == half for number, half in zip(numbers, halves)):
            chosen = iter(halves)
            yield HALF.sub(lambda match: f"v{match[1]}.{next(chosen)}", text), [r for r in choice if choice[r] == "h"]


def swapped(words):
    return words >> 16 | words << 16


@pytest.mark.skipif(not shutil.which("llvm-mc-22"), reason="no llvm-mc-22")
@pytest.mark.parametrize("target", ["gfx1100", "gfx1200"])
def test_upper_halves(target):
    random = np.random.default_rng(1)
    special = np.array([0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x3C00, 0x4000, 0x7E01], np.uint32)
    texts = texts_with_halves(target)
    cases = [(text, *variant) for text in texts for variant in variants(text)]
    encodings = re.findall(r"encoding: \[(.*)\]", llvm_mc(target, "-show-encoding", text="\n".join(c[1] for c in cases) + "\n"))
    assert len(texts) > 400 and len(encodings) == len(cases)
    machine = wavemem.Machine(target)
    out = machine.allocate(4 * LANES * (REGISTERS + 3))

    def run(encoding, registers):
        data = bytes(int(byte, 16) for byte in encoding.split(","))
        words = ", ".join(f"0x{word:x}" for word in struct.unpack(f"<{len(data) // 4}I", data))
        code = wavemem.assemble(f"    .long {words}\n{TAIL}", target, raw=True)
        start = {"v99": "workitem_id_x", "s40": out, "s8": 0x5A5A5A5A, "s6": 0x3C00, "vcc": 0x12345678}
        start.update((f"v{r}", registers[r]) for r in range(REGISTERS))
        machine.load(wavemem.Module(code, target)).kernel()(grid=LANES, workgroup=LANES, start=wavemem.Start(start, bare=True))
        return out.array(np.uint32).reshape(-1, LANES).copy()

    wrong = []
    for (text, variant, upper), encoding in zip(cases, encodings):
        if not upper:
            kinds = random.integers(0, 3, (REGISTERS, 2, LANES))
            halves = np.choose(kinds, [random.integers(0, 1 << 16, kinds.shape), special[random.integers(0, 11, kinds.shape)],
                                       random.integers(0x3000, 0x4800, kinds.shape)]).astype(np.uint32)
            inputs = halves[:, 0] | halves[:, 1] << 16
            expected = run(encoding, inputs)
            continue
        turned = inputs.copy()
        turned[upper] = swapped(inputs[upper])
        result = run(encoding, turned)
        result[upper] = swapped(result[upper])
        if (result != expected).any():
            wrong.append(variant)
    assert not wrong
