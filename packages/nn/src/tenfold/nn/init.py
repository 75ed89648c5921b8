"""Filling parameters with their first values. Every function works in place, without gradients, and returns the tensor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS: dict[str, float] = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d"), 1.0),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"), 1.0),
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 3 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity asks for wider initial values; `param` is leaky_relu's negative slope (0.01).

    Raises ValueError for an unknown name or a slope that is no number. Source: He et al. 2015, eq. 10 and 15.

    >>> round(calculate_gain("leaky_relu", 0.2), 4)
    1.3868
    """
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"calculate_gain: negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; accepted are leaky_relu, {', '.join(_GAINS)}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs feed one output and how many outputs one input feeds, for a weight (out, in, *window)."""
    if tensor.dim() < 2:
        raise ValueError(f"Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got {tensor.dim()}")
    window = math.prod(tensor.shape[2:])
    return tensor.size(1) * window, tensor.size(0) * window


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of fan_in, fan_out")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


@tenfold.no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with U(a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@tenfold.no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with N(mean, std^2)."""
    return tensor.normal_(mean, std, generator=generator)


@tenfold.no_grad()
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fills with N(mean, std^2) limited to [a, b].

    Where that keeps at least 30 % of the normal draws, draws again what lies outside; else inverts the distribution function.
    Differs from PyTorch: in the second case the numbers under a seed are others.
    """
    if not a - 2 * std <= mean <= b + 2 * std:
        warnings.warn(
            f"trunc_normal_: mean {mean} is more than 2 std from [{a}, {b}]; the values may be distributed wrongly.",
            stacklevel=2,
        )
    low, high = (0.5 * (1 + math.erf((x - mean) / std / math.sqrt(2))) for x in (a, b))
    if high - low < 0.3:
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(min=a, max=b)
    tensor.normal_(mean, std, generator=generator)
    outside = (tensor < a) | (tensor > b)
    while not tensor.is_meta and bool(outside.any()):
        again = tenfold.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(tenfold.where(outside, again, tensor))
        outside = (tensor < a) | (tensor > b)
    return tensor


@tenfold.no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills with one value."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills with 0."""
    return constant_(tensor, 0.0)


# PyTorch's inner names, which models outside it call
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_


@tenfold.no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with the identity; raises ValueError unless 2-d."""
    if tensor.dim() != 2:
        raise ValueError(f"eye_: Only tensors with 2 dimensions are supported, got {tensor.dim()}")
    return tensor.copy_(tenfold.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@tenfold.no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills a convolution's weight so that it passes as many channels as it can through unchanged, in each group.

    Raises ValueError unless 3-, 4- or 5-d with a first dimension that `groups` divides.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError(f"dirac_: Only tensors with 3, 4, or 5 dimensions are supported, got {tensor.dim()}")
    if tensor.size(0) % groups:
        raise ValueError(f"dirac_: dim 0 must be divisible by groups, got {tensor.size(0)} and {groups}")
    tensor.zero_()
    out_channels = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(out_channels, tensor.size(1))):
            tensor[(group * out_channels + channel, channel, *centre)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with U(-a, a), a = gain sqrt(6 / (fan_in + fan_out)). Source: Glorot and Bengio 2010, eq. 16."""
    bound = math.sqrt(3) * gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fills with N(0, std^2), std = gain sqrt(2 / (fan_in + fan_out)). Source: Glorot and Bengio 2010."""
    return normal_(tensor, 0.0, gain * math.sqrt(2 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    """gain / sqrt(fan), or None where there is nothing to fill."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fills with U(-b, b), b = gain sqrt(3 / fan). Source: He et al. 2015."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3) * std, math.sqrt(3) * std, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fills with N(0, std^2), std = gain / sqrt(fan). Source: He et al. 2015, eq. 10."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


@tenfold.no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fills with a (semi-)orthogonal matrix, dimensions after the first taken as one. Source: Saxe et al. 2013.

    Raises ValueError for fewer than 2 dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError(f"orthogonal_: Only tensors with 2 or more dimensions are supported, got {tensor.dim()}")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.size(0), tensor.numel() // tensor.size(0)
    gaussian = tenfold.empty((rows, columns), dtype=tensor.dtype, device=tensor.device).normal_(0, 1, generator=generator)
    q, r = tenfold.linalg.qr(gaussian.T if rows < columns else gaussian)
    q = q * r.diagonal().sign()  # without it the distribution would not be uniform
    return tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape)).mul_(gain)


@tenfold.no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fills a matrix with N(0, std^2) and then zeroes the fraction `sparsity` of every column. Source: Martens 2010.

    Raises ValueError unless 2-d.
    """
    if tensor.dim() != 2:
        raise ValueError(f"sparse_: Only tensors with 2 dimensions are supported, got {tensor.dim()}")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[tenfold.randperm(rows, generator=generator)[:zeros], column] = 0
    return tensor


def _deprecated(name: str) -> Callable[..., Tensor]:
    """The old spelling, without the underscore, of an in-place function."""

    def old(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"nn.init.{name} is deprecated, use nn.init.{name}_.", FutureWarning, stacklevel=2)
        return globals()[name + "_"](*args, **kwargs)  # type: ignore[no-any-return]

    old.__name__ = name
    old.__doc__ = f"Deprecated spelling of `{name}_`."
    return old


uniform, normal, constant = _deprecated("uniform"), _deprecated("normal"), _deprecated("constant")
eye, dirac, sparse, orthogonal = (
    _deprecated("eye"),
    _deprecated("dirac"),
    _deprecated("sparse"),
    _deprecated("orthogonal"),
)
xavier_uniform, xavier_normal = _deprecated("xavier_uniform"), _deprecated("xavier_normal")
kaiming_uniform, kaiming_normal = _deprecated("kaiming_uniform"), _deprecated("kaiming_normal")
