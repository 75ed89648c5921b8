"""Steps of optimizers on 4 million parameters and on few small ones, with NumPy's kernels alone against PyTorch, one thread each.

The figures are the thread's processor time, the libraries in turns; the ratio is the median of the turns', PyTorch with its
default options. Below 1 Tenfold is faster.

    python benchmarks/optimizers.py [--turns 15] [--only AdamW] [--json results.json]
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from eager import machine

import tenfold

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("AdamW", {}),
    ("Adam", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {}),
    ("RMSprop", {}),
]
SIZES = {"60 of 256x274": (60, (256, 274)), "4 of 1024x1024": (4, (1024, 1024)), "20 of 256": (20, (256,))}


def made(lib: Any, name: str, options: dict[str, Any], count: int, shape: tuple[int, ...]) -> Any:
    """An optimizer whose parameters have their gradients."""
    random = np.random.default_rng(0)
    params = []
    for _ in range(count):
        param = lib.from_numpy(random.standard_normal(shape, dtype=np.float32)).requires_grad_()
        param.grad = lib.from_numpy(random.standard_normal(shape, dtype=np.float32))
        params.append(param)
    return getattr(lib.optim, name)(params, **options)


def seconds(optimizer: Any, steps: int) -> float:
    """Processor time of one step."""
    start = time.thread_time()
    for _ in range(steps):
        optimizer.step()
    return (time.thread_time() - start) / steps


def compare(case: str, pair: list[Any], turns: int) -> dict[str, Any]:
    """Both libraries' steps in turns."""
    took = [min(seconds(optimizer, 2) for _ in range(2)) for optimizer in pair]
    steps = max(1, round(0.02 / min(took)))
    rows = [[seconds(optimizer, steps) for optimizer in pair] for _ in range(turns)]
    ratios = [ours / theirs for ours, theirs in rows]
    ours, theirs = (statistics.median(column) * 1e6 for column in zip(*rows, strict=True))
    spread = [min(ratios), max(ratios)]
    return {"case": case, "tenfold_us": ours, "torch_us": theirs, "ratio": statistics.median(ratios), "spread": spread}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tenfold.set_num_threads(1)
    rows = []
    for size, (count, shape) in SIZES.items():
        for name, given in OPTIMIZERS:
            case = f"{name}{' with momentum' if given else ''}, {size}"
            if options.only not in case:
                continue
            row = compare(case, [made(lib, name, given, count, shape) for lib in (tenfold, torch)], options.turns)
            rows.append(row)
            low, high = row["spread"]
            print(
                f"{case:36} {row['tenfold_us']:9.0f} {row['torch_us']:9.0f} us  {row['ratio']:5.2f}   {low:.2f}-{high:.2f}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
