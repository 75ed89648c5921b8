"""What nodes save for the backward pass, as users may see and replace it: `saved_tensors_hooks`, `grad_fn._saved_self`.

A node keeps what its rule names in slots, which its generated code reads. Where hooks are set, an object of theirs takes
the place of the tensor, and the node changes into a class that calls the unpacking hook before it runs; nodes without
hooks know nothing of this.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from tenfold.autograd.nodes import RELEASED, Node
from tenfold.autograd.recording import alias, modified, second_time
from tenfold.autograd.watch import WATCH
from tenfold.dispatch.gradmode import no_grad
from tenfold.tensor.tensor import Tensor

Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


class _ThreadHooks(threading.local):
    """The pairs of hooks that this thread has set, innermost last, and why it may not set more."""

    stack: tuple[Hooks, ...] = ()
    forbidden: str | None = None


HOOKS = _ThreadHooks()


def current_hooks() -> Hooks | None:
    """The innermost pair of hooks of this thread."""
    return HOOKS.stack[-1] if HOOKS.stack else None


class Packed:
    """What a packing hook made of a saved tensor, and the tensor's place in the graph."""

    __slots__ = ("own", "place", "unpack", "value")

    def __init__(self, tensor: Tensor, hooks: Hooks, own: bool = False) -> None:
        pack, self.unpack = hooks
        self.own, self.place = own, None if own else tensor._node  # a node's own result must not hold the node
        given = tensor.detach() if own else tensor  # itself, so that a hook can tell parameters and inputs
        before = given._version
        with no_grad():
            self.value = pack(given)
        if given._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
                "modified by in-place operations as this can lead to unexpected side-effects; clone the tensor first."
            )

    def tensor(self) -> Tensor:
        """The tensor that the unpacking hook returns, at the place of the one that was saved."""
        found = self.unpack(self.value)
        if not isinstance(found, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(found)}")
        found.untyped_storage()  # has a version to compare
        if found._node is not self.place and not self.own:
            found = alias(found)
            found._node = self.place
        return found


class WithHooks:
    """Mixed into a node's class: puts the unpacked tensors into the slots while the node runs."""

    __slots__ = ()
    plain: Any

    def apply(self: Any, g: Any, wanted: Any) -> Any:
        packed = self._extra["packed"]
        if packed is None:
            raise second_time(self)
        for (field, position), entry in packed.items():
            _fill(self, field, position, entry.tensor())
        try:
            return self.plain.apply(self, g, wanted)
        finally:
            for field, position in packed:
                _clear(self, field, position)

    def release(self: Any) -> None:
        self.plain.release(self)
        self._extra["packed"] = None


@cache
def _with_hooks(plain: Hashable) -> type:
    own: Any = plain
    return type(own.__name__, (WithHooks, own), {"__slots__": (), "plain": plain})


def _fill(node: Any, field: str, position: int | None, tensor: Tensor) -> None:
    if position is None:
        setattr(node, "s_" + field, tensor)
        setattr(node, "v_" + field, tensor._version)
    else:
        getattr(node, "s_" + field)[position] = tensor
        getattr(node, "v_" + field)[position] = tensor._version


def _clear(node: Any, field: str, position: int | None) -> None:
    if position is None:
        setattr(node, "s_" + field, None)
    elif getattr(node, "s_" + field) is not RELEASED:
        getattr(node, "s_" + field)[position] = None


def pack(node: Any) -> None:
    """Hand everything that a new node saved to the thread's hooks, if it has set some."""
    hooks = current_hooks()
    if hooks is None:
        return
    for field in node.tensors:
        value = getattr(node, "s_" + field)
        for position, tensor in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(tensor, Tensor):
                pack_one(node, field, position, hooks)


WATCH.watchers.append(pack)


def pack_one(node: Any, field: str, position: int | None, hooks: Hooks) -> None:
    """Hand one saved tensor of a node to a pair of hooks."""
    value = getattr(node, "s_" + field)
    entry = Packed(value if position is None else value[position], hooks, re.fullmatch(r"out\d*", field) is not None)
    node.extras().setdefault("packed", {})[field, position] = entry
    _clear(node, field, position)
    if not isinstance(node, WithHooks):
        kind: Any = type(node)
        node.__class__ = _with_hooks(kind)


# What users see of it


