"""Reductions: sums, means, products, extremes, logical reductions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy as np

from tenfold import return_types
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite, op, primitive
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.shape_rules import reduced_shape, wrap_dim, wrap_dims
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes

Ints = Sequence[int]


def reduced(input: Any, dim: Any, keepdim: bool, name: str, dtype: Any = None) -> Meta:
    """The shape rule of a reduction over one, several or (None) all dimensions."""
    dims = wrap_dims(dim, len(input.shape), name)
    return Meta(reduced_shape(input.shape, dims, keepdim), input.dtype if dtype is None else dtype)


def count_over(shape: Any, dim: Any) -> int:
    """How many elements one result of a reduction is made of."""
    return product(shape[d] for d in wrap_dims(dim, len(shape))) if shape else 1


def check_nonempty(input: Any, dim: Any, name: str) -> None:
    """Refuse to reduce over no elements with an operator that has no identity."""
    if dim is None:
        if product(input.shape) == 0:
            raise (IndexError if name in ("argmax", "argmin") else RuntimeError)(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                f"Specify the reduction dim with the 'dim' argument."
            )
        return
    for d in wrap_dims(dim, len(input.shape), name) if input.shape else ():
        if input.shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


# Operators whose refusals of complex numbers are RuntimeErrors in PyTorch; the others' are NotImplementedErrors.
_RUNTIME_ERRORS = ("max", "min", "argmax", "argmin", "sort", "topk")


def ordered(name: str, *, bools: bool = True) -> tuple[Only, ...]:
    """What operators accept that put elements in order: complex numbers have none; on demand without bool."""
    kind: Any = RuntimeError if name in _RUNTIME_ERRORS else NotImplementedError
    words = name + ": complex numbers have no order; got dtype {dtype}, pass a real tensor"
    first = name in ("argmax", "argmin")
    real = Only("bool integer floating", kind, words, first)
    return (
        (real,)
        if bools
        else (real, Only("integer floating", kind, name + " does not support bool input; convert to an integer dtype", first))
    )


@primitive("reduction", out="computed")
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of all elements, or over dimensions; integers and bool add up in int64.

    >>> import tenfold
    >>> tenfold.sum(tenfold.tensor([[1, 2], [3, 4]]), dim=0)
    tensor([4, 6])
    """


def refuse_whole_gradients(input: Tensor, dtype: Any) -> None:
    """Refuse integers as the result of what gradients flow through: they would end there without a word."""
    if dtype.category < 2 and input.requires_grad and STATE.grad_enabled:
        raise RuntimeError(f"Autograd not support dtype: {dtypes.type_name(dtype)}")


@sum.lower(dtype=None)
def _(input: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    refuse_whole_gradients(input, dtype)
    if dtype.category < 2 and dtype is not dtypes.int64:
        return sum(input.to(dtype), dim, keepdim).to(dtype)
    return sum(input.to(dtype), dim, keepdim)


def whole_sum(dtype: Any) -> Any:
    """The dtype in which a sum or product of this dtype is given: int64 for integers and bool."""
    return np.int64 if dtype.kind in "biu" else dtype


@sum.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return reduced(input, dim, keepdim, "sum", whole_sum(input.dtype))


def _check_mean(input: Any, dtype: Any = None, **given: Any) -> Any:
    """Refuse means of integers; those asked for in the dtype of `out=`, too."""
    if dtype is None and hasattr(input, "_array") and input.dtype.category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.dtype.name}"
        )
    return NotImplemented


@composite("reduction", out="computed")
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Arithmetic mean of all elements, or over dimensions, of a floating or complex tensor.

    >>> import tenfold
    >>> tenfold.mean(tenfold.tensor([1.0, 2.0]))
    tensor(1.5000)
    """
    if dtype is not None:
        input = input.to(dtype)
    _check_mean(input)
    total = sum(input, dim, keepdim)
    count = count_over(input.shape, dim)
    return total / count if count else total * float("nan")


mean.overload(_check_mean)


@mean.lower(dtype=None)
def _(input: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    return mean(input.to(dtype), dim, keepdim)


@primitive("reduction", out="computed")
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Product of all elements, or over one dimension; integers and bool multiply in int64.

    >>> import tenfold
    >>> tenfold.prod(tenfold.tensor([2.0, 3.0]))
    tensor(6.)
    """


@prod.lower(dtype=None)
def _(input: Tensor, dim: Any, keepdim: bool, dtype: Any) -> Tensor:
    refuse_whole_gradients(input, dtype)
    result = prod(input.to(dtype), dim, keepdim)
    return result.to(dtype)


@prod.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return reduced(input, dim, keepdim, "prod", whole_sum(input.dtype))


@primitive("reduction", accepts=ordered("amax"), out="same")
def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Maximum over dimensions (all by default); among equal maxima the gradient is shared evenly.

    >>> import tenfold
    >>> tenfold.amax(tenfold.tensor([[1, 5], [7, 2]]), 1)
    tensor([5, 7])
    """


@amax.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return _extreme(input, dim, keepdim, "amax")


def _extreme(input: Any, dim: Any, keepdim: bool, name: str) -> Meta:
    check_nonempty(input, None if isinstance(dim, (tuple, list)) and not dim else dim, name)
    return reduced(input, dim, keepdim, name)


@primitive("reduction", accepts=ordered("amin"), out="same")
def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Minimum over dimensions (all by default); among equal minima the gradient is shared evenly.

    >>> import tenfold
    >>> tenfold.amin(tenfold.tensor([[1, 5], [7, 2]]), 1)
    tensor([1, 2])
    """


