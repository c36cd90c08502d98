# SPDX-License-Identifier: MIT
"""Compares what wavemem reads from code objects with LLVM's tools: metadata, kernel descriptors, symbols, lines and the
loaded image. The objects are those of a folder, and some compiled by clang for many targets; with WAVEMEM_TEST_REDUCED
a third of both.

    object_llvm.py OBJECT_DUMP WAVEMEM FOLDER
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BASE = 0x7000000000
OUTSIDE = 0x123456789A

SOURCE = """
typedef struct { int a; float b[3]; } pair;
__global int counter;
__global int array[7];
__constant int table[4] = {3, 1, 4, 1};
__global int *__global pointer = &counter;
__global int *__global inner = &array[3];
#ifdef OUTSIDE
extern __attribute__((visibility("default"))) __global int outside;
__global int *__global far = &outside + 2;
#endif
__kernel void first(__global float *restrict a, const __global int4 *b, float3 v, pair s, __local double *l, uchar c)
{
    __local float t[64];
    unsigned i = __builtin_amdgcn_workitem_id_y();
    t[i & 63] = a[i];
    __builtin_amdgcn_s_barrier();
    l[i] = t[63 - (i & 63)] + v.y + s.b[1] + c + b[i].x + table[i & 3];
    *pointer += *inner;
}
__attribute__((reqd_work_group_size(16, 4, 1)))
__kernel void second(__global ulong *o, uint n)
{
    volatile int stack[32];
    stack[n & 31] = 1;
    for (uint i = 0; i < n; i++)
        o[i] = __builtin_amdgcn_workgroup_id_z() + stack[i & 31];
}
"""

failures = []


def tool(name):
    return shutil.which(name + "-19") or shutil.which(name)


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def check(what, ours, theirs):
    if ours != theirs:
        failures.append(f"{what}: wavemem has {ours!r}, LLVM {theirs!r}")


def scalar(text):
    text = text.strip().removeprefix("!str ").strip("'\"")
    return int(text) if re.fullmatch(r"\d+", text) else {"true": True, "false": False}.get(text, text)


def parse_yaml(lines, at, indent):
    """Parses the regular YAML that llvm-readelf prints: returns (value, next line)."""
    value = None
    while at < len(lines):
        line = lines[at]
        depth = len(line) - len(line.lstrip())
        if depth < indent:
            break
        body = line.lstrip()
        if body.startswith("- "):
            value = [] if value is None else value
            rest = body[2:]
            if re.match(r"\S+:( |$)", rest):
                lines[at] = " " * (depth + 2) + rest
                item, at = parse_yaml(lines, at, depth + 2)
                value.append(item)
            else:
                value.append(scalar(rest))
                at += 1
            continue
        value = {} if value is None else value
        key, rest = body.split(":", 1)
        at += 1
        if rest.strip():
            value[key] = scalar(rest)
        else:
            # a list may have the indentation of its key
            deeper = len(lines[at]) - len(lines[at].lstrip()) if at < len(lines) else 0
            value[key], at = parse_yaml(lines, at, max(deeper, depth + 1))
    return value, at


def metadata(path):
    text = run(tool("llvm-readelf"), "--notes", path)
    lines = [line for line in text.split("---\n")[1].split("...")[0].splitlines() if line.strip()]
    return parse_yaml(lines, 0, 0)[0]


def check_metadata(path, command):
    ours = json.loads(run(command, "info", "--json", path))
    theirs = metadata(path)
    check(f"{path}: target", "amdgcn-amd-amdhsa--" + ours["target"], theirs["amdhsa.target"])
    check(f"{path}: kernels", [k["name"] for k in ours["kernels"]], [k[".name"] for k in theirs["amdhsa.kernels"]])
    for our, their in zip(ours["kernels"], theirs["amdhsa.kernels"]):
        where = f"{path}: {our['name']}"
        for key, name in (("lds_bytes", ".group_segment_fixed_size"), ("scratch_bytes", ".private_segment_fixed_size"),
                          ("kernarg_bytes", ".kernarg_segment_size"), ("sgprs", ".sgpr_count"),
                          ("vgprs", ".vgpr_count"), ("wave_size", ".wavefront_size"),
                          ("sgpr_spills", ".sgpr_spill_count"), ("vgpr_spills", ".vgpr_spill_count"),
                          ("max_workgroup", ".max_flat_workgroup_size")):
            check(f"{where}: {name}", our[key], their.get(name))
        check(f"{where}: mode", our["mode"], {None: None, 0: "CU", 1: "WGP"}[their.get(".workgroup_processor_mode")])
        check(f"{where}: workgroup", our["required_workgroup"], their.get(".reqd_workgroup_size"))
        arguments = their.get(".args", [])
        check(f"{where}: arguments", len(our["arguments"]), len(arguments))
        for a, b in zip(our["arguments"], arguments):
            for key, name in (("offset", ".offset"), ("size", ".size"), ("kind", ".value_kind")):
                check(f"{where}: argument {name}", a[key], b[name])
            for key, name in (("name", ".name"), ("type", ".type_name")):
                if name in b:
                    check(f"{where}: argument {name}", a[key], b[name])
            check(f"{where}: hidden", a["hidden"], b[".value_kind"].startswith("hidden_"))


def check_descriptors(path, dump):
    """llvm-objdump prints every descriptor as directives; it aborts on targets without a disassembler."""
    text = run(tool("llvm-objdump"), "-D", "-j", ".rodata", path)
    if not text or ".amdhsa_kernel" not in text:
        return 0
    ours, compared, kernel = {}, 0, None
    for line in dump.splitlines():
        words = line.split()
        if words[0] == "kernel":
            kernel = words[1]
        elif words[0].startswith(".amdhsa_"):
            ours[kernel, words[0]] = int(words[1])
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == ".amdhsa_kernel":
            kernel = words[1]
        elif len(words) == 2 and words[0].startswith(".amdhsa_") and (kernel, words[0]) in ours:
            value = int(words[1], 0)
            if words[0] == ".amdhsa_next_free_sgpr" and re.search("gfx[89]", path):
                value = (value + 15) // 16 * 16  # LLVM rounds to 8, the hardware allocates 16
            check(f"{path}: {kernel} {words[0]}", ours[kernel, words[0]], value)
            compared += 1
    return compared


def check_code(path, dump):
    rows = [line.split() for line in dump.splitlines() if line.startswith("at ")]
    functions = []
    for line in run(tool("llvm-nm"), "-S", "--defined-only", path).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            functions.append((int(words[0], 16), int(words[1], 16), words[3]))
    lines = run(tool("llvm-symbolizer"), "--no-inlines", "--obj=" + path,
                text="".join(row[1] + "\n" for row in rows)).strip("\n").split("\n\n")
    for row, theirs in zip(rows, lines):
        address = int(row[1], 16)
        names = [f"{n}+0x{address - a:x}" for a, s, n in functions if a <= address < a + s]
        if names:
            check(f"{path}: symbol at {row[1]}", row[2] in names, True)
        place = theirs.split("\n")[1]
        file, line, column = place.rsplit(":", 2)
        if line != "0":
            our_file, our_line, our_column = row[3].rsplit(":", 2)
            check(f"{path}: line at {row[1]}", (os.path.basename(our_file), our_line, our_column),
                  (os.path.basename(file), line, column))
    return len(rows)


def check_image(path, helper, folder, outside):
    image_path = os.path.join(folder, "image")
    span = run(helper, path, image_path)
    check(f"{path}: loads", bool(span), True)
    if not span:
        return
    low = int(span.split()[1], 16)
    with open(image_path, "rb") as file:
        image = file.read()
    with open(path, "rb") as file:
        content = file.read()
    nm = {w[-1]: int(w[0], 16) for w in map(str.split, run(tool("llvm-nm"), "--defined-only", path).splitlines())}

    def pointer(name):
        at = nm[name] - low
        return int.from_bytes(image[at:at + 8], "little")

    check(f"{path}: pointer", pointer("pointer"), BASE + nm["counter"])
    check(f"{path}: inner", pointer("inner"), BASE + nm["array"] + 12)
    if outside:
        check(f"{path}: far", pointer("far"), OUTSIDE + 8)
    for line in run(tool("llvm-readelf"), "-SW", path).splitlines():
        section = re.match(r"\s*\[ *\d+\] (\.text|\.rodata|\.bss)\s+(\S+)\s+(\S+) (\S+) (\S+)", line)
        if section:
            name, kind, address, offset, size = section.groups()
            address, offset, size = (int(x, 16) for x in (address, offset, size))
            expected = bytes(size) if kind == "NOBITS" else content[offset:offset + size]
            check(f"{path}: bytes of {name}", image[address - low:address - low + size] == expected, True)


def build(folder, target, *options):
    path = os.path.join(folder, f"{target}{''.join(options)}.co".replace("/", "_"))
    command = [tool("clang"), "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + target, "-nogpulib",
               "-Wno-everything", "-O2", *options, "-o", path, os.path.join(folder, "source.cl")]
    if "-DOUTSIDE" in options:  # clang links with --no-undefined
        command += ["-c", "-o", path + ".o"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "-DOUTSIDE" in options and done.returncode == 0:
        done = subprocess.run([tool("ld.lld"), "-shared", path + ".o", "-o", path], capture_output=True, text=True)
    check(f"clang for {target} {options}", done.stderr if done.returncode else "", "")
    return path if done.returncode == 0 else None


def main():
    helper, command, folder = sys.argv[1:4]
    step = 3 if "WAVEMEM_TEST_REDUCED" in os.environ else 1
    objects = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".co"))[::step]
    if not all(tool(name) for name in ("llvm-readelf", "llvm-objdump", "llvm-nm", "llvm-symbolizer")):
        print("skipped: LLVM's tools (llvm-readelf-19 and others) are not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        made = []
        if tool("clang") and tool("ld.lld"):
            with open(os.path.join(folder, "source.cl"), "w") as file:
                file.write(SOURCE)
            for target in ("gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010",
                           "gfx1030", "gfx1100", "gfx1150", "gfx1200")[::step]:
                made.append(build(folder, target, "-g"))
            made.append(build(folder, "gfx900", "-mcode-object-version=4", "-g"))
            made.append(build(folder, "gfx900", "-cl-kernel-arg-info"))
            made.append(build(folder, "gfx900", "-mcode-object-version=6"))
            made.append(build(folder, "gfx1030", "-mwavefrontsize64"))
            made.append(build(folder, "gfx1100", "-mcumode"))
            made.append(build(folder, "gfx90a:sramecc+:xnack-"))
            made.append(build(folder, "gfx900", "-DOUTSIDE", "-g"))
        else:
            print("without objects of its own: clang-19 or lld is not installed")
        made = [path for path in made if path]
        fields = dwords = 0
        for path in objects + made:
            dump = run(helper, path)
            check(f"{path}: opens", bool(dump), True)
            if not dump:
                continue
            check_metadata(path, command)
            fields += check_descriptors(path, dump)
            dwords += check_code(path, dump)
        for path in made:
            check_image(path, helper, folder, "OUTSIDE" in path)
        for path in made:
            if path.endswith("gfx900-g.co"):  # no -cl-kernel-arg-info: the names come from DWARF
                ours = json.loads(run(command, "info", "--json", path))
                names = [(a["name"], a["type"]) for a in ours["kernels"][0]["arguments"] if not a["hidden"]]
                check("names from DWARF", names, [("a", "float*"), ("b", "int4*"), ("v", "float3"), ("s", "pair"),
                                                  ("l", "double*"), ("c", "uchar")])
        check("descriptors and code were compared", fields > 0 and dwords > 0, True)
    for failure in failures[:40]:
        print(failure)
    print(f"{len(objects) + len(made)} objects, {fields} descriptor fields, {dwords} dwords of code: "
          f"{len(failures)} differences")
    return 1 if failures else 0


sys.exit(main())
