# SPDX-License-Identifier: MIT
"""Summarizes Meson's testlog.json files: a line per log, the names of failed tests, then a line with the totals.

usage: python3 dev/summary.py [--stages PASSED FAILED] LOG...

Stages are parts of a run besides these tests (builds, layout, fuzzers); each counts as one test.

Exits with 1 if a test failed, or if a log is missing or empty.
"""
import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def main(paths):
    total = [0, 0, 0]
    if paths[:1] == ["--stages"]:
        total = [int(paths[1]), int(paths[2]), 0]
        print("stages: " + line(total))
        paths = paths[3:]
    broken = not paths
    for path in paths:
        counts = [0, 0, 0]
        failures = []
        try:
            with open(path, encoding="utf-8") as log:
                tests = [json.loads(line) for line in log if line.strip()]
        except (OSError, ValueError) as error:
            print(f"{path}: {error}")
            tests = []
        for test in tests:
            result = test["result"]
            place = 0 if result in PASSED else 2 if result in SKIPPED else 1
            counts[place] += 1
            if place == 1:
                failures.append(f"  {result}: {test['name']}")
        print(f"{path}: " + line(counts))
        for failure in failures:
            print(failure)
        broken = broken or not tests
        total = [a + b for a, b in zip(total, counts)]
    print(line(total))
    return 1 if broken or total[1] else 0


def line(counts):
    return f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
