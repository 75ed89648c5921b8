"""What calls on the device "cuda" cost the host, on any machine: python packages/backend-cuda/tests/stub/rehearse.py FOLDER
benchmarks/gpu_host.py. Over the stub driver the device does nothing, so that all of a call's time is the host's.

Each is beside CuPy's own addition of two arrays in the same process, in turns, medians of the lower halves: the times of a busy
machine vary, their ratios less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import tenfold
from tenfold import nn
from tenfold.nn import functional as F

TURNS, CALLS = 21, 200


def calls() -> dict[str, Callable[[], Any]]:
    """What is timed, by its name."""
    x, y = (tenfold.zeros(64, 64, device="cuda") for _ in range(2))
    h, w, v = x.bfloat16(), x[0].clone(), x[0].bfloat16()
    i, rows = tenfold.zeros(64, dtype=tenfold.int64, device="cuda"), (64,)
    p = tenfold.zeros(64, 64, device="cuda", requires_grad=True)
    optimizer = tenfold.optim.AdamW([p, nn.Parameter(w.clone())])
    for q in optimizer.param_groups[0]["params"]:
        q.grad = tenfold.zeros_like(q)

    def cross_entropy() -> None:
        p.grad = None
        F.cross_entropy(p, i).backward()

    return {
        "cupy a + b": lambda a=x._array, b=y._array: a + b,
        "x + y": lambda: x + y, "x * 2": lambda: x * 2, "x.exp()": x.exp, "x.add_(y)": lambda: x.add_(y),
        "x.t() + y": lambda: x.t() + y,
        "x[0]": lambda: x[0], "x.view(-1)": lambda: x.view(-1), "x.sum()": x.sum, "x.sum(0), bfloat16": lambda: h.sum(0),
        "x.argmax(1)": lambda: x.argmax(1), "softmax": lambda: x.softmax(1), "layer_norm": lambda: F.layer_norm(x, rows, w, w),
        "x @ y": lambda: x @ y, "linear, bfloat16": lambda: F.linear(h, h, v), "index_select": lambda: x.index_select(0, i),
        "cross_entropy with gradient": cross_entropy, "AdamW of two": optimizer.step,
    }  # fmt: skip


def main() -> None:
    """Time in turns and print."""
    found: dict[str, list[float]] = {}
    pieces = calls()
    for run in pieces.values():
        for _ in range(20):
            run()
    for _ in range(TURNS):
        for name, run in pieces.items():
            begin = time.perf_counter()
            for _ in range(CALLS):
                run()
            found.setdefault(name, []).append((time.perf_counter() - begin) / CALLS * 1e6)
    lower = {name: median(sorted(times)[: TURNS // 2 + 1]) for name, times in found.items()}
    peer = lower.pop("cupy a + b")
    print(f"{'cupy a + b':30} {peer:8.2f} us")
    for name, value in lower.items():
        print(f"{name:30} {value:8.2f} us  {value / peer:6.2f}")


if __name__ == "__main__":
    main()
