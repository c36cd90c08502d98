#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares wavemem with PoCL on groups of kernels, and prints one line per kernel: the examples, then further ones,
then the unseen ones, those that nobody looked at when wavemem was made fast.

Kernels other than the examples (further/, unseen/), and all for another target or level, are compiled by
tests/kernel/compile.py when the benchmark runs, and left out if that has no compiler or device library.

Each kernel runs in its own process, alternately on both engines. The ratio is wavemem's median time divided by
PoCL's. PoCL reads its settings from the environment when it starts; for each kernel the faster of two
work-group methods is used. Each method has its own kernel cache, which is filled before measuring.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
METHODS = {"default": {}, "repl": {"POCL_WORK_GROUP_METHOD": "repl"}}
LEAST_SECONDS = 0.1  # of PoCL with one thread; below, start-up time would matter


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
        return f"{names[0]}, {len(names)} threads"
    except (OSError, IndexError):
        return "unknown CPU"


def compile_group(group, sources, folder, options):
    """Compiles a group's kernels to `folder`, and returns whether it could."""
    command = [sys.executable, os.path.join(HERE, "../tests/kernel/compile.py"), "-O", options.O, "-t", options.target, "--plain"]
    done = subprocess.run([*command, folder, *sources, "--", "true"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        if done.returncode != 77:
            print(f"cannot compile the {group} kernels for {options.target}: {done.stdout.strip()}", file=sys.stderr)
            sys.exit(2)
        print(f"no {group} kernels: {done.stdout.strip()}", file=sys.stderr)
        return False
    for source in sources:
        name = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
        shutil.copyfile(f"{name}-{options.version}.co", f"{name}.co")
    return True


class Bench:
    def __init__(self, options, folders, cache):
        self.options = options
        self.folders = folders  # of each kernel's source and code object
        self.cache = cache

    def run(self, name, threads, pairs, engines, method="default"):
        """Runs one process and returns its output; None: it failed, and printed the reason."""
        environment = dict(os.environ)
        environment.pop("POCL_WORK_GROUP_METHOD", None)
        environment.pop("POCL_KERNEL_CACHE", None)
        environment.update(METHODS[method])
        folder = os.path.join(self.cache, method)
        os.makedirs(folder, exist_ok=True)
        environment["POCL_CACHE_DIR"] = folder
        if threads:
            environment["POCL_MAX_PTHREAD_COUNT"] = str(threads)
        size = "small" if self.options.small else "bench"
        command = [self.options.program, name, size, *self.folders[name], str(threads), str(pairs), *engines]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode < 0:
            print(f"{name}: killed by signal {-done.returncode}", file=sys.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def faster_method(self, name, threads):
        """Returns PoCL's faster method; None: PoCL cannot run the kernel."""
        if self.options.small:
            return "default"
        best = None
        for method in METHODS:
            self.run(name, threads, 0, ["pocl", "unchecked"], method)  # fills the kernel cache
            result = self.run(name, threads, 3, ["pocl", "unchecked"], method)
            if result:
                seconds = statistics.median(result["pocl"]["seconds"])
                best = min(best or (seconds, method), (seconds, method))
        return best and best[1]

    def compare(self, threads, group, kernels):
        """Prints the table of a group of kernels for `threads` threads (0: all) and returns its rows."""
        rows = []
        title = f"{group}, {'1 thread' if threads == 1 else 'all threads'}"
        print(f"\n{title:20} {'wavemem ms':>11} {'PoCL ms':>9} {'ratio':>6}  {'PoCL method':11} {'M wave-instr/s':>14}")
        for name in kernels:
            method = self.faster_method(name, threads) if self.options.peer else None
            engines = ["wavemem", "pocl"] if method else ["wavemem"]
            result = self.run(name, threads, self.options.pairs, engines, method or "default")
            if not result:
                print(f"{name:20} {'failed':>11}", flush=True)
                rows.append({"name": name, "group": group, "threads": threads, "failed": True})
                continue
            rows.append({"group": group, **self.row(result, method)})
            print(self.line(rows[-1]), flush=True)
        ratios = [row["ratio"] for row in rows if row.get("ratio")]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"{'geometric mean':20} {'':11} {'':9} {mean:6.2f}  of {len(ratios)} kernels")
        return rows

    @staticmethod
    def row(result, method):
        wavemem = statistics.median(result["wavemem"]["seconds"])
        row = {"name": result["name"], "threads": result["threads"], "wavemem": wavemem, "method": method}
        row["rate"] = result["wavemem"]["wave_instructions"] * result["repeats"] / wavemem if wavemem else 0
        if method:
            row["pocl"] = statistics.median(result["pocl"]["seconds"])
            row["ratio"] = wavemem / row["pocl"] if row["pocl"] else None
        return row

    def line(self, row):
        text = f"{row['name']:20} {row['wavemem'] * 1e3:11.1f}"
        if row.get("pocl") is None:
            return f"{text} {'-':>9} {'-':>6}  {'-':11} {row['rate'] / 1e6:14.1f}"
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"  # too short for the clock
        text += f" {row['pocl'] * 1e3:9.1f} {ratio:>6}  {row['method']:11} {row['rate'] / 1e6:14.1f}"
        if row["threads"] == 1 and row["pocl"] < LEAST_SECONDS and not self.options.small:
            text += f"  (PoCL needs less than {LEAST_SECONDS * 1e3:.0f} ms: size too small)"
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built bench-kernels")
    parser.add_argument("examples", help="the folder of the example kernels")
    parser.add_argument("objects", help="the folder for code objects of the other kernels")
    parser.add_argument("kernels", nargs="*", help="only these; all by default")
    parser.add_argument("--threads", type=int, action="append", help="1 and 0, which means all, by default")
    parser.add_argument("--pairs", type=int, help="timed runs of each engine (default: 5, with --small 1)")
    parser.add_argument("--small", action="store_true", default=bool(os.environ.get("WAVEMEM_BENCH_SMALL")),
                        help="the tests' sizes: checks, but measures nothing (also WAVEMEM_BENCH_SMALL in the environment)")
    parser.add_argument("--target", default="gfx900", help="compile the kernels for this one (default: gfx900)")
    parser.add_argument("-O", choices="0123", default="3", help="and at this level (default: 3)")
    parser.add_argument("--no-peer", dest="peer", action="store_false", help="wavemem alone")
    parser.add_argument("--json", help="write the rows to this file as well")
    options = parser.parse_intermixed_args()
    options.version = f"{options.target}-O{options.O}"
    options.pairs = options.pairs or (1 if options.small else 5)
    options.threads = options.threads or ([1] if options.small else [1, 0])

    listed = subprocess.run([options.program, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    engines, *lines = listed
    workloads = {group: [word.split("=") for word in words.split()] for group, words in (line.split(":") for line in lines)}
    groups = {group: [name for name, _ in kernels] for group, kernels in workloads.items()}
    files = {name: file for kernels in workloads.values() for name, file in kernels}
    if "pocl" not in engines.split():
        print("built without OpenCL: wavemem alone", file=sys.stderr)
        options.peer = False
    everything = sum(groups.values(), [])
    unknown = [name for name in options.kernels if name not in everything]
    if unknown:
        parser.error(f"no workload '{unknown[0]}'; expected {', '.join(everything)}")
    if options.kernels:
        groups = {group: [name for name in kernels if name in options.kernels] for group, kernels in groups.items()}
    folders = {}
    for group, kernels in groups.items():
        source = options.examples if group == "examples" else os.path.join(HERE, group)
        place = (source, os.path.join(options.objects, group, options.version))
        if (group, options.version) == ("examples", "gfx900-O3"):
            place = (source, os.path.join(source, "gfx900"))  # they are built
        elif kernels:
            sources = sorted({os.path.join(source, f"{files[name]}.cl") for name in kernels})
            if not compile_group(group, sources, place[1], options):
                kernels.clear()
        folders.update((name, place) for name in kernels)

    print(cpu_name())
    with tempfile.TemporaryDirectory(prefix="wavemem-bench-") as cache:
        bench = Bench(options, folders, cache)
        rows = [row for threads in options.threads for group, kernels in groups.items() if kernels
                for row in bench.compare(threads, group, kernels)]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"cpu": cpu_name(), "rows": rows}, file, indent=1)
    return 1 if any(row.get("failed") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
