"""Nested tensors as PyTorch prints them."""

from __future__ import annotations

from typing import Any


def text_of(x: Any) -> str:
    """The rows of a strided nested tensor, one below the other."""
    rows = ",\n".join("  " + _row(row, x.requires_grad).replace("\n", "\n  ") for row in x.rows())
    if x.grad_fn is not None:
        fact = f", grad_fn=<{x.grad_fn._title}>"
    else:
        fact = ", requires_grad=True" if x.requires_grad else ""
    return f"nested_tensor([\n{rows}\n]{fact})"


def _row(row: Any, requires_grad: bool) -> str:
    return repr(row.detach().requires_grad_(requires_grad))  # not of the graph that it is a view in


def text_of_jagged(x: Any) -> str:
    """Sizes, starts and what else there is to know of a jagged nested tensor: not its elements."""
    if x.grad_fn is not None:
        fact = f", grad_fn={x.grad_fn!r}"
    else:
        fact = ", requires_grad=True" if x.requires_grad else ""
    sizes = "(" + ", ".join(map(str, x.shape)) + ("," if len(x.shape) == 1 else "") + ")"
    return f"NestedTensor(size={sizes}, offsets={x.offsets()}{fact}, contiguous={x.is_contiguous()})"
