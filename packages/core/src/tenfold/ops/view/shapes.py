"""Views: results that share the memory of their first argument, at O(1) cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.meta import Meta, contiguous_strides
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import wrap_dim, wrap_dims
from tenfold.dispatch.spellings import as_dims
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import FROM_NUMPY, dtype
from tenfold.types.memory_format import refuse_negative

Ints = Sequence[int]


def infer_size(shape: Any, numel: int, name: str) -> tuple[int, ...]:
    """The shape with its one -1 replaced by what fits; RuntimeError when nothing fits."""
    shape = as_dims(shape, name, "shape")
    unknown = [i for i, n in enumerate(shape) if n == -1]
    if len(unknown) > 1:
        raise RuntimeError(f"{name}: only one dimension can be inferred, got shape {list(shape)}")
    if any(n < -1 for n in shape):
        raise RuntimeError(f"{name}: invalid shape dimension {min(shape)}")
    if unknown:
        known = prod(n for n in shape if n != -1)
        if known == 0:
            raise RuntimeError(
                f"{name}: cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension "
                f"size -1 can be any value and is ambiguous"
            )
        if numel % known:
            raise RuntimeError(f"{name}: shape '{list(shape)}' is invalid for input of size {numel}")
        shape = tuple(numel // known if n == -1 else n for n in shape)
    if prod(shape) != numel:
        raise RuntimeError(f"{name}: shape '{list(shape)}' is invalid for input of size {numel}")
    return shape


def view_strides(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """The strides with which memory of (shape, strides) reads as the shape `new` without a copy, or None.

    Runs of dimensions that lie evenly in memory are merged, and each run must hold whole dimensions of the new shape.
    """
    if prod(shape) == 0:
        return tuple(strides) if tuple(shape) == tuple(new) else contiguous_strides(new)
    runs: list[list[int]] = []  # [elements, stride of the last dimension]
    for n, s in zip(shape, strides):
        if n == 1:
            continue
        if runs and runs[-1][1] == s * n:
            runs[-1] = [runs[-1][0] * n, s]
        else:
            runs.append([n, s])
    result: list[int] = []
    left = runs.pop() if runs else [1, 1]
    step, room = left[1], left[0]
    for n in reversed(new):
        if n == 1:
            result.append(step)
            continue
        if room == 1 and runs:
            room, step = runs.pop()
        if room % n:
            return None
        result.append(step)
        step, room = step * n, room // n
    return tuple(reversed(result))


def reinterpreted(input: Meta, target: dtype) -> Meta:
    """The geometry of the same memory read as another dtype; the last dimension grows or shrinks with the item size."""
    have, want = input.dtype.itemsize, target.itemsize
    if have == want:
        return Meta(input.shape, target.numpy, input.strides, input.offset)
    if not input.shape:
        raise RuntimeError(
            f"view: self.dim() cannot be 0 to view {FROM_NUMPY[input.dtype]} as {target} (different element sizes)"
        )
    what = f"to view {FROM_NUMPY[input.dtype]} as {target} (different element sizes), but got"
    strides = input.strides if prod(input.shape) else contiguous_strides(input.shape, have)
    if strides[-1] != have and input.shape[-1] != 1:
        raise RuntimeError(f"view: self.stride(-1) must be 1 {what} {strides[-1] // have}")
    ratio = max(want // have, 1)
    if input.shape[-1] % ratio:
        raise RuntimeError(f"view: self.size(-1) must be divisible by {ratio} {what} {input.shape[-1]}")
    if input.offset % want and ratio > 1:
        raise RuntimeError(f"view: self.storage_offset() must be divisible by {ratio} {what} {input.offset // have}")
    for i, step in enumerate(strides[:-1]):
        if step % want and ratio > 1:
            raise RuntimeError(f"view: self.stride({i}) must be divisible by {ratio} {what} {step // have}")
    return Meta((*input.shape[:-1], input.shape[-1] * have // want), target.numpy, (*strides[:-1], want), input.offset)


@primitive("view", view=True, ends_graph="reinterpreted", spellings={"dtype": "shape", "size": "shape"})
def view(input: Tensor, shape: Ints) -> Tensor:
    """The same elements in another shape, without a copy; one size may be -1. A dtype reinterprets the memory.

    >>> import tenfold
    >>> tenfold.arange(4).view(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """


@view.rule
def _(input: Any, shape: Any) -> Meta:
    if isinstance(shape, dtype):
        return reinterpreted(input, shape)
    shape = infer_size(shape, input.size, "view")
    strides = view_strides(input.shape, input.strides, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return Meta(shape, input.dtype, strides, input.offset)


@composite("view")
def reshape(input: Tensor, shape: Ints) -> Tensor:
    """The same elements in another shape: a view where memory allows it, else a copy.

    >>> import tenfold
    >>> tenfold.arange(4).reshape(2, 2).T.reshape(-1)
    tensor([0, 2, 1, 3])
    """
    size = infer_size(shape, input.numel(), "reshape")
    if not input.is_contiguous() and view_strides(input.shape, input.stride(), size) is None:
        return of_a_copy(view(input.contiguous(), size))
    return view(input, size)


def of_a_copy(result: Tensor) -> Tensor:
    """A view of memory that nobody else has, which is to users no view."""
    result._base = None
    return result


@primitive("view", view=True)
def permute(input: Tensor, dims: Ints) -> Tensor:
    """The dimensions in another order.

    >>> import tenfold
    >>> tenfold.ones(2, 3, 4).permute(2, 0, 1).shape
    tenfold.Size([4, 2, 3])
    """


@permute.rule
def _(input: Any, dims: Any) -> Meta:
    n = len(input.shape)
    if len(dims) != n:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    order = [wrap_dim(d, n, "permute") for d in dims]
    if len(set(order)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return Meta([input.shape[d] for d in order], input.dtype, [input.strides[d] for d in order], input.offset)


@primitive("view", view=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged.

    >>> import tenfold
    >>> tenfold.ones(2, 3).transpose(0, 1).shape
    tenfold.Size([3, 2])
    """


@transpose.rule
def _(input: Any, dim0: int, dim1: int) -> Meta:
    n = len(input.shape)
    dim0, dim1 = wrap_dim(dim0, n, "transpose"), wrap_dim(dim1, n, "transpose")
    shape, strides = list(input.shape), list(input.strides)
    if n:
        shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
        strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return Meta(shape, input.dtype, strides, input.offset)


@primitive("view", view="repeating")
def expand(input: Tensor, size: Ints) -> Tensor:
    """Dimensions of size 1 repeated without memory; new ones in front; -1 keeps a size.

    >>> import tenfold
    >>> tenfold.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """


@expand.rule
def _(input: Any, size: Any) -> Meta:
    size = as_dims(size, "expand", "size")
    lead = len(size) - len(input.shape)
    if lead < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({len(input.shape)})"
        )
    shape, strides = [], []
    for i, want in enumerate(size):
        have, stride = (1, 0) if i < lead else (input.shape[i - lead], input.strides[i - lead])
        if want == -1:
            if i < lead:
                raise RuntimeError(
                    f"expand: The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {i}"
                )
            want = have
        if have != want and have != 1:
            raise RuntimeError(
                f"expand: The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(input.shape)}"
            )
        shape.append(want)
        strides.append(stride if have == want else 0)
    return Meta(shape, input.dtype, strides, input.offset)


