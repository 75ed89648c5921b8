"""The kinds of calls that random_calls.py draws: functions of a library and of tensors, with arrays of every layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
    values = np.round(numbers(rng, index.shape, x.dtype))
    if rng.random() < 0.02 and index.size:
        index.flat[-1] = rng.choice([-1, x.shape[dim]])
    if name.startswith("index_add"):
        place = rng.integers(0, x.shape[dim], sizes[dim])
        values = laid(rng, tuple(n if d != dim else sizes[dim] for d, n in enumerate(x.shape)), x.dtype)
        whole = [np.round(np.clip(np.nan_to_num(array), -9, 9)) for array in (x, values)]  # whose sums are exact in any order
        return lambda lib, t, i, s: getattr(_own(lib, t), name)(dim, i, s), [whole[0], place, whole[1]]
    if name.startswith("scatter_add") or rng.random() < 0.5:
        return lambda lib, t, i, s: getattr(_own(lib, t), name)(dim, i, s), [x, index, values]
    return lambda lib, t, i: getattr(_own(lib, t), name)(dim, i, 2), [x, index]


def _own(lib: Any, t: Any) -> Any:
    """A tensor that repeats no elements, as a write needs."""
    return t.clone() if 0 in t.stride() or len(set(t.stride())) < t.dim() else t


def converted(rng: Any, name: str) -> Call:
    """Other dtypes, of numbers that each of them has: what others become is the processor's choice."""
    x = laid(rng, shaped(rng), rng.choice([np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_]))
    target = str(rng.choice(["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool"]))
    if x.dtype.kind == "f" and target not in ("float32", "float64", "float16", "bfloat16"):
        x = np.abs(np.nan_to_num(np.round(x), posinf=7, neginf=0)) % 100
    if x.dtype.kind == "i" and target == "uint8":
        x = np.abs(x) % 100
    copy = bool(rng.integers(0, 2))
    return lambda lib, t: _wide(t.to(getattr(lib, target), copy=copy), lib), [np.asarray(x)]


def _wide(t: Any, lib: Any) -> Any:
    """NumPy has no bfloat16 by itself."""
    return t.float() if t.dtype is lib.bfloat16 else t


SUMS = (
    "ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "ij,ij->", "ij->ji", "ii->i", "i,j->ij", "ij,jk,kl->il", "...j,j->...",
    "bhid,bhjd->bhij", "ij->j", "ijk,k->ij", "ij,ij->ij",
)  # fmt: skip


def einsum(rng: Any, name: str) -> Call:
    """Products and sums of two or three operands of whole numbers, whose sums are exact."""
    text = str(rng.choice(SUMS))
    sizes = {letter: int(rng.choice(SIZES[1:7])) for letter in "abdhijkl"}
    dtype = rng.choice([np.float32, np.float64, np.int64])
    given = []
    for operand in text.split("->")[0].split(","):
        shape = tuple(sizes[letter] for letter in operand.replace("...", "ab"))
        given.append(np.round(np.clip(np.nan_to_num(laid(rng, shape, dtype)), -9, 9)))
    return lambda lib, *operands: lib.einsum(text, *operands), given


def one_hot(rng: Any, name: str) -> Call:
    classes = int(rng.integers(1, 40))
    places = laid(rng, shaped(rng), np.int64)
    places = np.abs(places) % classes if places.size else places
    if rng.random() < 0.05 and places.size:
        places = places + rng.choice([-classes, 1])
    given = classes if rng.random() < 0.7 else -1
    return lambda lib, t: lib.nn.functional.one_hot(t, given), [np.asarray(places)]


def dropout(rng: Any, name: str) -> Call:
    """The same elements are dropped as in PyTorch after the same seed."""
    x = laid(rng, shaped(rng), rng.choice([np.float32, np.float64]))
    p, seed, training, inplace = (
        float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])),
        int(rng.integers(0, 9)),
        rng.random() < 0.9,
        rng.random() < 0.2,
    )

    def run(lib: Any, t: Any) -> Any:
        lib.manual_seed(seed)
        return lib.nn.functional.dropout(_own(lib, t), p, bool(training), bool(inplace))

    return run, [x]


def viewed(rng: Any, name: str) -> Call:
    """Several views of one another, and a write through the last, which all of them see."""
    x = laid(rng, shaped(rng), rng.choice([np.float32, np.float64, np.int64, np.bool_]), apart=True)
    steps = [_view(rng) for _ in range(int(rng.integers(1, 5)))]
    write = bool(rng.integers(0, 2))

    def run(lib: Any, t: Any) -> Any:
        found = t
        for step in steps:
            found = step(found)
        if write:
            found.fill_(1)
        steps_of = [step for n, step in zip(found.shape, found.stride(), strict=True) if n > 1 and found.numel()]
        return found, t, *steps_of, found._version, found._base is t

    return run, [x]


def _view(rng: Any) -> Callable[[Any], Any]:
    """A function that makes a view, of most tensors."""
    kind, d, e = int(rng.integers(0, 10)), int(rng.integers(-2, 3)), int(rng.integers(-3, 4))
    part = slice(*(None if rng.random() < 0.4 else int(rng.integers(-4, 9)) for _ in range(2)), int(rng.integers(1, 4)))
    index = tuple(part if rng.random() < 0.5 else (None, ..., e)[int(rng.integers(0, 3))] for _ in range(int(rng.integers(1, 4))))
    size = int(rng.choice([1, 2, 3, 4, 8]))
    return (
        lambda t: t[e], lambda t: t[part], lambda t: t[index], lambda t: t.view(-1), lambda t: t.view(size, -1),
        lambda t: t.transpose(d, e), lambda t: t.t(), lambda t: t.unsqueeze(d), lambda t: t.permute(*reversed(range(t.dim()))),
        lambda t: t.select(d, e),
    )[kind]  # fmt: skip


def compared(rng: Any, name: str) -> Call:
    x = laid(rng, shaped(rng), rng.choice([np.float32, np.float64, np.int64, np.bool_]))
    y = x.copy()
    if y.size and rng.random() < 0.5:
        y.flat[-1] = 1
    return lambda lib, t, u: lib.equal(t, u), [x, y if rng.random() < 0.9 else y.ravel()]


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
    **dict.fromkeys(("gather", "index_select", "scatter", "scatter_add", "scatter_", "scatter_add_"), indexed),
    **dict.fromkeys(("index_add", "index_add_"), indexed),
    "to": converted,
    "einsum": einsum,
    "one_hot": one_hot,
    "dropout": dropout,
    "views": viewed,
    "equal": compared,
    "cross_entropy": cross_entropy,
    **dict.fromkeys(WRITES, written),
}
