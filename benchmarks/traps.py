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


def training(lib: Any) -> Iterator[Case]:
    """What the loop around a model calls: accuracy, clipping, construction, inspection."""
    nn, rng = lib.nn, np.random.default_rng(0)
    logits, labels = lib.from_numpy(rng.random((64, 10), dtype=np.float32)), lib.from_numpy(rng.integers(0, 10, 64))
    model = nn.Sequential(*[nn.Linear(32, 32) for _ in range(40)])
    for parameter in model.parameters():
        parameter.grad = lib.ones_like(parameter)
    parameters = list(model.parameters())
    empty, x = nn.Identity(), lib.ones(4)
    yield "(logits.argmax(1) == y).sum().item()", lambda: (logits.argmax(1) == labels).sum().item()
    yield "logits.max(1)", lambda: logits.max(1)
    yield "logits.topk(3)", lambda: logits.topk(3)
    yield "isnan().any()", lambda: bool(lib.isnan(logits).any())
    yield "(x > 0).all()", lambda: bool((logits > 0).all())
    yield "clip_grad_norm_, 80 tensors", lambda: nn.utils.clip_grad_norm_(parameters, 1.0)
    yield "make Adam, 80 tensors", lambda: lib.optim.Adam(parameters)
    yield "make SGD, 80 tensors", lambda: lib.optim.SGD(parameters, 0.1)
    yield "named_parameters()", lambda: list(model.named_parameters())
    yield "call of nn.Identity", lambda: empty(x)
    yield "norm of 64 x 10", logits.norm
    yield "one_hot of 64", lambda: nn.functional.one_hot(labels, 10)
    yield "nll and softmax of 64 x 10", lambda: nn.functional.cross_entropy(logits, labels)
    yield "detach().cpu().numpy()", lambda: logits.detach().cpu().numpy()
    yield "make nn.Conv2d(8, 8, 3)", lambda: nn.Conv2d(8, 8, 3)
    yield "make nn.LSTM(32, 32)", lambda: nn.LSTM(32, 32)
    yield "make nn.BatchNorm2d(8)", lambda: nn.BatchNorm2d(8)


def indices(lib: Any) -> Iterator[Case]:
    """Masks, indices, order and rearrangement."""
    rng = np.random.default_rng(0)
    x = lib.from_numpy(rng.standard_normal((100, 100), dtype=np.float32))
    flat, few = x.reshape(-1), x[0, :10].clone()
    mask, whole = x > 0, lib.from_numpy(rng.integers(0, 100, 10_000))
    i, j, y = whole[:1000], whole[1000:2000], x.clone()
    wide = whole.reshape(100, 100)
    yield "x[mask], 10,000", lambda: x[mask]
    yield "x[mask] = 0.0", lambda: y.__setitem__(mask, 0.0)
    yield "masked_fill", lambda: x.masked_fill(mask, 0.0)
    yield "where", lambda: lib.where(mask, x, y)
    yield "mask & mask, ~mask", lambda: ~(mask & mask)
    yield "mask.sum()", lambda: mask.sum()  # noqa: PLW0108 - the look-up is part of it
    yield "nonzero", lambda: mask.nonzero()  # noqa: PLW0108
    yield "x[i, j] of 1000", lambda: x[i, j]
    yield "index_put_ of 1000", lambda: y.index_put_((i, j), flat[:1000])
    yield "index_put_ accumulating", lambda: y.index_put_((i, j), flat[:1000], accumulate=True)
    yield "index_add_ of 1000 rows", lambda: y.index_add_(0, i, x[i])
    yield "gather", lambda: x.gather(1, wide)
    yield "scatter_", lambda: y.scatter_(1, wide, x)
    yield "scatter_add_", lambda: y.scatter_add_(1, wide, x)
    yield "sort of 10,000", lambda: flat.sort()  # noqa: PLW0108
    yield "sort of 100 x 100", lambda: x.sort(1)
    yield "argsort of 10", lambda: few.argsort()  # noqa: PLW0108
    yield "topk(10) of 100 x 100", lambda: x.topk(10, 1)
    yield "topk(5) of 10,000", lambda: flat.topk(5)
    yield "unique of 10,000", lambda: whole.unique()  # noqa: PLW0108
    yield "bincount", lambda: whole.bincount()  # noqa: PLW0108
    yield "histc", lambda: lib.histc(flat, 50)
    yield "median of 10,000", lambda: flat.median()  # noqa: PLW0108
    yield "quantile of 10,000", lambda: flat.quantile(0.3)
    yield "kthvalue", lambda: flat.kthvalue(50)
    yield "searchsorted", lambda: lib.searchsorted(few.sort()[0], flat[:1000])
    yield "cumsum of 100 x 100", lambda: x.cumsum(1)
    yield "cumsum along rows", lambda: x.cumsum(0)
    yield "roll", lambda: x.roll(3, 1)
    yield "flip", lambda: x.flip(1)
    yield "pad", lambda: lib.nn.functional.pad(x, (2, 2, 2, 2))
    yield "pad, reflect", lambda: lib.nn.functional.pad(x[None], (2, 2), mode="reflect")
    yield "tril", lambda: x.tril()  # noqa: PLW0108
    yield "repeat_interleave", lambda: few.repeat_interleave(100)
    yield "cat of 2000", lambda: lib.cat([few] * 2000)
    yield "stack of 1000 scalars", lambda rows=[flat[k] for k in range(1000)]: lib.stack(rows)
    yield "chunk, split, unbind", lambda: (x.chunk(10), x.split(10), x.unbind())
    yield "copy_", lambda: y.copy_(x)
    yield "copy_ of a transpose", lambda: y.copy_(x.t())
    yield "contiguous of a transpose", lambda: x.t().contiguous()
    yield "meshgrid", lambda: lib.meshgrid(few, few, indexing="ij")


