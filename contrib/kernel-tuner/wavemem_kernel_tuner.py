# SPDX-License-Identifier: MIT
"""A back end of Kernel Tuner that ranks variants by the time that wavemem predicts for an AMD GPU, without one.

    import kernel_tuner, wavemem_kernel_tuner
    with wavemem_kernel_tuner.simulated("mi210"):
        results, environment = kernel_tuner.tune_kernel("saxpy", "saxpy.cl", n, arguments, tune_params, lang="OpenCL")

Inside, the languages OpenCL and HIP run on the simulated GPU. Kernels are executed, so outputs are verified as on a GPU.
"time" is predicted, in milliseconds, and the same in every iteration.
"""
import contextlib
import os
import subprocess
import tempfile

import numpy as np
import wavemem
from kernel_tuner.backends.backend import GPUBackend
from kernel_tuner.observers.observer import BenchmarkObserver


class CompileError(Exception):
    """Kernel Tuner reads `stderr`, and skips configurations that need too much LDS."""

    def __init__(self, stderr):
        super().__init__(stderr)
        self.stderr = stderr


class PredictedTime(BenchmarkObserver):
    """Adds what the prediction says: the time, what takes longest, the factor of its error, and the lower bound."""

    def __init__(self, backend):
        self.backend = backend
        self.times = []

    def before_start(self):
        pass

    def after_finish(self):
        self.times.append(self.backend.predicted["time"])

    def get_results(self):
        results = {**self.backend.predicted, "time": float(np.average(self.times)), "times": self.times}
        self.times = []
        return results


class WavememFunctions(GPUBackend):
    """The functions of a device. `gpu` names the product, `language` is "OpenCL" or "HIP"."""

    units = {"time": "ms"}

    def __init__(self, device=0, iterations=7, compiler_options=None, observers=None, platform=0, *, gpu="mi210", language="OpenCL",
                 command=None):
        # device and platform choose between GPUs that there are not.
        self.gpu = wavemem.Gpu(gpu)
        self.target = self.gpu.targets.split(",")[0].split()[0]
        self.machine = wavemem.Machine(self.target)
        self.suffix = {"OpenCL": ".cl", "HIP": ".hip"}[language]
        self.command = command or os.environ.get("WAVEMEM", "wavemem")
        self.compiler_options = list(compiler_options or [])
        self.iterations = iterations
        self.max_threads = 1024
        self.name = f"{self.gpu.title} (wavemem: times are predicted)"
        self.env = {"device_name": self.gpu.title, "wavemem": "times are predicted", "iterations": iterations,
                    "compiler_options": compiler_options}
        self.program = None
        self.dynamic_lds = 0
        self.predicted = {}
        self.measured = None  # the launch that `predicted` is about
        self.observers = list(observers or []) + [PredictedTime(self)]
        for observer in self.observers:
            observer.register_device(self)

    # ---- memory ----

    def ready_argument_list(self, arguments):
        return [self.machine.allocate(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]

    def memset(self, allocation, value, size):
        self.measured = None
        allocation.write(bytes([value & 0xff]) * size)

    def memcpy_dtoh(self, dest, src):
        if isinstance(src, wavemem.Buffer):
            dest.ravel()[:] = np.frombuffer(src.read(dest.nbytes), dest.dtype)

    def memcpy_htod(self, dest, src):
        self.measured = None
        if isinstance(dest, wavemem.Buffer):
            dest.write(np.ascontiguousarray(src))

    def copy_constant_memory_args(self, cmem_args):
        for name, value in cmem_args.items():
            self.program.symbol(name).write(np.ascontiguousarray(value))

    def copy_shared_memory_args(self, smem_args):
        self.dynamic_lds = int(smem_args["size"])

    def copy_texture_memory_args(self, texmem_args):
        raise NotImplementedError("wavemem_kernel_tuner: textures are not supported")

    # ---- kernels ----

    def _options(self):
        """Macros and folders as they are; other options one by one."""
        return [option if option[:2] in ("-D", "-I", "-O") else f"--compile-option={option}" for option in self.compiler_options]

    def compile(self, kernel_instance):
        self.dynamic_lds = 0
        self.measured = None
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "kernel" + self.suffix), os.path.join(folder, "kernel.co")
            with open(source, "w", encoding="utf-8") as file:
                file.write(kernel_instance.kernel_string)
            done = subprocess.run([self.command, "compile", source, "-m", self.target, "-o", target, *self._options()],
                                  stderr=subprocess.PIPE, encoding="utf-8", check=False)
            if done.returncode:
                raise CompileError(done.stderr)
            self.program = self.machine.load(target)
        return self.program.kernel(kernel_instance.name)

    def run_kernel(self, func, gpu_args, threads, grid, stream=None):
        """Iterations of a benchmark repeat a launch, whose prediction is the same."""
        launch = (func, tuple(threads), tuple(grid), self.dynamic_lds)
        if self.measured == launch:
            return
        size = [int(count) * int(items) for count, items in zip(grid, threads)]
        with wavemem.Profile(self.gpu) as profile:
            try:
                func(*gpu_args, grid=size, workgroup=[int(items) for items in threads], dynamic_lds=self.dynamic_lds, profile=profile)
            except wavemem.BadArgument as error:
                if "LDS" in str(error) or "workgroup" in str(error):
                    raise RuntimeError(f"OUT_OF_RESOURCES: {error}") from error
                raise
            kernel = profile.kernels()[0]
            predicted, bound = kernel["predicted"], kernel["bound"][:kernel["bounds"]]
            self.predicted = {
                "time": float(predicted["seconds"]) * 1e3,
                "predicted_factor": float(predicted["factor"]),
                "predicted_bound_by": str(predicted["part"][0]["name"]),
                "at_least": float(max(bound["seconds"])) * 1e3,
            }
        self.measured = launch

    def start_event(self):
        pass

    def stop_event(self):
        pass

    def kernel_finished(self):
        return True

    def synchronize(self):
        pass


@contextlib.contextmanager
def simulated(gpu="mi210", command=None):
    """Lets Kernel Tuner use the simulated GPU for OpenCL and HIP. command: wavemem's, by default that of WAVEMEM or PATH."""
    import kernel_tuner.backends.hip as hip
    import kernel_tuner.backends.opencl as opencl

    def backend(language):
        class Functions(WavememFunctions):
            def __init__(self, *arguments, **named):
                super().__init__(*arguments, **named, gpu=gpu, language=language, command=command)
        return Functions

    before = opencl.OpenCLFunctions, hip.HipFunctions
    opencl.OpenCLFunctions, hip.HipFunctions = backend("OpenCL"), backend("HIP")
    try:
        yield
    finally:
        opencl.OpenCLFunctions, hip.HipFunctions = before
