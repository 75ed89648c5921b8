"""The backends that plugins bring, and what to say where one is missing or broken."""

from __future__ import annotations

import re

from tenfold.dispatch.devices import Backend, MissingDevice
from tenfold.plugins.discovery import Plugin, PluginError
from tenfold.plugins.loading import CACHES, LOCK, OWN_DEVICES, failed_note, hook_results, only_cause, problems

_backends: dict[str, list[tuple[Plugin, Backend]]] = {}
CACHES.append(_backends)


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
        with LOCK:
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
        raise MissingDevice(
            "device 'cuda' is in the package tenfold-backend-cuda: pip install tenfold-backend-cuda" + failed_note()
        )
    known = ", ".join(sorted(backends()))
    raise RuntimeError(
        f"Expected one of {known} device type at start of device string: {device_type}. "
        f"Other devices come from packages that register a backend (python -m tenfold doctor){failed_note()}"
    ) from only_cause()


def device_types() -> list[str]:
    """The device types that have a backend."""
    return list(backends())


def plugin_failure(device_type: str, missing: str) -> PluginError | None:
    """The error for what is missing on a device because the plugin that serves it is broken."""
    broken = broken_plugin(device_type)
    if broken is None:
        return None
    error = PluginError(f"{missing}: plugin {broken} failed to load: {broken.failure}")
    error.__cause__ = broken.error
    return error
