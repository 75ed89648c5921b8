"""Factories that take shape, dtype and device from another tensor: `zeros_like(x)`, `x.new_zeros(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.operators import Data, composite
from tenfold.ops.creation.factories import empty, empty_on, empty_strided, full, ones, tensor, zeros
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import preserve_format, strided

Ints = Sequence[int]
_INDEPENDENT = "it does not depend on its input's values"


def resembling(input: Tensor, dtype: Any, device: Any) -> dict[str, Any]:
    """The dtype and device asked for, else those of the input."""
    return {"dtype": dtype or input.dtype, "device": input.device if device is None else device}


@composite("creation", method=None, nondifferentiable=_INDEPENDENT)
def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised, with the shape, dtype, device and order of strides of another tensor.

    >>> import tenfold
    >>> tenfold.empty_like(tenfold.ones(2, 3).transpose(0, 1)).stride()
    (1, 3)
    """
    if layout is not None and layout is not strided:
        raise NotImplementedError(
            f"Could not run 'aten::empty_strided' with arguments from the 'SparseCPU' backend: empty_like of a dense tensor "
            f"cannot be of the layout {layout}; use zeros_like or empty"
        )
    kind = resembling(input, dtype, device)
    if memory_format is not None and memory_format.order:
        return empty(input.shape, requires_grad=requires_grad, memory_format=memory_format, **kind)
    if _rows(input, memory_format):
        return empty_on(input.shape, kind["dtype"], kind["device"], requires_grad)
    return empty_strided(input.shape, _dense_strides(input), requires_grad=requires_grad, **kind)


def _rows(input: Tensor, memory_format: Any) -> bool:
    """Whether what resembles a tensor lies in memory row by row."""
    if memory_format is not None and memory_format.order is not None:
        return not memory_format.order
    return input.dim() < 2 or input.is_contiguous()


def _laid_out(value: Tensor, input: Tensor, memory_format: Any, requires_grad: bool) -> Tensor:
    """A new constant tensor in the layout that `empty_like` gives."""
    made = empty_like(input, dtype=value.dtype, device=value.device, memory_format=memory_format)
    made._key.backend.write(made._array, value._array)
    return made.requires_grad_() if requires_grad else made


def _dense_strides(input: Tensor) -> tuple[int, ...]:
    """Strides without gaps in the order of the input's."""
    order = preserve_format.order_for(input._array)
    made, step = [0] * input.dim(), 1
    for d in reversed(order):
        made[d] = step
        step *= max(input.shape[d], 1)
    return tuple(made)


@composite("creation", method=None, nondifferentiable=_INDEPENDENT)
def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.zeros_like(tenfold.tensor([1, 2]))
    tensor([0, 0])
    """
    if layout is not None and layout is not strided:
        return zeros(input.shape, requires_grad=requires_grad, layout=layout, **resembling(input, dtype, device))
    if _rows(input, memory_format):
        return zeros(input.shape, requires_grad=requires_grad, **resembling(input, dtype, device))
    return _laid_out(zeros(input.shape, **resembling(input, dtype, device)), input, memory_format, requires_grad)


@composite("creation", method=None, nondifferentiable=_INDEPENDENT)
def ones_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.ones_like(tenfold.tensor([1, 2]))
    tensor([1, 1])
    """
    if _rows(input, memory_format):
        return ones(input.shape, requires_grad=requires_grad, **resembling(input, dtype, device))
    return _laid_out(ones(input.shape, **resembling(input, dtype, device)), input, memory_format, requires_grad)


@composite("creation", method=None, nondifferentiable=_INDEPENDENT)
def full_like(
    input: Tensor, fill_value: complex, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """One value with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.full_like(tenfold.tensor([1, 2]), 7)
    tensor([7, 7])
    """
    if _rows(input, memory_format):
        return full(input.shape, fill_value, requires_grad=requires_grad, **resembling(input, dtype, device))
    return _laid_out(full(input.shape, fill_value, **resembling(input, dtype, device)), input, memory_format, requires_grad)


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_zeros(
    input: Tensor, size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros of a size, with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1]).new_zeros(2)
    tensor([0, 0])
    """
    return zeros(size, requires_grad=requires_grad, **resembling(input, dtype, device))


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_ones(
    input: Tensor, size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones of a size, with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1]).new_ones(2)
    tensor([1, 1])
    """
    return ones(size, requires_grad=requires_grad, **resembling(input, dtype, device))


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_empty(
    input: Tensor, size: Ints, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised, of a size, with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1]).new_empty(2).dtype
    tenfold.int64
    """
    return empty(size, requires_grad=requires_grad, **resembling(input, dtype, device))


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_empty_strided(
    input: Tensor, size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uninitialised, of a size and strides, with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1]).new_empty_strided((2, 2), (1, 2)).stride()
    (1, 2)
    """
    return empty_strided(size, stride, requires_grad=requires_grad, **resembling(input, dtype, device))


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_full(
    input: Tensor, size: Any, fill_value: complex, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """One value, of a size, with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1]).new_full((2,), 7)
    tensor([7, 7])
    """
    return full(size, fill_value, requires_grad=requires_grad, **resembling(input, dtype, device))


@composite("creation", nondifferentiable=_INDEPENDENT)
def new_tensor(input: Tensor, data: Data, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A copy of the data with the tensor's dtype and device.

    >>> import tenfold
    >>> tenfold.tensor([1.0]).new_tensor([1, 2])
    tensor([1., 2.])
    """
    return tensor(data, requires_grad=requires_grad, **resembling(input, dtype, device))
