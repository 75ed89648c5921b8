"""Core's own plugin: the CPU and meta devices come in through the hooks that every package uses."""

from __future__ import annotations

from tenfold.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "reduction", "matmul", "indexing", "view", "creation", "random", "conversion", "linalg")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    from tenfold.cpu.backend import CpuBackend
    from tenfold.meta import MetaBackend

    return [CpuBackend(), MetaBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, str]:
    return {family: f"tenfold.ops.{family}" for family in FAMILIES}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    if device == "cpu":
        return {family: f"tenfold.cpu.{family}" for family in FAMILIES}
    return {"view": "tenfold.generic.view", "indexing": "tenfold.generic.indexing", "conversion": "tenfold.generic.conversion"} if device == "*" else {}
