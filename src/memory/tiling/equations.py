# SPDX-License-Identifier: MIT
"""Writes the swizzle equations (the file `equations`, whose head explains it) as C tables.

usage: equations.py INPUT OUTPUT

Terms are stored once per group of address bits (0 to 7, 8 to 11, 12 to 15, 16 and up), because most equations
share their groups. Wrong input ends with one message: file, line, and what was expected."""
import re
import sys

GROUPS = ((0, 8), (8, 12), (12, 16), (16, 18))
DIMENSIONS = {"1D": 1, "2D": 2, "3D": 4}
MACROS = ["WMI_CLASS", "WMI_EQUATION"] + [f"WMI_TERMS_{i}" for i in range(len(GROUPS))]
CLASS = re.compile(r"(gfx\d+)(?::(\*|[pbk\d]+))?$")
SHIFTS = {"x": 0, "y": 16, "z": 32, "s": 48}
LETTERS = {"x": 11, "y": 11, "z": 8, "s": 3}  # as many bits as surface.c has tables for


class Bad(Exception):
    pass


def log2(text):
    value = int(text)
    if value < 1 or value & (value - 1):
        raise Bad(f"{text}: expected a power of two")
    return value.bit_length() - 1


def term(text):
    """The coordinate bits of one address bit, 16 for each of x, y, z, s."""
    if text == "0":
        return 0
    mask = 0
    parts = re.findall(r"([xyzs])(\d+)", text)
    if "".join(a + b for a, b in parts) != text:
        raise Bad(f"{text}: expected a term such as x4y7")
    for letter, bit in parts:
        if int(bit) >= LETTERS[letter]:
            raise Bad(f"{text}: {letter} has {LETTERS[letter]} bits")
        mask ^= 1 << int(bit) + SHIFTS[letter]
    return mask


def read_row(words, mode):
    if len(words) < 5 + 8:
        raise Bad("expected ELEMENT SAMPLES BLOCK XOR CLASSES and at least 8 terms")
    number, name, dimensions = mode
    block = [log2(n) for n in words[2].split("x")]
    terms = [term(t) for t in words[5:]]
    element, samples = log2(words[0]), log2(words[1])
    if len(block) != 3 or sum(block) + element + samples != len(terms):
        raise Bad(f"a block of {words[2]} elements does not fit into 2^{len(terms)} bytes")
    for name_of_class in words[4].split(","):
        if not CLASS.match(name_of_class):
            raise Bad(f"{name_of_class}: expected a class such as gfx11:p4k3")
    return {"mode": number, "name": name, "dimensions": dimensions, "element": element, "samples": samples,
            "block": block, "xor": int(words[3], 16), "classes": words[4].split(","), "terms": terms}


def read(path):
    rows, mode = [], None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                if words[0] == "mode":
                    if len(words) != 4:
                        raise Bad("expected mode NUMBER NAME DIMENSIONS")
                    mode = int(words[1]), words[2], sum(DIMENSIONS[d] for d in words[3].split(","))
                elif mode is None:
                    raise Bad("a row before the first mode")
                else:
                    rows.append(read_row(words, mode))
            except (Bad, ValueError, KeyError) as error:
                raise SystemExit(f"{path}:{number}: {error}")
    return rows


def expand(rows):
    """Numbers the classes and replaces wildcards; returns their names."""
    names = sorted({c for row in rows for c in row["classes"] if not c.endswith("*")})
    if len(names) > 32:
        raise SystemExit("more than 32 classes: widen `classes` in tiling.h")
    for row in rows:
        row["mask"] = 0
        for wanted in row["classes"]:
            for i, name in enumerate(names):
                if name == wanted or (wanted.endswith("*") and name.startswith(wanted[:-1])):
                    row["mask"] |= 1 << i
    return names


def write(rows, names, out):
    rows.sort(key=lambda r: (r["mode"], r["element"], r["samples"]))
    pools = [{} for _ in GROUPS]
    for row in rows:
        row["group"] = []
        for (first, end), pool in zip(GROUPS, pools):
            terms = tuple((row["terms"] + [0] * GROUPS[-1][1])[first:end])
            row["group"].append(pool.setdefault(terms, len(pool)))
    for name in names:
        fields = dict((k, int(v)) for k, v in re.findall(r"([pbk])(\d+)", name.partition(":")[2]))
        generation = re.match(r"gfx(\d+)", name).group(1)
        out.write(f"WMI_CLASS({generation}, {fields.get('p', 0)}, "
                  f"{fields.get('b', fields.get('k', 0))}, \"{name}\")\n")
    for i, ((first, end), pool) in enumerate(zip(GROUPS, pools)):
        for terms in pool:
            out.write(f"WMI_TERMS_{i}({', '.join(f'0x{t:x}' for t in terms)})\n")
    for row in rows:
        out.write(f"WMI_EQUATION({row['mode']}, \"{row['name']}\", {row['dimensions']}, {row['element']}, "
                  f"{row['samples']}, {row['block'][0]}, {row['block'][1]}, {row['block'][2]}, "
                  f"{len(row['terms'])}, 0x{row['xor']:x}, 0x{row['mask']:x}, "
                  f"{', '.join(str(g) for g in row['group'])})\n")


def main():
    rows = read(sys.argv[1])
    names = expand(rows)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* Generated by equations.py: define the macros whose rows are wanted. */\n")
        for macro in MACROS:
            out.write(f"#ifndef {macro}\n#define {macro}(...)\n#endif\n")
        write(rows, names, out)
        for macro in MACROS:
            out.write(f"#undef {macro}\n")


main()