@amin.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return _extreme(input, dim, keepdim, "amin")


@composite("reduction", out="same")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Minimum and maximum over all elements or one dimension, as (min, max).

    >>> import tenfold
    >>> tenfold.aminmax(tenfold.tensor([3, 1, 2])).max
    tensor(3)
    """
    dims = () if dim is None else dim
    return return_types.aminmax(amin(input, dims, keepdim), amax(input, dims, keepdim))


@primitive("reduction", accepts=ordered("max"), method=None, name="max_dim")
def _max_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Maximum over one dimension and where it is: what `max` runs, given a dimension.

    >>> import tenfold
    >>> tenfold.op.max_dim(tenfold.tensor([[1, 5], [7, 2]]), 1)
    (tensor([5, 7]), tensor([1, 0]))
    """


@primitive("reduction", accepts=ordered("min"), method=None, name="min_dim")
def _min_dim(input: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Minimum over one dimension and where it is: what `min` runs, given a dimension.

    >>> import tenfold
    >>> tenfold.op.min_dim(tenfold.tensor([[1, 5], [7, 2]]), 1)
    (tensor([1, 2]), tensor([0, 1]))
    """


def located_rule(name: str) -> Any:
    """The shape rule of operators that return (values, indices) over one dimension."""

    def rule(input: Any, dim: int, keepdim: bool) -> tuple[Meta, Meta]:
        check_nonempty(input, dim, name)
        values = reduced(input, wrap_dim(dim, len(input.shape), name), keepdim, name)
        return values, Meta(values.shape, np.int64)

    return rule


_max_dim.rule(located_rule("max"))
_min_dim.rule(located_rule("min"))


@composite("reduction", out="same")
def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Maximum: of all elements; with a dimension (values, indices) over it; with another tensor elementwise.

    >>> import tenfold
    >>> tenfold.max(tenfold.tensor([[1, 5], [7, 2]]), 1).indices
    tensor([1, 0])
    """
    if other is None and isinstance(dim, Tensor):
        other = dim
    if other is not None:
        return op.maximum(input, other)
    if dim is None:
        check_nonempty(input, None, "max")
        return amax(input, None)
    return return_types.max(*_max_dim(input, dim, keepdim))


@composite("reduction", out="same")
def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Minimum: of all elements; with a dimension (values, indices) over it; with another tensor elementwise.

    >>> import tenfold
    >>> tenfold.min(tenfold.tensor([[1, 5], [7, 2]]), 1).indices
    tensor([0, 1])
    """
    if other is None and isinstance(dim, Tensor):
        other = dim
    if other is not None:
        return op.minimum(input, other)
    if dim is None:
        check_nonempty(input, None, "min")
        return amin(input, None)
    return return_types.min(*_min_dim(input, dim, keepdim))


def _logical(input: Any, dim: Any, keepdim: bool, name: str) -> Meta:
    dtype = np.uint8 if input.dtype == np.uint8 else np.bool_
    return Meta(input.shape, dtype) if dim in ((), []) else reduced(input, dim, keepdim, name, dtype)


@primitive("reduction", out="bool or uint8", nondifferentiable="its result is bool")
def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether every element is true (not zero), over all elements or dimensions; uint8 gives uint8.

    >>> import tenfold
    >>> tenfold.all(tenfold.tensor([True, False]))
    tensor(False)
    """


@all.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return _logical(input, dim, keepdim, "all")


@primitive("reduction", out="bool or uint8", nondifferentiable="its result is bool")
def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether some element is true (not zero), over all elements or dimensions; uint8 gives uint8.

    >>> import tenfold
    >>> tenfold.any(tenfold.tensor([True, False]))
    tensor(True)
    """


@any.rule
def _(input: Any, dim: Any, keepdim: bool) -> Meta:
    return _logical(input, dim, keepdim, "any")


@primitive("reduction", nondifferentiable="its result is a count", old=("*",))
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not zero, of all or over dimensions. Dtype: int64.

    >>> import tenfold
    >>> tenfold.count_nonzero(tenfold.tensor([0, 3, 4]))
    tensor(2)
    """


@count_nonzero.rule
def _(input: Any, dim: Any) -> Meta:
    return reduced(input, dim, False, "count_nonzero", np.int64)


@composite("reduction")
def sum_to_size(input: Tensor, size: Ints) -> Tensor:
    """Summed to a shape that broadcasts to the tensor's: what undoes an expansion.

    >>> import tenfold
    >>> tenfold.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    lead = input.dim() - len(size)
    if lead < 0 or not builtins.all(want in (1, have) for want, have in zip(size, input.shape[lead:])):
        raise RuntimeError(f"sum_to_size: size {list(size)} is not expandable to size {list(input.shape)}.")
    dims = [*range(lead), *(lead + i for i, want in enumerate(size) if want == 1 != input.shape[lead + i])]
    return sum(input, dims, True).reshape(tuple(size)) if dims or not size else input


@composite("reduction", promote="float", out=True, rounded_once=True)
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials over dimensions, without overflow.

    Formula: m + log(sum(exp(x - m))) with m the maximum.

    >>> import tenfold
    >>> tenfold.logsumexp(tenfold.tensor([1000.0, 1000.0]), 0)
    tensor(1000.6932)
    """
    parts = input.detach()
    greatest: Any = amax(parts.real if input.dtype.is_complex else parts, dim, True) if input.numel() else 0
    if input.numel():
        greatest = where(greatest.isinf(), 0, greatest)
    total = sum((input - greatest).exp(), dim, keepdim).log()
    if not input.numel():
        return total
    return total + (greatest if keepdim else greatest.reshape(total.shape))
