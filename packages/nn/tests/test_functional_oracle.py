"""tenfold.nn.functional against PyTorch: values, first and second gradients, and every accelerated operator's body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold as tf
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional


def both(*shape: int, seed: int = 0, positive: bool = False, grad: bool = True) -> tuple[Any, Any]:
    """The same random tensor for both libraries, in float64."""
    values = np.random.default_rng([seed, *shape]).normal(size=shape)
    values = np.abs(values) + 0.1 if positive else values
    return tf.from_numpy(values.copy()).requires_grad_(grad), torch.from_numpy(values.copy()).requires_grad_(grad)


def whole(values: Any) -> tuple[Any, Any]:
    """The same integer tensor for both libraries."""
    return tf.tensor(values), torch.tensor(values)


def agree(got: Any, expected: Any, what: str) -> None:
    assert tuple(got.shape) == tuple(expected.shape), f"{what}: {tuple(got.shape)} for {tuple(expected.shape)}"
    np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), 1e-9, 1e-10, err_msg=what)


def check(run: Callable[..., Any], reference: Callable[..., Any], *pairs: tuple[Any, Any], orders: int = 2) -> None:
    """Compare a function of paired tensors: its value, its gradient, and its gradient's gradient."""
    ours, theirs = [p[0] for p in pairs], [p[1] for p in pairs]
    got, expected = run(*ours), reference(*theirs)
    agree(got, expected, "value")
    leaves, references = [x for x in ours if x.requires_grad], [x for x in theirs if x.requires_grad]
    for order in range(1, orders + 1):
        weights = np.random.default_rng(order).normal(size=tuple(expected.shape))
        got_total, expected_total = (got * tf.from_numpy(weights)).sum(), (expected * torch.from_numpy(weights)).sum()
        if not expected_total.requires_grad:
            return
        if not got_total.requires_grad:  # linear: PyTorch says so with zeros
            expecteds = torch.autograd.grad(expected_total, references, allow_unused=True)
            assert not any(g is not None and g.any() for g in expecteds)
            return
        more = order < orders
        gots = tf.autograd.grad(got_total, leaves, create_graph=more, allow_unused=True)
        expecteds = torch.autograd.grad(expected_total, references, create_graph=more, allow_unused=True)
        for i, (a, b) in enumerate(zip(gots, expecteds, strict=True)):
            b = torch.zeros_like(references[i]) if b is None else b
            agree(tf.zeros_like(leaves[i]) if a is None else a, b, f"gradient {i} of order {order}")
        # The sine makes the next order depend on every gradient's own value.
        got = sum((g.sin().sum() for g in gots if g is not None and g.requires_grad), tf.zeros((), dtype=tf.float64))
        expected = sum(
            (g.sin().sum() for g in expecteds if g is not None and g.requires_grad), torch.zeros((), dtype=torch.float64)
        )


