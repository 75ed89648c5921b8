"""Plugins: how other packages add devices, kernels, gradients and everything else (entry point group `tenfold`).

Entry points name light modules with hook functions (hookspecs below). They are imported when something first needs
them, each on its own: one that fails is remembered in `problems()` and breaks nothing else. Hooks run once and fill
dictionaries; no operator call reaches pluggy. What hooks return are names of modules, so that only the families in
use are imported. `register` adds a plugin of this process, for notebooks and tests.
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

from tenfold.dispatch import devices
from tenfold.dispatch.devices import Backend
from tenfold.dispatch.operators import Operator
from tenfold.plugins import discovery, hookspecs
from tenfold.plugins.discovery import API_VERSION, GROUP, Plugin, PluginError

OWN_DEVICES = ("cpu", "meta")
IN_PROCESS = "this process"


_lock = threading.RLock()
_state: dict[str, Any] = {"plugins": None, "manager": None, "loading": None, "undo": None, "disabled": ()}
_backends: dict[str, list[tuple[Plugin, Backend]]] = {}
_loaded_families: set[tuple[str, tuple[tuple[str, Any], ...], str]] = set()
# (hook, its arguments): what each plugin returned
_hook_results: dict[tuple[str, tuple[tuple[str, Any], ...]], list[tuple[Plugin, Any]]] = {}


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
    for name in hookspecs.NAMES:
        marker(getattr(hookspecs.HookSpecs, name))
    manager.add_hookspecs(hookspecs.HookSpecs)
    others, _state["disabled"] = discovery.from_entry_points()
    plugins = [Plugin("core", "tenfold-core", discovery.version_of("tenfold-core"), "tenfold.plugins.core"), *others]
    for i, plugin in enumerate(plugins):
        discovery.load(manager, plugin, plugins[:i])
    return plugins


def disabled() -> tuple[str, ...]:
    """The installed plugins that TENFOLD_DISABLE_PLUGINS keeps from loading."""
    installed()
    return _state["disabled"]  # type: ignore[no-any-return]


def installed_manager() -> Any:
    """Pluggy's manager, with every healthy plugin registered."""
    installed()
    return _state["manager"]


def installed_hooks() -> Any:
    """Pluggy's hook callers."""
    return installed_manager().hook


def problems() -> list[Plugin]:
    """The plugins that failed."""
    return [p for p in installed() if p.error is not None]


def hook_results(hook: str, **arguments: Any) -> list[tuple[Plugin, Any]]:
    """What each healthy plugin returns from a hook, asked once; a hook that raises makes its plugin a problem."""
    key = (hook, tuple(arguments.items()))
    if key not in _hook_results:
        with _lock:
            if key not in _hook_results:
                answers = [(plugin, _ask(plugin, hook, arguments)) for plugin in installed()]
                _hook_results[key] = [(plugin, answer) for plugin, answer in answers if answer is not None]
    return _hook_results[key]


def _ask(plugin: Plugin, hook: str, arguments: dict[str, Any]) -> Any:
    """One plugin's answer to a hook; None when it has none."""
    implementations = getattr(installed_hooks(), hook).get_hookimpls() if plugin.error is None else ()
    for implementation in implementations:
        if implementation.plugin is plugin.module:
            try:
                answer = implementation.function(*[arguments[name] for name in implementation.argnames])
                return _checked(plugin, hook, answer)
            except Exception as error:  # noqa: BLE001
                _switch_off(plugin, f"its hook {hook}", error)
    return None


def _checked(plugin: Plugin, hook: str, answer: Any) -> Any:
    if hook != "tenfold_backends":
        if not isinstance(answer, dict) or not all(
            isinstance(name, str) and all(isinstance(m, str) for m in as_modules(modules)) for name, modules in answer.items()
        ):
            raise PluginError(f"{hook} must return a dictionary of names to modules, got {answer!r}")
        return answer
    if not isinstance(answer, (list, tuple)) or not all(isinstance(b, Backend) for b in answer):
        raise PluginError(f"{hook} must return a list of tenfold.dispatch.devices.Backend objects, got {answer!r}")
    for backend in answer:
        if not backend.name.isidentifier():
            raise PluginError(f"{type(backend).__name__}.name must be a device type such as 'ref', got {backend.name!r}")
        if backend.name in OWN_DEVICES and plugin.name != "core":
            raise PluginError(f"device {backend.name!r} is tenfold-core's own; attach kernels to it, or choose another name")
    return answer


