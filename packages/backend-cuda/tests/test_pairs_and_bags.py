"""Margins between scores, distances of all pairs, scaled rows and bags of rows, with their gradients, against the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest
from both_devices import assert_close, both, drawn

import tenfold
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F

F32, F64, HALF = tenfold.float32, tenfold.float64, tenfold.bfloat16
DTYPES = pytest.mark.parametrize("dtype", [F32, F64, HALF], ids=lambda d: d.name)
inf, nan = math.inf, math.nan
EDGES = [[0.0, inf, -inf], [nan, 1, 2], [inf, inf, 1], [1, 2, 3], [1, 2, 3], [1e30, 0, 0], [0, 0, 1e-30]]
MODES = ("sum", "mean", "max")


def on(t, like):
    return None if t is None else t.to(like.device)


def whole(shape, end, seed=0):
    return tenfold.tensor(np.random.default_rng(seed).integers(0, end, shape))


def second(call, *tensors):
    """The gradients of a sum of the gradients' squares."""
    tensors = [t.detach().requires_grad_() for t in tensors]
    g = tenfold.autograd.grad((call(*tensors) ** 3).sum(), tensors, create_graph=True)
    return [t.cpu().numpy() for t in tenfold.autograd.grad(sum((v**2).sum() for v in g), tensors)]


def same_seconds(call, *tensors):
    for a, b in zip(second(call, *tensors), second(call, *[t.cuda() for t in tensors]), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-9)


@DTYPES
@pytest.mark.parametrize("shape", [(7, 5), (5,), (2, 1100)], ids=str)
def test_margins_of_classes_and_of_labels(shape, dtype):
    C, scale = shape[-1], 40 if dtype is HALF else 4
    x, target, weight, labels = drawn(shape, dtype), whole(shape[:-1], C), drawn((C,), dtype, 3).abs(), whole(shape, C, 1)
    labels[..., 4] = -1
    for reduction in ("mean", "sum", "none"):
        for p, w in ((1, None), (2, weight)):
            call = lambda x, p=p, w=w, r=reduction: F.multi_margin_loss(x, on(target, x), p, 0.7, on(w, x), reduction=r)  # noqa: E731
            for expected, got in both(call, x):
                assert_close(got, expected, scale, (reduction, p))
        for layout in (lambda x: x, lambda x: x.t().contiguous().t()):
            call = lambda x, f=layout, r=reduction: F.multilabel_margin_loss(f(x), on(labels, x), reduction=r)  # noqa: E731
            for expected, got in both(call, x):
                assert_close(got, expected, scale, reduction)


def test_margins_of_what_hurts():
    x = tenfold.tensor([[0.0, inf, -inf, nan, 1.0], [nan, 1, 2, 3, 4], [inf, 1, 2, 3, 4], [1, 1, 1, 1, 1], [-inf, 2, 3, 4, inf]])
    for t in (0, 1, 3):
        target, labels = tenfold.full((5,), t), tenfold.full((5, 5), -1)
        labels[:, 0], labels[:, 1], labels[:, 2] = t, 4, t
        for p in (1, 2):
            for expected, got in both(lambda x, p=p, t=target: F.multi_margin_loss(x, on(t, x), p, reduction="none"), x):
                assert_close(got, expected, 4, (t, p))
        for expected, got in both(lambda x, t=labels: F.multilabel_margin_loss(x, on(t, x), reduction="none"), x):
            assert_close(got, expected, 4, t)
    same_seconds(lambda x: F.multi_margin_loss(x, on(whole((4,), 5), x), 2), drawn((4, 5), F64))
    for loss, target in (
        (F.multi_margin_loss, [0, 5]),
        (F.multi_margin_loss, [-1, 0]),
        (F.multilabel_margin_loss, [[7] * 5] * 2),
    ):
        with pytest.raises(AcceleratorError, match="margin_loss was out of bounds"):
            loss(drawn((2, 5)).cuda(), tenfold.tensor(target).cuda()).item()


