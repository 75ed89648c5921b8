"""Modules that hold modules: in a chain, a list, a dictionary."""

from __future__ import annotations

import operator
import warnings
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Self

from tenfold.nn.module import Module, _block, indented

__all__ = ["Container", "ModuleDict", "ModuleList", "Sequential"]


class Container(Module):
    """Submodules by keyword; deprecated: a `Module` does all of it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """What `Sequential` and `ModuleList` share: submodules named "0", "1", ... in order."""

    _modules: dict[str, Module]  # type: ignore[assignment]

    def _index(self, idx: Any) -> int:
        """`idx` as a position from the front; raises IndexError out of range."""
        position: int = operator.index(idx)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range: {type(self).__name__} has {len(self)} modules")
        return position % len(self)

    def _refill(self, modules: Iterable[Module]) -> None:
        """Makes `modules` the content, numbered from 0 on."""
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def _like(self, modules: Iterable[Module]) -> Any:
        """A new container of this class with `modules` in it."""
        raise NotImplementedError(type(self).__name__)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return self._like(list(self)[idx])
        return list(self)[self._index(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, list(self._modules)[self._index(idx)], module)

    def __delitem__(self, idx: Any) -> None:
        left = list(self)
        del left[idx if isinstance(idx, slice) else self._index(idx)]
        self._refill(left)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module) -> Self:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: Any) -> Any:
        """Takes out the module at index `key` (or the modules of a slice) and returns it."""
        taken = self[key]
        del self[key]
        return taken


class Sequential(_Numbered):
    """Calls its modules one after the other, each with the result of the one before.

    Args: the modules in order, or one OrderedDict of names and modules.

    >>> import tenfold
    >>> from tenfold.nn import Identity
    >>> Sequential(Identity(), Identity())(3)
    3
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def _like(self, modules: Iterable[Module]) -> Sequential:
        return type(self)(*modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):  # names are kept
            return type(self)(dict(list(self._modules.items())[idx]))
        return super().__getitem__(idx)

    def __delitem__(self, idx: Any) -> None:
        names = list(self._modules)
        for name in names[idx] if isinstance(idx, slice) else [names[self._index(idx)]]:
            delattr(self, name)
        self._refill(self._modules.values())

    def forward(self, input: Any) -> Any:
        """The result of the last module."""
        for module in self:
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Self:
        """Puts a module before position `index`; raises IndexError out of range, AssertionError for something else than
        a module.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"Sequential.insert: module should be of type {Module}, got {type(module)}")
        count = len(self)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index} in a Sequential of {count} modules")
        content = list(self)
        content.insert(index, module)
        self._refill(content)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds all modules of `sequential` at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *_a_sequential(other))

    def __iadd__(self, other: Any) -> Self:
        return self.extend(list(_a_sequential(other)))

    def __mul__(self, other: Any) -> Sequential:
        return Sequential(*list(self) * _a_factor(other))

    __rmul__ = __mul__

    def __imul__(self, other: Any) -> Self:
        return self.extend(list(self) * (_a_factor(other) - 1))


def _a_sequential(value: Any) -> Sequential:
    if not isinstance(value, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(value)} is given.")
    return value


def _a_factor(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(value)}")
    if value <= 0:
        raise ValueError(f"Non-positive multiplication factor {value} for {Sequential}")
    return value


class ModuleList(_Numbered):
    """A list whose modules are registered, and so found by `parameters()` and the like.

    Args: modules, any iterable.

    >>> import tenfold
    >>> from tenfold.nn import Identity
    >>> len(ModuleList([Identity()]) + [Identity()])
    2
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _like(self, modules: Iterable[Module]) -> ModuleList:
        return type(self)(modules)

    def insert(self, index: int, module: Module) -> None:
        """Puts a module before position `index`, as `list.insert`."""
        content = list(self)
        content.insert(index, module)
        self._refill(content)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Adds all `modules` at the end; raises TypeError for something that is not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        runs: list[list[Any]] = []  # [first, last, repr] of neighbours that print alike
        for i, text in enumerate(repr(module) for module in self):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({a}): {indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indented(text)}" for a, b, text in runs]
        return _block(self._get_name(), [], lines)


class ModuleDict(Module):
    """A dictionary, in order of insertion, whose modules are registered.

    Args: modules, a mapping or an iterable of (key, module) pairs.

    >>> import tenfold
    >>> from tenfold.nn import Identity
    >>> list(ModuleDict({"a": Identity()}))
    ['a']
    """

    _modules: dict[str, Module]  # type: ignore[assignment]

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes everything."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Takes out the module under `key` and returns it; raises KeyError without one."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The (key, module) pairs."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Adds a mapping's or an iterable's (key, module) pairs, over existing keys; raises TypeError or ValueError for
        other input.
        """
        for key, module in pairs_of("ModuleDict", modules):
            self[key] = module


def pairs_of(owner: str, source: Any, sort: bool = False) -> list[tuple[Any, Any]]:
    """The (key, value) pairs of a mapping or of an iterable of pairs, checked; plain dictionaries sorted by key when `sort`."""
    if not isinstance(source, Iterable):
        raise TypeError(f"{owner}.update should be called with an iterable of key/value pairs, but got {type(source).__name__}")
    if isinstance(source, Mapping) or hasattr(source, "items"):
        pairs = list(source.items())
        return sorted(pairs) if sort else pairs
    result = []
    for position, pair in enumerate(source):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{position} should be Iterable; is {type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{owner} update sequence element #{position} has length {len(pair)}; 2 is required")
        result.append(pair)
    return result
