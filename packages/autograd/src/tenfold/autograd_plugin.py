"""What tenfold-autograd registers: the tape, and core's gradient rules by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "reduction", "matmul", "indexing", "view", "conversion", "linalg")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_layers() -> dict[str, str]:
    return {"autograd": "tenfold.autograd.tape"}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_gradients() -> dict[str, str]:
    return {family: f"tenfold.autograd.rules.{family}" for family in FAMILIES}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_batching() -> dict[str, str]:
    return {family: f"tenfold.autograd.batching_rules.{family}" for family in (*FAMILIES, "creation", "random")}
