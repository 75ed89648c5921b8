"""Layer norm and affine maps recorded, and gone back through, in native code: numbers, nodes and refusals are Python's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.autograd.rules import passing
from tenfold.dispatch.kernels import table
from tenfold.dispatch.runtime import Layer
from tenfold.llvm import call_paths
from tenfold.llvm.kernels import norm
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible() and tenfold.llvm.is_available()
pytestmark = pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no")
functional = nn.functional
RNG = np.random.default_rng(0)


def tensor(*shape, dtype="float32", needs=True):
    return tenfold.from_numpy(RNG.standard_normal(shape).astype(dtype)).requires_grad_(needs)


def described(node):
    """A node's class, edges and saved values."""
    saved = {f: getattr(node, "s_" + f) for f in node.fields}
    saved = {f: x.tolist() if isinstance(x, tenfold.Tensor) else x for f, x in saved.items()}
    versions = {f: getattr(node, "v_" + f, "unset") for f in node.tensors}
    return type(node), node._shape, [type(n) for n in node._next], node._extra, repr(saved), versions


def outcome(call, *arguments):
    """The result with its node and gradients, or the error."""
    try:
        y = call(*arguments)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    leaves = [x for x in arguments if isinstance(x, tenfold.Tensor) and x.requires_grad and x.is_leaf]
    found = [y.tolist(), y.dtype, y.stride(), y.requires_grad]
    if y.requires_grad:
        node = y._node
        found += [type(node), described(node.parent if node.is_output else node)]
        g = tenfold.from_numpy(np.random.default_rng(1).standard_normal(tuple(y.shape))).to(y.dtype)
        y.backward(g)
        found += [(x.grad.tolist(), x.grad.dtype, x.grad.stride()) for x in leaves]
        for x in leaves:
            x.grad = None
    return found


def both(call, *arguments):
    for _ in range(2):  # rules are learnt, and kernels compiled, when they are first used
        outcome(call, *arguments)
    ours = outcome(call, *arguments)
    with session().paths.suspended():
        other = outcome(call, *arguments)
    assert ours == other
    return ours


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(6, 16), (2, 3, 16), (16,), (0, 16), (3, 1), (1, 5, 16)])
def test_layer_norm(shape, dtype):
    x, w, b = tensor(*shape, dtype=dtype), tensor(shape[-1], dtype=dtype), tensor(shape[-1], dtype=dtype)
    for weight, bias in itertools.product((w, w.detach(), None), (b, None)):
        both(functional.layer_norm, x, shape[-1:], weight, bias)
        both(functional.layer_norm, x.detach(), shape[-1:], weight, bias, 0.25)
    both(functional.layer_norm, nn.Parameter(x.detach()), list(shape[-1:]), nn.Parameter(w.detach()), b)
    both(functional.layer_norm, x, tuple(shape[-2:]), None, None, 1)


def test_what_layer_norm_refuses_or_leaves():
    x, w = tensor(4, 6), tensor(6)
    for arguments in (
        (x, (5,)), (x, ()), (x, (6,), tensor(5)), (x, (6,), tensor(1, 6)), (x, (6,), w, tensor(4)), (x, (6.0,)), (x, (True,)),
        (x, 6), (x, (6,), tensor(6, dtype="float64")), (x, (6,), w, w, "a"), (x, (6,), w, w, None), (x, (6,), w, w, True),
        (x.t(), (4,)), (x, (6,), tensor(12)[::2], w), (x[:, 1:4], (3,)), (x, tenfold.Size([6]), w), (x, (np.int64(6),), w),
        (w, (6,), w, w),
    ):  # fmt: skip
        both(functional.layer_norm, *arguments)


def test_layer_norm_enters_little(entered):
    layer, x = nn.LayerNorm(16), tensor(4, 16)
    layer(x)
    layer(x)
    names = entered(lambda: layer(x))
    assert "layer_norm" not in names
    assert "attach" in names
    with Seen() as seen:
        y = layer(x)
    assert seen.names == ["layer_norm"]
    assert y.tolist() == layer(x).tolist()


class Seen(Layer):
    def __init__(self):
        self.names = []

    def handle(self, operator, args, kwargs):
        self.names.append(operator.name)
        return operator(*args, **kwargs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_planned_gradient_of_layer_norm(dtype):
    g, x, w = (RNG.standard_normal(shape).astype(dtype) for shape in ((6, 4, 16), (6, 4, 16), (16,)))
    mean, rstd = (RNG.standard_normal((6, 4, 1)).astype(dtype) for _ in range(2))
    for weight in (w, None):
        norm._PLANS.clear()
        first = norm.fused_layer_norm_grad(g, x, mean, rstd, 1, weight, 0.0)
        assert len(norm._PLANS) == 1
        planned = norm.fused_layer_norm_grad(g, x, mean, rstd, 1, weight, 0.0)
        turned = np.ascontiguousarray(g.T).T
        apart = norm.fused_layer_norm_grad(turned, x, mean, rstd, 1, weight, 0.0)
        assert len(norm._PLANS) == 1
        for a, b, c in zip(first, planned, apart, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)
            assert not np.shares_memory(a, b)
        assert norm.fused_layer_norm_grad(g, x.astype("float16"), mean, rstd, 1, weight, 0.0) is NotImplemented
        assert norm.fused_layer_norm_grad(g, x, mean.astype("float16"), rstd, 1, weight, 0.0) is NotImplemented
        before = tenfold.get_num_threads()
        tenfold.set_num_threads(before + 1)
        assert not norm._PLANS
        tenfold.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(6, 16), (2, 3, 16), (0, 16), (1, 5, 16), (512, 160), (4, 128, 160)])
def test_gradients_of_affine_maps(shape, dtype, monkeypatch):
    x, w, b = tensor(*shape, dtype=dtype), tensor(96, shape[-1], dtype=dtype), tensor(96, dtype=dtype)
    served = []
    whole = passing.TOGETHER["linear"]
    monkeypatch.setitem(passing.TOGETHER, "linear", lambda *given: served.append(whole(*given)) or served[-1])
    for source in (x, nn.Parameter(x.detach()), tensor(*shape[:-1], 2 * shape[-1], dtype=dtype)[..., ::2]):
        served.clear()
        ours = outcome(functional.linear, source, w, b)
        assert len(served) == 1
        assert (served[0] is None) == (dtype == "float16" or not x.numel() or not source.is_contiguous())
        with monkeypatch.context() as patch:
            patch.setitem(passing.TOGETHER, "linear", lambda *given: None)
            assert outcome(functional.linear, source, w, b) == ours


def test_gradients_of_affine_maps_share_nothing():
    x, w, b = tensor(2, 3, 16), tensor(8, 16), tensor(8)
    kept = functional.linear(x * 1, w, b)
    grads = tenfold.autograd.grad(kept.sum(), (x, w, b), retain_graph=True)
    again = tenfold.autograd.grad(kept.sum(), (x, w, b))
    arrays = [g.numpy() for g in (*grads, *again)]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))


def test_who_looks_on_sees_the_products_of_affine_maps():
    x, w, b = tensor(2, 16), tensor(8, 16), tensor(8)
    whole = passing.TOGETHER["linear"]
    g = tensor(2, 8, needs=False)
    assert whole(g, x, w, table("cpu")) is None  # gradients are on
    with tenfold.no_grad():
        assert whole(g, x, w, table("cpu")) is not None
        with Seen():
            assert whole(g, x, w, table("cpu")) is None
    with tenfold.inference_mode():
        assert whole(g, x, w, table("cpu")) is None
    assert b.grad is None
