"""What is installed and whether it works: the report of `python -m tenfold doctor`."""

from __future__ import annotations

import platform
import warnings
from importlib import metadata

from tenfold import environment, plugins

PACKAGES = ("core", "autograd", "nn", "optim", "data", "backend-cuda", "text", "vision", "testing")


def report() -> tuple[str, bool]:
    """The report and whether everything is healthy."""
    found = plugins.installed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what they say is in the report
        device_lines, healthy = _devices()
        plugins.load_everything()
    lines = [f"Python {platform.python_version()} on {platform.system()} {platform.machine()}", "", "Packages"]
    lines += [f"  {name:24s} {version}" for name, version in _versions()]
    lines += ["", "Plugins"]
    for plugin in found:
        state = "ok" if plugin.error is None else f"FAILED: {plugin.failure}"
        lines.append(f"  {plugin.name:16s} {plugin.distribution} {plugin.version} ({plugin.target})  {state}")
        healthy = healthy and plugin.error is None
    lines += [f"  {name:16s} switched off by {environment.DISABLE_PLUGINS.name}" for name in plugins.disabled()]
    lines += ["", "Devices", *device_lines]
    clashes = plugins.conflicts()
    if clashes:
        lines += ["", "Names with two owners", *[f"  FAILED: {clash}; uninstall one of them" for clash in clashes]]
    healthy = healthy and not clashes
    lines += ["", "Environment"]
    for variable in environment.VARIABLES:
        lines.append(f"  {variable.name}={variable.read()!r}: {variable.meaning}")
    lines += ["", "No problems found." if healthy else "There are problems, see FAILED above."]
    return "\n".join(lines), healthy


def _versions() -> list[tuple[str, str]]:
    rows = []
    for name in (*(f"tenfold-{p}" for p in PACKAGES), "numpy", "pluggy", "ml-dtypes"):
        try:
            rows.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            rows.append((name, "not installed"))
    return rows


def _devices() -> tuple[list[str], bool]:
    lines, healthy = [], True
    for name, owners in sorted(plugins.backends().items()):
        sources = " and ".join(str(plugin) for plugin, _ in owners)
        if len(owners) > 1:
            lines.append(f"  {name:8s} FAILED: registered by two packages: {sources}; uninstall one of them")
            healthy = False
            continue
        backend = owners[0][1]
        try:
            state = (
                f"available, {backend.device_count()} device(s)"
                if backend.is_available()
                else (f"not available: {backend.unavailable_reason()}")
            )
        except Exception as error:  # noqa: BLE001 - a backend that cannot even say whether it works is a finding, not a crash
            state, healthy = f"FAILED: {type(error).__name__}: {error}", False
        lines.append(f"  {name:8s} from {sources}: {state}")
    return lines, healthy