def test_likelihoods_of_poisson_with_stirling_and_labels_that_are_not_reduced():
    x, y = drawn((6, 5)).abs(), drawn((6, 5), seed=2).abs() * 4
    y[0, 0], y[0, 1], y[1, 0], y[1, 1] = 0, 1, nan, inf
    for reduction in ("sum", "none"):
        for log_input in (True, False):
            options = {"full": True, "log_input": log_input, "reduction": reduction}
            for expected, got in both(lambda x, o=options: F.poisson_nll_loss(x, on(y, x), **o), x):
                assert_close(got, expected, 4, options)
    for expected, got in both(lambda x: F.multilabel_soft_margin_loss(x, on(y, x).sigmoid(), reduction="none"), x):
        assert_close(got, expected, 4)


@DTYPES
@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, inf])
def test_distances_of_all_pairs(p, dtype):
    scale = 64 if dtype is HALF else 16
    for first, other in (((5, 7), (3, 7)), ((2, 3, 18, 5), (3, 4, 5))):
        x, y = drawn(first, dtype), drawn(other, dtype, 1)
        y[..., 0, :], y[..., 1, 0] = x.reshape(-1, first[-1])[0], 0
        for expected, got in both(lambda x, y: tenfold.cdist(x, y, p), x, y):
            assert_close(got, expected, scale, first)
    if dtype is HALF:
        return
    for expected, got in both(lambda x: F.pdist(x, p), drawn((19, 3), dtype)):
        assert_close(got, expected, scale)
    # Without compiled kernels the CPU's largest has no gradient beside what is not finite: the next test has PyTorch's.
    edges = tenfold.tensor([row for row in EDGES if p < inf or np.isfinite(row).all()], dtype=dtype)
    for expected, got in both(lambda x: tenfold.cdist(x.mT.contiguous().mT, on(edges, x), p).mT, edges):
        assert_close(got, expected, scale)
    if p >= 1 and dtype is F64:
        same_seconds(lambda x, y: tenfold.cdist(x, y, p), drawn((4, 3), F64), drawn((5, 3), F64, 1))


def test_the_largest_difference_beside_what_is_not_finite():
    """The numbers are PyTorch's on the CPU: a difference that is nan, or of infinities, is left out, and its gradient is nan."""
    edges = tenfold.tensor([[0.0, inf, -inf, nan, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
    x = edges.cuda().requires_grad_()
    distances = tenfold.cdist(x, edges.cuda(), inf)
    assert distances.tolist() == [[0.0, inf], [inf, 0.0]]
    distances.sum().backward()
    np.testing.assert_equal(x.grad.cpu().numpy(), np.array([[0.0, nan, nan, nan, 0.0]] * 2, np.float32))


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float16], ids=lambda d: d.name)
def test_the_largest_difference_is_found_again_in_half_precision(dtype):
    x, y = drawn((2, 9, 5), dtype), drawn((2, 4, 5), dtype, 1)
    for call, given in ((lambda x, y: tenfold.cdist(x, y, inf), (x, y)), (lambda x: F.pdist(x, inf), (x[0],))):
        for expected, got in both(call, *given):
            assert_close(got, expected)


@DTYPES
def test_distances_by_a_product(dtype):
    x, y = drawn((2, 30, 9), dtype), drawn((2, 8, 9), dtype, 1)
    for call in (
        tenfold.cdist,
        lambda x, y: tenfold.cdist(x.mT.contiguous().mT, y[:1]),
        lambda x, y: tenfold.cdist(x[0], y[0]).mT,
    ):
        for expected, got in both(call, x, y):
            assert_close(got, expected, 64)


def test_infinite_gradients_of_equal_rows_and_no_pairs():
    for p in (0.5, 1, 2, 3, inf):
        found = []
        for device in ("cpu", "cuda"):
            a, b = (tenfold.tensor([[1.0, 2], [3, 4]], device=device).requires_grad_() for _ in range(2))
            tenfold.cdist(a, b, p).backward(tenfold.full((2, 2), inf, device=device))
            found.append(a.grad.cpu().numpy())
        np.testing.assert_array_equal(*found, err_msg=str(p))
    for shape in ((0, 3), (1, 3), (3, 0)):
        x = tenfold.zeros(*shape)
        for call in (F.pdist, lambda x: tenfold.cdist(x, x)):
            assert_close(call(x.cuda()), call(x))


@DTYPES
@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, inf])
def test_rows_over_their_norms_and_limited_norms(p, dtype):
    scale, eps = (32, 1e-12) if dtype is HALF else (8, 0.5)
    layouts = [lambda x: x]
    if p == 2:  # the order is a formula in the kernel, where an element lies another part of it
        layouts += [lambda x: x.transpose(0, -1).contiguous().transpose(0, -1), lambda x: x.flip(0)[..., ::2]]
    for shape in ((5, 7), (3, 4, 2, 3), (7,), (2, 1100)):
        x = drawn(shape, dtype)
        for dim in range(shape[-1] > 1000, len(shape)):
            for layout in layouts:
                for expected, got in both(lambda x, dim=dim, f=layout: F.normalize(f(x), p, dim, eps), x):
                    assert_close(got, expected, scale, (shape, dim))
            if len(shape) > 1:
                for expected, got in both(lambda x, dim=dim: tenfold.renorm(x, p, dim, 1.5), x):
                    assert_close(got, expected, scale, (shape, dim))
    if dtype is F64:
        same_seconds(lambda x: F.normalize(x, p), drawn((4, 3), F64))
        same_seconds(lambda x: tenfold.renorm(x, p, 0, 1.0), drawn((4, 3), F64))


