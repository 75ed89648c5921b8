"""Whole steps of training by this Tenfold, by an earlier one and by PyTorch, in turns: what has become slower or larger since.

Each runs in a process of its own, which waits while the others work. The earlier Tenfold is whatever the given interpreter
imports: an environment with an older commit's packages installed. NumPy's kernels alone, one thread each, processor time; the
peak is the one of training.py. Ratios are of this Tenfold to the earlier one: below 1 is faster or smaller now.

    python benchmarks/earlier.py OLD/.venv/bin/python [--turns 9] [--only LSTM] [--json results.json]
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import argparse
import json
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from networks import MODELS, network, step
from training import peak_printed


class Worker:
    """A process with one library's network, which times as many steps as it is told to."""

    def __init__(self, interpreter: str, library: str, name: str) -> None:
        command = [interpreter, __file__, interpreter, "--serve", library, "--only", name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, steps: int) -> float:
        """Processor time of one step."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def serve(library: str, name: str) -> None:
    """Run in a worker: a line with a number of steps in, a line with the seconds of one out."""
    lib = import_module(library)
    lib.set_num_threads(1)
    made = network(lib, name)
    for line in sys.stdin:
        start = time.thread_time()
        for number in range(int(line)):
            step(made, number)
        print((time.thread_time() - start) / int(line), flush=True)


def peak_bytes(interpreter: str, library: str, name: str) -> int:
    """What the first steps add to the memory of a process of their own."""
    command = [interpreter, str(Path(__file__).with_name("training.py")), "--peak-of", library, "--only", name]
    return peak_printed(command)


def compare(name: str, earlier: str, turns: int) -> dict[str, Any]:
    """All three in turns."""
    sides = {"now": (sys.executable, "tenfold"), "earlier": (earlier, "tenfold"), "torch": (sys.executable, "torch")}
    workers = {side: Worker(interpreter, library, name) for side, (interpreter, library) in sides.items()}
    took = {side: worker.seconds(2) for side, worker in workers.items()}
    steps = max(1, round(0.05 / min(took.values())))
    rows = [{side: worker.seconds(steps) for side, worker in workers.items()} for _ in range(turns)]
    for worker in workers.values():
        worker.close()
    peaks = {side: peak_bytes(interpreter, library, name) for side, (interpreter, library) in sides.items()}
    return {
        "case": name,
        **{f"{side}_ms": statistics.median(row[side] for row in rows) * 1e3 for side in sides},
        **{f"{side}_peak_bytes": peak for side, peak in peaks.items()},
        "ratio": statistics.median(row["now"] / row["earlier"] for row in rows),
        "peak_ratio": peaks["now"] / peaks["earlier"],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("earlier", help="interpreter of an environment with the earlier Tenfold")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="networks whose name contains this")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = [name for name in MODELS if given.only in name]
    if given.serve:
        serve(given.serve, names[0])
        return
    rows = []
    columns = " ".join(f"{side:>8s}" for side in ("now", "earlier", "torch"))
    print(f"{'step of, ms':22s} {columns}  ratio   {columns}  peaks, MB")
    for name in names:
        row = compare(name, given.earlier, given.turns)
        rows.append(row)
        times = " ".join(f"{row[f'{side}_ms']:8.2f}" for side in ("now", "earlier", "torch"))
        peaks = " ".join(f"{row[f'{side}_peak_bytes'] / 1e6:8.1f}" for side in ("now", "earlier", "torch"))
        print(f"{name:22s} {times} {row['ratio']:6.2f}   {peaks}", flush=True)
    if given.json:
        from eager import machine

        given.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
