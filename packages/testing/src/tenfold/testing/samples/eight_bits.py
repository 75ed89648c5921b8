"""Samples of products of 8-bit floating numbers with scales of blocks and of slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.testing.samples import UNIT, ErrorSample, Make, Sample, error_samples, samples
from tenfold.testing.samples.linear import FLOATS, _eight, _grouped

TENSOR, ROW, ROW_BLOCK, SQUARE = 0, 1, 4, 5  # recipes


def _spread(scale: Any, recipe: int, shape: tuple[int, int], second: bool = False) -> Any:
    if recipe == SQUARE:
        return np.kron(scale.T, np.ones((128, 128), "f4"))[: shape[0], : shape[1]]
    if recipe == ROW_BLOCK:
        return np.kron(scale, np.ones((1, 128), "f4"))[:, : shape[1]]
    return scale.T if second else scale


def _recipes(
    input: Any, mat2: Any, scale_a: Any, recipe_a: Any, _a: Any, scale_b: Any, recipe_b: Any, _b: Any, bias: Any, *_: Any
) -> Any:
    a = input.astype("f4") * _spread(scale_a[0], recipe_a[0], input.shape)
    b = mat2.astype("f4").T * _spread(scale_b[0], recipe_b[0], mat2.shape[::-1], second=True)
    return a @ b.T + (0 if bias is None else bias)


@samples("_scaled_mm_v2", reference=_recipes, dtypes=(FLOATS[0],))
def _scaled_mm_v2(make: Make) -> Iterator[Sample]:
    a, b = (make(n, 272, domain=UNIT).to(tenfold.float8_e4m3fn) for n in (16, 144))  # small, so that sums are, too
    b, to = b.t(), tenfold.float32
    yield Sample(a, b, [make(1)], [TENSOR], [], [make(1)], [TENSOR], [], None, to)
    yield Sample(a, b, [make(16, 1)], [ROW], [], [make(1, 144)], [ROW], [], make(144), to, [1, 0], note="rows")
    yield Sample(a, b, [make(16, 3)], [ROW_BLOCK], [], [make(144, 3)], [ROW_BLOCK], [], make(144), to, note="blocks of rows")
    yield Sample(a, b, [make(16, 3)], [ROW_BLOCK], [], [make(3, 2)], [SQUARE], [], None, to, note="blocks of both")
    yield Sample(a, b, [make(4, 1)], [SQUARE], [], [make(144, 3)], [ROW_BLOCK], [], None, to, note="padded scales")


@error_samples("_scaled_mm_v2")
def _scaled_mm_v2_errors(make: Make) -> Iterator[ErrorSample]:
    a, one = _eight(make, 16, 32), [make(1)]
    more: tuple[Any, ...] = (one, [TENSOR], [], None, tenfold.float32)
    yield ErrorSample(a, a, one, [TENSOR], [], *more, error=ValueError, match="multiplied")
    yield ErrorSample(a, a.t(), one, [ROW], [], *more, error=ValueError, match="scaling")
    yield ErrorSample(a, a.t(), one, [TENSOR], [1], *more, error=ValueError, match="NO_SWIZZLE")


def _slices(input: Any, mat2: Any, scale_a: Any, scale_b: Any, offs: Any = None, *_: Any, **more: Any) -> Any:
    a, b = input.astype("f4"), mat2.astype("f4")
    if input.ndim == mat2.ndim == 2:
        return _grouped(a, b, offs) * scale_a.reshape(len(offs), -1, 1) * scale_b.reshape(len(offs), 1, -1)
    return _grouped(a * scale_a[..., None], b * scale_b[..., None, :], offs)


@samples("_scaled_grouped_mm", reference=_slices, dtypes=(FLOATS[0],), data_dependent="offsets are read")
def _scaled_grouped_mm(make: Make) -> Iterator[Sample]:
    ends, to = make.of([2, 2, 5], dtype=tenfold.int32), {"out_dtype": tenfold.float32}
    yield Sample(_eight(make, 6, 16), _eight(make, 3, 32, 16).mT, make(6), make(3, 32), ends, **to, note="rows")
    yield Sample(_eight(make, 3, 32, 16), _eight(make, 6, 16).mT, make(3, 32), make(6), ends, **to, note="columns")
    yield Sample(_eight(make, 16, 6), _eight(make, 6, 32), make(48), make(96), ends, **to, note="sums")
    yield Sample(_eight(make, 3, 2, 16), _eight(make, 3, 16, 5), make(3, 2), make(3, 5), **to, note="stacks")


@error_samples("_scaled_grouped_mm")
def _scaled_grouped_mm_errors(make: Make) -> Iterator[ErrorSample]:
    ends, a, b = make.of([2, 2, 5], dtype=tenfold.int32), _eight(make, 6, 16), _eight(make, 3, 16, 32)
    yield ErrorSample(a, b, make(6), make(3, 32), error=RuntimeError, match="offsets")
    yield ErrorSample(a, b, make(6), make(32), ends, error=RuntimeError, match="scale_b")
    yield ErrorSample(make(6, 16), b, make(6), make(3, 32), ends, error=RuntimeError, match="Float8_e4m3")
