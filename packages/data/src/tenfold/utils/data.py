"""`tenfold.data` under PyTorch's path `torch.utils.data`: its modules are the same objects under both names."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

import tenfold.data

if TYPE_CHECKING:
    from tenfold.data import *  # noqa: F403 - it is the same module under another name


class _SameModules(MetaPathFinder, Loader):
    """Answers `import tenfold.utils.data.sampler` with the module `tenfold.data.sampler`."""

    prefix = "tenfold.utils.data."

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(self.prefix) else None

    def create_module(self, spec: ModuleSpec) -> Any:
        module = importlib.import_module("tenfold.data." + spec.name.removeprefix(self.prefix))
        self.own = (module, module.__spec__)
        return module

    def exec_module(self, module: Any) -> None:
        module.__spec__ = self.own[1]  # the import put the other name's there


sys.meta_path.insert(0, _SameModules())
sys.modules[__name__] = tenfold.data
