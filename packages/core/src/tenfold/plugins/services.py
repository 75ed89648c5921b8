"""The services that other packages register under a name (hook `tenfold_layers`), above all the gradient tape."""

from __future__ import annotations

from typing import Any

from tenfold.plugins.discovery import PluginError
from tenfold.plugins.loading import CACHES, failed_note, hook_results, load_module, problems

_layers: dict[str, Any] = {}
CACHES.append(_layers)


def layer(name: str) -> Any:
    """The module that a plugin registers as a named layer, or None."""
    if name not in _layers:
        found = None
        for plugin, modules in hook_results("tenfold_layers"):
            if name in modules:
                found = load_module(plugin, modules[name])
        _layers[name] = found
    return _layers[name]


def autograd() -> Any:
    """The autograd package's tape; an error that names the package when it is not installed."""
    found = layer("autograd")
    if found is None:
        for plugin in problems():
            if plugin.name == "autograd":
                raise PluginError(f"autograd: plugin {plugin} failed to load: {plugin.failure}") from plugin.error
        raise RuntimeError(
            "recording gradients (requires_grad=True) is in the package tenfold-autograd: pip install tenfold-autograd"
            + failed_note()
        )
    return found
