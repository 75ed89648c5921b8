"""The device's kernels: add, mul, gt, sum. Everything else is Tenfold's, or is missing and says so."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator, op
from tenfold_second.backend import Buffer, allocate


def elementwise(operator: Operator, function: Callable[[Any, Any], Any]) -> Callable[[Buffer, Any], Buffer]:
    def run(input: Buffer, other: Any) -> Buffer:
        metas = [Meta(a.shape, a.dtype) if isinstance(a, Buffer) else a for a in (input, other)]
        geometry = operator.shape_rule(*metas)
        result = allocate(geometry.shape, geometry.dtype, input.unit)
        right = (p.value for p in other.pointers(result.shape)) if isinstance(other, Buffer) else repeat(other)
        for out, left, value in zip(result.pointers(), input.pointers(result.shape), right):
            out.value = function(left.value, value)
        return result

    return run


for _operator, _function in {op.add: python.add, op.mul: python.mul, op.gt: python.gt}.items():
    kernel(_operator, device="second")(elementwise(_operator, _function))


@kernel(op.sum, device="second", when=lambda input, dim, keepdim: dim is None and not keepdim, note="over all dimensions")
def total(input: Buffer, dim: Any, keepdim: bool) -> Buffer:
    result = allocate((), np.dtype(np.float64), input.unit)
    next(result.pointers()).value = sum(p.value for p in input.pointers())
    return result
