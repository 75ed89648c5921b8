"""Tables of vectors looked up by index."""

from __future__ import annotations

import warnings
from typing import Any

import tenfold as tf
from tenfold.dispatch.accepted import Only
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import composite
from tenfold.nn.arguments import has_kernel
from tenfold.nn.ops.bags import fused_bags, in_one_pass as in_one_pass_of_bags, maxima_of_bags
from tenfold.nn.ops.norm.scaling import fused_scaled_rows, in_one_pass
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import type_name


@composite("embedding", method=None)
def embedding_rows(weight: Tensor, input: Tensor, padding_idx: int, scale_grad_by_freq: bool, sparse: bool = False) -> Tensor:
    """The table's rows that the indices name; padding_idx -1: none. `sparse`: the table's gradient is a sparse tensor.

    >>> import tenfold
    >>> tenfold.op.embedding_rows(tenfold.tensor([[1.0], [2.0]]), tenfold.tensor([1, 0]), -1, False)
    tensor([[2.],
            [1.]])
    """
    return tf.index_select(weight, 0, input.reshape(-1)).view(*input.shape, *weight.shape[1:])


@embedding_rows.rule
def _(weight: Any, input: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool = False) -> Meta:
    return Meta((*input.shape, *weight.shape[1:]), weight.dtype)


@composite("embedding", method=None)
def embedding_weight_grad(grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_by_freq: bool) -> Tensor:
    """The gradient of the table: rows of `grad` added up by index, none for padding, divided by the index's frequency.

    >>> import tenfold
    >>> tenfold.op.embedding_weight_grad(tenfold.ones(2, 1), tenfold.tensor([1, 1]), 2, -1, False)
    tensor([[0.],
            [2.]])
    """
    flat = indices.reshape(-1).to(tf.int64)
    rows = grad.reshape(flat.shape[0], *grad.shape[indices.dim() :])
    if padding_idx >= 0:
        rows = rows * tf.ne(flat, padding_idx).to(grad.dtype).unsqueeze(1)
    if scale_by_freq:
        counts = tf.zeros(num_weights, dtype=grad.dtype, device=grad.device).index_add(0, flat, tf.ones_like(flat).to(grad.dtype))
        rows = rows / tf.index_select(counts, 0, flat).unsqueeze(1)
    return tf.zeros(num_weights, *rows.shape[1:], dtype=grad.dtype, device=grad.device).index_add(0, flat, rows)


def checked_padding_idx(name: str, padding_idx: int | None, num_weights: int) -> int:
    """The padding index counted from the front, -1 for none; AssertionError as PyTorch's when it is out of range."""
    if padding_idx is None:
        return -1
    if not -num_weights <= padding_idx < num_weights:
        raise AssertionError(f"{name}: Padding_idx must be within num_embeddings ({num_weights}), got {padding_idx}")
    return padding_idx % num_weights


