# SPDX-License-Identifier: MIT
"""Who watches a launch: the profile, checks of waits and hazards, fidelity; and the products that are modelled."""
from __future__ import annotations

import contextlib
import functools
import html
import operator
import threading
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import BadArgument
from ._library import (Owned, c_path, c_text, call, data_of, error_of, ffi, frame, lib, names, number, plain, table, text,
                       value_of)
from ._module import Source, _given

LEVELS = tuple(name for name in names("wm_cache_level").values() if name != "levels")
"""The names of the cache levels, in the order of the arrays [6]: "vector", "gl1", "scalar", "instruction", "l2", "last"."""


class Gpu:
    """A GPU product and its parameters, as attributes with the names of struct wm_gpu: `Gpu("mi210").compute_units`.

    `cache` is a dict from level ("l2") to a dict with bytes, line, ways, channels, sharing and clock_bytes. The command
    `wavemem prof --gpu` knows the same names. Raises NotFound, whose message lists all names.
    """

    def __init__(self, name: str) -> None:
        found = ffi.new("struct wm_gpu **")
        call(lib.wm_gpu_find, c_text(name, "name"), found)
        self._c = ffi.new("struct wm_gpu *", found[0][0])  # its strings are static

    @classmethod
    def _of(cls, c: Any) -> Gpu:
        self = cls.__new__(cls)
        self._c = ffi.new("struct wm_gpu *", c[0])
        return self

    @classmethod
    def default(cls, target: str) -> Optional[Gpu]:
        """The default product of a target; None: none is known."""
        c = lib.wm_gpu_default(c_text(target, "target"))
        return cls._of(c) if c else None

    @property
    def cache(self) -> Dict[str, Dict[str, int]]:
        return {level: {name: getattr(self._c.cache[i], name) for name, _ in ffi.typeof("struct wm_cache").fields}
                for i, level in enumerate(LEVELS)}

    def __getattr__(self, name: str) -> Any:
        types = dict(ffi.typeof("struct wm_gpu").fields)
        if name not in types:
            raise AttributeError(f"a Gpu has no attribute '{name}'; it has {', '.join(types)}")
        return plain(getattr(self._c, name), types[name].type)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *(name for name, _ in ffi.typeof("struct wm_gpu").fields)]

    def replace(self, cache: Optional[Dict[str, Dict[str, int]]] = None, **numbers: float) -> Gpu:
        """A copy with other numbers: `gpu.replace(clock_mhz=1200, cache={"l2": {"bytes": 16 << 20}})`.

        Raises BadArgument for a name that is none; Profile() raises it for numbers that cannot be modelled.
        """
        result = self._of(self._c)
        try:
            for name, value in numbers.items():
                if isinstance(getattr(self, name), (str, type(None))):
                    raise BadArgument(f"'{name}' of a Gpu is not a number")
                setattr(result._c, name, value)
            for level, changes in (cache or {}).items():
                if level not in LEVELS:
                    raise BadArgument(f"no cache level {level!r}; expected one of {', '.join(LEVELS)}")
                for name, value in changes.items():
                    setattr(result._c.cache[LEVELS.index(level)], name, value)
        except (AttributeError, TypeError, OverflowError) as error:
            raise BadArgument(str(error)) from None
        return result

    def __repr__(self) -> str:
        return f"<wavemem.Gpu {self.name!r}, {self.title}>"


def gpus() -> List[Gpu]:
    """The known products in the order of their targets; the first product of a target is its default."""
    count = ffi.new("size_t *")
    all_ = lib.wm_gpus(count)
    return [Gpu._of(all_ + i) for i in range(count[0])]