CONVOLUTIONS = {
    "1d": ("conv1d", (2, 4, 9), (6, 4, 3), {"stride": 2, "padding": 1}),
    "2d": ("conv2d", (2, 4, 6, 5), (3, 4, 3, 2), {"padding": (1, 0), "dilation": (1, 2)}),
    "2d groups": ("conv2d", (2, 4, 6, 6), (6, 2, 3, 3), {"stride": 2, "padding": 1, "groups": 2}),
    "2d depthwise": ("conv2d", (2, 3, 6, 6), (6, 1, 2, 2), {"groups": 3}),
    "2d same": ("conv2d", (2, 3, 5, 6), (2, 3, 2, 3), {"padding": "same"}),
    "2d single": ("conv2d", (3, 5, 6), (2, 3, 2, 3), {"padding": "valid"}),
    "3d": ("conv3d", (1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"stride": (1, 2, 1), "padding": 1}),
    "transposed 1d": ("conv_transpose1d", (2, 4, 5), (4, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    "transposed 2d": ("conv_transpose2d", (2, 4, 3, 4), (4, 2, 3, 2), {"stride": (2, 1), "groups": 2, "dilation": (1, 2)}),
    "transposed 2d wide": ("conv_transpose2d", (1, 2, 3, 3), (2, 2, 2, 2), {"dilation": 3, "output_padding": 2}),
    "transposed 3d": ("conv_transpose3d", (1, 2, 3, 2, 3), (2, 3, 2, 2, 2), {"stride": 2, "padding": 1}),
}


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(case: str) -> None:
    name, shape, kernel, options = CONVOLUTIONS[case]
    channels = kernel[1] * options.get("groups", 1) if "transpose" in name else kernel[0]
    run, reference = getattr(F, name), getattr(TF, name)
    pairs = both(*shape), both(*kernel, seed=1), both(channels, seed=2)
    check(lambda *a: run(*a, **options), lambda *a: reference(*a, **options), *pairs)


@pytest.mark.parametrize("case", [c for c in CONVOLUTIONS if "same" not in c])
def test_convolution_bodies(case: str) -> None:
    name, shape, kernel, options = CONVOLUTIONS[case]
    n, transposed = len(kernel) - 2, "transpose" in name
    given = {"stride": 1, "padding": 0, "dilation": 1, "output_padding": 0, **options}
    given["padding"] = 0 if given["padding"] == "valid" else given["padding"]
    sizes = {k: (v,) * n if isinstance(v, int) else v for k, v in given.items() if k != "groups"}
    steps = (sizes["stride"], sizes["padding"], sizes["dilation"], transposed, sizes["output_padding"], options.get("groups", 1))
    reference = getattr(TF, name)
    x, w = both(*shape), both(*kernel, seed=1)
    check(lambda a, b: tf.op.convolution.body(a, b, None, *steps), lambda a, b: reference(a, b, **options), x, w)
    out = reference(x[1], w[1], **options)
    g = both(*out.shape, seed=3, grad=False)
    expected = torch.autograd.grad(out, (x[1], w[1]), g[1])
    agree(tf.op.convolution_input_grad.body(g[0], w[0], shape, *steps), expected[0], "input gradient")
    agree(tf.op.convolution_weight_grad.body(g[0], x[0], kernel, *steps), expected[1], "weight gradient")


def test_complex_convolution() -> None:
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(*s, 2)).view(np.complex128)[..., 0] for s in ((2, 2, 5), (3, 2, 2), (3,))]
    ours, theirs = ([lib.from_numpy(a.copy()).requires_grad_() for a in made] for lib in (tf, torch))
    got, expected = F.conv1d(*ours, stride=2), TF.conv1d(*theirs, stride=2)
    agree(got, expected, "value")
    g = rng.normal(size=(*expected.shape, 2)).view(np.complex128)[..., 0]
    gots, expecteds = tf.autograd.grad(got, ours, tf.from_numpy(g)), torch.autograd.grad(expected, theirs, torch.from_numpy(g))
    for a, b in zip(gots, expecteds, strict=True):
        agree(a, b, "gradient")


