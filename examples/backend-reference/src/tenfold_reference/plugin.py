"""What the entry point names: light hooks that say which device there is and which modules hold its kernels."""

from __future__ import annotations

from tenfold.dispatch.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "reduction", "matmul", "indexing")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    from tenfold_reference.backend import ReferenceBackend

    return [ReferenceBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    return {family: f"tenfold_reference.kernels.{family}" for family in FAMILIES} if device == "ref" else {}
