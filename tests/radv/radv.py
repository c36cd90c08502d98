#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the shaders with RADV for a GPU family and runs them.

usage: radv.py FAMILY TARGET FOLDER_OF_SPIRV RUNNER [COMPILER]

Exit code 77 ("skipped") without COMPILER, which is not built without Vulkan headers and glslangValidator, and without
a Vulkan loader or RADV.
"""
import subprocess
import sys
import tempfile


def main(family, target, spirv, runner, compiler=None):
    if not compiler:
        print('skipped: no vulkan/vulkan.h or no glslangValidator (Debian: libvulkan-dev, glslang-tools)')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        code = subprocess.run([compiler, family, spirv, folder]).returncode
        return code if code else subprocess.run([runner, target, folder]).returncode


sys.exit(main(*sys.argv[1:]))
