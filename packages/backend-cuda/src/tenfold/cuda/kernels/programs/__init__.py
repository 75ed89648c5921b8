"""Kernels written by hand, as Triton compiles them: a module for each family, found by the functions' names."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

MODULES = (
    "rows", "long_rows", "steps", "many", "draws", "convolutions", "depthwise", "pools", "channels", "attentions",
    "attention_gradients", "attention_weights", "decoding",
    "exchanges", "determinants", "places", "segments", "joins", "sorting", "selecting", "reductions", "scans", "totals", "picks",
    "dropping",
    "recurrence", "groups", "pairs", "regions", "sampled", "columns", "soft_targets", "parameters",
    "margins", "all_pairs", "bags", "scaling", "grouped_products", "alignments", "eight_bits", "masks", "ranges", "adjoints",
    "vectors",
)  # fmt: skip


@cache
def program(name: str) -> Any:
    """The undecorated function of this name."""
    for module in MODULES:
        found = getattr(importlib.import_module(f"tenfold.cuda.kernels.programs.{module}"), name, None)
        if found is not None:
            return found
    raise LookupError(f"no kernel is called {name}")
