"""Forward mode by hand (PyTorch's `torch.autograd.forward_ad`): tensors that carry a tangent while a level is entered."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.autograd.dual_level import DualLevel
from tenfold.dispatch.runtime import STATE
from tenfold.tensor.tensor import Tensor


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the value, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


class _UserLevel(DualLevel):
    """A level entered with `enter_dual_level`, of which there is one at a time."""


def _entered() -> _UserLevel | None:
    return next((t for t in reversed(STATE.transforms) if isinstance(t, _UserLevel)), None)


def enter_dual_level() -> int:
    """Enter the forward-mode level and return its number; RuntimeError when it is entered already."""
    if _entered() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment; tenfold.func.jvp nests")
    return int(_UserLevel().__enter__().level)


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: its dual tensors lose their tangents."""
    found = _entered()
    if found is None or (level is not None and level != found.level):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    found.__exit__()


class dual_level:  # noqa: N801 - PyTorch's name
    """A context in which tensors may carry tangents.

    >>> import tenfold
    >>> from tenfold.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(tenfold.tensor(3.0), tenfold.tensor(1.0))
    ...     forward_ad.unpack_dual(x * x).tangent
    tensor(6.)
    """

    def __enter__(self) -> int:
        self.level = enter_dual_level()
        return self.level

    def __exit__(self, *exc: object) -> None:
        exit_dual_level(level=self.level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent of its shape and dtype. Raises RuntimeError outside a level."""
    found = _entered()
    if found is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"make_dual: expected a tangent of shape {list(tensor.shape)}, got {list(tangent.shape)}")
    if tensor.dtype is not tangent.dtype:
        raise RuntimeError(f"make_dual: expected a tangent of dtype {tensor.dtype}, got {tangent.dtype}")
    return found.wrap(found.unwrap(tensor)[0], tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent (None: it has none, or no level is entered)."""
    found = _entered()
    if found is None:
        key = tensor._key
        return UnpackedDualTensor(
            key.transform.readable(tensor) if isinstance(getattr(key, "transform", None), _UserLevel) else tensor, None
        )
    return UnpackedDualTensor(*found.unwrap(tensor))


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
