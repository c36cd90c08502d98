# SPDX-License-Identifier: MIT
"""wavemem executes the machine code of AMD GPU kernels on an ordinary CPU and shows what it does to memory.

    import numpy as np
    import wavemem

    with wavemem.Machine("gfx900") as machine:
        vecadd = machine.load("vecadd.co").kernel()
        a, b, c = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
        profile = wavemem.Profile()
        vecadd(a, b, c, 1000, grid=1024, workgroup=256, profile=profile)
        assert (c == a + b).all()
        print(profile)

Machine, Module: guest memory, launches, code objects. Image, Sampler, Texture: arguments of kernels. Run, Queue: breakpoints and registers; launches in the background.
Profile, Check, Fidelity, Observer, AccessLog: who watches a launch. assemble, disassemble, decode, describe: instructions.
decode_descriptor, encode_descriptor, explain_buffer, load_format, store_format, explain_address, TessLayout: explanations. Error and its
subclasses, Fault: what goes wrong. Surface: tiled images.
"""
from ._arguments import Local
from ._errors import (BadArgument, BadFile, Error, Fault, InputOutput, NoMemory, NotFound, OutOfRange, Unsupported)
from ._explain import (AddressAnswer, AddressElement, BufferAnswer, Component, Descriptor, Field, FormatAnswer,
                       decode_descriptor, encode_descriptor, explain_address, explain_buffer, load_format, store_format)
from ._images import Image, Sampler, Texture
from ._isa import (AssemblerWarning, Description, Disassembled, Instruction, Operand, assemble, decode, describe, disassemble,
                   row_count, target_known, targets, wait_counters)
from ._library import version as __version__
from ._launch import Dependence, Kernel, Result, Stale
from ._machine import Machine, Program
from ._memory import Allocation, Buffer
from ._module import Argument, BundleEntry, KernelInfo, Line, Module, Section, bundle_entries
from ._observe import (Access, AccessLog, Barrier, CacheControl, Event, Export, Extent, Memory, Message, Observer, Place, Registers,
                       lanes_of)
from ._profile import LEVELS, Check, Fidelity, Gpu, Profile, efficiency, gpus
from ._queue import Queue, Ticket
from ._run import Run, Stopped
from ._start import Start
from ._surface import Surface, SurfaceLevel, SurfaceSteps
from ._tess import TessLayout, TessLines, TessPlace

__all__ = [name for name in dir() if not name.startswith("_")] + ["__version__"]
