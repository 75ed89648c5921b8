"""What tenfold-compat registers: names of PyTorch's that are found in Tenfold itself, beside its operators."""

from __future__ import annotations

from tenfold.plugins import hookimpl

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_operators() -> dict[str, tuple[str, ...]]:
    return {"unlisted names": ("tenfold.as_torch.unlisted_names",)}
