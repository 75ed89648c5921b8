"""The hooks that the entry point names."""

from __future__ import annotations

from tenfold.dispatch.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    from tenfold_second.backend import SecondBackend

    return [SecondBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    return dict.fromkeys(("pointwise", "reduction"), "tenfold_second.kernels") if device == "second" else {}
