#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Vulkan programs on RADV through `wavemem exec`.

usage: vulkan.py WAVEMEM PROGRAMS FAULTY FOLDER_OF_SPIRV WHAT

WHAT: a target, on which every program must be right and none may be skipped; "reference": the same programs on lavapipe,
Mesa's Vulkan driver for CPUs, which shows that they are right; "mistakes"; "profile". Exit code 77 (skipped) without
Mesa's Vulkan drivers.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

ICDS = "/usr/share/vulkan/icd.d"
DEVICE_LOST = "-4"  # VK_ERROR_DEVICE_LOST


def run(words, **environment):
    return subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          timeout=200, check=False, env=dict(os.environ, MESA_SHADER_CACHE_DISABLE="true", **environment))


def expect(condition, what, done):
    if not condition:
        sys.exit(f"{what}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}")


def all_right(done, may_skip):
    """Each line but the first says that a program was right."""
    lines = done.stdout.splitlines()[1:]
    expect(done.returncode == 0 and lines, "a program was wrong", done)
    for line in lines:
        verdict, name = line.rstrip(":").split()[:2]
        expect(verdict == "ok" or (verdict == "skipped" and name.rstrip(":") in may_skip), line, done)


def reference(_command, programs, _faulty, folder):
    lavapipe = glob.glob(f"{ICDS}/lvp_icd*.json")[0]
    # lavapipe has one queue, and no files for semaphores
    all_right(run([programs, folder], VK_DRIVER_FILES=lavapipe, VK_ICD_FILENAMES=lavapipe), may_skip=("queues", "share"))


def target(command, programs, _faulty, folder, name):
    all_right(run([command, "exec", "--gpu", name, programs, folder]), may_skip=())


