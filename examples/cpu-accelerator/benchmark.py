"""The accelerated operators against plain NumPy kernels, and against PyTorch where it is installed: one thread each.

    python benchmark.py

Prints the ratio of times, the median of alternating runs; below 1 the accelerated kernel is faster.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import tenfold
from tenfold.dispatch.kernels import KERNELS

SIZES = (65_536, 1_048_576)
CALLS: dict[str, tuple[Any, ...]] = {
    "exp": (), "sigmoid": (), "gelu": (), "gelu tanh": ("tanh",), "softmax": (-1,), "log_softmax": (-1,),
}  # fmt: skip


def milliseconds(*calls: Callable[[], Any]) -> list[float]:
    """The median time of each call, run in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for round_number in range(33):
        for call, spent in zip(calls, times):
            start = time.perf_counter()
            call()
            if round_number >= 3:
                spent.append(1e3 * (time.perf_counter() - start))
    return [median(spent) for spent in times]


def plain_kernel(name: str) -> Callable[..., Any]:
    """The kernel without a condition, which serves what the accelerator does not."""
    return next(k.function for k in KERNELS[name, "cpu"] if k.when is None)


def torch_call(name: str, x: Any) -> Callable[[], Any] | None:
    """The same call in PyTorch, None where it is not installed."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    torch.set_num_threads(1)
    given = torch.from_numpy(x)
    if name.startswith("gelu"):
        return lambda: torch.nn.functional.gelu(given, approximate="tanh" if name == "gelu tanh" else "none")
    return lambda: getattr(torch, name)(given, *CALLS[name])


def main() -> None:
    print(f"{'operator':12s} {'elements':>9s} {'ms':>8s} {'/ NumPy':>8s} {'/ PyTorch':>9s}")
    for name, arguments in CALLS.items():
        operator = getattr(tenfold.op, name.split()[0])
        for size in SIZES:
            shape = (size // 256, 256)
            x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
            tensor = tenfold.from_numpy(x)
            operator(tensor, *arguments)  # load and compile
            rest = arguments or (("none",) if operator.name == "gelu" else ())
            calls = [partial(operator, tensor, *arguments), partial(plain_kernel(operator.name), x, *rest)]
            peer = torch_call(name, x)
            ours, numpy_ms, *torch_ms = milliseconds(*calls, *([peer] if peer else []))
            shown = f"{ours / torch_ms[0]:9.2f}" if torch_ms else "        -"
            print(f"{name:12s} {size:9d} {ours:8.3f} {ours / numpy_ms:8.2f} {shown}")


if __name__ == "__main__":
    main()
