"""Losses, dropout, group norm and recurrent layers by kernels of the device, with their gradients, against the CPU."""

from __future__ import annotations

import math

import numpy as np
import pytest
from both_devices import assert_close, both, drawn

import tenfold
from tenfold import nn
from tenfold.cuda.kernels import group_norm, norm, summing
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F

INF, NAN = math.inf, math.nan

F32, F64, HALF = tenfold.float32, tenfold.float64, tenfold.bfloat16


def signs(t):
    return tenfold.where(t > 0, 1.0, -1.0).to(t.dtype)


# name: (the loss, the input from normal numbers, the target from such)
PAIRS = {
    "mse": (F.mse_loss, None, None, {}),
    "l1": (F.l1_loss, None, None, {}),
    "smooth l1": (F.smooth_l1_loss, None, None, {"beta": 0.7}),
    "huber": (F.huber_loss, None, None, {"delta": 1.3}),
    "entropy": (F.binary_cross_entropy, tenfold.sigmoid, tenfold.sigmoid, {}),
    "entropy of logits": (F.binary_cross_entropy_with_logits, None, tenfold.sigmoid, {}),
    "divergence": (F.kl_div, None, tenfold.sigmoid, {}),
    "divergence of logarithms": (F.kl_div, None, None, {"log_target": True}),
    "soft margin": (F.soft_margin_loss, None, signs, {}),
    "poisson of logarithms": (F.poisson_nll_loss, None, tenfold.sigmoid, {}),
    "poisson": (F.poisson_nll_loss, tenfold.sigmoid, tenfold.sigmoid, {"log_input": False}),
    "hinge": (F.hinge_embedding_loss, None, signs, {"margin": 0.8}),
    "labels": (F.multilabel_soft_margin_loss, None, tenfold.sigmoid, {}),
}


@pytest.mark.filterwarnings("ignore:kl_div")
@pytest.mark.parametrize("name", PAIRS)
def test_losses_of_pairs_and_their_gradients(name):
    loss, of_input, of_target, options = PAIRS[name]
    for dtype, reduction in ((F32, "mean"), (F32, "none"), (F64, "sum"), (HALF, "mean")):
        x, t = drawn((5, 6), F64), drawn((5, 6), F64, 1)
        x, t = (v if f is None else f(v) for v, f in ((x, of_input), (t, of_target)))
        x, t = x.to(dtype), t.to(dtype)
        for layout in (lambda v: v, lambda v: v.t(), lambda v: v[:, ::2]):

            def call(x, t=t, reduction=reduction, layout=layout):
                return loss(layout(x), layout(t.to(x.device)), reduction=reduction, **options)

            for expected, got in both(call, x):
                assert_close(got, expected, 4, (name, dtype, reduction))


def test_weights_targets_with_gradients_and_pairs_of_inputs():
    x, y, w, p = drawn((4, 3)), drawn((4, 3), F32, 1), drawn((4, 1), F32, 2).abs(), drawn((3,), F32, 3).abs()
    on = lambda v, like: v.to(like.device)  # noqa: E731
    calls = (
        lambda x: F.binary_cross_entropy_with_logits(x, on(y, x).sigmoid(), on(w, x), pos_weight=on(p, x)),
        lambda x: F.binary_cross_entropy(x.sigmoid(), on(y, x).sigmoid(), on(w, x), reduction="sum"),
        lambda x: F.huber_loss(x, on(y, x), weight=on(y, x).abs()), lambda x: F.mse_loss(x, on(y, x), weight=on(y, x).abs()),
        lambda x: F.kl_div(x, on(y, x).sigmoid(), reduction="batchmean"),
    )  # fmt: skip
    for call in calls:
        for expected, got in both(call, x):
            assert_close(got, expected, 4)
    for call in (F.mse_loss, F.smooth_l1_loss, lambda x, y: F.margin_ranking_loss(x, y, signs(x.detach()), 0.3)):
        for expected, got in both(call, x, y):
            assert_close(got, expected, 4)


def test_losses_of_what_hurts():
    inf, nan = math.inf, math.nan
    edges = tenfold.tensor([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e30, 100.0, -100.0])
    x, t = edges[:, None].expand(10, 10).contiguous(), edges.expand(10, 10)
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss, F.binary_cross_entropy_with_logits):
        for expected, got in both(lambda x, loss=loss: loss(x, t.to(x.device), reduction="none"), x):
            assert_close(got, expected, 4, loss)
    for reduction, value in (("sum", 0.0), ("mean", nan)):
        found = F.mse_loss(tenfold.zeros(0, 3, device="cuda"), tenfold.zeros(0, 3, device="cuda"), reduction=reduction)
        np.testing.assert_equal(found.item(), value)


