"""Methods and functions of operators whose declarations are loaded when first asked for: core's rarer ones, and siblings'."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.dispatch import late_operators
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES

# {operator: the module that declares it}, of core's own modules that are imported when one of their operators is asked for.
LATE = {
    name: module
    for table in (late_operators.BOTH, late_operators.FUNCTIONS)
    for module, names in table.items()
    for name in names.split()
}


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
            raise AttributeError(
                f"'{owner.__name__}' object has no attribute '{self.name}'{where(self.name, late_operators.SIBLINGS_METHODS)}"
            )
        return found


def where(name: str, table: dict[str, str]) -> str:
    """The part of an error's message that says which package to install for a name, if one has it."""
    homes = [package for package, names in table.items() if name in names.split()]
    return f": it is in the package {homes[0]}: pip install {homes[0]}" if homes else ""


def install(tensor_class: Any) -> None:
    """Give the class the methods of what is not loaded yet."""
    for table in (late_operators.BOTH, late_operators.METHODS):
        for module, core_names in table.items():
            for name in core_names.split():
                setattr(tensor_class, name, LateMethod(name, module))
    for sibling_names in late_operators.SIBLINGS_METHODS.values():
        for name in sibling_names.split():
            if name not in vars(tensor_class):
                setattr(tensor_class, name, LateMethod(name))


def load_core_methods() -> None:
    """Load all of core's own methods, for who looks at the class itself."""
    for module in (*late_operators.BOTH, *late_operators.METHODS):
        importlib.import_module(module)
