"""The backward pass: walks the graph from the roots, each node once all gradients that flow into it have arrived."""

from __future__ import annotations

import threading
from functools import partial
from heapq import heappop, heappush, heappushpop
from math import prod
from sys import getrefcount
from typing import Any

from tenfold.autograd import anomaly, hooks
from tenfold.autograd.fresh_stack import on_fresh_stack
from tenfold.autograd.leaf_layout import laid_out
from tenfold.autograd.levels import primal_of
from tenfold.autograd.nodes import AROUND, LEAF, AccumulateGrad, Node
from tenfold.autograd.order import Waiting, arrange, in_order
from tenfold.autograd.other_walks import walked_elsewhere
from tenfold.cpu.allocator import COLLECTED, look
from tenfold.dispatch.beneath import BeneathKey
from tenfold.dispatch.runtime import STATE, set_grad_enabled_here
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import Tensor


def run(
    roots: list[tuple[Node, Any]], keep_graph: bool, create_graph: bool, captures: dict[Node, Any] | None = None,
    accumulate: bool = True, only: set[Node] | None = None,
) -> None:  # fmt: skip
    """Push gradients from `roots` to the leaves.

    With `captures` (nodes as keys) the gradients that arrive at those nodes are stored there, and only paths to them
    are walked; `accumulate` says whether leaves get `.grad`, `only` restricts that to some leaves.
    """
    outer = TASKS.current
    if outer is not None and outer.depth >= DEEPEST:
        on_fresh_stack(lambda: run(roots, keep_graph, create_graph, captures, accumulate, only), _forget_task)
        return
    targets = None if captures is None and only is None else {*(captures or ()), *(only or ())}
    whole = accumulate and targets is None
    task = Task(whole, [node for node, _ in roots], targets, 0 if outer is None else outer.depth + 1)
    behind: Any = ()
    layers, previous = STATE.layers, STATE.grad_enabled
    # Layers such as autocast and tracing are about the forward pass; a profiler asks to see this one too.
    seen = STATE.layers = tuple(layer for layer in layers if getattr(layer, "in_backward", False)) if layers else layers
    try:
        TASKS.current = task
        behind = [meet() for meet in AROUND] if AROUND and outer is None else ()
        set_grad_enabled_here(create_graph)
        caught = None if whole else captures
        alone = (whole or (caught is not None and not accumulate)) and not (create_graph or seen or anomaly.ANOMALY.enabled)
        if not alone or not walked_elsewhere(roots, keep_graph, caught):
            pending, useful = task.ways
            _walk(roots, pending, useful, keep_graph, create_graph, captures, accumulate, only or set())
        while task.callbacks:  # which may add further ones
            task.callbacks.pop(0)()
    finally:
        TASKS.current = outer
        STATE.layers = layers
        try:
            set_grad_enabled_here(previous)
        finally:  # Ctrl-C may come where a function begins, before it has done anything
            set_grad_enabled_here(previous)
        for done in behind:
            done()
        if COLLECTED:
            look()


class Task:
    """One backward pass under way: what nodes that run inside it may ask."""

    __slots__ = ("__weakref__", "_roots", "_targets", "_ways", "callbacks", "depth", "whole")

    def __init__(self, whole: bool, roots: list[Node], targets: set[Node] | None, depth: int) -> None:
        self.depth = depth  # how many passes it is inside of, in this thread
        self.whole = whole  # whether all leaves get their gradients, so that a nested pass adds what belongs to this one
        self.callbacks: list[Any] = []
        self._roots, self._targets = roots, targets
        self._ways: tuple[dict[Node, int], set[Node] | None] | None = None

    @property
    def ways(self) -> tuple[dict[Node, int], set[Node] | None]:
        """How many gradients each node waits for, and the nodes that lead to one that is asked for; None: all do."""
        if self._ways is None:
            pending = _count_edges(self._roots)
            self._ways = pending, None if self._targets is None else _leading_to(pending, self._targets)
        return self._ways

    @property
    def reached(self) -> Any:
        """The nodes that get gradients."""
        pending, useful = self.ways
        return pending if useful is None else useful


class _Tasks(threading.local):
    current: Task | None = None


TASKS = _Tasks()
DEEPEST = 20  # passes inside one another on one stack; Python's is exhausted by about 70


def _forget_task() -> None:
    """Count the depth of passes anew, in a thread that has just begun."""
    TASKS.current = None


def is_checkpoint_valid() -> bool:
    """Whether a pass begun here adds what belongs to the one under way: none is, or it is for all leaves."""
    return TASKS.current is None or TASKS.current.whole


def queue_callback(callback: Any) -> None:
    """Call a function at the end of the backward pass under way; RuntimeError outside of one."""
    if TASKS.current is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    TASKS.current.callbacks.append(callback)


def _runner() -> Any:
    """What runs a node in the place of its `apply`: anomaly detection, and layers that want to see nodes; mostly None."""
    run_node = anomaly.checked if anomaly.ANOMALY.enabled else None
    for layer in STATE.layers:
        if hasattr(layer, "around_node"):
            run_node = partial(layer.around_node, run_node or (lambda node, g, wanted: node.apply(g, wanted)))
    return run_node


