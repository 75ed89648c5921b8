"""Calls of Tenfold beside PyTorch's, or made in two ways: what came of one, an error too, and whether both were refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import tenfold
from tenfold.dispatch.overrides import TorchFunctionMode
from tenfold.llvm.session import session


def outcome(call: Any, *given: Any, **named: Any) -> Any:
    """The result of a call, or its error."""
    try:
        return call(*given, **named)
    except Exception as error:  # noqa: BLE001 - compared
        return error


def refused_alike(ours: Any, theirs: Any, what: Any) -> bool:
    """Whether PyTorch refuses a call, as then Tenfold must by an error of that type, and only then."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (what, ours, theirs)
        return True
    assert not isinstance(ours, Exception), (what, ours)
    return False


def results(call: Any, told: Any) -> Any:
    """What `told` says of each result of a call, or of its error."""
    made = outcome(call)
    if isinstance(made, Exception):
        return told(made)
    return [told(y) for y in (made if isinstance(made, (tuple, list)) else (made,))]


def seen(y: Any) -> Any:
    """What both libraries say of a result."""
    if isinstance(y, Exception):
        return type(y).__name__
    steps = [s for n, s in zip(y.shape, y.stride(), strict=True) if n > 1] if y.numel() else None
    return str(y.dtype).rpartition(".")[2], tuple(y.shape), steps, repr(y.detach().tolist()), y.requires_grad


def seen_whole(y: Any) -> Any:
    """What Tenfold says of it besides."""
    if isinstance(y, Exception):
        return type(y).__name__, str(y)
    told = seen(y), y.stride(), y.grad_fn and y.grad_fn.name(), y.is_inference()
    return told if y.is_inference() else (*told, y._version, y._is_view(), y._is_view() and getattr(y, "_origin", None))


def same_both_ways(call: Any, what: Any) -> None:
    """A call by the native call paths tells what the ordinary way tells, once its first has found the kernels."""
    call()
    quick = call()
    with session().paths.suspended():
        assert quick == call(), what


def same_from_every_source(case: Any, sources: Mapping[str, Any], array: Any) -> None:
    """The same of a case's call on each tensor that is made of an array, in each mode of recording."""
    tenfold.exp(tenfold.ones(3))  # brings native code
    if session().paths is None:
        pytest.skip("no native call paths here")
    for source, made in sources.items():
        for mode in ("enable_grad", "no_grad", "inference_mode"):
            x = made(tenfold, array)
            with getattr(tenfold, mode)():
                same_both_ways(lambda x=x: results(lambda: case(tenfold, x), seen_whole), (source, mode))


def watchers() -> tuple[type, type, list[Any]]:
    """A class of tensors and a mode that see functions, and the list of those that they have seen."""
    seen: list[Any] = []

    class Told(tenfold.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    return Told, Mode, seen


def seen_by_classes_and_modes(call: Any, x: Any, name: str) -> None:
    """A call that was made before is seen, by its function's name, by a class of its tensor and by a mode."""
    call(x)
    told, mode, found = watchers()
    call(x.as_subclass(told))
    assert name in [function.__name__ for function in found]
    found.clear()
    with mode():
        call(x)
    assert name in [function.__name__ for function in found]
