"""Random valid calls of compiled kernels and of writes into existing tensors: the answers of NumPy's kernels, and PyTorch's.

Each call has a shape, a dtype, a layout (strided, transposed, backwards, expanded, overlapping, misaligned) and special values of
its own, and runs with 1, 2 or 3 threads. Another process without compiled kernels makes the same calls; PyTorch, where it is
installed, answers in this one. Positions and what is only moved have to be the same, sums may differ in their last digits.

python benchmarks/random_calls.py [--times 100000] [--seed 0] [--only topk]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
if "--reference" in sys.argv:  # before anything imports Tenfold
    os.environ["TENFOLD_DISABLE_PLUGINS"] = "llvm"

import numpy as np

import tenfold

Array = np.ndarray[Any, Any]
Call = tuple[Callable[..., Any], list[Any]]  # a function of the library and of tensors, and their arrays
SIZES, MOST = (0, 1, 2, 3, 5, 8, 17, 33, 64, 130), 20_000
SPECIAL = (
    np.nan,
    np.inf,
    -np.inf,
    -0.0,
    1e18,
    -1e18,
)  # whose squares float32 still holds: PyTorch's own sums of larger ones overflow
TOLERANCE = {"float16": 4e-3, "float32": 4e-6, "float64": 1e-12}
ROUNDED = ("std", "var", "cross_entropy", "cumsum", "softmax", "exp", "sigmoid", "tanh", "addcdiv", "lerp")


def shaped(rng: Any, least: int = 0, empty: bool = True) -> tuple[int, ...]:
    """A shape of few elements."""
    while True:
        shape = tuple(int(n) for n in rng.choice(SIZES if rng.random() < 0.1 and empty else SIZES[1:], rng.integers(least, 5)))
        if np.prod(shape) <= MOST:
            return shape


def numbers(rng: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    """Normal numbers, rounded ones with many equals, or some of them special."""
    x = rng.standard_normal(shape) * 3
    kind = rng.random()
    if kind < 0.25:
        x = np.round(x)
    elif kind < 0.4 and x.size:
        x.flat[:: max(1, x.size // 5)] = rng.choice(SPECIAL)
    with np.errstate(all="ignore"):
        return np.asarray(x, dtype)


def laid(rng: Any, shape: tuple[int, ...], dtype: Any, apart: bool = False) -> Array:
    """An array of a random layout; `apart`: each element has a place of its own."""
    kind, ndim = rng.integers(0, 9), len(shape)
    kind = 8 if apart and kind in (3, 4) else kind
    if kind == 0 and ndim:  # every second one
        return numbers(rng, (*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
    if kind == 1:
        order = rng.permutation(ndim)
        return numbers(rng, tuple(shape[d] for d in order), dtype).transpose(np.argsort(order))
    if kind == 2 and ndim:  # some columns of more
        return numbers(rng, (*shape[:-1], shape[-1] + 3), dtype)[..., 2:-1]
    if kind == 3 and ndim:
        return np.broadcast_to(numbers(rng, (1, *shape[1:]), dtype), shape)
    if kind == 4 and ndim > 1:  # rows that overlap
        memory = numbers(rng, (sum(shape) + 1,), dtype)
        return np.lib.stride_tricks.as_strided(memory, shape, [memory.itemsize] * ndim, writeable=False)
    x = numbers(rng, shape, dtype)
    if kind == 5:
        raw = np.zeros(x.nbytes + 1, np.uint8)
        moved = raw[1:].view(dtype).reshape(shape)
        moved[...] = x
        return moved
    return x


def searched(rng: Any, name: str) -> Call:
    """Extremes and the first few along a dimension; of equals PyTorch may choose others."""
    x = laid(rng, shaped(rng, 1, empty=False), rng.choice([np.float32, np.float64, np.float16, np.int64]))
    dim, keep = int(rng.integers(-x.ndim, x.ndim)), bool(rng.integers(0, 2))
    if name == "topk":
        k, largest = int(rng.integers(0, min(x.shape[dim], 40) + 1)), bool(rng.integers(0, 2))
        return lambda lib, t: lib.topk(t, k, dim, largest), [x]
    if name == "sort":
        return lambda lib, t: lib.sort(t, dim=dim, descending=keep, stable=True), [x]
    if name.startswith("arg") and rng.random() < 0.3:
        return lambda lib, t: getattr(lib, name)(t), [x]
    return lambda lib, t: getattr(lib, name)(t, dim, keep), [x]


def summed(rng: Any, name: str) -> Call:
    x = laid(rng, shaped(rng, 1, empty=False), rng.choice([np.float32, np.float64]))
    dim = int(rng.integers(-x.ndim, x.ndim))
    if name in ("std", "var"):
        correction = int(rng.integers(0, 2))
        dims = None if rng.random() < 0.3 else dim
        return lambda lib, t: getattr(lib, name)(t, dims, correction=correction), [x]
    return lambda lib, t: getattr(lib, name)(t, dim), [x]


def indexed(rng: Any, name: str) -> Call:
    """Elements taken and put along a dimension."""
    x = laid(rng, shaped(rng, 1, empty=False), rng.choice([np.float32, np.float64, np.float16, np.int64]))
    dim = int(rng.integers(0, x.ndim))
    sizes = [int(rng.integers(0 if rng.random() < 0.05 else 1, n + 1)) for n in x.shape]
    if rng.random() < 0.5:
        sizes = [n if d != dim else sizes[dim] for d, n in enumerate(x.shape)]
    if name == "index_select":
        return lambda lib, t, i: lib.index_select(t, dim, i), [x, rng.integers(0, x.shape[dim], sizes[dim])]
    index = laid(rng, tuple(sizes), np.int64)
    index = np.abs(index) % x.shape[dim] if index.size else index
    if name == "gather":
        return lambda lib, t, i: lib.gather(t, dim, i), [x, index]
    if name == "scatter_add":
        return lambda lib, t, i, s: lib.scatter_add(t, dim, i, s), [x, index, np.round(numbers(rng, index.shape, x.dtype))]
    return lambda lib, t, i: lib.scatter(t, dim, i, 2), [x, index]


def cross_entropy(rng: Any, name: str) -> Call:
    rows, classes = (int(n) for n in rng.choice(SIZES[1:], 2))
    x, target = laid(rng, (rows, classes), rng.choice([np.float32, np.float64])), rng.integers(0, classes, rows)
    if rng.random() < 0.2:
        target[rng.integers(0, rows)] = -100
    weight = rng.random(classes).astype(x.dtype) if rng.random() < 0.2 else None
    options = {"reduction": str(rng.choice(["mean", "sum", "none"])), "label_smoothing": float(rng.choice([0.0, 0.0, 0.1]))}
    if weight is None:
        return lambda lib, t, y: lib.nn.functional.cross_entropy(t, y, **options), [x, target]
    return lambda lib, t, y, w: lib.nn.functional.cross_entropy(t, y, w, **options), [x, target, weight]


def written(rng: Any, name: str) -> Call:
    """Writes in place and into `out=`, whole or to a part, from elsewhere, from the same or from another part of the memory."""
    dtype = rng.choice([np.float32, np.float32, np.float64, np.float16, np.int64] if name in EXACT else [np.float32, np.float64])
    shape = shaped(rng)
    x, y, z = laid(rng, shape, dtype, apart=True), laid(rng, shape, dtype), numbers(rng, shape, dtype)
    part, other = int(rng.integers(0, 4)), int(rng.integers(0, 4))
    alike = bool(rng.random() < 0.7) or name.endswith("out")  # of another shape an output would be made larger
    number = 2 if dtype == np.int64 else float(rng.choice([0.5, -2.0, 3, 0.0]))

    def run(lib: Any, a: Any, b: Any, c: Any) -> Any:
        target, second = parted(a, part), (b, a, b, 0)[other]
        second = number if other == 3 else parted(second, part if alike else other)
        found = WRITES[name](lib, target, second, parted(c, part), number)
        return found, a, target._version, a._version, found is target

    return run, [x, y, z]


def parted(t: Any, part: int) -> Any:
    """A tensor, or a part of its memory."""
    if part == 0 or not t.ndim:
        return t
    return (t[1:], t[..., ::2], t.transpose(0, -1))[part - 1]


WRITES: dict[str, Callable[..., Any]] = {
    "add_": lambda lib, t, s, u, n: t.add_(s), "mul_": lambda lib, t, s, u, n: t.mul_(s),
    "sub_": lambda lib, t, s, u, n: t.sub_(s),
    "iadd": lambda lib, t, s, u, n: t.__iadd__(s), "isub": lambda lib, t, s, u, n: t.__isub__(s),
    "imul": lambda lib, t, s, u, n: t.__imul__(s), "scaled": lambda lib, t, s, u, n: t.add_(s, alpha=2),
    "zero_": lambda lib, t, s, u, n: t.zero_(), "fill_": lambda lib, t, s, u, n: t.fill_(n),
    "relu_": lambda lib, t, s, u, n: t.relu_(),
    "copy_": lambda lib, t, s, u, n: t.copy_(s) if hasattr(s, "shape") else t.fill_(s), "neg_": lambda lib, t, s, u, n: t.neg_(),
    "abs_": lambda lib, t, s, u, n: t.abs_(), "clamp_": lambda lib, t, s, u, n: t.clamp_(-1, 1),
    "add out": lambda lib, t, s, u, n: lib.add(u, s, out=t), "mul out": lambda lib, t, s, u, n: lib.mul(t, s, out=t),
    "neg out": lambda lib, t, s, u, n: lib.neg(u, out=t),
    "exp_": lambda lib, t, s, u, n: t.exp_(), "sigmoid_": lambda lib, t, s, u, n: t.sigmoid_(),
    "tanh_": lambda lib, t, s, u, n: t.tanh_(), "div_": lambda lib, t, s, u, n: t.div_(s),
    "addcmul_": lambda lib, t, s, u, n: t.addcmul_(u, u, value=0.5), "exp out": lambda lib, t, s, u, n: lib.exp(u, out=t),
    "softmax out": lambda lib, t, s, u, n: lib.softmax(u, -1, out=t) if t.ndim else t,
    "lerp_": lambda lib, t, s, u, n: t.lerp_(u, 0.25),
}  # fmt: skip
EXACT = (*list(WRITES)[:17],)
KINDS: dict[str, Callable[[Any, str], Call]] = {
    **dict.fromkeys(("topk", "max", "min", "argmax", "argmin", "sort"), searched),
    **dict.fromkeys(("std", "var", "cumsum", "softmax"), summed),
    **dict.fromkeys(("gather", "index_select", "scatter", "scatter_add"), indexed),
    "cross_entropy": cross_entropy,
    **dict.fromkeys(WRITES, written),
}


def drawn(seed: int, number: int, only: str) -> tuple[str, Call, int]:
    """The call of this number: its kind, the call, and how many threads run it."""
    rng = np.random.default_rng((seed, number))
    names = [name for name in KINDS if only in name]
    name = names[int(rng.integers(0, len(names)))]
    return name, KINDS[name](rng, name), int(rng.integers(1, 4))


def flat(found: Any) -> list[Any]:
    """Arrays and numbers of an answer."""
    if isinstance(found, tuple):
        return [part for each in found for part in flat(each)]
    return [found.detach().numpy().copy()] if hasattr(found, "detach") else [found]


def answer(lib: Any, call: Call) -> Any:
    """What the call gives, or the words of what it raises."""
    function, arrays = call
    given = [lib.from_numpy(_for(lib, array)) for array in arrays]
    try:
        return flat(function(lib, *given))
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def _for(lib: Any, array: Array) -> Array:
    """A copy for a library, with the same steps, and misaligned where the array is, which PyTorch's cannot be."""
    length = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)) + array.itemsize if array.size else 0
    start = array.ctypes.data % 8 if lib is tenfold else 0
    memory = bytearray(start) + ctypes.string_at(array.ctypes.data, length)
    return np.ndarray(array.shape, array.dtype, memory, start, array.strides) if length else array.copy()


