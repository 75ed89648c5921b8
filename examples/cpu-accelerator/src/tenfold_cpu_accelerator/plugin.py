"""The hooks that the entry point names."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "units")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    return {family: f"tenfold_cpu_accelerator.kernels.{family}" for family in FAMILIES} if device == "cpu" else {}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_samples() -> dict[str, str]:
    return {"units": "tenfold_cpu_accelerator.samples"}
