"""Core's own plugin: the CPU and meta devices come in through the hooks that every package uses."""

from tenfold.cpu.backend import CpuBackend
from tenfold.dispatch.devices import Backend
from tenfold.dispatch.meta import MetaBackend
from tenfold.plugins import hookimpl
from tenfold.plugins.discovery import families

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    return [CpuBackend(), MetaBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, tuple[str, ...]]:
    return families("tenfold.ops")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    folder = {"cpu": "tenfold.cpu", "*": "tenfold.generic"}.get(device)
    return {} if folder is None else families(folder, declared_in="tenfold.ops")
