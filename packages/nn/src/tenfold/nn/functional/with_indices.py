"""Maximum pooling that returns the places of the maxima too: `max_pool2d_with_indices` and its kin."""

from __future__ import annotations

from typing import Any

from tenfold.nn.ops.pool.adaptive import adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d
from tenfold.nn.ops.pool.fractional import fractional_max_pool2d, fractional_max_pool3d
from tenfold.nn.ops.pool.windows import max_pool1d, max_pool2d, max_pool3d
from tenfold.tensor.tensor import Tensor


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool1d` with `return_indices=True`."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)  # type: ignore[no-any-return]


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool2d` with `return_indices=True`."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)  # type: ignore[no-any-return]


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """`max_pool3d` with `return_indices=True`."""
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)  # type: ignore[no-any-return]


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` with `return_indices=True`."""
    return adaptive_max_pool1d(input, output_size, True)  # type: ignore[no-any-return]


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` with `return_indices=True`."""
    return adaptive_max_pool2d(input, output_size, True)  # type: ignore[no-any-return]


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` with `return_indices=True`."""
    return adaptive_max_pool3d(input, output_size, True)  # type: ignore[no-any-return]


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` with `return_indices=True`."""
    return fractional_max_pool2d(input, kernel_size, output_size, output_ratio, True, _random_samples)  # type: ignore[no-any-return]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d` with `return_indices=True`."""
    return fractional_max_pool3d(input, kernel_size, output_size, output_ratio, True, _random_samples)  # type: ignore[no-any-return]