def _switch_off(plugin: Plugin, place: str, error: BaseException) -> None:
    """Remember why a plugin failed, and warn: what it was loaded for goes on without it."""
    if plugin.name == "core":
        raise error
    plugin.error = error
    warnings.warn(
        f"tenfold: plugin {plugin} failed in {place} and is switched off: {plugin.failure}", RuntimeWarning, stacklevel=3
    )


# Registering, with an owner and a way back


def current_owner(function: Any) -> str:
    """Who is attaching something: the plugin being loaded, else the function's package."""
    loading = _state["loading"]
    if loading is not None:
        return str(loading)
    return str(getattr(function, "__module__", None) or type(function).__name__)


def on_failure(undo: Callable[[], object]) -> None:
    """Take a registration back if the plugin that is being loaded fails later."""
    if _state["undo"] is not None:
        _state["undo"].append(undo)


def load_module(plugin: Plugin, name: str) -> Any:
    """Import a plugin's module; when that fails, undo what it registered, remember why, and warn once."""
    if plugin.error is not None:
        return None
    with _lock:
        outer = _state["loading"], _state["undo"]
        undo: list[Callable[[], object]] = []
        _state["loading"], _state["undo"] = plugin, undo
        try:
            module = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001
            for step in reversed(undo):
                step()
            sys.modules.pop(name, None)
            _switch_off(plugin, name, error)
            return None
        finally:
            _state["loading"], _state["undo"] = outer
        plugin.undo += undo
        plugin.modules.append(name)
        return module


def register(plugin: Any, name: str) -> Plugin:
    """Add a module or object with hook functions as a plugin of this process; its devices are usable at once.

    Raises the plugin's own error when it is refused. `unregister(name)` takes it away again, with its devices.

    >>> from tenfold import plugins
    >>> class Nothing:
    ...     TENFOLD_PLUGIN_API = 1
    >>> print(plugins.register(Nothing(), "nothing"))
    nothing (this process 0)
    >>> plugins.unregister("nothing")
    """
    with _lock:
        made = Plugin(name, IN_PROCESS, "0", repr(plugin), plugin)
        discovery.load(installed_manager(), made, installed())
        if made.error is not None:
            raise made.error
        installed().append(made)
        late = _catch_up(made)
        if late is not None:
            unregister(name)
            raise late
    return made


def _catch_up(plugin: Plugin) -> BaseException | None:
    """Ask a late plugin what the others were asked before it came; the error that it fails with."""
    for (hook, arguments), results in _hook_results.items():
        answer = _ask(plugin, hook, dict(arguments))
        if answer is not None:
            results.append((plugin, answer))
            for family, modules in answer.items() if isinstance(answer, dict) else ():
                if (hook, arguments, family) in _loaded_families:
                    for module in as_modules(modules):
                        load_module(plugin, module)
    _backends.clear()
    _services.clear()
    return plugin.error


def unregister(name: str) -> None:
    """Take away a plugin that `register` added, with its devices and everything attached for them."""
    with _lock:
        plugin = next((p for p in installed() if p.name == name and p.distribution == IN_PROCESS), None)
        if plugin is None:
            raise KeyError(f"no plugin {name!r} was registered in this process")
        own = [device_type for device_type, owners in backends().items() if any(owner is plugin for owner, _ in owners)]
        for step in reversed(plugin.undo):
            step()
        for module in plugin.modules:
            sys.modules.pop(module, None)
        for results in _hook_results.values():
            results[:] = [result for result in results if result[0] is not plugin]
        installed().remove(plugin)
        if installed_manager().is_registered(plugin.module):
            installed_manager().unregister(plugin.module)
        _backends.clear()
        _services.clear()
        for device_type in own:
            devices.forget(device_type)


