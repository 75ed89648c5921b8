"""What tenfold-scientific registers: operators, their kernels, gradients, batching rules and samples, by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl
from tenfold.plugins.discovery import families

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, tuple[str, ...]]:
    return families("tenfold.scientific.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    folder = {"cpu": "tenfold.scientific.cpu", "*": "tenfold.scientific.generic"}.get(device)
    return families(folder, declared_in="tenfold.scientific.ops") if folder else {}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_gradients() -> dict[str, tuple[str, ...]]:
    return families("tenfold.scientific.rules", declared_in="tenfold.scientific.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_batching() -> dict[str, tuple[str, ...]]:
    return families("tenfold.scientific.batching_rules", declared_in="tenfold.scientific.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_samples() -> dict[str, tuple[str, ...]]:
    return families("tenfold.scientific.samples")
