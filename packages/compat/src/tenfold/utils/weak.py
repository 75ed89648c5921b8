"""`torch.utils.weak`: dictionaries whose keys are objects by identity, and go when the objects go.

Tensors compare element by element, so that Python's own `weakref.WeakKeyDictionary` cannot hold them.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Self

from tenfold import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary", "ref"]

ref = WeakRef = weakref.ref


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is equal to another if both are to the same object."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg] # typeshed has weakref.ref's __new__ alone
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or its is None else mine is its


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary by its keys' identity that holds its keys weakly.

    >>> import tenfold
    >>> key = tenfold.ones(2)
    >>> table = WeakIdKeyDictionary({key: 1})
    >>> table[key], tenfold.ones(2) in table
    (1, False)
    >>> del key
    >>> len(table)
    0
    """

    def __init__(self, dict: Mapping[Any, Any] | None = None, ref_type: type[weakref.ref[Any]] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type: Any = ref_type
        mine = weakref.ref(self)

        def forget(reference: Any) -> None:
            table = mine()
            if table is not None:
                table.data.pop(reference, None)

        self._remove = forget
        self.update({} if dict is None else dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            reference = self.ref_type(key)
        except TypeError:  # of a kind that has no weak references
            return False
        return reference in self.data

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __copy__(self) -> WeakIdKeyDictionary:
        return type(self)(self)

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        made = type(self)()  # of the same keys: a copy of one would be nobody's, and go at once
        for key, value in self.items():
            made[key] = copy.deepcopy(value, memo)
        return made

    def update(self, other: Any = (), /, **named: Any) -> None:
        """Take over the pairs of a mapping, or those of a sequence: all are read before the first is kept."""
        pairs = other.items() if hasattr(other, "items") else dict(other).items()
        super().update(list(pairs), **named)

    def keyrefs(self) -> list[Any]:
        """The weak references to the keys."""
        return list(self.data)

    def __or__(self, other: Mapping[Any, Any]) -> WeakIdKeyDictionary:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Mapping[Any, Any]) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        both = type(self)(other)
        both.update(self)
        return both

    def __ior__(self, other: Mapping[Any, Any]) -> Self:
        self.update(other)
        return self


class WeakTensorKeyDictionary(WeakIdKeyDictionary):
    """A `WeakIdKeyDictionary` whose keys are tensors."""


class TensorWeakRef:
    """A weak reference to a tensor: called, it gives the tensor, or None after its end.

    >>> import tenfold
    >>> x = tenfold.ones(2)
    >>> reference = TensorWeakRef(x)
    >>> reference() is x
    True
    >>> del x
    >>> reference() is None
    True
    """

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
