"""Operators of small networks, on tensors of a few elements: Tenfold against PyTorch on the CPU, in one process.

What a call costs before there is work to do. The figures are the thread's processor time, best of short runs, and the median of
the turns' ratios; below 1 Tenfold is faster. Compiled kernels are left out: TENFOLD_DISABLE_PLUGINS=llvm is set here.

    python benchmarks/small.py [--turns 9] [--only softmax] [--json results.json]
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from eager import compare, machine

import tenfold

BAR = 1.6


def operators(lib: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Single operators, without a gradient."""
    data = np.random.default_rng(0).random(64, dtype=np.float32)
    x, y = lib.from_numpy(data[:8].copy()), lib.from_numpy(data[8:16].copy())
    rows, weight = lib.from_numpy(data[:32].reshape(4, 8).copy()), lib.from_numpy(data[:8].copy())
    image = lib.from_numpy(data.reshape(1, 1, 8, 8).copy())
    functional = lib.nn.functional
    yield "sigmoid", lambda: lib.sigmoid(x)
    yield "silu", lambda: functional.silu(x)
    yield "tanh", lambda: lib.tanh(x)
    yield "gelu", lambda: functional.gelu(x)
    yield "relu", lambda: functional.relu(x)
    yield "softmax", lambda: functional.softmax(rows, -1)
    yield "log_softmax", lambda: functional.log_softmax(rows, -1)
    yield "layer_norm", lambda: functional.layer_norm(rows, (8,), weight, weight)
    yield "max_pool2d", lambda: functional.max_pool2d(image, 2)
    yield "cat", lambda: lib.cat([x, y])
    yield "stack", lambda: lib.stack([x, y])
    yield "randn(3)", lambda: lib.randn(3)
    yield "rand(3)", lambda: lib.rand(3)
    yield "add_(alpha)", lambda: x.add_(y, alpha=1e-9)


def trained(lib: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The same with a gradient: recorded, summed, and run back."""
    data = np.random.default_rng(0).random(64, dtype=np.float32)
    x = lib.from_numpy(data[:32].reshape(4, 8).copy()).requires_grad_()
    image = lib.from_numpy(data.reshape(1, 1, 8, 8).copy()).requires_grad_()
    weight = lib.from_numpy(data[:8].copy()).requires_grad_()
    functional = lib.nn.functional

    def back(call: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> None:
            call().sum().backward()
            x.grad = image.grad = weight.grad = None

        return run

    yield "sigmoid, and back", back(lambda: lib.sigmoid(x))
    yield "silu, and back", back(lambda: functional.silu(x))
    yield "softmax, and back", back(lambda: functional.softmax(x, -1))
    yield "layer_norm, and back", back(lambda: functional.layer_norm(x, (8,), weight, weight))
    yield "max_pool2d, and back", back(lambda: functional.max_pool2d(image, 2))
    yield "cat, and back", back(lambda: lib.cat([x, x]))
    yield "stack, and back", back(lambda: lib.stack([x, x]))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(f"{'case':28s} {'tenfold us':>11s} {'torch us':>9s} {'ratio':>6s}   spread        bar")
    for cases in (operators, trained):
        for (name, ours), (_, theirs) in zip(cases(tenfold), cases(torch), strict=True):
            if options.only in name:
                row = compare(name, ours, theirs, options.turns)
                rows.append(row)
                low, high = row["spread"]
                figures = f"{row['tenfold_us']:11.2f} {row['torch_us']:9.2f} {row['ratio']:6.2f}   {low:.2f}-{high:.2f}"
                print(f"{name:28s} {figures}   {BAR:6.2f}{'  above' if row['ratio'] > BAR else ''}", flush=True)
    print(f"worst {max(r['ratio'] for r in rows):.2f} (bar {BAR})")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
