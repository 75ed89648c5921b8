"""What compiled kernels cost a network's first step: in a process that finds no machine code on disk, and in one that does.

Each network has processes of its own with a folder of its own for the machine code. The figure is the time for making the network
and its first step, less that of a later step, and less what the same takes with NumPy's kernels alone: imports and first calls
are not compiling. Beside it stand the modules that were compiled or loaded, and the time spent in writing and compiling them, or
in writing and loading ("of it"). Processor time, one thread.

    python benchmarks/first_use.py [--turns 3] [--only LSTM] [--json results.json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from networks import MODELS

NAMES = list(MODELS)[:5]
BARS_MS = {"empty": 2000.0, "filled": 50.0}
LATER_STEPS = 5


def counted(owners: list[Any], name: str, seconds: list[float] | None = None) -> list[float]:
    """Let a function that some modules have be timed; the list gets the seconds of each call."""
    seconds = [] if seconds is None else seconds
    function: Callable[..., Any] = getattr(owners[0], name)

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **options)
        finally:
            seconds.append(time.process_time() - start)

    for owner in owners:
        setattr(owner, name, timed)
    return seconds


def print_first_step(name: str) -> None:
    """In a process of its own: the seconds of each part."""
    start = time.process_time()
    import tenfold

    imported = time.process_time()
    tenfold.set_num_threads(1)
    from networks import network, step

    loaded: list[float] = []
    written: list[float] = []
    if os.environ.get("TENFOLD_DISABLE_PLUGINS") != "llvm":
        from tenfold.llvm import compiler, elementwise, programs
        from tenfold.llvm.native import functions

        loaded = counted([compiler, functions], "load")
        for owner, text in ((programs.Compiled, "text"), (elementwise.Operator, "text"), (functions, "source")):
            written = counted([owner], text, written)
    begun = time.process_time()
    made = network(tenfold, name)
    step(made, 0)
    first = time.process_time() - begun
    later = []
    for number in range(1, LATER_STEPS + 1):
        before = time.process_time()
        step(made, number)
        later.append(time.process_time() - before)
    spent = {"import": imported - start, "first": first - min(later), "load": sum(loaded), "write": sum(written)}
    print(json.dumps({**spent, "modules": len(loaded)}))


def run(name: str, home: str, modules: str, numpy_alone: bool = False) -> dict[str, float]:
    """What such a process prints. Python's modules are compiled, as an installed package's are, once one has run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"TENFOLD_HOME": home, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": modules}
    if numpy_alone:
        environment["TENFOLD_DISABLE_PLUGINS"] = "llvm"
    command = [sys.executable, __file__, "--in-process", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(name: str, turns: int) -> dict[str, Any]:
    """Milliseconds of both kinds of process."""
    kinds: dict[str, list[dict[str, float]]] = {"empty": [], "filled": [], "numpy": []}
    with tempfile.TemporaryDirectory() as modules:
        run(name, modules, modules)
        run(name, modules, modules, numpy_alone=True)
        for _ in range(turns):
            with tempfile.TemporaryDirectory() as home:
                kinds["empty"].append(run(name, home, modules))
                kinds["filled"].append(run(name, home, modules))
                kinds["numpy"].append(run(name, home, modules, numpy_alone=True))

    def median(kind: str, field: str) -> float:
        return statistics.median(found[field] for found in kinds[kind])

    row: dict[str, Any] = {"case": name, "modules": int(median("empty", "modules"))}
    for kind in BARS_MS:
        row[f"{kind}_ms"] = 1e3 * (median(kind, "first") - median("numpy", "first"))
        row[f"{kind}_of_it_ms"] = 1e3 * (median(kind, "load") + median(kind, "write"))
    row["numpy_ms"] = 1e3 * median("numpy", "first")
    row["import_ms"] = {kind: 1e3 * median(kind, "import") for kind in ("filled", "numpy")}
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="networks whose name contains this")
    parser.add_argument("--in-process", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_process:
        print_first_step(given.in_process)
        return
    rows = []
    print(f"{'first step of':22s} modules  empty ms (of it)    filled ms (of it)     NumPy's first ms   import ms (NumPy alone)")
    for name in NAMES:
        if given.only not in name:
            continue
        row = measure(name, given.turns)
        rows.append(row)
        print(
            f"{name:22s} {row['modules']:7d} {row['empty_ms']:9.0f} ({row['empty_of_it_ms']:.0f})     "
            f"{row['filled_ms']:9.1f} ({row['filled_of_it_ms']:.1f}) {row['numpy_ms']:14.1f} "
            f"{row['import_ms']['filled']:16.1f} ({row['import_ms']['numpy']:.1f})",
            flush=True,
        )
    if given.json:
        from eager import machine

        given.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
