"""The functions that make nested tensors."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.jagged import NestedTensor
from tenfold.nested.strided import StridedNested


def _layout(layout: Any) -> Any:
    if layout not in (None, tenfold.strided, tenfold.jagged):
        raise RuntimeError(
            f"Specified layout is unsupported for nested tensors: {layout}; there are tenfold.strided and tenfold.jagged"
        )
    return tenfold.strided if layout is None else layout


def nested_tensor(
    tensor_list: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A nested tensor of copies of tensors, or of lists of numbers; a leaf of the graph.

    Raises TypeError for other than a list, RuntimeError for tensors of different numbers of dimensions and, in the layout
    `tenfold.jagged`, for those that differ in more than one dimension.

    >>> import tenfold
    >>> x = tenfold.nested.nested_tensor([tenfold.ones(2, 3), tenfold.ones(1, 3)], layout=tenfold.jagged)
    >>> x.shape[2], x.offsets()
    (3, tensor([0, 2, 3]))
    """
    layout = _layout(layout)
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(
            "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor, got " + type(tensor_list).__name__
        )
    rows = [_row(x, dtype if dtype is not None else None, device) for x in tensor_list]
    if layout is tenfold.strided:
        made: Any = _strided(_of_one_dtype(rows, dtype), dtype, device)
        if made._held.requires_grad or not rows:
            made = made.like(made._held.detach())
    else:
        made = _jagged(rows)
    return made.requires_grad_(requires_grad)


def _row(x: Any, dtype: Any, device: Any) -> Tensor:
    if isinstance(x, Tensor):
        return x.detach().to(device=device, dtype=dtype)
    return tenfold.tensor(x, dtype=dtype, device=device)


def _of_one_dtype(rows: list[Tensor], dtype: Any) -> list[Tensor]:
    if dtype is not None or not rows:
        return rows
    found = rows[0].dtype
    for r in rows[1:]:
        found = tenfold.promote_types(found, r.dtype)
    return [r.to(found) for r in rows]


def _strided(rows: list[Tensor], dtype: Any, device: Any) -> StridedNested:
    for i, r in enumerate(rows[1:], 1):
        if r.ndim != rows[i - 1].ndim:
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. "
                f"Found dimension {r.ndim} for Tensor at index {i} and dimension {rows[i - 1].ndim} for Tensor at index {i - 1}."
            )
    return StridedNested.of_rows(rows, tenfold.empty(0, dtype=dtype, device=device))


def _jagged(rows: list[Tensor], offsets: Tensor | None = None) -> NestedTensor:
    if not rows:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    first = rows[0]
    for what, differs in (
        ("dtype", lambda r: r.dtype is not first.dtype),
        ("device", lambda r: r.device != first.device),
        ("dim", lambda r: r.ndim != first.ndim),
    ):
        if any(differs(r) for r in rows):
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must have the same {what}")
    if not first.ndim:
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    ragged = [d for d in range(first.ndim) if any(r.shape[d] != first.shape[d] for r in rows)]
    if len(ragged) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only "
            "allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
        )
    made = NestedTensor.of_rows(rows, offsets, ragged[0] + 1 if ragged else 1)
    made._base = made._held  # it is a view of its values
    return made


