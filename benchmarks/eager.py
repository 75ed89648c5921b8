"""Eager speed of small operators and training steps: Tenfold against PyTorch on the CPU, in one process.

Each case runs on both libraries in turns, so that a noisy neighbour slows both; a turn's time is the best of a few
short runs, the figure is the median of the turns' ratios. Below 1 Tenfold is faster.

    python benchmarks/eager.py [--turns 9] [--json results.json] [--layers]
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tenfold
from tenfold.inspection import tracing

BAR_EACH, BAR_MEAN = 0.9, 0.7


def operator_cases(lib: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Single operators on 64 floats (matrices 4x4)."""
    data = np.random.default_rng(0).random(64, dtype=np.float32)
    x, y = lib.from_numpy(data.copy()), lib.from_numpy(data.copy())
    m, n = lib.from_numpy(data[:16].reshape(4, 4).copy()), lib.from_numpy(data[16:32].reshape(4, 4).copy())
    w = lib.from_numpy(data.copy()).requires_grad_(True)
    yield "add", lambda: x + y
    yield "scalar multiply", lambda: x * 2.5
    yield "matmul 4x4", lambda: m @ n
    yield "exp", lambda: lib.exp(x)
    yield "sum", lambda: x.sum()  # noqa: PLW0108 - the look-up is part of it
    yield "slicing", lambda: x[3:40]
    yield "view + transpose", lambda: x.view(8, 8).transpose(0, 1)
    yield "add recording a gradient", lambda: w + y


def chain_case(lib: Any) -> tuple[str, Callable[[], Any]]:
    """200 multiplications and additions, forward and backward."""
    data = np.random.default_rng(1).random(64, dtype=np.float32)
    x, w = lib.from_numpy(data.copy()), lib.from_numpy(data.copy()).requires_grad_(True)
    ones = lib.ones(64)

    def run() -> None:
        z = w
        for _ in range(100):
            z = z * x
            z = z + x
        z.backward(ones)
        w.grad = None

    return "chain of 200, forward + backward", run


def step_case(lib: Any, optimizer: str) -> tuple[str, Callable[[], Any]]:
    """One training step of a 32-64-10 perceptron on a batch of 8."""
    rng = np.random.default_rng(2)
    x = lib.from_numpy(rng.random((8, 32), dtype=np.float32))
    target = lib.from_numpy(rng.integers(0, 10, 8))
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(32, 64), lib.nn.ReLU(), lib.nn.Linear(64, 10))
    loss_function = lib.nn.CrossEntropyLoss()
    opt = getattr(lib.optim, optimizer)(model.parameters(), lr=1e-3)

    def run() -> None:
        opt.zero_grad()
        loss_function(model(x), target).backward()
        opt.step()

    return f"MLP 32-64-10 step, {optimizer}", run


def cases(lib: Any) -> dict[str, Callable[[], Any]]:
    found = dict(operator_cases(lib))
    found.update([chain_case(lib), step_case(lib, "SGD"), step_case(lib, "Adam")])
    return found


def best_time(run: Callable[[], Any], number: int) -> float:
    """Seconds per call: the best of three runs of `number` calls."""
    best = math.inf
    for _ in range(3):
        start = time.thread_time()
        for _ in range(number):
            run()
        best = min(best, time.thread_time() - start)
    return best / number


def calls_for(run: Callable[[], Any], seconds: float = 0.01) -> int:
    """How many calls take about this long."""
    run()
    number = 1
    while True:
        start = time.thread_time()
        for _ in range(number):
            run()
        if time.thread_time() - start > seconds:
            return number
        number *= 2


def compare(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> dict[str, Any]:
    n_ours, n_theirs = calls_for(ours), calls_for(theirs)
    rows = [(best_time(ours, n_ours), best_time(theirs, n_theirs)) for _ in range(turns)]
    ratios = [a / b for a, b in rows]
    return {
        "case": name,
        "tenfold_us": statistics.median(a for a, _ in rows) * 1e6,
        "torch_us": statistics.median(b for _, b in rows) * 1e6,
        "ratio": statistics.median(ratios),
        "spread": [min(ratios), max(ratios)],
    }


def layer_cost(turns: int) -> list[dict[str, Any]]:
    """An operator's time before any layer was imported, and after all were imported, used and left."""
    x = tenfold.ones(64)
    before = statistics.median(best_time(lambda: x + x, 10000) for _ in range(turns))
    source = tenfold.add.source
    from tenfold.profiler import profile

    graph = tracing.trace(lambda a: a + a, x)
    graph(x)
    with tenfold.autocast("cpu"):
        x @ x
    with profile():
        x + x
    tenfold.func.vmap(lambda a: a * 2)(x)
    tenfold.func.jvp(lambda a: a * 2, (x,), (x,))
    after = statistics.median(best_time(lambda: x + x, 10000) for _ in range(turns))
    assert source == tenfold.add.source, "a layer changed the call path of add"
    return [{"case": "add before / after using every layer", "before_us": before * 1e6, "after_us": after * 1e6,
             "ratio": after / before}]  # fmt: skip


def machine() -> dict[str, str]:
    cpu = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), platform.processor()
    )
    return {"cpu": cpu, "python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__,
            "tenfold": tenfold.__version__, "threads": "1"}  # fmt: skip


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    layers = layer_cost(options.turns) if not options.only else []
    ours, theirs = cases(tenfold), cases(torch)
    rows = []
    print(f"{'case':36s} {'tenfold us':>11s} {'torch us':>9s} {'ratio':>6s}   spread")
    for name in ours:
        if options.only in name:
            row = compare(name, ours[name], theirs[name], options.turns)
            rows.append(row)
            low, high = row["spread"]
            print(
                f"{name:36s} {row['tenfold_us']:11.2f} {row['torch_us']:9.2f} {row['ratio']:6.2f}   {low:.2f}-{high:.2f}",
                flush=True,
            )
    mean = math.exp(statistics.fmean(math.log(r["ratio"]) for r in rows))
    worst = max(r["ratio"] for r in rows)
    print(f"geometric mean {mean:.2f} (bar {BAR_MEAN}), worst {worst:.2f} (bar {BAR_EACH})")
    for row in layers:
        print(f"{row['case']}: {row['before_us']:.3f} -> {row['after_us']:.3f} us")
    if options.json:
        options.json.write_text(
            json.dumps({"machine": machine(), "rows": rows, "geometric_mean": mean, "layers": layers}, indent=1) + "\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
