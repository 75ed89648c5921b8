"""Compiled kernels against PyTorch on the CPU, in one process: ratios of times, below 1 Tenfold is faster.

Both libraries run in turns; the figure of a case is the median of the turns' ratios, at one thread each and at two.

    python benchmarks/compiled.py [--turns 15] [--threads 1 2] [--only memory] [--json results.json]
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Case = tuple[str, Callable[[], Any]]
BARS = {  # geometric mean, and any one
    "small": (0.25, 0.6), "chain": (0.3, 0.3), "perceptron": (0.35, 0.35),
    "memory": (0.6, 1.1), "convolution": (0.9, 1.3), "attention": (1.0, 1.3),
}  # fmt: skip

ENOUGH = 1e-3  # seconds that a run takes at least, so that the clock's own time does not count


def small(lib: Any, functional: Any) -> Iterator[Case]:
    """Operators on 64 floats and matrices of 4x4: what a call costs before there is work to do."""
    data = np.random.default_rng(0).random(64, dtype=np.float32)
    x, y, w = lib.from_numpy(data.copy()), lib.from_numpy(data.copy()), lib.from_numpy(data.copy()).requires_grad_()
    m, n = lib.from_numpy(data[:16].reshape(4, 4).copy()), lib.from_numpy(data[16:32].reshape(4, 4).copy())
    scale = lib.from_numpy(data[:4].copy())
    yield "add", lambda: x + y
    yield "scalar multiply", lambda: x * 2.5
    yield "matmul 4x4", lambda: m @ n
    yield "exp", lambda: lib.exp(x)
    yield "sum", lambda: x.sum()  # noqa: PLW0108 - the look-up is part of it
    yield "slicing", lambda: x[3:40]
    yield "view + transpose", lambda: x.view(8, 8).transpose(0, 1)
    yield "add recording a gradient", lambda: w + y
    yield "relu", lambda: lib.relu(x)
    yield "sigmoid", lambda: lib.sigmoid(x)
    yield "softmax", lambda: functional.softmax(m, -1)
    yield "layer_norm", lambda: functional.layer_norm(m, (4,), scale, scale)
    yield "cat", lambda: lib.cat([x, y])
    yield "randn", lambda: lib.randn(3)
    yield "indexing", lambda: m[1]


def chain(lib: Any, functional: Any) -> Iterator[Case]:
    """200 multiplications and additions of 64 floats, forward and backward."""
    data = np.random.default_rng(1).random(64, dtype=np.float32)
    x, w = lib.from_numpy(data.copy()), lib.from_numpy(data.copy()).requires_grad_()
    ones = lib.ones(64)

    def run() -> None:
        z = w
        for _ in range(100):
            z = z * x
            z = z + x
        z.backward(ones)
        w.grad = None

    yield "200 operators", run


def perceptrons(lib: Any, functional: Any) -> Iterator[Case]:
    """Training steps of a 32-64-10 perceptron on a batch of 8."""
    rng = np.random.default_rng(2)
    x, target = lib.from_numpy(rng.random((8, 32), dtype=np.float32)), lib.from_numpy(rng.integers(0, 10, 8))
    for name in ("SGD", "Adam"):
        model = lib.nn.Sequential(lib.nn.Linear(32, 64), lib.nn.ReLU(), lib.nn.Linear(64, 10))
        optimizer = getattr(lib.optim, name)(model.parameters(), lr=1e-3)

        def run(model: Any = model, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            functional.cross_entropy(model(x), target).backward()
            optimizer.step()

        yield f"step, {name}", run


def elementwise(lib: Any, functional: Any, size: int) -> Iterator[Case]:
    x = lib.from_numpy(np.random.default_rng(0).standard_normal(size).astype(np.float32))
    mask = x > 0
    yield "add", lambda: x + x
    yield "mul number", lambda: x * 2.5
    yield "relu", lambda: lib.relu(x)
    yield "exp", lambda: lib.exp(x)
    yield "tanh", lambda: lib.tanh(x)
    yield "gelu", lambda: functional.gelu(x)
    yield "gelu tanh", lambda: functional.gelu(x, approximate="tanh")
    yield "silu", lambda: functional.silu(x)
    yield "masked_fill", lambda: x.masked_fill(mask, 1.0)
    yield "cat", lambda: lib.cat([x, x])
    yield "sum", lambda: x.sum()  # noqa: PLW0108 - the look-up is part of it


def rows(lib: Any, functional: Any, count: int, width: int) -> Iterator[Case]:
    numbers = np.random.default_rng(0).standard_normal((count, width)).astype(np.float32)
    x, w = lib.from_numpy(numbers.copy()), lib.from_numpy(numbers[0].copy())
    target = lib.from_numpy(np.random.default_rng(1).integers(0, width, count))
    leaf, scale = lib.from_numpy(numbers.copy()).requires_grad_(), lib.from_numpy(numbers[0].copy()).requires_grad_()
    normal = functional.layer_norm(leaf, (width,), scale, scale)
    yield "sum(0)", lambda: x.sum(0)
    yield "sum(1)", lambda: x.sum(1)
    yield "amax(1)", lambda: x.amax(1)
    yield "add row", lambda: x + w
    yield "transpose copy", lambda: x.T.contiguous()  # noqa: PLW0108 - the look-up is part of it
    yield "softmax", lambda: x.softmax(-1)
    yield "log_softmax", lambda: x.log_softmax(-1)
    yield "layer_norm", lambda: functional.layer_norm(x, (width,), w, w)
    yield "layer_norm backward", lambda: normal.backward(x, retain_graph=True)
    yield "cross_entropy", lambda: functional.cross_entropy(x, target)


def steps(lib: Any, size: int) -> Iterator[Case]:
    for name, options in (("AdamW", {}), ("SGD", {"lr": 0.1, "momentum": 0.9})):
        param = lib.ones(size, requires_grad=True)
        param.grad = lib.full((size,), 0.5)
        fused = {"fused": True} if lib.__name__ == "torch" else {}
        optimizer = getattr(lib.optim, name)([param], **options, **fused)
        yield name, optimizer.step


CONVOLUTIONS = {  # images, channels, height and width, output channels, kernel, stride, padding, groups
    "5x5 of 1 channel": (64, 1, 28, 20, 5, 1, 0, 1),
    "5x5 of 6 channels": (64, 6, 14, 16, 5, 1, 0, 1),
    "3x3 of 64 at 32": (16, 64, 32, 64, 3, 1, 1, 1),
    "3x3 of 128 at 16": (16, 128, 16, 128, 3, 1, 1, 1),
    "3x3 of 256 at 14": (4, 256, 14, 256, 3, 1, 1, 1),
    "3x3 of 512 at 4": (32, 512, 4, 512, 3, 1, 1, 1),
    "3x3 stride 2": (8, 64, 56, 128, 3, 2, 1, 1),
    "1x1": (8, 256, 14, 1024, 1, 1, 0, 1),
    "7x7 stride 2": (2, 3, 224, 64, 7, 2, 3, 1),
    "depthwise": (16, 128, 28, 128, 3, 1, 1, 128),
}


def convolutions(lib: Any, functional: Any) -> Iterator[Case]:
    """Each forward, and the gradients of its input and weight together."""
    rng = np.random.default_rng(0)
    for name, (n, channels, size, outputs, kernel, stride, padding, groups) in CONVOLUTIONS.items():
        x, w = (
            lib.from_numpy(rng.standard_normal(shape, dtype=np.float32))
            for shape in ((n, channels, size, size), (outputs, channels // groups, kernel, kernel))
        )
        options = {"stride": stride, "padding": padding, "groups": groups}
        recorded = functional.conv2d(x.clone().requires_grad_(), w.clone().requires_grad_(), **options)
        given = lib.ones_like(recorded)
        yield name, lambda x=x, w=w, o=options: functional.conv2d(x, w, **o)
        yield f"{name} backward", lambda y=recorded, g=given: y.backward(g, retain_graph=True)


def attentions(lib: Any, functional: Any) -> Iterator[Case]:
    """Causal attention of 8 heads at once, forward and backward."""
    rng = np.random.default_rng(0)
    for queries, width in ((128, 32), (512, 64), (2048, 64)):
        q, k, v = (lib.from_numpy(rng.standard_normal((1, 8, queries, width), dtype=np.float32)) for _ in range(3))
        leaves = [x.clone().requires_grad_() for x in (q, k, v)]
        recorded = functional.scaled_dot_product_attention(*leaves, is_causal=True)
        given = lib.ones_like(recorded)
        name = f"{queries}x{width}"
        yield name, lambda x=(q, k, v): functional.scaled_dot_product_attention(*x, is_causal=True)
        yield f"{name} backward", lambda y=recorded, g=given: y.backward(g, retain_graph=True)


def layers(lib: Any, functional: Any) -> Iterator[Case]:
    """What stands between convolutions: pooling and batch norm, forward and backward."""
    rng = np.random.default_rng(0)
    x = lib.from_numpy(rng.standard_normal((32, 64, 32, 32), dtype=np.float32))
    norm = lib.nn.BatchNorm2d(64)
    for name, layer in (("max_pool2d", lambda v: functional.max_pool2d(v, 2)), ("batch_norm", norm)):
        recorded = layer(x.clone().requires_grad_())
        given = lib.ones_like(recorded)
        yield name, lambda layer=layer: layer(x)
        yield f"{name} backward", lambda y=recorded, g=given: y.backward(g, retain_graph=True)


def cases(lib: Any, functional: Any) -> dict[str, dict[str, Callable[[], Any]]]:
    """Calls by their names, in groups."""
    memory: dict[str, Callable[[], Any]] = {}
    for size in (1 << 16, 1 << 20):
        memory.update({f"{name} {size}": call for name, call in elementwise(lib, functional, size)})
    for shape in ((256, 512), (1024, 768)):
        memory.update({f"{name} {shape[0]}x{shape[1]}": call for name, call in rows(lib, functional, *shape)})
    memory.update({f"{name} {1 << 22}": call for name, call in steps(lib, 1 << 22)})
    windows = {**dict(convolutions(lib, functional)), **dict(layers(lib, functional))}
    calls = {"small": dict(small(lib, functional)), "chain": dict(chain(lib, functional))}
    calls["perceptron"] = dict(perceptrons(lib, functional))
    return {**calls, "memory": memory, "convolution": windows, "attention": dict(attentions(lib, functional))}


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> float:
    for call in (ours, theirs, ours, theirs):
        call()
    often = [max(1, int(ENOUGH / best(call, 1))) for call in (ours, theirs)]
    return statistics.median(best(ours, often[0]) / best(theirs, often[1]) for _ in range(turns))


def _short(value: float) -> float:
    """Three digits, however small the number: a second thread may wait long for a busy core."""
    return float(f"{value:.3g}")


def best(call: Callable[[], Any], often: int, times: int = 3) -> float:
    """The shortest of a few runs of several calls, in seconds a call."""
    found = math.inf
    for _ in range(times):
        start = time.perf_counter()
        for _ in range(often):
            call()
        found = min(found, time.perf_counter() - start)
    return found / often


def measure(threads: int, turns: int, only: str) -> dict[str, dict[str, float]]:
    import torch

    import tenfold

    torch.set_num_threads(threads)
    tenfold.set_num_threads(threads)
    ours = cases(tenfold, tenfold.nn.functional)
    theirs = cases(torch, torch.nn.functional)
    return {
        group: {name: _short(ratio(call, theirs[group][name], turns)) for name, call in calls.items()}
        for group, calls in ours.items()
        if only in group
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help=f"groups whose name contains this; {', '.join(BARS)}")
    parser.add_argument("--json", help="a file of results, in which those of the groups that were run are replaced")
    parser.add_argument("--in-process", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_process:
        print(json.dumps(measure(given.in_process, given.turns, given.only)))
        return
    results = _read(given.json)
    results.update(machine=platform.processor() or platform.machine(), python=platform.python_version())
    for threads in given.threads:  # a process each, since libraries read their number of threads at the start
        command = [sys.executable, __file__, "--in-process", str(threads), "--turns", str(given.turns), "--only", given.only]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        label = f"{threads} thread" + "s" * (threads > 1)
        for group, found in json.loads(done.stdout.splitlines()[-1]).items():
            mean, worst = math.exp(statistics.fmean(map(math.log, found.values()))), max(found.values())
            results.setdefault(label, {})[group] = {"geometric mean": round(mean, 3), **found}
            for name, value in found.items():
                print(f"{label:10s} {group:12s} {name:32s} {value:6.2f}")
            bar, most = BARS[group]
            print(f"{label:10s} {group:12s} geometric mean {mean:.2f} (bar {bar}), largest {worst:.2f} (bar {most})")
    if given.json:
        Path(given.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _read(file: str | None) -> dict[str, Any]:
    if file and Path(file).exists():
        found: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
        return found
    return {}


if __name__ == "__main__":
    main()
