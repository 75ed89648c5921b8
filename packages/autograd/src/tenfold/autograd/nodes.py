"""The nodes of the gradient graph. Each has one gradient slot: results of several outputs go through `Output` nodes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from tenfold.autograd.handles import add_hook


class Released:
    """What a node holds after its saved tensors were freed."""

    def __repr__(self) -> str:
        return "<released>"


RELEASED = Released()

# Nodes are numbered as they are made: of those that are ready, a backward pass runs the latest first. Leaves, whose number
# is above all others, run at once; the places of results, above leaves, only lead to their node.
NUMBERS = count()
# Functions of a device that has several queues of work: called before a backward pass, each gives what is called behind it.
AROUND: list[Callable[[], Callable[[], object]]] = []
_FORMER = 8  # shapes that a leaf had and that graphs may still know
LEAF, PLACE = 2**64 - 1, 2**64
ROOM = "torch::autograd::"  # before the names of nodes that are no operator's


class Node:
    """One recorded operation; `apply(g, wanted)` returns the gradients for `next`, None where there is none."""

    # Underscored, for the nodes of custom Functions are the `ctx` on which users may set any name.
    __slots__ = ("__weakref__", "_extra", "_next", "_number", "_shape")
    is_leaf = False
    of_base = False  # a leaf's that requires gradients only because its base does
    is_output = False
    is_multiple = False  # its gradient is a list, one entry for each result
    output_nr = 0
    keeps = True  # whether there is something to release
    fields: tuple[str, ...] = ()  # what it saves, in slots s_NAME
    tensors: tuple[str, ...] = ()  # those of them that are tensors, with versions in v_NAME
    _room = ""  # what `name` puts before the class's name
    label: Any = None  # a function of the node that gives its name, where that depends on the call

    # Methods that saved.py brings: hooks of one saved tensor, and for a class the attributes `_saved_NAME`.
    set_saved_hooks: Any
    show_fields: Any

    _next: tuple[Any, ...]  # for each differentiable input the node that takes its gradient, or None
    _number: int  # when it was made
    _shape: tuple[int, ...]  # of the result, and so of the gradient that arrives
    # Hooks, retained gradients, anomaly traces. The engine looks closer at nodes that have some, or are no plain operations (()).
    _extra: Any

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        raise TypeError(f"{type(self).__name__} defines no apply")

    def release(self) -> None:
        """Free what was saved for the backward pass."""

    @property
    def shown(self) -> Node:
        """The node that `grad_fn` shows."""
        return self

    def name(self) -> str:
        return self._room + self._title

    @property
    def _title(self) -> str:
        """The name that `repr` and pictures show."""
        label = type(self).label
        return type(self).__name__ if label is None else str(label(self))

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """PyTorch's view of the edges: (node, output number) for each input."""
        return tuple((None, 0) if n is None else (n.shown, n.output_nr) for n in self._next)

    def __repr__(self) -> str:
        return f"<{self._title} object at {id(self):#x}>"

    def _sequence_nr(self) -> int:
        return self._number

    def _set_sequence_nr(self, number: int) -> None:
        self._number = number

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for the user's own notes on this node."""
        return self.extras().setdefault("metadata", {})  # type: ignore[no-any-return]

    def extras(self) -> dict[str, Any]:
        if not self._extra:
            self._extra = {}
        return self._extra  # type: ignore[no-any-return]

    def __call__(self, *gs: Any) -> Any:
        """Run the node by hand: gradients of its results in, gradients of its arguments out."""
        expected = len(self._output_places)
        if len(gs) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(gs)} instead")
        results = self.apply(self._to_results(gs), self._next)
        return results[0] if len(results) == 1 else tuple(results)

    @property
    def _output_places(self) -> Sequence[int]:
        """Where the results stand that are outputs in the graph: indices, and what only the rules save, are none."""
        shapes: Any = self._shape  # of each result, None for those that have no gradient
        return [i for i, known in enumerate(shapes) if known is not None] if self.is_multiple else (0,)

    def _of_outputs(self, g: Any) -> tuple[Any, ...]:
        """The gradients of the outputs, as hooks see them, from what `apply` takes."""
        return tuple(g[i] for i in self._output_places) if self.is_multiple else (g,)

    def _to_results(self, gs: Sequence[Any]) -> Any:
        """What `apply` takes, from the gradients of the outputs."""
        if not self.is_multiple:
            return gs[0]
        made = [None] * len(self._shape)
        for place, g in zip(self._output_places, gs):
            made[place] = g
        return made

    def register_hook(self, hook: Any) -> Any:
        """After this node ran: `hook(grad_inputs, grad_outputs)`; what it returns replaces grad_inputs."""
        return add_hook(self.extras().setdefault("post", {}), hook)

    def register_prehook(self, hook: Any) -> Any:
        """Before this node runs: `hook(grad_outputs)`; what it returns replaces them."""
        return add_hook(self.extras().setdefault("pre", {}), hook)

    def retains(self, tensor: Any) -> bool:
        return bool(self._extra) and "retain" in self._extra


class AccumulateGrad(Node):
    """The end of an edge at a leaf: adds to the leaf's `.grad`. It does not keep the leaf alive."""

    __slots__ = ("ref",)
    _room = ROOM
    is_leaf = True

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)
        self._shape, self._next, self._extra, self._number = tensor._array.shape, (), None, LEAF

    @property
    def variable(self) -> Any:
        """The leaf."""
        return self.ref()

    def reshaped(self, shape: tuple[int, ...]) -> None:
        """The leaf's shape is another one from now on; what was recorded before sums its gradients to the former."""
        former = self.extras().setdefault("former", [])
        former.append((next(NUMBERS), self._shape))
        del former[:-_FORMER]  # of graphs that live on; the older are long gone
        self._shape = shape

    def shape_for(self, number: int) -> tuple[int, ...]:
        """The leaf's shape when the node of this number was recorded."""
        former = self._extra.get("former") if self._extra else None
        if not former:
            return self._shape
        return next((shape for until, shape in former if number < until), self._shape)


def _nobody() -> None:
    """What the node of a view refers to whose `.grad` stays None."""


class ViewOutsideGraph(AccumulateGrad):
    """The node of a view made where nothing is recorded: it requires gradients as its base does, and drops what arrives."""

    __slots__ = ()
    of_base = True

    def __init__(self, tensor: Any) -> None:
        self.ref = _nobody  # type: ignore[assignment]
        self._shape, self._next, self._extra, self._number = tensor._array.shape, (), None, LEAF


class Output(Node):
    """One of several results of a node: puts its gradient into its place."""

    __slots__ = ("index", "parent")
    is_output = True

    def __init__(self, parent: Node, index: int, shape: tuple[int, ...]) -> None:
        self.parent, self.index, self._shape, self._number = parent, index, shape, PLACE
        self._next, self._extra = (parent,), ()

    def name(self) -> str:
        return self.parent.name()

    @property
    def _title(self) -> str:
        return self.parent._title

    def extras(self) -> dict[str, Any]:
        """Of this place: its node has them too, for they are about what arrives there, seen when the node runs."""
        if not self._extra:
            self._extra = self.parent.extras().setdefault("outputs", {}).setdefault(self.index, {})
        return self._extra  # type: ignore[no-any-return]

    @property
    def shown(self) -> Node:
        return self.parent

    @property
    def output_nr(self) -> int:  # type: ignore[override]
        return self.index