@primitive("view", view=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size 1 inserted.

    >>> import tenfold
    >>> tenfold.ones(2).unsqueeze(0).shape
    tenfold.Size([1, 2])
    """


@unsqueeze.rule
def _(input: Any, dim: int) -> Meta:
    dim = wrap_dim(dim, len(input.shape) + 1, "unsqueeze")
    stride = input.shape[dim] * input.strides[dim] if dim < len(input.shape) else input.dtype.itemsize
    shape, strides = list(input.shape), list(input.strides)
    shape.insert(dim, 1)
    strides.insert(dim, stride)
    return Meta(shape, input.dtype, strides, input.offset)


@primitive("view", view=True, old=("*",))
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size 1 left out: all, or those named.

    >>> import tenfold
    >>> tenfold.ones(1, 2, 1).squeeze().shape
    tenfold.Size([2])
    """


@squeeze.rule
def _(input: Any, dim: Any) -> Meta:
    n = len(input.shape)
    named: Any = (dim,) if isinstance(dim, (int, np.integer)) else dim
    dims = wrap_dims(named, n, "squeeze") if named or named is None else ()
    keep = [i for i in range(n) if i not in dims or input.shape[i] != 1]
    return Meta([input.shape[i] for i in keep], input.dtype, [input.strides[i] for i in keep], input.offset)


@primitive("view", view="repeating")
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the tensor's whole storage with given sizes, strides and offset, counted in elements.

    >>> import tenfold
    >>> tenfold.arange(5).as_strided((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """


@as_strided.rule
def _(input: Any, size: Any, stride: Any, storage_offset: int | None) -> Meta:
    if len(size) != len(stride):
        raise RuntimeError(
            f"as_strided: mismatch in length of strides and shape, got size {list(size)} and stride {list(stride)}"
        )
    refuse_negative(stride)
    itemsize = input.dtype.itemsize
    offset = input.offset if storage_offset is None else storage_offset * itemsize
    return Meta(size, input.dtype, [s * itemsize for s in stride], offset)


@primitive("view", view=True, ends_graph="always", nondifferentiable="it cuts the tensor off the graph on purpose")
def detach(input: Tensor) -> Tensor:
    """The same memory outside the gradient graph.

    >>> import tenfold
    >>> tenfold.ones(1).detach().requires_grad
    False
    """


@detach.rule
def _(input: Any) -> Meta:
    return Meta(input.shape, input.dtype, input.strides, input.offset)


@primitive("view", view=True)
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one index of a dimension, which is left out.

    Raises IndexError for an index outside the dimension.

    >>> import tenfold
    >>> tenfold.arange(6).view(2, 3).select(1, 2)
    tensor([2, 5])
    """


@select.rule
def _(input: Any, dim: int, index: int) -> Meta:
    n = len(input.shape)
    if n == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrap_dim(dim, n, "select"), int(index)
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}")
    offset = input.offset + index % size * input.strides[dim]
    shape, strides = list(input.shape), list(input.strides)
    del shape[dim], strides[dim]
    return Meta(shape, input.dtype, strides, offset)


@primitive("view", view=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, as a new last dimension; offset > 0 is above, < 0 below.

    >>> import tenfold
    >>> tenfold.arange(6).view(2, 3).diagonal(1)
    tensor([1, 5])
    """


@diagonal.rule
def _(input: Any, offset: int, dim1: int, dim2: int) -> Meta:
    n = len(input.shape)
    dim1, dim2 = wrap_dim(dim1, n, "diagonal"), wrap_dim(dim2, n, "diagonal")
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    (rows, columns), (down, right) = ([a[dim1], a[dim2]] for a in (input.shape, input.strides))
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    start = 0 if length == 0 else offset * right if offset >= 0 else -offset * down
    rest = [i for i in range(n) if i not in (dim1, dim2)]
    return Meta(
        [*(input.shape[i] for i in rest), length], input.dtype,
        [*(input.strides[i] for i in rest), down + right], input.offset + start,
    )  # fmt: skip


@primitive("view", view=True)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of a dimension: `size` elements each `step` elements, as a new last dimension.

    >>> import tenfold
    >>> tenfold.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """


@unfold.rule
def _(input: Any, dimension: int, size: int, step: int) -> Meta:
    n = len(input.shape)
    dimension = wrap_dim(dimension, n, "unfold")
    have, stride = (input.shape[dimension], input.strides[dimension]) if n else (1, input.dtype.itemsize)
    if size < 0:
        raise RuntimeError(f"unfold: size is {size} but must be >= 0")
    if size > have:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {have} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step} but must be > 0")
    shape, strides = [*input.shape, size], [*input.strides, stride]
    if n:
        shape[dimension], strides[dimension] = (have - size) // step + 1, stride * step
    return Meta(shape, input.dtype, strides, input.offset)