@DTYPES
def test_local_response_norm(dtype):
    for shape, size in (((2, 7, 3), 5), ((1, 4, 2, 3), 4), ((2, 3, 2), 1), ((2, 2, 600), 9)):
        for layout in (lambda x: x, lambda x: x.mT.contiguous().mT):
            for expected, got in both(
                lambda x, f=layout, n=size: F.local_response_norm(f(x), n, 0.5, 0.75, 1.5), drawn(shape, dtype)
            ):
                assert_close(got, expected, 16 if dtype is HALF else 8, (shape, size))
    if dtype is F64:
        same_seconds(lambda x: F.local_response_norm(x, 3, 0.5), drawn((2, 5, 3), F64))
        edges = tenfold.tensor([[[0.0], [inf], [1], [1e200], [2], [nan], [3], [1]]], dtype=F64)
        for expected, got in both(lambda x: F.local_response_norm(x, 3), edges):
            assert_close(got, expected, 4)


def test_norms_of_what_hurts():
    edges = tenfold.tensor([*EDGES, [0, 0, 0], [1, 0, 0], [0.5, 0, 0], [1e30, 1e30, 0]])
    for p in (1, 2, inf):
        for expected, got in both(lambda x, p=p: F.normalize(x, p), edges[:-1]):
            assert_close(got, expected, 8, p)
        for expected, got in both(lambda x, p=p: tenfold.renorm(x, p, 0, 1.0), edges):
            assert_close(got, expected, 8, p)


def test_a_table_with_limited_rows_is_written_in_place():
    index, table = tenfold.tensor([[0, 2], [2, 5]]), drawn((6, 4))
    for options in ({"max_norm": 1.0}, {"max_norm": 0.7, "norm_type": 1.0}, {"max_norm": 0.7, "norm_type": inf}):
        here, there = table.clone(), table.clone().cuda()
        assert_close(F.embedding(index.cuda(), there, **options), F.embedding(index, here, **options), 4)
        assert_close(there, here, 4)


