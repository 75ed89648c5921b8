"""Modules that hold parameters (or any values): in a list, a dictionary."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, KeysView
from typing import Any, NoReturn, Self

from tenfold import Tensor
from tenfold.nn.container import pairs_of
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


def _as_member(value: Any) -> Any:
    """Tensors become parameters; everything else is kept as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(label: str, value: Any, kind: str) -> str:
    """One line of the repr of a container."""
    if not isinstance(value, Tensor):
        return f"  ({label}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.size())
    device = "" if value.device.type in ("cpu", "meta") else f" ({value.device})"
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({label}): {name} containing: [{kind} of size {size}{device}]"


class ParameterList(Module):
    """A list whose tensors are registered as parameters; other values are kept as they are.

    Args: values, any iterable.

    >>> import tenfold
    >>> params = ParameterList([tenfold.ones(2), tenfold.ones(3)])
    >>> [p.numel() for p in params.parameters()]
    [2, 3]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _position(self, idx: Any) -> str:
        index: int = operator.index(idx)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range: ParameterList has {len(self)} values")
        return str(index % len(self))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)([self[i] for i in range(*idx.indices(len(self)))])
        return getattr(self, self._position(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._position(idx), _as_member(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Adds a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Any) -> Self:
        """Adds all `values` at the end; raises TypeError for a tensor or something that is not iterable."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line a value."""
        return "\n".join(
            _described(str(i), value, str(value.dtype) if isinstance(value, Tensor) else "") for i, value in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary, in order of insertion, whose tensors are registered as parameters; other values are kept as they are.

    Args: parameters, a mapping or an iterable of (string, value) pairs. A plain mapping other than an OrderedDict or a
    ParameterDict is taken in order of its keys.

    >>> import tenfold
    >>> ParameterDict({"w": tenfold.ones(2)})["w"].requires_grad
    True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, self._attribute(key), _as_member(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new dictionary of the same values."""
        return ParameterDict([(key, self[key]) for key in self._keys])

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value under `key`, after setting it to `default` where it was missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Removes everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Takes out the value under `key` and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes out the last pair and returns it; raises KeyError when empty."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value under `key`, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dictionary of `keys`, each with the value `default`."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The (key, value) pairs."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Adds a mapping's or an iterable's (key, value) pairs, over existing keys; raises TypeError or ValueError for
        other input.
        """
        ordered = isinstance(parameters, ParameterDict) or type(parameters) is not dict
        for key, value in pairs_of("ParameterDict", parameters, sort=not ordered):
            self[key] = value

    def extra_repr(self) -> str:
        """One line a value."""
        return "\n".join(_described(key, value, value.type() if isinstance(value, Tensor) else "") for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> ParameterDict:
        return self.copy().__ior__(other)

    def __ror__(self, other: Any) -> ParameterDict:
        merged = other.copy()
        merged.update(self)
        return merged  # type: ignore[no-any-return]

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self