IMAGE = (2, 3, 6, 5)
LABELS = whole([[1, 0, 3], [2, -100, 1]])
CALLS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "linear": (lambda f, x, w, b: f.linear(x, w, b), [(2, 3, 4), (5, 4), (5,)]),
    "linear vector": (lambda f, x, w: f.linear(x, w), [(4,), (5, 4)]),
    "bilinear": (lambda f, x, y, w, b: f.bilinear(x, y, w, b), [(2, 3), (2, 4), (5, 3, 4), (5,)]),
    "layer_norm": (lambda f, x, w, b: f.layer_norm(x, (6, 5), w, b), [IMAGE, (6, 5), (6, 5)]),
    "layer_norm plain": (lambda f, x: f.layer_norm(x, (5,)), [IMAGE]),
    "rms_norm": (lambda f, x, w: f.rms_norm(x, (5,), w, 1e-3), [IMAGE, (5,)]),
    "batch_norm": (lambda f, x, w, b: f.batch_norm(x, None, None, w, b, True), [IMAGE, (3,), (3,)]),
    "instance_norm": (lambda f, x, w, b: f.instance_norm(x, None, None, w, b), [IMAGE, (3,), (3,)]),
    "group_norm": (lambda f, x, w, b: f.group_norm(x, 2, w, b), [(2, 4, 3), (4,), (4,)]),
    "local_response_norm": (lambda f, x: f.local_response_norm(x, 2), [IMAGE]),
    "normalize": (lambda f, x: f.normalize(x, 3.0, 2), [IMAGE]),
    "max_pool2d": (lambda f, x: f.max_pool2d(x, 3, 2, 1, 2, True), [(2, 3, 9, 8)]),
    "max_pool3d": (lambda f, x: f.max_pool3d(x, 2), [(1, 2, 4, 4, 4)]),
    "avg_pool1d": (lambda f, x: f.avg_pool1d(x, 3, 2, 1, True, False), [(2, 3, 8)]),
    "avg_pool2d": (lambda f, x: f.avg_pool2d(x, (3, 2), 2, 1, True), [IMAGE]),
    "lp_pool2d": (lambda f, x: f.lp_pool2d(x * x + 1, 2.0, 2), [IMAGE]),
    "adaptive_avg_pool2d": (lambda f, x: f.adaptive_avg_pool2d(x, (4, None)), [IMAGE]),
    "adaptive_max_pool2d": (lambda f, x: f.adaptive_max_pool2d(x, (4, 2)), [IMAGE]),
    "unfold": (lambda f, x: f.unfold(x, (3, 2), padding=1, stride=2), [IMAGE]),
    "fold": (lambda f, x: f.fold(x, (4, 5), (2, 2)), [(2, 12, 12)]),
    "pad constant": (lambda f, x: f.pad(x, (1, -2, 0, 3), value=2.0), [IMAGE]),
    "pad reflect": (lambda f, x: f.pad(x, (1, 2, 3, 0), "reflect"), [IMAGE]),
    "pad circular": (lambda f, x: f.pad(x, (1, -2, 3, 0), "circular"), [IMAGE]),
    "cross_entropy": (
        lambda f, x, w: f.cross_entropy(x, LABELS[f is TF], w.detach().abs(), label_smoothing=0.1),
        [(2, 4, 3), (4,)],
    ),
    "cross_entropy none": (lambda f, x: f.cross_entropy(x, LABELS[f is TF], reduction="none"), [(2, 4, 3)]),
    "cross_entropy probabilities": (lambda f, x, t: f.cross_entropy(x, t, label_smoothing=0.2), [(2, 4, 3), (2, 4, 3)]),
    "nll_loss": (lambda f, x, w: f.nll_loss(x, LABELS[f is TF], w.detach().abs()), [(2, 4, 3), (4,)]),
    "mse_loss": (lambda f, x, y: f.mse_loss(x, y), [(3, 4), (3, 4)]),
    "huber_loss": (lambda f, x, y: f.huber_loss(x, y, delta=0.7), [(3, 4), (3, 4)]),
    "smooth_l1_loss": (lambda f, x, y: f.smooth_l1_loss(x, y, beta=0.5, reduction="sum"), [(3, 4), (3, 4)]),
    "bce logits": (
        lambda f, x, y: f.binary_cross_entropy_with_logits(x, y.detach().sigmoid(), pos_weight=y.detach()[0] ** 2),
        [(3, 4), (3, 4)],
    ),
    "cosine_similarity": (lambda f, x, y: f.cosine_similarity(x, y, 1), [(3, 4), (3, 4)]),
    "triplet": (lambda f, x, y, z: f.triplet_margin_loss(x, y, z, swap=True, margin=3.0), [(3, 4)] * 3),
    "attention": (lambda f, q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True), [(2, 5, 4), (2, 5, 4), (2, 5, 3)]),
    "attention mask": (
        lambda f, q, k, v, m: f.scaled_dot_product_attention(q, k, v, m),
        [(2, 5, 4), (2, 6, 4), (2, 6, 3), (5, 6)],
    ),
    "attention heads": (
        lambda f, q, k, v: f.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        [(1, 4, 3, 2), (1, 2, 5, 2), (1, 2, 5, 2)],
    ),
    "bilinear resize": (lambda f, x: f.interpolate(x, (9, 3), mode="bilinear", align_corners=False), [IMAGE]),
    "bicubic resize": (lambda f, x: f.interpolate(x, scale_factor=1.7, mode="bicubic", align_corners=True), [IMAGE]),
    "antialias": (lambda f, x: f.interpolate(x, (3, 4), mode="bilinear", antialias=True), [IMAGE]),
    "area": (lambda f, x: f.interpolate(x, (3, 4), mode="area"), [IMAGE]),
    "pixel_shuffle": (lambda f, x: f.pixel_unshuffle(f.pixel_shuffle(x, 2), 4), [(2, 8, 2, 4)]),
}
# PyTorch computes no second gradient of these, or not on the CPU.
ONCE = {"bicubic resize", "antialias", "adaptive_max_pool2d", "max_pool3d", "bilinear resize", "attention", "attention heads"}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    call, shapes = CALLS[name]
    pairs = [both(*shape, seed=i) for i, shape in enumerate(shapes)]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        check(lambda *a: call(F, *a), lambda *a: call(TF, *a), *pairs, orders=1 if name in ONCE else 2)


