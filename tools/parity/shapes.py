"""Single calls on tensors of random shapes, strides and dtypes against PyTorch: `python tools/parity/shapes.py [--calls 100000]`.

A call agrees when both refuse it, or both give results of the same dtype, shape and values. Prints the disagreements by
operator, the first of each whole, and ends with a line of counts; the exit status is 1 where any was found. With `--device
cuda` Tenfold's tensors are on a GPU, or in Triton's interpreter: some thousand calls, which a minute of it makes.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tenfold

sys.path.insert(0, str(Path(__file__).parent))

import on_cuda  # type: ignore[import-not-found] # beside this file

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
TOLERANCE = {
    "complex32": 4e-3,
    "float16": 4e-3,
    "bfloat16": 4e-2,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-10,
    "complex128": 1e-10,
}
UNARY = (
    "abs neg sign square sqrt exp sin cos tanh sigmoid ceil floor isnan isfinite logical_not bitwise_not reciprocal angle real"
).split()
BINARY = (
    "add sub mul div maximum minimum eq ne lt ge logical_and logical_xor bitwise_and bitwise_or atan2 fmod remainder hypot"
).split()
REDUCTIONS = "sum mean prod amax amin any all argmax argmin logsumexp var cumsum cumprod count_nonzero".split()
SHAPES = (
    "flip roll transpose squeeze unsqueeze flatten unbind chunk movedim narrow select diagonal tril triu repeat expand".split()
)

# Where PyTorch's own behaviour is no rule that a program could rest on.
ACCEPTED = {
    "matmul": "of nothing PyTorch takes two dtypes, and gives the second's",
    "amin": "of nothing PyTorch takes complex numbers, which have no order",
    "amax": "of nothing PyTorch takes complex numbers, which have no order",
}
DEVICE = ["cpu"]  # of Tenfold's tensors


def layout(rng: random.Random) -> list[Any]:
    """How a tensor's memory is rearranged: steps that `arranged` carries out in both libraries."""
    return rng.choice([[], ["t"], ["step"], ["expand"], ["t", "step"]])


def arranged(x: Any, steps: list[Any]) -> Any:
    """The tensor after these steps."""
    for step in steps:
        if step == "t" and x.dim() > 1:
            x = x.transpose(0, -1)
        elif step == "step" and x.dim():
            x = x[::2]
        elif step == "expand":
            x = x.unsqueeze(0).expand(2, *x.shape)
    return x


def data(rng: random.Random, numbers: Any, shape: list[int], dtype: str) -> Any:
    """Values of a dtype as NumPy holds them; a few are special."""
    if dtype == "bool":
        return numbers.random(shape) < 0.5
    if "int" in dtype:
        low = 0 if dtype == "uint8" else -9
        return numbers.integers(low, 9, shape).astype(dtype)
    values = numbers.normal(size=shape) * rng.choice([1, 1, 5])
    if rng.random() < 0.2 and values.size:
        values.flat[rng.randrange(values.size)] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan])
    if "complex" in dtype:
        values = values + 1j * numbers.normal(size=shape)
    return values.astype("float32" if dtype == "bfloat16" else dtype)


def operation(rng: random.Random) -> tuple[str, int, Callable[[Any, list[Any]], Any]]:
    """A name, how many tensors it takes, and the call, given the library and the tensors."""
    dim, keep, number = rng.randint(-3, 3), rng.random() < 0.5, rng.choice([0, 1, -2, 2.5, True])
    kind = rng.choice(["unary", "binary", "number", "reduce", "reduce", "shape", "index", "matmul", "join"])
    if kind == "unary":
        name = rng.choice(UNARY)
        return name, 1, lambda lib, t: getattr(lib, name)(t[0])
    if kind == "binary":
        name = rng.choice(BINARY)
        return name, 2, lambda lib, t: getattr(lib, name)(t[0], t[1])
    if kind == "number":
        name = rng.choice(BINARY[:8])
        return f"{name} with a number", 1, lambda lib, t: getattr(t[0], name)(number)
    if kind == "reduce":
        name = rng.choice(REDUCTIONS)
        options = {} if name.startswith(("cum", "count")) else {"keepdim": keep}
        return name, 1, lambda lib, t: getattr(lib, name)(t[0], dim, **options)
    if kind == "shape":
        return shape_operation(rng, dim)
    if kind == "index":
        return index_operation(rng)
    if kind == "matmul":
        return "matmul", 2, lambda lib, t: lib.matmul(t[0], t[1])
    name = rng.choice(["cat", "stack"])
    return name, 2, lambda lib, t: getattr(lib, name)(t, dim)


