"""Names of functions in the code that graphs are written as."""

from __future__ import annotations

import builtins
import importlib
import keyword
import re
from functools import lru_cache
from types import ModuleType
from typing import Any

from tenfold.types import namespace

# Where Tenfold's public functions are, and the prefix that an operator's own name has there.
_PLACES = {
    "": "", "nn.functional": "", "linalg": "linalg_", "special": "special_", "fft": "fft_", "sparse": "sparse_", "nn.init": "",
    "nested": "", "nn.utils.rnn": "",
}  # fmt: skip
_TAKEN = {"inf", "nan", "NoneType", "torch", "tenfold", "device", "self"}


def public_name(function: Any) -> str | None:
    """The name by which programs call one of Tenfold's functions, or None for anything else.

    >>> import math, tenfold
    >>> public_name(tenfold.relu), public_name(tenfold.linalg.inv), public_name(math.sqrt)
    ('tenfold.relu', 'tenfold.linalg.inv', None)
    """
    name = getattr(function, "__name__", None)
    whole = str(getattr(function, "__module__", None))
    if whole.startswith("torch._ops.") and namespace() == "torch":  # torch.ops, which `tenfold.ops` is not
        return f"{whole.replace('_ops', 'ops', 1)}.{name}"
    module = whole.partition(".")[0]
    if not isinstance(name, str) or module not in ("tenfold", "torch"):
        return None
    for place, prefix in sorted(_PLACES.items(), key=lambda item: not (item[1] and name.startswith(item[1]))):
        try:
            found = importlib.import_module(f"tenfold.{place}".rstrip("."))
        except ImportError:
            continue
        for each in {name, name.removeprefix(prefix)} & _listed(found):  # others answer, too
            if getattr(found, each, None) is function:
                return ".".join(part for part in (namespace(), place, each) if part)
    return None


@lru_cache
def _listed(module: ModuleType) -> frozenset[str]:
    """A module's public names, which are asked for with every call of a graph and take long to find."""
    return frozenset(module.__all__ if hasattr(module, "__all__") else dir(module))


def qualified_name(function: Any) -> str:
    """A function's name with its module.

    >>> import operator
    >>> qualified_name(operator.add), qualified_name(getattr)
    ('operator.add', 'getattr')
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    if getattr(builtins, name, None) is function:
        return str(name)
    public = public_name(function)
    if public is not None:
        return public
    module = getattr(function, "__module__", None)
    if module is None:
        return str(getattr(function, "__qualname__", name))
    return f"{'operator' if module == '_operator' else module}.{name}"


def name_of_target(target: Any) -> str:
    """The name from which the variable of a call's result is made: `relu` of `ReLU`, `add` of `__add__`.

    >>> name_of_target("layer1.MaxPool"), name_of_target(len)
    ('layer1_max_pool', 'len')
    """
    name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().replace(".", "_")


class Namespace:
    """Names of variables that no two objects share.

    >>> names = Namespace()
    >>> [names.create_name(wanted, None) for wanted in ("x", "x", "x_1", "input", "0.weight")]
    ['x', 'x_1', 'x_2', 'input_1', '_0_weight']
    """

    def __init__(self) -> None:
        self._of: dict[Any, str] = {}
        self._used: set[str] = set()
        self._last: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name like `candidate` that is not in use; for an object that has one, that one."""
        if obj is not None and obj in self._of:
            return self._of[obj]
        candidate = re.sub(r"\W+", "_", candidate) or "_unnamed"
        candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
        numbered = re.fullmatch(r"(.*)_(\d+)", candidate)
        base = numbered[1] if numbered else candidate
        number = int(numbered[2]) if numbered else 0
        if candidate in self._used:
            number = max(number, self._last.get(base, 0))
        while candidate in self._used or _is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._last[base] = max(number, self._last.get(base, 0))
        if obj is not None:
            self._of[obj] = candidate
        return candidate

    def release(self, obj: Any) -> None:
        """Forget whose a name is; the name stays in use."""
        self._of.pop(obj, None)


def _is_illegal(name: str, obj: Any) -> bool:
    return keyword.iskeyword(name) or (hasattr(builtins, name) and getattr(builtins, name) is not obj) or name in _TAKEN
