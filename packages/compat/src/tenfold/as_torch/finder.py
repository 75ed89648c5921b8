"""The finder of modules and distributions under PyTorch's names."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.as_torch.array_tables import TABLES, entering
from tenfold.as_torch.class_names import is_renamed, rename_layers, renaming
from tenfold.as_torch.cuda_names import complete_cuda
from tenfold.as_torch.distributions import TorchDistribution
from tenfold.as_torch.names import ROOTS, is_installed, is_ours
from tenfold.as_torch.roots import RootModule
from tenfold.settings.siblings import PACKAGES

_STAND_INS = "tenfold.as_torch.stand_ins"
_ELSEWHERE = {
    "torch._functorch.vmap": f"{_STAND_INS}._functorch.vmap",
    "torch.amp.autocast_mode": "tenfold.amp",
    "torch.cpu.amp": "tenfold.amp.cpu",
    "torch.cpu.amp.autocast_mode": "tenfold.amp.cpu",
    "torch.cpu.amp.grad_scaler": "tenfold.amp.cpu",
    "torch.cuda.amp": "tenfold.amp.cuda",
    "torch.cuda.amp.autocast_mode": "tenfold.amp.cuda",
    "torch.cuda.amp.grad_scaler": "tenfold.amp.cuda",
    "torch.cuda.amp.common": "tenfold.amp.common",
    "torch.cuda.random": f"{_STAND_INS}.cuda.random",
    "torch.overrides": f"{_STAND_INS}.overrides",
    "torch.profiler.profiler": "tenfold.profiler",
}
_WITH_STAND_INS = {"tenfold.utils", "tenfold.testing", "tenfold._functorch"}  # packages below which stand-ins lie, too
_OTHERWISE = {"torch.ops", "torch.version", "torch.types"}  # Tenfold's modules of these names are about something else


class Finder(importlib.metadata.DistributionFinder):
    """Finds and loads PyTorch's modules in Tenfold; first in `sys.meta_path`, so that it wins over an installed PyTorch."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """A module that Tenfold has. For one that it lacks: None, and an import's error says what to do.

        Nothing is imported here but parents: were `name` itself put into sys.modules in the meantime, the import system
        would run Tenfold's file a second time.
        """
        if not is_ours(name):
            if name in TABLES:
                return entering(importlib.machinery.PathFinder.find_spec(name, path, target))
            if name.startswith("tenfold.") and is_renamed(name):
                return renaming(importlib.machinery.PathFinder.find_spec(name, path, target))
            return None
        if not (is_installed(name) if name in ROOTS else target_of(name)):
            # Not for importlib.util.find_spec, by which programs ask whether a module is there.
            if sys._getframe(1).f_code.co_name == "_find_spec" and sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise ModuleNotFoundError(explanation(name), name=name)
            return None
        return importlib.machinery.ModuleSpec(name, self, origin="Tenfold", is_package=name in ROOTS)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """A root is made here; for the rest Python makes an empty module that `exec_module` replaces."""
        return RootModule(spec.name) if spec.name in ROOTS else None

    def exec_module(self, module: types.ModuleType) -> None:
        """Put Tenfold's module in place; the import system returns what it finds there."""
        target = None if module.__name__ in ROOTS else target_of(module.__name__)
        if target is not None:
            found = sys.modules[module.__name__] = importlib.import_module(target)
            name_hidden_modules(found, module.__name__)
            if module.__name__ in ("torch.cuda.amp", "torch.cpu.amp"):  # packages in PyTorch
                found.__path__ = []
        if module.__name__ == "torch.nn":
            rename_layers()
        elif target == "tenfold.cuda":
            complete_cuda(sys.modules[target])
        elif target in _WITH_STAND_INS:
            answer_below(sys.modules[target], module.__name__)

    def get_code(self, name: str) -> types.CodeType | None:
        """What `python -m` runs for a module of PyTorch's: the file of Tenfold's that answers for it."""
        target = target_of(name)
        spec = None if target is None else importlib.util.find_spec(target)
        loader: Any = None if spec is None else spec.loader
        return loader.get_code(spec.name) if spec is not None and hasattr(loader, "get_code") else None

    def find_distributions(self, context: Any = importlib.metadata.DistributionFinder.Context()) -> Iterable[Any]:  # noqa: B008
        """PyTorch's distributions, by name or all of them."""
        return [TorchDistribution(name) for name in ROOTS if context.name in (None, name) and _is_distributed(name)]