def renormalize(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows in use down to a norm of at most `max_norm`, in place; neither gradient nor tangent knows of it."""
    weight = weight.detach()
    with tf.no_grad():
        if in_one_pass(weight, norm_type, max_norm):  # rows in use twice are written twice, the same: nothing waits for which
            used = input.reshape(-1)
            rows = embedding_rows(weight, used, -1, False)
            weight[used] = fused_scaled_rows(rows, float(norm_type), "limit", float(max_norm))[0]
            return
        used = tf.unique(input.reshape(-1))
        rows = weight[used]
        norms = tf.norm(rows, norm_type, 1, keepdim=True)
        weight[used] = tf.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows)


@composite("embedding", method=None)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a table that indices name.

    Shape: (*), (V, D) -> (*, D). Dtype: integer indices; the table's. `padding_idx`'s row gets no gradient; `max_norm`
    first shrinks the rows in use, in place. With `sparse` the table's gradient is a sparse tensor of the rows in use
    (tenfold-sparse makes it).
    Raises: IndexError for an index that the table lacks, RuntimeError for indices that are not integers, and in backward for
    `sparse` with `scale_grad_by_freq`.

    >>> import tenfold
    >>> tenfold.op.embedding(tenfold.tensor([1]), tenfold.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.]])
    """
    if input._array.dtype.kind != "i" or input._array.dtype.itemsize < 4:
        raise RuntimeError(
            f"embedding: Expected tensor for argument 'input' to have one of the following scalar types: Long, Int; "
            f"but got {input.dtype.name} instead"
        )
    if padding_idx is not None or len(weight._array.shape) != 2:
        if weight.dim() != 2:
            raise RuntimeError(f"embedding: 'weight' must be 2-D, got {list(weight.shape)}")
        padding_idx = checked_padding_idx("embedding", padding_idx, weight.shape[0])
    if max_norm is not None:
        renormalize(weight, input, max_norm, norm_type)
    return embedding_rows(weight, input, -1 if padding_idx is None else padding_idx, scale_grad_by_freq, bool(sparse))


_WEIGHT = Only(
    "floating",
    RuntimeError,
    "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; "
    "but got {dtype} instead ({name})",
)


@composite("embedding", accepts={"weight": _WEIGHT}, method=None)
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool | int = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of a table's rows, without the rows of `padding_idx`.

    Shape: (B, N), (V, D) -> (B, D); or flat indices (L) with the bags' starts `offsets` (B). An empty bag gives 0.
    Raises: ValueError, RuntimeError for arguments that do not fit each other.

    >>> import tenfold
    >>> tenfold.op.embedding_bag(tenfold.tensor([[0, 1]]), tenfold.tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    _check_bags(input, offsets)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"embedding_bag: mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if per_sample_weights is not None:
        _check_sample_weights(per_sample_weights, input, weight, mode)
    V = weight.shape[0]
    if padding_idx is not None and not -V <= padding_idx < V:
        raise RuntimeError(
            f"embedding_bag: padding_idx must be within the number of embeddings, {-V} through {V - 1}, but got {padding_idx}"
        )
    padding = checked_padding_idx("embedding_bag", padding_idx, V)
    if max_norm is not None:
        renormalize(weight, input, max_norm, norm_type)
    to_the_end = padding >= 0 or mode == "max"
    if not (weight.is_cpu and (sparse or scale_grad_by_freq)) and in_one_pass_of_bags(weight, input, offsets, per_sample_weights):
        count = input.shape[0] if offsets is None else offsets.shape[0] - bool(include_last_offset)
        if count:
            if offsets is not None and weight.is_cpu:  # elsewhere nothing waits for the offsets
                _check_offsets(input, *offsets._array[[0, -1]].tolist())
            ends = bool(include_last_offset) and offsets is not None and not to_the_end
            given = (weight, input, offsets, per_sample_weights, mode, count, padding, ends)
            return fused_bags(*given, bool(scale_grad_by_freq), bool(sparse))[0]
    parts = (weight, input, offsets, per_sample_weights, mode, padding)
    return _in_bags(*parts, include_last_offset, to_the_end, bool(scale_grad_by_freq), bool(sparse))


@embedding_bag.overload
def _(input: Any, weight: Any, *rest: Any, **named: Any) -> Any:
    if (
        isinstance(input, Tensor) and isinstance(weight, Tensor) and weight.dtype.name == "int64" and input.is_floating_point()
    ):  # the order before PyTorch 0.4
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed: `embedding_bag(weight, input, ...)` is deprecated, and "
            "should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=4,
        )
        return embedding_bag(weight, input, *rest, **named)
    return NotImplemented


def _check_sample_weights(given: Tensor, input: Tensor, weight: Tensor, mode: str) -> None:
    if mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None, which is only supported for mode='sum' (got mode={mode!r})"
        )
    if given.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(given.shape)}) is not None, then it must have the same shape as the "
            f"input ({list(input.shape)})"
        )
    if given.dtype is not weight.dtype:
        raise RuntimeError(
            f"embedding_bag: Expected tensor for argument 'weight' to have the same type as tensor for argument "
            f"'per_sample_weights': expected scalar type {type_name(weight.dtype)} but found {type_name(given.dtype)}"
        )


