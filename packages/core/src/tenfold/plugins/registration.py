"""Plugins of this process, for notebooks and tests: registered at run time, and taken away again."""

import sys
from typing import Any

from tenfold.dispatch import devices
from tenfold.plugins import discovery
from tenfold.plugins.devices import backends
from tenfold.plugins.discovery import Plugin
from tenfold.plugins.loading import (
    CACHES,
    HOOK_RESULTS,
    LOADED_FAMILIES,
    LOCK,
    as_modules,
    ask,
    installed,
    installed_manager,
    load_module,
)

IN_PROCESS = "this process"


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
    with LOCK:
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
    for (hook, arguments), results in HOOK_RESULTS.items():
        answer = ask(plugin, hook, dict(arguments))
        if answer is not None:
            results.append((plugin, answer))
            for family, modules in answer.items() if isinstance(answer, dict) else ():
                if (hook, arguments, family) in LOADED_FAMILIES:
                    for module in as_modules(modules):
                        load_module(plugin, module)
    _forget_computed()
    return plugin.error


def _forget_computed() -> None:
    for cache in CACHES:
        cache.clear()


def unregister(name: str) -> None:
    """Take away a plugin that `register` added, with its devices and everything attached for them."""
    with LOCK:
        plugin = next((p for p in installed() if p.name == name and p.distribution == IN_PROCESS), None)
        if plugin is None:
            raise KeyError(f"no plugin {name!r} was registered in this process")
        own = [device_type for device_type, owners in backends().items() if any(owner is plugin for owner, _ in owners)]
        for step in reversed(plugin.undo):
            step()
        for module in plugin.modules:
            sys.modules.pop(module, None)
        for results in HOOK_RESULTS.values():
            results[:] = [result for result in results if result[0] is not plugin]
        installed().remove(plugin)
        if installed_manager().is_registered(plugin.module):
            installed_manager().unregister(plugin.module)
        _forget_computed()
        for device_type in own:
            devices.forget(device_type)
