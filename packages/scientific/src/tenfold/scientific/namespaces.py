"""Modules that present the operators of one family under PyTorch's names: `tenfold.linalg.svd` is `linalg_svd`."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.dispatch.operators import OPERATORS
from tenfold.plugins.discovery import families


def functions(family: str) -> dict[str, Any]:
    """The functions of the operators `FAMILY_NAME` by NAME, after their declarations were imported."""
    for module in families("tenfold.scientific.ops")[family]:
        importlib.import_module(module)
    prefix = f"{family}_"
    return {name.removeprefix(prefix): operator.fn for name, operator in OPERATORS.items() if name.startswith(prefix)}