def load_family(hook: str, family: str, **arguments: Any) -> None:
    """Import every plugin's module for one family of one hook, once."""
    key = (hook, tuple(arguments.items()), family)
    if key in _loaded_families:
        return
    with _lock:
        if key in _loaded_families:
            return
        for plugin, modules in hook_results(hook, **arguments):
            for module in as_modules(modules.get(family, ())):
                load_module(plugin, module)
        _loaded_families.add(key)


def load_kernels(device: str, family: str) -> None:
    """Import the kernels of an operator family for a device type."""
    load_family("tenfold_kernels", family, device=device)


def load_operators() -> None:
    """Import every operator declaration of every plugin."""
    for plugin, modules in hook_results("tenfold_operators"):
        for family in modules.values():
            for module in as_modules(family):
                load_module(plugin, module)


def as_modules(family: Any) -> tuple[Any, ...]:
    """The modules of a family as a hook names them: one, or a tuple of several."""
    return family if isinstance(family, tuple) else (family,)


def named(hook: str, name: str) -> Any:
    """The object that plugins registered under a name: "module:attribute", imported now."""
    owners = [(plugin, table[name]) for plugin, table in hook_results(hook) if name in table]
    if len(owners) > 1:
        raise PluginError(f"{name!r} has two owners: {owners[0][0]} and {owners[1][0]}; uninstall one of them")
    if not owners:
        raise KeyError(f"no plugin registers {name!r} in {hook}{_failed_note()}") from _only_cause()
    return discovery.import_target(owners[0][1])


# Backends


def _failed_note() -> str:
    """What the user may be missing: plugins that failed or are switched off."""
    note = "".join(f"; plugin {p} failed to load: {p.failure}" for p in problems())
    return note + (f"; TENFOLD_DISABLE_PLUGINS keeps from loading: {', '.join(disabled())}" if disabled() else "")


def _only_cause() -> BaseException | None:
    failed = problems()
    return failed[0].error if len(failed) == 1 else None


def broken_plugin(device_type: str) -> Plugin | None:
    """The failed plugin that serves a device type, or by its name and its distribution's would."""
    for plugin in problems():
        serves = any(owner is plugin for owner, _ in backends().get(device_type, []))
        if serves or device_type in re.split(r"[-_.]", f"{plugin.name}-{plugin.distribution}"):
            return plugin
    return None


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
    broken = broken_plugin(device_type) if device_type not in OWN_DEVICES else None
    if broken is not None:
        raise PluginError(f"device {device_type!r}: plugin {broken} failed to load: {broken.failure}") from broken.error
    if owners:
        return owners[0][1]
    if device_type == "cuda":
        raise RuntimeError(
            "device 'cuda' is in the package tenfold-backend-cuda: pip install tenfold-backend-cuda" + _failed_note()
        )
    known = ", ".join(sorted(backends()))
    raise RuntimeError(
        f"Expected one of {known} device type at start of device string: {device_type}. "
        f"Other devices come from packages that register a backend (python -m tenfold doctor){_failed_note()}"
    ) from _only_cause()


def kernel_table(device_type: str) -> Any:
    """The object whose attributes are the device type's kernels."""
    if device_type == "meta":
        from tenfold.dispatch.meta import RuleTable

        return RuleTable()
    from tenfold.dispatch import kernels

    return kernels.table(device_type)


def devices_with_kernel(operator: Operator) -> list[str]:
    """The device types that have a kernel for the operator."""
    names = [name for name in backends() if name != "meta"]
    return [name for name in names if getattr(kernel_table(name), operator.name) is not None]


# Layers and services of other packages

_services: dict[str, Any] = {}
PACKAGES = {
    "amp": "tenfold-autograd", "autograd": "tenfold-autograd", "func": "tenfold-autograd", "nn": "tenfold-nn",
    "optim": "tenfold-optim", "data": "tenfold-data",
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
                raise PluginError(f"autograd: plugin {plugin} failed to load: {plugin.failure}") from plugin.error
        raise RuntimeError(
            "recording gradients (requires_grad=True) is in the package tenfold-autograd: pip install tenfold-autograd"
            + _failed_note()
        )
    return found
