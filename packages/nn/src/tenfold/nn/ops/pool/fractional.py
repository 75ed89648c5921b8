"""Maximum pooling over windows at random, evenly spread places."""

from __future__ import annotations

from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import per_dim
from tenfold.tensor.tensor import Tensor


def _starts(samples: Tensor, size: int, out: int, kernel: int) -> Tensor:
    """The first element of each window for random numbers of shape (P,): (P, out); the last window ends at the border."""
    steps = tf.arange(out, device=samples.device)
    if out == 1:
        return tf.full((samples.shape[0], 1), size - kernel, dtype=tf.int64, device=samples.device)
    alpha = (size - kernel) / (out - 1)
    u = samples.to(tf.float64).unsqueeze(1)
    starts = ((steps + u) * alpha).floor() - (u * alpha).floor()
    return tf.where(steps == out - 1, float(size - kernel), starts).to(tf.int64)


def _pool(
    name: str, n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Tensor, Tensor]:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name}: fractional pooling requires specifying either an output_size or an output_ratio")
    if input.dim() not in (n + 1, n + 2) or 0 in input.shape[-n - 1 :]:
        raise RuntimeError(
            f"{name}: Expected input to have non-zero size for non-batch dimensions and {n + 1} or {n + 2} dimensions, but got "
            f"{list(input.shape)}"
        )
    if isinstance(output_ratio, (tuple, list)) and len(output_ratio) != n:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints, got {output_ratio}.")
    sizes, lead = tuple(input.shape[-n:]), tuple(input.shape[:-n])
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        output_size = [int(s * r) for s, r in zip(sizes, ratios, strict=True)]
    kernel, outs = _each(name, n, "kernel_size", kernel_size), _each(name, n, "output_size", output_size)
    for what, o, k, s in zip(("time", "height", "width")[-n:], outs, kernel, sizes, strict=True):
        if o + k - 1 > s:
            raise RuntimeError(f"{name}: pool {what} {k} for an output of {o} is too large relative to input {what} {s}")
    if samples is None:
        samples = tf.rand(*(lead if len(lead) == 2 else (1, *lead)), n, dtype=input.dtype, device=input.device)
    samples = _checked_samples(samples, input, n)
    return fused_fractional_max_pool(input, samples, kernel, outs)


@composite("pool", method=None)
def fused_fractional_max_pool(
    input: Tensor, samples: Tensor, kernel_size: tuple[int, ...], output_size: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its index in the flattened plane, for random numbers (N, C, n) of n dimensions.

    >>> import tenfold
    >>> tenfold.op.fused_fractional_max_pool(tenfold.arange(9.0).view(1, 3, 3), tenfold.zeros(1, 1, 2), (2, 2), (1, 1))
    (tensor([[[8.]]]), tensor([[[8]]]))
    """
    n = len(kernel_size)
    sizes, lead = tuple(input.shape[-n:]), tuple(input.shape[:-n])
    P = prod(lead)
    samples = samples[: prod(lead[:-1])].reshape(P, n)  # of a longer batch, the first
    index = tf.zeros(P, 1, 1, dtype=tf.int64, device=input.device)
    for axis, (size, out, k) in enumerate(zip(sizes, output_size, kernel_size, strict=True)):
        # Of two dimensions the last one has the first random number, of three the first one has it.
        starts = _starts(samples[:, 1 - axis if n == 2 else axis], size, out, k)
        at = tf.arange(k, device=input.device).view(1, 1, k, 1, 1) + starts.view(P, 1, 1, 1, out)
        taps, places = index.shape[1], index.shape[2]
        joined = index.view(P, taps, 1, places, 1) * size + at
        index = joined.reshape(P, taps * k, places * out)
    values, best = _largest(input.reshape(P, prod(sizes)), index)
    return values.reshape(*lead, *output_size), best.reshape(*lead, *output_size)


def _each(name: str, n: int, what: str, given: Any) -> tuple[int, ...]:
    """One integer for each dimension; unlike other pools, these take no tuple of one."""
    if isinstance(given, (tuple, list)) and len(given) != n:
        raise RuntimeError(f"{name}: {what} must either be a single Int or tuple of {n} Ints, got {given}")
    return per_dim(given, n, f"{name}: {what}")


def _checked_samples(samples: Tensor, input: Tensor, n: int) -> Tensor:
    """The random numbers of windows' places, (N, C, n)."""
    batch, channels = (input.shape[0] if input.dim() == n + 2 else 1), input.shape[-n - 1]
    if samples.dtype is not input.dtype:
        raise RuntimeError(
            f"Expect _random_samples to have the same dtype as input, got {samples.dtype.name} and {input.dtype.name}"
        )
    if samples.dim() != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.dim()}")
    if samples.shape[0] < batch:
        raise RuntimeError(f"Expect _random_samples.size(0) no less then input batch size, got {samples.shape[0]} and {batch}")
    if samples.shape[1] != channels:
        raise RuntimeError(f"Expect _random_samples.size(1) equals to input channel size, got {samples.shape[1]} and {channels}")
    if samples.shape[2] != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {samples.shape[2]}.")
    return samples


def _largest(rows: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    P, taps, places = index.shape
    windows = rows.gather(1, index.reshape(P, taps * places)).view(P, taps, places)
    values, best = windows.max(1)
    return values, index.gather(1, best.unsqueeze(1)).squeeze(1)


@composite("pool", accepts={"input": "floating"}, method=None)
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Maxima over windows at random places, to a given output size or ratio. Shape: (N, C, H, W) or (C, H, W).

    Source: Graham, "Fractional Max-Pooling", 2015.

    >>> import tenfold
    >>> tenfold.op.fractional_max_pool2d(tenfold.ones(1, 1, 4, 4), 2, output_size=2).shape
    tenfold.Size([1, 1, 2, 2])
    """
    result = _pool("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]


@composite("pool", accepts={"input": "floating"}, method=None)
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Maxima over windows at random places, to a given output size or ratio. Shape: (N, C, D, H, W) or (C, D, H, W).

    Source: Graham, "Fractional Max-Pooling", 2015.

    >>> import tenfold
    >>> tenfold.op.fractional_max_pool3d(tenfold.ones(1, 1, 4, 4, 4), 2, output_size=2).shape
    tenfold.Size([1, 1, 2, 2, 2])
    """
    result = _pool("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)
    return result if return_indices else result[0]