def test_grid_sample() -> None:
    theta = both(2, 2, 3)
    image = both(2, 3, 5, 4, seed=1)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                call = lambda f, t, x: f.grid_sample(x, f.affine_grid(t, (2, 3, 4, 6), align), mode, padding, align)  # noqa: E731, B023
                check(lambda t, x: call(F, t, x), lambda t, x: call(TF, t, x), theta, image, orders=1)  # noqa: B023


def test_embedding() -> None:
    index = whole([[1, 2, 0], [2, 2, 3]])
    for options in ({}, {"padding_idx": 2}, {"padding_idx": -1}, {"scale_grad_by_freq": True}):
        call = lambda f, i, w: f.embedding(i, w, **options) ** 3  # noqa: E731, B023
        # PyTorch's second gradient leaves scale_grad_by_freq out.
        orders = 1 if "scale_grad_by_freq" in options else 2
        check(lambda w: call(F, index[0], w), lambda w: call(TF, index[1], w), both(5, 3), orders=orders)  # noqa: B023


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(mode: str) -> None:
    flat, starts = whole([1, 2, 0, 4, 4, 3]), whole([0, 2, 2, 5])
    for options in ({}, {"padding_idx": 4}):
        call = lambda f, i, w, o: f.embedding_bag(i, w, o, mode=mode, **options)  # noqa: E731, B023
        check(lambda w: call(F, flat[0], w, starts[0]), lambda w: call(TF, flat[1], w, starts[1]), both(5, 3), orders=1)  # noqa: B023


def test_embedding_renormalizes_in_place() -> None:
    index, (ours, theirs) = whole([0, 2, 2]), both(4, 3, grad=False)
    agree(F.embedding(index[0], ours, max_norm=0.5), TF.embedding(index[1], theirs, max_norm=0.5), "rows")
    agree(ours, theirs, "table")


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_running_statistics(name: str) -> None:
    x, mean, var = both(4, 3, 5), both(3, seed=1, grad=False), both(3, seed=2, positive=True, grad=False)
    for flag in (True, False):
        options = {"training" if name == "batch_norm" else "use_input_stats": flag}
        got = getattr(F, name)(x[0], mean[0], var[0], momentum=0.3, **options)
        agree(got, getattr(TF, name)(x[1], mean[1], var[1], momentum=0.3, **options), "value")
        agree(mean[0], mean[1], "running mean")
        agree(var[0], var[1], "running variance")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc_loss(reduction: str) -> None:
    labels, x = whole([[1, 2, 2], [3, 1, 0]]), both(7, 2, 4)
    options = {"input_lengths": (7, 5), "target_lengths": (3, 2), "reduction": reduction}
    call = lambda f, a, t: f.ctc_loss(f.log_softmax(a, 2), t, **options)  # noqa: E731
    check(lambda a: call(F, a, labels[0]), lambda a: call(TF, a, labels[1]), x, orders=1)