def arithmetic(lib: Any) -> Iterator[Case]:
    """Other dtypes, small products, conversions."""
    rng = np.random.default_rng(0)
    x = lib.from_numpy(rng.standard_normal(10_000, dtype=np.float32))
    half, brain, z = x.to(lib.float16), x.to(lib.bfloat16), lib.complex(x, x)
    whole, octets = lib.arange(10_000), lib.from_numpy(rng.integers(0, 255, 10_000).astype(np.uint8))
    a, b = x[:64].reshape(8, 8), x[:512].reshape(8, 8, 8)
    yield "float16 * float16, 10,000", lambda: half * half
    yield "float16 + 1", lambda: half + 1
    yield "float16 exp", lambda: half.exp()  # noqa: PLW0108
    yield "float16 sum", lambda: half.sum()  # noqa: PLW0108
    yield "bfloat16 * bfloat16", lambda: brain * brain
    yield "bfloat16 exp", lambda: brain.exp()  # noqa: PLW0108
    yield "bfloat16 sum", lambda: brain.sum()  # noqa: PLW0108
    yield "float32 to float16", lambda: x.to(lib.float16)
    yield "float32 to bfloat16", lambda: x.to(lib.bfloat16)
    yield "bfloat16 to float32", lambda: brain.float()  # noqa: PLW0108
    yield "float32 to int64", lambda: x.long()  # noqa: PLW0108
    yield "uint8 to float / 255", lambda: octets.float() / 255
    yield "complex * complex", lambda: z * z
    yield "complex abs", lambda: z.abs()  # noqa: PLW0108
    yield "int64 // 7", lambda: whole // 7
    yield "int64 % 7", lambda: whole % 7
    yield "float % 0.7", lambda: x % 0.7
    yield "clamp", lambda: x.clamp(-1, 1)
    yield "round", lambda: x.round()  # noqa: PLW0108
    yield "sigmoid, 10,000", lambda: x.sigmoid()  # noqa: PLW0108
    yield "tanh, 10,000", lambda: x.tanh()  # noqa: PLW0108
    yield "log, 10,000", lambda: x.abs().log()
    yield "std, 10,000", lambda: x.std()  # noqa: PLW0108
    yield "var of 100 rows", lambda: x.view(100, 100).var(1)
    yield "prod", lambda: x.prod()  # noqa: PLW0108
    yield "logsumexp of 100 rows", lambda: x.view(100, 100).logsumexp(1)
    yield "x + 1, 4 elements", lambda s=x[:4]: s + 1
    yield "einsum ij,jk->ik, 8 x 8", lambda: lib.einsum("ij,jk->ik", a, a)
    yield "einsum bij,bjk->bik, 8 x 8 x 8", lambda: lib.einsum("bij,bjk->bik", b, b)
    yield "bmm 8 x 8 x 8", lambda: lib.bmm(b, b)
    yield "a @ vector, 8 x 8", lambda: a @ a[0]
    yield "inverse 8 x 8", lambda: lib.linalg.inv(a)


def chance(lib: Any) -> Iterator[Case]:
    """Random numbers, many and few."""
    dist = lib.distributions
    p, rate = lib.full((64, 10), 0.1), lib.full((1000,), 3.0)
    choice, normal = dist.Categorical(p), dist.Normal(lib.zeros(10), lib.ones(10))
    gamma, square, ones, row = dist.Gamma(rate, rate), lib.empty(32, 32), lib.ones(10_000), lib.empty(1000)
    for n in (4, 15, 16, 2048, 100_000):
        yield f"randn({n})", lambda n=n: lib.randn(n)
    for n in (4, 2048, 100_000):
        yield f"rand({n})", lambda n=n: lib.rand(n)
    yield "normal_(0, 0.02), 32 x 32", lambda: square.normal_(0, 0.02)
    yield "uniform_, 32 x 32", lambda: square.uniform_(-1, 1)
    yield "randint, 1000", lambda: lib.randint(0, 10, (1000,))
    yield "randperm, 50,000", lambda: lib.randperm(50_000)
    yield "bernoulli, 1000", lambda: lib.bernoulli(rate / 10)
    yield "dropout, 10,000", lambda: lib.nn.functional.dropout(ones, 0.5)
    yield "multinomial, 64 x 10", lambda: lib.multinomial(p, 1)
    yield "multinomial(2000) of 10", lambda: lib.multinomial(p[0], 2000, replacement=True)
    yield "Categorical(p).sample()", lambda: choice.sample()  # noqa: PLW0108
    yield "Categorical, log_prob of its sample", lambda: dist.Categorical(p).log_prob(choice.sample())
    yield "Normal.sample()", lambda: normal.sample()  # noqa: PLW0108
    yield "Gamma.sample(), 1000", lambda: gamma.sample()  # noqa: PLW0108
    yield "poisson, 1000", lambda: lib.poisson(rate)
    yield "exponential_, 1000", lambda: row.exponential_()  # noqa: PLW0108
    yield "manual_seed", lambda: lib.manual_seed(0)


FAMILIES = {
    "pow": powers, "cdist": distances, "module": modules, "convert": conversions, "data": loading, "matmul": products,
    "train": training, "index": indices, "numbers": arithmetic, "random": chance,
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
