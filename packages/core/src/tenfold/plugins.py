"""Plugins: how other packages add devices, kernels, gradients and everything else (entry point group `tenfold`).

Entry points name light modules with hook functions (hookspecs below). They are imported when something first needs
them, each on its own: one that fails is remembered in `problems()` and breaks nothing else. Hooks run once and fill
dictionaries; no operator call reaches pluggy. What hooks return are names of modules, so that only the families in
use are imported.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenfold import environment
from tenfold.devices import Backend
from tenfold.operators import Operator

API_VERSION = 1
GROUP = "tenfold"


@dataclass(slots=True)
class Plugin:
    """One plugin: where it came from and, when it failed, why."""

    name: str
    distribution: str
    version: str
    target: str
    module: Any = None
    error: BaseException | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"


class PluginError(RuntimeError):
    """A plugin cannot be used; the cause is its own error."""


_lock = threading.RLock()
_state: dict[str, Any] = {"plugins": None, "manager": None, "loading": None, "undo": None}
_backends: dict[str, list[tuple[Plugin, Backend]]] = {}
_loaded_families: set[tuple[str, str]] = set()
_hook_results: dict[Any, list[tuple[Plugin, Any]]] = {}


class HookSpecs:
    """The hooks. A plugin module defines any of them as functions marked with `tenfold.plugins.hookimpl()`."""

    def tenfold_backends(self) -> list[Backend]:
        """Devices: the backends that this package serves."""
        return []

    def tenfold_operators(self) -> dict[str, str]:
        """Operator declarations: {family: module}."""
        return {}

    def tenfold_kernels(self, device: str) -> dict[str, str]:
        """Kernels for a device type: {family: module that attaches them}."""
        return {}

    def tenfold_gradients(self) -> dict[str, str]:
        """Gradient rules: {family: module that attaches them}."""
        return {}

    def tenfold_batching(self) -> dict[str, str]:
        """Batching (vmap) and forward-mode (jvp) rules: {family: module that attaches them}."""
        return {}

    def tenfold_samples(self) -> dict[str, str]:
        """Sample inputs for conformance checks: {family: module}."""
        return {}

    def tenfold_layers(self) -> dict[str, str]:
        """Named services and layers, such as "autograd": {name: module}."""
        return {}

    def tenfold_modules(self) -> dict[str, str]:
        """Neural network layers by name: {name: "module:attribute"}; likewise the hooks below."""
        return {}

    def tenfold_optimizers(self) -> dict[str, str]:
        return {}

    def tenfold_schedulers(self) -> dict[str, str]:
        return {}

    def tenfold_datasets(self) -> dict[str, str]:
        return {}

    def tenfold_tokenizers(self) -> dict[str, str]:
        return {}

    def tenfold_models(self) -> dict[str, str]:
        return {}


def hookimpl() -> Any:
    """The decorator that marks a plugin module's hook functions."""
    import pluggy

    return pluggy.HookimplMarker(GROUP)


# Finding and loading


def installed() -> list[Plugin]:
    """All plugins, core's own first, loaded or failed."""
    if _state["plugins"] is None:
        with _lock:
            if _state["plugins"] is None:
                _state["plugins"] = _load_all()
    return _state["plugins"]  # type: ignore[no-any-return]


def _load_all() -> list[Plugin]:
    import pluggy

    manager = _state["manager"] = pluggy.PluginManager(GROUP)
    marker = pluggy.HookspecMarker(GROUP)
    for name in vars(HookSpecs):
        if name.startswith("tenfold_"):
            marker(getattr(HookSpecs, name))
    manager.add_hookspecs(HookSpecs)
    plugins = [Plugin("core", "tenfold-core", _version("tenfold-core"), "tenfold.core_plugin"), *_entry_points()]
    seen: dict[str, Plugin] = {}
    for plugin in plugins:
        _load(manager, plugin, seen)
    return plugins


