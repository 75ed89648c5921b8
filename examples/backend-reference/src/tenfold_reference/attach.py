"""Attaching a table of functions to the operators of the same names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import Operator, op
from tenfold_reference.block import Block


def attach(make: Callable[[Operator, Any], Callable[..., Block]], table: Mapping[str, Any]) -> None:
    """Attach `make(operator, function)` for every entry; operators that this version of Tenfold lacks are left out."""
    for name, function in table.items():
        operator = getattr(op, name, None)
        if operator is not None:
            kernel(operator, device="ref")(make(operator, function))
