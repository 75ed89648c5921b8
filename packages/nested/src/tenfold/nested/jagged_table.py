"""Operators on jagged nested tensors: where they go, and those that work element by element."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nested.table import JAGGED, answer, nested_in


def answer_jagged(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are jagged nested tensors."""

    return answer(JAGGED, elementwise, func, args, kwargs)


def elementwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """An operator on every element: the values' result. Nested arguments have one ragged size; dense ones broadcast."""
    given = list(nested_in((*args, *kwargs.values())))
    first = max(given, key=lambda x: x.dim())
    operator = func.op
    name = (operator.inplace_of or operator).name
    for other in given:
        if not _fits(first, other):
            raise RuntimeError(
                f"cannot call binary pointwise function {name}.Tensor with inputs of shapes {_sizes(first)} and {_sizes(other)}: "
                "ragged sizes are equal where the same tensor of offsets says them"
            )

    def values(x: Any) -> Any:
        if getattr(x, "is_nested", False):
            return x._held
        return along_places(first, x, name) if isinstance(x, Tensor) and x.ndim else x

    held = func(*[values(a) for a in args], **{k: values(v) for k, v in kwargs.items()})
    return args[0] if operator.inplace_of is not None else first.like(held)


def _sizes(x: Any) -> str:
    return str(tuple(x.shape))


def _fits(first: Any, other: Any) -> bool:
    """Whether the ragged dimensions agree, and the others are equal or 1."""
    if other is first:
        return True
    if other.layout is not first.layout or other.dim() != first.dim():
        return False
    pairs = zip(first.shape, other.shape)
    ragged = first._ragged_idx == other._ragged_idx and first.shape[first._ragged_idx] == other.shape[first._ragged_idx]
    return ragged and all(a == b or 1 in (a, b) for a, b in pairs)


def along_places(nested: Any, dense: Tensor, name: str) -> Tensor:
    """A dense tensor as one that broadcasts with a nested one's values: (B, ..., 1 or longest, ...) goes to each row's places."""
    missing = nested.dim() - dense.ndim
    if missing < 0:
        raise RuntimeError(
            f"cannot call binary pointwise function {name}.Tensor with inputs of shapes {_sizes(nested)} and {_sizes(dense)}: "
            "the dense one has more dimensions"
        )
    x = dense.reshape((1,) * missing + tuple(dense.shape)) if missing else dense
    r, B = nested._ragged_idx, len(nested)
    if x.shape[r] == 1 and x.shape[0] == 1:
        return x.squeeze(0)
    if x.shape[0] not in (1, B) or (x.shape[r] != 1 and x.shape[r] < nested._max_seqlen):
        raise RuntimeError(
            f"cannot call binary pointwise function {name}.Tensor with inputs of shapes {_sizes(nested)} and {_sizes(dense)}"
        )
    row = nested.row_of_place()
    x = x.expand((B, *x.shape[1:])).movedim(r, 1)  # (B, 1 or longest, ...)
    if x.shape[1] == 1:
        picked = x.squeeze(1).index_select(0, row)
    else:
        at = row.new_tensor(range(len(row))) - nested._offsets[:-1].to(row.dtype).index_select(0, row)
        picked = x[row, at]
    return picked.movedim(0, r - 1)
