"""What the entry point names: the device "cuda" and the modules with its kernels. Neither Triton nor CuPy is imported here."""

from __future__ import annotations

from tenfold.dispatch.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "reduction", "matmul", "indexing", "view", "conversion")
# Of operators that other packages declare: loaded when one of those is first used.
OF_LAYERS = ("units", "norm", "loss", "optim", "conv", "pool", "attention", "varlen")
OF_SCIENCE = ("linalg", "fft", "special", "histograms", "scans", "segments", "statistics")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    from tenfold.cuda.backend import CudaBackend

    return [CudaBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    if device != "cuda":
        return {}
    modules = {family: f"tenfold.cuda.kernels.{family}" for family in (*FAMILIES, *OF_LAYERS)}
    return {**modules, **dict.fromkeys(OF_SCIENCE, "tenfold.cuda.kernels.scientific")}
