"""vmap: shapes, in_dims and out_dims, errors, randomness, in-place writes, the loop for operators without a rule."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenfold
from tenfold import func, op
from tenfold.autograd import batches, batching, quick_calls
from tenfold.autograd.pytree import broadcast_prefix, flatten, unflatten

X = np.arange(24.0).reshape(2, 3, 4)


class Pair(NamedTuple):
    a: Any
    b: Any


def batch():
    return tenfold.tensor(X)


@pytest.mark.parametrize("in_dim", [0, 1, 2, -1])
@pytest.mark.parametrize("out_dim", [0, 1, -1])
def test_dimensions(in_dim, out_dim):
    got = tenfold.vmap(lambda x: x.sum(0) + 1, in_dim, out_dim)(batch())
    moved = np.moveaxis(X, in_dim, 0)
    assert got.numpy().tolist() == np.moveaxis(moved.sum(1) + 1, 0, out_dim).tolist()


def test_trees_of_arguments_and_results():
    x, w = batch(), tenfold.tensor([1.0, 2.0])

    def f(pair, table):
        return {"sum": pair.a + pair.b, "product": [pair.a * table["w"]]}

    got = func.vmap(f, in_dims=(Pair(0, None), {"w": 0}), out_dims={"sum": 0, "product": [1]})(Pair(x, x[0]), {"w": w})
    assert got["sum"].numpy().tolist() == (X + X[0]).tolist()
    assert got["product"][0].shape == (3, 2, 4)
    assert func.vmap(lambda t: t["x"] * 2)({"x": w}).tolist() == [2.0, 4.0]


def test_pytree_keeps_kinds():
    tree = {"a": (1, [2, None]), "b": ()}
    leaves, spec = flatten(tree)
    assert leaves == [1, 2, None]
    assert unflatten(leaves, spec) == tree
    assert broadcast_prefix({"a": 0, "b": None}, spec) == [0, 0, 0]
    assert broadcast_prefix((0, 1), spec) is None


def test_outer_product_by_two_vmaps():
    x, y = tenfold.tensor([1.0, 2.0, 3.0]), tenfold.tensor([1.0, 10.0])
    assert func.vmap(func.vmap(lambda a, b: a * b, (None, 0)), (0, None))(x, y).tolist() == [[1, 10], [2, 20], [3, 30]]


def test_unbatched_results_are_repeated():
    assert func.vmap(lambda x: tenfold.tensor(5.0))(tenfold.zeros(3)).tolist() == [5.0, 5.0, 5.0]
    assert func.vmap(lambda x: tenfold.tensor(5.0), out_dims=None)(tenfold.zeros(3)).item() == 5.0


def test_chunks():
    seen = []

    def f(x):
        seen.append(1)
        return x.sum(), x * 2

    total, doubled = func.vmap(f, in_dims=1, out_dims=(0, 1), chunk_size=2)(batch())
    assert len(seen) == 2
    assert total.numpy().tolist() == X.sum((0, 2)).tolist()
    assert doubled.numpy().tolist() == (X * 2).tolist()


def test_zero_dimensional_examples_promote_as_such():
    halves = tenfold.tensor([1.0, 2.0], dtype=tenfold.float64)
    got = func.vmap(lambda s: s * tenfold.ones(2))(halves)  # a 0-d float64 does not widen a float32 vector
    assert got.dtype is tenfold.float32


def test_a_wrapper_looks_like_one_example():
    def f(x):
        assert x.shape == (3, 4)
        assert x.dim() == 2
        assert x.dtype is tenfold.float64
        assert "BatchedTensor(lvl=1, bdim=0" in repr(x)
        return x

    assert func.vmap(f)(batch()).shape == (2, 3, 4)


@pytest.mark.parametrize("read", [bool, float, lambda x: x.item(), lambda x: x.tolist(), lambda x: x if x > 0 else -x])
def test_values_cannot_be_read(read):
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        func.vmap(read)(tenfold.ones(2))


def test_values_that_all_examples_share_can_be_read():
    assert func.vmap(lambda x, w: x * w.item(), (0, None))(tenfold.ones(2), tenfold.tensor(3.0)).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: func.vmap(lambda x: x, 2)(tenfold.ones(2)), ValueError, "in_dim"),
        (lambda: func.vmap(lambda x: x, (0, 0))(tenfold.ones(2)), ValueError, "structure of `inputs`"),
        (lambda: func.vmap(lambda x: x, None)(tenfold.ones(2)), ValueError, "in_dims"),
        (lambda: func.vmap(lambda x: x, (None,))(tenfold.ones(2)), ValueError, "at least one Tensor"),
        (lambda: func.vmap(lambda x: x)(3), ValueError, "cannot vmap over non-Tensor"),
        (lambda: func.vmap(lambda x: x)(), ValueError, "no inputs"),
        (lambda: func.vmap(lambda x, y: x)(tenfold.ones(2), tenfold.ones(3)), ValueError, "same size"),
        (lambda: func.vmap(lambda x: 3)(tenfold.ones(2)), ValueError, "only return Tensors"),
        (lambda: func.vmap(lambda x: x, out_dims=(0, 0))(tenfold.ones(2)), ValueError, "structure of `outputs`"),
        (lambda: func.vmap(lambda x: x, out_dims=None)(tenfold.ones(2)), ValueError, "BatchedTensor"),
        (lambda: func.vmap(lambda x: x, out_dims=3)(tenfold.ones(2)), IndexError, "out_dim"),
        (lambda: func.vmap(lambda x: x, randomness="no")(tenfold.ones(2)), RuntimeError, "randomness"),
        (lambda: func.vmap(lambda x: x, chunk_size=0)(tenfold.ones(2)), ValueError, "chunk_size"),
        (lambda: func.vmap(lambda x: x.sum(2))(tenfold.ones(2, 3)), IndexError, r"range of \[-1, 0\]"),
        (lambda: func.vmap(lambda x: x.mm(x))(tenfold.ones(2, 3)), RuntimeError, "Shape mismatch"),
        (lambda: func.vmap(lambda x: tenfold.add(x, x, out=tenfold.ones(1)))(tenfold.ones(2, 1)), RuntimeError, "out="),
    ],
)
def test_errors(call, kind, match):
    with pytest.raises(kind, match=match):
        call()


def test_in_place_writes_reach_views_and_not_the_caller():
    x = batch()

    def f(x):
        y = x * 1
        row = y[0]
        row.mul_(10)
        y[1:, 0] = row[1]
        y += 1
        return y

    want = X.copy()
    want[:, 0] *= 10
    want[:, 1:, 0] = want[:, 0, 1][:, None]
    assert func.vmap(f)(x).numpy().tolist() == (want + 1).tolist()
    assert x.numpy().tolist() == X.tolist()
    func.vmap(lambda row: row.zero_(), 1)(x)
    assert not x.numpy().any()  # a batched argument is written like any tensor


def test_in_place_write_into_what_examples_share_is_refused():
    shared = tenfold.zeros(4, dtype=tenfold.float64)
    with pytest.raises(RuntimeError, match="all examples share"):
        func.vmap(lambda x: shared.add_(x))(batch()[0])
    assert func.vmap(lambda x: x.new_zeros(4).add_(x))(batch()[0]).tolist() == X[0].tolist()


def test_randomness():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        func.vmap(lambda x: x + tenfold.rand(2))(tenfold.zeros(3, 2))
    for draw in (lambda x: x + tenfold.rand(4), tenfold.rand_like, lambda x: x.normal_()):
        tenfold.manual_seed(3)
        different = func.vmap(draw, randomness="different")(tenfold.zeros(8, 4)).numpy()
        same = func.vmap(draw, randomness="same")(tenfold.zeros(8, 4)).numpy()
        assert len({tuple(row) for row in different}) > 4
        assert (same == same[0]).all()
    twice = func.vmap(func.vmap(lambda x: x + tenfold.rand(()), randomness="different"), randomness="different")
    assert len(set(twice(tenfold.zeros(3, 3)).numpy().ravel())) == 9


def test_an_operator_without_rule_runs_in_a_loop_and_says_so_once(monkeypatch):
    monkeypatch.setattr(batches, "_warned", set())
    monkeypatch.setitem(batching.BATCHING, "mm", batching.loop)
    monkeypatch.setattr(quick_calls, "PLANS", {})
    x = batch()
    with pytest.warns(UserWarning, match="no batching rule for mm"):
        got = func.vmap(lambda a, b: a.mm(b), (0, None))(x, x[0].T)
    assert got.numpy().tolist() == (X @ X[0].T).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        func.vmap(lambda a: a.mm(a.T))(x)


def test_two_rules_for_one_operator_are_refused():
    func.vmap(lambda x: x.sum())(tenfold.ones(2))
    with pytest.raises(RuntimeError, match="two batching rules"):
        batching.batching(op.sum)(lambda batch: None)


def test_a_tensor_that_escapes_says_so():
    kept = []
    func.vmap(lambda x: (kept.append(x), x)[1])(tenfold.ones(2))
    with pytest.raises(RuntimeError, match="has ended"):
        kept[0] + 1


def test_operators_cost_nothing_when_no_transform_is_active():
    tenfold.add(tenfold.ones(1), 1)
    before = tenfold.add.source
    func.vmap(lambda x: x + 1)(tenfold.ones(2))
    assert tenfold.add.source == before
    for word in ("level", "transform", "TRANSFORMS"):
        assert word not in before
    assert tenfold.dispatch.runtime.RUNTIME["TRANSFORMS"] == 0


def test_normal_samples_differ_between_the_examples_where_they_are_asked_to() -> None:
    for draw in (lambda x: tenfold.normal(0.0, 1.0, (5,)), lambda x: tenfold.normal(x, 1.0), lambda x: tenfold.normal(x, x + 1)):
        rows = tenfold.vmap(draw, randomness="different")(tenfold.zeros(2, 5))
        assert rows.shape == (2, 5)
        assert not rows[0].equal(rows[1])
        with pytest.raises(RuntimeError, match="randomness"):
            tenfold.vmap(draw)(tenfold.zeros(2, 5))
    assert tenfold.vmap(lambda x: tenfold.normal(0.0, 1.0, (5,)), randomness="same")(tenfold.zeros(2)).unique(dim=0).shape[0] == 1


def test_parameters_of_draws_in_place_may_differ_between_the_examples():
    p = tenfold.tensor([0.0, 1.0, 0.0])
    for dim in (0, 1):
        x = tenfold.full((3, 3), 7.0)
        made = func.vmap(lambda row, p: row.bernoulli_(p), in_dims=(dim, 0), randomness="different")(x, p)
        assert made.tolist() == [[0.0] * 3, [1.0] * 3, [0.0] * 3]
    with pytest.raises(RuntimeError, match="has more elements than `self`"):
        func.vmap(lambda p: tenfold.zeros(3).bernoulli_(p), randomness="different")(p)
    with pytest.raises(RuntimeError, match="does not currently support same randomness"):
        func.vmap(lambda p: tenfold.zeros(3).bernoulli_(p), randomness="same")(p)
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        func.vmap(lambda row: row.normal_())(tenfold.zeros(3, 3))


def test_dimensions_in_a_list_are_refused():
    with pytest.raises(ValueError, match="expected `in_dims` to be int"):
        func.vmap(tenfold.mul, in_dims=[0, 0])(tenfold.ones(2), tenfold.ones(2))


def test_squeezing_a_number_refuses_dimensions_that_it_has_not_got():
    assert func.vmap(lambda x: x.squeeze(-1))(tenfold.ones(3)).shape == (3,)
    with pytest.raises(RuntimeError, match="Dimension out of range"):
        func.vmap(lambda x: x.squeeze(1))(tenfold.ones(3))


def test_anomalies_are_found_inside():
    with tenfold.autograd.set_detect_anomaly(True):
        assert func.vmap(func.grad(lambda x: x * 2))(-tenfold.ones(3)).tolist() == [2.0] * 3
        with (
            pytest.warns(UserWarning, match="SqrtBackward0"),
            pytest.raises(RuntimeError, match="returned nan values in its 0th"),
        ):
            func.vmap(func.grad(lambda x: x.sqrt()))(-tenfold.ones(3))


def test_empty_tensors_with_strides_differ_between_the_examples():
    made = func.vmap(lambda x: x.new_empty_strided([2, 3], [1, 2]).copy_(x.expand(2, 3)))(tenfold.arange(4.0))
    assert made.stride() == (6, 1, 2)
    assert made[:, 0, 0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_level_that_gives_its_dimensions():
    from tenfold._functorch.vmap import restore_vmap
    from tenfold._vmap_internals import _vmap

    x, y = tenfold.ones(2, 3), tenfold.ones(3)
    results, dims = restore_vmap(lambda a, b: {"a": a * 2, "b": b.sum()}, (0, None), 2, "error")(x, y)
    assert dims == {"a": 0, "b": None}
    assert results["a"].shape == (2, 3)
    assert results["b"].item() == 3
    one, none = _vmap(lambda a: (a.sum(), None), allow_none_pass_through=True)(x)
    assert one.tolist() == [3.0, 3.0]
    assert none is None


def test_data_is_refused_under_vmap() -> None:
    with pytest.raises(RuntimeError, match="accessing `data` under vmap transform is not allowed"):
        tenfold.vmap(lambda x: x.data)(tenfold.ones(2))
    with pytest.raises(RuntimeError, match=r"mutating directly with `\.data` under vmap transform is not allowed"):
        tenfold.vmap(lambda x: setattr(x, "data", tenfold.ones(1)))(tenfold.ones(2))
