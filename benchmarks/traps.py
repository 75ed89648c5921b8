"""Calls that programs make often and that are easily slow: Tenfold against PyTorch, both on one thread, in one process.

Each case runs on both libraries in turns; the figures are medians of the thread's processor time, which a busy machine
disturbs least. Below 1 Tenfold is faster. A table, no verdict.

    python benchmarks/traps.py [--turns 15] [--only pow]
"""

from __future__ import annotations

import argparse
import copy
import io
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import tenfold

Case = tuple[str, Callable[[], Any]]


def powers(lib: Any) -> Iterator[Case]:
    """x ** p on 100,000 float32 elements of both signs, and on 64."""
    data = np.random.default_rng(0).standard_normal(100_000, dtype=np.float32)
    x, small, positive = lib.from_numpy(data), lib.from_numpy(data[:64].copy()), lib.from_numpy(np.abs(data) + 0.1)
    for p in (2.0, 3.0, 3, 4.0, 5, 0.5, -1, -0.5, -2, -3):
        yield f"pow(x, {p}), 100,000", lambda p=p: x**p
    for p in (3.0, 0.5, -2):
        yield f"pow(x, {p}), 64", lambda p=p: small**p
    yield "pow(x, 2.5), x > 0, 100,000", lambda: positive**2.5
    yield "pow(x, y), x > 0, 100,000", lambda: positive**positive
    yield "pow(2.0, x), 100,000", lambda: 2.0**x
    ints = lib.from_numpy(np.arange(100_000) % 50)
    yield "pow(int64, 3), 100,000", lambda: ints**3


def distances(lib: Any) -> Iterator[Case]:
    """cdist and its relatives."""
    rng = np.random.default_rng(0)
    a, b = (lib.from_numpy(rng.standard_normal((n, 64), dtype=np.float32)) for n in (1000, 800))
    few, other = a[:20], b[:20]
    yield "cdist 1000 x 800, 64 features", lambda: lib.cdist(a, b)
    yield "cdist 20 x 20", lambda: lib.cdist(few, other)
    yield "cdist p=1, 300 x 300", lambda: lib.cdist(a[:300], b[:300], p=1.0)
    yield "pdist 300", lambda: lib.nn.functional.pdist(a[:300])
    yield "cosine_similarity 1000 x 64", lambda: lib.nn.functional.cosine_similarity(a[:800], b)


def modules(lib: Any) -> Iterator[Case]:
    """A perceptron of 40 layers: its state, copies and files."""
    nn = lib.nn
    model = nn.Sequential(*[m for _ in range(40) for m in (nn.Linear(32, 32), nn.ReLU())])
    state = model.state_dict()
    optimizer = lib.optim.Adam(model.parameters())
    file = io.BytesIO()
    lib.save(state, file)

    def load() -> Any:
        file.seek(0)
        return lib.load(file)

    yield "state_dict, 80 tensors", model.state_dict
    yield "load_state_dict", lambda: model.load_state_dict(state)
    yield "deepcopy of the module", lambda: copy.deepcopy(model)
    yield "deepcopy of the state", lambda: copy.deepcopy(state)
    yield "parameters()", lambda: list(model.parameters())
    yield "named_modules()", lambda: list(model.named_modules())
    yield "zero_grad", optimizer.zero_grad
    yield "train() and eval()", lambda: (model.train(), model.eval())
    yield "repr of the module", lambda: repr(model)
    yield "save", lambda: lib.save(state, io.BytesIO())
    yield "load", load
    yield "optimizer.state_dict", optimizer.state_dict
    yield "make nn.Linear(32, 32)", lambda: nn.Linear(32, 32)
    x = lib.ones(8, 32)
    yield "forward, 40 layers of 32", lambda: model(x)


