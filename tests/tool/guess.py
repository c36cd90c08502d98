# SPDX-License-Identifier: MIT
"""--guess: what is made up, and that the command which is printed does the same; --blocks and warnings of sizes.

usage: guess.py WAVEMEM FOLDER_OF_CODE_OBJECTS [TEST...]
"""
import glob
import json
import os
import re
import shlex

import command
from command import Case

FAULTS = {"fft1k", "sha256"}  # they take more data than a guess gives
# They wait for others, or take too long with any number that is guessed.
LEFT_OUT = {"grid_barrier", "spin_lock", "lookback_scan", "chain", "lock_in_lanes", "wait_for_nobody", "mandelbrot", "nbody"}

PADDED = b"""
.text
.globl padded
.p2align 8
.type padded,@function
padded:
  s_endpgm
.rodata
.amdhsa_kernel padded
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: padded
    .symbol: padded.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 1
    .max_flat_workgroup_size: 256
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: pad, .offset: 8, .size: 8, .value_kind: by_value}
      - {.name: n, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: pad, .offset: 20, .size: 4, .value_kind: by_value}
      - {.name: pad, .offset: 24, .size: 4, .value_kind: by_value}
.end_amdgpu_metadata
"""


class Guess(Case):
    def guessed(self, err):
        """The words of the printed command."""
        words = shlex.split(re.search(r"(?m)^guessed: (.*)$", err).group(1))
        self.assertEqual(words[0], "wavemem")
        self.assertNotIn("--guess", words)
        return words[1:]

    def test_printed_command(self):
        """It does the same as the guess."""
        kernels = 0
        for file in sorted(glob.glob(os.path.join(command.EXAMPLES, "*.co"))):
            for kernel in json.loads(self.run_tool("info --json", [file])[0])["kernels"]:
                if kernel["name"] in LEFT_OUT or (command.REDUCED and kernels > 3):
                    continue
                code = 3 if kernel["name"] in FAULTS else 0
                with self.subTest(kernel["name"]):
                    _, err = self.run_tool("run", [file], "-k", [kernel["name"]], "--guess --json=a.json", code=code)
                    words = self.guessed(err)
                    self.run_tool([word.replace("a.json", "b.json") for word in words], code=code)
                    ran, again = (json.loads(self.read(name + ".json"))["dispatches"][0] for name in "ab")
                    for key in ("grid", "workgroup", "fault", *(["wave_instructions"] if code == 0 else [])):
                        self.assertEqual(ran[key], again[key])
                    given = [words[i + 1].split("=")[0] for i, word in enumerate(words) if word == "--arg"]
                    self.assertEqual(given, [a["name"] for a in kernel["arguments"] if not a["hidden"]])
                    kernels += 1
        self.assertGreater(kernels, 3)

    def test_names_that_repeat(self):
        """Arguments that share a name, as padding in assembly does, are given by position, but the first one."""
        self.path("padded.s", PADDED)
        self.run_tool("asm -m gfx900 padded.s -o padded.co")
        self.lacks([["--arg n=VALUE", "argument 2 'n': by value, 4 bytes"], ["--arg 4=VALUE", "argument 4 'pad': by value, 4 bytes"]],
                   "run padded.co -g 64 -b 64 --arg 3=0 --arg pad=1 --arg out=zero:f32:1")
        _, err = self.run_tool("run padded.co --guess")
        words = self.guessed(err)
        self.assertEqual(err.count("guessed:"), 1)
        self.assertEqual([words[i + 1].split("=")[0] for i, word in enumerate(words) if word == "--arg"], ["out", "pad", "n", "3", "4"])
        self.run_tool(words)

    def test_what_is_given_stays(self):
        co = self.example("vecadd")
        _, err = self.run_tool("run", co, "-g 128 --guess --arg b=f32:1,2 --arg n=2")
        words = self.guessed(err)
        self.assertEqual(words, ["run", *co, "-g", "128", "--arg", "b=f32:1,2", "--arg", "n=2", "-b", "256", "--arg",
                                 "a=rand:f32:128:1", "--arg", "c=zero:f32:128"])
        _, err = self.run_tool("run", self.example("strided_copy"), "--guess")  # several integers: the buffers have a matrix
        self.assertIn("-g 256 -b 256 --arg in=rand:f32:65536:1 --arg out=zero:f32:65536 --arg n=256 --arg stride=256", err)
        _, err = self.run_tool("run", self.vecadd("--guess")[1:])
        self.assertNotIn("guessed", err)  # nothing is missing
        self.refused("--guess completes one dispatch, and there are 2", "run", co, "--guess --then -g 4")
        self.assertIn("note: sizes or arguments were guessed", self.run_tool("run", co, "-g 4k --guess --arg a=f32:1", code=3)[1])

    def test_blocks(self):
        arguments = "--arg a=fill:f32:256:1 --arg b=fill:f32:256:2 --arg c=zero:f32:256 --arg n=256 --expect c=fill:f32:256:3"
        co = self.example("vecadd")
        for words in ("--blocks 4 -b 64", "-g 256 -b 64", "-b 64 --blocks 2*2", "-g 64*4 -b 64"):
            self.assertEqual(self.run_tool("run", co, words, arguments)[1], "")
        self.refused("--blocks 0: expected workgroups as X", "run", co, "--blocks 0 -b 64", arguments)
        self.refused("more than 2^32 work-items along one dimension", "run", co, "--blocks 4294967295 -b 64", arguments)
        self.refused("did you mean -b (--workgroup)?", "run", co, "--block 64")
        _, err = self.run_tool("run", co, "-g 4 -b 64", arguments.replace("--expect c=fill:f32:256:3", ""))
        self.assertEqual(err, "warning: -g counts work-items: 4 of the 64 lanes of a workgroup are active; --blocks 4 counts "
                              "workgroups\n")
        _, err = self.run_tool("run", co, "-g 100 -b 64", arguments.replace("--expect c=fill:f32:256:3", ""))
        self.assertEqual(err, "note: -g 100 fills the last workgroups only partly, which OpenCL allows; HIP would launch all of "
                              "-g 128\n")

    def test_sizes_and_lists(self):
        """k, M and products; elements in place; the default seed is 1."""
        co = self.example("vecadd")
        for n in ("1k", "1024", "256*4", "0x400", "1K*1"):
            self.run_tool("run", co, f"-g {n} -b 64 --arg a=iota:f32:{n} --arg b=zero:f32:{n} --arg c=zero:f32:{n} --arg n={n}",
                          "--expect c=iota:f32:1024")
        self.run_tool("run", co, "-g 64 -b 64 --arg a=f32:1,2.5 --arg b=f32:1,-1 --arg c=f32:0,0 --arg n=2",
                      "--expect c=f32:2,1.5 --expect c=f32:2,1.5001:1e-3 --expect c=f32:2,1.5001:0,1e-3")
        self.run_tool("run", co, "-g 64 -b 64 --arg a=f32:1,2.5 --arg b=f32:1,-1 --arg c=f32:0,0 --arg n=2",
                      "--expect c=f32:2,1.6:1e-3", code=1)
        self.run_tool("run", co, "-g 64 -b 64 --arg a=rand:f32:8 --arg b=fill:f32:8:0 --arg c=zero:f32:8 --arg n=8",
                      "--out c=c.bin --expect c=rand:f32:8:1")
        self.assertEqual(self.read("c.bin"), command.pack("f32", command.random_elements("f32", 8, 1)))


if __name__ == "__main__":
    command.main()
