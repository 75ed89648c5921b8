"""What the entry point names: the modules with compiled kernels for the CPU. LLVM is not loaded here."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    return {family: f"tenfold.llvm.kernels.{family}" for family in FAMILIES} if device == "cpu" else {}
