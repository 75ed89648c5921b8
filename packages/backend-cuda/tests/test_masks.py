"""Writing under masks, places that are chosen, one value at positions, and triangles and draws in place, against the CPU."""

from __future__ import annotations

import pytest
from both_devices import assert_close, drawn

import tenfold
from tenfold.nn import functional as F

DTYPES = [getattr(tenfold, n) for n in ("float32", "bfloat16", "float64", "int64", "uint8", "bool")]
SHAPES = [(3000,), (5, 7), (2, 3, 4, 5)]
each = pytest.mark.parametrize
of_dtypes, of_shapes = each("dtype", DTYPES, ids=lambda d: d.name), each("shape", SHAPES, ids=str)


def agree(function, *given):
    """The same call on both devices gives the same, and leaves its tensors the same."""
    on_cuda = [g.clone().to("cuda") if isinstance(g, tenfold.Tensor) else g for g in given]
    on_cpu = [g.clone() if isinstance(g, tenfold.Tensor) else g for g in given]
    found = [function(*on_cpu), function(*on_cuda)]
    assert found[1].device.type == "cuda"
    for a, b in zip([found[0], *on_cpu], [found[1], *on_cuda]):
        if isinstance(a, tenfold.Tensor):
            assert b.dtype is a.dtype
            assert b.cpu().equal(a)


def kept(shape):
    return drawn(shape, seed=5) > 0.4


@of_dtypes
@of_shapes
def test_masked_scatter(dtype, shape):
    x, mask, source = drawn(shape, seed=1).mul(3).to(dtype), kept(shape), drawn((4000,), seed=2).mul(3).to(dtype)
    for call in (
        lambda x, m, s: x.masked_scatter(m, s), lambda x, m, s: x.masked_scatter_(m, s),
        lambda x, m, s: x.masked_scatter(m[..., :1], s),
        lambda x, m, s: x.masked_scatter_(m[..., :1], s),
        lambda x, m, s: x.unsqueeze(0).mT.masked_scatter_(m.unsqueeze(0).mT, s).contiguous(),
        lambda x, m, s: x.masked_scatter(m, s.view(2, -1).mT), lambda x, m, s: x.masked_scatter(m, x),
        lambda x, m, s: x[:1].masked_scatter(m, s),
    ):  # fmt: skip
        agree(call, x, mask, source)


@of_dtypes
@of_shapes
@each("size", [0, 1, 10, 4000])
def test_nonzero_static(dtype, shape, size):
    x = drawn(shape, seed=1).to(dtype)
    agree(lambda x: tenfold.nonzero_static(x, size=size), x)
    agree(lambda x: tenfold.nonzero_static(x.flip(0), size=size, fill_value=7), x)


@of_dtypes
@of_shapes
def test_index_fill(dtype, shape):
    x, index = drawn(shape, seed=1).to(dtype), tenfold.tensor([1, 0, 0])
    for call in (
        lambda x, i: x.index_fill(-1, i, 1), lambda x, i: x.index_fill_(0, i, 1), lambda x, i: x.index_fill_(0, i[:0], 1),
        lambda x, i: x.index_fill(0, i[0], tenfold.ones((), dtype=dtype, device=x.device)),
        lambda x, i: x.flip(0).index_fill_(0, i, 0),
    ):  # fmt: skip
        agree(call, x, index)


@of_dtypes
@each("shape", [(5, 7), (7, 5), (9, 2), (3, 3, 3), (1, 1)], ids=str)
def test_diagonals(dtype, shape):
    x = drawn(shape, seed=1).to(dtype)
    for wrap in (False, True):
        agree(lambda x: x.fill_diagonal_(1, wrap), x)  # noqa: B023 - called at once
        agree(lambda x: x[..., :1].fill_diagonal_(1, wrap) if x.dim() == 2 else x.mT.fill_diagonal_(0).contiguous(), x)  # noqa: B023


def test_numbers_are_assigned():
    for dtype in (*DTYPES, tenfold.complex64, tenfold.float16):
        x = drawn((4, 6), seed=1).to(dtype)
        for index in (0, slice(1, None, 2), (Ellipsis, 0), (slice(None), slice(2, 4)), None, True, False, Ellipsis, (0, 0)):
            for value in (0, 1, 2.5, True):
                agree(lambda x: x.__setitem__(index, value) or x, x)  # noqa: B023
    for index, value in ((0, 300), ((0, 0), float("inf"))):
        for device in ("cpu", "cuda"):
            with pytest.raises(RuntimeError):
                tenfold.zeros(4, 6, dtype=tenfold.uint8, device=device)[index] = value
    x = tenfold.ones(3, device="cuda").requires_grad_()
    y = x * 2
    y[0] = 5
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 1


UNITS = {
    "silu": {}, "hardswish": {}, "leaky_relu": {"negative_slope": 0.2}, "elu": {"alpha": 0.5}, "celu": {}, "selu": {}, "mish": {},
    "hardsigmoid": {}, "relu6": {}, "threshold": {"threshold": 0.1, "value": 5.0}, "hardtanh": {}, "relu": {}, "rrelu": {},
}  # fmt: skip


