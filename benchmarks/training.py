"""Whole steps of training, Tenfold with NumPy's kernels alone against PyTorch on the CPU, in one process.

A step clears the gradients, computes the loss, goes back and moves the weights. The figures are the thread's processor time, with
more threads the time that passes, the libraries in turns; the ratio is the median of the turns'. The peak is the memory that the
first steps add to a process of their own, above what it had with the model built; "of PyTorch's" is the ratio of the two. Below 1
Tenfold is better.

    python benchmarks/training.py [--turns 15] [--only LSTM] [--compiled] [--threads 2] [--json results.json]
"""

from __future__ import annotations

import os
import sys

os.environ["OMP_NUM_THREADS"] = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
if "--compiled" not in sys.argv:  # before anything imports Tenfold
    os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from networks import MODELS, network, step

COMPILED = "--compiled" in sys.argv
THREADS = int(os.environ["OMP_NUM_THREADS"])
BARS = dict(zip(MODELS, (0.6, 0.7, 0.95, 0.8, 0.75, 1.5) if COMPILED else (1.0, 1.6, 2.2, 1.05, 0.85, 1.5), strict=True))
STEPS_OF_PEAK = 3
clock = time.thread_time if THREADS == 1 else time.perf_counter


def seconds(made: Any, steps: int) -> float:
    """The time of one step."""
    start = clock()
    for number in range(steps):
        step(made, number)
    return (clock() - start) / steps


def compare(name: str, turns: int) -> dict[str, Any]:
    """Both libraries' steps in turns."""
    import torch

    import tenfold

    torch.set_num_threads(THREADS)
    tenfold.set_num_threads(THREADS)
    pair = [network(lib, name) for lib in (tenfold, torch)]
    took = [seconds(made, 2) for made in pair]
    steps = max(1, round(0.05 / min(took)))
    rows = [[seconds(made, steps) for made in pair] for _ in range(turns)]
    ratios = [ours / theirs for ours, theirs in rows]
    ours, theirs = (statistics.median(column) * 1e3 for column in zip(*rows, strict=True))
    spread = [min(ratios), max(ratios)]
    return {"case": name, "tenfold_ms": ours, "torch_ms": theirs, "ratio": statistics.median(ratios), "spread": spread}


def peak_bytes(library: str, name: str) -> int:
    """What the first steps add to the memory of a process of their own."""
    own = ["--peak-of", library, "--only", name, "--threads", str(THREADS), *(["--compiled"] * COMPILED)]
    return peak_printed([sys.executable, __file__, *own])


def peak_printed(command: list[str]) -> int:
    """What the second of two such processes prints: the first leaves its modules compiled, as an installed package's are.

    To compile a module that a first step imports takes more memory than the steps of a small network.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as cache:
        environment["PYTHONPYCACHEPREFIX"] = cache
        done = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(2)]
    return int(done[-1].stdout.splitlines()[-1])


def print_peak(library: str, name: str) -> None:
    """Run in that process: steps, then the peak of its memory above what it was before."""
    lib = import_module(library)
    lib.set_num_threads(THREADS)
    warm = lib.ones(2, 2, requires_grad=True)  # what a library loads for its first gradient is no part of the step
    (warm @ warm).sum().backward()
    made = network(lib, name)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the high-water mark starts anew
    before = _memory("VmRSS")
    for number in range(STEPS_OF_PEAK):
        step(made, number)
    print(_memory("VmHWM") - before)


def _memory(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--compiled", action="store_true", help="with compiled kernels, whose package must be installed")
    parser.add_argument("--threads", type=int, default=1, help="of both libraries")
    parser.add_argument("--only", default="", help="networks whose name contains this")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = [name for name in MODELS if given.only in name]
    if given.peak_of:
        print_peak(given.peak_of, names[0])
        return
    rows = []
    print(f"{'step of':22s} {'tenfold ms':>11s} {'torch ms':>9s} {'ratio':>6s}   spread        bar   peak MB  of PyTorch's")
    for name in names:
        row = compare(name, given.turns)
        row["peak_bytes"], theirs = (peak_bytes(library, name) for library in ("tenfold", "torch"))
        row["peak_ratio"] = row["peak_bytes"] / theirs
        rows.append(row)
        low, high = row["spread"]
        print(
            f"{name:22s} {row['tenfold_ms']:11.2f} {row['torch_ms']:9.2f} {row['ratio']:6.2f}   {low:.2f}-{high:.2f}   "
            f"{BARS[name]:6.2f} {row['peak_bytes'] / 1e6:9.1f} {row['peak_ratio']:12.2f}",
            flush=True,
        )
    if given.json:
        from eager import machine

        given.json.write_text(
            json.dumps({"machine": {**machine(), "threads": str(THREADS)}, "rows": rows}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
