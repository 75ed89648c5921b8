"""Differentiating a function of its own arguments only, on the tape that everything on one level shares.

A scope gives the function copies of its arguments that start a new place in the graph. Gradients are taken with respect to
these copies, so what the function uses of the outside is a constant to them, yet remains connected for whoever
differentiates the result once more. When nobody outside can (no leaf but the scope's own is reachable), results leave the
graph, and the backward pass is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenfold.autograd import engine
from tenfold.autograd.levels import SCOPES, Transform, bare, recorded_below
from tenfold.autograd.nodes import AccumulateGrad, Node
from tenfold.autograd.seen import seen
from tenfold.dispatch.gradmode import enable_grad
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.like import zeros_like
from tenfold.ops.view.shapes import expand
from tenfold.tensor.tensor import Tensor


class ScopeLeaf(AccumulateGrad):
    """The start of the graph at an argument that nothing outside the scope is connected to."""

    __slots__ = ("closed",)

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor)
        self.closed = False


class Scope:
    """The extent of one function's differentiation; `outputs` are its results once it ran."""

    def __init__(self, transform: Transform | None, function: Any = None) -> None:
        self.function = function  # the user's, which must not write to what it captures
        self.starts: list[Node] = []
        self.outer_recorded = STATE.grad_enabled
        self.leaves: list[ScopeLeaf] = []
        self.mode = enable_grad()
        self.transform = transform  # on whose wrappers the tape of this scope is; None: on plain tensors

    def __enter__(self) -> None:
        self.shown = 1 + SCOPES.depth + len(STATE.transforms)
        SCOPES.depth += 1
        SCOPES.open = (*SCOPES.open, self)
        self.mode.__enter__()

    def __exit__(self, *exc: object) -> None:
        self.mode.__exit__(*exc)
        SCOPES.depth -= 1
        SCOPES.open = SCOPES.open[:-1]
        # From here on nobody but the scope's own pullback asks for gradients at these leaves.
        for leaf in self.leaves:
            leaf.closed = True

    def begin(self, tensor: Tensor) -> Tensor:
        """The argument as the function gets it: on the scope's level."""
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, but an argument to differentiate by "
                f"is {tensor.dtype}"
            )
        if self.transform is not None:
            tensor = self.transform.lift(tensor)
        return self.start(tensor)

    def start(self, tensor: Tensor) -> Tensor:
        """A new place in the graph for a tensor, on the tensor's own level."""
        # The copy of a tensor with a place in the graph has one of its own behind that.
        started: Any = bare(tensor) if tensor._node is None else expand(tensor, tensor.shape)
        started._storage = started._base = None  # an in-place write to the copy is the function's own business
        if started._node is None:
            leaf = ScopeLeaf(started)
            started._node = leaf
            self.leaves.append(leaf)
        self.starts.append(started._node)
        return started  # type: ignore[no-any-return]

    def is_live(self, tensors: Iterable[Any]) -> bool:
        """Whether someone outside may differentiate what is computed from these tensors' graphs."""
        return recorded_below() or reaches_open_leaf([t._node for t in tensors])

    def cut(self, tensor: Any) -> Tensor:
        """A result, outside the graph if only this scope's leaves hang on it, or if nothing was recorded around the scope.

        When the pullback ran inside further transforms, the graph is that of the values in their wrappers.
        """
        key = tensor._key
        own = self.transform.level if self.transform else 0
        if key.level is not None and (key.level > own or not (self.outer_recorded or recorded_below())):
            tensor = key.transform.mapped(tensor, self.cut)
        if tensor._node is None or (self.outer_recorded and reaches_open_leaf([tensor._node])):
            return tensor  # type: ignore[no-any-return]
        return bare(tensor)


def reaches_open_leaf(nodes: Sequence[Node | None]) -> bool:
    """Whether a leaf of someone still interested can be reached."""
    stack = [n for n in nodes if n is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node.is_leaf:
            if not getattr(node, "closed", False):
                return True
        else:
            for n in node._next:
                if n is not None and n not in seen:
                    seen.add(n)
                    stack.append(n)
    return False


def pull(scope: Scope, outputs: list[Tensor], inputs: list[Tensor], cotangents: list[Tensor]) -> list[Tensor]:
    """The gradients of the inputs of a closed scope; zeros where the outputs do not depend on one."""
    nodes: list[Any] = [t._node for t in inputs]
    captures: dict[Node, Any] = dict.fromkeys(nodes)
    roots = [(t._node, g) for t, g in zip(outputs, cotangents) if t._node is not None]
    wanted = STATE.grad_enabled or recorded_below()  # no_grad around the pullback alone: gradients without a graph
    live = wanted and (scope.is_live(outputs) or any(g._node is not None for g in cotangents))
    if roots:
        engine.run(roots, True, live, captures, accumulate=False)
    found = [zeros_like(bare(t)) if captures[n] is None else seen(captures[n]) for t, n in zip(inputs, nodes)]
    scope.outer_recorded = wanted  # a pullback's results belong to where it is called
    return [scope.cut(g) for g in found]
