"""The door for packages that walk the graph in code of their own: what such a walk is, and what Python does for it.

A walk is `walk(roots, keep_graph, captures)`. It is asked for whole passes that nobody watches: all leaves get their gradients,
or (with captures, whose keys are nodes) the gradients that arrive at those nodes become its values and no leaf gets any; no graph
of the pass is made, no layer is entered, no anomaly is looked for. It does what `engine._walk` does, in its order, and returns
True; or it returns anything else and has changed nothing, and the engine walks. It takes the root's gradient out of `roots`, so
that the list does not count as somebody who holds it. Here is what it may leave to Python: node by node, term by term.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd import hooks
from tenfold.autograd.engine import _accumulate, _sum, fitted
from tenfold.autograd.nodes import AccumulateGrad, Node, Output
from tenfold.autograd.other_walks import WALKS

OPERATION, LEAF, RESULT, SEVERAL, OTHER = range(5)  # what a node is: `kind`


def register_walk(walk: Callable[[list[tuple[Node, Any]], bool, dict[Node, Any] | None], Any]) -> None:
    """Let a package's walk be asked before the engine walks itself.

    The package's plugin names the module that calls this under the family "backward" of its hook `tenfold_kernels`.
    """
    WALKS.append(walk)


def kind(node: Any) -> int:
    """What a node is: an operation, a leaf, one of several results, an operation with several; OTHER is for the engine alone."""
    if type(node) is AccumulateGrad:
        return LEAF
    if type(node) is Output:
        return RESULT
    if node.is_leaf or node.is_output:
        return OTHER
    return SEVERAL if node.is_multiple else OPERATION


def fit(r: Any, node: Any, number: int) -> Any:
    """A gradient in the shape of the node that it flows to, from the node of this number."""
    return r if r._array.shape == node._shape or node.is_multiple else fitted(r, node, number)


def more(known: Any, r: Any, owned: bool) -> tuple[Any, bool]:
    """The sum of a gradient that waits and a further term, and whether it was made for the pass, which may add to it in place."""
    if owned and r._key.level is None:
        known.add_(r)
        return known, True
    total = _sum(known, r)
    return total, total._key.level is None and not total.is_sparse


def visit(node: Any, g: Any, keep_graph: bool) -> Any:
    """Run a node with its hooks: the gradients of its inputs, None for none."""
    g = hooks.arriving(node, g) if node._extra else g
    if g is None:
        return None
    if node._extra:
        g = hooks.before(node, g)
    if node.is_leaf:
        return accumulate(node, g)
    results = node.apply(g, node._next)
    if node._extra and "post" in node._extra:
        results = hooks.after(node, results, g)
    if not keep_graph:
        node.release()
    return results


def catch(node: Any, g: Any, captures: dict[Any, Any]) -> None:
    """Put the gradient of a leaf among the captures, as its hooks leave it."""
    g = hooks.arriving(node, g) if node._extra else g
    if g is not None:
        captures[node] = g


accumulate = _accumulate  # accumulate(node, g): adds to the `.grad` of a leaf
