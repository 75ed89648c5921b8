"""Writes into tensors by native code: the values, versions, refusals and gradients of the interpreter's."""

from __future__ import annotations

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold import nn
from tenfold.llvm import call_paths, maths
from tenfold.llvm.elementwise import MANY_CALLS, Operator
from tenfold.llvm.session import session

pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")
needs_paths = pytest.mark.skipif(not call_paths.possible(), reason="call paths are native from Python 3.12 on")

WRITES = {
    "add_": lambda t, s: t.add_(s), "sub_": lambda t, s: t.sub_(s), "mul_": lambda t, s: t.mul_(s),
    "div_": lambda t, s: t.div_(s),
    "iadd": lambda t, s: t.__iadd__(s), "imul": lambda t, s: t.__imul__(s), "number": lambda t, s: t.add_(2.5),
    "whole number": lambda t, s: t.mul_(3), "alpha": lambda t, s: t.add_(s, alpha=2), "exp_": lambda t, s: t.exp_(),
    "neg_": lambda t, s: t.neg_(), "relu_": lambda t, s: t.relu_(), "clamp_": lambda t, s: t.clamp_(-1, 1),
    "lerp_": lambda t, s: t.lerp_(s, 0.25), "addcmul_": lambda t, s: t.addcmul_(s, s, value=0.5), "zero_": lambda t, s: t.zero_(),
    "copy_": lambda t, s: t.copy_(s), "fill_": lambda t, s: t.fill_(1.5),
    "add out": lambda t, s: tenfold.add(s, s, out=t), "itself": lambda t, s: tenfold.mul(t, s, out=t),
    "exp out": lambda t, s: tenfold.exp(s, out=t), "matmul out": lambda t, s: tenfold.matmul(s, s, out=t),
    "softmax out": lambda t, s: tenfold.softmax(s, -1, out=t), "sum out": lambda t, s: tenfold.sum(s, 0, True, out=t[:1]),
    "by name": lambda t, s: tenfold.add(input=s, other=s, out=t), "no output": lambda t, s: tenfold.add(s, s, out=None),
    "wrong name": lambda t, s: tenfold.add(s, nonsense=s, out=t), "two": lambda t, s: t.add_(s, s, s),
    "none": lambda t, s: t.add_(None),
}  # fmt: skip


