"""Loading plugins: each on its own, when something first needs it; what their hooks return is asked once and kept."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from typing import Any

import pluggy

from tenfold.dispatch.devices import Backend
from tenfold.dispatch.registration import registering
from tenfold.plugins import discovery, hookspecs
from tenfold.plugins.discovery import GROUP, Plugin, PluginError

OWN_DEVICES = ("cpu", "meta")
LOCK = threading.RLock()
_state: dict[str, Any] = {"plugins": None, "manager": None, "disabled": ()}
LOADED_FAMILIES: set[tuple[str, tuple[tuple[str, Any], ...], str]] = set()
# (hook, its arguments): what each plugin returned
HOOK_RESULTS: dict[tuple[str, tuple[tuple[str, Any], ...]], list[tuple[Plugin, Any]]] = {}
# What other modules have computed from hooks' results; emptied when plugins come and go.
CACHES: list[dict[str, Any]] = []
_layers: dict[str, Any] = {}
CACHES.append(_layers)


def installed() -> list[Plugin]:
    """All plugins, core's own first, loaded or failed."""
    if _state["plugins"] is None:
        with LOCK:
            if _state["plugins"] is None:
                _state["plugins"] = _load_all()
    return _state["plugins"]  # type: ignore[no-any-return]


def _load_all() -> list[Plugin]:
    manager = _state["manager"] = pluggy.PluginManager(GROUP)
    marker = pluggy.HookspecMarker(GROUP)
    for name in hookspecs.NAMES:
        marker(getattr(hookspecs.HookSpecs, name))
    manager.add_hookspecs(hookspecs.HookSpecs)
    others, _state["disabled"] = discovery.from_entry_points()
    plugins = [Plugin("core", "tenfold-core", discovery.version_of("tenfold-core"), "tenfold.core_plugin"), *others]
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
    if key not in HOOK_RESULTS:
        with LOCK:
            if key not in HOOK_RESULTS:
                answers = [(plugin, ask(plugin, hook, arguments)) for plugin in installed()]
                HOOK_RESULTS[key] = [(plugin, answer) for plugin, answer in answers if answer is not None]
    return HOOK_RESULTS[key]


def ask(plugin: Plugin, hook: str, arguments: dict[str, Any]) -> Any:
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


def load_module(plugin: Plugin, name: str) -> Any:
    """Import a plugin's module; when that fails, undo what it registered, remember why, and warn once."""
    if plugin.error is not None:
        return None
    with LOCK:
        try:
            with registering(plugin) as undo:
                module = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001
            sys.modules.pop(name, None)
            _switch_off(plugin, name, error)
            return None
        plugin.undo += undo
        plugin.modules.append(name)
        return module


def load_family(hook: str, family: str, **arguments: Any) -> None:
    """Import every plugin's module for one family of one hook, once."""
    key = (hook, tuple(arguments.items()), family)
    if key in LOADED_FAMILIES:
        return
    with LOCK:
        if key in LOADED_FAMILIES:
            return
        for plugin, modules in hook_results(hook, **arguments):
            for module in as_modules(modules.get(family, ())):
                load_module(plugin, module)
        LOADED_FAMILIES.add(key)


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
        raise KeyError(f"no plugin registers {name!r} in {hook}{failed_note()}") from only_cause()
    return discovery.import_target(owners[0][1])


def failed_note() -> str:
    """What the user may be missing: plugins that failed or are switched off."""
    note = "".join(f"; plugin {p} failed to load: {p.failure}" for p in problems())
    return note + (f"; TENFOLD_DISABLE_PLUGINS keeps from loading: {', '.join(disabled())}" if disabled() else "")


def only_cause() -> BaseException | None:
    failed = problems()
    return failed[0].error if len(failed) == 1 else None


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
