"""The hooks of Tenfold's plugin system, as pluggy sees them; `tenfold.plugins` calls them."""

from __future__ import annotations

from tenfold.dispatch.devices import Backend

# A module by name, or several.
Modules = str | tuple[str, ...]


class HookSpecs:
    """The hooks. A plugin module defines any of them as functions marked with `tenfold.plugins.hookimpl()`."""

    def tenfold_backends(self) -> list[Backend]:
        """Devices: the backends that this package serves."""
        return []

    def tenfold_operators(self) -> dict[str, Modules]:
        """Operator declarations: {family: module}."""
        return {}

    def tenfold_kernels(self, device: str) -> dict[str, Modules]:
        """Kernels for a device type: {family: module that attaches them}; "backward" for a walk over the graph."""
        return {}

    def tenfold_gradients(self) -> dict[str, Modules]:
        """Gradient rules: {family: module that attaches them}."""
        return {}

    def tenfold_batching(self) -> dict[str, Modules]:
        """Batching (vmap) and forward-mode (jvp) rules: {family: module that attaches them}."""
        return {}

    def tenfold_samples(self) -> dict[str, Modules]:
        """Sample inputs for conformance checks: {family: module}."""
        return {}

    def tenfold_layers(self) -> dict[str, str]:
        """Named services and layers, such as "autograd": {name: module}."""
        return {}

    def tenfold_modules(self) -> dict[str, str]:
        """Neural network layers by name: {name: "module:attribute"}."""
        return {}

    def tenfold_optimizers(self) -> dict[str, str]:
        """Optimizers by name: {name: "module:attribute"}."""
        return {}

    def tenfold_schedulers(self) -> dict[str, str]:
        """Schedulers by name: {name: "module:attribute"}."""
        return {}

    def tenfold_datasets(self) -> dict[str, str]:
        """Datasets by name: {name: "module:attribute"}."""
        return {}

    def tenfold_tokenizers(self) -> dict[str, str]:
        """Tokenizers by name: {name: "module:attribute"}."""
        return {}

    def tenfold_models(self) -> dict[str, str]:
        """Models by name: {name: "module:attribute"}."""
        return {}


NAMED = tuple(f"tenfold_{kind}" for kind in ("modules", "optimizers", "schedulers", "datasets", "tokenizers", "models"))
NAMES = tuple(name for name in vars(HookSpecs) if name.startswith("tenfold_"))
