"""The modules `torch`, `torchvision` and `torchtext`: PyTorch's version and names, Tenfold's things.

All that is below them is Tenfold's own: `torch.nn.functional is tenfold.nn.functional`. Only these three are modules of their
own, because they answer with another version and `tenfold.__version__` has to stay Tenfold's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import types
from typing import Any

from tenfold.as_torch import stand_ins
from tenfold.as_torch.names import ROOTS
from tenfold.as_torch.stand_ins import stand_in
from tenfold.as_torch.stand_ins.torch_version import TorchVersion


class RootModule(types.ModuleType):
    """A module under PyTorch's name with what Tenfold's module has, found when it is asked for."""

    def __init__(self, name: str) -> None:
        root = ROOTS[name]
        module = importlib.import_module(root.target)
        super().__init__(name, module.__doc__)
        found = {key: value for key, value in vars(module).items() if key[0] != "_" and not isinstance(value, types.ModuleType)}
        self.__dict__.update(found)
        # Some programs look for files there. Python's own finder is asked after this package's, which finds what is there.
        folders = {"torch": stand_ins.__path__[0], "functorch": None}
        folder = folders.get(name, os.path.dirname(str(module.__file__)))
        self.__path__: list[str] = [] if folder is None else [folder]
        self.__file__ = module.__file__
        self.__version__ = TorchVersion(root.version)
        self.__all__ = [public for public in getattr(module, "__all__", dir(module)) if not public.startswith("_")]
        self._target = module

    def __dir__(self) -> list[str]:
        below = {found.name for found in pkgutil.iter_modules(self.__path__)} if self.__name__ == "torch" else set()
        return sorted({*super().__dir__(), *dir(self._target), *below})

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = self._found(name)
        return value

    def _found(self, name: str) -> Any:
        """A module below this one (a program's own, too), else what Tenfold's module has of this name, else what stands in."""
        if f"{self.__name__}.{name}" in sys.modules:
            return sys.modules[f"{self.__name__}.{name}"]
        if (not name.startswith("__") or name == "__future__") and importlib.util.find_spec(
            f"{self.__name__}.{name}"
        ) is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        if name == "torch":  # PyTorch's packages import it, so that it is an attribute of each, and of itself
            return importlib.import_module("torch")
        if name.startswith("__") and name != "__config__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        try:
            return getattr(self._target, name)
        except AttributeError as error:
            found = stand_in(name) if self.__name__ == "torch" else None
            if found is None:
                told = str(error).replace(f"module {self._target.__name__!r}", f"module {self.__name__!r}")
                raise AttributeError(
                    f"{told} ({self.__name__} is Tenfold here, by tenfold.as_torch)", name=name, obj=self
                ) from None
        return found