def targets():
    """What is written, each made anew, and the whole memory that it lies in."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 4))
    x[0, :3] = np.nan, np.inf, -0.0
    for dtype in (np.float32, np.float64, np.float16, np.int64):
        with np.errstate(all="ignore"):
            y = x.astype(dtype)
        yield lambda a=y: (t := tenfold.from_numpy(a.copy()), t)
    for part in (
        lambda t: t[1:5], lambda t: t[:4].t(), lambda t: t[::2], lambda t: t[0].expand(4, 4), lambda t: t[:4].detach(),
        lambda t: t[:4, 1:2],
    ):  # fmt: skip
        yield lambda part=part: (t := tenfold.arange(32.0).view(8, 4)) is None or (part(t), t)
    yield lambda: (t := nn.Parameter(tenfold.ones(4, 4)), t)
    yield lambda: (t := tenfold.ones(4, 4, requires_grad=True) * 2, t)
    yield lambda: (t := nn.Parameter(tenfold.ones(8, 4))) is None or (t[:4], t)
    yield lambda: (t := tenfold.ones(0, 4), t)


def outcome(write, make, second):
    target, whole = make()
    source = second(target, whole)
    try:
        found = write(target, source)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error), whole._version
    node = type(target.grad_fn).__name__
    return found is target, whole.detach().numpy().copy(), whole._version, target._version, node, found.stride()


SECONDS = {
    "elsewhere": lambda t, whole: tenfold.arange(16.0).view(4, 4).to(t.dtype),
    "itself": lambda t, whole: t,
    "another part": lambda t, whole: whole.detach()[: t.shape[0]],
    "recorded": lambda t, whole: tenfold.ones(4, 4, requires_grad=True),
    "of another shape": lambda t, whole: tenfold.ones(2, 4, 4),
    "a row": lambda t, whole: tenfold.ones(4, dtype=t.dtype),
    "of another dtype": lambda t, whole: tenfold.ones(4, 4, dtype=tenfold.float64),
}


@needs_paths
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("second", list(SECONDS))
@pytest.mark.parametrize("name", list(WRITES))
def test_as_the_interpreter_writes(name, second, grad):
    with tenfold.set_grad_enabled(grad):
        for make in targets():
            outcome(WRITES[name], make, SECONDS[second])  # installs the paths
            got = outcome(WRITES[name], make, SECONDS[second])
            with session().paths.suspended():
                expected = outcome(WRITES[name], make, SECONDS[second])
            assert len(got) == len(expected), (got, expected)
            for g, e in zip(got, expected, strict=True):
                if isinstance(g, np.ndarray):
                    np.testing.assert_array_equal(g, e)
                else:
                    assert g == e, (got, expected)


@needs_paths
def test_plain_writes_do_not_enter_the_interpreter(entered):
    x, y, out = tenfold.randn(8), tenfold.randn(8), tenfold.empty(8)
    view = tenfold.randn(4, 8)[1]
    calls = [
        lambda: x.add_(y), lambda: x.mul_(0.5), lambda: x.__iadd__(y), lambda: x.neg_(), lambda: x.tanh_(), lambda: x.relu_(),
        lambda: view.sub_(y), lambda: x.add_(x), lambda: tenfold.add(x, y, out=out), lambda: tenfold.softmax(x, 0, out=out),
        lambda: x.zero_(), lambda: x.copy_(y), lambda: view.copy_(x),
    ]  # fmt: skip
    for call in calls:
        for _ in range(MANY_CALLS + 1):  # after which exact loops are compiled
            call()
        assert entered(call) == ["<lambda>"]


@needs_paths
def test_a_saved_value_that_was_written_is_noticed():
    w, x = tenfold.randn(4, requires_grad=True), tenfold.randn(4)
    for write in (lambda: x.add_(1.0), lambda: tenfold.exp(w.detach(), out=x), lambda: x.zero_(), lambda: x.copy_(w.detach())):
        write()
        y = (w * x).sum()
        write()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


@needs_paths
def test_writes_leave_no_reference():
    x, y, out = tenfold.randn(8), tenfold.randn(8), tenfold.empty(8)
    calls = [
        lambda: x.mul_(0.5),
        lambda: x.copy_(y),
        lambda: tenfold.mul(x, y, out=out),
        lambda: tenfold.softmax(x, 0, out=out),
        x.zero_,
    ]
    for call in calls:
        for _ in range(600):
            call()
    things = (x, x._array, x._storage, y, y._array, out, out._array, tenfold.Tensor)
    assert left_behind(repeated(calls, 5000), things) < SMALL


def test_a_write_in_one_piece_compiles_the_loop_that_later_ones_run():
    made = Operator("exponential", maths.exp)
    served = []
    serve = made.serve
    made.serve = lambda *given: served.append(given) or serve(*given)
    x = np.ones(5, np.float32)
    gate = made.wrap(np.exp)
    for _ in range(3):
        assert gate(x, out=x) is x
    assert len(served) == 1
    assert [steps for _, _, steps in made._loops] == [None]
    np.testing.assert_allclose(x, np.exp(np.exp(np.exp(1.0))), rtol=1e-5)
    parts = np.arange(6, dtype=np.float32)
    assert gate(parts[:5], out=parts[1:]) is not None
    np.testing.assert_allclose(parts, np.exp([0, 0, 1, 2, 3, 4]) - np.array([1, 0, 0, 0, 0, 0]), rtol=1e-6)


def test_each_kind_of_small_call_is_compiled_when_there_were_many():
    made = Operator("sum of two", lambda x, y: x + y, "xy", exact=True)
    gate, x = made.wrap(np.add), np.ones(3, np.float32)
    for call in (lambda: gate(x, x), lambda: gate(x, 2.0), lambda: gate(x.astype(np.float64), 2.0)):
        for _ in range(MANY_CALLS + 1):
            call()
    assert len(made._loops) == 3


@needs_paths
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_in_memory_are_written_natively(entered, dtype):
    both = np.random.default_rng(0).standard_normal(1 << 17).astype(dtype)
    target, source = (tenfold.from_numpy(part) for part in np.split(both, 2))
    wanted = both[: 1 << 16] + both[1 << 16 :]
    target.clone().add_(source)
    assert entered(lambda: target.add_(source)) == ["<lambda>"]
    np.testing.assert_array_equal(target.numpy(), wanted)


@needs_paths
def test_arrays_that_lie_across_each_other():
    both = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
    for shift in (0, 1, 1000):
        given = both.copy()
        target, source = tenfold.from_numpy(given[:2000]), tenfold.from_numpy(given[shift : shift + 2000])
        wanted = given[:2000] + given[shift : shift + 2000]
        target.add_(source)
        np.testing.assert_array_equal(given[:2000], wanted)


@pytest.mark.parametrize("threads", [1, 2])
def test_long_copies(threads):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(threads)
    try:
        rng = np.random.default_rng(0)
        for size in (255, 256, 319, 320, 321, 1000, 70_001, 200_000):
            for start in range(3):
                x, y = rng.standard_normal((2, size + 7)).astype(np.float32)
                kept = y.copy()
                tenfold.from_numpy(y)[start : start + size].copy_(tenfold.from_numpy(x)[2 * start : 2 * start + size])
                kept[start : start + size] = x[2 * start : 2 * start + size]
                np.testing.assert_array_equal(y, kept)
                joined = tenfold.cat([tenfold.from_numpy(x[start:]), tenfold.from_numpy(y), tenfold.from_numpy(x[start:])])
                np.testing.assert_array_equal(joined.numpy(), np.concatenate([x[start:], y, x[start:]]))
    finally:
        tenfold.set_num_threads(before)
