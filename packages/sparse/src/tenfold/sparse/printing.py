"""Sparse tensors as PyTorch prints them."""

from __future__ import annotations

from typing import Any

import tenfold


def text_of(x: Any) -> str:
    """Coordinates and values, each below its name, then sizes and what is not the default."""
    parts = [_named("indices", x._indices()), _named("values", x._values().detach()), ", ".join(_facts(x))]
    return "tensor(" + ",\n       ".join(parts) + ")"


def _facts(x: Any) -> list[str]:
    """Sizes and what is not the default."""
    facts = [f"size={_sizes(x)}", f"nnz={x._nnz()}"]
    if x.device.type != "cpu":
        facts.insert(0, f"device='{x.device}'")
    if x.dtype not in (tenfold.get_default_dtype(), tenfold.int64, tenfold.bool):
        facts.append(f"dtype={x.dtype}")
    facts.append(f"layout={x.layout}")
    if x.grad_fn is not None:
        facts.append(f"grad_fn=<{x.grad_fn.name()}>")
    elif x.requires_grad:
        facts.append("requires_grad=True")
    return facts


def _sizes(x: Any) -> str:
    return str(tuple(x.shape))


def _named(name: str, value: Any) -> str:
    text = repr(value).replace(f", dtype={value.dtype}", "") if value.numel() else f"tensor([], size={_sizes(value)})"
    first, *rest = text.split("\n")
    indent = " " * (len("tensor(") + len(name) + 1)
    return "\n".join([f"{name}={first}", *(indent + line if line else "" for line in rest)])


def text_of_compressed(x: Any) -> str:
    """Starts, places and values of a compressed tensor, then sizes and what is not the default."""
    by_row = "crow_indices" if x.layout in (tenfold.sparse_csr, tenfold.sparse_bsr) else "ccol_indices"
    places = "col_indices" if by_row == "crow_indices" else "row_indices"
    parts = [_named(by_row, x._starts), _named(places, x._places), _named("values", x._held.detach())]
    lines = ",\n       ".join(parts)
    for fact in _facts(x):  # as many behind one another as 80 places hold
        room = len(lines) - lines.rfind("\n") - 1
        lines += f", {fact}" if room + len(fact) + 2 < LINE else f",\n       {fact}"
    return "tensor(" + lines + ")"


LINE = 80
