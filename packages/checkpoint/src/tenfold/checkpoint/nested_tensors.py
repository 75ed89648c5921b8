"""Nested tensors in files, as PyTorch writes them: a buffer of all rows, and where each of them lies in it."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.checkpoint.names import Global
from tenfold.tensor.tensor import Tensor
from tenfold.types import dtypes

_REBUILD_STRIDED = Global("torch._utils", "_rebuild_nested_tensor")
_REBUILD_SUBCLASS = Global("torch._tensor", "_rebuild_from_type_v2")
_REBUILD_JAGGED = Global("torch.nested._internal.nested_tensor", "_rebuild_njt")
_JAGGED = Global("torch.nested._internal.nested_tensor", "NestedTensor")


def reduced(obj: Any) -> tuple[Any, tuple[Any, ...]]:
    """The call that makes a nested tensor again, under PyTorch's names."""
    if obj.layout.name == "jagged":
        parts = {
            "values": obj._values.detach(),
            "offsets": obj.offsets(),
            "lengths": obj.lengths(),
            "_ragged_idx": obj._ragged_idx,
            "requires_grad": obj.requires_grad,
        }
        return _REBUILD_SUBCLASS, (_REBUILD_JAGGED, _JAGGED, (parts,), {})
    places = (obj._nested_tensor_size(), obj._nested_tensor_strides(), obj._nested_tensor_storage_offsets())
    return _REBUILD_STRIDED, (obj.values().detach().requires_grad_(obj.requires_grad), *places)


def rebuild_strided(buffer: Any, sizes: Any, strides: Any, begins: Any) -> Any:
    """A nested tensor of the strided layout; ValueError when a row would reach outside of its buffer."""
    _require_integers(sizes, strides, begins)
    if not isinstance(buffer, Tensor) or buffer.dim() != 1 or not buffer.is_contiguous():
        raise ValueError(f"a nested tensor on {buffer!r}, expected a tensor of one dimension whose elements are neighbours")
    rows = list(zip(sizes.tolist(), strides.tolist(), begins.tolist()))
    if not len(rows) == len(sizes) == len(strides) == len(begins) or sizes.shape != strides.shape:
        raise ValueError(f"a nested tensor of sizes {sizes.tolist()}, strides {strides.tolist()} and offsets {begins.tolist()}")
    for size, stride, begin in rows:
        last = begin + sum((n - 1) * step for n, step in zip(size, stride))
        if min((begin, *size, *stride)) < 0 or (0 not in size and last >= buffer.numel()):
            raise ValueError(f"a row of size {size}, stride {stride} and offset {begin} in a buffer of {buffer.numel()} elements")
    cls = importlib.import_module("tenfold.nested.strided").StridedNested  # by the package that has nested tensors
    ours = cls.of(
        buffer.detach(), [tuple(size) for size, _, _ in rows], [tuple(stride) for _, stride, _ in rows], begins.tolist()
    )
    return ours.requires_grad_(buffer.requires_grad)


def rebuild_jagged(parts: Any) -> Any:
    """A nested tensor of the jagged layout; ValueError for rows outside of its values."""
    known = {"values", "offsets", "lengths", "_ragged_idx", "_metadata_cache", "requires_grad"}
    if not isinstance(parts, dict) or not {"values", "offsets"} <= set(parts) <= known:
        raise ValueError(f"a jagged tensor of {sorted(parts) if isinstance(parts, dict) else parts!r}")
    values, offsets, lengths, ragged = parts["values"], parts["offsets"], parts.get("lengths"), parts.get("_ragged_idx", 1)
    _require_integers(offsets, *[] if lengths is None else [lengths])
    if not isinstance(values, Tensor) or type(ragged) is not int or not 0 < ragged <= values.dim() or offsets.dim() != 1:
        raise ValueError(f"a jagged tensor of values {values!r}, along dimension {ragged!r}")
    ends = offsets[1:] if lengths is None else offsets[:-1] + lengths
    places = [*offsets.tolist(), *ends.tolist()]
    if not places or min(places) < 0 or max(places) > values.shape[ragged - 1]:
        raise ValueError(f"rows at {offsets.tolist()} of values of shape {tuple(values.shape)}")
    cls = importlib.import_module("tenfold.nested.jagged").NestedTensor  # by the package that has nested tensors
    ours = cls(values, offsets, lengths=lengths, _ragged_idx=ragged)
    return ours.requires_grad_(parts.get("requires_grad") is True)


def _require_integers(*tensors: Any) -> None:
    for t in tensors:
        if not isinstance(t, Tensor) or t.dtype not in (dtypes.int64, dtypes.int32) or not t.dim():
            raise ValueError(f"rows of a nested tensor at {t!r}, expected a tensor of integers")
