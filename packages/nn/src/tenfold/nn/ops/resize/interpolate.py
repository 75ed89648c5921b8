"""Resampling to another size.

Every kind of interpolation is separable: along one dimension each output is a weighted sum of a few inputs. Tables of
their places and weights are all that the kinds differ in.
"""

from __future__ import annotations

import warnings
from math import floor
from operator import index
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import require_floating, widened
from tenfold.nn.ops.padding import in_format_of
from tenfold.nn.ops.pool.adaptive import adaptive_avg_pool
from tenfold.nn.ops.resize import tables
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name
from tenfold.types.memory_format import suggested_format

Sizes = tuple[int, ...]
Scales = tuple[float | None, ...]


@composite("resize", method=None)
def resample(input: Tensor, output_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Tensor:
    """The last dimensions resampled to `output_size`, one after the other from the last.

    Modes: "nearest", "nearest-exact", "linear", "cubic", "lanczos". Bytes are summed as integers with weights of 15
    bits and rounded after each dimension, as image libraries do. The result lies in memory as the input does.

    >>> import tenfold
    >>> tenfold.op.resample(tenfold.tensor([[[0.0, 1.0]]]), (4,), (None,), "linear", False, False)
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    x, first = input, input.dim() - len(output_size)
    for i in reversed(range(len(output_size))):
        dim, steps = first + i, (x.shape[first + i], output_size[i], scales[i])
        if tables.is_identity(*steps):
            continue
        if mode.startswith("nearest"):
            x = tf.index_select(x, dim, _indices(tables.nearest(*steps, mode == "nearest-exact"), x))
        elif input.dtype is tf.uint8:
            x = _bytes(x, dim, *tables.whole_numbers(*steps, align_corners, mode, antialias))
        else:
            x = _weighted_sums(x, dim, *tables.weighted(*steps, align_corners, mode, antialias))
    return x.clone(memory_format=suggested_format(input._array))


@resample.rule
def _(input: Any, output_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Meta:
    return in_format_of(input, (*input.shape[: len(input.shape) - len(output_size)], *output_size), input.dtype)


def _indices(places: Any, x: Tensor) -> Tensor:
    return tf.tensor(places.tolist(), dtype=tf.int64, device=x.device)


def _factors(weights: Any, x: Tensor, dim: int) -> Tensor:
    return tf.tensor(weights.tolist(), dtype=x.dtype, device=x.device).view(-1, *[1] * (x.dim() - dim - 1))


def _weighted_sums(x: Tensor, dim: int, places: Any, weights: Any) -> Tensor:
    terms = [tf.index_select(x, dim, _indices(p, x)) * _factors(w, x, dim) for p, w in zip(places, weights, strict=True)]
    return sum(terms[1:], terms[0])


def _bytes(x: Tensor, dim: int, places: Any, weights: Any, bits: int) -> Tensor:
    sums = _weighted_sums(x.to(tf.int32), dim, places, weights)
    return tf.bitwise_right_shift(sums + (1 << bits >> 1), bits).clamp(0, 255).to(tf.uint8)


@composite("resize", method=None)
def resample_grad(grad: Tensor, input_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Tensor:
    """The gradient of `resample` to the sizes of `grad` from planes of `input_size`: every element goes back where it came from.

    >>> import tenfold
    >>> tenfold.op.resample_grad(tenfold.ones(1, 1, 4), (2,), (None,), "linear", False, False)
    tensor([[[2., 2.]]])
    """
    first = grad.dim() - len(input_size)
    x = grad
    for i, size in enumerate(input_size):
        steps = (size, grad.shape[first + i], scales[i])
        if tables.is_identity(*steps):
            continue
        if mode.startswith("nearest"):
            places, weights = tables.nearest(*steps, mode == "nearest-exact")[None], None
        else:
            places, weights = tables.weighted(*steps, align_corners, mode, antialias)
        x = _given_back(x, first + i, size, places, weights)
    return x.clone(memory_format=suggested_format(grad._array))


def _given_back(x: Tensor, dim: int, size: int, places: Any, weights: Any) -> Tensor:
    out = tf.zeros(*x.shape[:dim], size, *x.shape[dim + 1 :], dtype=x.dtype, device=x.device)
    for tap, at in enumerate(places):
        out = tf.index_add(out, dim, _indices(at, x), x if weights is None else x * _factors(weights[tap], x, dim))
    return out


@resample_grad.rule
def _(grad: Any, input_size: Sizes, scales: Scales, mode: str, align_corners: bool, antialias: bool) -> Meta:
    return in_format_of(grad, (*grad.shape[: len(grad.shape) - len(input_size)], *input_size), grad.dtype)


# Of each mode: the numbers of dimensions that it takes, and what `resample` calls it.
MODES = {
    "nearest": ((3, 4, 5), "nearest"),
    "linear": ((3,), "linear"),
    "bilinear": ((4,), "linear"),
    "bicubic": ((4,), "cubic"),
    "trilinear": ((5,), "linear"),
    "lanczos": ((4,), "lanczos"),
    "area": ((3, 4, 5), "area"),
    "nearest-exact": ((3, 4, 5), "nearest-exact"),
}
SMOOTH = "linear | bilinear | bicubic | trilinear | lanczos"


@composite("resize", accepts={"input": "uint8 floating"}, method=None)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resample to another size: "nearest", "nearest-exact", "area", or one of the smooth modes.

    Smooth are "linear", "bilinear" and "trilinear" by the number of dimensions, for images also "bicubic" and "lanczos".
    Shape: (N, C, *S) -> (N, C, *size). Dtype: floating; uint8 except with "linear", "trilinear" and "area". Raises: ValueError
    for a size and a scale factor together, or neither, or numbers of them that do not fit; NotImplementedError for a mode
    that this number of dimensions or this dtype lacks.
    Source: Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981 (bicubic, a = -0.75).

    >>> import tenfold
    >>> tenfold.op.interpolate(tenfold.tensor([[[0.0, 1.0]]]), size=4, mode="linear", align_corners=False)
    tensor([[[0.0000, 0.2500, 0.7500, 1.0000]]])
    """
    _check_mode(input, mode, align_corners, antialias)
    sizes, scales = _sizes(input, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        require_floating("adaptive_avg_pool", input)
        return adaptive_avg_pool(input, sizes)
    kind = MODES[mode][1]
    _check_dtype(input, mode)
    if not _moves_all(kind, input, antialias):
        # Where a size stays, so does the image, whatever factor it came from.
        scales = tuple(None if out == have else s for out, have, s in zip(sizes, input.shape[2:], scales, strict=True))
    x = input if kind.startswith("nearest") else widened(input)
    return resample(x, sizes, scales, kind, bool(align_corners), antialias).to(input.dtype)


def _moves_all(kind: str, input: Tensor, antialias: bool) -> bool:
    """Whether PyTorch's places follow the factor even where it leaves the size as it is, so that images are shifted."""
    if kind == "cubic":
        return input.is_floating_point() and not antialias
    return kind == "nearest" and input.dim() != 4


def _check_dtype(input: Tensor, mode: str) -> None:
    """Floating numbers are resampled; of integers bytes alone, and as images only, where weights are needed."""
    if input.is_floating_point() or (input.dtype is tf.uint8 and mode not in ("linear", "trilinear")):
        return
    kinds = "floating point tensors" + ("" if mode in ("linear", "trilinear") else " and uint8")
    raise NotImplementedError(f"interpolate: \"{mode}\" not implemented for '{type_name(input.dtype)}'; it takes {kinds}")


def _check_mode(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if align_corners is not None and (mode.startswith("nearest") or mode == "area"):
        raise ValueError(
            f"interpolate: align_corners option can only be set with the interpolating modes: {SMOOTH}, got {mode!r}"
        )
    if antialias and (mode not in ("bilinear", "bicubic", "lanczos") or input.dim() != 4):
        raise ValueError(
            "interpolate: Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as "
            f"input, got {mode!r} and {input.dim()}-D"
        )
    if mode not in MODES or input.dim() not in (3, 4, 5):
        raise NotImplementedError(
            f"interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{' | '.join(MODES)} (got {mode})"
        )
    accepted = MODES[mode][0]
    if input.dim() not in accepted:
        raise NotImplementedError(f"interpolate: Got {input.dim()}D input, but {mode} mode needs {accepted[0]}D input")
    if mode == "lanczos" and (not antialias or align_corners):
        raise ValueError(
            "interpolate: Lanczos mode " + ("does not support align_corners=True" if antialias else "requires antialias=True")
        )


def _sizes(input: Tensor, size: Any, scale_factor: Any, recompute: bool | None) -> tuple[Sizes, Scales]:
    """The output sizes, and the scale factors that were given (None where the sizes decide)."""
    if size is not None and scale_factor is not None:
        raise ValueError("interpolate: only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("interpolate: either size or scale_factor should be defined")
    spatial = tuple(input.shape[2:])
    scales: Any = (None,) * len(spatial)
    if size is not None:
        if recompute:
            raise ValueError("interpolate: recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _given_sizes(spatial, size)
    else:
        factors = _for_each("scale_factor", spatial, scale_factor)
        sizes = _scaled(spatial, factors)
        if not recompute:
            scales = tuple(float(f) for f in factors)
    if min(*sizes, *spatial) < 1:
        named = [", ".join(f"{d}: {n}" for d, n in zip("DHW"[-len(spatial) :], s, strict=True)) for s in (spatial, sizes)]
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input ({named[0]}) output ({named[1]})"
        )
    if input.shape[1] == 0:
        raise RuntimeError(
            f"interpolate: Non-empty {input.dim()}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    return sizes, scales


def _for_each(what: str, spatial: Sizes, value: Any) -> Any:
    """A size or a factor for each dimension; one that stands alone is for all."""
    if not isinstance(value, (tuple, list)):
        return (value,) * len(spatial)
    if len(value) != len(spatial):
        raise ValueError(
            f"interpolate: Input and {what} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(spatial)} and {what} of {'shape ' if what == 'scale_factor' else ''}{value}. Please provide "
            f"input tensor in (N, C, d1, d2, ...,dK) format and {what} in (s1, s2, ...,sK) format."
        )
    return value


def _given_sizes(spatial: Sizes, size: Any) -> Sizes:
    given = _for_each("output size", spatial, size)
    try:
        return tuple(index(n) for n in given)
    except TypeError:
        raise TypeError(
            f"interpolate: expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got "
            f"size with types {[type(n) for n in given]}"
        ) from None


def _scaled(spatial: Sizes, factors: Any) -> Sizes:
    exact = [n * float(f) for n, f in zip(spatial, factors, strict=True)]
    if any(not abs(n) < 2**63 for n in exact):
        raise RuntimeError(f"interpolate: value cannot be converted to type int64_t without overflow, got scale_factor {factors}")
    return tuple(floor(n) for n in exact)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """The deprecated name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The deprecated name of `interpolate` with mode "nearest"."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The deprecated name of `interpolate` with mode "bilinear" (for 5-D input "trilinear") and aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
