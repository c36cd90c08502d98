# SPDX-License-Identifier: MIT
"""Offload bundles made by clang: `wavemem info`, `dis` and `run` against clang-offload-bundler and llvm-cxxfilt. Plain,
compressed, in host objects and in a shared library with several. With WAVEMEM_TEST_REDUCED for two of four targets.

    bundle_llvm.py WAVEMEM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = """
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
struct dim3 { unsigned x, y, z; };
typedef struct stream *hipStream_t;
typedef enum { hipSuccess } hipError_t;
__host__ hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
namespace UNIT {
template <class T> struct pair { T a, b; };
struct tag {};
template <class T, int N> __global__ void scale(T *p, T v) { p[__builtin_amdgcn_workitem_id_x() * N] *= v; }
template __global__ void scale<float, 4>(float *, float);
template __global__ void scale<unsigned short, -3>(unsigned short *, unsigned short);
template <class T, unsigned A, bool B, class... C> __global__ void fill(T *p, T v) { p[A] = v; }
template __global__ void fill<pair<double>, 7u, true, const int *, tag>(pair<double> *, pair<double>);
namespace { __global__ void hidden(int *p) { *p = 1; } }
__host__ const void *keep() { return (const void *)hidden; }
}
extern "C" __global__ void plain(int *p) { *p = UNIT_NUMBER; }
"""
TARGETS = ["gfx900", "gfx906:sramecc+:xnack-", "gfx90a:xnack+", "gfx90a:xnack-"]
if "WAVEMEM_TEST_REDUCED" in os.environ:
    TARGETS = TARGETS[:2]
SKIP = 77
failures = []


def run(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True)
    if code is not None and done.returncode != code:
        sys.exit("%s: exit code %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def check(what, ours, theirs):
    if ours != theirs:
        failures.append(what)
        print("%s:\n  ours   %s\n  theirs %s" % (what, ours, theirs))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check_bundle(wavemem, path, folder, kind="o"):
    """A file with one bundle: ids, and each entry's code as extracted by clang-offload-bundler."""
    report = json.loads(run(wavemem, "info", "--json", path))
    ids = run("clang-offload-bundler-19", "-list", "-type=" + kind, "-input=" + path).split()
    check(path + ": ids", sorted(e["id"] for e in report["entries"]), sorted(ids))
    for number, entry in enumerate(report["entries"]):
        if not entry["target"]:
            continue
        part = os.path.join(folder, "part.co")
        run("clang-offload-bundler-19", "-unbundle", "-type=" + kind, "-input=" + path, "-output=" + part,
            "-targets=" + entry["id"])
        check("%s: size of %s" % (path, entry["id"]), entry["size"], os.path.getsize(part))
        for choice in (entry["target"], str(number)):
            ours = run(wavemem, "dis", "-m", choice, path)
            theirs = run(wavemem, "dis", part)
            check("%s: code of %s" % (path, choice), ours.split("\n", 2)[2], theirs.split("\n", 2)[2])
            check("%s: kernels of %s" % (path, choice),
                  [k["name"] for k in json.loads(run(wavemem, "info", "--json", "-m", choice, path))["kernels"]],
                  [k["name"] for k in json.loads(run(wavemem, "info", "--json", part))["kernels"]])
    return report


def check_names(wavemem, path):
    """Source names: the output of llvm-cxxfilt, without return type and parameters."""
    kernels = json.loads(run(wavemem, "info", "--json", "-m", "gfx900", path))["kernels"]
    for kernel in kernels:
        theirs = run("llvm-cxxfilt-19", kernel["name"]).strip()
        theirs = re.sub(r" \(\.(static|intern)\..*\)$", "", theirs)  # a suffix added by clang
        theirs = re.sub(r"\([^()]*\)$", "", theirs)
        theirs = theirs[5:] if theirs.startswith("void ") else theirs
        if "INS_" in kernel["name"]:
            theirs = theirs.split("<")[0]  # substitutions are unsupported
        check("name of " + kernel["name"], kernel["source_name"], theirs)
        for name in (kernel["name"], kernel["source_name"]):
            found = json.loads(run(wavemem, "info", "--json", "-m", "gfx900", "-k", name, path))["kernels"]
            check("-k " + name, [k["name"] for k in found], [kernel["name"]])
    check("kernels of " + path, len(kernels), 5)


