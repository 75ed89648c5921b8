"""Functions of one number with a kink or a bend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tenfold.dispatch.operators import OPERATORS, composite
from tenfold.dispatch.runtime import STATE
from tenfold.ops.activation import inplace_on_demand
from tenfold.ops.creation.factories import full
from tenfold.ops.pointwise.several import where
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float32, type_name
from tenfold.types.numbers import require_value
from tenfold.types.numeric_limits import finfo

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
HALF_BYTES = 2  # float16 and bfloat16 are computed in float32
Unit = TypeVar("Unit", bound=Callable[..., Any])
_METHOD: dict[str, Any] = {"inplace": True}
_FUNCTION: dict[str, Any] = {"method": None, "inplace": True}


def _inplace_unless_reversed(unit: str, parameter: str) -> Callable[[Unit], Unit]:
    """`inplace=True` calls the operator's in-place form, whose backward refuses a negative slope.

    A unit that lets its result tell what the input was cannot do so where the part below 0 is turned upwards.
    """

    def decorate(fn: Unit) -> Unit:
        declared: Any = fn

        def run(inplace: bool, **values: Any) -> Any:
            result = OPERATORS[declared.op.name + "_"].fn(**values)
            if result._node is not None and values.get(parameter, 1) < 0 and STATE.grad_enabled:
                result._node.register_prehook(lambda gradients: _refuse_reversed(declared.op.name, unit, parameter))
            return result

        declared.lower(inplace=False)(run)
        return fn

    return decorate


def _refuse_reversed(name: str, unit: str, parameter: str) -> None:
    raise RuntimeError(
        f"{name}_: In-place {unit} backward calculation is triggered with a negative slope which is not supported. This is "
        f"caused by calling in-place forward function with a negative slope ({parameter}), please call out-of-place version "
        "instead."
    )


@inplace_on_demand
@composite("units", accepts="integer floating", **_METHOD, rounded_once=False, out=True)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The input where it is above a threshold, `value` elsewhere.

    >>> import tenfold
    >>> tenfold.threshold(tenfold.tensor([0.5, 2.0]), 1, 9)
    tensor([9., 2.])
    """
    _require_options(input, threshold)
    return input.masked_fill(wide(input) <= threshold, value)


