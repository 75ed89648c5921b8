"""Elements chosen by masks, and where a tensor is not zero."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import DataDependent, Meta
from tenfold.dispatch.operators import composite, primitive
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.indexing.index import index, index_put
from tenfold.ops.indexing.subscripts import getitem
from tenfold.ops.view.shapes import expand, reshape
from tenfold.tensor.tensor import Tensor


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


@composite("indexing", inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy whose elements where the mask holds are taken from `source`, in its order.

    >>> import tenfold
    >>> tenfold.zeros(3).masked_scatter(tenfold.tensor([True, False, True]), tenfold.tensor([5.0, 6.0]))
    tensor([5., 0., 6.])
    """
    if mask.dtype.category:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if input.dtype is not source.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    shape = broadcast_shapes("masked_scatter", [input.shape, mask.shape]) or (1,)
    places = [expand(mask, shape)]
    count = int(nonzero(places[0]).size(0))
    if count > source.numel():
        raise RuntimeError(f"masked_scatter: Number of elements of source < number of ones in mask: {source.numel()} < {count}")
    values = getitem(reshape(source, (-1,)), slice(0, count))
    written = index_put(expand(input, shape), places, values)
    return written if input.dim() or shape != (1,) else reshape(written, ())


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


@composite("indexing")
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero: (count, dimensions).

    >>> import tenfold
    >>> tenfold.argwhere(tenfold.tensor([0, 3]))
    tensor([[1]])
    """
    return nonzero(input)