def test_max_pool_indices_and_unpool() -> None:
    x = both(2, 3, 6, 6)
    values, places = F.max_pool2d(x[0], 2, return_indices=True)
    expected, where = TF.max_pool2d(x[1], 2, return_indices=True)
    agree(places, where, "indices")
    agree(F.max_unpool2d(values, places, 2), TF.max_unpool2d(expected, where, 2), "unpooled")


def test_dropout_in_attention_draws_as_pytorch() -> None:
    q = both(2, 4, 3, grad=False)
    tf.manual_seed(3)
    torch.manual_seed(3)
    got, expected = (f.scaled_dot_product_attention(x, x, x, dropout_p=0.4) for f, x in ((F, q[0]), (TF, q[1])))
    agree(got, expected, "value")


BODIES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "linear": lambda: (both(2, 3, 4)[0], both(5, 4)[0], both(5)[0]),
    "constant_pad": lambda: (both(2, 3, 4)[0], (1, -2, 0, 3), 1.5),
    "fused_layer_norm": lambda: (both(2, 3, 4)[0], 2, both(3, 4, seed=1)[0], both(3, 4, seed=2)[0], 1e-3),
    "fused_rms_norm": lambda: (both(2, 3, 4)[0], 1, both(4, seed=1)[0], 1e-3),
    "fused_batch_norm": lambda: (both(2, 3, 4)[0], both(3, seed=1)[0], both(3, seed=2)[0], None, None, True, 1e-3),
    "fused_group_norm": lambda: (both(2, 4, 3)[0], 2, both(4, seed=1)[0], both(4, seed=2)[0], 1e-3),
    "fused_nll_loss": lambda: (both(2, 4, 3)[0], LABELS[0], both(4, positive=True, grad=False)[0], -100, "mean"),
    "fused_cross_entropy": lambda: (both(2, 4, 3)[0], LABELS[0], both(4, positive=True, grad=False)[0], -100, 0.2, "mean"),
    "fused_attention": lambda: (both(2, 5, 4)[0], both(2, 6, 4)[0], both(2, 6, 3)[0], both(5, 6, grad=False)[0], False, 0.3),
    "max_pool": lambda: (both(2, 9, 8)[0], (3, 2), (2, 2), (1, 1), (2, 1), True),
    "avg_pool": lambda: (both(2, 9, 8)[0], (3, 2), (2, 2), (1, 1), True, False, None),
    "adaptive_avg_pool": lambda: (both(2, 9, 8)[0], (4, 3)),
    "adaptive_max_pool": lambda: (both(2, 9, 8)[0], (4, 3)),
    "im2col": lambda: (both(2, 3, 5, 6)[0], (2, 3), (2, 1), (1, 0), (1, 2)),
    "col2im": lambda: (both(2, 12, 12)[0], (4, 5), (2, 2), (1, 1), (0, 0), (1, 1)),
    "embedding_rows": lambda: (both(5, 3)[0], whole([[1, 2], [4, 1]])[0], -1, False),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_agree_with_kernels(name: str) -> None:
    """An accelerated operator and its body: the same results and the same gradients."""
    operator, arguments = getattr(tf.op, name), BODIES[name]()
    fast, slow = operator(*arguments), operator.body(*arguments)
    leaves = [a for a in arguments if getattr(a, "requires_grad", False)]
    pairs = list(zip(fast, slow, strict=True)) if isinstance(slow, tuple) else [(fast, slow)]
    for a, b in pairs:
        agree(a.reshape(b.shape), b, "result")
    gradients = []
    for out in pairs[0]:
        weights = np.random.default_rng(5).normal(size=tuple(out.shape))
        gradients.append(tf.autograd.grad((out * tf.from_numpy(weights)).sum(), leaves))
    for a, b in zip(*gradients, strict=True):
        agree(a, b, "gradient")


GRADIENT_BODIES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "max_pool_grad": lambda: (both(2, 3)[0], whole([[0, 3, 3], [5, 1, 2]])[0], (2, 6), 1),
    "avg_pool_grad": lambda: (both(2, 5, 5)[0], (2, 9, 8), (3, 2), (2, 2), (1, 1), True, False, None),
    "adaptive_avg_pool_grad": lambda: (both(2, 4, 3)[0], (2, 9, 8), 2),
    "embedding_weight_grad": lambda: (both(2, 2, 3)[0], whole([[1, 2], [2, 3]])[0], 5, 3, True),
}


