"""Indexing, scattering, joining and counting on the device, against the CPU: what the samples of operators do not reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenfold
from tenfold.dispatch.devices import AcceleratorError
from tenfold.nn import functional as F

HALF, WHOLE = tenfold.bfloat16, tenfold.int64
DTYPES = [tenfold.float32, HALF, WHOLE, tenfold.bool, tenfold.complex128]
TOLERANCE = {tenfold.float16: 4e-3, HALF: 2e-2}


def drawn(shape, dtype, seed=0):
    found = np.random.default_rng(seed).normal(0, 4, shape)
    return tenfold.tensor(found).to(dtype)


def positions(shape, size, low=0, seed=1):
    return tenfold.tensor(np.random.default_rng(seed).integers(low, size, shape))


def same(call, *given):
    """The call's result on the device, after it was found to be the CPU's."""
    expected, got = call(*given), call(*(t.cuda() for t in given))
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    assert got.shape == expected.shape
    wide = tenfold.float64 if expected.dtype is HALF else expected.dtype
    a, b = (t.cpu().to(wide).numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=TOLERANCE.get(expected.dtype, 1e-5), atol=TOLERANCE.get(expected.dtype, 1e-6))
    return got


@pytest.fixture(params=[False, True], ids=["atomic", "in order"])
def deterministic(request):
    tenfold.use_deterministic_algorithms(request.param)
    yield request.param
    tenfold.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reading_and_writing_at_places(dtype):
    i, j, k = positions((4, 1), 5, -5), positions((3,), 6, -6), positions((4, 3), 5)
    x = drawn((5, 6, 16), dtype)
    reads = (
        lambda x, i, j: x[i], lambda x, i, j: x[i, j], lambda x, i, j: x[:, j], lambda x, i, j: x[i, :, j],
        lambda x, i, j: x[..., j], lambda x, i, j: x[i, j, j], lambda x, i, j: x.transpose(0, 2)[j],
        lambda x, i, j: x[::2, 1:, 1:][i % 3],
        lambda x, i, j: x[:, :, ::3][i.int()], lambda x, i, j: x[i[:0]], lambda x, i, j: x[i[0, 0]], lambda x, i, j: x[:0][i[:0]],
        lambda x, i, j: x[1:2].expand(5, 6, 16)[i, j],
    )  # fmt: skip
    for read in reads:
        same(read, x, i, j)
    same(lambda x, k: x[:, :, 0].gather(1, k), x, k)
    same(lambda x, k: x[:, :, 0].t().gather(0, k.t()), x, k)
    same(lambda x, k: x.gather(1, k[:, :, None].expand(4, 3, 16)), x, k)
    three = x[0, 0, 0].cpu()

    def written(x, j, three):
        y = x.clone()
        y[:, j] = three
        y[1:, :, 2:].scatter_(1, (j % 6)[None, :, None].expand(4, 3, 14), 1)
        return y.index_copy(0, j[:1] % 5, y[-1:] + y[-1:])

    same(written, x, j, three)


@pytest.mark.parametrize("dtype", [tenfold.float32, HALF, tenfold.float64, tenfold.int16, WHOLE, tenfold.complex64], ids=str)
def test_sums_at_one_place(dtype, deterministic):
    x, values, k = drawn((5, 6), dtype), drawn((7, 6), dtype, 2), positions((7,), 5)
    same(lambda x, v, k: x.index_add(0, k, v), x, values, k)
    same(lambda x, v, k: x.t().index_add(1, k, v.t()), x, values, k)
    same(lambda x, v, k: x.index_put((k, k), v[:, 0], accumulate=True), x, values, k - 5)
    same(lambda x, v, k: x.index_put((k,), v[0], accumulate=True), x, values, k)
    same(lambda x, v, k: x.scatter_add(0, k[:, None].expand(7, 6), v), x, values, k)
    same(lambda x, v, k: x.scatter_add(1, k[None].expand(4, 7), v[:4].repeat(1, 2)), x, values, k)
    same(lambda x, v, k: x[0, 0].scatter_add(0, k[0] * 0, v[0, 0]), x, values, k)


def changed(call):
    """The function that writes into a copy of its first tensor, which lies in any way, and gives that."""

    def written(x, *rest):
        whole = x.new_zeros(2, *x.shape[::-1]).transpose(-1, 1)  # in columns, and beside something else
        whole[1] = x
        call(whole[1], *rest)
        return whole

    return written


@pytest.mark.parametrize("dtype", [tenfold.float32, HALF, WHOLE, tenfold.uint8, tenfold.bool, tenfold.complex64], ids=str)
def test_one_value_where_a_mask_holds(dtype):
    x, mask = drawn((4, 5), dtype), drawn((4, 5), tenfold.float32, 3) > 0
    value = drawn((), dtype, 5)
    for call in (
        lambda y, m, v: y.__setitem__(m, v),
        lambda y, m, v: y.__setitem__(m.t().contiguous().t(), v.reshape(1)),
        lambda y, m, v: y.__setitem__(m[:, 0], v),
        lambda y, m, v: y.__setitem__((slice(None), m[0]), v),
        lambda y, m, v: y.__setitem__((slice(1, 3), m[0]), v),
        lambda y, m, v: y.__setitem__(m, 1),
        lambda y, m, v: y.masked_fill_(m, v),
        lambda y, m, v: y.copy_(y.clone().index_put((m,), v)),
    ):
        same(changed(call), x, mask, value)
    same(lambda x, m, v: x.masked_fill(m, v), x[0], mask, value)


@pytest.mark.parametrize("dtype", [tenfold.float32, HALF, WHOLE, tenfold.complex64], ids=str)
def test_slices_written_in_place(dtype):
    x, rows, k = drawn((4, 5), dtype), drawn((3, 5), dtype, 2), tenfold.tensor([2, 0, 3])
    for call in (
        lambda y, r, k: y.index_copy_(0, k, r), lambda y, r, k: y.index_copy_(-1, k, r.t()[:4]),
        lambda y, r, k: y.index_add_(0, k, r), lambda y, r, k: y.index_add_(0, k, r, alpha=2),
        lambda y, r, k: y.scatter_(1, k[:, None], r), lambda y, r, k: y.scatter_(0, k[None], 1),
        lambda y, r, k: y.scatter_(0, k[None], value=1), lambda y, r, k: y.index_copy_(0, k[:2], y[1:3]),
    ):  # fmt: skip
        same(changed(call), x, rows, k)
    with pytest.raises(RuntimeError, match="index_copy_"):
        x.cuda().index_copy_(0, k.int().cuda(), rows.cuda())


REDUCED = [tenfold.float32, HALF, tenfold.uint8, WHOLE, tenfold.float64, tenfold.uint64, tenfold.complex64, tenfold.complex128]


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # NumPy's, which divides complex sums here
@pytest.mark.parametrize("dtype", REDUCED, ids=str)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_reductions_at_one_place(dtype, reduce, monkeypatch):
    if dtype.is_complex and reduce in ("amax", "amin"):
        return  # complex numbers have no order
    monkeypatch.setattr("tenfold.cuda.kernels.scattering._on_host", None)
    x, values, k = drawn((4, 5), dtype), drawn((7, 5), dtype, 2), positions((7, 5), 4)
    if dtype is tenfold.uint64:  # beyond what has a sign
        x, values = x * (2**61 + 5), values * (2**61 + 3)
    elif dtype.itemsize > 1 and dtype is not WHOLE:
        values[0, 0], values[1, 1], values[2, 2], values[3, 3] = math.nan, -math.nan, -math.inf, -0.0
    for inside in (True, False):
        same(lambda x, v, k, i=inside: x.scatter_reduce(0, k, v, reduce, include_self=i), x, values, k)
        same(lambda x, v, k, i=inside: x.scatter_reduce(1, k[:3], v, reduce, include_self=i), x, values, k)


@pytest.mark.parametrize("dtype", [tenfold.float32, HALF], ids=str)
@pytest.mark.parametrize(("padding", "frequent"), [(None, False), (2, True)])
def test_the_gradient_of_an_embedding(dtype, padding, frequent, deterministic):
    def gradient(weight, i, g):
        leaf = weight.detach().requires_grad_()
        F.embedding(i, leaf, padding, scale_grad_by_freq=frequent).backward(g)
        return leaf.grad

    for width in (3, 16):
        i = positions((3, 4), 5)
        i[0] = 2
        same(gradient, drawn((5, width), dtype), i, drawn((3, 4, width), dtype, 3))
        same(gradient, drawn((5, width), dtype), i.int(), drawn((3, 4, 1), dtype, 3).expand(3, 4, width))


def waited(call, index):
    call(tenfold.tensor(index, device="cuda"))
    tenfold.cuda.synchronize()


def test_what_is_out_of_bounds_is_neither_read_nor_written():
    x, ones = tenfold.zeros(8, 16, device="cuda"), tenfold.ones(2, 16, device="cuda")
    inner = x[2:6]
    calls = {
        "index": lambda i: inner[i], "gather": lambda i: inner.gather(0, i[:, None].expand(2, 16)),
        "index_put": lambda i: inner.index_put_((i,), ones), "embedding": lambda i: F.embedding(i, inner),
        "scatter": lambda i: inner.scatter_(0, i[:, None].expand(2, 16).contiguous(), ones),
    }  # fmt: skip
    for name, call in calls.items():
        for bad in (4, -5, 2**40):
            with pytest.raises(AcceleratorError, match=f"an index given to {name} was out of bounds"):
                waited(call, [bad, 1])
    for call in (lambda i: inner.index_put_((i,), ones, accumulate=True), lambda i: inner.scatter_add_(0, i[:, None], ones)):
        with pytest.raises(AcceleratorError):
            waited(call, [4, -5])
    assert x[:2].abs().sum().item() == x[6:].abs().sum().item() == 0


def test_values_fit_what_a_mask_selects_and_places_are_where_there_are_any():
    x = tenfold.arange(4, device="cuda")
    for bad in ([], [1, 2, 3]):
        with pytest.raises(RuntimeError, match=rf"shape mismatch: value tensor of shape \[{len(bad)}\] cannot .* of shape \[4\]"):
            x[x > -1] = tenfold.tensor(bad, device="cuda")
    with pytest.raises(RuntimeError, match="got Long for the destination and Float for the source"):
        x[x > -1] = tenfold.ones(4, device="cuda")
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        x.reshape(4, 1)[:, :0][:, [0, 1]]
    both = tenfold.arange(24).reshape(2, 3, 4)
    mask, more = tenfold.tensor([[True, False, True], [False, True, True]]), tenfold.tensor([3, 0, 2, 2])

    def written(x, mask, more):
        x = x.clone()
        x[mask] = -x[mask]
        x[mask, more] = x[mask, 0] * 100
        return x.index_put((mask,), x[mask] * 1000, accumulate=True)

    both[tenfold.tensor(True)] = -both
    same(lambda x: x.index_put((tenfold.tensor(True).to(x.device),), -2 * x.expand(1, 2, 3, 4)), both)
    same(written, both, mask, more)
    same(written, both.to(tenfold.complex64), mask, more)


def test_segments():
    offsets = tenfold.tensor([0, 3, 3, 10, 40])
    for shape in ((40,), (40, 3), (40, 2, 8)):
        for dtype in (tenfold.float32, HALF):
            x = drawn(shape, dtype).clamp(-1.2, 1.2)
            x.view(-1)[1] = math.nan
            for reduce in ("sum", "mean", "prod", "amax", "amin"):
                for start in (None, 0.5):
                    same(lambda x, o, r=reduce, s=start: tenfold.op.reduced_segments(x, o, r, s), x, offsets)
    same(
        lambda x, o: tenfold.op.reduced_segments(x, o, "sum", None),
        drawn((2, 6, 3), HALF),
        tenfold.tensor([[0, 1, 6], [2, 4, 4]]),
    )

    def gradient(x):
        leaf = x.detach().requires_grad_()
        tenfold.segment_reduce(leaf, "max", lengths=tenfold.tensor([2, 4], device=x.device)).sum().backward()
        return leaf.grad

    same(gradient, drawn((6, 2), tenfold.float32))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_joining_and_rearranging(dtype):
    x, y, z = drawn((4, 6), dtype), drawn((4, 16), dtype, 1), drawn((2, 5, 8), dtype, 2)
    same(lambda x, y: tenfold.cat([x, y, x, x[:, 1:3], x[:, ::2]], 1), x, y)
    same(lambda x: tenfold.cat([x.t(), x.t()[:1], x.t()[:0]]), x)
    same(lambda x: tenfold.cat([x[:, 1:], x[:, :5]] * 5), x)
    same(lambda x: tenfold.stack([x] * 9, 1), x)
    planes = z[:, None].contiguous().expand(2, 3, 5, 8).contiguous(memory_format=tenfold.channels_last)
    joined = same(lambda p: tenfold.cat([p, p[:, :2].contiguous(memory_format=tenfold.channels_last)], 1), planes)
    assert joined.is_contiguous(memory_format=tenfold.channels_last)
    for n in (6, 16):
        same(lambda y, n=n: y[:, :n].tril(1), y)
    for diagonal in (-9, -1, 0, 3):
        for made in (lambda z: z, lambda z: z.transpose(1, 2), lambda z: z[:, ::2, 1:], lambda z: z[1].expand(3, 2, 5, 8)):
            same(lambda z, d=diagonal, m=made: m(z).tril(d), z)
            same(lambda z, d=diagonal, m=made: m(z).triu(d), z)
    for shifts, dims in ((3, None), ((1, -2), (0, 2)), ((2, 3), (1, 1))):
        same(lambda z, s=shifts, d=dims: z.roll(s, d), z)
    same(lambda z: z.transpose(0, 2).flip(0, 1), z)


def test_counts():
    for size in (0, 3, 3000):
        for most in (2, 3000):
            i = positions((size,), most)
            same(lambda i: i.bincount(minlength=5), i)
            same(lambda i: i.int().bincount(i.float() / 4), i)
    for dtype in (tenfold.float32, tenfold.float64):
        x = drawn((3000,), dtype)
        for bins, low, high in ((10, 0, 0), (7, -3, 3), (3000, -2, 2), (4, 1, 1)):
            same(lambda x, b=bins, l=low, h=high: tenfold.histc(x, b, l, h), x)
        same(lambda x: tenfold.histc(x[:1], 4), x)
        with pytest.raises(AcceleratorError, match="range that is not finite"):
            tenfold.histc((x / 0).cuda(), 4).cpu()
    same(tenfold.repeat_interleave, tenfold.tensor([2, 0, 3]))
    with pytest.raises(RuntimeError, match="not negative"):
        tenfold.repeat_interleave(tenfold.tensor([2, -1, 3], device="cuda"))


def test_a_tensor_is_neither_put_into_itself_nor_at_its_own_places():
    x, order = tenfold.arange(9, device="cuda").reshape(3, 3), tenfold.tensor([2, 1, 0], device="cuda")
    for call in (
        lambda: x.__setitem__(order, x), lambda: x.index_put_((order,), x, accumulate=True), lambda: x.index_put_((order,), x[0]),
        lambda: order.__setitem__(order, order.clone()), lambda: order.index_put_((order,), order[:1]),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="unsupported operation: some elements"):
            call()
    assert x.index_put((order,), x).tolist() == x.flip(0).tolist()
    assert order.index_put((order,), 7 * order[:1]).tolist() == [14] * 3


@pytest.mark.parametrize("dtype", [tenfold.float32, HALF, tenfold.complex64])
def test_gradients_of_elements_at_places(dtype):
    x, i, j = drawn((5, 4, 3), dtype), positions((6,), 5, -5), positions((6,), 4)
    along, thin = positions((5, 2, 3), 4), positions((2, 4, 3), 5)

    def slopes(call, x, *given):
        leaf = x.detach().requires_grad_()
        out = call(leaf, *given)
        out.backward(out.detach().conj())
        return leaf.grad

    for call in (
        lambda x, i, j: x[i], lambda x, i, j: x[:, j], lambda x, i, j: x[i, j], lambda x, i, j: x[i[:, None], j],
        lambda x, i, j: x[i, :, j[:1] * 0], lambda x, i, j: x.take(j), lambda x, i, j: x[i[:0]],
    ):  # fmt: skip
        same(lambda x, i, j, call=call: slopes(call, x, i, j), x, i, j)
    same(lambda x, along: slopes(lambda x, along: x.gather(1, along), x, along), x, along)
    same(lambda x, thin: slopes(lambda x, thin: x.gather(-3, thin), x, thin), x, thin)


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.int16, tenfold.bool], ids=str)
def test_what_is_no_index_and_no_reduction_is_refused(dtype):
    x, k, src = tenfold.zeros(3, 4).cuda(), tenfold.zeros(1, 4, dtype=dtype).cuda(), tenfold.ones(1, 4).cuda()
    for call in (
        lambda: x.gather(0, k), lambda: x.scatter(0, k, src), lambda: x.scatter_(0, k, 1.0), lambda: x.scatter_add(0, k, src),
        lambda: x.scatter_reduce(0, k, src, "amax"), lambda: x.scatter_reduce(0, k, src, "prod"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
            call()
    with pytest.raises(RuntimeError, match="must be either sum, prod, mean, amax or amin, got least"):
        x.scatter_reduce(0, k.long(), src, "least")


def test_places_of_what_is_not_0_lie_dimension_by_dimension():
    x = (drawn((5, 70), tenfold.float32) > 3).cuda()
    assert x.nonzero().stride() == x.cpu().nonzero().stride()
    assert [i.stride() for i in tenfold.where(x)] == [i.stride() for i in tenfold.where(x.cpu())]
    assert x.nonzero().cpu().equal(x.cpu().nonzero())


def test_a_number_that_is_kept_is_given_to_nobody_else(monkeypatch):
    class Own(tenfold.Tensor):
        pass

    backend = type(tenfold.device("cuda").backend)
    kept, given = backend.kept_number, []
    monkeypatch.setattr(backend, "kept_number", lambda self, *rest: (given.append(1), kept(self, *rest))[1])
    x, places = tenfold.zeros(2, device="cuda"), tenfold.tensor([0], device="cuda")
    x[places] = 5.0
    assert (x.tolist(), len(given)) == ([5.0, 0.0], 1)
    x.as_subclass(Own)[places] = 6.0
    assert (x.tolist(), len(given)) == ([6.0, 0.0], 1)
