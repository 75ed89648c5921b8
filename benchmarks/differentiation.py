"""Derivatives: Tenfold against PyTorch on the CPU, in one process, and what a training step takes of memory.

Each timing runs on both libraries in turns, so that a noisy neighbour slows both; a turn's time is the best of a few short
runs, the figure is the median of the turns' ratios. Memory is that of a process of its own for each library and model: the
highest resident size seen during two steps, less the size before them. Below 1 Tenfold is better.

    python benchmarks/differentiation.py [--turns 9] [--json results.json] [--no-memory] [--only vmap]

`--only` runs the cases whose names contain a word, and `--json` keeps what the file says of the others.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BARS = {"chain": 0.5, "peak": 1.0}  # by the first word of a case; all others 1.0
OVERHEAD_US = 10.0


def chain(lib: Any) -> Callable[[], float]:
    """The backward pass alone of 1,000 multiplications and additions of 16 numbers, in seconds."""
    data = np.random.default_rng(1).random(16, dtype=np.float32)
    x, w = lib.from_numpy(data.copy()), lib.from_numpy(data.copy()).requires_grad_(True)
    ones = lib.ones(16)

    def run() -> float:
        z = w
        for _ in range(500):
            z = z * x
            z = z + x
        start = time.thread_time()
        z.backward(ones)
        spent = time.thread_time() - start
        w.grad = None
        return spent

    return run


def weights(lib: Any, *sizes: int) -> list[Any]:
    rng = np.random.default_rng(2)
    return [lib.from_numpy(rng.normal(size=(n, m)).astype(np.float32) / n**0.5) for n, m in itertools.pairwise(sizes)]


def network(layers: list[Any], x: Any) -> Any:
    for w in layers[:-1]:
        x = (x @ w).tanh()
    return x @ layers[-1]


def derivatives(lib: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Jacobians, products with Hessians and gradients of single samples."""
    rng = np.random.default_rng(3)
    f = lib.func
    layers = weights(lib, 64, 128, 128, 32)
    x = lib.from_numpy(rng.normal(size=64).astype(np.float32))
    batch = lib.from_numpy(rng.normal(size=(32, 64)).astype(np.float32))
    target = lib.from_numpy(rng.normal(size=(32, 32)).astype(np.float32))
    direction = lib.from_numpy(rng.normal(size=64).astype(np.float32))

    def value(v: Any) -> Any:
        return network(layers, v)

    def loss(v: Any) -> Any:
        return (network(layers, v) ** 2).sum()

    def sample_loss(given: list[Any], v: Any, t: Any) -> Any:
        return ((network(given, v) - t) ** 2).mean()

    yield "Jacobian of a 3-layer MLP, jacrev", lambda: f.jacrev(value)(x)
    yield "Jacobians of a batch, vmap(jacrev)", lambda: f.vmap(f.jacrev(value))(batch)
    yield "Jacobian of a 3-layer MLP, jacfwd", lambda: f.jacfwd(value)(x)
    yield "Hessian-vector product, jvp(grad)", lambda: f.jvp(f.grad(loss), (x,), (direction,))
    yield "Hessian-vector product, vjp(grad)", lambda: f.vjp(f.grad(loss), x)[1](direction)
    yield "per-sample gradients, vmap(grad)", lambda: f.vmap(f.grad(sample_loss), in_dims=(None, 0, 0))(layers, batch, target)


def overheads(lib: Any) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """(name, a call of vmap, the operator under it)."""
    data = np.random.default_rng(4).random((8, 16), dtype=np.float32)
    x, y = lib.from_numpy(data.copy()), lib.from_numpy(data.copy())
    sin, add = lib.func.vmap(lib.sin), lib.func.vmap(lib.add)
    total = lib.func.vmap(lambda t: t.sum())
    yield "sin", lambda: sin(x), lambda: lib.sin(x)
    yield "add", lambda: add(x, y), lambda: lib.add(x, y)
    yield "sum", lambda: total(x), lambda: x.sum(1)


def timed(run: Callable[[], Any]) -> float:
    """Seconds of a call, the best of a few."""
    if isinstance(first := run(), float):
        return min(first, *(run() for _ in range(4)))
    start = time.thread_time()
    run()
    count = max(1, min(200, int(0.01 / max(time.thread_time() - start, 1e-7))))
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        for _ in range(count):
            run()
        best = min(best, (time.thread_time() - start) / count)
    return best


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> tuple[float, float, float]:
    """(median ratio, our median seconds, their median seconds)."""
    pairs = [(timed(ours), timed(theirs)) for _ in range(turns)]
    return (
        statistics.median(a / b for a, b in pairs), statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
    )  # fmt: skip


# Memory


def mlp(lib: Any) -> tuple[Any, Any]:
    nn = lib.nn
    layers = [part for _ in range(12) for part in (nn.Linear(512, 512), nn.ReLU())]
    return nn.Sequential(*layers), lib.randn(2048, 512)


