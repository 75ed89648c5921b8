"""`torch.utils._python_dispatch`: modes that see every operator beneath the gradient tape, and tensors that wrap others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tenfold import Tensor
from tenfold.as_torch.asking import Suspended, enter, leave
from tenfold.dispatch.beneath import asks
from tenfold.dispatch.runtime import STATE

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """Sees every operator that this thread runs while it is entered, those of the backward pass, too.

    Subclasses define `__torch_dispatch__(self, func, types, args=(), kwargs=None)`; in it the mode is off, and gradients are
    not recorded.

    >>> import tenfold
    >>> class Printing(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Printing():
    ...     y = tenfold.ones(2, 2) @ tenfold.ones(2, 2) + 1
    aten.ones.default
    aten.ones.default
    aten.mm.default
    aten.add.Tensor
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            raise NotImplementedError(
                f"{type(self).__name__}: modes are asked beneath autograd, for no other of PyTorch's dispatch keys"
            )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_dispatch__(self, func, types, args, kwargs)")

    def __enter__(self) -> Any:
        enter(self)
        return self

    def __exit__(self, *exc: object) -> Any:
        leave(self)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """PyTorch's old way to make a mode that is then entered."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """False: PyTorch's compiler has modes of its own kind."""
        return False


def _get_current_dispatch_mode() -> Any:
    """The innermost mode, or None."""
    return STATE.beneath[-1] if STATE.beneath else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes that this thread has entered, innermost last."""
    return list(STATE.beneath)


@contextmanager
def _pop_mode_temporarily(_: Any = None) -> Iterator[Any]:
    """Run a block without the innermost mode."""
    modes = STATE.beneath
    STATE.beneath = modes[:-1]
    try:
        yield modes[-1]
    finally:
        STATE.beneath = modes


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Run a block with none of this thread's modes."""
    modes = list(STATE.beneath)
    with Suspended():
        yield modes


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class of tensors says how they are taken apart into plain tensors and made again."""
    return issubclass(t, Tensor) and t is not Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor's class says how it is taken apart into plain tensors and made again.

    >>> import tenfold
    >>> is_traceable_wrapper_subclass(tenfold.ones(2))
    False
    """
    return is_traceable_wrapper_subclass_type(type(t))


def transform_subclass(t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None, outer_stride: Any = None) -> Any:
    """The tensor made again of its inner tensors, each replaced by `callback(name, inner)`."""
    names, context = t.__tensor_flatten__()
    made = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    return type(t).__tensor_unflatten__(made, context, size, t.stride() if outer_stride is None else outer_stride)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """What a wrapper's `__torch_dispatch__` returns: of a write the tensor that was written, else `out`."""
    if func._opname.endswith("_") and not func._opname.endswith("__") and args and asks(type(args[0])):
        return args[0]
    return out
