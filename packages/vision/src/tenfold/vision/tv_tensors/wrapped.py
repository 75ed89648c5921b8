"""The class that all of these tensors share: operators give plain tensors back, unless asked otherwise."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import tenfold
from tenfold import Tensor
from tenfold.dispatch.overrides import DisableTorchFunctionSubclass

KEEP = frozenset(("clone", "detach", "requires_grad_", "to"))  # these give the same thing, elsewhere or in another dtype


class TVTensor(Tensor):
    """A tensor with a meaning; its operators give plain tensors, but ``clone to detach requires_grad_`` keep the class.

    >>> from tenfold.vision import tv_tensors
    >>> picture = tv_tensors.Image(tenfold.zeros(3, 2, 2))
    >>> type(picture + 1).__name__, type(picture.to(tenfold.float64)).__name__
    ('Tensor', 'Image')
    """

    _details: ClassVar[tuple[str, ...]] = ()  # what a tensor of this class knows beside its elements

    @classmethod
    def _made(cls, data: Any, details: dict[str, Any], dtype: Any, device: Any, requires_grad: bool | None) -> Self:
        """Raises nothing of its own: what `as_tensor` refuses is refused."""
        grad = requires_grad if requires_grad is not None else isinstance(data, Tensor) and data.requires_grad
        plain = data.as_subclass(Tensor) if isinstance(data, TVTensor) else data
        return cls._dressed(tenfold.as_tensor(plain, dtype=dtype, device=device).requires_grad_(grad), details)

    @classmethod
    def _dressed(cls, plain: Tensor, details: dict[str, Any]) -> Self:
        made: Self = plain.as_subclass(cls)
        vars(made).update(details)
        return made

    def _known(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._details}

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        own = next((a for a in args if isinstance(a, cls)), None)
        name = getattr(func, "__name__", "")
        keeps = name in KEEP and isinstance(args[0], cls)
        if own is not None and (keeps or _Returned.subclass):
            return _each(result, lambda tensor: tensor if isinstance(tensor, cls) else cls._dressed(tensor, own._known()))
        return _each(result, lambda tensor: tensor.as_subclass(Tensor))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copy = type(self)._dressed(self.as_subclass(Tensor).detach().clone().requires_grad_(self.requires_grad), self._known())
        memo[id(self)] = copy
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self), self.as_subclass(Tensor), self._known())

    def __repr__(self, tensor_contents: Any = None) -> str:
        text = repr(self.as_subclass(Tensor).detach())
        body = text.removeprefix("tensor(").removesuffix(")")
        details = ", ".join(f"{name}={value}" for name, value in self._known().items())
        return f"{type(self).__name__}({', '.join(part for part in (body, details) if part)})"


def _rebuilt(cls: type[TVTensor], plain: Tensor, details: dict[str, Any]) -> TVTensor:
    return cls._dressed(plain, details)


def _each(result: Any, change: Any) -> Any:
    if isinstance(result, Tensor):
        return change(result)
    if isinstance(result, tuple | list):
        made = [_each(part, change) for part in result]
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    return result


class _Returned:
    """What operators on these tensors give, for all of the process."""

    subclass = False


class set_return_type:  # noqa: N801 - torchvision names it so
    """Have operators give "Tensor" (as at first) or the "TVTensor" they were called on; as a context, for a while.

    >>> from tenfold.vision import tv_tensors
    >>> with tv_tensors.set_return_type("TVTensor"):
    ...     type(tv_tensors.Mask([1]) + 1).__name__
    'Mask'

    Raises:
        ValueError: another name.
    """

    def __init__(self, return_type: str) -> None:
        names = {"tensor": False, "tvtensor": True}
        if return_type.lower() not in names:
            raise ValueError(f"set_return_type: return_type should be 'Tensor' or 'TVTensor', got {return_type!r}")
        self._before = _Returned.subclass
        _Returned.subclass = names[return_type.lower()]

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        _Returned.subclass = self._before


def wrap(wrappee: Tensor, *, like: Any, **kwargs: Any) -> Any:
    """The plain tensor as one like another, with its canvas size and format unless given otherwise.

    >>> from tenfold.vision import tv_tensors
    >>> wrap(tenfold.zeros(1, 2, 2), like=tv_tensors.Image(tenfold.ones(1, 2, 2))).shape
    tenfold.Size([1, 2, 2])

    Raises:
        TypeError: what it is like knows nothing of this name.
    """
    unknown = [name for name in kwargs if name not in like._details]
    if unknown:
        raise TypeError(f"wrap: {type(like).__name__} has no {unknown[0]!r}; it has {', '.join(like._details) or 'no details'}")
    plain = wrappee.as_subclass(Tensor) if isinstance(wrappee, TVTensor) else wrappee
    return type(like)._dressed(plain, {**like._known(), **kwargs})