def jagged_from_list(tensors: list[Tensor], offsets: Tensor | None, dtype: Any = None, device: Any = None) -> Any:
    """A jagged nested tensor of tensors, and its offsets: those given, which say that the ragged size is another's."""
    made = _jagged([t.to(device=device, dtype=dtype) for t in tensors], offsets)
    return made, made.offsets()


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Any:
    """A nested tensor of tensors, or of the rows of one tensor, through which gradients flow back to them.

    A nested tensor of the same layout, dtype and device is given back as it is, and one tensor is not copied.

    >>> import tenfold
    >>> x = tenfold.ones(2, requires_grad=True)
    >>> tenfold.nested.as_nested_tensor([x, tenfold.ones(1)]).values().sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    layout = _layout(layout)
    if getattr(ts, "is_nested", False):
        if ts.layout is not layout:
            raise RuntimeError(
                f"as_nested_tensor(): Converting between nested tensor layouts is not supported, got {ts.layout} and {layout}"
            )
        return ts.to(device=ts.device if device is None else device, dtype=ts.dtype if dtype is None else dtype)
    if isinstance(ts, Tensor):
        return _of_one(ts, dtype, device, layout)
    if not isinstance(ts, (list, tuple)) or not all(isinstance(t, Tensor) for t in ts):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors")
    if layout is tenfold.jagged:
        return _jagged([t.to(device=device, dtype=dtype) for t in ts])
    return _strided(_of_one_dtype([t.to(device=device, dtype=dtype) for t in ts], dtype), dtype, device)


def _of_one(x: Tensor, dtype: Any, device: Any, layout: Any) -> Any:
    if x.ndim < 2:
        raise RuntimeError(f"as_nested_tensor(): Expected tensor argument to have dim() > 1, got {x.ndim}")
    given = x.to(device=device, dtype=dtype)
    same = given.contiguous()
    B, size = same.shape[0], tuple(same.shape[1:])
    made: Any
    if layout is tenfold.strided:
        made = StridedNested.of(same.reshape(-1), [size] * B)
    else:
        n = same.shape[1]
        offsets = tenfold.arange(B + 1, device=same.device) * n
        made = NestedTensor(same.flatten(0, 1), offsets, _min_seqlen=n, _max_seqlen=n)
    made._base = x if same is x else None
    return made


def nested_tensor_from_jagged(
    values: Tensor, offsets: Tensor | None = None, lengths: Tensor | None = None, jagged_dim: int | None = None,
    min_seqlen: int | None = None, max_seqlen: int | None = None,
) -> NestedTensor:  # fmt: skip
    """A view of values as a jagged nested tensor: row i from `offsets[i]` to `offsets[i + 1]`, or of `lengths[i]` places.

    Shape: values (total, ...), offsets (B + 1), lengths (B) -> (B, j, ...). `jagged_dim` is the ragged dimension of the result.

    >>> import tenfold
    >>> x = tenfold.nested.nested_tensor_from_jagged(tenfold.arange(5), tenfold.tensor([0, 2, 5]))
    >>> x.unbind()
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        # Lengths alone mean rows without gaps between them.
        offsets, lengths = tenfold.cat([lengths.new_zeros(1), lengths.cumsum(0)]), None
    ragged = 1 if jagged_dim is None else jagged_dim
    made = NestedTensor(
        values if not (values.requires_grad and values.is_leaf) else values.view_as(values),
        offsets, lengths=lengths, _ragged_idx=ragged, _min_seqlen=min_seqlen, _max_seqlen=max_seqlen,
    )  # fmt: skip
    made._base = values if values._base is None else values._base
    return made


def narrow(tensor: Tensor, dim: int, start: Any, length: Any, layout: Any = None) -> Any:
    """Of each row of a tensor (B, N, ...) a range of the dimension 1: a nested tensor, in the jagged layout a view.

    `start` and `length` are integers or tensors (B). Raises RuntimeError for a dimension other than 1.

    >>> import tenfold
    >>> x = tenfold.arange(6).reshape(2, 3)
    >>> tenfold.nested.narrow(x, 1, tenfold.tensor([0, 1]), 2, layout=tenfold.jagged).unbind()
    (tensor([0, 1]), tensor([4, 5]))
    """
    layout = _layout(layout)
    if layout is tenfold.strided:
        starts, lengths = (_each(v, len(tensor), tensor).tolist() for v in (start, length))
        return as_nested_tensor([row.narrow(dim - 1, s, n) for row, s, n in zip(tensor, starts, lengths)], layout=layout)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    B, N = tensor.shape[:2]
    starts, lengths = (_each(v, B, tensor) for v in (start, length))
    begins = tenfold.arange(B, device=tensor.device) * N + starts
    fills = bool((begins[1:] == (begins + lengths)[:-1]).all())
    offsets = tenfold.cat([begins, (begins[-1:] + lengths[-1:])])
    return nested_tensor_from_jagged(tensor.flatten(0, 1), offsets, None if fills else lengths)


def _each(value: Any, n: int, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value.to(device=like.device, dtype=tenfold.int64).expand(n)
    return tenfold.full((n,), value, dtype=tenfold.int64, device=like.device)


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """The elements of each row of a tensor (B, N, ...) where a mask (B, N) holds, jagged.

    >>> import tenfold
    >>> mask = tenfold.tensor([[True, False, True], [False, False, True]])
    >>> tenfold.nested.masked_select(tenfold.arange(6).reshape(2, 3), mask).unbind()
    (tensor([0, 2]), tensor([5]))
    """
    if tensor.layout is not tenfold.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}")
    if mask.layout is not tenfold.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided mask, given: {mask.layout}")
    lengths = mask.reshape(mask.shape[0], -1).sum(1)
    offsets = tenfold.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    picked = (
        tensor.reshape(mask.shape + tensor.shape[mask.ndim :])[mask] if mask.ndim <= tensor.ndim else tensor.masked_select(mask)
    )
    return NestedTensor(picked, offsets)