def shape_operation(rng: random.Random, dim: int) -> tuple[str, int, Callable[[Any, list[Any]], Any]]:
    """A view or a rearrangement."""
    name, n, other = rng.choice(SHAPES), rng.randint(-2, 4), rng.randint(-2, 2)
    arguments: dict[str, tuple[Any, ...]] = {
        "flip": ((dim,),), "roll": (n, dim), "transpose": (dim, other), "squeeze": (dim,), "unsqueeze": (dim,),
        "flatten": (dim, other), "unbind": (dim,), "chunk": (max(n, 1), dim), "movedim": (dim, other),
        "narrow": (dim, abs(other), max(n, 0)), "select": (dim, n), "diagonal": (n, dim, other), "tril": (n,), "triu": (n,),
        "repeat": (2, max(n, 0), 1), "expand": (2, -1, max(n, 1)),
    }  # fmt: skip
    return name, 1, lambda lib, t: getattr(t[0], name)(*arguments[name])


def part(rng: random.Random) -> Any:
    """One entry of an index."""
    cut = slice(rng.randint(-3, 3), rng.randint(-3, 5), rng.randint(1, 2))
    return rng.choice([rng.randint(-3, 3), cut, None, [0, -1], [[1], [0]]])


def index_operation(rng: random.Random) -> tuple[str, int, Callable[[Any, list[Any]], Any]]:
    """Reading, or writing a number, at slices, numbers, positions and masks."""
    parts: list[Any] = [part(rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        parts[rng.randrange(len(parts))] = ...
    write = rng.random() < 0.4

    def call(lib: Any, t: list[Any]) -> Any:
        index = tuple(lib.tensor(item) if isinstance(item, list) else item for item in parts)
        if not write:
            return t[0][index]
        whole = t[0].clone()
        whole[index] = 1
        return whole

    return f"index {'write' if write else 'read'}", 1, call


def outcome(lib: Any, call: Callable[[Any, list[Any]], Any], tensors: list[Any]) -> Any:
    """What a call gives, or the error."""
    try:
        result = call(lib, tensors)
        return list(result) if isinstance(result, (tuple, list)) else [result]
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        return error


def difference(ours: Any, theirs: Any) -> str:
    """In what two outcomes differ; empty where they agree."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if isinstance(ours, Exception) and isinstance(theirs, Exception):
            return ""
        return f"ours: {ours!r:.150}; PyTorch: {theirs!r:.150}"
    if len(ours) != len(theirs):
        return f"{len(ours)} results, PyTorch {len(theirs)}"
    for a, b in zip(ours, theirs, strict=True):
        name = str(b.dtype).removeprefix("torch.")
        if a.dtype.name != name or tuple(a.shape) != tuple(b.shape):
            return f"{a.dtype} {tuple(a.shape)}, PyTorch {b.dtype} {tuple(b.shape)}"
        pair = ((a, tenfold), (b, torch))
        left, right = (x.float() if name == "bfloat16" else x.to(lib.complex64) if name == "complex32" else x for x, lib in pair)
        bound = TOLERANCE.get(name, 0)
        x, y = left.cpu().numpy(), right.resolve_conj().numpy()
        if name.startswith("complex"):  # of which part of a number inf * 0 makes nan there is no rule
            x, y = (np.where(np.isfinite(values), values, np.nan) for values in (x, y))
        if not np.allclose(x, y, rtol=bound, atol=bound, equal_nan=True):
            return f"{left.tolist()}, PyTorch {right.tolist()}"
    return ""


def one(rng: random.Random, numbers: Any) -> tuple[str, str]:
    """The name of a random call and in what the two libraries differ."""
    name, count, call = operation(rng)
    shape = [rng.choice([0, 1, 1, 2, 3, 4, 5]) if rng.random() < 0.9 else 17 for _ in range(rng.randint(0, 4))]
    ours, theirs, said = [], [], []
    for _ in range(count):
        own = [n if rng.random() < 0.85 else 1 for n in shape][rng.randint(0, 1) if rng.random() < 0.3 else 0 :]
        dtype, steps = rng.choice(DTYPES), layout(rng)
        values = data(rng, numbers, own, dtype)
        ours.append(arranged(tenfold.from_numpy(np.array(values)).to(DEVICE[0], getattr(tenfold, dtype)), steps))
        theirs.append(arranged(torch.tensor(values, dtype=getattr(torch, dtype)), steps))
        said.append(f"{dtype}{own}{steps or ''}")
    if name in ACCEPTED and not all(x.numel() for x in theirs):
        return name, ""
    found = difference(outcome(tenfold, call, ours), outcome(torch, call, theirs))
    return name, found and f"{', '.join(said)}: {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args()
    DEVICE[:] = [options.device]
    if options.device == "cuda":
        on_cuda.start()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    rng, numbers = random.Random(options.seed), np.random.default_rng(options.seed)
    wrong = collections.defaultdict[str, list[str]](list)
    for _ in range(options.calls):
        name, found = one(rng, numbers)
        if found:
            wrong[name].append(found)
    for name, found_here in sorted(wrong.items(), key=lambda item: -len(item[1])):
        print(f"{name}: {len(found_here)}\n  {found_here[0]:.500}")
    failed = sum(map(len, wrong.values()))
    print(f"{options.calls - failed} passed, {failed} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
