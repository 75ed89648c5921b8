"""`torch._tensor_str`: how tensors are printed."""

from __future__ import annotations

from tenfold import Tensor
from tenfold.dispatch.services import SERVICES
from tenfold.tensor import printing
from tenfold.tensor.printing import printoptions, set_printoptions
from tenfold.tensor.tensor import host

__all__ = ["PRINT_OPTS", "printoptions", "set_printoptions"]


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of a tensor, also where a program has put another function in the place of `Tensor.__repr__`."""
    return str(self._key.transform.repr_of(self)) if self._key.level is not None else str(SERVICES.repr_of(self))


_str_intern = _str
PRINT_OPTS = printing._options


def _tensor_str(self: Tensor, indent: int) -> str:
    """The numbers of a tensor in their brackets."""
    return printing.format_array(host(self), indent)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The whole text: the numbers and what is said after them, on a line of its own where it is asked for or too long."""
    parts = [f"{tensor_str},\n{' ' * indent}{suffixes[0]}", *suffixes[1:]] if force_newline and suffixes else None
    return ", ".join(parts) + ")" if parts else printing._with_suffixes("", tensor_str, suffixes)
