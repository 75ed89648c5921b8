"""Operators on strided nested tensors: where they go, and those that work element by element."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nested.table import STRIDED, answer, nested_in

_NEED_BUFFER = "NestedTensor must be contiguous to get buffer."
# What two tensors may differ in that have the same sizes: those below go by rows then, the others refuse.
_BY_ROWS = ("add", "sub", "add_scaled", "sub_scaled", "rsub")


def answer_strided(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an operator some of whose arguments are strided nested tensors."""

    return answer(STRIDED, elementwise, func, args, kwargs)


def elementwise(func: Any, *args: Any, **kwargs: Any) -> Any:
    """An operator on every element: of one nested tensor and numbers, or of nested tensors of the same sizes."""
    given = list(nested_in((*args, *kwargs.values())))
    first, operator = given[0], func.op
    name = (operator.inplace_of or operator).name
    if operator.inplace_of is not None and not getattr(args[0], "is_nested", False) and not args[0].ndim:
        raise RuntimeError(
            f"output with shape [] doesn't match the broadcast shape {[list(s) for s in first._sizes]}: {operator.name} of a "
            "nested tensor writes into a nested tensor"
        )
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor) and not getattr(value, "is_nested", False) and value.ndim:
            beside = _beside(func, name, *args, **kwargs) if operator.inplace_of is None else None
            if beside is not None:
                return beside
            mine, theirs = ("non-nested", "nested") if value is args[0] else ("nested", "non-nested")
            raise RuntimeError(
                f"Expected both self and other to be nested, but got a {mine} self and {theirs} other: {name} of a nested tensor "
                "takes numbers and nested tensors"
            )
    if len(args) == 1 and not kwargs and not first._packed():
        raise RuntimeError(f"{_NEED_BUFFER} {name} got one that is not: call .contiguous() first")
    if any(x._sizes != first._sizes for x in given[1:]):
        raise RuntimeError(
            f"{name} does not support broadcasting when given a NestedTensor: rows of sizes {first._sizes} and "
            f"{next(x._sizes for x in given if x._sizes != first._sizes)}"
        )
    if all(_same_places(x, first) for x in given[1:]):
        held = func(*[_held(a) for a in args], **{k: _held(v) for k, v in kwargs.items()})
        return args[0] if operator.inplace_of is not None else first.like(held)
    return _by_rows(func, name, given, args, kwargs)


def _beside(func: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """The sum or product of a nested tensor and a dense one where PyTorch has it, on GPUs; None elsewhere.

    Rows (L, D) with (B, 1, D) and rows (L) with (B, 1): a dense row for each; rows (C, H, W) with (C, 1, 1): one for all.
    """
    x, dense = args[:2] if len(args) > 1 else (None, None)
    if name not in ("add", "add_scaled", "mul") or not (getattr(x, "is_nested", False) and isinstance(dense, Tensor)):
        return None
    if getattr(dense, "is_nested", False) or (x.device.type, dense.device.type) != ("cuda", "cuda"):
        return None
    widths = [x._regular(2)] if x.ndim == 3 else []
    if x.ndim in (2, 3) and list(dense.shape) == [len(x), 1, *widths]:
        packed = x.packed()
        lengths = [size[0] for size in packed._sizes]
        spread = dense[:, 0].repeat_interleave(tenfold.tensor(lengths, device=x.device), 0, output_size=sum(lengths))
        return packed.like(func(packed._held, spread.reshape(-1), *args[2:], **kwargs))
    if x.ndim == 4 and list(dense.shape) == [x._regular(1), 1, 1]:
        return x.of_rows(each(func, *args, **kwargs))
    return None


def _same_places(a: Any, b: Any) -> bool:
    return bool(a._strides == b._strides and a._begins == b._begins and a._held.numel() == b._held.numel())


def _by_rows(func: Any, name: str, given: list[Any], args: Any, kwargs: Any) -> Any:
    if name not in _BY_ROWS:
        what = "strides" if any(x._strides != given[0]._strides for x in given) else "offsets"
        raise RuntimeError(f"{name} requires {what} to match when given NestedTensors: call .contiguous() on each")
    rows = each(func, *args, **kwargs)
    return args[0] if func.op.inplace_of is not None else given[0].of_rows(rows)


def _held(value: Any) -> Any:
    return value._held if getattr(value, "is_nested", False) else value


def each(func: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """The results of an operator row by row; what is not nested goes to every row."""
    columns = [a.rows() if getattr(a, "is_nested", False) else None for a in args]
    named = {k: v.rows() if getattr(v, "is_nested", False) else None for k, v in kwargs.items()}
    number = next(len(c) for c in (*columns, *named.values()) if c is not None)
    return [
        func(
            *[a if c is None else c[i] for a, c in zip(args, columns)],
            **{k: kwargs[k] if c is None else c[i] for k, c in named.items()},
        )
        for i in range(number)
    ]
