"""Samples of hashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples


def _folded(input: Any, dim: Any = (), keepdim: bool = False, mode: int = 0) -> Any:
    bits = input.astype(np.float64).view(np.int64) if input.dtype.kind in "fV" else input.astype(np.int64)
    axis: Any = None if dim in ((), []) else tuple(dim) if isinstance(dim, (list, tuple)) else dim
    fold: Any = np.bitwise_xor.reduce
    return fold(bits, axis=axis, keepdims=keepdim).view(np.uint64)


@samples("hash_tensor", reference=_folded)
def _hash(make: Make) -> Iterator[Sample]:
    yield Sample(make(5), note="all")
    yield Sample(make(), note="0-d")
    yield Sample(make(2, 3, 4), (0, 2), note="dims")
    yield Sample(make(3, 4), -1, True, note="keepdim")
    yield Sample(make(0, 3), 1, note="empty")


error_samples("hash_tensor")(
    lambda make: [
        ErrorSample(make(3), mode=1, error=RuntimeError, match="mode"),
        ErrorSample(make(0), error=RuntimeError, match="reduction dim"),
        ErrorSample(make(0, 3), 0, error=IndexError, match="non-zero size"),
    ]
)
