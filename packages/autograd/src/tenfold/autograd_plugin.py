"""What tenfold-autograd registers: the tape, and core's gradient rules by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl
from tenfold.plugins.discovery import families

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_layers() -> dict[str, str]:
    return {"autograd": "tenfold.autograd.tape"}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_gradients() -> dict[str, tuple[str, ...]]:
    return families("tenfold.autograd.rules", declared_in="tenfold.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_batching() -> dict[str, tuple[str, ...]]:
    return families("tenfold.autograd.batching_rules", declared_in="tenfold.ops")
