"""The rectifier, softmax and their gradients; the units of layers, such as GELU, are tenfold-nn's."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import pointwise, wrap_dim
from tenfold.tensor.tensor import Tensor


def inplace_on_demand(fn: Any) -> Any:
    """`inplace=True` calls the operator's in-place form."""
    fn.lower(inplace=False)(lambda inplace, **values: OPERATORS[fn.op.name + "_"].fn(**values))
    return fn


_NOT_BOOL = Only(
    "integer floating complex", RuntimeError, "relu: Boolean inputs not supported for relu; it takes integer and float tensors"
)


@inplace_on_demand
@primitive("activation", accepts=(_NOT_BOOL, "integer floating"), rule=pointwise, inplace=True)
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Rectifier: max(input, 0).

    >>> import tenfold
    >>> tenfold.relu(tenfold.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """


@primitive("activation", method=None, promote="common", promoted=("grad_output", "input"))
def threshold_backward(grad_output: Tensor, input: Tensor, threshold: float) -> Tensor:
    """The gradient of `threshold`: grad_output where input > threshold (or is nan), 0 elsewhere.

    >>> import tenfold
    >>> tenfold.threshold_backward(tenfold.tensor([5.0, 5.0]), tenfold.tensor([-1.0, 2.0]), 0)
    tensor([0., 5.])
    """


@threshold_backward.rule
def _(grad_output: Any, input: Any, threshold: float) -> Meta:
    return pointwise(grad_output, input)


_FLOATING = Only("floating", words="{name}: not implemented for {dtype}; pass dtype= a floating point type")


def _along(input: Any, dim: int) -> Meta:
    wrap_dim(dim, len(input.shape))
    return Meta(input.shape, input.dtype)


@primitive("activation", accepts=_FLOATING, rule=_along, out="same")
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along a dimension; with `dtype` computed and returned in that type.

    >>> import tenfold
    >>> tenfold.softmax(tenfold.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """


@softmax.lower(dtype=None)
def _(input: Tensor, dim: int, dtype: Any) -> Tensor:
    return softmax(input.to(dtype), dim)


@primitive("activation", accepts=_FLOATING, rule=_along, out="same")
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Logarithm of the softmax: input - log(sum(exp(input))) along a dimension.

    >>> import tenfold
    >>> tenfold.log_softmax(tenfold.tensor([0.0, 0.0]), 0)
    tensor([-0.6931, -0.6931])
    """


@log_softmax.lower(dtype=None)
def _(input: Tensor, dim: int, dtype: Any) -> Tensor:
    return log_softmax(input.to(dtype), dim)


@composite("activation", method=None)
def softmin(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Softmax of the negative: exp(-input) / sum(exp(-input)).

    >>> import tenfold
    >>> from tenfold.ops.activation import softmin
    >>> softmin(tenfold.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    return softmax(-input, dim, dtype)


@composite("activation", accepts="floating", method=None)
def softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of `softmax`: output * (grad_output - sum(grad_output * output)).

    >>> import tenfold
    >>> half = tenfold.tensor([0.5, 0.5])
    >>> tenfold.softmax_backward(tenfold.tensor([1.0, 0.0]), half, 0)
    tensor([ 0.2500, -0.2500])
    """
    return output * (grad_output - (grad_output * output).sum(dim, True))


@composite("activation", accepts="floating", method=None)
def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of `log_softmax`: grad_output - exp(output) * sum(grad_output).

    >>> import tenfold
    >>> tenfold.log_softmax_backward(tenfold.tensor([1.0, 0.0]), tenfold.tensor([0.5, 0.5]).log(), 0)
    tensor([ 0.5000, -0.5000])
    """
    return grad_output - output.exp() * grad_output.sum(dim, True)
