"""What tenfold-testing registers: the samples of the operators, by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1
FAMILIES = (
    "pointwise",
    "pointwise_complex",
    "activation",
    "reduction",
    "ordering",
    "statistics",
    "composed",
    "matmul",
    "view",
    "indexing",
    "scatter",
    "conversion",
    "creation",
    "creation_like",
    "random",
    "linalg",
    "linalg_lu",
    "linalg_values",
    "nn_attention",
    "nn_conv",
    "nn_embedding",
    "nn_linear",
    "nn_loss",
    "nn_norm",
    "nn_pairwise_loss",
    "nn_pool",
    "nn_resize",
)


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_samples() -> dict[str, str]:
    return {family: f"tenfold.testing.samples.{family}" for family in FAMILIES}
