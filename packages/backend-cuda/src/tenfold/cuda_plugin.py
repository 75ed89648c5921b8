"""What the entry point names: the device "cuda" and the modules with its kernels. Neither Triton nor CuPy is imported here."""

from __future__ import annotations

from tenfold.dispatch.devices import Backend
from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = ("pointwise", "activation", "reduction", "matmul", "indexing", "view", "conversion")
# Of operators that other packages declare: loaded when one of those is first used.
OF_LAYERS = (
    "units", "norm", "loss", "optim", "conv", "pool", "attention", "varlen", "linear", "products", "embedding", "segments",
    "histograms", "special", "statistics", "scans", "dropout", "rnn", "distance", "resize", "padding", "fold",
)  # fmt: skip
# Families whose kernels are in modules of other names.
OTHERS = {
    "fft": ("scientific",),
    "grouped": ("grouped_products",),
    "linalg": ("linalg", "spectral"),
    "places": ("masks",),
    "powers": ("special",),
    "scaled": ("scaled_products",),
}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_backends() -> list[Backend]:
    from tenfold.cuda.backend import CudaBackend

    return [CudaBackend()]


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    if device != "cuda":
        return {}
    modules = {**{family: (family,) for family in (*FAMILIES, *OF_LAYERS)}, **OTHERS}
    return {family: tuple(f"tenfold.cuda.kernels.{name}" for name in names) for family, names in modules.items()}