def _count_edges(roots: list[Node]) -> dict[Node, int]:
    """How many gradients each reachable node waits for, less one: that of a root that nothing else leads to is -1."""
    pending = dict.fromkeys(roots, -1)
    reached = list(pending)
    found = reached.append
    for node in reached:  # which grows meanwhile
        for n in node._next:
            if n is not None:
                if n in pending:
                    pending[n] += 1
                else:
                    pending[n] = 0
                    found(n)
    return pending


def _leading_to(pending: dict[Node, int], targets: set[Node]) -> set[Node]:
    """The nodes from which a target can be reached."""
    parents: dict[Node, list[Node]] = {}
    for node in pending:
        for n in node._next:
            if n is not None:
                parents.setdefault(n, []).append(node)
    useful = {t for t in targets if t in pending}
    stack = list(useful)
    while stack:
        for node in parents.get(stack.pop(), ()):
            if node not in useful:
                useful.add(node)
                stack.append(node)
    return useful


def _walk(  # noqa: C901 - the whole of the path, case by case
    roots: list[tuple[Node, Any]], pending: dict[Node, int], useful: set[Node] | None, keep_graph: bool,
    create_graph: bool, captures: dict[Node, Any] | None, accumulate: bool, only: set[Node],
) -> None:  # fmt: skip
    run_node = _runner()
    grads: dict[Node, Any] = {}  # sums that wait for further terms
    for root, g in roots:
        known = grads.get(root)
        grads[root] = g if known is None else known + g
    # Of several roots those that lead nowhere are left out; one alone is always visited, though it runs only if it leads there.
    barred = useful if len(roots) > 1 else None
    roots.clear()  # the caller's list must not keep the root gradients alive: it decides about in-place accumulation
    fresh: list[tuple[Node, Any]] = []  # have just become ready
    for root in list(grads):  # no comprehension, whose variables the whole function would read more slowly
        if pending[root] < 0 and (barred is None or root in barred):
            fresh.append((root, grads.pop(root)))  # noqa: PERF401
    g = root = None  # type: ignore[assignment] # for the same reason
    owned: set[Node] = set()  # nodes whose gradient is a sum made here, which further terms may be added to in place
    special = captures is not None or useful is not None or run_node is not None
    leaves: list[tuple[Node, Any]] = []  # are ready: the last is the next
    waiting: Waiting = []  # other nodes that are ready
    node: Any = None  # the node to go on with, which need not go through a list
    forked = len(fresh) > 1  # whether there may be other nodes that are ready; a chain asks nothing else
    if forked:
        arrange(fresh, leaves, waiting, partial(_arrive, grads=grads, pending=pending))
    elif fresh:
        node, g = fresh.pop()
    while True:
        if node is None:
            if leaves:
                node, g = leaves.pop()
            elif waiting:
                _, _, node, g = heappop(waiting)
            else:
                break
        edges = node._next
        if edges and node._extra is None and g is not None and not special:
            results = node.apply(g, edges)
            if not keep_graph and node.keeps:
                node.release()
        else:
            if node._extra:
                g = hooks.arriving(node, g)
            if g is not None and captures is not None and node in captures:
                captures[node] = g
            if node.is_leaf:
                if g is not None and accumulate and (useful is None or node in useful):
                    if node._extra:
                        g = hooks.before(node, g)
                    _accumulate(node, g, create_graph)
                node = None
                continue
            if useful is not None and not node.is_output:  # hooks of a root that is one of several results run at its node
                edges = tuple([n if n in useful else None for n in edges])
                # Nothing that is wanted lies behind a node whose own gradient was.
                if node not in only and not any(edges):
                    node = None
                    continue
            if node.is_output:
                _deposit(node, g, grads)
                results = (None,)
            elif g is None:
                results = (None,) * len(edges)
            else:
                if node._extra:
                    g = hooks.before(node, g)
                results = node.apply(g, edges) if run_node is None else run_node(node, g, edges)
                if node._extra and "post" in node._extra:
                    results = hooks.after(node, results, g)
                if not keep_graph:
                    node.release()
        place, number = 0, node._number
        node = g = None
        for n in edges:
            if n is None:  # no gradient wanted; what is not useful never becomes ready either
                place += 1
                continue
            r = results[place]
            place += 1
            if r is not None:
                if r._array.shape != n._shape and not n.is_multiple:
                    r = fitted(r, n, number)
                if grads and n in grads:
                    _add(grads, n, r, owned, create_graph)
                    r = None
            if pending[n]:
                pending[n] -= 1
                if r is not None:
                    grads[n] = r
            else:
                if r is None:
                    r = grads.pop(n, None)
                if node is None:
                    node, g = n, r
                    continue
                forked = True
                if n._number != LEAF:
                    fresh.append((n, r))
                elif node._number == LEAF:
                    leaves.append((n, r))
                else:
                    fresh.append((node, g))
                    node, g = n, r
        r = results = None  # so that `_accumulate` can see whether it has the only reference to a gradient
        if not forked:
            continue
        if len(leaves) > 1:
            fresh = in_order(edges, [(node, g), *leaves, *fresh])
            node = g = None
            leaves.clear()
            arrange(fresh, leaves, waiting, partial(_arrive, grads=grads, pending=pending))
            continue
        for n, r in fresh:
            heappush(waiting, (-n._number, id(n), n, r))
        fresh.clear()
        r = None
        if waiting and node is not None and node._number != LEAF:
            _, _, node, g = heappushpop(waiting, (-node._number, id(node), node, g))
        forked = bool(waiting)