@each("name", UNITS)
def test_units_in_place(name):
    for dtype in (tenfold.float32, tenfold.bfloat16):
        x = drawn((5, 700), dtype, 1)
        for part in (slice(None), (slice(None), slice(0, 9, 2))):
            found = []
            for device in ("cpu", "cuda"):
                y = x.to(device).clone()
                version = y._version
                assert getattr(F, name)(y[part], **UNITS[name], inplace=True)._version == version + 1
                found.append(y)
            assert_close(found[1], found[0])
            leaf = x.cuda().requires_grad_()
            own = x.clone().requires_grad_()
            for t in (leaf, own):
                getattr(F, name)(t * 1, **UNITS[name], inplace=True).sum().backward()
            assert_close(leaf.grad, own.grad, 2)


def test_limits_and_numbers_in_place():
    x = drawn((5, 70), seed=1)
    x[0, :3] = tenfold.tensor([float("nan"), float("inf"), -float("inf")])
    for call in (
        lambda x: x.clamp_(0.1), lambda x: x.clamp_(max=0.1), lambda x: x.clamp_(min=-0.1, max=0.1), lambda x: x.nan_to_num_(),
        lambda x: x.nan_to_num_(1.0, 2.0, 3.0), lambda x: x.clamp_(1, 0), lambda x: x.int().clamp_(1),
        lambda x: x[:, ::3].clamp_(0.1).contiguous(),
    ):  # fmt: skip
        a, b = call(x.clone()), call(x.cuda())
        assert_close(b, a)


def test_gradients_under_a_mask():
    x, mask, source = drawn((4, 6)), drawn((4, 1), seed=1) > 0, drawn((5, 6), seed=2)
    found = []
    for device in ("cpu", "cuda"):
        for written in (lambda x, m, s: x.masked_scatter(m, s), lambda x, m, s: x.mul(1).masked_scatter_(m, s)):
            a, b = (t.to(device).detach().requires_grad_() for t in (x, source))
            out = written(a, mask.to(device), b)
            grads = tenfold.autograd.grad(out.square().sum(), (a, b), create_graph=True)
            (second,) = tenfold.autograd.grad(sum(g.square().sum() for g in grads), b)
            found.append([t.detach().cpu() for t in (*grads, second)])
    for others in found[1:]:
        assert all(a.equal(b) for a, b in zip(others, found[0]))


def test_a_source_that_is_too_short_is_told():
    x = tenfold.zeros(4, device="cuda")
    with pytest.raises(tenfold.AcceleratorError, match="source given to masked_scatter has fewer elements"):
        x.masked_scatter(x == 0, tenfold.ones(3, device="cuda"))


@each("dtype", [*DTYPES, tenfold.complex128], ids=lambda d: d.name)
@each("shape", [(5, 7), (6, 260), (2, 3, 5)], ids=str)
def test_triangles_in_place(dtype, shape):
    x = drawn(shape, seed=1).to(dtype)
    # A program has 256 columns of 4 rows, or more rows of fewer columns: the last diagonal ends in the second one.
    for diagonal in (0, 1, -2, 255) if shape[-1] > 256 else (0, 1, -2):
        for name in ("tril_", "triu_"):
            agree(lambda x: getattr(x, name)(diagonal), x)  # noqa: B023 - called at once
            agree(lambda x: getattr(x.mT, name)(diagonal).contiguous(), x)  # noqa: B023
            agree(lambda x: getattr(x[..., 1:], name)(diagonal).contiguous(), x)  # noqa: B023


def test_scatter_in_place():
    x, source, index = drawn((5, 7), seed=1), drawn((4, 7), seed=2), tenfold.arange(3)[:, None].expand(3, 7).contiguous()
    agree(lambda x, i, s: x.scatter_(0, i, s), x, index, source)
    agree(lambda x, i, s: x.mT.scatter_(1, i.mT, s.mT).contiguous(), x, index, source)
    on = [t.to("cuda") for t in (x, index, source)]
    assert on[0].scatter_(0, *on[1:])._version == 1
    with pytest.raises(RuntimeError, match="single memory location"):
        on[0].scatter_(0, on[1], on[0])
    with pytest.raises(RuntimeError, match="same device"):
        on[0].scatter_(0, on[1], source)
    on[2].requires_grad_()
    on[0].scatter_(0, *on[1:]).sum().backward()
    assert on[2].grad.sum() == 21


def test_draws_in_place():
    x = tenfold.zeros(4000, device="cuda")
    assert x.normal_(2, 0.5) is x
    assert x._version == 1
    assert abs(x.mean().item() - 2) < 0.05
    assert 2 <= x.uniform_(2, 3).min().item() <= x.max().item() < 3
    assert abs(x.fill_(0.25).bernoulli_(x).mean().item() - 0.25) < 0.05
    flags = tenfold.zeros(4000, dtype=tenfold.bool, device="cuda")
    assert abs(flags.bernoulli_(0.25).float().mean().item() - 0.25) < 0.05
    assert flags.view(tenfold.uint8).max().item() == 1
    part = tenfold.zeros(30, 40, device="cuda")
    part[:, ::2].normal_()
    assert part.ne(0).sum().item() == 600
    tenfold.manual_seed(3)
    expected = tenfold.randn(4000, device="cuda")
    tenfold.manual_seed(3)
    assert x.normal_().equal(expected)
    assert tenfold.zeros(10, dtype=tenfold.complex64, device="cuda").normal_().abs().min().item() > 0
