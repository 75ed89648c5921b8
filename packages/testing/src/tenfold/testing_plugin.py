"""What tenfold-testing registers: the samples of the operators, by family."""

from __future__ import annotations

from tenfold.plugins import hookimpl
from tenfold.plugins.discovery import families

TENFOLD_PLUGIN_API = 1


@hookimpl()  # type: ignore[untyped-decorator]
def tenfold_samples() -> dict[str, tuple[str, ...]]:
    references = tuple(module for modules in families("tenfold.testing.references").values() for module in modules)
    return {**families("tenfold.testing.samples"), "references": references}