def gpt_block(lib: Any) -> tuple[Any, Any]:
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(384), nn.LayerNorm(384)
            self.qkv, self.out = nn.Linear(384, 3 * 384), nn.Linear(384, 384)
            self.up, self.down = nn.Linear(384, 4 * 384), nn.Linear(4 * 384, 384)

        def forward(self, x: Any) -> Any:
            B, T, D = x.shape
            q, k, v = (t.view(B, T, 6, D // 6).transpose(1, 2) for t in self.qkv(self.first(x)).split(D, dim=2))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).contiguous().view(B, T, D))
            return x + self.down(functional.gelu(self.up(self.second(x))))

    return Block(), lib.randn(4, 256, 384)


def resnet18(lib: Any) -> tuple[Any, Any]:
    nn = lib.nn

    class Residual(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
                nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after),
            )  # fmt: skip
            plain = stride == 1 and before == after
            self.past = nn.Identity() if plain else nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            return lib.relu(self.body(x) + self.past(x))

    blocks = [Residual(*s) for s in ((64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1),
                                     (256, 512, 2), (512, 512, 1))]  # fmt: skip
    model = nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000),
    )  # fmt: skip
    return model, lib.randn(4, 3, 96, 96)


MODELS = {"12-layer MLP": mlp, "GPT block": gpt_block, "ResNet-18": resnet18}


def resident() -> int:
    """This process's memory in bytes, as Linux tells it."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Watch(threading.Thread):
    """Looks at this process's memory every half millisecond; `peak` is the most it saw."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.over = resident(), threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.0005):
            self.peak = max(self.peak, resident())


def peak_of_a_step(library: str, model: str) -> int:
    """Bytes that training steps take beyond what is there before the first whole one."""
    lib = importlib.import_module(library)
    lib.set_num_threads(1)
    lib.manual_seed(0)
    net, x = MODELS[model](lib)
    optimizer = lib.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)

    def step(given: Any) -> None:
        optimizer.zero_grad()
        (net(given) ** 2).mean().backward()
        optimizer.step()

    for _ in range(2):
        step(x[:2])  # loads and compiles what a step needs, and makes the optimizer's state
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    before, watch = resident(), Watch()
    watch.start()
    for _ in range(2):
        step(x)
    watch.over.set()
    watch.join()
    return watch.peak - before


def in_a_process(library: str, model: str) -> int:
    command = [sys.executable, __file__, "--peak", library, model]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


# The report


def reported(name: str, figure: float, ours: str, theirs: str, results: dict[str, Any]) -> None:
    bar = BARS.get(name.split()[0], 1.0)
    print(f"{name:42} {figure:6.2f}   {ours:>12} {theirs:>12}   {'' if figure <= bar else f'above {bar}'}", flush=True)
    results[name] = {"ratio": round(figure, 3), "tenfold": ours, "torch": theirs, "bar": bar}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--peak", nargs=2, metavar=("LIBRARY", "MODEL"))
    options = parser.parse_args()
    if options.peak:
        print(peak_of_a_step(*options.peak))
        return
    import torch

    import tenfold

    for lib in (tenfold, torch):
        lib.set_num_threads(1)
    results: dict[str, Any] = {}
    print(f"{'':42} {'ratio':>6}   {'tenfold':>12} {'torch':>12}")
    cases = [("chain of 1,000 operators, backward", chain(tenfold), chain(torch))]
    cases += [(name, a, b) for (name, a), (_, b) in zip(derivatives(tenfold), derivatives(torch))]
    for name, a, b in [case for case in cases if options.only in case[0]]:
        figure, ours, theirs = ratio(a, b, options.turns)
        reported(name, figure, f"{ours * 1e6:,.0f} us", f"{theirs * 1e6:,.0f} us", results)
    for (name, mapped, bare), (_, their_mapped, their_bare) in zip(overheads(tenfold), overheads(torch)):
        if options.only not in f"vmap({name}) beyond {name}":
            continue
        turns = [(timed(mapped) - timed(bare), timed(their_mapped) - timed(their_bare)) for _ in range(options.turns)]
        ours, theirs = (1e6 * statistics.median(column) for column in zip(*turns))
        print(f"vmap({name}) beyond {name:26} {ours / theirs:6.2f}   {ours:9.1f} us {theirs:9.1f} us   "
              f"{'' if ours <= OVERHEAD_US else f'above {OVERHEAD_US} us'}", flush=True)  # fmt: skip
        results[f"vmap({name}) beyond {name}"] = {
            "tenfold_us": round(ours, 1),
            "torch_us": round(theirs, 1),
            "bar_us": OVERHEAD_US,
        }
    for model in () if options.no_memory else [m for m in MODELS if options.only in f"peak of a step, {m}"]:
        ours_mb, theirs_mb = (in_a_process(library, model) / 1e6 for library in ("tenfold", "torch"))
        reported(f"peak of a step, {model}", ours_mb / theirs_mb, f"{ours_mb:.0f} MB", f"{theirs_mb:.0f} MB", results)
    if options.json:
        machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
        versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
        known = json.loads(options.json.read_text())["cases"] if options.json.exists() and options.only else {}
        results = known | results
        options.json.write_text(json.dumps({"machine": machine, "versions": versions, "cases": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
