"""The general convolution and its two gradients, with bodies in operators that every device has."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.padding import constant_pad
from tenfold.tensor.tensor import Tensor

Sizes = tuple[int, ...]


def output_sizes(
    inputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool, output_padding: Sizes
) -> Sizes:
    """The spatial sizes of a convolution's result."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if transposed:
        steps = zip(inputs, stride, padding, reach, output_padding, strict=True)
        return tuple((i - 1) * s - 2 * p + r + o for i, s, p, r, o in steps)
    return tuple((i + 2 * p - r) // s + 1 for i, s, p, r in zip(inputs, stride, padding, reach, strict=True))


@composite("conv", accepts="integer floating complex", method=None, promote="same")
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    """Cross-correlation over one to three dimensions, or its transpose.

    Formula: out[n, o, p] = bias[o] + sum over c, k of input[n, c, p stride + k dilation - padding] weight[o, c, k].
    Shape: input (N, C, *S) or (C, *S); weight (O, C / groups, *K), transposed (C, O / groups, *K); bias (O).
    Dtype: floating, complex or int64, the same for all.
    Raises: RuntimeError when shapes do not fit.
    Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    >>> import tenfold
    >>> x = tenfold.arange(4.0).view(1, 1, 4)
    >>> tenfold.convolution(x, tenfold.ones(1, 1, 2), None, (1,), (0,), (1,), False, (0,), 1)
    tensor([[[1., 3., 5.]]])
    """
    steps = (stride, padding, dilation, transposed, output_padding, groups)
    check_convolution(input, weight, bias, *steps)
    if input.dim() == weight.dim() - 1:
        return convolution(input.unsqueeze(0), weight, bias, *steps).squeeze(0)
    if transposed:
        input, weight, padding_pairs = _as_plain(input, weight, stride, padding, dilation, output_padding, groups)
        stride = (1,) * len(stride)
    else:
        padding_pairs = [(p, p) for p in padding]
    x = _padded(input, padding_pairs)
    out = _correlate(x, weight, stride, dilation, groups)
    return out if bias is None else out + bias.reshape(-1, *[1] * len(stride))


def _padded(x: Tensor, pairs: list[tuple[int, int]]) -> Tensor:
    if not any(any(pair) for pair in pairs):
        return x
    return constant_pad(x, tuple(n for pair in reversed(pairs) for n in pair), 0)


def _as_plain(
    x: Tensor, weight: Tensor, stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes, groups: int
) -> tuple[Tensor, Tensor, list[tuple[int, int]]]:
    """A transposed convolution as a plain one of stride 1: zeros between the elements, the kernel turned round."""
    kernel = weight.shape[2:]
    x = with_gaps(x, stride)
    reach = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    # The zeros after the last element come off again.
    pairs = [(r - p, r - p + o - s + 1) for r, p, o, s in zip(reach, padding, output_padding, stride, strict=True)]
    C, M = weight.shape[0], weight.shape[1]
    turned = weight.reshape(groups, C // groups, M, *kernel).transpose(1, 2).flip(tuple(range(3, 3 + len(kernel))))
    return x, turned.reshape(groups * M, C // groups, *kernel), pairs


def with_gaps(x: Tensor, stride: Sizes) -> Tensor:
    """Put stride - 1 zeros behind every element along each of the last dimensions."""
    first = x.dim() - len(stride)
    for axis, s in enumerate(stride, first):
        if s > 1:
            spread = _padded(x.unsqueeze(axis + 1), [(0, s - 1), *[(0, 0)] * (x.dim() - axis - 1)])
            x = spread.reshape(*x.shape[:axis], x.shape[axis] * s, *x.shape[axis + 1 :])
    return x


def patches(x: Tensor, kernel: Sizes, stride: Sizes, dilation: Sizes, outputs: Sizes) -> Tensor:
    """Every window's elements of a padded (N, C, *S): (N, C, taps, *outputs)."""
    taps = []
    for tap in product(*[range(k) for k in kernel]):
        axes = zip(tap, stride, dilation, outputs, strict=True)
        taps.append(x[(..., *[slice(t * d, t * d + (o - 1) * s + 1, s) for t, s, d, o in axes])])
    return tf.stack(taps, 2)


def spread_patches(columns: Tensor, inputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Tensor:
    """The transpose of padding and `patches`: add columns (N, C, taps, *outputs) to planes (N, C, *inputs)."""
    total = None
    for at, tap in enumerate(product(*[range(k) for k in kernel])):
        x = with_gaps(columns[:, :, at], stride)
        starts = [t * d - p for t, d, p in zip(tap, dilation, padding, strict=True)]
        x = _padded(x, [(a, i - a - n) for a, i, n in zip(starts, inputs, x.shape[2:], strict=True)])
        total = x if total is None else total + x
    assert total is not None
    return total


def _correlate(x: Tensor, weight: Tensor, stride: Sizes, dilation: Sizes, groups: int) -> Tensor:
    N, O, kernel = x.shape[0], weight.shape[0], tuple(weight.shape[2:])
    none = (0,) * len(stride)
    outputs = output_sizes(tuple(x.shape[2:]), kernel, stride, none, dilation, False, none)
    columns = patches(x, kernel, stride, dilation, outputs).reshape(N, groups, prod(weight.shape[1:]), prod(outputs))
    kernels = weight.reshape(groups, O // groups, prod(weight.shape[1:]))
    return tf.matmul(kernels, columns).reshape(N, O, *outputs)


@convolution.rule
def _(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Meta:
    check_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    batched = input.ndim == weight.ndim
    inputs = tuple(input.shape[2 if batched else 1 :])
    sizes = output_sizes(inputs, tuple(weight.shape[2:]), stride, padding, dilation, transposed, output_padding)
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    return Meta((*input.shape[: 1 if batched else 0], channels, *sizes), input.dtype)


def check_convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> None:
    """Refuse shapes that do not fit, with PyTorch's exception type."""
    n = weight.ndim - 2
    name = f"conv{'_transpose' if transposed else ''}{n}d"
    shape, kernel = list(input.shape), list(weight.shape)
    if n < 1 or input.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {shape}"
        )
    check_steps(name, stride, padding, dilation, groups)
    channels = shape[-n - 1]
    expected = kernel[0] if transposed else kernel[1] * groups
    if channels != expected:
        given = "transposed=1" if transposed else f"groups={groups}"
        batch = shape if input.ndim == n + 2 else [1, *shape]
        raise RuntimeError(
            f"{name}: Given {given}, weight of size {kernel}, expected input{batch} to have {expected} channels, "
            f"but got {channels} channels instead"
        )
    if kernel[0] % groups or kernel[0] < groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, got {kernel}"
        )
    if 0 in kernel[2:]:
        raise RuntimeError(f"{name}: kernel size should be greater than zero, but got weight of size {kernel}")
    produced = kernel[1] * groups if transposed else kernel[0]
    if bias is not None and tuple(bias.shape) != (produced,):
        raise RuntimeError(
            f"{name}: Given weight of size {kernel}, expected bias to be 1-dimensional with {produced} elements, "
            f"but got bias of size {list(bias.shape)} instead"
        )
    if transposed:
        _check_transposed(name, shape, kernel, stride, padding, dilation, output_padding)
    else:
        _check_kernel_fits(name, shape, kernel, padding, dilation)


def check_steps(name: str, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> None:
    """Refuse steps with which a kernel would compute something else than a convolution."""
    if groups <= 0:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {groups}")
    for what, values, least in (("stride", stride, 1), ("dilation", dilation, 1), ("padding", padding, 0)):
        if min(values) < least:
            refused = "negative" if least == 0 else "non-positive"
            raise RuntimeError(f"{name}: {refused} {what} is not supported, got {tuple(values)}")


def _check_kernel_fits(name: str, shape: list[int], kernel: list[int], padding: Sizes, dilation: Sizes) -> None:
    n = len(padding)
    room = [s + 2 * p for s, p in zip(shape[-n:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(kernel[2:], dilation, strict=True)]
    if any(have < want for have, want in zip(room, reach, strict=True)):
        raise RuntimeError(
            f"{name}: Calculated padded input size per channel: ({' x '.join(map(str, room))}). "
            f"Kernel size: ({' x '.join(map(str, reach))}). "
            f"Kernel size can't be greater than actual input size"
        )


def check_output_padding(name: str, output_padding: Sizes, stride: Sizes, dilation: Sizes) -> None:
    """Refuse what reaches beyond the windows of a transposed convolution."""
    if any(o < 0 or o >= max(s, d) for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        if len(stride) == 1:  # one dimension is the last of two
            output_padding, stride, dilation = (0, *output_padding), (1, *stride), (1, *dilation)
        axes = ("depth", "height", "width")[-len(stride) :]
        parts = (("output_padding", output_padding), ("stride", stride), ("dilation", dilation))
        got = " ".join(f"{what}_{axis}: {size}" for what, sizes in parts for axis, size in zip(axes, sizes, strict=True))
        raise RuntimeError(f"{name}: output padding must be smaller than either stride or dilation, but got {got}")


def _check_transposed(
    name: str, shape: list[int], kernel: list[int], stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes
) -> None:
    n = len(padding)
    if shape[0] or len(shape) == n + 1:
        check_output_padding(name, output_padding, stride, dilation)
    sizes = output_sizes(tuple(shape[-n:]), tuple(kernel[2:]), stride, padding, dilation, True, output_padding)
    if min(sizes) < 1:
        had, left = (" x ".join(map(str, each)) for each in (shape[-n:], sizes))
        raise RuntimeError(
            f"{name}: Given input size per channel: ({had}). Calculated output size per channel: ({left}). "
            "Output size is too small"
        )


@composite("conv", method=None, promote="same")
def convolution_input_grad(
    grad: Tensor,
    weight: Tensor,
    input_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    """The gradient of `convolution` for its input: the transposed convolution of `grad`, of the shape `input_shape`.

    >>> import tenfold
    >>> tenfold.op.convolution_input_grad(
    ...     tenfold.ones(1, 1, 3), tenfold.ones(1, 1, 2), (1, 1, 4), (1,), (0,), (1,), False, (0,), 1)
    tensor([[[1., 2., 2., 1.]]])
    """
    n = len(stride)
    inputs, outputs = tuple(input_shape[-n:]), tuple(grad.shape[-n:])
    if not transposed:
        none = (0,) * n
        least = output_sizes(outputs, tuple(weight.shape[2:]), stride, padding, dilation, True, none)
        missing = tuple(i - m for i, m in zip(inputs, least, strict=True))
        return convolution(grad, weight, None, stride, padding, dilation, True, missing, groups)
    out = convolution(grad, weight, None, stride, padding, dilation, False, output_padding, groups)
    # An output padding of more than a stride lets the plain convolution reach too far.
    return out if tuple(out.shape[-n:]) == inputs else out[(..., *[slice(i) for i in inputs])]


@composite("conv", method=None, promote="same")
def convolution_weight_grad(
    grad: Tensor,
    input: Tensor,
    weight_shape: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    """The gradient of `convolution` for its weight, of the shape `weight_shape`.

    >>> import tenfold
    >>> tenfold.op.convolution_weight_grad(
    ...     tenfold.ones(1, 1, 3), tenfold.arange(4.0).view(1, 1, 4), (1, 1, 2), (1,), (0,), (1,), False, (0,), 1)
    tensor([[[3., 6.]]])
    """
    n = len(stride)
    if grad.dim() == n + 1:
        grad, input = grad.unsqueeze(0), input.unsqueeze(0)
    wide, narrow = (grad, input) if transposed else (input, grad)
    outputs = tuple(narrow.shape[2:])
    # Where the output padding exceeds the stride, the windows end before the plane does.
    x = _padded(wide, [(p, p) for p in padding])
    N, L = narrow.shape[0], prod(outputs)
    columns = patches(x, tuple(weight_shape[2:]), stride, dilation, outputs)
    columns = columns.reshape(N, groups, wide.shape[1] // groups * prod(weight_shape[2:]), L)
    rows = narrow.reshape(N, groups, narrow.shape[1] // groups, L)
    return tf.matmul(rows, columns.transpose(2, 3)).sum(0).reshape(weight_shape)
