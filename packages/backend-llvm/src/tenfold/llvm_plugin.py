"""What the entry point names: the modules with compiled kernels for the CPU. LLVM is not loaded here."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
MODULES = {
    "view": ("regions",),
    "pointwise": ("pointwise", "curves", "quotients", "regions"),
    "activation": ("pointwise", "activation", "softmax"),
    "units": ("pointwise", "activation", "units", "composites", "gated_units", "unit_slopes"),
    "reduction": ("reduction", "positions", "spread", "vector_norm", "integers"),
    "statistics": ("nansums",),
    "special": ("special",),
    "scans": ("running",),
    "conversion": ("copies",),
    "norm": ("norm", "batch_norm", "group_norm"),
    "indexing": ("joining", "gathering", "selecting", "adding", "sending", "flipping", "triangles", "regions", "marking"),
    "matmul": ("matmul", "vector_products"),
    "linear": ("linear",),
    "linalg": ("factors", "little_systems", "reflections"),
    "attention": ("attention",),
    "conv": ("conv",),
    "pool": ("pool", "resize", "means", "quick_pools"),
    "resize": ("resize", "sampling", "shuffling"),
    "loss": ("loss", "nll", "differences", "ctc", "entropies", "margins"),
    "backward": ("backward",),
    "optim": ("optim",),
    "random": ("random",),
    "padding": ("padding",),
    "rnn": ("recurrence",),
    "fft": ("transforms",),
    "sequences": ("sequences",),
    "embedding": ("embedding", "bags"),
    "arrangements": ("arranging",),
    "diagonals": ("arranging",),
    "cuts": ("arranging",),
    "places": ("placing",),
    "distance": ("distances", "row_pairs"),
}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, tuple[str, ...]]:
    if device != "cpu":
        return {}
    return {family: tuple(f"tenfold.llvm.kernels.{name}" for name in names) for family, names in MODULES.items()}