def same(name: str, got: Any, expected: Any, loose: bool) -> bool:
    """Whether two answers agree; `loose`: PyTorch's, whose words are its own and which chooses among equals."""
    if isinstance(got, str) or isinstance(expected, str):
        return type(got) is type(expected) if loose else bool(got == expected)
    return len(got) == len(expected) and all(_agree(name, g, e, loose) for g, e in zip(got, expected, strict=True))


def _agree(name: str, got: Any, expected: Any, loose: bool) -> bool:
    if not isinstance(got, np.ndarray):
        return bool(got == expected)
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return False
    if got.dtype.kind != "f":
        return (loose and name in ("topk", "max", "min", "argmax", "argmin", "sort")) or bool(np.array_equal(got, expected))
    if name.startswith(ROUNDED) or (loose and got.dtype == np.float16) or (loose and name.startswith(ROUGH)):
        tolerance = TOLERANCE[got.dtype.name]
        with np.errstate(all="ignore"):
            scale = np.max(np.abs(got), initial=1.0, where=np.isfinite(got)) if name == "cumsum" else 1.0
        return bool(np.allclose(got, expected, rtol=tolerance * 4, atol=tolerance * scale, equal_nan=True))
    return bool(np.array_equal(got, expected, equal_nan=True))


ROUGH = ("scatter_add", "scaled", "addcmul")  # fused or ordered in PyTorch as its vectors fall