def _add(grads: dict[Node, Any], n: Node, r: Any, owned: set[Node], create_graph: bool) -> None:
    """Add a further term to the gradient that waits at a node, in place where the sum was made here."""
    known = grads[n]
    if n in owned and r._key.level is None:
        known.add_(r)
        return
    total = grads[n] = _sum(known, r)
    # Inside vmap a sum may lack the batch dimension that a later term has.
    if not create_graph and total._key.level is None and not total.is_sparse:
        owned.add(n)
    else:
        owned.discard(n)


def _sum(known: Any, g: Any) -> Any:
    """The sum of two gradients, strided if one of them is: only a strided tensor may be added a sparse one to."""
    return g + known if known.is_sparse and not g.is_sparse else known + g


def _deposit(node: Any, g: Any, grads: dict[Node, Any]) -> None:
    """Put the gradient of one of several results into its place in the list that their node gets."""
    if g is not None:
        slots = grads.get(node.parent)
        if slots is None:
            slots = grads[node.parent] = [None] * len(node.parent._shape)
        known = slots[node.index]  # a result that its own rule used comes with a second node of its place
        slots[node.index] = g if known is None else known + g


def _arrive(place: Any, g: Any, grads: dict[Node, Any], pending: dict[Node, int]) -> Any:
    """Deposit a gradient, and return its node with all gradients if it was the last that the node waited for."""
    _deposit(place, g, grads)
    node = place.parent
    if pending[node] > 0:
        pending[node] -= 1
        return None
    return node, grads.pop(node, None)


def _accumulate(node: AccumulateGrad | Any, g: Any, create_graph: bool = False) -> None:
    """Add to the leaf's `.grad`, which never shares memory with another gradient."""
    leaf = node.ref()
    if leaf is None or leaf._node is None:  # gone, or no longer asking
        return
    if leaf._node is not node and not leaf._node.is_leaf:
        raise RuntimeError(
            "backward: leaf variable has been moved into the graph interior: a leaf that is a view was used, and then its base "
            "was written with a gradient; write first, or make the leaf from a copy"
        )
    if type(g) is not Tensor and not isinstance(g, Holding) and type(g._key) is not BeneathKey:
        g = g.as_subclass(Tensor)  # a subclass's operators may have made it; `.grad` is a plain tensor
    if g._key.level is not None:
        g = primal_of(g)
    present = leaf.grad
    if present is None:
        # g may be kept as it is if nothing refers to it but this call, and to its array but g.
        private = g._storage is None and getrefcount(g) <= _OWN_REFERENCES and getrefcount(g._array) <= 2
        if g._array.strides != leaf._array.strides and (alike := laid_out(g, leaf)) is not None:
            leaf._grad = alike
        else:
            leaf._grad = g if private else g.clone()
    elif create_graph or STATE.grad_enabled or (present.is_sparse and not g.is_sparse):
        leaf._grad = _sum(present, g)
    else:
        present.add_(g)
    if node._extra is not None:
        hooks.accumulated(node, leaf, g)


def _own_references() -> int:
    """What getrefcount says in `_accumulate` of a gradient that only `_walk` holds; interpreters differ in it."""

    def walk() -> int:
        g = object()
        count = accumulate(None, g, False)
        return count if g is not None else 0

    def accumulate(node: Any, g: Any, create_graph: bool) -> int:
        return getrefcount(g)

    return walk()


_OWN_REFERENCES = _own_references()


def fitted(r: Any, n: Any, number: int) -> Any:
    """A gradient in the shape of the node that it flows to from the node of this number."""
    if not n.is_leaf:
        return sum_to(r, n._shape)
    r = sum_to(r, n.shape_for(number))  # which may have got another shape since
    return r if r._array.shape == n._shape else sum_to(r, n._shape)


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of a source of this shape, from the gradient of what it was broadcast to."""
    have = g._array.shape
    lead = len(have) - len(shape)
    if lead > 0 and have[lead:] == shape:
        return g.sum(tuple(range(lead)) if lead > 1 else 0)
    if lead < 0 or prod(have) == prod(shape):  # also of a leaf that got or lost dimensions in place since it was used
        return g.reshape(shape)
    dims = [*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1 and have[i + lead] != 1)]
    if dims:
        g = g.sum(dims if len(dims) > 1 else dims[0], keepdim=True)
    return g.view(shape) if lead else g
