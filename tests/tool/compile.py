# SPDX-License-Identifier: MIT
"""Sources in place of code objects: compiled or assembled, kept in a cache; what is said without a compiler.

usage: compile.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]

Skipped without clang 19, ld.lld 19 and AMD's device library; HIP without its headers. The sources are the same in each
run, so what earlier runs compiled is used again, except by the tests of the cache, which have a folder of their own.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import command
from command import Case

BITCODE = os.environ.get("BITCODE") or next(iter(glob.glob("/usr/lib/*/amdgcn/bitcode")), "")
HIP = os.path.exists("/usr/include/hip/hip_runtime.h")
# sqrt needs the device library, get_global_id the parts of it that depend on the target.
OPENCL = b"""#include "scale.h"
kernel void scaled(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = SCALE * sqrt(in[i]) + OFFSET;
}
"""
HIP_SOURCE = b"""#include <hip/hip_runtime.h>
template <class T> __device__ T twice(T x)
{
    return x + x;
}
template <class T> __global__ void doubled(const T *in, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = twice(in[i]);
}
template __global__ void doubled<float>(const float *, float *, int);
"""
# Without the device library: no get_global_id.
PLAIN = b"kernel void plain(global int *out) { out[__builtin_amdgcn_workitem_id_x()] = 7; }\n"
RUN = "-g 4 -b 4 --arg in=f32:1,4,9,16 --arg out=zero:f32:4 --arg n=4 -DSCALE=3 -I include"
PLAIN_RUN = "-g 2 -b 2 --arg 0=zero:i32:2 --expect 0=i32:7,7"


class Compile(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("include"))
        self.path("k.cl", OPENCL)
        self.path("include/scale.h", b"#define OFFSET 1\n")
        self.path("plain.cl", PLAIN)

    def own_cache(self):
        """A folder for the cache of this test alone, and a compiler that writes a line for each compilation."""
        cache = self.path("cache")
        self.addCleanup(os.environ.__setitem__, "XDG_CACHE_HOME", os.environ["XDG_CACHE_HOME"])
        os.environ["XDG_CACHE_HOME"] = cache
        log = self.path("log", b"")
        self.path("compiler", f'#!/bin/sh\nfor w; do case $w in *.cl) echo $w >> {log};; esac; done\nexec clang-19 "$@"\n'.encode())
        os.chmod(self.path("compiler"), 0o755)

    def run_in(self, environment, *words, code=0):
        done = subprocess.run([command.WAVEMEM, *" ".join(words).split()], cwd=self.folder.name, env=environment,
                              capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_standard_output(self):
        self.run_tool("compile -m gfx90a plain.cl -o plain.co")
        done = subprocess.run([command.WAVEMEM, *"compile -m gfx90a plain.cl -o -".split()], cwd=self.folder.name, check=True,
                              stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, self.read("plain.co"))
        self.assertFalse(os.path.exists(self.path("-")))

    def test_opencl(self):
        """The second and third target are newer than Debian's device library."""
        for target in ("gfx900", "gfx942", "gfx1200"):
            out, err = self.run_tool("run k.cl", RUN, "-m", target, "--expect out=f32:4,7,10,13")
            self.assertEqual((out, err), ("expect out: all 4 elements agree with f32:4,7,10,13\n", ""))
        self.assertIn("scaled  (k.cl:2)", self.run_tool("info -m gfx900 -DSCALE=3 -I include k.cl")[0])
        self.assertIn("k.cl:6", self.run_tool("prof k.cl", RUN, "-m gfx900")[0])
        self.assertRegex(self.run_tool("dis k.cl -m gfx900 -DSCALE=3 -I include --lines")[0], r"(?m)^; .*k\.cl:6")
        self.run_tool("check k.cl", RUN, "-m gfx900")

    def test_code_object(self):
        """The object that `compile` writes is the one that other verbs make."""
        self.run_tool("compile k.cl -m gfx900 -DSCALE=3 -I include -o k.co")
        self.assertEqual(self.run_tool("dis k.co")[0].replace("k.co", "k.cl"), self.run_tool("dis k.cl -m gfx900 -DSCALE=3 -I include")[0])
        self.run_tool("compile plain.cl --gpu rx7900xtx -o plain.co")
        self.assertIn("plain.co: gfx1100,", self.run_tool("info plain.co")[0])
        self.path("one.s", b"s_endpgm\n")
        self.run_tool("compile one.s -m gfx900 -o one.co")
        self.assertEqual(self.read("one.co")[:4], b"\x7fELF")
        self.refused("the file is missing", "compile -o k.co")
        self.refused("-o OUTPUT is missing", "compile k.cl")
        self.refused("not also 'plain.cl'", "compile k.cl plain.cl -o k.co")
        self.refused("expected a source", "compile k.co -o again.co")
        self.refused("not a target", "compile k.cl -m gfx1 -o again.co")
        self.refused("cannot be written", "compile k.cl -o nowhere/k.co")
        self.assertFalse(os.path.exists(self.path("again.co")))

    def test_wave(self):
        for words, wave in (("-m gfx1030", 32), ("-m gfx1030:wave64", 64)):
            self.assertIn(f"wave{wave}", self.run_tool("info plain.cl", words)[0])
        self.run_tool("run plain.cl -m gfx1030 --wave 64", PLAIN_RUN)

    @unittest.skipUnless(HIP, "no HIP headers")
    def test_hip(self):
        self.path("k.hip", HIP_SOURCE)
        words = "-k doubled --blocks 2 -b 2 --arg in=f32:1,2,3,4 --arg out=zero:f32:4 --arg n=4 --expect out=f32:2,4,6,8"
        for target in ("gfx90a", "gfx1100"):
            self.run_tool("run k.hip", words, "-m", target)
        # the kernel's line, not that of what is inlined at its beginning
        self.assertRegex(self.run_tool("info k.hip -m gfx90a")[0], r"(?m)^doubled<float>  \(k\.hip:6\)$")

    def test_ir(self):
        for suffix, option in (("ll", "-S"), ("bc", "-c")):
            subprocess.run(["clang-19", "-x", "cl", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib", "-emit-llvm", option,
                            "plain.cl", "-o", "plain." + suffix], cwd=self.folder.name, check=True)
        self.assertIn("plain.ll: gfx906,", self.run_tool("info plain.ll")[0])  # as it says
        self.run_tool("run plain.ll", PLAIN_RUN)
        self.run_tool("run plain.bc -m gfx906", PLAIN_RUN)
        self.refused("-m gfx90a: the functions of plain.ll are for gfx906", "run plain.ll -m gfx90a", PLAIN_RUN)

    def test_assembly(self):
        """Also without any compiler."""
        subprocess.run(["clang-19", "-x", "cl", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx906", "-nogpulib", "-S", "plain.cl"],
                       cwd=self.folder.name, check=True)
        nowhere = {"PATH": "/nowhere"}
        self.run_in(nowhere, "run plain.s", PLAIN_RUN)
        self.assertIn("plain.s: gfx906,", self.run_in(nowhere, "info plain.s")[0])
        self.refused("-O is for the compiler; wavemem assembles plain.s itself", "run plain.s -O2", PLAIN_RUN)
        self.refused("-D and --compile-option are for the compiler", "run plain.s -DX", PLAIN_RUN)

    def test_messages(self):
        self.path("wrong.cl", b"kernel void f(global int *o) { o[0] = missing; }\n")
        _, err = self.run_tool("run wrong.cl -m gfx900", code=2)
        self.assertIn("wrong.cl:1:39: error: use of undeclared identifier 'missing'", err)
        self.assertRegex(err.splitlines()[-1], r"^wavemem: wrong\.cl: .*clang.* failed$")
        self.path("empty.cl", b"")
        self.refused("wavemem: empty.cl: has no kernel", "run -m gfx90a empty.cl -g 1 -b 1")
        self.path("odd.cl", b"kernel void f(global int *o) { o; }\n")
        for _ in range(2):  # also from the cache
            self.assertIn("odd.cl:1:32: warning:", self.run_tool("info odd.cl -m gfx900")[1])
        self.assertIn("note: plain.cl is compiled for gfx90a", self.run_tool("info plain.cl")[1])
        self.assertIn('"target": "gfx1030"', self.run_tool("prof plain.cl --gpu rx-6800 --json", PLAIN_RUN)[0])
        self.refused("-m gfx9999: not a target", "run plain.cl -m gfx9999")
        self.refused("-m 3: plain.cl is a source", "run plain.cl -m 3")
        self.refused("missing.cl: cannot be read", "run missing.cl -m gfx900")
        self.refused("-DX: it may be given 256 times", "run plain.cl -m gfx900", "-DX " * 257)

    def test_cache(self):
        self.own_cache()
        count = lambda: self.read("log").count(b"\n")
        words = ("run k.cl", RUN, "-m gfx900 --clang ./compiler")
        for compilations in (1, 1):
            self.run_tool(*words, "--expect out=f32:4,7,10,13")
            self.assertEqual(count(), compilations)
        self.path("include/scale.h", b"#define OFFSET 2\n")  # what is included counts, too
        self.run_tool(*words, "--expect out=f32:5,8,11,14")
        self.assertEqual(count(), 2)
        self.run_tool(*words, "-O1 --expect out=f32:5,8,11,14")
        self.run_tool(*words, "--compile-option=-ffast-math --expect out=f32:5,8,11,14")
        self.assertEqual(count(), 4)
        kept = glob.glob(self.path("cache/wavemem/*.object"))
        self.assertEqual(len(kept), 3)
        # Damaged files are compiled again, whatever the damage.
        words = ("run plain.cl", PLAIN_RUN, "-m gfx900 --clang ./compiler")
        self.run_tool(*words)
        path, = set(glob.glob(self.path("cache/wavemem/*.object"))) - set(kept)
        with open(path, "rb") as file:
            content = file.read()
        for i, damaged in enumerate((content[:-1], content[:10], b"", content.replace(b"wavemem object", b"wavemem objekt"),
                                     content.replace(b"object 1 ", b"object 1 9"), content.replace(b"plain", b"plane"),
                                     b"wavemem object 1 99999999999999999999 1 1 1\n")):
            with open(path, "wb") as file:
                file.write(damaged)
            self.run_tool(*words)
            self.assertEqual(count(), 6 + i)

    def test_cache_is_shared_and_bounded(self):
        self.own_cache()
        os.makedirs(self.path("cache/wavemem"))
        for name in ("a", "b", "c"):  # 300 MB, without taking any
            with open(self.path(f"cache/wavemem/{name}.object"), "wb") as file:
                file.truncate(100 << 20)
            os.utime(file.name, (1000, 1000))
        words = [command.WAVEMEM, "run", "plain.cl", "-m", "gfx900", *PLAIN_RUN.split()]
        runs = [subprocess.Popen(words, cwd=self.folder.name, stdout=subprocess.PIPE) for _ in range(4)]
        for run in runs:
            self.assertEqual((run.communicate()[0], run.returncode), (b"expect 0: all 2 elements agree with i32:7,7\n", 0))
        left = os.listdir(self.path("cache/wavemem"))
        self.assertEqual(len(left), 2, left)  # the new object, and one of the old: they fit into three quarters of the limit
        # Where nothing can be kept, everything still works.
        for cache in ("relative", "/proc/nothing"):
            self.run_in(dict(os.environ, XDG_CACHE_HOME=cache, HOME="/proc/nothing"), "run plain.cl -m gfx900", PLAIN_RUN)

    def test_without_compiler(self):
        """The printed command is right: run elsewhere, it makes an object that works."""
        nowhere = {"PATH": "/nowhere", "XDG_CACHE_HOME": self.path("empty")}
        if os.path.exists("/opt/rocm/llvm/bin/clang"):
            self.skipTest("there is ROCm's compiler")
        _, err = self.run_in(nowhere, "run k.cl", RUN, "-m gfx900", code=2)
        self.assertIn("no clang was found that compiles for gfx900", err)
        self.assertIn("and give the result to wavemem run: k-gfx900.co", err)
        printed = re.search(r"(?m)^  clang (.*)$", err).group(1)
        subprocess.run(f"clang-19 --rocm-device-lib-path={BITCODE} {printed}", shell=True, check=True, cwd=self.folder.name)
        self.run_tool("run k-gfx900.co", RUN.split(" -D")[0], "--expect out=f32:4,7,10,13")
        _, err = self.run_in(dict(os.environ, HIP_DEVICE_LIB_PATH="/nowhere"), "run k.cl -DSCALE=9 -m gfx900", code=2)
        self.assertIn("AMD's device library is not there (/nowhere): install rocm-device-libs", err)
        _, err = self.run_in(dict(os.environ), "run k.cl -m gfx900 --clang nothing", code=2)
        self.assertIn("--clang nothing: there is no such program", err)
        _, err = self.run_in(dict(os.environ), "run k.cl -m gfx900 --clang true", code=2)
        self.assertIn("--clang true: it does not compile for this target, or is no clang", err)

    def test_versions(self):
        """A clang links with the linker of its own version, also where another one's is ld.lld in PATH."""
        tried = 0
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "ld.lld")
            with open(other, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexit 1\n")
            os.chmod(other, 0o755)
            for version in range(15, 23):
                own = f"/usr/lib/llvm-{version}/bin"
                if not (os.path.exists(own + "/ld.lld") and os.path.exists(own + "/clang")):
                    continue
                os.symlink(own + "/clang", os.path.join(folder, f"clang-{version}"))
                environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], XDG_CACHE_HOME=os.path.join(folder, "cache"))
                self.run_in(environment, f"run plain.cl {PLAIN_RUN} -m gfx900 --clang clang-{version}")
                tried += 1
        self.assertGreater(tried, 0)

    def test_interrupt(self):
        """Ctrl-C ends the compiler, too, and leaves no temporary files."""
        self.path("slow", b"#!/bin/sh\ncase $* in *--version*) echo clang version 19;; *-fsyntax-only*) ;; "
                          b"*) touch started; exec sleep 60;; esac\n")
        os.chmod(self.path("slow"), 0o755)
        os.mkdir(self.path("tmp"))
        run = subprocess.Popen([command.WAVEMEM, "info", "plain.cl", "-m", "gfx900", "--clang", "./slow"], cwd=self.folder.name,
                               env=dict(os.environ, TMPDIR=self.path("tmp")), start_new_session=True)
        while not os.path.exists(self.path("started")):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(timeout=30), -signal.SIGINT)
        self.assertEqual(os.listdir(self.path("tmp")), [])


if __name__ == "__main__":
    if not (shutil.which("clang-19") and shutil.which("ld.lld-19") and BITCODE):
        print("skipped: needs clang-19, lld-19 and rocm-device-libs")
        sys.exit(77)
    command.main()