class _Watcher:
    """Owns a C object that watches dispatches, one at a time."""

    _of: str
    _destroy: Any

    _owned: Optional[Owned] = None

    def __init__(self, pointer: Any) -> None:
        self._owned = Owned(pointer, self._destroy)
        self._lock = threading.Lock()

    @property
    def _pointer(self) -> Any:
        return None if self._owned is None else self._owned.pointer

    @contextlib.contextmanager
    def _used(self) -> Iterator[Any]:
        if not self._lock.acquire(blocking=False):
            raise BadArgument(f"the {self._of} is in use by a dispatch")
        owned = self._owned
        try:
            if owned is None:
                raise BadArgument(f"the {self._of} is closed")
            owned.claim()
            try:
                yield owned.pointer
            finally:
                owned.release()
        finally:
            self._lock.release()

    def close(self) -> None:
        """Frees it; what its methods returned stays valid. Closing twice is fine."""
        if self._owned is not None:
            with self._used():
                owned, self._owned = self._owned, None
                owned.release()

    def __del__(self) -> None:
        owned, self._owned = self._owned, None
        if owned is not None:
            owned.release()

    def __enter__(self) -> Any:
        with self._used():
            return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _table(self, function: Any) -> np.ndarray:
        with self._used() as pointer:
            count = ffi.new("size_t *")
            first = function(pointer, count)
            return table(first, count[0])


def _destroy_check(machine: Owned, pointer: Any) -> None:
    lib.wm_check_destroy(pointer)
    machine.release()


class Check(_Watcher):
    """Checks dispatches for errors that the hardware lets pass; docs/checking.md describes the classes of findings.

    classes: names of what to check, of Check.known(); None: all of them but "float".
    waits, hazards: without classes, only these two: registers that are used before the wait counters guarantee that
        their data has arrived; instructions that are closer together than the target requires.
    origins: of class "uninit", reports values where something depends on them, and where they come from, instead of loads.
    strict: of class "race", reports also what is right only by what the target guarantees beyond the memory model.
    needless: of class "wait", reports also waits that were needless whenever they were executed.
    shuffle: seeds, numbers above 0; each dispatch is repeated for each of them with its workgroups and waves in another
        order, and the first difference in the results is reported, as class "portability".
    machine: shows the check the machine's memory. Create the check before the first allocation: what is there already
        counts as allocated and written. The machine then lives as long as the check.
    """

    _of = "check"
    _destroy = lib.wm_check_destroy

    def __init__(self, classes: Optional[Iterable[str]] = None, *, waits: Optional[bool] = None, hazards: Optional[bool] = None,
                 origins: bool = False, strict: bool = False, needless: bool = False, shuffle: Sequence[int] = (),
                 machine: Any = None) -> None:
        result = ffi.new("struct wm_check **")
        known = self._bits()
        if classes is None and (waits is not None or hazards is not None):
            classes = [name for name, wanted in (("wait", waits), ("hazard", hazards)) if wanted or wanted is None]
        names = [name for name in known if name != "float"] if classes is None else list(classes)
        for name in names:
            if name not in known:
                raise ValueError(f"{name!r} is no class of findings; expected some of {', '.join(known)}")
        bits = functools.reduce(operator.or_, (known[name] for name in names), lib.WM_CHECK_PORTABILITY if len(shuffle) else 0)
        for name, given, of in (("origins", origins, "uninit"), ("strict", strict, "race"), ("needless", needless, "wait")):
            if given and of not in names:
                raise ValueError(f"{name} is about the class {of!r}, which the others leave out")
            bits |= value_of("wm_check_what", name, "what") if given else 0
        seeds = ffi.new("uint64_t[]", [number(one, "a seed", 1 << 64) for one in shuffle])
        call(lib.wm_check_create, bits, result)
        native = None if machine is None else machine._open
        if native is not None:  # the machine must outlive the check
            native.owned.claim()
            self._destroy = functools.partial(_destroy_check, native.owned)
        super().__init__(result[0])
        if native is not None:
            with self._used() as pointer:
                call(lib.wm_check_machine, pointer, native.pointer)
        if len(seeds):
            with self._used() as pointer:
                call(lib.wm_check_shuffle, pointer, seeds, len(seeds))

    @staticmethod
    def _bits() -> Dict[str, int]:
        bits = (1 << i for i in range(32) if lib.wm_check_known() & 1 << i)
        named = ((ffi.string(lib.wm_check_class_name(bit)).decode(), bit) for bit in bits)
        return {name: bit for name, bit in named if name}

    @classmethod
    def known(cls) -> Tuple[str, ...]:
        """The classes that this version has."""
        return tuple(cls._bits())

    @classmethod
    def limits(cls) -> Dict[str, str]:
        """What the method of each class cannot see."""
        return {name: ffi.string(lib.wm_check_class_limits(bit)).decode() for name, bit in cls._bits().items()}

    def findings(self) -> np.ndarray:
        """One row for each violated rule at each instruction, in the order of addresses: a structured array [findings].

        Fields: rule, message, source (document), kernel, text (instruction), file, line, column, pc, offset (bytes),
        first_pc (the earlier instruction), count (executions of waves), and all others of struct wm_finding: of a needless
        wait, distance is 1 + the fewest instructions to the later wait, first_pc, or 0 if nothing was on its way. Texts are
        str or None.
        """
        return self._table(lib.wm_check_findings)

    def coverage(self) -> np.ndarray:
        """One row for each kernel that ran: launches, workgroups, waves, instructions, accesses (struct wm_coverage)."""
        return self._table(lib.wm_check_coverage)

    def blocks(self, row: int) -> np.ndarray:
        """The code that row `row` of coverage() counts, in the order of addresses: a structured array of blocks without a
        branch or a branch target between their ends: from and to (guest addresses), instructions, executed (1: by some wave).
        """
        if not 0 <= row < len(self.coverage()):
            raise IndexError(f"coverage() has {len(self.coverage())} rows, and not number {row}")
        return self._table(lambda pointer, count: lib.wm_check_blocks(pointer, row, count))

    def leaks(self) -> None:
        """Adds a finding (rule "leak") for each allocation of the machine that was made since the check began and has not been
        freed. Call it once, when everything should have been freed. Raises BadArgument without `machine` or class "memory"."""
        with self._used() as pointer:
            call(lib.wm_check_leaks, pointer)

    def dataframe(self) -> Any:
        """findings() as a pandas.DataFrame. Raises ImportError without pandas."""
        return frame(self.findings())


