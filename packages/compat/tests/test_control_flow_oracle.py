"""`torch.cond`, `while_loop`, `scan` and `map` beside PyTorch's, with gradients, and what they refuse."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import tenfold
from tenfold.as_torch.stand_ins import _higher_order_ops as ours, stand_in
from tenfold.as_torch.stand_ins.functorch.experimental import control_flow

torch = pytest.importorskip("torch", reason="the oracle is not a dependency")


def theirs(name):
    return getattr(importlib.import_module(f"torch._higher_order_ops.{name}"), name)


def both(run):
    """Values and the gradient of a leaf, of ours and PyTorch's."""
    found = []
    for lib, name_of in ((tenfold, lambda name: getattr(ours, name)), (torch, theirs)):
        x = lib.arange(1.0, 7.0, dtype=lib.float64).reshape(3, 2).requires_grad_()
        results = run(lib, name_of, x)
        sum((r * r).sum() for r in results if r.requires_grad).backward()
        found.append([*[r.detach().numpy() for r in results], x.grad.numpy()])
    for got, expected in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(("kind", "holds"), [("bool", True), ("tensor", False), ("one element", True), ("one element", False)])
def test_cond(kind, holds):
    def run(lib, name_of, x):
        pred = {"bool": holds, "tensor": lib.tensor(holds), "one element": lib.tensor([int(holds)])}[kind]
        return [name_of("cond")(pred, lambda x: x.sin(), lambda x: x.cos(), (x,))]

    both(run)


def test_cond_of_nothing():
    assert ours.cond(True, lambda: 3, lambda: 4) == 3


@pytest.mark.parametrize("pred", [[1, 2], "a", None])
def test_predicates_refused(pred):
    for lib, cond in ((tenfold, ours.cond), (torch, theirs("cond"))):
        given = lib.tensor(pred) if isinstance(pred, list) else pred
        with pytest.raises(RuntimeError, match="Expected pred"):
            cond(given, lambda x: x, lambda x: x, (lib.ones(1),))


def test_while_loop():
    def run(lib, name_of, x):
        count = lib.tensor(0)
        return name_of("while_loop")(lambda i, x: i < 3, lambda i, x: (i + 1, x * x.cos()), (count, x))

    both(run)


def test_while_loop_without_a_round_and_of_lists():
    x = tenfold.ones(2)
    assert ours.while_loop(lambda x: x.sum() < 0, lambda x: (x + 1,), (x,))[0] is x
    assert type(ours.while_loop(lambda x: x.sum() < 4, lambda x: x + 1, [x])) is list


def test_while_loop_refuses():
    x = tenfold.zeros(2)
    with pytest.raises(RuntimeError, match="boolean"):
        ours.while_loop(lambda x: x < 1, lambda x: (x + 1,), (x,))
    with pytest.raises(RuntimeError, match="shapes"):
        ours.while_loop(lambda x: x.sum() < 1, lambda x: (x[:1],), (x,))
    with pytest.raises(RuntimeError, match="shapes"):
        ours.while_loop(lambda x: x.sum() < 1, lambda x: (x, x), (x,))
    with pytest.raises(RuntimeError, match="callable"):
        ours.while_loop(3, lambda x: x, (x,))


@pytest.mark.filterwarnings("ignore")  # PyTorch compiles its own, with warnings
@pytest.mark.parametrize(("dim", "reverse"), [(0, False), (1, True)])
def test_scan(dim, reverse):
    def run(lib, name_of, x):
        state = lib.zeros(x.shape[1 - dim], dtype=x.dtype)
        return name_of("scan")(lambda c, x: (c + x.sin(), c * x), state, x, dim=dim, reverse=reverse)

    both(run)


def test_scan_of_trees():
    x = tenfold.arange(6.0).reshape(3, 2)
    state, out = ours.scan(lambda c, x: ({"s": c["s"] + x[0]}, [c["s"], x[1]]), {"s": tenfold.zeros(2)}, (x, -x))
    assert state["s"].tolist() == [6.0, 9.0]
    assert out[0].tolist() == [[0.0, 0.0], [0.0, 1.0], [2.0, 4.0]]
    assert tenfold.equal(out[1], -x)


def test_scan_refuses():
    x = tenfold.ones(3)
    for init, xs, match in ((0, x, "tensors"), (x, (), "tensors"), (x, (x, x[:2]), "size"), (x, x[:0], "size")):
        with pytest.raises(RuntimeError, match=match):
            ours.scan(lambda c, x: (c, x), init, xs)
    with pytest.raises(RuntimeError, match="form"):
        ours.scan(lambda c, x: ((c, c), x), x[0], x)


def test_map():
    both(lambda lib, name_of, x: [name_of("map")(lambda x, y: x * y, x, lib.arange(2.0, dtype=x.dtype))])


def test_map_refuses():
    for xs in (3, tenfold.tensor(1.0), tenfold.ones(0, 2), (tenfold.ones(2), tenfold.ones(3))):
        with pytest.raises(RuntimeError, match="map: "):
            ours.map(lambda x: x, xs)


def test_names():
    assert stand_in("cond") is ours.cond
    assert stand_in("while_loop") is ours.while_loop
    assert control_flow.cond is ours.cond
    assert control_flow.map is ours.map