def _version(distribution: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def _entry_points() -> list[Plugin]:
    from importlib import metadata

    disabled = {n.strip() for n in environment.DISABLE_PLUGINS.read().split(",")}
    if "1" in disabled:
        return []
    found: dict[tuple[str, str], Plugin] = {}
    for ep in metadata.entry_points(group=GROUP):
        if ep.name not in disabled:
            name, version = (ep.dist.name, ep.dist.version) if ep.dist else ("unknown", "unknown")
            # An editable install may show one distribution twice.
            found.setdefault((ep.name, name), Plugin(ep.name, name, version, ep.value))
    return list(found.values())


def _load(manager: Any, plugin: Plugin, seen: dict[str, Plugin]) -> None:
    if environment.DEBUG.read() != "0":
        print(f"tenfold: plugin {plugin} from {plugin.target}", file=sys.stderr)
    try:
        if plugin.name in seen:
            other = seen[plugin.name]
            raise PluginError(f"two plugins are named {plugin.name!r}: {other} and {plugin}; uninstall one of them")
        plugin.module = importlib.import_module(plugin.target)
        wanted = getattr(plugin.module, "TENFOLD_PLUGIN_API", None)
        if wanted != API_VERSION:
            raise PluginError(
                f"plugin {plugin} is written for plugin API {wanted}, this tenfold-core has {API_VERSION}; "
                f"upgrade {'it' if (wanted or 0) < API_VERSION else 'tenfold-core'} "
                f"(a plugin module says TENFOLD_PLUGIN_API = {API_VERSION})"
            )
        manager.register(plugin.module, plugin.name)
        manager.check_pending()
    except Exception as error:
        plugin.error = error
        if plugin.module is not None and manager.is_registered(plugin.module):
            manager.unregister(plugin.module)
    else:
        seen[plugin.name] = plugin


def installed_hooks() -> Any:
    """Pluggy's hook callers, with every plugin registered."""
    installed()
    return _state["manager"].hook


def problems() -> list[Plugin]:
    """The plugins that failed."""
    return [p for p in installed() if p.error is not None]


def hook_results(hook: str, **arguments: Any) -> list[tuple[Plugin, Any]]:
    """What each healthy plugin returns from a hook, asked once; a hook that raises makes its plugin a problem."""
    key = (hook, *arguments.values())
    if key not in _hook_results:
        results = []
        for implementation in getattr(installed_hooks(), hook).get_hookimpls():
            plugin = next(p for p in installed() if p.module is implementation.plugin)
            if plugin.error is None:
                try:
                    given = [arguments[name] for name in implementation.argnames]
                    results.append((plugin, implementation.function(*given)))
                except Exception as error:
                    plugin.error = error
        results.sort(key=lambda result: installed().index(result[0]))
        _hook_results[key] = results
    return _hook_results[key]


# Registering, with an owner and a way back


def current_owner(function: Any) -> str:
    """Who is attaching something: the plugin being loaded, else the function's package."""
    loading = _state["loading"]
    if loading is not None:
        return str(loading)
    return str(getattr(function, "__module__", None) or type(function).__name__)


def on_failure(undo: Callable[[], None]) -> None:
    """Take a registration back if the plugin that is being loaded fails later."""
    if _state["undo"] is not None:
        _state["undo"].append(undo)


def load_module(plugin: Plugin, name: str) -> Any:
    """Import a plugin's module; when that fails, undo what it registered, remember why, and warn once."""
    if plugin.error is not None:
        return None
    with _lock:
        outer = _state["loading"], _state["undo"]
        _state["loading"], _state["undo"] = plugin, []
        try:
            return importlib.import_module(name)
        except Exception as error:
            for undo in reversed(_state["undo"]):
                undo()
            sys.modules.pop(name, None)
            if plugin.name == "core":
                raise
            plugin.error = error
            import warnings

            warnings.warn(
                f"tenfold: plugin {plugin} failed in {name} and is switched off: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        finally:
            _state["loading"], _state["undo"] = outer


def load_family(hook: str, family: str, **arguments: Any) -> None:
    """Import every plugin's module for one family of one hook, once."""
    key = (hook + "".join(arguments.values()), family)
    if key in _loaded_families:
        return
    with _lock:
        if key in _loaded_families:
            return
        for plugin, modules in hook_results(hook, **arguments):
            if family in modules:
                load_module(plugin, modules[family])
        _loaded_families.add(key)


def load_kernels(device: str, family: str) -> None:
    """Import the kernels of an operator family for a device type."""
    load_family("tenfold_kernels", family, device=device)


def load_operators() -> None:
    """Import every operator declaration of every plugin."""
    for plugin, modules in hook_results("tenfold_operators"):
        for module in modules.values():
            load_module(plugin, module)


def named(hook: str, name: str) -> Any:
    """The object that plugins registered under a name: "module:attribute", imported now."""
    owners = [(plugin, table[name]) for plugin, table in hook_results(hook) if name in table]
    if len(owners) > 1:
        raise PluginError(f"{name!r} has two owners: {owners[0][0]} and {owners[1][0]}; uninstall one of them")
    if not owners:
        raise KeyError(f"no plugin registers {name!r} in {hook}{_failed_note()}")
    module, _, attribute = owners[0][1].partition(":")
    return getattr(importlib.import_module(module), attribute)


# Backends


def _failed_note() -> str:
    failed = problems()
    if not failed:
        return ""
    return "; plugins that failed to load: " + ", ".join(f"{p}: {type(p.error).__name__}: {p.error}" for p in failed)


def backends() -> dict[str, list[tuple[Plugin, Backend]]]:
    """Every backend by device type, with its plugin; more than one for a type is an error when it is used."""
    if not _backends:
        with _lock:
            found: dict[str, list[tuple[Plugin, Backend]]] = {}
            for plugin, made in hook_results("tenfold_backends"):
                for backend in made:
                    found.setdefault(backend.name, []).append((plugin, backend))
            _backends.update(found)
    return _backends


def backend_of(device_type: str) -> Backend:
    """The backend of a device type; RuntimeError that says which package is missing or broken."""
    owners = backends().get(device_type, [])
    if len(owners) > 1:
        names = " and ".join(str(plugin) for plugin, _ in owners)
        raise PluginError(f"device {device_type!r} is registered by two packages: {names}; uninstall one of them")
    if owners:
        return owners[0][1]
    for plugin in problems():
        if device_type in plugin.name:
            raise PluginError(f"device {device_type!r}: plugin {plugin} failed to load: {plugin.error}") from plugin.error
    if device_type == "cuda":
        raise RuntimeError(
            "device 'cuda' is in the package tenfold-backend-cuda: pip install tenfold-backend-cuda" + _failed_note()
        )
    known = ", ".join(sorted(backends()))
    raise RuntimeError(
        f"Expected one of {known} device type at start of device string: {device_type}. "
        f"Other devices come from packages that register a backend (python -m tenfold doctor){_failed_note()}"
    )


def kernel_table(device_type: str) -> Any:
    """The object whose attributes are the device type's kernels."""
    if device_type == "meta":
        from tenfold.meta import RuleTable

        return RuleTable()
    from tenfold import kernels

    return kernels.table(device_type)


def devices_with_kernel(operator: Operator) -> list[str]:
    """The device types that have a kernel for the operator."""
    names = []
    for device_type in backends():
        if device_type != "meta" and getattr(kernel_table(device_type), operator.name) is not None:
            names.append(device_type)
    return names


# Layers and services of other packages

_services: dict[str, Any] = {}
PACKAGES = {
    "autograd": "tenfold-autograd", "func": "tenfold-autograd", "nn": "tenfold-nn", "optim": "tenfold-optim", "data": "tenfold-data",
    "cuda": "tenfold-backend-cuda", "text": "tenfold-text", "vision": "tenfold-vision", "testing": "tenfold-testing",
}  # fmt: skip


def layer(name: str) -> Any:
    """The module that a plugin registers as a named layer, or None."""
    if name not in _services:
        found = None
        for plugin, modules in hook_results("tenfold_layers"):
            if name in modules:
                found = load_module(plugin, modules[name])
        _services[name] = found
    return _services[name]


def autograd() -> Any:
    """The autograd package's tape; an error that names the package when it is not installed."""
    found = layer("autograd")
    if found is None:
        for plugin in problems():
            if plugin.name == "autograd":
                raise PluginError(f"autograd: plugin {plugin} failed to load: {plugin.error}") from plugin.error
        raise RuntimeError("recording gradients (requires_grad=True) is in the package tenfold-autograd: pip install tenfold-autograd")
    return found