class Fidelity(_Watcher):
    """Counts the executed instructions, and says of each how exactly wavemem models it."""

    _of = "fidelity"
    _destroy = lib.wm_fidelity_destroy

    def __init__(self) -> None:
        result = ffi.new("struct wm_fidelity **")
        call(lib.wm_fidelity_create, result)
        super().__init__(result[0])

    def rows(self) -> np.ndarray:
        """A structured array [rows]: unverified instructions first, then approximate and exact ones.

        Fields: name, grade ("exact", "approx", "unverified"), remark, executions (of waves).
        """
        return self._table(lib.wm_fidelity_rows)

    def dataframe(self) -> Any:
        """rows() as a pandas.DataFrame. Raises ImportError without pandas."""
        return frame(self.rows())

    @staticmethod
    def general() -> List[str]:
        """Remarks about unverified behaviour that many instructions share."""
        first = lib.wm_fidelity_general()
        result: List[str] = []
        while first[len(result)]:
            result.append(text(first[len(result)]))
        return result


class Profile(_Watcher):
    """Measures the memory instructions of the launches that it is given to.

    gpu: the product whose caches are modelled, a Gpu or its name; None: the default of the first launch's target.
    sample: observes one in `sample` rounds of workgroups; all are executed.
    keep_l2: L2 keeps its contents from one launch to the next; else it is written back and empty after each.
    trace: records everything in this file, which end_trace() or close() completes; `wavemem replay FILE` and
        Profile.replay() read it.

    Raises NotFound (no such product), BadArgument (it cannot be modelled).
    """

    _of = "profile"
    _destroy = lib.wm_profile_destroy

    def __init__(self, gpu: Union[str, Gpu, None] = None, sample: int = 1, trace: Any = None, keep_l2: bool = False) -> None:
        result = ffi.new("struct wm_profile **")
        call(lib.wm_profile_create, result)
        super().__init__(result[0])
        self._traces = False
        if gpu is not None:
            gpu = Gpu(gpu) if isinstance(gpu, str) else gpu
            if not isinstance(gpu, Gpu):
                raise BadArgument(f"gpu is of type {type(gpu).__name__}; expected a wavemem.Gpu or its name")
            call(lib.wm_profile_set_gpu, self._pointer, gpu._c)
        if sample != 1:
            call(lib.wm_profile_set_sample, self._pointer, number(sample, "sample", 1 << 32))
        if keep_l2:
            call(lib.wm_profile_keep_l2, self._pointer)
        if trace is not None:
            call(lib.wm_profile_trace, self._pointer, c_path(trace))
            self._traces = True

    @classmethod
    def replay(cls, trace: Source, gpu: Union[str, Gpu, None] = None) -> Profile:
        """The profile of a trace, a path or bytes, without executing the kernels again; also for another product.

        Raises BadFile, BadArgument (a product of another generation), Unsupported (another version of traces).
        """
        name = str(trace) if _given(trace) else "trace"
        if _given(trace):
            try:
                trace = Path(trace).read_bytes()  # type: ignore[arg-type]
            except OSError as error:
                raise error_of(lib.WM_IO, str(error)) from error
        data = data_of(trace, "trace")
        self = cls(gpu)
        call(lib.wm_profile_replay, self._pointer, ffi.from_buffer(data), len(data), c_text(name, "name"))
        return self

    @classmethod
    def compare(cls, trace: Source, gpus: Sequence[Union[str, Gpu]]) -> np.ndarray:
        """The predicted times of a trace's kernels on several products: a structured array, for each product in order its
        kernels in the order of their addresses.

        Fields: gpu (name), kernel, predicted (seconds; 0: unknown), factor (two thirds of measured times were within
        predicted / factor and predicted * factor), takes_longest (the part that the prediction is bound by), at_least
        (seconds, the lower bound), bound_by (its part), verdict, place, change and predicted_after of the best finding.
        Texts are str or None. Raises as replay().
        """
        rows: List[Tuple[Any, ...]] = []
        for gpu in gpus:
            with cls.replay(trace, gpu) as profile:
                found = profile.findings()
                with profile._used() as pointer:
                    count = ffi.new("size_t *")
                    first = lib.wm_profile_kernels(pointer, count)
                    for kernel in (first[i] for i in range(count[0])):
                        predicted, least = kernel.predicted, kernel.binds
                        best = next((one for one in found if one["pc"] == kernel.pc), None)
                        fix = best[["verdict", "place", "change", "predicted_after"]] if best is not None else (None, None, None, 0)
                        rows.append((text(kernel.gpu.name) if kernel.gpu else None, text(kernel.kernel),
                                     predicted.seconds, predicted.factor,
                                     text(predicted.part[0].name) if predicted.parts else None,
                                     least.seconds if least else 0, text(least.name) if least else None, *fix))
        return np.array(rows, [("gpu", "O"), ("kernel", "O"), ("predicted", "f8"), ("factor", "f8"), ("takes_longest", "O"),
                               ("at_least", "f8"), ("bound_by", "O"), ("verdict", "O"), ("place", "O"), ("change", "O"),
                               ("predicted_after", "f8")])

    def end_trace(self) -> None:
        """Completes the trace file. Raises InputOutput, NoMemory: then no file remains."""
        with self._used() as pointer:
            self._traces = False
            call(lib.wm_profile_end_trace, pointer)

    def close(self) -> None:
        """Completes the trace file, if there is one, and frees the profile. Closing twice is fine."""
        try:
            if self._pointer is not None and self._traces:
                self.end_trace()
        finally:
            super().close()

    def __exit__(self, kind: Any = None, *_: object) -> None:
        if kind is not None:
            self._traces = False  # what follows from an exception is not worth keeping
        self.close()

    def rows(self) -> np.ndarray:
        """The memory instructions in the order of their addresses: a structured array [rows].

        The fields are those of struct wm_profile_row (include/wavemem/profile.h), all counts summed over executions of
        waves: kernel, text, path, operation, file, line, pc, offset, executions, lanes, bytes (per lane), lines,
        ideal_lines, address_clocks, lds_passes, lds_conflicts, cache [6] with requests, hits and bytes per level of
        LEVELS, memory_read and memory_written (bytes of DRAM), limit, share, waits, advice, ... Texts are str or None.
        """
        return self._table(lib.wm_profile_rows)

    def findings(self) -> np.ndarray:
        """What makes kernels slower than they could be: a structured array [findings], kernels in the order of their
        addresses and of each the largest gain first.

        Fields: kernel, pc (of its entry), cause ("bank-conflicts"), verdict, place ("reduce.cl:12"), file and line if it
        is one line, numbers, change (what to do), row_count (instructions), now and after (bounds of the kernel: name of
        the part, clocks, seconds), predicted and predicted_after (predicted times, seconds; 0: unknown) and gain (1 - after /
        now, of the bound or of the predicted time, whichever is more). Texts are str or None.
        """
        return self._table(lib.wm_profile_findings)

    def kernels(self) -> np.ndarray:
        """The kernels in the order of their addresses: a structured array [kernels] with the fields of struct
        wm_profile_kernel: dispatches, workgroups, waves, instructions, occupancy, fetches, memory_read ... The first
        `caches` entries of `cache` and the first `bounds` of `bound` are set; see caches() and bounds()."""
        return self._table(lib.wm_profile_kernels)

    def dispatches(self) -> np.ndarray:
        """The observed dispatches in order: kernel, target, grid [3], workgroup [3] (work-items)."""
        return self._table(lib.wm_profile_dispatches)

    def _parts(self, field: str, count: str) -> np.ndarray:
        kernels = self.kernels()
        parts = [(kernel["kernel"], one) for kernel in kernels for one in kernel[field][: kernel[count]]]
        inner = kernels.dtype[field].base
        result = np.zeros(len(parts), [("kernel", "O"), *((name, inner[name]) for name in inner.names)])
        for i, (kernel, one) in enumerate(parts):
            result[i] = (kernel, *one)
        return result

    def caches(self) -> np.ndarray:
        """A row for each kernel and cache level: kernel, name ("L2"), level, instances, and read, write and atomic with
        requests, hits and bytes."""
        return self._parts("cache", "caches")

    def bounds(self) -> np.ndarray:
        """A row for each kernel and part of the GPU: kernel, name, clocks and seconds that it needs at least, arithmetic.
        The longest of a kernel is a lower bound of its time."""
        return self._parts("bound", "bounds")

    def binding(self) -> Dict[str, str]:
        """The part that bounds each kernel: {"transpose_naive": "L2"}. Kernels without a product are absent."""
        with self._used() as pointer:
            count = ffi.new("size_t *")
            first = lib.wm_profile_kernels(pointer, count)
            return {text(first[i].kernel): text(first[i].binds.name) for i in range(count[0]) if first[i].binds}

    def waves(self) -> List[Optional[Tuple[np.ndarray, int, int, bool]]]:
        """For each row, one recorded execution: addresses uint64 [64], bit mask of lanes, bytes per lane, whether the
        addresses are LDS offsets; None: no execution accessed memory."""
        with self._used() as pointer:
            count = ffi.new("size_t *")
            first = lib.wm_profile_rows(pointer, count)
            return [(np.frombuffer(ffi.buffer(wave.address), np.uint64).copy(), wave.lanes, wave.bytes, wave.in_lds)
                    if wave else None for wave in (first[i].wave for i in range(count[0]))]

    def line_histograms(self) -> np.ndarray:
        """uint64 [rows, 64]: [i, n] is the number of executions of row i that accessed n cache lines; n = 63: or more."""
        with self._used() as pointer:
            count = ffi.new("size_t *")
            first = lib.wm_profile_rows(pointer, count)
            result = np.zeros((count[0], lib.WM_PROFILE_LINES), np.uint64)
            for i in range(count[0]):
                if first[i].lines_histogram:
                    result[i] = np.frombuffer(ffi.buffer(first[i].lines_histogram, result[i].nbytes), np.uint64)
            return result

    def dataframe(self) -> Any:
        """rows() as a pandas.DataFrame with efficiency and flat columns: cache[4]["hits"] is "l2_hits".

        Raises ImportError without pandas.
        """
        rows = self.rows()
        result = frame(rows)
        result.insert(0, "efficiency", efficiency(rows))
        return result

    def add_source(self, name: str, content: str) -> None:
        """Adds the text of a source file that rows refer to, to the profile and its trace."""
        with self._used() as pointer:
            call(lib.wm_profile_add_source, pointer, c_text(name, "name"), c_text(content, "content"))

    def source(self, name: str) -> Optional[str]:
        """The text of a source file that was added or is in the replayed trace; None: none."""
        with self._used() as pointer:
            return text(lib.wm_profile_source(pointer, c_text(name, "name")))

    def table(self) -> str:
        """The rows with their costs as plain text."""
        cells = [HEADS, *map(_cells, self.rows())]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.ljust(width) if i >= len(HEADS) - 2 else cell.rjust(width)
                                   for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in cells)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<wavemem.Profile, {'closed' if self._pointer is None else f'{len(self.rows())} rows'}>"

    def _repr_html_(self) -> Optional[str]:
        """For notebooks: the rows with their costs, and the findings."""
        if self._pointer is None:
            return None
        rows = self.rows()
        head = "".join(f"<th>{one}</th>" for one in HEADS)
        body = ""
        for row in rows:
            cells = _cells(row)
            body += "<tr>" + "".join(
                f'<td style="text-align:{"left" if i >= len(HEADS) - 2 else "right"}">{html.escape(cell)}</td>'
                for i, cell in enumerate(cells)) + "</tr>"
        advice = "".join(f"<li>{html.escape('%s (%s): %s; %s' % tuple(one[['verdict', 'place', 'numbers', 'change']]))}</li>"
                         for one in self.findings())
        bounds = "".join(f"<p>{html.escape(kernel)}: bound by {html.escape(part)}</p>"
                         for kernel, part in self.binding().items())
        return (f"{bounds}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                f"{f'<ul>{advice}</ul>' if advice else ''}<p>The page with drawings, sources and listings: record a trace "
                "(<code>Profile(trace='t')</code>), then <code>wavemem replay t --html report.html</code>.</p>")


