"""PyTorch's `torch.utils`: names that live here for its users, brought by the packages that define them."""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from tenfold.settings.siblings import PACKAGES

__path__ = pkgutil.extend_path(__path__, __name__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "swap_tensors":
            return importlib.import_module("tenfold.nn.swapping").swap_tensors
        try:
            return importlib.import_module(f"tenfold.utils.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"tenfold.utils.{name}" or f"utils.{name}" in PACKAGES:
                raise
        raise AttributeError(f"module 'tenfold.utils' has no attribute {name!r}")