def reference(times: int, seed: int, only: str) -> None:
    """Answer all calls on standard output, for the process that compares."""
    for number in range(times):
        _, call, _ = drawn(seed, number, only)
        pickle.dump(answer(tenfold, call), sys.stdout.buffer)


def told(number: int, name: str, got: Any, who: str, expected: Any) -> None:
    """Print a call whose answers differ."""
    for label, found in (("got", got), (who, expected)):
        text = found if isinstance(found, str) else " | ".join(" ".join(str(part).split()) for part in found)
        print(f"call {number} {name}: {label} {text[:400]}")


def compare(times: int, seed: int, only: str) -> int:
    """Make the calls, print how many of each kind agree; returns how many do not."""
    try:
        import torch
    except ImportError:
        torch = None
    command = [sys.executable, __file__, "--reference", "--times", str(times), "--seed", str(seed), "--only", only]
    made, differ, theirs, raised = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        for number in range(times):
            name, call, threads = drawn(seed, number, only)
            expected = pickle.load(other.stdout)
            tenfold.set_num_threads(threads)
            got = answer(tenfold, call)
            made[name] += 1
            raised[name] += isinstance(got, str)
            if not same(name, got, expected, loose=False):
                differ[name] += 1
                told(number, name, got, "NumPy's kernels", expected)
            judged = got if torch is None else answer(torch, call)
            if not same(name, got, judged, loose=True):
                theirs[name] += 1
                told(number, name, got, "PyTorch", judged)
    print(f"{'kind':16s} {'calls':>8s} {'refused':>8s} {'not NumPy':>10s} {'not PyTorch':>12s}")
    for name, count in made.items():
        print(f"{name:16s} {count:8d} {raised[name]:8d} {differ[name]:10d} {theirs[name]:12d}")
    print(f"{times} calls (seed {seed}): {differ.total()} differ from NumPy's kernels, {theirs.total()} from PyTorch")
    return differ.total() + theirs.total()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds of calls whose name contains this")
    parser.add_argument("--reference", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    if given.reference:
        reference(given.times, given.seed, given.only)
        return 0
    return int(compare(given.times, given.seed, given.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
