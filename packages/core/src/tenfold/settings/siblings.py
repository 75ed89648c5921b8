"""Sibling packages: which distribution to install for one that is not there.

What is installed needs no table: it is found like any module. This one is for the error's text only.
"""

import sys
from collections.abc import Sequence

_BROUGHT = {
    "tenfold-autograd": "amp autograd func profiler",
    "tenfold-nn": "nn __future__",
    "tenfold-optim": "optim foreach",
    "tenfold-checkpoint": "checkpoint serialization storage",
    "tenfold-inspection": "inspection backends accelerator version __config__",
    "tenfold-multiprocessing": "multiprocessing",
    "tenfold-data": "data utils.data",
    "tenfold-scientific": "scientific functional linalg fft special array_api signal quasirandom utils.dlpack",
    "tenfold-backend-cuda": "cuda",
    "tenfold-backend-llvm": "llvm",
    "tenfold-text": "text",
    "tenfold-vision": "vision",
    "tenfold-testing": "testing",
    "tenfold-compat": "as_torch futures hub utils.tensorboard utils._pytree utils.benchmark",
    "tenfold-sparse": "sparse",
    "tenfold-masked": "masked",
    "tenfold-nested": "nested",
    "tenfold-distributions": "distributions",
}
PACKAGES = {module: distribution for distribution, modules in _BROUGHT.items() for module in modules.split()}


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
