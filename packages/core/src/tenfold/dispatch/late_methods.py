"""Methods and functions of operators that sibling packages declare: their declarations are loaded when first asked for."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES
from tenfold.dispatch.sibling_operators import METHODS


class LateMethod:
    """Stands for a method until it is asked for: the operators' declarations, loaded then, put the method in its place.

    A descriptor, not `Tensor.__getattr__`, with which Python 3.11 looks every attribute of a tensor up without its cache.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: type) -> Any:
        SERVICES.load_operators()
        found = vars(RUNTIME["Tensor"])[self.name]
        if found is self:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'{where(self.name, METHODS)}")
        return found.__get__(tensor, owner)


def where(name: str, table: dict[str, tuple[str, ...]]) -> str:
    """The part of an error's message that says which package to install for a name, if one has it."""
    homes = [package for package, names in table.items() if name in names]
    return f": it is in the package {homes[0]}: pip install {homes[0]}" if homes else ""


def install(tensor_class: Any) -> None:
    """Give the class its siblings' methods."""
    for names in METHODS.values():
        for name in names:
            if name not in vars(tensor_class):
                setattr(tensor_class, name, LateMethod(name))
