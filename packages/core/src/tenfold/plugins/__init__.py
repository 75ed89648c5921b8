"""Plugins: how other packages add devices, kernels, gradients and everything else (entry point group `tenfold`).

Entry points name light modules with hook functions (hookspecs below). They are imported when something first needs
them, each on its own: one that fails is remembered in `problems()` and breaks nothing else. Hooks run once and fill
dictionaries; no operator call reaches pluggy. What hooks return are names of modules, so that only the families in
use are imported. `register` adds a plugin of this process, for notebooks and tests.
"""

from typing import Any

import pluggy

from tenfold.dispatch.kernels import devices_with_kernel
from tenfold.dispatch.registration import current_owner, on_failure
from tenfold.plugins.devices import backend_of, backends, broken_plugin
from tenfold.plugins.discovery import API_VERSION, GROUP, Plugin, PluginError
from tenfold.plugins.loading import (
    as_modules,
    autograd,
    disabled,
    hook_results,
    installed,
    installed_hooks,
    installed_manager,
    layer,
    load_family,
    load_kernels,
    load_module,
    load_operators,
    named,
    problems,
)
from tenfold.plugins.registration import register, unregister
from tenfold.settings.siblings import PACKAGES

__all__ = [
    "API_VERSION", "GROUP", "PACKAGES", "Plugin", "PluginError", "as_modules", "autograd", "backend_of", "backends",
    "broken_plugin", "current_owner", "devices_with_kernel", "disabled", "hook_results", "hookimpl", "installed",
    "installed_hooks", "installed_manager", "layer", "load_family", "load_kernels", "load_module", "load_operators", "named",
    "on_failure", "problems", "register", "unregister",
]  # fmt: skip


def hookimpl() -> Any:
    """The decorator that marks a plugin module's hook functions."""
    return pluggy.HookimplMarker(GROUP)