def conversions(lib: Any) -> Iterator[Case]:
    """Elements one by one, lists, printing."""
    x = lib.arange(1000, dtype=lib.float32)
    grid = x[:100].reshape(10, 10)
    big = lib.arange(100_000, dtype=lib.float32)
    numbers = list(range(1000))
    rows = [[float(i)] * 10 for i in range(100)]
    yield "item() of 100 elements", lambda: [x[i].item() for i in range(100)]
    yield "float(x[i]) of 100", lambda: [float(x[i]) for i in range(100)]
    yield "iterate over 1000 elements", lambda: list(x)
    yield "tolist of 1000", lambda: x.tolist()  # noqa: PLW0108 - the look-up is part of it
    yield "tensor(list of 1000)", lambda: lib.tensor(numbers)
    yield "tensor(list of lists)", lambda: lib.tensor(rows)
    yield "tensor(list of 100 tensors' items)", lambda: lib.tensor([t.item() for t in x[:100]])
    yield "x[i] = 1.0, 100 times", lambda: [x.__setitem__(i, 1.0) for i in range(100)]
    yield "repr of 10 x 10", lambda: repr(grid)
    yield "repr of 100,000", lambda: repr(big)
    yield "str(x[0])", lambda: str(x[0])
    yield "f'{x[0]:.3f}'", lambda: f"{x[0]:.3f}"
    yield "numpy() and from_numpy", lambda: lib.from_numpy(grid.numpy())
    yield "stack of 100 scalars", lambda: lib.stack([x[i] for i in range(100)])
    yield "deepcopy of a tensor", lambda: copy.deepcopy(grid)
    yield "x.to(float64)", lambda: x.to(lib.float64)
    yield "bool(x.sum() > 0)", lambda: bool(x.sum() > 0)


def loading(lib: Any) -> Iterator[Case]:
    """DataLoader in the process itself."""
    data = lib.utils.data
    rng = np.random.default_rng(0)
    images, labels = lib.from_numpy(rng.random((512, 3, 16, 16), dtype=np.float32)), lib.arange(512)
    both = data.TensorDataset(images, labels)
    yield "DataLoader, TensorDataset, batches of 64", lambda: list(data.DataLoader(both, 64, shuffle=True))
    pairs = [(float(i), i) for i in range(512)]
    yield "DataLoader, list of numbers, batches of 64", lambda: list(data.DataLoader(pairs, 64))
    yield "default_collate of 64 images", lambda: data.default_collate([images[i] for i in range(64)])
    yield "random_split", lambda: data.random_split(both, [400, 112])


def products(lib: Any) -> Iterator[Case]:
    """Matrix products from small to large."""
    for n in (16, 64, 128, 256, 512, 1024):
        x = lib.ones(n, n)
        yield f"matmul {n} x {n}", lambda x=x: x @ x
    batch = lib.ones(64, 32, 32)
    yield "bmm 64 x 32 x 32", lambda: lib.bmm(batch, batch)
    w, b, x = lib.ones(256, 256), lib.ones(256), lib.ones(32, 256)
    yield "linear 32 x 256 x 256", lambda: lib.nn.functional.linear(x, w, b)


FAMILIES = {
    "pow": powers, "cdist": distances, "module": modules, "convert": conversions, "data": loading, "matmul": products,
}  # fmt: skip


def seconds(run: Callable[[], Any], calls: int) -> float:
    """Processor time of one call."""
    start = time.thread_time()
    for _ in range(calls):
        run()
    return (time.thread_time() - start) / calls


def compared(ours: Callable[[], Any], theirs: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Medians of alternating turns of about two milliseconds."""
    calls = max(1, int(0.002 / max(1e-7, min(seconds(ours, 1), seconds(theirs, 1), seconds(ours, 1)))))
    pairs = [(seconds(ours, min(calls, 500)), seconds(theirs, min(calls, 500))) for _ in range(turns)]
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    return first, second


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--only", choices=FAMILIES, action="append")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tenfold.set_num_threads(1)
    print(f"{'':44}{'Tenfold us':>12}{'PyTorch us':>12}{'ratio':>8}")
    for family in args.only or FAMILIES:
        for (name, ours), (_, theirs) in zip(FAMILIES[family](tenfold), FAMILIES[family](torch), strict=True):
            mine, other = (value * 1e6 for value in compared(ours, theirs, args.turns))
            print(f"{name:44}{mine:12.1f}{other:12.1f}{mine / other:8.2f}", flush=True)


if __name__ == "__main__":
    main()
