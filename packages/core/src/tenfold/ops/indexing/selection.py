"""Elements at places that index tensors and masks name, and those places."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.pointwise.filling import only_value
from tenfold.ops.view.shapes import expand, reshape
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes

INDICES = frozenset(("int64", "int32", "uint8", "bool"))


@primitive("indexing", method=None)
def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """The elements at integer positions (or where masks hold) of the dimensions whose entry is not None.

    Shape: the indices' broadcast shape stands where they stand, or in front when they are not neighbours.

    >>> import tenfold
    >>> tenfold.op.index(tenfold.tensor([1, 5, 2]), [tenfold.tensor([2, 0])])
    tensor([2, 1])
    """


@index.rule
def _(input: Any, indices: Any) -> Meta:
    if _check_masks(input.shape, indices):
        raise DataDependent("index: the shape of a masked selection depends on data, which a meta tensor does not have")
    return Meta(indexed_shape(input.shape, indices), input.dtype)


def _check_masks(shape: Sequence[int], indices: Sequence[Any]) -> bool:
    """Whether there are masks among the indices; IndexError if one does not fit the dimensions that it covers."""
    dim, found = 0, False
    for i in indices:
        masked = i is not None and i.dtype == np.bool_
        covered = len(i.shape) if masked else 1
        if dim + covered > len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
        if masked:
            check_mask(i.shape, shape, dim)
        dim, found = dim + covered, found or masked
    return found


def check_mask(mask: Sequence[int], shape: Sequence[int], dim: int) -> None:
    """A mask has the sizes of the dimensions that it covers."""
    for i, n in enumerate(mask):
        if shape[dim + i] != n:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {i} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim + i}"
            )


def indexed_shape(shape: Sequence[int], indices: Sequence[Any]) -> tuple[int, ...]:
    """The shape of an advanced gather with integer indices."""
    places = [d for d, i in enumerate(indices) if i is not None]
    if not places:
        return tuple(shape)
    try:
        found = broadcast_shapes("index", [indices[d].shape for d in places])
    except RuntimeError:
        shapes = ", ".join(str(list(indices[d].shape)) for d in places)
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}") from None
    rest = [n for d, n in enumerate(shape) if d not in places]
    at = places[0] if places[-1] - places[0] + 1 == len(places) else 0
    return (*rest[:at], *found, *rest[at:])


@primitive("indexing", inplace=True)
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` (broadcast) at the indexed places, or added there.

    Without `accumulate` it is undefined which of several values for one place is taken.

    >>> import tenfold
    >>> x, i = tenfold.zeros(3), tenfold.tensor([0, 0, 2])
    >>> x.index_put((i,), tenfold.ones(3), accumulate=True)
    tensor([2., 0., 1.])
    """


def _with_masks(operator: Any) -> Any:
    """The calls of `index_put` and of its in-place form that are other calls of it: byte masks, one value for a mask."""

    def overload(input: Any, indices: Any, values: Any, accumulate: bool) -> Any:
        for i in indices:
            if isinstance(i, Tensor) and i.dtype.name not in INDICES:
                raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {i.dtype}")
        bytes_ = [isinstance(i, Tensor) and i.dtype.name == "uint8" for i in indices]
        one = fills_mask(indices, values, accumulate)
        if any(bytes_):
            masks = [byte_mask(i) if byte else i for i, byte in zip(indices, bytes_)]
            if one:
                raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
            return operator.fn(input, masks, values, accumulate)
        if not one or (
            values.dtype is input.dtype
            and not values.dim()
            and (values._storage is None or values._storage is not input._storage)
        ):
            return NotImplemented
        return operator.fn(input, indices, only_value(reshape(values, ()), input), accumulate)

    return overload


def fills_mask(indices: Sequence[Any], values: Any, accumulate: bool) -> bool:
    """Whether one value goes wherever one mask holds, as a number would: its shape and its dtype do not matter."""
    if accumulate or not isinstance(values, Tensor) or values._key.level is not None or values.numel() != 1:
        return False
    given = [i for i in indices if i is not None]
    return len(given) == 1 and isinstance(given[0], Tensor) and given[0].dtype.name in ("bool", "uint8")


for _form in index_put.op.forms:
    _form.overload_body = _with_masks(_form)


@index_put.rule
def _(input: Any, indices: Any, values: Any, accumulate: bool) -> Meta:
    masked = _check_masks(input.shape, indices)
    if masked and input.dtype != values.dtype:
        raise DataDependent("index_put: whether the shapes fit, which is asked first, depends on the masks")
    if not masked:
        shape = indexed_shape(input.shape, indices)
        if any(i is not None and not n for i, n in zip(indices, input.shape)) and all(
            0 not in i.shape for i in indices if i is not None
        ):
            raise IndexError("index is out of bounds for dimension with size 0")
        check_values(values, shape, input.dtype)
    return Meta(input.shape, input.dtype)


def check_values(values: Any, shape: Sequence[int], dtype: Any) -> None:
    """RuntimeError for values that do not broadcast to the shape that an index selects, or are of another dtype."""
    if len(values.shape) > len(shape) or any(v not in (1, n) for v, n in zip(values.shape[::-1], shape[::-1])):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    if values.dtype != dtype:
        raise RuntimeError(
            f"index_put: Index put requires the source and destination dtypes match, got {_spoken(dtype)} for the destination "
            f"and {_spoken(values.dtype)} for the source."
        )


def _spoken(kind: Any) -> str:
    return dtypes.type_name(dtypes.from_numpy(kind))


def byte_mask(mask: Tensor) -> Tensor:
    """A uint8 mask, PyTorch's deprecated kind, as a bool one."""
    warn_of_bytes()
    return mask.to(dtypes.bool_)


def warn_of_bytes() -> None:
    """Say that masks are bool today."""
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", UserWarning, stacklevel=5
    )


@composite("indexing", out="same")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension; input and mask are broadcast.

    >>> import tenfold
    >>> x = tenfold.tensor([1, 2, 3])
    >>> x.masked_select(x > 1)
    tensor([2, 3])
    """
    if mask.dtype.category:
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, got {mask.dtype}")
    shape = broadcast_shapes("masked_select", [input.shape, mask.shape])
    if not shape:
        input, mask, shape = reshape(input, (1,)), reshape(mask, (1,)), (1,)
    return index(expand(input, shape), [expand(mask, shape)])


@primitive("indexing", out="long", nondifferentiable="its result is integer")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor:
    """The positions of the elements that are not zero: (count, dimensions), or with as_tuple a tensor a dimension.

    >>> import tenfold
    >>> tenfold.tensor([0, 3, 0, 4]).nonzero()
    tensor([[1],
            [3]])
    """


@nonzero.lower(as_tuple=False)
def _(input: Tensor, as_tuple: bool) -> Any:
    return nonzero(input if input.dim() else reshape(input, (1,))).unbind(1)


@nonzero.rule
def _(input: Any) -> Meta:
    raise DataDependent("nonzero: the shape of its result depends on data, which a meta tensor does not have")
