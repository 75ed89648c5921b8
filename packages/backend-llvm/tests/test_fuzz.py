"""Random calls of the accelerated operators in random layouts: no crash, and NumPy's values."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.dispatch import kernels

UNARY = {
    "exp": np.exp, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "neg": np.negative, "abs": np.abs, "floor": np.floor,
}  # fmt: skip
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "gt": np.greater, "eq": np.equal,
    "div": np.divide,
}  # fmt: skip
REDUCED = {"sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min}


def array(rng, shape, dtype):
    """Numbers of a shape, in memory of a random layout: strided, permuted, backwards, broadcast, misaligned."""
    ndim = len(shape)
    order = rng.permutation(ndim)
    steps = rng.integers(1, 3, ndim)
    memory = [int(shape[d] * steps[d]) for d in order]
    base = rng.standard_normal(memory)
    if rng.random() < 0.2:
        base.flat[:: max(1, base.size // 3)] = rng.choice([np.nan, np.inf, -np.inf, -0.0])
    x = base.astype(dtype).transpose(np.argsort(order))
    x = x[tuple(slice(None, None, int(s)) for s in steps)]
    if rng.random() < 0.3:
        x = x[tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in shape)]
    if ndim and rng.random() < 0.2:
        x = np.broadcast_to(x[:1], shape)
    if rng.random() < 0.1:
        raw = np.zeros(x.nbytes + 1, np.uint8)
        moved = raw[1:].view(dtype).reshape(shape)
        moved[...] = x
        x = moved
    return np.ascontiguousarray(x) if rng.random() < 0.4 else x


def shape_of(rng):
    sizes = [0, 1, 2, 3, 7, 8, 9, 16, 31, 65, 130]
    shape = tuple(int(n) for n in rng.choice(sizes, rng.integers(0, 4), p=[0.03, *[0.097] * 10]))
    return shape if np.prod(shape) < 200_000 else shape[:1]


def fewer(rng, shape):
    """A shape that is broadcast to this one."""
    kept = shape[int(rng.integers(0, len(shape) + 1)) :]
    return tuple(1 if rng.random() < 0.3 else n for n in kept)


def close(got, expected, dtype):
    tolerance = {2: 2e-2, 4: 2e-5, 8: 1e-12}[np.dtype(dtype).itemsize]
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(expected, np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("seed", range(12))
def test_random_calls(seed):
    rng = np.random.default_rng(seed)
    table = kernels.table("cpu")
    tenfold.set_num_threads(1 + seed % 3)
    with np.errstate(all="ignore"):
        for _ in range(250):
            dtype = rng.choice([np.float32, np.float64, np.float16])
            shape = shape_of(rng)
            x = array(rng, shape, dtype)
            kind = rng.integers(0, 4)
            if kind == 0:
                name = str(rng.choice(list(UNARY)))
                close(getattr(table, name)(x), UNARY[name](x.astype(np.float64)).astype(dtype), dtype)
            elif kind == 1:
                name = str(rng.choice(list(BINARY)))
                y = array(rng, fewer(rng, shape), dtype)
                if rng.random() < 0.3 and name != "maximum" and dtype != np.float16:  # there, numbers come as arrays
                    y = float(rng.standard_normal())
                close(getattr(table, name)(x, y), BINARY[name](x, y), dtype)
            elif kind == 2 and x.size and x.ndim:
                name, dim = str(rng.choice(list(REDUCED))), int(rng.integers(0, x.ndim))
                finite = np.nan_to_num(x, nan=0, posinf=1, neginf=-1)
                close(getattr(table, name)(finite, dim, False), REDUCED[name](finite.astype(np.float64), axis=dim), dtype)
            elif x.ndim and x.size and dtype != np.float16:
                finite = np.nan_to_num(x, nan=0, posinf=1, neginf=-1)
                e = np.exp(finite.astype(np.float64) - finite.max(-1, keepdims=True))
                close(table.softmax(finite, -1), e / e.sum(-1, keepdims=True), dtype)
    tenfold.set_num_threads(1)
