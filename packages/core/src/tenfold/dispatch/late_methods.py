"""Methods and functions of operators whose declarations are loaded when first asked for: core's rarer ones, and siblings'."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.dispatch import late_operators as tables
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES


def _by_name(*groups: dict[str, str]) -> dict[str, str]:
    """{name: its module or distribution}; a star behind a name in a table stands for the in-place form, too."""
    found = {}
    for group in groups:
        for home, names in group.items():
            for name in names.split():
                if name[-1] == "*":
                    name = name[:-1]
                    found[f"{name}_"] = home
                found[name] = home
    return found


# {operator: the module that declares it}, of core's own modules that are imported when one of their operators is asked for.
LATE = _by_name(tables.BOTH, tables.FUNCTIONS)
SIBLINGS_FUNCTIONS = _by_name(tables.SIBLINGS_BOTH, tables.SIBLINGS_FUNCTIONS)  # {operator: its distribution}
SIBLINGS_METHODS = _by_name(tables.SIBLINGS_BOTH, tables.SIBLINGS_METHODS)


def load_late(name: str) -> bool:
    """Import the module that declares the operator of this name (or alias), if it is core's own and not loaded yet."""
    module = LATE.get(name)
    if module is None:
        return False
    importlib.import_module(module)
    return True


class Table(dict[str, Any]):
    """Operators by name; one of a module that is not loaded yet is there as soon as it is asked for."""

    def __missing__(self, name: str) -> Any:
        if not load_late(name):
            raise KeyError(name)
        return self[name]


class LateMethod:
    """Stands for a method until it is asked for: the operators' declarations, loaded then, put the method in its place.

    A descriptor, not `Tensor.__getattr__`, with which Python 3.11 looks every attribute of a tensor up without its cache.
    """

    __slots__ = ("module", "name")

    def __init__(self, name: str, module: str | None = None) -> None:
        self.name = name
        self.module = module  # None: some sibling's

    def __get__(self, tensor: Any, owner: type) -> Any:
        return self._loaded(owner).__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        self._loaded(type(tensor))
        setattr(tensor, self.name, value)  # a property may take or refuse it

    def _loaded(self, owner: type) -> Any:
        if self.module is None:
            SERVICES.load_operators()
        else:
            importlib.import_module(self.module)
        found = vars(RUNTIME["Tensor"])[self.name]
        if found is self:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'{where(self.name, SIBLINGS_METHODS)}")
        return found


def where(name: str, table: dict[str, str]) -> str:
    """The part of an error's message that says which package to install for a name, if one has it."""
    return f": it is in the package {table[name]}: pip install {table[name]}" if name in table else ""


def install(tensor_class: Any) -> None:
    """Give the class the methods of what is not loaded yet."""
    for name, module in _by_name(tables.BOTH, tables.METHODS).items():
        setattr(tensor_class, name, LateMethod(name, module))
    for name in SIBLINGS_METHODS:
        if name not in vars(tensor_class):
            setattr(tensor_class, name, LateMethod(name))


def load_core_methods() -> None:
    """Load all of core's own methods, for who looks at the class itself."""
    for module in (*tables.BOTH, *tables.METHODS):
        importlib.import_module(module)
