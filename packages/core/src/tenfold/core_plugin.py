"""Core's own plugin: the CPU and meta devices come in through the hooks that every package uses."""

from __future__ import annotations

from tenfold.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
# Families whose NumPy kernels fill several modules.
KERNEL_MODULES = {"reduction": ("reduction", "scans", "ordering", "statistics")}
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
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    if device == "cpu":
        return {family: tuple(f"tenfold.cpu.{m}" for m in KERNEL_MODULES.get(family, (family,))) for family in FAMILIES}
    return {family: (f"tenfold.generic.{family}",) for family in ("view", "indexing", "conversion")} if device == "*" else {}