def test_labels_at_infinite_scores():
    x = tenfold.tensor([[-INF, INF, 2.0, NAN], [INF, -INF, -3.0, 0.0]])
    for y in (1.0, 0.0, 0.25):
        labels = tenfold.full((2, 4), y)
        for column in range(4):  # a loss is a row's mean
            one = slice(column, column + 1)

            def call(x, labels=labels, one=one):
                return F.multilabel_soft_margin_loss(x[:, one], labels.to(x.device)[:, one], reduction="none")

            for expected, got in both(call, x):
                assert_close(got, expected)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
def test_entropies_whose_targets_want_a_gradient_too(dtype):
    p = tenfold.tensor([0.0, 1.0, 0.5, 1e-7, 0.25], dtype=dtype)
    y = tenfold.tensor([0.0, 1.0, 0.5, 0.25, 1.0], dtype=dtype)
    found = []
    for device in ("cpu", "cuda"):
        x, t = (v.to(device).requires_grad_() for v in (p, y))
        positive = tenfold.full((1,), 3.0, dtype=dtype, device=device)
        ended = F.binary_cross_entropy(x, t, reduction="none")
        results = [ended, *tenfold.autograd.grad(ended.sum(), (x,))]
        for weight in (None, positive):
            scores = (100 * x - 40).detach().requires_grad_()
            loss = F.binary_cross_entropy_with_logits(scores, t, reduction="none", pos_weight=weight)
            results += [loss, *tenfold.autograd.grad(loss, (scores, t), tenfold.full_like(loss, INF))]
        found.append(results)
    for expected, got in zip(*found, strict=True):
        assert_close(got, expected)


def test_rows_of_one_huge_number():
    x, y = tenfold.tensor([[1e30], [-2.0], [0.0]]), tenfold.tensor([[2.0], [1e30], [1.0]])
    for call in (F.cosine_similarity, F.pairwise_distance):
        for expected, got in both(call, x, y):
            assert_close(got, expected)