def name_hidden_modules(package: types.ModuleType, name: str) -> None:
    """Put modules into place that a package hides behind a function of the same name, such as `autograd.gradcheck`.

    Were they left to an import, it would set the package's attribute to the module, and the function would be lost.
    """
    for leaf, value in list(vars(package).items()):
        hidden = sys.modules.get(f"{package.__name__}.{leaf}")
        if hidden is not None and value is not hidden:
            sys.modules.setdefault(f"{name}.{leaf}", hidden)


def answer_below(module: types.ModuleType, name: str) -> None:
    """Let `from torch.utils import cpp_extension` find a stand-in: Python looks for it under the name of Tenfold's module."""
    own = vars(module).get("__getattr__")
    below = f"{_STAND_INS}.{name.removeprefix('torch.')}"

    def found(leaf: str) -> Any:
        try:
            if own is not None:
                return own(leaf)
            raise AttributeError(f"module {module.__name__!r} has no attribute {leaf!r}")
        except AttributeError:
            if leaf.startswith("__") or importlib.util.find_spec(f"{below}.{leaf}") is None:
                raise
            return importlib.import_module(f"{name}.{leaf}")

    vars(module)["__getattr__"] = found


def _is_distributed(root: str) -> bool:
    """Whether one of PyTorch's packages is here, and comes in a distribution of its name: functorch comes in torch's."""
    return root != "functorch" and is_installed(root)


def target_of(name: str) -> str | None:
    """Tenfold's name for a module of PyTorch, or None.

    >>> target_of("torch.random"), target_of("torch.jit"), target_of("torch.surely_missing")
    ('tenfold.random', 'tenfold.as_torch.stand_ins.jit', None)
    """
    return next((target for target in _candidates(name) if _exists(target)), None)


def _candidates(name: str) -> Iterator[str]:
    """The names to try, below what the parent is really called: `tenfold.utils.data` is `tenfold.data`."""
    parent, _, leaf = name.rpartition(".")
    if name in _ELSEWHERE:
        yield _ELSEWHERE[name]
    if parent in ROOTS and name not in _OTHERWISE:
        yield f"{ROOTS[parent].target}.{leaf}"
    if parent not in ROOTS:
        yield f"{importlib.import_module(parent).__name__}.{leaf}"
    if parent.partition(".")[0] == "torch":
        yield f"{_STAND_INS}.{name.removeprefix('torch.')}"


def _exists(target: str) -> bool:
    if target in sys.modules:
        return True
    try:
        return importlib.util.find_spec(target) is not None or target in sys.modules  # its parent, now imported, may have made it
    except ModuleNotFoundError as error:  # a parent is missing, or is no package
        if error.name is None or not f"{target}.".startswith(f"{error.name}."):
            raise
        return target in sys.modules  # the parent may have made it without a file


def explanation(name: str) -> str:
    """What is said of a module that Tenfold has not got, or not here."""
    root, _, rest = name.partition(".")
    distribution = PACKAGES.get(rest) if root == "torch" else ROOTS[root].distribution if not rest else None
    if distribution is not None:
        return (
            f"{name} is in the package {distribution} ({root} is Tenfold here, by tenfold.as_torch): pip install {distribution}"
        )
    return (
        f"No module named {name!r}: {root} is Tenfold here, by tenfold.as_torch, and it has no such module; "
        "python -m tenfold.as_torch --check PROGRAM lists what a program needs and Tenfold lacks"
    )