def main(wavemem):
    needed = ["clang-19", "clang-offload-bundler-19", "llvm-cxxfilt-19", "ld.lld-19", "llvm-objcopy-19"]
    missing = [name for name in needed if not shutil.which(name)]
    if missing:
        print("skipped: not installed: " + " ".join(missing))
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)
        for number in (1, 2):
            with open(at("u%d.hip" % number), "w") as file:
                file.write(SOURCE.replace("UNIT_NUMBER", str(number)).replace("UNIT", "unit%d" % number))
        common = ["clang-19", "-x", "hip", "-nogpulib", "-nogpuinc", "-O2", "-fPIC", "-fuse-ld=lld"]
        common += ["--offload-arch=" + target for target in TARGETS]
        bundles = []
        for name, flags in (("plain", []), ("packed", ["--offload-compress"])):
            run(*common, *flags, "--cuda-device-only", at("u1.hip"), "-o", at(name + ".hipfb"))
            report = check_bundle(wavemem, at(name + ".hipfb"), folder)
            check(name + ": targets", sorted(e["target"] for e in report["entries"] if e["target"]), sorted(TARGETS))
            check(name + ": compressed", {e["compressed"] for e in report["entries"]}, {name == "packed"})
            check_names(wavemem, at(name + ".hipfb"))
            for number in (1, 2):
                unit = at("%s%d.o" % (name, number))
                run(*common, *flags, "-c", at("u%d.hip" % number), "-o", unit)
                bundles.append(unit)
        check("first bytes", (read(at("plain.hipfb"))[:4], read(at("packed.hipfb"))[:4]), (b"__CL", b"CCOB"))

        # Each section must contain what clang-offload-bundler lists.
        for unit in bundles:
            section = at("section")
            run("llvm-objcopy-19", "-O", "binary", "--only-section=.hip_fatbin", "--set-section-flags",
                ".hip_fatbin=alloc", unit, section)
            theirs = json.loads(run(wavemem, "info", "--json", section))["entries"]
            ours = json.loads(run(wavemem, "info", "--json", unit))["entries"]
            check(unit, ours, theirs)
            check_bundle(wavemem, section, folder)

        # All four units in one library: consecutive plain and compressed bundles.
        run("ld.lld-19", "-shared", "--unresolved-symbols=ignore-all", "-z", "muldefs", *bundles, "-o", at("all.so"))
        entries = json.loads(run(wavemem, "info", "--json", at("all.so")))["entries"]
        parts = [json.loads(run(wavemem, "info", "--json", unit))["entries"] for unit in bundles]
        check("all.so", [(e["id"], e["size"]) for e in entries],
              [(e["id"], e["size"]) for part in parts for e in part])
        check("all.so: bundles", sorted({e["bundle"] for e in entries}), [0, 1, 2, 3])
        for number, entry in enumerate(entries):
            if entry["target"] == "gfx900":
                unit = bundles[entry["bundle"]]
                check("all.so: entry %d" % number, run(wavemem, "dis", "--plain", "-m", str(number), at("all.so")),
                      run(wavemem, "dis", "--plain", "-m", "gfx900", unit))
        done = subprocess.run([wavemem, "dis", "-m", "gfx900", at("all.so")], capture_output=True, text=True)
        check("ambiguous", (done.returncode, "4 entries fit 'gfx900'; say which, by its number: " in done.stderr),
              (2, True))
    print("bundles: %d wrong" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
