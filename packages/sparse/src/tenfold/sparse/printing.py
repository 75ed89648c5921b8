"""Sparse tensors as PyTorch prints them."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.tensor.printing import format_array, get_printoptions
from tenfold.tensor.tensor import host
from tenfold.types import qualified
from tenfold.types.narrow import widened


def text_of(x: Any) -> str:
    """Coordinates and values, each below its name, then sizes and what is not the default."""
    return _text([_named("indices", x._indices()), _named("values", x._values())], _facts(x), below=True)


def text_of_compressed(x: Any) -> str:
    """Starts, places and values of a compressed tensor, then sizes and what is not the default."""
    by_row = "crow_indices" if x.layout in (tenfold.sparse_csr, tenfold.sparse_bsr) else "ccol_indices"
    places = "col_indices" if by_row == "crow_indices" else "row_indices"
    return _text([_named(by_row, x._starts), _named(places, x._places), _named("values", x._held)], _facts(x), below=False)


def _text(parts: list[str], facts: list[str], below: bool) -> str:
    """The parts, one below the other, then as many facts behind one another as a line holds, the first `below` or not.

    Names of dtypes and layouts are measured as PyTorch's, the shorter ones, so that lines break where PyTorch's do.
    """
    text = "tensor(" + (",\n" + INDENT).join(parts)
    width: Any = get_printoptions()["linewidth"]
    used = len(text) - text.rfind("\n") + 1  # two more than the line has, as in PyTorch
    for fact in facts:
        length = len(fact.replace("=" + qualified(""), "=torch."))
        if below or used + length + 2 > width:
            text, used, below = f"{text},\n{INDENT}{fact}", len(INDENT) + length, False
        else:
            text, used = f"{text}, {fact}", used + length + 2
    return text + ")"


INDENT = " " * len("tensor(")


def _facts(x: Any) -> list[str]:
    """Sizes and what is not the default."""
    facts = [f"size={_sizes(x)}", f"nnz={x._nnz()}"]
    if x.device.type != "cpu":
        facts.insert(0, f"device='{x.device}'")
    if x.dtype not in (tenfold.get_default_dtype(), tenfold.int64, tenfold.bool):
        facts.append(f"dtype={x.dtype}")
    facts.append(f"layout={x.layout}")
    if x.grad_fn is not None:
        facts.append(f"grad_fn=<{x.grad_fn._title}>")
    elif x.requires_grad:
        facts.append("requires_grad=True")
    return facts


def _sizes(x: Any) -> str:
    return str(tuple(x.shape))


def _named(name: str, value: Any) -> str:
    """A part's values below one another, each line after the first at the place where the first one's values begin."""
    if not value.numel():
        return f"{name}=tensor([], size={_sizes(value)})"
    if value.device.type == "meta":
        return f"{name}={value.detach()!r}"
    start = f"{name}=tensor("
    return f"{start}{format_array(widened(host(value.detach())), len(INDENT) + len(start))})"