@inplace_on_demand
@composite("units", rounded_once=False, **_FUNCTION)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Limited to a range: min(max(input, min_val), max_val).

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import hardtanh
    >>> hardtanh(tenfold.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if input.dtype.category < 1:
        raise RuntimeError("hardtanh: Bool inputs not supported for hardtanh; it takes integer and float tensors")
    if not input.dtype.is_signed and (min_val < 0 or max_val < 0):
        raise RuntimeError(f"hardtanh: cannot do hardtanh on an unsigned type with negative limits, got {min_val} and {max_val}")
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val cannot be greater than max_val, got {min_val} and {max_val}")
    for limit in (min_val, max_val):
        require_value(limit, input.dtype)
    kept = input.clamp(min_val, max_val).to(input.dtype)
    # at the limits the gradient is 0, unlike clamp's
    return where((input <= min_val) | (input >= max_val), kept.detach(), input) if input.requires_grad else kept


@inplace_on_demand
@composite("units", **_FUNCTION)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Rectifier cut at 6: min(max(input, 0), 6).

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import relu6
    >>> relu6(tenfold.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0, 6)


def _cut_here(input: Tensor, inplace: bool) -> Tensor:
    return OPERATORS["hardtanh_"].fn(input, 0, 6)


relu6.op.in_place = _cut_here


@_inplace_unless_reversed("leakyReLu", "negative_slope")
@composite("units", accepts="floating", **_FUNCTION)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The input above 0, negative_slope * input below.

    Source: Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models", ICML 2013.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import leaky_relu
    >>> leaky_relu(tenfold.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    _require_options(input, negative_slope)
    return where(input > 0, input, input * negative_slope)


@composite("units", accepts={"input": "floating"})
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input above 0, weight * input below; one weight, or one for each channel (dimension 1).

    Source: He et al., "Delving deep into rectifiers", 2015, https://arxiv.org/abs/1502.01852.

    >>> import tenfold
    >>> tenfold.prelu(tenfold.tensor([-1.0, 2.0]), tenfold.tensor([0.25]))
    tensor([-0.2500,  2.0000])
    """
    if weight.dtype is not input.dtype:
        kinds = f"{type_name(input.dtype)} and {type_name(weight.dtype)}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {kinds}; convert the weight with .to(input.dtype)")
    if weight.numel() != 1:
        channels = input.shape[1] if input.dim() > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} "
                f"and channel size = {channels}."
            )
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    slopes = weight.reshape((-1,) + (1,) * (input.dim() - 2)) if input.dim() > 1 else weight.reshape(())
    positive = input > 0
    # the slope's gradient must not meet the infinities of inputs that it does not touch
    return where(positive, input, slopes * where(positive, 0, input))


@_inplace_unless_reversed("elu", "alpha")
@composite("units", accepts="floating", **_FUNCTION)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Exponential linear unit: the input above 0, alpha * (exp(input) - 1) below.

    Source: Clevert, Unterthiner and Hochreiter, 2015, https://arxiv.org/abs/1511.07289.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import elu
    >>> elu(tenfold.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    _require_options(input, alpha)
    return where(input < 0, input.clamp_max(0).expm1() * alpha, input)


@inplace_on_demand
@composite("units", accepts="floating", **_FUNCTION)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Self-normalising unit: scale * elu(input, alpha) with the constants that keep mean 0 and variance 1.

    Source: Klambauer et al., 2017, https://arxiv.org/abs/1706.02515.

    >>> import tenfold
    >>> tenfold.selu(tenfold.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return elu(input, SELU_ALPHA) * SELU_SCALE


@_inplace_unless_reversed("elu", "alpha")
@composite("units", accepts="floating", **_FUNCTION)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Smooth exponential linear unit: max(0, input) + min(0, alpha * (exp(input / alpha) - 1)).

    Source: Barron, 2017, https://arxiv.org/abs/1704.07483.

    >>> import tenfold
    >>> tenfold.celu(tenfold.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    if alpha == 0:
        raise RuntimeError("celu: ZeroDivisionError: alpha cannot be 0 for CELU")
    _require_options(input, alpha, 1 / alpha)
    return where(input < 0, (input.clamp_max(0) / alpha).expm1() * alpha, input)


@composite("units", accepts="floating", method=None, out="same")
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Smooth rectifier: log(1 + exp(beta * input)) / beta, and the input itself where beta * input > threshold.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import softplus
    >>> softplus(tenfold.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """
    _require_options(input, beta, threshold)
    if input._array.dtype.itemsize == HALF_BYTES:
        return softplus(input.float(), beta, threshold).to(input.dtype)
    scaled = input * beta
    linear = scaled > threshold
    return where(linear, input, scaled.masked_fill(linear, 0).exp().log1p() / beta)


@composite("units", method=None)
def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|).

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import softsign
    >>> softsign(tenfold.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@composite("units", method=None)
def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input).

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import tanhshrink
    >>> tanhshrink(tenfold.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()


@composite("units", accepts="floating", rounded_once=False, out="same")
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 from -lambd to lambd, the input outside.

    >>> import tenfold
    >>> tenfold.hardshrink(tenfold.tensor([0.25, -1.0]))
    tensor([ 0., -1.])
    """
    require_value(lambd, input.dtype)
    return input.masked_fill(near_zero(input, lambd), 0)


def _require_options(input: Tensor, *numbers: float) -> None:
    """Refuse what the dtype that is computed in does not hold; that of half precision is float32."""
    for number in numbers:
        require_value(number, float32 if input.dtype.is_half else input.dtype)


def wide(x: Tensor) -> Tensor:
    """What is compared with a limit: half precision as float32, since it does not hold the limit."""
    return x.float() if x.dtype.is_half else x


def near_zero(x: Tensor, lambd: float) -> Tensor:
    """Where x is from -lambd to lambd, a limit that half precision rounds, too."""
    if x.dtype.is_half:
        x, lambd = x.float(), full((), lambd, dtype=x.dtype).item()
    return (x >= -lambd) & (x <= lambd)


@composite("units", accepts="floating", rounded_once=False, method=None, out="same")
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 from -lambd to lambd, outside moved towards 0 by lambd.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import softshrink
    >>> softshrink(tenfold.tensor([0.25, -1.0]))
    tensor([ 0.0000, -0.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"softshrink: lambda must be greater or equal to 0, but found to be {lambd}.")
    if not lambd <= finfo(input.dtype).max:
        raise RuntimeError(f"softshrink: lambda must be a number of {input.dtype}'s range, but found to be {lambd}.")
    x, lambd = wide(input), +lambd  # True counts as the number 1
    moved = where(x > lambd, x - lambd, x + lambd).to(input.dtype)
    return moved.masked_fill((x >= -lambd) & (x <= lambd), 0)


@inplace_on_demand
@composite("units", accepts="floating", **_FUNCTION)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of three straight pieces: min(max(input + 3, 0), 6) / 6.

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import hardsigmoid
    >>> hardsigmoid(tenfold.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """
    kept = (input + 3).clamp(0, 6) / 6
    if not input.requires_grad:
        return kept
    return where((input > -3) & (input < 3), (input + 3) / 6, kept.detach())


@composite("units", accepts="floating", method=None, out="same")
def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of the logistic function: min(input, 0) - log(1 + exp(-|input|)).

    >>> import tenfold
    >>> from tenfold.nn.ops.units.curves import logsigmoid
    >>> logsigmoid(tenfold.tensor([0.0]))
    tensor([-0.6931])
    """
    low = input < 0
    # min(input, 0) and -|input| by one comparison, so that their slopes at 0 belong together and give 1 / 2
    return where(low, input, 0) - where(low, input, -input).exp().log1p()
