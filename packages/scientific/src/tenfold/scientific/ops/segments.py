"""Reductions of segments: parts of a dimension that follow one another, of different lengths."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.tensor.tensor import Tensor

NAMES = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}


@primitive("segments", method=None, accepts={"data": "floating", "offsets": "integer"})
def reduced_segments(data: Tensor, offsets: Tensor, reduce: str, initial: Any) -> Tensor:
    """What `segment_reduce` runs: segments from one offset to the next, of the dimension that is the offsets' last.

    >>> import tenfold
    >>> tenfold.op.reduced_segments(tenfold.arange(4.0), tenfold.tensor([0, 1, 4]), "sum", None)
    tensor([0., 6.])
    """


@reduced_segments.rule
def _(data: Any, offsets: Any, reduce: str, initial: Any) -> Meta:
    axis = len(offsets.shape) - 1
    return Meta((*data.shape[:axis], offsets.shape[-1] - 1, *data.shape[axis + 1 :]), data.dtype)


@composite("segments", method=None, aliases=("_segment_reduce",))
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None,
    axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    """The sum, mean, prod, max or min of each segment of a dimension, starting from `initial`.

    Segments follow one another and are given by their lengths, or by the offsets of their ends.
    Shape: (*, N, *), lengths (*, S) -> (*, S, *).

    >>> import tenfold
    >>> tenfold.segment_reduce(tenfold.arange(4.0), "max", lengths=tenfold.tensor([1, 3]))
    tensor([0., 3.])
    """
    if reduce not in NAMES:
        raise RuntimeError(f"segment_reduce: reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = wrap_dim(axis, data.dim(), "segment_reduce")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    given = lengths if lengths is not None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if axis != given.dim() - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}.")
    if lengths is not None:
        if not unsafe and not lengths.is_meta and lengths._key.level is None and data._key.level is None:
            _check_lengths(data, lengths, axis)
        zeros = lengths.new_zeros((*lengths.shape[:-1], 1))
        offsets = OPERATORS["cat"].fn([zeros, lengths], -1).cumsum(-1)
    return reduced_segments(data.contiguous(), offsets, NAMES[reduce], initial)


def _check_lengths(data: Tensor, lengths: Tensor, axis: int) -> None:
    if lengths.numel() and int(lengths.min()) < 0:
        raise RuntimeError("segment_reduce: lengths contains negative value!")
    if bool((lengths.sum(-1) != data.size(axis)).any()):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
        )
