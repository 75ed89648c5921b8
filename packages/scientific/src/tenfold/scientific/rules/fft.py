"""Gradients of the Fourier transforms, which are linear: the adjoint of a transform is the other direction, undivided.

Half a spectrum stands for both halves, so its gradient counts what stands for two values twice.
"""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient


def _complex(g: Any, input_dtype: Any, dim: Any, forward: bool, divisor: str) -> Any:
    result = op.complex_transform(g, dim, not forward, divisor)
    return result if input_dtype.is_complex else result.real


def _real(g: Any, input_shape: Any, dim: int, divisor: str) -> Any:
    missing = [*g.shape[:dim], input_shape[dim] - g.shape[dim], *g.shape[dim + 1 :]]
    return op.complex_transform(op.cat([g, g.new_zeros(missing)], dim), (dim,), False, divisor).real


def _to_real(g: Any, input_shape: Any, dim: int, size: int, divisor: str) -> Any:
    result = op.real_transform(g, dim, divisor)
    count = (size - 1) // 2  # the values that stand for two
    twice = op.cat([g.new_ones(1), g.new_full((count,), 2.0), g.new_ones(input_shape[dim] - 1 - count)])
    return result * twice.reshape([-1] + [1] * (g.dim() - 1 - dim))


gradient(op.complex_transform, node="FftC2CBackward0", input=_complex)
gradient(op.real_transform, node="FftR2CBackward0", input=_real)
gradient(op.real_inverse_transform, node="FftC2RBackward0", input=_to_real)