def mistakes(command, programs, faulty, folder):
    # A store behind all buffers: the report names instruction, lanes and the nearest buffer, and the device is lost.
    done = run([command, "exec", "--gpu", "gfx1030", faulty, folder, "lost"])
    # RADV looks for a reset when it submits, so that the first wait succeeds.
    expect(done.stdout.split() == ["0", DEVICE_LOST], "the device was not lost", done)
    for text in ("store_dword", "lanes 1-63", "near 'weights', 4096 bytes at 0x", "in   stray stores, launch 1", "outside every allocation"):
        expect(text in done.stderr, f"no '{text}'", done)
    expect(done.returncode == 3, "a fault is exit code 3", done)
    # Goes on after it.
    done = run([command, "exec", "--gpu", "gfx1030", "--on-fault", "continue", faulty, folder, "lost"])
    expect(done.stdout.split() == ["0", "0"], "it did not go on", done)
    # A missing barrier, and no error with it.
    done = run([command, "exec", "--gpu", "gfx900", "--check=race", "--json", faulty, folder, "race"])
    errors = [one for one in json.loads(done.stderr[done.stderr.index("{"):])["findings"] if one["severity"] == "error"]
    expect({one["rule"] for one in errors} == {"race-lds"}, "the race was not found", done)
    expect(all("ds_" in one["instruction"] for one in errors), "a finding does not name the instruction", done)
    expect({one["kernel"] for one in errors} == {"race.comp"}, "a finding does not name the shader", done)
    # Indices behind the end of a buffer, which has been destroyed when findings are written.
    done = run([command, "exec", "--gpu", "gfx900", "--check=memory", "--json", faulty, folder, "beyond"])
    notes = json.loads(done.stderr[done.stderr.index("{"):])["findings"]
    expect({(one["rule"], one["kernel"]) for one in notes} == {("buffer-dropped", "robust.comp")}, "not the notes", done)
    expect(all(one["memory"]["object"].startswith("'counts' (400 bytes)") for one in notes), "a note does not name the buffer", done)
    done = run([command, "exec", "--gpu", "gfx900", "--check", programs, folder, "lds", "scratch", "queues"])
    expect(done.returncode == 0 and "found      0 errors" in done.stderr, "an error was found", done)
    # Nobody will store what a kernel, or a queue, waits for.
    for what, text in (("spin", "deadlock"), ("wait", "WAIT_REG_MEM waits for ever")):
        done = run([command, "exec", "--gpu", "gfx1030", faulty, folder, what])
        expect(done.returncode == 3 and text in done.stderr, f"no '{text}'", done)
    # The debugger stops in shaders, goes back within a dispatch, and lets the program go on.
    words = [word for line in ("break insn s_endpgm if $workgroup_x == 1", "continue", "print $workgroup_x", "reverse-stepi", "stepi",
                               "print/v s[0:3]", "detach") for word in ("--eval-command", line)]
    done = run([command, "exec", "--gpu", "gfx900", "--debug", "--batch", *words, programs, folder, "add"])
    expect(done.returncode == 0 and "ok add" in done.stdout, "the program did not go on", done)
    expect("Breakpoint 1, workgroup (1,0,0)" in done.stderr and "$1 = 1" in done.stderr and "NUM_RECORDS" in done.stderr,
           "the shader was not debugged", done)
    # What is not executed is named. RADV draws where images are copied on a queue with graphics.
    done = run([command, "exec", "--gpu", "gfx900", programs, folder, "linear"], VK_TEST_FAMILY="0")
    expect("DRAW_INDEX_AUTO: draws are not executed" in done.stderr, "the draw was not named", done)
    # Without the queues for graphics, the program takes another one.
    for queues, verdict in (("all", "wrong linear"), ("compute", "ok linear")):
        done = run([command, "exec", "--gpu", "gfx900", "--queues", queues, programs, folder, "linear"], VK_TEST_FAMILY="first")
        expect(verdict in done.stdout, f"--queues {queues}", done)
    # Names are there, too, if the environment chooses another build of RADV; another driver is left alone.
    with tempfile.TemporaryDirectory() as out:
        chosen = os.path.join(out, "own.json")
        shutil.copy(glob.glob(f"{ICDS}/radeon_icd*.json")[0], chosen)
        done = run([command, "exec", "--gpu", "gfx1030", faulty, folder, "lost"], VK_DRIVER_FILES=chosen)
        expect("in   stray stores, launch 1" in done.stderr, "no name with a chosen driver", done)
        done = run([command, "exec", "--gpu", "gfx1030", programs, folder, "add"], VK_DRIVER_FILES=glob.glob(f"{ICDS}/lvp_icd*.json")[0])
        expect("llvmpipe" in done.stdout and "ok add" in done.stdout, "the chosen driver was replaced", done)
    # What was submitted, as text: the dispatch of 50 workgroups, and the size of a workgroup.
    with tempfile.TemporaryDirectory() as out:
        path = os.path.join(out, "packets")
        with open(path, "w", encoding="utf-8") as file:
            file.write("old")
        done = run([command, "exec", "--gpu", "gfx900", "--packets", path, programs, folder, "lds"])
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for line in ("DISPATCH_DIRECT 0x32 0x1 0x1 0x", "COMPUTE_NUM_THREAD_X = 0x100, COMPUTE_NUM_THREAD_Y = 0x1", "compute ring of GPU 0 (vega64)"):
            expect(line in text, f"no '{line}' in\n{text}", done)
        expect(not text.startswith("old"), "the file was not replaced", done)
    # A product without graphics.
    done = run([command, "exec", "--gpu", "mi210", programs, folder])
    expect("Mesa has no driver for mi210" in done.stderr, "the product was not refused", done)
    # It does not hide another one.
    done = run([command, "exec", "--gpu", "mi210,rx580", programs, folder, "add"])
    expect("POLARIS10" in done.stdout and "ok add" in done.stdout, "the other product was not found", done)


def profile(command, programs, _faulty, folder):
    done = run([command, "exec", "--gpu", "gfx1030", "--json", "--prof", programs, folder, "lds"])
    report = json.loads(done.stderr[done.stderr.index("{"):])
    expect([one["grid"] + one["workgroup"] for one in report["dispatches"]] == [[50 * 256, 1, 1, 256, 1, 1]], "not the dispatch", done)
    # Pipelines without a name are called after their sources.
    again = run([command, "exec", "--gpu", "gfx1030", "--json", "--prof", "--kernel", "^(lds|add)", programs, folder, "add", "lds", "copy"])
    names = [one["kernel"] for one in json.loads(again.stderr[again.stderr.index("{"):])["dispatches"]]
    expect(names == ["add.comp", "lds.comp"], f"not the names: {names}", again)
    # The program's 12,800 elements of 4 bytes are loaded once, and nothing else by buffer loads.
    loads = [row for row in report["rows"] if (row["path"], row["operation"]) == ("BUFFER", "load")]
    expect(sum(row["bytes_asked"] for row in loads) == 4 * 12800, "not the loads", done)


def main():
    command, programs, faulty, folder, what = sys.argv[1:]
    if not glob.glob(f"{ICDS}/radeon_icd*.json") or not glob.glob(f"{ICDS}/lvp_icd*.json"):
        print("skipped: Mesa's Vulkan drivers are not installed (Debian: mesa-vulkan-drivers)")
        return 77
    cases = {"reference": reference, "mistakes": mistakes, "profile": profile}
    if what in cases:
        cases[what](command, programs, faulty, folder)
    else:
        target(command, programs, faulty, folder, what)
    return 0


sys.exit(main())