HEADS = ("share", "efficiency", "runs", "lanes", "bytes", "lines", "ideal", "conflicts", "limit", "source", "instruction")


def efficiency(rows: np.ndarray) -> np.ndarray:
    """float64 [rows]: ideal / accessed cache lines; nan for LDS and for rows without accesses."""
    lines = rows["lines"].astype(float)
    return np.divide(rows["ideal_lines"], lines, out=np.full(len(rows), np.nan), where=(lines > 0) & rows["has_lines"])


def _cells(row: Any) -> Tuple[str, ...]:
    runs = int(row["executions"])
    source = f"{row['file'].rsplit('/', 1)[-1]}:{row['line']}" if row["file"] else f"{row['kernel']}+{row['offset']:#x}"
    return (f"{100 * row['share']:.1f}%" if row["has_share"] else "-",
            f"{100 * row['ideal_lines'] / row['lines']:.1f}%" if row["has_lines"] and row["lines"] else "-",
            str(runs), f"{row['lanes'] / runs:.1f}" if runs else "-", str(row["bytes"]),
            str(row["lines"]) if row["has_lines"] else "-", str(row["ideal_lines"]) if row["has_lines"] else "-",
            f"{row['lds_conflicts'] / runs:.1f}" if row["has_lds"] and runs else "-",
            row["limit"] or "-", source, row["text"])
