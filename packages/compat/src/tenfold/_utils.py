"""`torch._utils`: helpers that libraries borrow from PyTorch."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.checkpoint.rebuilding import (
    rebuild_of_dtype as _rebuild_tensor_v3,
    rebuild_sparse as _rebuild_sparse_tensor,
    rebuild_tensor as _rebuild_tensor_v2,
)

__all__ = ["_rebuild_sparse_tensor", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3"]

_rebuild_tensor = _rebuild_tensor_v2


def _get_available_device_type() -> str | None:
    """The accelerator's device type, or None."""
    device = tenfold.accelerator.current_accelerator()
    return None if device is None else device.type


def _get_device_module(device_type: str) -> Any:
    """The module `torch.TYPE` of a device type."""
    module = getattr(tenfold, device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return module


def _element_size(dtype: Any) -> int:
    """The bytes of one element.

    >>> _element_size(tenfold.float64)
    8
    """
    return dtype.itemsize  # type: ignore[no-any-return]


def _get_current_device_index() -> int | None:
    """The number of the current device of the accelerator; None where there is none."""
    return None if _get_available_device_type() is None else tenfold.accelerator.current_device_index()


def _get_all_device_indices() -> list[int] | None:
    """The numbers of the accelerator's devices; None where there is none."""
    return None if _get_available_device_type() is None else list(range(tenfold.accelerator.device_count()))


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The number of a device; -1 for the CPU where it is allowed, the current device's for none where it is optional.

    Raises: ValueError for the CPU, and for what says no number.
    """
    device = tenfold.device(device) if isinstance(device, str) else device
    if isinstance(device, int):
        return device
    if isinstance(device, tenfold.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        if device.type == "cpu" or device.index is not None:
            return -1 if device.type == "cpu" else device.index
    if optional:
        return _get_current_device_index()
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors' elements, one after another."""
    return tenfold.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of `flat` with the tensors' sizes."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors))


class KeyErrorMessage(str):
    """A message whose repr is itself: KeyError shows the repr of what it holds."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception of another thread or process, as its type, its traceback's text and where it was.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     ExceptionWrapper(where="in thread 3").exc_type
    <class 'ZeroDivisionError'>
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, *rest = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.where = where
        self.exc_msg = "".join(traceback.format_exception(kind, *rest))

    def reraise(self) -> None:
        """Raise an exception of the type, with the text; RuntimeError where the type wants more than a message."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if issubclass(self.exc_type, KeyError):
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):  # of those that take it by its name alone
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:  # noqa: BLE001 - any constructor may be asked for more
            raise RuntimeError(text) from None
        raise error


def render_call(fn: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """A call as a line of text: tensors by their sizes alone.

    >>> render_call(tenfold.sum, [tenfold.ones(2, 3)], {"dim": 0})
    'torch.sum(tensor([...], size=(2, 3)), dim=0)'
    """
    written = [_rendered(a) for a in args] + [f"{name}={_rendered(value)}" for name, value in kwargs.items()]
    named = importlib.import_module("tenfold.overrides").resolve_name(fn)
    return f"{named or fn}({', '.join(written)})"


def _rendered(value: Any) -> str:
    """A value in a call; of tensors, also in lists, what repr says beside the numbers."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_rendered(v) for v in value) + "," * (isinstance(value, tuple) and len(value) == 1)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if not isinstance(value, Tensor):
        return repr(value)
    numbers = "..." if value.is_meta else "[...]"
    said = [f"device='{value.device}'"] * (value.device.type != "cpu") + [f"size={tuple(value.shape)}"]
    if value.dtype not in (tenfold.get_default_dtype(), tenfold.int64, tenfold.bool):
        said.append(f"dtype={value.dtype}")
    said += ["requires_grad=True"] * value.requires_grad
    return f"tensor({', '.join([numbers, *said])})"


def __getattr__(name: str) -> Any:
    if name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):  # by the package that has parameters
        return getattr(importlib.import_module("tenfold.nn.parameter"), name)
    raise AttributeError(f"module 'torch._utils' has no attribute {name!r} (torch is Tenfold here, by tenfold.as_torch)")
