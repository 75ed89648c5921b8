"""Error and cost of float32 reductions over long and strided dimensions: Tenfold, PyTorch and NumPy in one process.

The error is the greatest one of a result against the same reduction in float64, in parts of the result; a time is the best of
several runs on one thread. The numbers are all equal, which shows systematic rounding, or normal beside a large mean.

    OMP_NUM_THREADS=1 python benchmarks/accumulation.py [--turns 7] [--json results.json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from eager import best_time, machine

import tenfold

Array = np.ndarray[Any, Any]
Case = tuple[str, Array, Any]


def equal_numbers(*shape: int) -> Array:
    return np.full(shape, 0.1, np.float32)


def arrays() -> Iterator[Case]:
    """(what it is, float32 array, dimensions to reduce)"""
    yield "small, all", equal_numbers(8, 8), None
    yield "small, columns", equal_numbers(64, 8), 0
    yield "square, all", equal_numbers(3000, 1000), None
    yield "square, columns", equal_numbers(3000, 1000), 0
    yield "square, rows", equal_numbers(3000, 1000), 1
    yield "tall, columns", equal_numbers(10**6, 10), 0
    yield "tall transposed, rows", equal_numbers(10**6, 10).T, 1
    yield "middle dimension", equal_numbers(10, 10000, 10), 1
    yield "channels first", equal_numbers(32, 3, 64, 64), (0, 2, 3)
    yield "channels last", equal_numbers(32, 64, 64, 3).transpose(0, 3, 1, 2), (0, 2, 3)
    yield "two columns of three, all", equal_numbers(10**6, 3)[:, :2], None
    yield "every other, all", equal_numbers(2 * 10**6)[::2], None


def beside_a_mean(array: Array) -> Array:
    """Normal numbers around 10**4 with the array's shape and strides."""
    result = np.empty_like(array)
    result[...] = np.random.default_rng(0).standard_normal(array.shape) + 1e4
    return result


def measured(run: Callable[[], Any], reference: Any, turns: int) -> tuple[float, float]:
    """(error, milliseconds) of a reduction."""
    result = np.asarray(run(), np.float64)
    number = max(1, int(2e-3 / max(best_time(run, 1), 1e-7)))
    seconds = min(best_time(run, number) for _ in range(turns))
    return float(np.max(np.abs(result - reference) / np.abs(reference))), seconds * 1e3


def rows(turns: int) -> Iterator[dict[str, Any]]:
    for name, array, dims in arrays():
        for operator in ("sum", "mean", "std"):
            data = beside_a_mean(array) if operator == "std" else array
            ours, theirs = tenfold.from_numpy(data), torch.from_numpy(data)
            ddof: Any = {"ddof": 1} if operator == "std" else {}
            reference = getattr(data.astype(np.float64), operator)(axis=dims, **ddof)
            runs: dict[str, Callable[[], Any]] = {
                "tenfold": lambda: getattr(ours, operator)(dims),  # noqa: B023 - called in this turn
                "torch": lambda: getattr(theirs, operator)(dims),  # noqa: B023
                "numpy": lambda: getattr(data, operator)(axis=dims, **ddof),  # noqa: B023
            }
            row: dict[str, Any] = {"case": f"{operator} of {name}"}
            for library, run in runs.items():
                error, ms = measured(run, reference, turns)
                row.update({f"{library}_error": error, f"{library}_ms": ms})
            yield row


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    print(f"{'case':36s}" + "".join(f"{library:>10s} error      ms" for library in ("tenfold", "torch", "numpy")))
    for row in rows(options.turns):
        found.append(row)
        cells = (f"{row[f'{library}_error']:16.1e} {row[f'{library}_ms']:7.3f}" for library in ("tenfold", "torch", "numpy"))
        print(f"{row['case']:36s}" + "".join(cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
