"""What tenfold-nn registers: the neural-network operators, their CPU kernels and their gradients, by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = (
    "adaptive_pool", "attention", "conv", "ctc", "distance", "elementwise_loss", "embedding", "fold", "fractional_pool",
    "linear", "loss", "margin_loss", "norm", "padding", "pool", "resize", "sampling_grid", "unpool",
)  # fmt: skip
# The other families are compositions that nothing accelerates.
WITH_KERNELS = ("adaptive_pool", "attention", "conv", "embedding", "fold", "linear", "loss", "norm", "padding", "pool")


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, str]:
    return {family: f"tenfold.nn.ops.{family}" for family in FAMILIES}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_kernels(device: str) -> dict[str, str]:
    return {family: f"tenfold.nn.cpu.{family}" for family in WITH_KERNELS} if device == "cpu" else {}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_gradients() -> dict[str, str]:
    return {family: f"tenfold.nn.rules.{family}" for family in WITH_KERNELS}


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_modules() -> dict[str, str]:
    from tenfold import nn

    public = {name: getattr(nn, name) for name in nn.__all__}
    return {name: f"tenfold.nn:{name}" for name, item in public.items() if isinstance(item, type) and issubclass(item, nn.Module)}