def _in_bags(
    weight: Tensor,
    input: Tensor,
    offsets: Tensor | None,
    factors: Tensor | None,
    mode: str,
    padding: int,
    include_last_offset: bool | int,
    to_the_end: bool,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    """`embedding_bag` in other operators, of arguments that fit."""
    flat, bags, count = _bags(input, offsets, include_last_offset, to_the_end)
    if padding >= 0:
        kept = tf.nonzero(tf.ne(flat, padding)).squeeze(1)
        flat, bags = flat[kept], bags[kept]
    else:
        kept = None
    try:
        rows = embedding_rows(weight, flat, -1, scale_grad_by_freq, sparse)
    except IndexError as error:  # PyTorch's two lookups refuse an index with errors of two types
        raise RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings; {error}") from None
    if factors is not None:
        factors = factors.reshape(-1)
        rows = rows * (factors[: flat.shape[0]] if kept is None else factors[kept]).unsqueeze(1)
    if mode == "max":
        return maxima_of_bags(rows, bags, count)[0]
    if bags is None:
        together = rows.view(*input.shape, weight.shape[1])
        return together.sum(1) if mode == "sum" else together.mean(1)
    sums = tf.zeros(count, weight.shape[1], dtype=weight.dtype, device=weight.device).index_add(0, bags, rows)
    if mode == "sum":
        return sums
    sizes = tf.zeros(count, dtype=weight.dtype, device=weight.device).index_add(0, bags, tf.ones_like(bags).to(weight.dtype))
    return sums / sizes.clamp_min(1).unsqueeze(1)


def _check_bags(input: Tensor, offsets: Tensor | None) -> None:
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "embedding_bag: if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences."
            )
        return
    if input.dim() != 1:
        raise ValueError(f"embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("embedding_bag: offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError(f"embedding_bag: offsets has to be a 1D Tensor, got {offsets.dim()} dimensions")


def _check_offsets(input: Tensor, first: int, last: int) -> None:
    if first != 0:
        raise RuntimeError(
            f"embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {first}"
        )
    if last > input.shape[0]:
        raise RuntimeError(
            f"embedding_bag: offsets[-1] can not be greater than input's length {input.shape[0]} but got offsets[-1] of {last}"
        )


def _bags(input: Tensor, offsets: Tensor | None, include_last_offset: bool | int, to_the_end: bool) -> tuple[Tensor, Any, int]:
    """Flat indices, the bag of each (None: bags of one size, which lie beside each other), and the number of bags.

    The last of `include_last_offset` should be the size of the input; where it is not, `to_the_end` goes on as if it were.
    """
    if offsets is None:
        B, N = input.shape
        if N and not to_the_end:
            return input.reshape(-1), None, B
        return input.reshape(-1), tf.arange(B, device=input.device).unsqueeze(1).expand(B, N).reshape(-1), B
    count = offsets.shape[0] - bool(include_last_offset)
    on_device = not input.is_cpu and has_kernel("fused_bags", input, offsets)
    if count > 0 and on_device and (to_the_end or not include_last_offset):
        places = tf.arange(input.shape[0], dtype=offsets.dtype, device=input.device)
        return input, tf.searchsorted(offsets[:count], places, right=True) - 1, count  # nothing waits for what offsets say
    starts = offsets.tolist()
    if not starts:
        if include_last_offset:
            raise RuntimeError("embedding_bag: include_last_offset: offsets has to have at least 1 element, got none")
        return input[:0], tf.zeros(0, dtype=tf.int64, device=input.device), 0
    _check_offsets(input, starts[0], starts[-1])
    ends = starts[1:] + ([] if include_last_offset else [input.shape[0]])
    if include_last_offset and to_the_end and ends:
        ends[-1] = input.shape[0]
    bags = [i for i, (a, b) in enumerate(zip(starts, ends, strict=False)) for _ in range(b - a)]
    # Indices behind the last offset belong to no bag.
    return input[: len(bags)], tf.tensor(bags, dtype=tf.int64, device=input.device), len(ends)


@composite("embedding", method=None)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors that are 1 at each index and 0 elsewhere; num_classes -1: one more than the largest index.

    Shape: (*) -> (*, C). Dtype: int64. Raises: RuntimeError for an index out of range.

    >>> import tenfold
    >>> tenfold.one_hot(tenfold.tensor([1, 0]))
    tensor([[0, 1],
            [1, 0]])
    """
    if tensor.dtype is not tf.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype.name}")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("one_hot: Can not infer total number of classes from empty tensor; pass num_classes")
    elif tensor._key.device.type == "cuda" and tensor._key.level is None:  # which tells an index out of range later
        num_classes = int(tensor.max()) + 1 if num_classes == -1 else num_classes
        zeros = tf.zeros(*tensor.shape, num_classes, dtype=tf.int64, device=tensor.device)
        return zeros.scatter_(-1, tensor.unsqueeze(-1), 1)
    elif tensor._key.device.type != "meta" and (tensor._key.level is None or num_classes == -1):  # vmap hides values
        low, high = int(tensor.min()), int(tensor.max())
        if low < 0 or 0 <= num_classes <= high:
            raise RuntimeError(
                f"one_hot: Class values must be non-negative and smaller than num_classes ({num_classes}), got {low} to {high}"
            )
        num_classes = high + 1 if num_classes == -1 else num_classes
    return (tensor.contiguous().unsqueeze(-1) == tf.arange(num_classes, device=tensor.device)).to(tf.int64)
