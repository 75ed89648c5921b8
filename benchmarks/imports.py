"""What an import costs in a fresh interpreter: NumPy, Tenfold, tenfold.nn and PyTorch, as far as they are installed.

The interpreters take turns, so that a noisy neighbour slows all; the figures are medians, with bytecode caches. The time is
that of the import statement alone, processor and wall clock; the ratio is to NumPy's processor time.

    python benchmarks/imports.py [--turns 15] [--json results.json]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

BAR = 1.35  # tenfold to numpy
DISTRIBUTIONS = {"numpy": "numpy", "tenfold": "tenfold-core", "tenfold.nn": "tenfold-nn", "torch": "torch"}
MEASURE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {name}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""


def installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def import_once(name: str) -> tuple[float, float]:
    """Processor and wall-clock seconds of one import."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", MEASURE.format(name=name)]
    cpu, wall = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    return float(cpu), float(wall)


def measure(names: list[str], turns: int) -> list[dict[str, Any]]:
    """One row for each name; the first turn writes the caches and does not count."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(turns + 1):
        for name in names:
            taken = import_once(name)
            if turn:
                times[name].append(taken)
    medians = {name: [statistics.median(column) for column in zip(*taken)] for name, taken in times.items()}
    return [
        {"name": name, "cpu_ms": cpu * 1e3, "wall_ms": wall * 1e3, "ratio": cpu / medians["numpy"][0]}
        for name, (cpu, wall) in medians.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    names = [name for name in DISTRIBUTIONS if installed(name)]
    rows = measure(names, options.turns)
    for row in rows:
        print(f"import {row['name']:12s} {row['cpu_ms']:8.1f} ms processor {row['wall_ms']:8.1f} ms wall {row['ratio']:6.2f} x")
    ratio = next(row["ratio"] for row in rows if row["name"] == "tenfold")
    print(f"import tenfold costs {ratio:.2f} x import numpy (bar {BAR})")
    if options.json:
        versions = {name: version(DISTRIBUTIONS[name]) for name in names}
        machine = {"processor": platform.processor(), "python": platform.python_version(), **versions}
        options.json.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
