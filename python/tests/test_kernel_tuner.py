# SPDX-License-Identifier: MIT
"""The back end for Kernel Tuner in contrib/kernel-tuner, called as kernel_tuner/core.py (1.4) calls a device; and by Kernel Tuner
itself, if it is installed."""
import abc
import importlib.util
import os
import sys
import types
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCALE = """
__kernel void scale(__global const float *in, __global float *out, const int n)
{
    __local float pad[LDS];
    if (n < 0) {
        pad[get_local_id(0)] = in[0];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[0] = pad[-n];
    }
    for (int k = 0; k < 8; k++) {
#if COALESCED
        const int i = get_group_id(0) * BLOCK * 8 + k * BLOCK + get_local_id(0);
#else
        const int i = get_global_id(0) * 8 + k;
#endif
        if (i < n)
            out[i] = 2 * in[i];
    }
}
"""
COUNT = 1 << 20
# Abstract methods of kernel_tuner/backends/backend.py.
METHODS = ("ready_argument_list", "compile", "start_event", "stop_event", "kernel_finished", "synchronize", "run_kernel", "memset",
           "memcpy_dtoh", "memcpy_htod", "copy_constant_memory_args", "copy_shared_memory_args", "copy_texture_memory_args")
HAS_TUNER = importlib.util.find_spec("kernel_tuner") is not None
HAS_CLANG = any(os.access(os.path.join(folder, "clang-19"), os.X_OK) for folder in os.environ["PATH"].split(":")) and list(
    Path("/usr/lib").glob("*/amdgcn/bitcode/ocml.bc"))
pytestmark = pytest.mark.skipif(not HAS_CLANG, reason="no clang-19 or no device library")


def interface():
    """The modules that the back end imports, without Kernel Tuner."""
    backend = types.ModuleType("kernel_tuner.backends.backend")
    observer = types.ModuleType("kernel_tuner.observers.observer")

    def refresh_memory(self, memory, arguments, should_sync):
        for copy, argument, wanted in zip(memory, arguments, should_sync):
            if wanted:
                self.memcpy_htod(copy, argument)

    def register_device(self, device):
        self.dev = device
    backend.GPUBackend = abc.ABCMeta("GPUBackend", (), {**{name: abc.abstractmethod(lambda self: None) for name in METHODS},
                                                       "refresh_memory": refresh_memory})
    observer.BenchmarkObserver = type("BenchmarkObserver", (), {"register_device": register_device, "after_start": lambda self: None})
    return {"kernel_tuner": types.ModuleType("kernel_tuner"), "kernel_tuner.backends": types.ModuleType("kernel_tuner.backends"),
            "kernel_tuner.backends.backend": backend, "kernel_tuner.observers": types.ModuleType("kernel_tuner.observers"),
            "kernel_tuner.observers.observer": observer}


@pytest.fixture
def tuner(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where Kernel Tuner leaves sources that do not compile
    if not HAS_TUNER:
        for name, module in interface().items():
            monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.syspath_prepend(str(ROOT / "contrib/kernel-tuner"))
    monkeypatch.setenv("WAVEMEM", os.environ["WAVEMEM_COMMAND"])
    monkeypatch.delitem(sys.modules, "wavemem_kernel_tuner", raising=False)
    import wavemem_kernel_tuner
    yield wavemem_kernel_tuner
    sys.modules.pop("wavemem_kernel_tuner", None)


class Instance:  # of kernel_tuner.core.KernelInstance
    name = "scale"

    def __init__(self, **parameters):
        self.kernel_string = "".join(f"#define {key} {value}\n" for key, value in parameters.items()) + SCALE


def benchmark(device, function, memory, threads, grid):
    """DeviceInterface.benchmark_default()."""
    for _ in range(device.iterations):
        for observer in device.observers:
            observer.before_start()
        device.synchronize()
        device.start_event()
        device.run_kernel(function, memory, threads, grid)
        device.stop_event()
        for observer in device.observers:
            observer.after_start()
        assert device.kernel_finished()
        device.synchronize()
        for observer in device.observers:
            observer.after_finish()
    result = {}
    for observer in device.observers:
        result.update(observer.get_results())
    return result


def test_ranks(tuner):
    device = tuner.WavememFunctions(gpu="mi100", iterations=3)
    given = np.arange(COUNT, dtype=np.float32)
    arguments = [given, np.zeros_like(given), np.int32(COUNT)]
    memory = device.ready_argument_list(arguments)
    times = {}
    for coalesced in (0, 1):
        function = device.compile(Instance(COALESCED=coalesced, BLOCK=256, LDS=1))
        device.refresh_memory(memory, arguments, [False, True, False])
        threads, grid = (256, 1, 1), (COUNT // 256 // 8, 1, 1)
        device.run_kernel(function, memory, threads, grid)
        out = np.zeros_like(given)
        device.memcpy_dtoh(out, memory[1])
        assert (out == 2 * given).all()
        device.memset(memory[1], 0, out.nbytes)
        result = benchmark(device, function, memory, threads, grid)
        device.memcpy_dtoh(out, memory[1])
        assert (out == 2 * given).all()  # it ran again
        assert result["times"] == [result["time"]] * 3
        assert result["time"] > result["at_least"] > 0 and result["predicted_factor"] >= 1
        times[coalesced] = result["time"]
    # Neighbouring lanes 32 bytes apart load each line eight times as often.
    assert times[0] > 1.2 * times[1]


def test_failures(tuner):
    device = tuner.WavememFunctions(gpu="mi100", compiler_options=["-DBLOCK=64", "-O2"])
    with pytest.raises(Exception, match=r"local memory \(\d+\) exceeds limit \(\d+\)") as caught:  # as core.compile_kernel() looks for
        device.compile(Instance(COALESCED=0, LDS=1 << 20))
    assert caught.value.stderr
    with pytest.raises(Exception, match="undeclared"):
        device.compile(Instance(COALESCED=1, LDS="no_such_name"))
    function = device.compile(Instance(COALESCED=0, LDS=1))
    memory = device.ready_argument_list([np.zeros(64, np.float32), np.zeros(64, np.float32), np.int32(64)])
    device.copy_shared_memory_args({"size": 1 << 20})
    with pytest.raises(RuntimeError, match="OUT_OF_RESOURCES"):
        device.run_kernel(function, memory, (64, 1, 1), (1, 1, 1))
    with pytest.raises(NotImplementedError):
        device.copy_texture_memory_args({})
    with pytest.raises(Exception, match="gtx"):
        tuner.WavememFunctions(gpu="gtx1080")


@pytest.mark.skipif(not HAS_TUNER, reason="Kernel Tuner is not installed")
def test_kernel_tuner(tuner):
    import kernel_tuner
    given = np.arange(COUNT, dtype=np.float32)
    with tuner.simulated("mi100"):
        results, environment = kernel_tuner.tune_kernel(
            "scale", SCALE, COUNT, [given, np.zeros_like(given), np.int32(COUNT)], {"BLOCK": [128, 256], "COALESCED": [0, 1], "LDS": [1, 1 << 20]},
            lang="OpenCL", block_size_names=["BLOCK"], grid_div_x=["BLOCK", 8], answer=[None, 2 * given, None])
    assert environment["best_config"]["COALESCED"] == 1
    good = [result for result in results if "__error__" not in result]
    assert len(good) == 4 and all(result["LDS"] == 1 for result in good)
    from kernel_tuner.backends import opencl
    assert opencl.OpenCLFunctions.__module__ == "kernel_tuner.backends.opencl"
