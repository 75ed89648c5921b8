"""What is said of tensors whose dtypes differ where an operator converts none: PyTorch's words, which differ too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tenfold.types.dtypes import c_name, type_name


def _products(types: Sequence[Any]) -> str:
    return f"expected m1 and m2 to have the same dtype, but got: {c_name(types[0])} != {c_name(types[1])}"


def _vectors(types: Sequence[Any]) -> str:
    return f"dot : expected both vectors to have same dtype, but found {type_name(types[0])} and {type_name(types[1])}"


def _batches(types: Sequence[Any]) -> str:
    names = ("input", "batch1:", "batch2:")
    return f"Input dtypes must be the same, got: {', '.join(f'{n} {c_name(t)}' for n, t in zip(names, types))}"


def _sums(types: Sequence[Any]) -> str:
    other = next(t for t in types[1:] if t is not types[0])
    return f"self and mat2 must have the same dtype, but got {type_name(types[0])} and {type_name(other)}"


def _scalar_types(types: Sequence[Any]) -> str:
    other = next(t for t in types[1:] if t is not types[0])
    return f"expected scalar type {type_name(types[0])} but found {type_name(other)}; give all the same dtype, by .to()"


def _second(types: Sequence[Any]) -> str:
    return f"Expected object of scalar type {type_name(types[0])} but got scalar type {type_name(types[1])} for second argument"


def _step(types: Sequence[Any]) -> str:
    other = next(t for t in types[1:] if t is not types[0])
    return f"heaviside is not yet implemented for tensors with different dtypes. Got {types[0].name} and {other.name}"


_WORDS: dict[str, Callable[[Sequence[Any]], str]] = {
    "mm": _products, "matmul": _products, "dot": _vectors, "vdot": _vectors, "bmm": _scalar_types, "convolution": _scalar_types,
    "baddbmm": _batches, "addmm": _sums, "complex": _second, "heaviside": _step,
}  # fmt: skip


def differing(name: str, types: Sequence[Any]) -> str:
    """The message for an operator with tensors of these dtypes, of which not all are one."""
    words = _WORDS.get(name)
    if words is not None:
        return f"{name}: {words(types)}"
    other = next(t for t in types if t is not types[0])
    return f"{name}: expected all tensors to have the same dtype, but got: {types[0].name} and {other.name}"
