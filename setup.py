# SPDX-License-Identifier: MIT
"""Builds the wheel: libwavemem.so by Meson and Ninja, and the reduced header from which the package takes the layouts.

From the environment: WAVEMEM_LIBRARY is a library that is built already; WAVEMEM_MESON_OPTIONS are words for
`meson setup`; JOBS limits Ninja. Folders: build-library is Meson's, build-wheel (WAVEMEM_WHEEL_BUILD) setuptools'.
"""
import os
import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
FOLDER = ROOT / os.environ.get("WAVEMEM_WHEEL_BUILD", "build-wheel")  # setuptools would take `build`, which is Meson's
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8")).group(1)


def built_library():
    """The path of libwavemem.so, which it builds."""
    given = os.environ.get("WAVEMEM_LIBRARY")
    if given:
        return given
    folder = ROOT / "build-library"
    if not (folder / "build.ninja").exists():
        options = shlex.split(os.environ.get("WAVEMEM_MESON_OPTIONS", ""))
        subprocess.run(["meson", "setup", str(folder), str(ROOT), "-Dtests=disabled", *options], check=True)
    jobs = ["-j", os.environ["JOBS"]] if os.environ.get("JOBS") else []
    subprocess.run(["ninja", "-C", str(folder), *jobs, f"libwavemem.so.{VERSION}"], check=True)
    return folder / f"libwavemem.so.{VERSION}"


class WithLibrary(build_py):
    def run(self):
        super().run()
        package = Path(self.build_lib) / "wavemem"
        package.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built_library(), package / "libwavemem.so")
        reduce = runpy.run_path(str(ROOT / "python" / "wavemem" / "_reduce.py"))["reduce"]
        (package / "_wavemem.h").write_text(reduce(ROOT / "include" / "wavemem"), encoding="utf-8")


class Platform(Distribution):
    def has_ext_modules(self):
        return True  # the wheel is for one platform


class AnyPython(bdist_wheel):
    def get_tag(self):
        # cffi opens the library: it depends on the platform, but on no version of Python.
        return "py3", "none", super().get_tag()[2]


FOLDER.mkdir(parents=True, exist_ok=True)
setup(
    version=VERSION,
    distclass=Platform,
    cmdclass={"build_py": WithLibrary, "bdist_wheel": AnyPython},
    options={"build": {"build_base": str(FOLDER)}, "egg_info": {"egg_base": str(FOLDER)}},
)
