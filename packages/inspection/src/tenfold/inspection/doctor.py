"""What is installed and whether it works: the report of `python -m tenfold doctor`."""

from __future__ import annotations

import platform
import warnings
from importlib import metadata

from tenfold import plugins
from tenfold.dispatch.devices import Backend
from tenfold.inspection import distributions
from tenfold.plugins import hookspecs
from tenfold.plugins.discovery import Plugin
from tenfold.settings import environment

DISTRIBUTIONS = tuple(dict.fromkeys(("tenfold-core", *plugins.PACKAGES.values())))


def report() -> tuple[str, bool]:
    """The report and whether everything is healthy."""
    found = plugins.installed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # what they say is in the report
        device_lines, healthy = _devices()
        load_everything()
    lines = [f"Python {platform.python_version()} on {platform.system()} {platform.machine()}", "", "Packages"]
    lines += [f"  {name:24s} {version}" for name, version in _versions()]
    lines += ["", "Plugins"]
    for plugin in found:
        state = "ok" if plugin.error is None else f"FAILED: {plugin.failure}"
        lines.append(f"  {plugin.name:16s} {plugin.distribution} {plugin.version} ({plugin.target})  {state}")
        healthy = healthy and plugin.error is None
    lines += [f"  {name:16s} switched off by {environment.DISABLE_PLUGINS.name}" for name in plugins.disabled()]
    lines += ["", "Devices", *device_lines]
    clashes = [*conflicts(), *distributions.owned_twice(distributions.installed())]
    if clashes:
        lines += ["", "Names and files with two owners", *[f"  FAILED: {clash}; uninstall one of them" for clash in clashes]]
    misfits = distributions.out_of_range(distributions.installed())
    if misfits:
        lines += ["", "Versions that do not fit", *[f"  FAILED: {misfit}; upgrade one of them" for misfit in misfits]]
    healthy = healthy and not clashes and not misfits
    lines += ["", "Environment"]
    for variable in environment.VARIABLES:
        lines.append(f"  {variable.name}={variable.read()!r}: {variable.meaning}")
    lines += ["", "No problems found." if healthy else "There are problems, see FAILED above."]
    return "\n".join(lines), healthy


def _versions() -> list[tuple[str, str]]:
    rows = []
    for name in (*DISTRIBUTIONS, "numpy", "pluggy", "ml-dtypes"):
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


def _is_available(backend: Backend) -> bool:
    try:
        return backend.is_available()
    except Exception:  # noqa: BLE001 - reported with the devices
        return False


def load_everything() -> None:
    """Import what every plugin registers for operators, so that whatever is broken turns up in `problems()`."""
    plugins.load_operators()
    ready = [name for name, owners in plugins.backends().items() if any(_is_available(b) for _, b in owners)]
    asked = [("tenfold_kernels", {"device": device_type}) for device_type in (*ready, "*")]
    if plugins.layer("autograd") is not None:
        asked += [("tenfold_gradients", {}), ("tenfold_batching", {})]
    for hook, arguments in asked:
        for _, modules in list(plugins.hook_results(hook, **arguments)):
            for family in modules:
                plugins.load_family(hook, family, **arguments)


def conflicts() -> list[str]:
    """Names that two plugins register, of a device or in a hook such as `tenfold_optimizers`; each is an error when asked for."""
    found = []
    tables = {hook: plugins.hook_results(hook) for hook in hookspecs.NAMED}
    tables["device"] = [(owner, {name: ""}) for name, owners in plugins.backends().items() for owner, _ in owners]
    for hook, results in tables.items():
        owners: dict[str, list[Plugin]] = {}
        for plugin, names in results:
            for name in names:
                owners.setdefault(name, []).append(plugin)
        what = hook.removeprefix("tenfold_").removesuffix("s")
        found += [f"{what} {name!r} is registered by {' and '.join(map(str, p))}" for name, p in owners.items() if len(p) > 1]
    return found
