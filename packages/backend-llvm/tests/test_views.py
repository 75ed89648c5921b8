"""Views made in native code: the same memory, steps, storages, gradients and errors as those made in the interpreter."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated
from numpy.lib.stride_tricks import as_strided

import tenfold
from tenfold import nn
from tenfold.dispatch.devices import CPU
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")

BIG = 2**63
INDICES = [
    0, -1, 3, 4, -5, BIG, True, None, ..., (), (0,), (1, 2), (-1, -2), (1, 9), (1, 2, 3), (..., 1), (1, ...), (..., ...),
    (None, 1), (1, None, 2), (None, ..., None), slice(None), slice(1, 3), slice(-3, None), slice(None, None, 2), slice(3, 1),
    slice(2, 2), slice(1, BIG), slice(-BIG, BIG, 3), slice(None, None, -1), slice(None, None, 0), slice(0, 2, None),
    (slice(1, 3), slice(None, None, 2)), (slice(4, 9), 1), (slice(0, 0), None, slice(1, 2)), ([0, 1],), np.int64(1), 1.0, "a",
    slice(1.0, 2), slice(True, 3), (slice(None), True), (0, slice(None), ...), tuple([None] * 20), tuple([None] * 70),
]  # fmt: skip
SHAPES = [
    (24,), (4, 6), (6, 4), (-1,), (2, -1), (-1, -1), (5, -1), (4, 6, 1), (1, 24, 1), (4, 7), (0, -1), (-2, 12), (2**32, 2**32),
    (2, 3, 2, 2), (True, 24), (4.0, 6), (), (BIG,), (1,) * 20, (1,) * 70,
]  # fmt: skip
ORDERS = [(0, 1), (1, 0), (-1, 0), (-1, -2), (0, 0), (0, 2), (1, 1), (0,), (0, 1, 2), (True, False), (0.0, 1), (), (BIG, 0)]


def sources():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64, np.int64, np.bool_, np.complex64):
        x = (rng.standard_normal((4, 6)) * 3).astype(dtype)
        yield tenfold.from_numpy(x)
    x = rng.standard_normal((4, 6)).astype(np.float32)
    yield tenfold.from_numpy(x).bfloat16()
    yield tenfold.from_numpy(x[:, ::2])
    yield tenfold.from_numpy(x.T)
    yield tenfold.from_numpy(x[:, :1])
    yield tenfold.from_numpy(x)[1:, 2:]
    yield tenfold.from_numpy(x[0].copy())
    yield tenfold.from_numpy(x[:1, :1].copy()).reshape(())
    yield tenfold.from_numpy(x[:0].copy())
    yield tenfold.from_numpy(x[:1].copy()).expand(5, 6)
    yield tenfold.from_numpy(rng.standard_normal((2, 3, 2, 2)).astype(np.float32))
    yield nn.Parameter(tenfold.from_numpy(x))
    yield tenfold.from_numpy(x).requires_grad_()
    yield tenfold.from_numpy(x).requires_grad_() * 2
    yield (tenfold.from_numpy(x).requires_grad_() * 2)[1:]
    yield tenfold.ones(4, 6, device="meta")


def calls():
    for index in INDICES:
        yield lambda x, i=index: x[i]
        yield lambda x, i=index: tenfold.op.getitem(x, i)
    for shape in SHAPES:
        yield lambda x, s=shape: x.view(*s)
        yield lambda x, s=shape: x.view(s)
        yield lambda x, s=shape: x.view(list(s))
        yield lambda x, s=shape: x.reshape(s)
        yield lambda x, s=shape: tenfold.reshape(x, s)
    for order in ORDERS:
        yield lambda x, o=order: x.permute(*o)
        yield lambda x, o=order: tenfold.permute(x, o)
        yield lambda x, o=order: tenfold.transpose(x, *o)
        yield lambda x, o=order: x.select(*o)
        yield lambda x, o=order: x.unsqueeze(*o)
    for dim in (0, 1, 2, 3, -1, -2, -3, -4, True, 1.0, None, BIG):
        yield lambda x, d=dim: x.unsqueeze(d)
        yield lambda x, d=dim: x.select(d, 1)
        yield lambda x, d=dim: x.select(dim=d, index=0)
    yield lambda x: x.t()
    yield lambda x: x.T
    yield lambda x: x.view(x.shape)
    yield lambda x: x.view(tenfold.int32)
    yield lambda x: x.view(size=(4, 6))


def outcome(call, x):
    try:
        return call(x)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


def same(a, b, x):
    if not isinstance(a, tenfold.Tensor):
        assert a == b
        return
    assert (type(a), a.dtype, a.shape, a.stride()) == (type(b), b.dtype, b.shape, b.stride())
    assert a.requires_grad == b.requires_grad
    assert getattr(a.grad_fn, "name", str)() == getattr(b.grad_fn, "name", str)()
    assert (a._base is None) == (b._base is None)
    assert getattr(a, "_origin", None) == getattr(b, "_origin", None)
    if a._base is not None:
        assert a._base is b._base
        assert a._storage is b._storage is x._storage
    if a.device.type == "cpu":
        assert a._array.strides == b._array.strides
        assert a._array.flags.num == b._array.flags.num
        inside = np.may_share_memory(b._array, x._array)  # not where an index copies
        assert not inside or a._array.ctypes.data == b._array.ctypes.data
        np.testing.assert_array_equal(
            *(v.detach().float().numpy() if v.dtype is tenfold.bfloat16 else v.detach().numpy() for v in (a, b))
        )


@pytest.mark.parametrize("grad", [True, False])
def test_every_view_is_that_of_the_interpreter(grad):
    tenfold.exp(tenfold.ones(3))  # brings native code
    with tenfold.set_grad_enabled(grad):
        for x in sources():
            for call in calls():
                outcome(call, x)  # what a first call does
                got = outcome(call, x)
                with session().paths.suspended():
                    expected = outcome(call, x)
                same(got, expected, x)


def test_nothing_else_is_entered(entered):
    x = tenfold.arange(24.0).view(4, 6)
    w = x.clone().requires_grad_()
    index, rows = (1, slice(None, None, 2)), slice(1, 3)
    for call in (
        lambda: x[1], lambda: x[rows], lambda: x[index], lambda: x.view(2, 12), lambda: x.transpose(0, 1), lambda: x.t(),
        lambda: x.reshape(-1), lambda: x.unsqueeze(0), lambda: x.permute(1, 0), lambda: x.select(0, 1),
    ):  # fmt: skip
        call()
        call()
        assert entered(call) == ["<lambda>"]
        assert entered(lambda: x.clone()[1])[:1] == ["<lambda>"]
    w[1]
    assert entered(lambda: w[1]) == ["<lambda>", "attach"]


def test_nothing_else_is_entered_without_gradients_and_for_parts(entered):
    w = tenfold.arange(48.0).view(2, 3, 8).requires_grad_()
    parts = (w * 1).split(4, 2)
    for call in (lambda: parts[1].view(2, 3, 2, 2), lambda: parts[1].transpose(0, 1), lambda: parts[0].select(0, 1)):
        call()
        assert entered(call) == ["<lambda>", "attach"]
    x = tenfold.arange(24.0).view(4, 6).clone()
    with tenfold.no_grad():
        for call in (lambda: x[1], lambda: x.view(2, 12), lambda: x.t(), lambda: x.t().reshape(2, 3, 4), lambda: x[1:].t()):
            call()
            assert entered(call) == ["<lambda>"]


@pytest.mark.parametrize("make", [lambda x: x.view(2, 12), lambda x: x[1:].t(), lambda x: x.view(2, 12)[0][3]])
def test_views_without_gradients_are_marked(make):
    found = []
    for native in (True, False):
        x = tenfold.arange(24.0).view(4, 6).clone()
        with tenfold.no_grad(), nullcontext() if native else session().paths.suspended():
            view = make(x)
        storage = x.untyped_storage()
        flags = [getattr(storage, name) for name in ("guarded", "listing", "marked", "noting", "unlisted")]
        x.requires_grad_()
        with pytest.raises(RuntimeError) as refusal:
            view.mul_(2)
        found.append((view._origin, flags, list(storage.views), str(refusal.value), view.tolist()))
    assert found[0] == found[1]


def several_pieces():
    rng = np.random.default_rng(0)
    for shape in ((4, 6, 8), (8, 12), (2, 3, 4, 6), (24,)):
        for _ in range(60):
            a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            for _ in range(rng.integers(1, 3)):
                how = rng.integers(3)
                if how == 0:
                    a = a.transpose(rng.permutation(a.ndim))
                elif how == 1:
                    a = a[tuple(slice(rng.integers(2), None, rng.integers(1, 3)) for _ in a.shape)]
                else:
                    a = as_strided(a, (*a.shape[:-1], 2, a.shape[-1]), (*a.strides[:-1], 0, a.strides[-1]))
            yield rng, a


def test_other_shapes_of_memory_in_several_pieces():
    views = 0
    for rng, a in several_pieces():
        left, sizes = a.size, []
        while left > 1:
            sizes.append(int(rng.choice([n for n in range(2, left + 1) if left % n == 0])))
            left //= sizes[-1]
        halves = [*a.shape[:-1], 2, a.shape[-1] // 2]
        for shape in (sizes, halves, [*sizes, 1], [1, *sizes], [-1, *sizes[1:]], a.shape):
            x = tenfold.from_numpy(a)
            for call in (lambda x, s=shape: x.view(s), lambda x, s=shape: x.reshape(s)):
                got = outcome(call, x)
                with session().paths.suspended():
                    expected = outcome(call, x)
                same(got, expected, x)
                views += isinstance(got, tenfold.Tensor)
    assert views > 500


def through_views(w):
    turned = w.permute(1, 0).unsqueeze(0).select(0, 0)[1:3]
    (w[1] * 2).sum().backward()
    (w.view(2, 12)[0] + w.reshape(12, 2).t()[0] * turned.reshape(-1)[0]).sum().backward()
    found, w.grad = w.grad, None
    return found.tolist()


def test_gradients_flow_through_views_and_writes_to_them():
    w = tenfold.arange(24.0).view(4, 6).clone().requires_grad_()
    found = through_views(w)
    with session().paths.suspended():
        assert through_views(w) == found
    y = w * 1
    part, other = y[1:3], y.view(24)
    y.mul_(2)  # what was a view before is one of the new value
    assert part.grad_fn is not None
    other.sum().backward()
    assert part._version == y._version == 1


def test_a_view_of_what_has_no_gradient_follows_when_its_base_gets_one():
    results = []
    for native in (True, False):
        base, factor = tenfold.zeros(4), tenfold.ones(2, requires_grad=True)
        if native:
            view = base[1:3]
        else:
            with session().paths.suspended():
                view = base[1:3]
        base[1:3] = factor * 3
        results.append((view.requires_grad, view.tolist(), view._version))
        view.sum().backward()
        results[-1] += (factor.grad.tolist(),)
    assert results[0] == results[1]


def test_storages_made_in_native_code_are_like_others():
    def one(native):
        x = tenfold.ones(6)
        if native:
            x[0]
        else:
            with session().paths.suspended():
                x[0]
        s = x._storage
        return {
            name: getattr(s, name, "unset") for name in type(s).__slots__ if name not in ("array", "views")
        }, s.array is x._array

    assert one(True) == one(False)


def test_an_index_out_of_range_says_so():
    x = tenfold.ones(3, 4)
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
        x[3]
    with pytest.raises(RuntimeError, match="invalid for input of size 12"):
        x.view(5, 3)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(IndexError, match="0-dim"):
        x[0, 0][0]


def test_a_kernel_of_somebody_else_takes_over():
    x = tenfold.arange(6.0)
    x[1:]
    kernels = tenfold.op.getitem.calls.kernels
    held = kernels[CPU]
    kernels[CPU] = lambda array, index: array[:2]
    try:
        assert x[3:].tolist() == [0, 1]
        assert x[3:].tolist() == [0, 1]
    finally:
        kernels[CPU] = held
    assert x[3:].tolist() == [3, 4, 5]


def test_views_leave_no_reference():
    x, w = tenfold.arange(24.0).view(4, 6), tenfold.ones(4, 6, requires_grad=True)
    shape = x.shape
    made = [
        lambda: x[1], lambda: x[1:, ::2], lambda: x.view(2, 12), lambda: x.view(shape), lambda: x.t(), lambda: x.permute(1, 0),
        lambda: w[1], lambda: w.view(24), lambda: w.transpose(0, 1), lambda: w.unsqueeze(0), lambda: tenfold.ones(3)[1:],
        lambda: outcome(lambda v: v[9], x), lambda: outcome(lambda v: v.view(5), x), lambda: w.permute((1, 0)),
    ]  # fmt: skip
    for call in made:
        for _ in range(300):
            call()
    kept = (x._array, w._array, x._storage, w._storage, CPU, tenfold.Tensor, np.dtype(np.float32))
    things = (x, w, shape, None, True, False, 0, *kept)
    assert left_behind(repeated(made, 5000), things) < SMALL
    assert len(w._storage.views) < 100
