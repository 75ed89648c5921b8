"""Sibling packages: which distribution to install for one that is not there.

What is installed needs no table: it is found like any module. This one is for the error's text only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

PACKAGES = {
    "amp": "tenfold-autograd", "autograd": "tenfold-autograd", "func": "tenfold-autograd", "profiler": "tenfold-autograd",
    "nn": "tenfold-nn", "optim": "tenfold-optim", "foreach": "tenfold-optim",
    "checkpoint": "tenfold-checkpoint", "serialization": "tenfold-checkpoint", "storage": "tenfold-checkpoint",
    "inspection": "tenfold-inspection", "backends": "tenfold-inspection", "accelerator": "tenfold-inspection",
    "__config__": "tenfold-inspection", "multiprocessing": "tenfold-multiprocessing",
    "data": "tenfold-data", "utils.data": "tenfold-data",
    "scientific": "tenfold-scientific", "linalg": "tenfold-scientific", "fft": "tenfold-scientific",
    "special": "tenfold-scientific", "array_api": "tenfold-scientific", "signal": "tenfold-scientific",
    "quasirandom": "tenfold-scientific", "utils.dlpack": "tenfold-scientific",
    "cuda": "tenfold-backend-cuda",
    "llvm": "tenfold-backend-llvm", "text": "tenfold-text", "vision": "tenfold-vision", "testing": "tenfold-testing",
    "as_torch": "tenfold-compat", "futures": "tenfold-compat", "hub": "tenfold-compat", "utils.tensorboard": "tenfold-compat",
    "utils._pytree": "tenfold-compat",
    "sparse": "tenfold-sparse", "nested": "tenfold-nested", "masked": "tenfold-masked", "distributions": "tenfold-distributions",
}  # fmt: skip


class SiblingFinder:
    """Stands last in `sys.meta_path`, where only what no finder has found arrives, and names the package to install.

    It does so for imports. `importlib.util.find_spec`, by which programs ask whether a package is there, gets None.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if not name.startswith("tenfold."):
            return
        distribution = PACKAGES.get(name.removeprefix("tenfold."))
        if distribution is not None and sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
            raise ModuleNotFoundError(f"{name} is in the package {distribution}: pip install {distribution}", name=name)


def install() -> None:
    """Let imports of missing siblings say what to install."""
    if not any(finder is SiblingFinder for finder in sys.meta_path):
        sys.meta_path.append(SiblingFinder)