@pytest.mark.parametrize("name", GRADIENT_BODIES)
def test_gradient_bodies_agree_with_kernels(name: str) -> None:
    operator, arguments = getattr(tf.op, name), GRADIENT_BODIES[name]()
    agree(operator(*arguments), operator.body(*arguments), "result")


ERRORS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "conv2d channels": (lambda f, x, w: f.conv2d(x, w), [(1, 3, 5, 5), (2, 4, 3, 3)]),
    "conv2d kernel": (lambda f, x, w: f.conv2d(x, w), [(1, 3, 2, 2), (2, 3, 3, 3)]),
    "conv2d dims": (lambda f, x, w: f.conv2d(x, w), [(5, 5), (2, 3, 3, 3)]),
    "linear": (lambda f, x, w: f.linear(x, w), [(2, 3), (4, 5)]),
    "layer_norm": (lambda f, x: f.layer_norm(x, (4,)), [(2, 3)]),
    "batch_norm": (lambda f, x: f.batch_norm(x, None, None, training=True), [(1, 3)]),
    "group_norm": (lambda f, x: f.group_norm(x, 2), [(2, 3)]),
    "max_pool2d": (lambda f, x: f.max_pool2d(x, 2, padding=2), [(1, 1, 4, 4)]),
    "cross_entropy": (lambda f, x: f.cross_entropy(x, LABELS[f is TF]), [(3, 4, 3)]),
    "reduction": (lambda f, x: f.mse_loss(x, x, reduction="max"), [(3,)]),
    "embedding": (lambda f, w: f.embedding(LABELS[f is TF], w), [(2, 3)]),
    "interpolate": (lambda f, x: f.interpolate(x), [(1, 1, 4)]),
    "pad": (lambda f, x: f.pad(x, (4, 0), "reflect"), [(1, 4)]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_pytorchs_types(name: str) -> None:
    call, shapes = ERRORS[name]
    pairs = [both(*shape, grad=False) for shape in shapes]
    with pytest.raises(Exception) as expected:
        call(TF, *[p[1] for p in pairs])
    with pytest.raises(expected.type, match=r"\w"):
        call(F, *[p[0] for p in pairs])


@pytest.mark.parametrize("name", ["rrelu", "gumbel_softmax"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_random_activations_draw_as_pytorch_does(name, order):
    results = []
    for lib in (tf, torch):
        x = lib.tensor(np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)).permute(order)
        lib.manual_seed(7)
        options = {"training": True} if name == "rrelu" else {}
        results.append((getattr(lib.nn.functional, name)(x, **options).numpy(), lib.rand(1).item()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    assert results[0][1] == results[1][1]


@pytest.mark.parametrize("rows", [1, 2, 40, 700])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_pdist_of_near_equal_and_infinite_rows(rows, offset):
    x = np.random.default_rng(0).standard_normal((rows, 24), dtype=np.float32) + np.float32(offset)
    if rows > 5:
        x[3], x[2] = x[1], x[1] + np.float32(1e-4)
        x[4, 1], x[5, 2] = np.inf, np.nan
    ours, theirs = F.pdist(tf.from_numpy(x)), torch.nn.functional.pdist(torch.from_numpy(x))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 64), (4, 1)])
def test_cosine_similarity_of_huge_small_and_unknown_rows(shape):
    data = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)
    for row, value in zip(data[0].reshape(-1, shape[-1]), (1.0, 0.0, 1e-12, 1e30, np.nan, np.inf)):
        row *= value
    for dim in range(-1, len(shape)):
        with np.errstate(invalid="ignore"):
            ours = F.cosine_similarity(tf.from_numpy(data[0]), tf.from_numpy(data[1]), dim)
            theirs = torch.nn.functional.cosine_similarity(torch.from_numpy(data[0]), torch.from_numpy(data[1]), dim)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6, atol=2e-7)
