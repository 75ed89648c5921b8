"""What tenfold-nn registers: the neural-network operators, their CPU kernels and their gradients, by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl
from tenfold.plugins.discovery import families

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, tuple[str, ...]]:
    return families("tenfold.nn.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    folder = {"cpu": "tenfold.nn.cpu", "*": "tenfold.nn.generic"}.get(device)
    return {} if folder is None else families(folder, declared_in="tenfold.nn.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_gradients() -> dict[str, tuple[str, ...]]:
    return families("tenfold.nn.rules", declared_in="tenfold.nn.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_modules() -> dict[str, str]:
    from tenfold import nn

    public = {name: getattr(nn, name) for name in nn.__all__}
    return {name: f"tenfold.nn:{name}" for name, item in public.items() if isinstance(item, type) and issubclass(item, nn.Module)}
