"""Finding plugins (entry point group `tenfold`) and loading each on its own, so that one broken plugin stops no other."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from tenfold.plugins import hookspecs
from tenfold.settings import environment

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
    undo: list[Callable[[], object]] = field(default_factory=list)  # takes back what its modules attached
    modules: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution} {self.version})"

    @property
    def failure(self) -> str:
        """The error in words."""
        return f"{type(self.error).__name__}: {self.error}"


class PluginError(RuntimeError):
    """A plugin cannot be used; the cause is its own error."""


def version_of(distribution: str) -> str:
    """A distribution's version as installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"


def from_entry_points() -> tuple[list[Plugin], tuple[str, ...]]:
    """The installed plugins, Tenfold's own first, and the names of those that TENFOLD_DISABLE_PLUGINS leaves out."""
    disabled = {n.strip() for n in environment.DISABLE_PLUGINS.read().split(",")}
    found: dict[tuple[str, str], Plugin] = {}
    left_out = []
    for ep in metadata.entry_points(group=GROUP):
        if "1" in disabled or ep.name in disabled:
            left_out.append(ep.name)
            continue
        name, version = (ep.dist.name, ep.dist.version) if ep.dist else ("unknown", "unknown")
        # An editable install may show one distribution twice.
        found.setdefault((ep.name, name), Plugin(ep.name, name, version, ep.value))
    return sorted(found.values(), key=lambda p: not p.distribution.startswith("tenfold-")), tuple(dict.fromkeys(left_out))


def load(manager: Any, plugin: Plugin, earlier: list[Plugin]) -> None:
    """Import a plugin and register its hooks with pluggy, or keep the error that stopped it."""
    if environment.DEBUG.read() != "0":
        print(f"tenfold: plugin {plugin} from {plugin.target}", file=sys.stderr)
    try:
        for other in earlier:
            if other.name == plugin.name:
                raise PluginError(f"two plugins are named {plugin.name!r}: {other} and {plugin}; uninstall one of them")
        if plugin.module is None:
            plugin.module = import_target(plugin.target)
        _check_version(plugin)
        _check_hooks(plugin)
        manager.register(plugin.module, plugin.name)
        manager.check_pending()
    except (Exception, SystemExit) as error:  # noqa: BLE001
        plugin.error = error
        if plugin.module is not None and manager.is_registered(plugin.module):
            manager.unregister(plugin.module)


def import_target(target: str) -> Any:
    """The module or the "module:attribute" that an entry point names."""
    module, _, attribute = target.partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


def _check_version(plugin: Plugin) -> None:
    wanted = getattr(plugin.module, "TENFOLD_PLUGIN_API", None)
    if wanted == API_VERSION:
        return
    if not isinstance(wanted, int):
        said = "does not say for which plugin API it is written" if wanted is None else f"says TENFOLD_PLUGIN_API = {wanted!r}"
        raise PluginError(
            f"plugin {plugin} {said}; {plugin.target} must say TENFOLD_PLUGIN_API = {API_VERSION}, "
            f"the version of this tenfold-core"
        )
    raise PluginError(
        f"plugin {plugin} is written for plugin API {wanted}, this tenfold-core has {API_VERSION}; "
        f"upgrade {plugin.distribution if wanted < API_VERSION else 'tenfold-core'}"
    )


def _check_hooks(plugin: Plugin) -> None:
    """Refuse hooks that nobody would call: unknown names, and known names without the mark."""
    for name in dir(plugin.module):
        function = getattr(plugin.module, name) if name.startswith("tenfold_") else None
        marked = getattr(function, GROUP + "_impl", None) is not None
        if marked and name not in hookspecs.NAMES:
            close = difflib.get_close_matches(name, hookspecs.NAMES, 1)
            hint = f"did you mean {close[0]}?" if close else f"the hooks are {', '.join(hookspecs.NAMES)}"
            raise PluginError(f"plugin {plugin} defines the unknown hook {name}; {hint}")
        if callable(function) and not marked and name in hookspecs.NAMES:
            raise PluginError(f"plugin {plugin}: {name} is a hook without its mark; write @hookimpl() above it")


# Families of operators as folders show them: what is in `FAMILY.py` or in `FAMILY/` belongs to the family.


def families(package: str, declared_in: str | None = None) -> dict[str, tuple[str, ...]]:
    """{family: names of its modules} below a package such as "tenfold.ops"; names with a leading underscore do not count.

    A folder of kernels or gradients holds also what its families share: `declared_in` names the operators' package,
    and what declares no family there is left out.

    >>> from tenfold.plugins.discovery import families
    >>> families("tenfold.ops")["matmul"], len(families("tenfold.ops")["reduction"])
    (('tenfold.ops.matmul',), 4)
    """
    found = {}
    declared = None if declared_in is None else {family for family, _ in _listed(declared_in)}
    for family, is_folder in _listed(package):
        if declared is not None and family not in declared:
            continue
        name = f"{package}.{family}"
        found[family] = tuple(f"{name}.{module}" for module, _ in _listed(name)) if is_folder else (name,)
    return found


def _listed(package: str) -> list[tuple[str, bool]]:
    path = importlib.import_module(package).__path__
    return [(found.name, found.ispkg) for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]
