"""Forward mode by hand (PyTorch's `torch.autograd.forward_ad`): tensors that carry a tangent while a level is entered."""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.autograd.dual_level import DRAWN_AROUND, DualLevel
from tenfold.autograd.function import RUNNING
from tenfold.autograd.levels import LevelBackend, LevelKey
from tenfold.autograd.nodes import NUMBERS, Node
from tenfold.autograd.recording import alias
from tenfold.autograd.tangents import draws
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.factories import zeros
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: the value, and its tangent or None."""

    primal: Tensor
    tangent: Tensor | None


_current_level = -1  # 0 inside the one level that there can be; PyTorch's programs read it


class _Alias(Node):
    """A dual tensor, as far as the tape is concerned: the same as what it was made of."""

    __slots__ = ()
    keeps = False

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        return (g,)


_Alias.__name__ = "AliasBackward0"


def _behind(node: Any, tensor: Any) -> Any:
    """A place in the graph behind another one, for a tensor."""
    made = object.__new__(_Alias)
    made._next, made._shape, made._extra, made._number = (node,), tensor._array.shape, None, next(NUMBERS)
    return made


class _Followed(Storage):
    """The memory of a dual tensor, which is its value's: who writes to that writes to the dual tensor, which sees the version."""

    __slots__ = ("value",)

    def __init__(self, dual: Tensor, value: Tensor) -> None:
        self.value = value
        super().__init__(dual._array, dual._key)

    @property
    def version(self) -> int:
        storage = self.value._storage
        return 0 if storage is None else storage.version

    @version.setter
    def version(self, value: int) -> None:
        """A write through the dual tensor is counted where the value is written."""


class _UserBackend(LevelBackend):
    def data_ptr(self, array: Any) -> int:
        return array.value.data_ptr()  # type: ignore[no-any-return]


class _UserKey(LevelKey):
    """The key of dual tensors: they lie where their values do."""

    __slots__ = ()
    backend = _UserBackend()


class _UserLevel(DualLevel):
    """A level entered with `enter_dual_level`, of which there is one at a time.

    Users see one tape: it records calls with dual tensors and saves these, so that gradients get tangents. Tensors of lower
    levels are on it where they are; of what was recorded with values alone each wrapper gets a place behind its value's.
    """

    by_hand = True
    key_type = _UserKey

    def wrap(self, primal: Tensor, tangent: Tensor | None) -> Tensor:
        made = super().wrap(primal, tangent)
        if primal._node is not None:
            made._node = _behind(primal._node, primal)
        return made

    def follows(self, tensor: Tensor) -> bool:
        return tensor._node is not None

    def lifted(self, value: Any) -> Any:
        return value

    def handles(self, operator: Any) -> bool:
        if draws(operator) and operator.name not in DRAWN_AROUND and not operator.name.endswith("_"):
            return False  # what is drawn inside the level is an ordinary tensor
        return super().handles(operator)

    def repr_of(self, tensor: Tensor) -> str:
        primal, tangent = self.unwrap(tensor)
        return repr(primal) if tangent is None else f"{repr(primal)[:-1]}, tangent={tangent!r})"


def _entered() -> _UserLevel | None:
    return next((t for t in reversed(STATE.transforms) if isinstance(t, _UserLevel)), None)


def enter_dual_level() -> int:
    """Enter the forward-mode level and return its number; RuntimeError when it is entered already."""
    global _current_level
    if _entered() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment; tenfold.func.jvp nests")
    _UserLevel().__enter__()
    _current_level = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level: its dual tensors lose their tangents."""
    global _current_level
    found = _entered()
    if found is None or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    found.__exit__()
    _current_level = -1


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


def _innermost() -> DualLevel | None:
    return next((t for t in reversed(STATE.transforms) if isinstance(t, DualLevel)), None)


def _is_fwd_grad_enabled() -> bool:
    """Whether the innermost level pushes tangents on; none does inside a custom Function's forward."""
    found = _innermost()
    return not RUNNING.forward and (found is None or found.enabled)


class _set_fwd_grad_enabled:  # noqa: N801 - PyTorch's name
    """A context in which results have no tangents of the innermost level (False), or have them again (True)."""

    def __init__(self, mode: bool) -> None:
        self.level, self.mode = _innermost(), mode

    def __enter__(self) -> None:
        if self.level is not None:
            self.before, self.level.enabled = self.level.enabled, self.mode

    def __exit__(self, *exc: object) -> None:
        if self.level is not None:
            self.level.enabled = self.before


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent of its shape, whose dtype may be another. Raises RuntimeError outside a level."""
    found = _entered()
    if found is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if found.owns(tangent) and found.unwrap(tangent)[1] is not None:
        raise RuntimeError(
            "make_dual: the given tangent is a tensor that has a forward gradient at the same level; unpack it first"
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            f"Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    primal = found.unwrap(tensor)[0]
    made = found.wrap(primal, tangent if _lies_alike(primal, tangent) else _laid_out(primal, tangent))
    made._node = None if tensor._node is None else _behind(tensor._node, tensor)
    return _following(made, primal)


def _following(dual: Tensor, value: Tensor) -> Tensor:
    """The dual tensor, whose versions are from now on those of its value, which others have, too."""
    if dual._storage is None:
        dual._storage = _Followed(dual, value)
    return dual


def _lies_alike(primal: Tensor, tangent: Tensor) -> bool:
    """Whether every view of the primal has its counterpart of the tangent: they lie in memories of one size in one way."""
    if primal._key.level is not None or tangent._key.level is not None or primal.layout is not tangent.layout:
        return True
    if primal._storage is None and tangent._storage is None and primal._array.strides == tangent._array.strides:
        return True
    if not primal.numel():
        return True
    where = (primal.stride(), primal.storage_offset(), primal.untyped_storage().nbytes())
    return where == (tangent.stride(), tangent.storage_offset(), tangent.untyped_storage().nbytes())


def _laid_out(primal: Tensor, tangent: Tensor) -> Tensor:
    """A copy of the tangent that lies in memory of its own as the primal does."""
    whole = zeros((primal.untyped_storage().nbytes() // primal.itemsize,), dtype=tangent.dtype, device=tangent.device)
    return whole.as_strided(primal.shape, primal.stride(), primal.storage_offset()).copy_(tangent)


def has_tangent(tensor: Any) -> bool:
    """Whether a tensor has a tangent in the innermost level of forward mode."""
    found = _innermost()
    return found is not None and found.unwrap(tensor)[1] is not None


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent (None: it has none, or no level is entered)."""
    found = _entered()
    if found is None:
        key = tensor._key
        return UnpackedDualTensor(
            key.transform.readable(tensor) if isinstance(getattr(key, "transform", None), _UserLevel) else tensor, None
        )
    primal, tangent = found.unwrap(tensor)
    if primal is not tensor:  # a tensor of its own each time
        _following(tensor, primal)
        node = primal._node if tensor._node is None else tensor._node
        primal = alias(primal)
        primal._node = node
    return UnpackedDualTensor(primal, tangent)


__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