def test_packed_sequences_where_tensors_are_made_on_the_device():
    with tenfold.device("cuda"):
        packed = nn.utils.rnn.pack_padded_sequence(tenfold.ones(3, 2, 4), [1, 3], enforce_sorted=False)
        assert (packed.batch_sizes.device.type, packed.data.device.type) == ("cpu", "cuda")
        padded, lengths = nn.utils.rnn.pad_packed_sequence(packed)
    assert (lengths.device.type, lengths.tolist(), padded.device.type) == ("cpu", [1, 3], "cuda")
    assert padded[:, :, 0].tolist() == [[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("shape", [(30, 4, 50, 4), (9, 4, 5000)], ids=str)
def test_nothing_is_left_of_constant_channels(shape):
    x, bias = tenfold.full(shape, 1000.1, device="cuda"), tenfold.tensor([0.5, -1.0, 2.0, 0.0], device="cuda")
    expected = bias.view(4, *[1] * (len(shape) - 2)).expand(shape)
    for layout in (x, x.movedim(1, -1).contiguous().movedim(-1, 1)):
        for found in (F.batch_norm(layout, None, None, None, bias, True), F.instance_norm(layout, None, None, None, bias),
                      F.group_norm(layout, 2, None, bias)):  # fmt: skip
            assert tenfold.equal(found, expected)


def test_sums_of_several_programs(monkeypatch):
    monkeypatch.setattr(summing, "SHORT", 1024)
    monkeypatch.setattr(summing, "PROGRAMS", 3)
    x, t = drawn((70, 101)), drawn((70, 101), F32, 1)
    for _ in range(2):  # the counter is 0 again
        for expected, got in both(lambda x: F.mse_loss(x, t.to(x.device)), x):
            assert_close(got, expected, 4)


@pytest.mark.parametrize("shape", [(7, 4), (4,), (2, 4, 3)], ids=str)
def test_negative_log_likelihood(shape):
    rng = np.random.default_rng(3)
    target = tenfold.tensor(rng.integers(0, 4, (*shape[:1], *shape[2:]) if len(shape) > 1 else ()))
    w = drawn((4,), F32, 4).abs()
    for reduction, weight, ignored, dtype in (
        ("mean", w, 1, F32),
        ("sum", None, -100, F32),
        ("none", w, 2, F64),
        ("mean", w, 0, HALF),
    ):
        for layout in (lambda x: x, lambda x: x.movedim(0, -1).contiguous().movedim(-1, 0)):

            def loss(x, weight=weight, ignored=ignored, reduction=reduction, layout=layout):
                given = None if weight is None else weight.to(x.device).to(x.dtype)
                return F.nll_loss(layout(x), target.to(x.device), given, ignore_index=ignored, reduction=reduction)

            for expected, got in both(loss, drawn(shape, dtype)):
                assert_close(got, expected, 4)


def test_a_class_that_does_not_exist_is_told():
    with pytest.raises(AcceleratorError, match="nll_loss was out of bounds"):
        F.nll_loss(tenfold.zeros(2, 3, device="cuda"), tenfold.tensor([0, 3], device="cuda")).item()


def test_dropout_keeps_what_its_gradient_keeps():
    for dtype in (F32, HALF, F64):
        x = drawn((60, 70), dtype).abs().cuda() + 0.5
        for layout in (lambda x: x, lambda x: x.t(), lambda x: x[:, 1:]):
            leaf = x.detach().requires_grad_()
            out = F.dropout(layout(leaf), 0.25)
            out.backward(tenfold.ones_like(out))
            kept = (layout(leaf.grad) != 0).cpu()
            assert tenfold.equal((out != 0).cpu(), kept)
            assert abs(kept.double().mean().item() - 0.75) < 0.03
            assert_close(out, (layout(x) * kept.cuda() / 0.75).cpu(), 2)
    whole = tenfold.feature_dropout(tenfold.ones(30, 8, 5, device="cuda"), 0.5, True).cpu()
    assert ((whole == 0).all(2) | (whole == 2).all(2)).all()
    out, mask = tenfold.native_dropout(x, 0.25, True)
    assert tenfold.equal(out != 0, mask)


def test_dropout_keeps_the_order_of_memory_that_has_gaps():
    for memory_format, strides in ((tenfold.contiguous_format, (27, 9, 3, 1)), (tenfold.channels_last, (27, 1, 9, 3))):
        x = tenfold.ones(2, 3, 3, 6, device="cuda").contiguous(memory_format=memory_format)[..., ::2]
        for dropout in (F.dropout, F.alpha_dropout):
            got = dropout(x, 1e-10, True)
            assert got.stride() == strides
        assert F.dropout(x, 1e-10).tolist() == x.tolist()


def test_alpha_dropout_keeps_mean_and_deviation():
    out = F.alpha_dropout(drawn((100, 100)).cuda(), 0.3, True)
    assert abs(out.mean().item()) < 0.05
    assert abs(out.std().item() - 1) < 0.05


@pytest.mark.parametrize("dtype", [F32, HALF], ids=lambda d: d.name)
def test_group_norm_and_norms_of_long_rows(dtype, monkeypatch):
    monkeypatch.setattr(norm, "LONGEST", 16)
    monkeypatch.setattr(norm, "TILE", 64)
    monkeypatch.setattr(group_norm, "BLOCK", 64)
    for shape, groups in (((1, 4, 10, 7), 2), ((3, 4), 2)):
        x, w, b = drawn(shape, dtype) * 2 + 1, drawn(shape[1:2], dtype, 1), drawn(shape[1:2], dtype, 2)
        for expected, got in both(lambda x, w, b, groups=groups: F.group_norm(x, groups, w, b), x, w, b):
            assert_close(got, expected, 16, (shape, groups))
    x, w, b = drawn((2, 77), dtype) + 1, drawn((77,), dtype, 1), drawn((77,), dtype, 2)
    for expected, got in both(lambda x, w, b: F.layer_norm(x, (77,), w, b), x, w, b):
        assert_close(got, expected, 16)
    for expected, got in both(lambda x, w: F.rms_norm(x, (77,), w), x, w):
        assert_close(got, expected, 16)
    x = drawn((2, 3, 9), dtype)
    for expected, got in both(lambda x: F.instance_norm(x), x):
        assert_close(got, expected, 16)


RECURRENT = {
    "lstm": lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True),
    "projected": lambda: nn.LSTM(3, 4, proj_size=2, bidirectional=True),
    "gru": lambda: nn.GRU(3, 4, bidirectional=True),
    "gru without biases": lambda: nn.GRU(3, 4, bias=False),
    "tanh": lambda: nn.RNN(3, 4, bidirectional=True),
    "relu": lambda: nn.RNN(3, 4, nonlinearity="relu"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["padded", "packed"])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_and_their_gradients(name, packed):
    for dtype in (F32, HALF) if name == "lstm" else (F32,):
        tenfold.manual_seed(0)
        model, x = RECURRENT[name]().to(dtype), drawn((4, 3, 3), dtype)
        found = []
        for device in ("cpu", "cuda"):
            model, leaf = model.to(device), x.to(device).detach().requires_grad_()
            given = nn.utils.rnn.pack_padded_sequence(leaf, tenfold.tensor([4, 3, 1])) if packed else leaf
            output, state = model(given)
            results = [output.data if packed else output, *(state if isinstance(state, tuple) else (state,))]
            tenfold.autograd.backward(results, [drawn(tuple(r.shape), dtype, 9).to(device) for r in results])
            found.append([*results, leaf.grad, *[p.grad.clone() for p in model.parameters()]])
            model.zero_grad()
        for expected, got in zip(*found, strict=True):
            assert_close(got, expected, 8 if dtype is F32 else 16)


@pytest.mark.parametrize("dtype", [F32, F64, HALF], ids=lambda d: d.name)
def test_cosines_and_distances_of_rows(dtype):
    x, y = drawn((3, 5, 70), dtype), drawn((3, 5, 70), dtype, 1)
    x[0, 0], y[0, 1], x[1, 1], x[2, 2] = 0, 0, y[1, 1] * 1e-9, y[2, 2]
    anchor = drawn((3, 5, 70), dtype, 2)
    calls = (
        lambda x, y: F.cosine_similarity(x, y, -1), lambda x, y: F.pairwise_distance(x, y, keepdim=True),
        lambda x, y: F.pairwise_distance(x, y.t() if y.ndim == 2 else y, eps=0.0),
        lambda x, y: F.triplet_margin_loss(anchor.to(x.device), x, y),
    )  # fmt: skip
    for call in calls:
        for expected, got in both(call, x, y):
            assert_close(got, expected, 16)


@pytest.mark.parametrize("dtype", [F32, F64, HALF], ids=lambda d: d.name)
@pytest.mark.parametrize("p", [0.5, 1, 3, math.inf])
def test_distances_of_rows_by_other_norms(p, dtype):
    x, y = drawn((3, 4, 40), dtype), drawn((3, 4, 40), dtype, 1)
    x[0, 0], y[0, 0] = 0, 2  # all elements attain the greatest
    x[2, 2] = y[2, 2]
    for options in ({"eps": 0.0}, {"keepdim": True}):
        for expected, got in both(lambda x, y, o=options: F.pairwise_distance(x, y, p, **o), x, y):
            assert_close(got, expected, 16)
    hard = tenfold.tensor([[math.inf, 1, 0], [math.nan, 1, 2], [0, 0, 0], [-math.inf, math.inf, 1], [1, math.nan, math.inf]])
    for expected, got in both(lambda x: F.pairwise_distance(x, x.detach() * 0.5, p, 0.0), hard.to(dtype)):
        assert_close(got, expected, 8)


@pytest.mark.parametrize("dtype", [F32, F64, HALF], ids=lambda d: d.name)
def test_losses_of_rows_and_of_variances(dtype):
    x, y, z = (drawn((6, 5), dtype, seed) for seed in range(3))
    sign, variance = drawn((6,), dtype, 3).sign(), drawn((6, 1), dtype, 4).abs()
    variance[2] = 0
    calls = (
        (lambda x, y, v, **o: F.gaussian_nll_loss(x, y, v, eps=0.25, full=True, **o), (x, y, variance)),
        (lambda x, y, v, **o: F.gaussian_nll_loss(x, y, v, **o), (x, y, z.abs() + 0.5)),
        (lambda x, y, **o: F.cosine_embedding_loss(x, y, sign.to(x.device), 0.1, **o), (x, y)),
        (lambda x, y, z, **o: F.triplet_margin_loss(x, y, z, margin=0.7, **o), (x, y, z)),
    )  # fmt: skip
    for call, tensors in calls:
        for reduction in ("mean", "sum", "none"):
            for expected, got in both(lambda *t, call=call, reduction=reduction: call(*t, reduction=reduction), *tensors):
                assert_close(got, expected, 32 if dtype is HALF else 16, reduction)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells_and_their_gradients(cell):
    tenfold.manual_seed(0)
    model, x, h = cell(5, 6), drawn((4, 5)), drawn((4, 6), seed=1)
    for expected, got in both(
        lambda x, h: tenfold.stack(model.to(x.device)(x, (h, h)) if cell is nn.LSTMCell else [model.to(x.device)(x, h)]), x, h
    ):
        assert_close(got, expected, 8)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells_are_in_half_types_under_autocast(cell):
    tenfold.manual_seed(0)
    model, x = cell(4, 5), tenfold.linspace(-1, 1, 8).reshape(2, 4)
    expected = model(x)
    with tenfold.autocast("cuda", dtype=tenfold.bfloat16):
        found = model.cuda()(x.cuda())
    for ours, wide in zip(*(r if cell is nn.LSTMCell else (r,) for r in (found, expected)), strict=True):
        assert ours.dtype is tenfold.bfloat16
        np.testing.assert_allclose(ours.float().detach().cpu().numpy(), wide.detach().numpy(), rtol=0.02, atol=0.02)
