"""Nodes made in native code: what they save, lead to and refuse is that of the nodes that Python makes."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from left_behind import SMALL, left_behind

import tenfold
from tenfold import nn
from tenfold.autograd.anomaly_mode import detect_anomaly
from tenfold.autograd.graph import saved_tensors_hooks
from tenfold.dispatch.runtime import RUNTIME
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible() and tenfold.llvm.is_available()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
functional = nn.functional
CALLS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "mul number": lambda a, b: a * 2.5, "reflected": lambda a, b: 3.0 - a, "matmul": lambda a, b: a @ b, "mm": tenfold.mm,
    "linear": functional.linear, "linear bias": lambda a, b: functional.linear(a, b, b[0]), "maximum": tenfold.maximum,
    "square": lambda a, b: a * a, "neg": lambda a, b: -a, "sum": lambda a, b: a.sum(), "sum 0": lambda a, b: a.sum(0),
    "relu": lambda a, b: tenfold.relu(a), "exp": lambda a, b: a.exp(), "log": lambda a, b: a.abs().log(),
    "gelu": lambda a, b: functional.gelu(a), "softmax": lambda a, b: a.softmax(-1), "mean": lambda a, b: a.mean(),
}  # fmt: skip


def operands():
    rng = np.random.default_rng(0)
    for needs in ((True, True), (True, False), (False, True)):
        a, b = (tenfold.from_numpy(rng.standard_normal((4, 4)).astype(np.float32)) for _ in range(2))
        yield a.requires_grad_(needs[0]), b.requires_grad_(needs[1])
    a, b = (nn.Parameter(tenfold.from_numpy(rng.standard_normal((4, 4)))) for _ in range(2))
    yield a, b
    with tenfold.no_grad():
        a.add_(1.0)  # a version of its own
    yield a, b


def described(node):
    """All that a node has."""
    saved = {f: getattr(node, "s_" + f) for f in node.fields}
    versions = {f: getattr(node, "v_" + f, "unset") for f in node.tensors}
    saved = {f: x.tolist() if isinstance(x, tenfold.Tensor) else x for f, x in saved.items()}
    return type(node), node._shape, [type(n) for n in node._next], node._extra, saved, versions, gc.is_tracked(node)


def backward(y, *leaves):
    found = tenfold.autograd.grad(y.sum(), [x for x in leaves if x.requires_grad], allow_unused=True)
    return [None if g is None else g.tolist() for g in found]


@pytest.mark.parametrize("name", CALLS)
def test_nodes_are_those_that_python_makes(name):
    call = CALLS[name]
    for a, b in operands():
        for _ in range(3):  # a rule is learnt when it is first used
            call(a, b)
        ours = call(a, b)
        with session().paths.suspended():
            other = call(a, b)
        assert ours.requires_grad == other.requires_grad
        if ours.requires_grad:
            assert described(ours._node) == described(other._node)
            assert ours._node._shape == tuple(ours.shape)
            for n, m in zip(ours._node._next, other._node._next):
                assert (n is m) or not n.is_leaf
            assert backward(ours, a, b) == backward(other, a, b)
        assert ours.tolist() == other.tolist()


def test_rules_have_layouts():
    w = tenfold.ones(2, requires_grad=True)
    assert (w * w).requires_grad
    attach = RUNTIME["attach_mul"]
    assert attach.layout.edges == (0, 1)
    assert [(kind, name, users) for kind, _, name, users in attach.layout.saves] == [
        ("tensor", "other", 1),
        ("tensor", "input", 2),
    ]


def test_writes_to_what_was_saved_are_found():
    w, x = tenfold.ones(3, requires_grad=True), tenfold.ones(3)
    for _ in range(3):
        y = w * x
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = (w * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_who_wants_to_see_new_nodes_sees_them():
    w, x, packed = tenfold.ones(3, requires_grad=True), tenfold.ones(3), []
    for _ in range(3):
        w * x
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = w * x
    assert len(packed) == 1
    y.sum().backward()
    with detect_anomaly():
        assert (w * x)._node._extra  # the trace of the call
    assert (w * x)._node._extra is None


def test_graphs_are_collected():
    w, x = tenfold.ones(3, requires_grad=True), tenfold.ones(3)
    for _ in range(3):
        y = w * x + x
    seen = weakref.ref(y._node)
    del y
    assert seen() is None
    y = w * x
    y._node.metadata["cycle"] = y  # which only the collector finds
    seen = weakref.ref(y)
    del y
    gc.collect()
    assert seen() is None


def test_a_hundred_thousand_nodes_leave_no_reference():
    w, x, number = tenfold.ones(3, 3, requires_grad=True), tenfold.ones(3, 3), 2.5
    x.add_(1)
    version = 300
    x.untyped_storage().version = version

    def run(times):
        for _ in range(times):
            y = functional.linear(w * x + number, w, x[0]) / number - w
        return y

    run(300)
    things = (w, x, number, w._node, x._array, type((w * x)._node), (3, 3), version, None)
    assert left_behind(lambda: run(20_000), things) < SMALL
