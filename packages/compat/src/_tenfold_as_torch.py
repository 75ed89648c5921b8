"""Run at the start of Python, by tenfold_as_torch.pth, where the environment variable TENFOLD_AS_TORCH is 1.

A program under PyTorch's names sets the variable, so that the processes which it starts find `import torch` to be Tenfold,
too. This file stands outside the package `tenfold`, which would be imported with it: a process that does not ask for PyTorch
is not to wait for NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

ROOTS = ("torch", "torchvision", "torchtext", "functorch")


class Startup:
    """Stands first in `sys.meta_path` until something asks for PyTorch; then Tenfold's own finder takes its place."""

    def _replace(self) -> Any:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        from tenfold import as_torch  # NumPy comes with it

        as_torch.install()
        return as_torch.finder()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module of PyTorch's name; nothing for other modules."""
        return self._replace().find_spec(name, path, target) if name.partition(".")[0] in ROOTS else None

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """PyTorch's distributions, when they are asked for by name or all are."""
        return self._replace().find_distributions(context) if context.name in (None, *ROOTS) else ()


def install() -> None:
    """Let `import torch` mean Tenfold in this process."""
    sys.meta_path.insert(0, Startup())
