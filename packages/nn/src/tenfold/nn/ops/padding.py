"""Padding and cropping at the borders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold as tf
from tenfold.dispatch.meta import Meta, contiguous_strides
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import ints
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import suggested_format
from tenfold.types.numbers import require_value

Sizes = tuple[int, ...]


def in_format_of(like: Any, shape: Sizes, dtype: Any) -> Meta:
    """A result that lies in memory as an array does."""
    order = suggested_format(like).order or tuple(range(len(shape)))
    steps = contiguous_strides([shape[d] for d in order], dtype.itemsize)
    return Meta(shape, dtype, [steps[order.index(d)] for d in range(len(shape))])


@composite("padding", method=None)
def constant_pad(input: Tensor, pad: Sizes, value: Any) -> Tensor:
    """A constant border; negative widths crop. `pad` has a pair (before, after) for each dimension, the last one first.

    >>> import tenfold
    >>> tenfold.op.constant_pad(tenfold.tensor([1.0, 2.0]), (1, -1), 0)
    tensor([0., 1.])
    """
    padded_shape(input.shape, pad)
    first = input.dim() - len(pad) // 2
    crop, grow = [], []
    for axis in range(first, input.dim()):
        before, after = pair_of(pad, input.dim() - 1 - axis)
        n = input.shape[axis]
        crop.append(slice(max(0, -before), n - max(0, -after)))
        grow.append((axis, max(0, before), max(0, after)))
    x = input[(..., *crop)] if any(c != slice(0, n) for c, n in zip(crop, input.shape[first:])) else input
    for axis, before, after in grow:
        parts = [_border(x, axis, before, value), x, _border(x, axis, after, value)]
        x = tf.cat([p for p in parts if p is not None], axis)
    return x.contiguous(memory_format=suggested_format(input._array)) if x is not input else input.clone()


def _border(x: Tensor, axis: int, width: int, value: Any) -> Tensor | None:
    if not width:
        return None
    return tf.full((*x.shape[:axis], width, *x.shape[axis + 1 :]), value, dtype=x.dtype, device=x.device)


def pair_of(pad: Sequence[int], from_last: int) -> tuple[int, int]:
    """The widths (before, after) of a dimension counted from the last."""
    return pad[2 * from_last], pad[2 * from_last + 1]


def padded_shape(shape: Sequence[int], pad: Sequence[int]) -> Sizes:
    """The shape after padding; RuntimeError with PyTorch's words when it has none."""
    if len(pad) % 2 or len(pad) // 2 > len(shape):
        raise RuntimeError(
            f"pad: Padding length must be divisible by 2 and at most twice the number of dimensions of the input; "
            f"got {len(pad)} widths for an input of shape {list(shape)}"
        )
    new = list(shape)
    for i in range(len(pad) // 2):
        new[-1 - i] += sum(pair_of(pad, i))
        if new[-1 - i] < 0:
            raise RuntimeError(
                f"pad: The input size {shape[-1 - i]}, plus negative padding {pair_of(pad, i)} resulted in a negative "
                f"output size, which is invalid. Check dimension {len(shape) - 1 - i} of your input."
            )
    return tuple(new)


@constant_pad.rule
def _(input: Any, pad: Sizes, value: Any) -> Meta:
    return in_format_of(input, padded_shape(input.shape, pad), input.dtype)


@composite("padding", method=None)
def constant_pad_nd(input: Tensor, pad: Any, value: complex = 0) -> Tensor:
    """`pad` with a constant.

    >>> import tenfold
    >>> tenfold.constant_pad_nd(tenfold.tensor([1.0, 2.0]), (1, 0), 5)
    tensor([5., 1., 2.])
    """
    widths = ints(pad, "constant_pad_nd: pad")
    padded_shape(input.shape, widths)
    if any(n > 0 for n in widths):
        require_value(value, input.dtype)
    for i, n in enumerate(input.shape[-1 : -1 - len(widths) // 2 : -1]):
        if n + sum(min(0, w) for w in pair_of(widths, i)) < 0:
            raise RuntimeError(
                f"pad: narrow(): length must be non-negative: {pair_of(widths, i)} crops more than the {n} there are"
            )
    if max(widths, default=0) > 0:
        return constant_pad(input, widths, value)
    return cropped(input, widths).clone()


def cropped(input: Tensor, widths: Sizes) -> Tensor:
    """What negative widths leave of an input, as a view."""
    for i in range(len(widths) // 2):
        before, after = (max(0, -w) for w in pair_of(widths, i))
        if before or after:
            input = input.narrow(-1 - i, before, input.shape[-1 - i] - before - after)
    return input


def _listed(pad: Any) -> Sizes:
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    return ints(pad, "pad: pad")


@composite("padding", method=None)
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """A border of a constant, or of the input's own values: "reflect", "replicate" or "circular".

    `pad` has a pair of widths (before, after) for each padded dimension, the last one first; negative widths crop. Raises:
    RuntimeError for widths that do not fit, or a value for another mode than "constant"; NotImplementedError for an unknown
    mode; TypeError for widths that are no tuple or list.

    >>> import tenfold
    >>> tenfold.op.pad(tenfold.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode="reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    widths = _listed(pad)
    if mode == "constant":
        if isinstance(value, complex):
            raise TypeError(f"pad: value must be float, not complex, got {value}; constant_pad_nd takes complex numbers")
        return constant_pad_nd(input, widths, 0 if value is None else float(value))
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"pad: Unrecognised padding mode {mode}; it must be constant, reflect, replicate or circular")
    if value is not None and value != 0:
        raise RuntimeError(f'pad: Padding mode "{mode}" doesn\'t take in value argument')
    count = len(widths) // 2
    if len(widths) % 2:
        raise RuntimeError(f"pad: Padding length must be divisible by 2, got {len(widths)} widths")
    if count > 3 or input.dim() not in (count + 1, count + 2):
        raise NotImplementedError(
            f"pad: Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now; "
            f"got {len(widths)} widths with an input of shape {list(input.shape)}"
        )
    if 0 in input.shape[-count - 1 :] and mode != "circular":
        raise RuntimeError(
            f"pad: Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    _check_border(input.shape, widths, mode)
    if not any(padded_shape(input.shape, widths)[-count:]) and mode != "circular":
        raise RuntimeError(f"pad: input {list(input.shape)} is too small: widths {list(widths)} leave nothing of it")
    if mode == "circular":
        input = input.contiguous()  # its result lies row by row
    elif input.dtype is tf.bool:
        kind = "reflection" if mode == "reflect" else "replication"
        raise NotImplementedError(f"\"{kind}_pad{count}d\" not implemented for 'Bool'; convert with .to(tenfold.uint8)")
    if not any(widths):
        return input.clone(memory_format=suggested_format(input._array))
    return border_pad(input, widths, mode)


@composite("padding", method=None)
def border_pad(input: Tensor, widths: Sizes, mode: str) -> Tensor:
    """`pad` with the input's own values, told which: "reflect", "replicate" or "circular". The result lies as the input does.

    >>> import tenfold
    >>> tenfold.op.border_pad(tenfold.tensor([[1.0, 2.0, 3.0]]), (2, 1), "reflect")
    tensor([[3., 2., 1., 2., 3., 2.]])
    """
    x = input
    for axis, index in _border_indices(input, input.shape, widths, mode):
        x = tf.index_select(x, axis, index)
    return x.contiguous(memory_format=suggested_format(input._array))


@border_pad.rule
def _(input: Any, widths: Sizes, mode: str) -> Meta:
    return in_format_of(input, padded_shape(input.shape, widths), input.dtype)


@composite("padding", method=None)
def border_pad_grad(grad: Tensor, input_shape: Sizes, widths: Sizes, mode: str) -> Tensor:
    """The gradient of `border_pad`: every element goes back to the one that it repeats.

    >>> import tenfold
    >>> tenfold.op.border_pad_grad(tenfold.ones(1, 6), (1, 3), (2, 1), "reflect")
    tensor([[1., 3., 2.]])
    """
    x = grad
    for axis, index in reversed(_border_indices(grad, input_shape, widths, mode)):
        zeros = tf.zeros(*x.shape[:axis], input_shape[axis], *x.shape[axis + 1 :], dtype=x.dtype, device=x.device)
        x = tf.index_add(zeros, axis, index, x)
    return x.contiguous(memory_format=suggested_format(grad._array))


@border_pad_grad.rule
def _(grad: Any, input_shape: Sizes, widths: Sizes, mode: str) -> Meta:
    return in_format_of(grad, tuple(input_shape), grad.dtype)


def _border_indices(x: Tensor, shape: Sequence[int], widths: Sizes, mode: str) -> list[tuple[int, Tensor]]:
    """(dimension, which of its elements each one of the result repeats), the last one first."""
    found = []
    for i in range(len(widths) // 2):
        if any(pair_of(widths, i)):
            axis = len(shape) - 1 - i
            source = border_index(shape[axis], *pair_of(widths, i), mode)
            found.append((axis, tf.tensor(source, dtype=tf.int64, device=x.device)))
    return found


def _check_border(shape: Sequence[int], widths: Sizes, mode: str) -> None:
    for i in range(len(widths) // 2):
        n, width = shape[-1 - i], max(pair_of(widths, i))
        if mode == "reflect" and width >= max(n, 1):
            raise RuntimeError(
                f"pad: Padding size should be less than the corresponding input dimension, but got: padding "
                f"{pair_of(widths, i)} at dimension {len(shape) - 1 - i} of input {list(shape)}"
            )
        if mode == "circular" and width > n:
            raise RuntimeError(
                f"pad: Padding value causes wrapping around more than once: padding {pair_of(widths, i)} at dimension "
                f"{len(shape) - 1 - i} of input {list(shape)}"
            )
        if mode == "circular" and width > 0 and n + sum(min(0, w) for w in pair_of(widths, i)) < 1:
            raise RuntimeError(
                f"pad: negative widths {pair_of(widths, i)} leave nothing to go round of dimension {len(shape) - 1 - i} of input "
                f"{list(shape)}; crop fewer than its {n} elements"
            )
        if n == 0 and width > 0:
            raise RuntimeError(
                f"pad: expected a non-empty dimension {len(shape) - 1 - i} for mode {mode!r}, got input {list(shape)}"
            )


def border_index(n: int, before: int, after: int, mode: str) -> list[int]:
    """Which element of a dimension of size n each element of the padded dimension repeats."""
    positions = range(-before, n + after)
    if mode == "replicate":
        return [min(max(i, 0), n - 1) for i in positions]
    if mode == "circular":
        # Negative widths crop first, and what is left goes round.
        kept = range(max(0, -before), n - max(0, -after))
        return [kept[i % len(kept)] for i in range(-max(0, before), len(kept) + max(0, after))]
    return [n - 1 - abs(n - 1 - abs(i)) for i in positions]
