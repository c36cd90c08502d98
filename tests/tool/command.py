# SPDX-License-Identifier: MIT
"""Runs the command as a user does, for the tests in this folder, with independent implementations of its file formats:
.npy and the documented random numbers.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

WAVEMEM = EXAMPLES = None
REDUCED = "WAVEMEM_TEST_REDUCED" in os.environ  # a sanitizer makes the command slow
MASK = 2**64 - 1
TRANSPOSE = "-g 64,64 -b 16,16 --arg in=iota:f32:4096 --arg out=zero:f32:4096 --arg n=64"
# type: struct's letter, NumPy's name
TYPES = {"i8": ("b", "|i1"), "u8": ("B", "|u1"), "i16": ("h", "<i2"), "u16": ("H", "<u2"),
         "i32": ("i", "<i4"), "u32": ("I", "<u4"), "i64": ("q", "<i8"), "u64": ("Q", "<u8"),
         "f16": ("e", "<f2"), "f32": ("f", "<f4"), "f64": ("d", "<f8")}


def is_sanitized():
    """Whether the command reserves address space for a sanitizer, which makes limits on it meaningless."""
    with open(WAVEMEM, "rb") as file:
        return re.search(rb"__[at]san_init", file.read()) is not None


def npy(descr, shape, data, version=1, fortran=False):
    """A .npy file; source: numpy.lib.format."""
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    before = 10 if version == 1 else 12
    header += b" " * (-(before + len(header) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def pack(type_name, values):
    return struct.pack(f"<{len(values)}{TYPES[type_name][0]}", *values)


def random_elements(type_name, count, seed):
    """rand:TYPE:N:SEED as defined in the manual page."""
    bits, elements = int(type_name[1:]), []
    for i in range(count):
        z = (seed * 0x9E3779B97F4A7C15 + i + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        z ^= z >> 31
        if type_name[0] == "f":
            significand = {16: 11, 32: 24, 64: 53}[bits]
            elements.append((z >> 64 - significand) / 2.0**significand)
        else:
            top = z >> 64 - bits
            elements.append(top - 2**bits if type_name[0] == "i" and top >> bits - 1 else top)
    return elements


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_tool(self, *words, code=0, stdin=None):
        """Runs the command in the folder; strings are split at blanks."""
        words = [w for word in words for w in (word.split() if isinstance(word, str) else word)]
        done = subprocess.run([WAVEMEM] + words, capture_output=True, cwd=self.folder.name, input=stdin,
                              timeout=120)
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"wavemem {' '.join(words)}\n{out}{err}")
        return out, err

    def refused(self, expected, *words):
        """Expects exit code 2, one line on stderr that contains `expected`, and nothing on stdout."""
        out, err = self.run_tool(*words, code=2)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("wavemem: ") and err.count("\n") == 1, err)
        self.assertIn(expected, err)

    def lacks(self, expected, *words):
        """Expects exit code 2 and exactly these missing options, each with what it is."""
        out, err = self.run_tool(*words, code=2)
        self.assertEqual(out, "")
        lines = err.splitlines()
        self.assertRegex(lines[0], r"^wavemem: .* needs (one more option|more options); --guess makes (it|them) up:$")
        self.assertEqual([re.split(r"  +", line.strip()) for line in lines[1:]], expected)

    @staticmethod
    def example(name):
        return [os.path.join(EXAMPLES, name + ".co")]

    def vecadd(self, *words, count=100, **kept):
        """The arguments of a vecadd of `count` elements; keywords replace arguments, None omits one."""
        given = {"a": f"iota:f32:{count}", "b": f"fill:f32:{count}:0.5", "c": f"zero:f32:{count}",
                 "n": str(count)}
        given.update(kept)
        arguments = [w for k, v in given.items() if v is not None for w in ("--arg", f"{k}={v}")]
        return ["run"] + self.example("vecadd") + ["-g", str(count), "-b", "64"] + arguments + list(words)

    def transposes(self, kernel, *more, code=0):
        """prof of one of the kernels of transpose.co, with TRANSPOSE."""
        return self.run_tool("prof", self.example("transpose"), TRANSPOSE, "-k", kernel, *more, code=code)


def main():
    """Runs the tests of the program: PROGRAM WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]."""
    global WAVEMEM, EXAMPLES
    WAVEMEM, EXAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])
    # Tests share what they compile, also with the next run.
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(WAVEMEM), "tests", "cache")
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
