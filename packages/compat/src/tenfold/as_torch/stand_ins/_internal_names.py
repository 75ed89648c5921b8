"""Functions of `torch` that PyTorch does not document and that libraries call."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold._utils import _get_device_module

legacy_contiguous_format = tenfold.contiguous_format  # the older name


def _check_with(error_type: type[BaseException], cond: Any, message: Callable[[], str]) -> None:
    """Raise an error of a type unless a condition holds."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise error_type(message())


def _check_tensor_all_with(error_type: type[BaseException], cond: Any, message: Callable[[], str]) -> None:
    """Raise an error of a type unless a condition holds for all elements.

    >>> _check_tensor_all_with(ValueError, tenfold.tensor([True, False]), lambda: "one is false")
    Traceback (most recent call last):
    ValueError: one is false
    """
    if not isinstance(cond, Tensor) or cond.dtype is not tenfold.bool:
        raise TypeError(f"cond must be a tensor with dtype torch.bool, but got {getattr(cond, 'dtype', type(cond))}")
    _check_with(error_type, bool(cond.all()), message)


def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins among sorted row numbers.

    >>> _convert_indices_from_coo_to_csr(tenfold.tensor([0, 0, 2]), 4).tolist()
    [0, 2, 2, 3, 3]
    """
    rows = tenfold.arange(size + 1, dtype=input.dtype)
    return tenfold.searchsorted(input.contiguous(), rows, out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Pairs of numbers, a row of them each, from the beginnings of rows.

    >>> _convert_indices_from_csr_to_coo(tenfold.tensor([0, 2, 2, 3]), tenfold.tensor([0, 1, 1])).tolist()
    [[0, 0, 2], [0, 1, 1]]
    """
    counts = crow_indices[1:] - crow_indices[:-1]
    rows = tenfold.arange(len(counts)).repeat_interleave(counts)
    both = tenfold.stack((col_indices.to(rows.dtype), rows) if transpose else (rows, col_indices.to(rows.dtype)))
    return both.to(tenfold.int32 if out_int32 else crow_indices.dtype)


def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> bool:
    """Whether `input.data = from_` can put the second's memory in the first's place: both of one device's kind and layout.

    >>> one = tenfold.ones(2)
    >>> _has_compatible_shallow_copy_type(one, tenfold.ones(3)), _has_compatible_shallow_copy_type(one, one.to("meta"))
    (True, False)
    """
    return input.device.type == from_.device.type and input.layout == from_.layout


def _softmax_backward_data(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """The gradient of softmax's argument, from that of its result and the result."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdim=True)).to(input_dtype)


def dsmm(input: Tensor, mat2: Tensor) -> Tensor:
    """`mm` of a sparse and a dense matrix, by an old name."""
    return tenfold.mm(input, mat2)


def get_device_module(device: Any = None) -> ModuleType:
    """The module `torch.TYPE` of a device; of the accelerator, else of the CPU, by default."""
    if isinstance(device, str):
        device = tenfold.device(device)
    if device is None:
        device = tenfold.accelerator.current_accelerator() or tenfold.device("cpu")
    return _get_device_module(device.type)  # type: ignore[no-any-return]


class DeviceObjType:
    """What some programs name in annotations for a device; nothing is an instance of it, as in PyTorch."""
