# SPDX-License-Identifier: MIT
"""The package itself: the reduced header, its agreement with the C structs, the wheel."""
import dataclasses
import inspect
import os
import re
import subprocess
import sys
import zipfile

import pytest

import wavemem
from conftest import EXAMPLES, ROOT
from wavemem import _library, _reduce
from wavemem._library import ffi, lib

# Fields of C structs that the dataclasses leave out: counts of what is a tuple, and what other attributes say.
RECORDS = {
    wavemem.Argument: ("wm_argument", set()), wavemem.KernelInfo: ("wm_kernel", {"argument_count"}),
    wavemem.BundleEntry: ("wm_bundle_entry", set()), wavemem.Stale: ("wm_stale", set()),
    wavemem.Dependence: ("wm_dependence", set()), wavemem.Stopped: ("wm_stopped", {"struct_size", "ranges"}), wavemem.Result: ("wm_result", {"struct_size", "fault"}),
    wavemem.Operand: ("wm_operand", set()), wavemem.Description: ("wm_isa_row", set()),
    wavemem.Instruction: ("wm_instruction", {"target", "dwords", "operand_count", "modifier_count", "address_count", "operand",
                                             "modifier"}),
    wavemem.Field: ("wm_descriptor_field", set()),
    wavemem.Descriptor: ("wm_descriptor", {"word_count", "field", "field_count", "warning", "warning_count"}),
    wavemem.FormatAnswer: ("wm_format_answer", {"component", "value"}), wavemem.Component: ("wm_format_component", set()),
    wavemem.BufferAnswer: ("wm_buffer_answer", {"elements", "address", "step", "step_count"}),
    wavemem.AddressAnswer: ("wm_address_answer", {"element", "step", "step_count"}),
    wavemem.AddressElement: ("wm_address_element", {"has_private"}),
    wavemem.Barrier: ("wm_barrier", set()), wavemem.CacheControl: ("wm_cache_control", set()),
    wavemem.Message: ("wm_message", set()), wavemem.Export: ("wm_export", set()), wavemem.Extent: ("wm_extent", set()), wavemem.Memory: ("wm_memory", {"bytes"}),
}


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_records_have_all_fields(kind):
    """A field that is added to a struct of C is missed here, not by users."""
    struct, left_out = RECORDS[kind]
    fields = {name for name, _ in ffi.typeof("struct " + struct).fields}
    assert left_out <= fields and fields - left_out <= {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("kind, struct, left_out", [
    (wavemem.Access, "wm_access", {"place"}), (wavemem.Registers, "wm_registers", {"stride"}),
    (wavemem.Place, "wm_access_place", set())])
def test_views_have_all_fields(kind, struct, left_out):
    names = set(re.findall(r"self\.(\w+)", inspect.getsource(kind.__init__)))
    assert {name for name, _ in ffi.typeof("struct " + struct).fields} - left_out <= names


def test_every_function_is_declared():
    """The reduced header has each function of the headers, and the library each of these."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "include" / "wavemem").glob("*.h"))
    functions = set(re.findall(r"^WM_API [^;(]*?\b(wm_\w+)\(", text, re.M))
    assert len(functions) > 80
    for name in functions:
        assert ffi.typeof(getattr(lib, name)).kind == "function", name


def test_layouts_are_those_of_the_compiler(tmp_path):
    """Sizes and offsets as the C compiler sees them."""
    structs = [name for name in re.findall(r"^struct (wm_\w+) \{", _library._declarations(), re.M)]
    lines = []
    for name in structs:
        lines.append(f'printf("{name} %zu", sizeof(struct {name}));')
        for field, _ in ffi.typeof("struct " + name).fields:
            lines.append(f'printf(" %zu", offsetof(struct {name}, {field}));')
        lines.append('puts("");')
    source = tmp_path / "layout.c"
    source.write_text("#include <stdio.h>\n#include <wavemem/wavemem.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
    subprocess.run(["cc", "-I", str(ROOT / "include"), str(source), "-o", str(tmp_path / "layout")], check=True)
    shown = subprocess.run([str(tmp_path / "layout")], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    expected = "".join(
        f"{name} {ffi.sizeof('struct ' + name)}" + "".join(f" {field.offset}" for _, field in ffi.typeof("struct " + name).fields) +
        "\n" for name in structs)
    assert shown == expected and len(structs) > 50


def test_reduce_refuses_what_it_does_not_know(tmp_path):
    for name in (ROOT / "include" / "wavemem").glob("*.h"):
        (tmp_path / name.name).write_text(name.read_text(encoding="utf-8"), encoding="utf-8")
    with open(tmp_path / "status.h", encoding="utf-8") as file:
        text = file.read()
    (tmp_path / "status.h").write_text(text.replace("enum wm_status {", "#define SIZE 5\nenum wm_status {"), encoding="utf-8")
    with pytest.raises(ValueError, match="status.h: no rule for '#define SIZE 5'"):
        _reduce.reduce(tmp_path)
    (tmp_path / "status.h").write_text("int x;\n", encoding="utf-8")
    with pytest.raises(ValueError, match="expected one include guard"):
        _reduce.reduce(tmp_path)


def test_status_classes():
    names = {name for name in _library.names("wm_status").values() if name != "ok"}
    assert names == set(wavemem._errors.CLASSES)
    error = _library.error_of(lib.WM_NOT_FOUND, "nowhere")
    assert isinstance(error, wavemem.NotFound) and isinstance(error, LookupError) and str(error) == "nowhere"
    assert error.status == "not_found"


def test_everything_public_is_documented():
    assert set(wavemem.__all__) >= {"Machine", "Module", "Profile", "Fault", "assemble"}
    for name in wavemem.__all__:
        one = getattr(wavemem, name)
        if inspect.isclass(one) or inspect.isfunction(one):
            assert one.__doc__, name
            for member, value in vars(one).items() if inspect.isclass(one) else ():
                if inspect.isfunction(value) and not member.startswith("_"):
                    assert value.__doc__ or member in ("kernels", "machine", "name"), f"{name}.{member}"
                    assert "return" in value.__annotations__, f"{name}.{member} has no type"
        if inspect.isfunction(one):
            assert "return" in one.__annotations__, name


def test_wheel(tmp_path):
    """pip builds a wheel of this platform with the library in it, without network, and it works from a folder of its own."""
    library = os.environ.get("WAVEMEM_LIBRARY")
    if not library or subprocess.run([sys.executable, "-c", "import setuptools, wheel, pip"], stderr=subprocess.DEVNULL,
                                     check=False).returncode:
        pytest.skip("needs WAVEMEM_LIBRARY, pip, setuptools and wheel")
    environment = dict(os.environ, WAVEMEM_WHEEL_BUILD=str(tmp_path / "build"), PIP_DISABLE_PIP_VERSION_CHECK="1")
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(tmp_path), str(ROOT)],
                   env=environment, check=True)
    wheels = list(tmp_path.glob("*.whl"))
    assert len(wheels) == 1 and re.fullmatch(rf"wavemem-{re.escape(wavemem.__version__)}-py3-none-linux_\w+\.whl", wheels[0].name)
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    sources = {f"wavemem/{path.name}" for path in (ROOT / "python" / "wavemem").glob("*.py")}
    assert sources | {"wavemem/libwavemem.so", "wavemem/_wavemem.h", "wavemem/py.typed"} == \
        {name for name in names if name.startswith("wavemem/")}
    target = tmp_path / "target"
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(target), str(wheels[0])], check=True)
    # As a user has it: no source tree near, no variables of the build.
    script = f"""
import wavemem, numpy as np, os
assert os.path.dirname(wavemem.__file__) == {str(target / 'wavemem')!r}, wavemem.__file__
with wavemem.Machine("gfx900") as machine:
    c = np.zeros(10, np.float32)
    machine.load({str(EXAMPLES / 'vecadd.co')!r}).kernel()(c + 1, c + 2, c, 10, grid=64, workgroup=64)
    print(c.sum())
"""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("WAVEMEM_", "PYTHON"))}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=dict(clean, PYTHONPATH=str(target)),
                          stdout=subprocess.PIPE, check=True, encoding="utf-8")
    assert done.stdout == "30.0\n"


def test_types():
    """The type hints agree with the code."""
    if subprocess.run([sys.executable, "-c", "import mypy"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("mypy is not installed")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "--ignore-missing-imports",
                           str(ROOT / "python" / "wavemem")], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


def test_readme():
    """The example that it begins with, as it is there."""
    text = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    done = subprocess.run([sys.executable, "-c", block], cwd=ROOT, stdout=subprocess.PIPE, check=True, encoding="utf-8")
    assert "global_store_dword" in done.stdout
    for name in set(re.findall(r"`([A-Z]\w+)\(", text)) | set(re.findall(r"`(\w+)`, `(?:disassemble|decode)", text)):
        assert hasattr(wavemem, name), name


def test_message_without_library(tmp_path):
    for path in (ROOT / "python" / "wavemem").glob("*.py"):
        (tmp_path / "wavemem").mkdir(exist_ok=True)
        (tmp_path / "wavemem" / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    environment = dict(os.environ, PYTHONPATH=str(tmp_path), WAVEMEM_LIBRARY=str(tmp_path / "none.so"))
    command = [sys.executable, "-c", "import wavemem"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode and "_wavemem.h is missing; please install the package with pip" in done.stderr
    (tmp_path / "wavemem" / "_wavemem.h").write_text(_library._declarations(), encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode and "none.so" in done.stderr and "set WAVEMEM_LIBRARY to build/libwavemem.so" in done.stderr