@DTYPES
@pytest.mark.parametrize("mode", MODES)
def test_bags_and_the_gradients_of_their_table(mode, dtype):
    for V, D in ((6, 5), (9, 300)):
        w = drawn((V, D), dtype)
        w[1] = w[0]
        if D == 5:
            w[2, 1], w[3, 0], w[4] = nan, -inf, -inf
        square, flat = whole((3, 4), V), whole((11,), V, 1).to(tenfold.int32)
        bags = ((square, None, 0), (flat, [0, 3, 3, 8], 0), (flat, [0, 3, 3, 8], 1), (flat, [0, 11, 11], 0))
        for options in ({}, {"padding_idx": 1}, {"scale_grad_by_freq": mode != "max"}):
            for index, offsets, last in bags if D == 5 else bags[:3:2]:  # vectors of several blocks: square and flat ones
                starts = None if offsets is None else tenfold.tensor(offsets, dtype=index.dtype)
                given = {"mode": mode, "include_last_offset": bool(last), **options}
                call = lambda w, i=index, o=starts, g=given: F.embedding_bag(on(i, w), w, on(o, w), **g)  # noqa: E731
                for expected, got in both(call, w):
                    assert_close(got, expected, 16 if dtype is HALF else 4, (V, options, offsets, last))


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_sparse_gradients_of_bags(mode):
    pytest.importorskip("tenfold.sparse")
    flat = whole((11,), 6, 1).to(tenfold.int32)
    cases = ([0, 3, 3, 8], {}), ([0, 3, 11], {"include_last_offset": True}), ([0, 4], {"padding_idx": 1}), ([0], {})
    for offsets, options in cases:
        found = []
        for device in ("cpu", "cuda"):
            w, starts = drawn((6, 5)).to(device).requires_grad_(), tenfold.tensor(offsets, dtype=tenfold.int32, device=device)
            out = F.embedding_bag(flat.to(device), w, starts, mode=mode, sparse=True, **options)
            out.backward(drawn(tuple(out.shape), F32, 9).to(device))
            assert w.grad.is_sparse
            found.append((out, w.grad.to_dense()))
        for expected, got in zip(*found, strict=True):
            assert_close(got, expected, 4, (offsets, options))


def test_bags_with_factors_and_in_a_fixed_order():
    w, flat, offsets, factors = drawn((6, 5), F64), whole((11,), 6), tenfold.tensor([0, 3, 3, 8]), drawn((11,), F64, 3)
    for options in ({}, {"padding_idx": 1}, {"include_last_offset": True}):

        def call(w, f, options=options):
            return F.embedding_bag(on(flat, w), w, on(offsets, w), mode="sum", per_sample_weights=f, **options)

        for expected, got in both(call, w, factors):
            assert_close(got, expected, 4, options)
    same_seconds(call, w, factors)
    tenfold.use_deterministic_algorithms(True)
    try:
        for mode in MODES:
            for expected, got in both(lambda w, mode=mode: F.embedding_bag(on(flat, w), w, on(offsets, w), mode=mode), w):
                assert_close(got, expected, 4)
    finally:
        tenfold.use_deterministic_algorithms(False)


@pytest.mark.parametrize(("index", "offsets"), [([0, 7], [0]), ([0, -1], [0]), ([0, 1], [1]), ([0, 1], [0, 3])])
def test_bags_that_are_wrong_are_reported(index, offsets):
    with pytest.raises(AcceleratorError, match="embedding_bag"):
        F.embedding_bag(tenfold.tensor(index).cuda(), drawn((6, 5)).cuda(), tenfold.tensor(offsets).cuda()).cpu()


@pytest.mark.parametrize("mode", MODES)
def test_no_bags(mode):
    none = tenfold.zeros(0, dtype=tenfold.int64)
    for index in (none, tenfold.tensor([1])):
        for expected, got in both(lambda w, i=index: F.embedding_bag(on(i, w), w, on(none, w), mode=mode), drawn((6, 5))):
            assert got.shape == expected.shape
            assert not got.any()
    assert F.embedding_bag(none.cuda(), drawn((6, 5)).cuda(), none.cuda(), mode=mode).shape == (0, 5)
    with pytest.raises(RuntimeError, match="at least 1"):
        F.embedding_bag(none.cuda(), drawn((6, 5)).cuda(), none.cuda(), mode=mode, include_last_offset=True)


@pytest.mark.parametrize("index", [[0, 1, 2], [1, 0, 2], [4, 1], [4, 3, 2, 1, 0, 2, 3, 1, 0, 2, 4, 0]])
def test_maxima_of_bags_skip_nan_but_the_first(index):
    w = tenfold.tensor([[1.0, 2.0], [nan, 3.0], [2.0, nan], [nan, nan], [-inf, -inf]])
    flat, offsets = tenfold.tensor(index), tenfold.tensor([0, 1])
    for expected, got in both(lambda w: F.embedding_bag(on(flat, w), w, on(offsets, w), mode="max"), w):
        np.testing.assert_array_equal(got.detach().cpu().numpy(), expected.detach().numpy())