class SavedTensor:
    """One tensor that a node saved: `grad_fn._raw_saved_self`."""

    __slots__ = ("_field", "_node", "_position")
    _field: str
    _node: Any
    _position: int | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Trying to create a SavedTensor object from Python is forbidden: they come from nodes (grad_fn._raw_saved_...)"
        )

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Keep what `pack_hook(tensor)` returns, until `unpack_hook` makes the tensor of it again."""
        self._node.set_saved_hooks(self._field, self._position, (pack_hook, unpack_hook))

    @property
    def unpack_hook(self) -> Any:
        """The hook that makes the tensor again, if one is set."""
        packed = (self._node._extra or {}).get("packed") or {}
        entry = packed.get((self._field, self._position))
        return None if entry is None else entry.unpack


def raw_saved(node: Any, field: str, position: int | None) -> SavedTensor:
    made: SavedTensor = object.__new__(SavedTensor)
    made._node, made._field, made._position = node, field, position
    return made


def set_hooks(node: Any, field: str, position: int | None, hooks: Hooks) -> None:
    """Set the hooks of one saved tensor; RuntimeError when it has some, is no tensor or was freed."""
    value = getattr(node, "s_" + field)
    if value is RELEASED:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed "
            "when you call .backward() or autograd.grad()."
        )
    if (node._extra or {}).get("packed") and (field, position) in node._extra["packed"]:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
            "allowed at a time."
        )
    if (value if position is None else value[position]) is None:
        raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
    pack_one(node, field, position, hooks)


_SPOKEN = {"input": ("self", "mat1", "vec1"), "out": ("result",)}


class SavedField:
    """`node._saved_NAME`, or `node._raw_saved_NAME`, of one field of a class of nodes.

    A property by hand, for a `__getattr__` would slow every attribute of every node.
    """

    __slots__ = ("field", "raw")

    def __init__(self, field: str, raw: bool) -> None:
        self.field, self.raw = field, raw

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        return raw_value(node, self.field) if self.raw else saved_value(node, self.field)


def show_fields(cls: Any) -> None:
    """Give a class of nodes the attributes by which users see what its nodes save, under our names and PyTorch's."""
    for field in cls.fields:
        for name in _names_of(field):
            setattr(cls, "_saved_" + name, SavedField(field, raw=False))
            if field in cls.tensors:
                setattr(cls, "_raw_saved_" + name, SavedField(field, raw=True))


def _names_of(field: str) -> Iterator[str]:
    """What PyTorch may call a saved value: `self` for the input, `result` for the output, `self_sizes` for a shape."""
    yield field
    source = field.removesuffix("_shape")
    spoken = _SPOKEN.get(source, ())
    if source != field:
        yield from (name + ending for name in (source, *spoken) for ending in ("_sizes", "_sym_sizes"))
        return
    yield from spoken
    if re.fullmatch(r"out\d+", field):
        yield field.replace("out", "result")


def raw_value(node: Any, field: str) -> Any:
    """The saved tensor as an object that takes hooks, or one for each tensor of a list."""
    value = getattr(node, "s_" + field)
    several = isinstance(value, list)
    return tuple(raw_saved(node, field, i) for i in range(len(value))) if several else raw_saved(node, field, None)


def saved_value(node: Any, field: str) -> Any:
    """What a node saved; RuntimeError when it was freed."""
    value = getattr(node, "s_" + field)
    if field not in node.tensors:
        return value
    if value is RELEASED:
        raise second_time(node)
    if isinstance(value, list):
        return tuple(_checked(node, field, i, x) for i, x in enumerate(value))
    return _checked(node, field, None, value)


Node.set_saved_hooks, Node.show_fields = set_hooks, classmethod(show_fields)


def _checked(node: Any, field: str, position: int | None, value: Any) -> Any:
    packed = (node._extra or {}).get("packed") or {}
    entry = packed.get((field, position))
    tensor = value if entry is None else entry.tensor()
    if not isinstance(tensor, Tensor):
        return tensor
    if entry is None:
        version = getattr(node, "v_" + field)
        version = version if position is None else version[position]
        if tensor._version != version:
            raise modified(node, field, tensor, version)
    if re.fullmatch(r"out", field):
        tensor = alias(tensor)
        tensor._node = node
    return tensor


@contextmanager
def hooked(hooks: Hooks) -> Iterator[None]:
    """Run a block with a pair of hooks set."""
    if HOOKS.forbidden is not None:
        raise RuntimeError(HOOKS.forbidden)
    outer = HOOKS.stack
    HOOKS.stack = (*outer, hooks)
    WATCH.count(1)
    try:
        yield
    finally:
        HOOKS.stack = outer
        WATCH.count(-1)


@contextmanager
def without_hooks() -> Iterator[None]:
    """Run a block with no hooks set."""
    outer, HOOKS.stack = HOOKS.stack, ()
    try:
        yield
    finally:
        HOOKS.stack = outer


__all__ = ["HOOKS", "Hooks", "Packed", "SavedTensor", "current_hooks", "hooked", "raw_saved", "without_hooks"]
