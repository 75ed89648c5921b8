"""Gradients of elementwise functions, beside those that the rules give on the CPU, and PyTorch's where it is installed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels.function_slopes import OF_FUNCTIONS, OF_REDUCTIONS, ROOT, SLOPES, UNARY
from tenfold.cuda.kernels.slopes import sloped
from tenfold.testing.tolerances import implementation

inf, nan = float("inf"), float("nan")
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 2.0, 3.5, inf, -inf, nan]
SEVERAL = [name for name in OF_FUNCTIONS if name not in UNARY]
DTYPES = [tenfold.float32, tenfold.bfloat16, tenfold.float64]
# Calls with more than the two tensors.
GIVEN = {
    "lerp": lambda f, x, y: f(x, y, y * 0.25),
    "addcmul": lambda f, x, y: f(x, y, x, value=3),
    "addcdiv": lambda f, x, y: f(x, y, x, value=0.5),
    "where": lambda f, x, y: f(x.detach() > 0, x, y),
}


def caller(module, name):
    f = getattr(module, name)
    return lambda *tensors: GIVEN.get(name, lambda f, *tensors: f(*tensors))(f, *tensors)


def gradients(module, call, tensors, wanted, second=False):
    """Those of the tensors that are wanted; `second`: and of the sum of their squares."""
    leaves = [t.clone().requires_grad_(w) for t, w in zip(tensors, wanted)]
    asked = [t for t, w in zip(leaves, wanted) if w]
    with np.errstate(all="ignore"):
        y = call(*leaves)
        seed = (module.arange(y.numel()).reshape(y.shape) % 4 - 1.5).to(y.device, y.dtype).requires_grad_(second)
        found = module.autograd.grad(y, asked, seed, create_graph=second)
        if second:
            total = sum(g.square().sum() for g in found)
            found += module.autograd.grad(total, [*asked, seed], allow_unused=True)
    return [None if g is None else g.detach() for g in found]


def alike(got, expected, words):
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        assert (a is None) == (b is None), (words, k)
        if a is not None:
            assert str(a.dtype).partition(".")[2] == str(b.dtype).partition(".")[2], (words, k)
            rtol, atol = implementation(a.dtype)
            values = (t.cpu().double().numpy() for t in (a, b))
            np.testing.assert_allclose(*values, rtol=rtol, atol=atol, err_msg=f"{words} {k}")


def tensors_of(name, module, dtype):
    if name in UNARY:
        return [module.tensor(VALUES, dtype=dtype)]
    pairs = module.tensor(list(product(VALUES, VALUES)), dtype=dtype)
    return [pairs[:, 0].contiguous(), pairs[:, 1].contiguous()]


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64], ids=str)
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 2.0, 3, 1, 0, -1, 1.5, -2])
def test_of_powers_of_numbers(exponent, dtype):
    found = []
    for device in ("cpu", "cuda"):
        x = tenfold.tensor(VALUES, dtype=dtype, device=device).requires_grad_()
        with np.errstate(all="ignore"):
            (x**exponent).sum().backward()
        found.append([x.grad, 1 / x.grad])  # which has the sign of 0, too
    alike(found[1], found[0], exponent)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_of_special_values(name, dtype):
    """Of all tensors and of each alone, and a second time through."""
    tensors, call = tensors_of(name, tenfold, dtype), caller(tenfold, name)
    for wanted in ((True,),) if name in UNARY else ((True, True), (True, False), (False, True)):
        second = dtype is tenfold.float64 and all(wanted)
        got = gradients(tenfold, call, [t.cuda() for t in tensors], wanted, second)
        alike(got, gradients(tenfold, call, tensors, wanted, second), f"{name} {wanted}")


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_beside_pytorch(name):
    torch = pytest.importorskip("torch")
    got, expected = (
        gradients(module, caller(module, name), [t.to(device) for t in tensors_of(name, module, module.float64)], (True, True))
        for module, device in ((tenfold, "cuda"), (torch, "cpu"))
    )
    alike(got, expected, name)


@pytest.mark.parametrize("name", SEVERAL)
def test_of_broadcast_and_strided_tensors(name):
    base = tenfold.linspace(-2, 3, 60)
    x, y, one = base.reshape(5, 12).t(), base.flip(0)[:24].reshape(12, 2)[:, :1], base[7]
    for tensors in ((x, x.flip(0)), (x, y), (y, x), (x, one), (x[::2], y[::2].expand(6, 5)), (one, x.t())):
        got = gradients(tenfold, caller(tenfold, name), [t.cuda() for t in tensors], (True, True))
        alike(got, gradients(tenfold, caller(tenfold, name), tensors, (True, True)), name)


@pytest.mark.parametrize("dtype", [*DTYPES, tenfold.complex64], ids=str)
def test_with_numbers(dtype):
    x = tenfold.tensor([0.0, 1.0, -1.0, 0.5, -2.0, 3.0], dtype=dtype)
    calls = [lambda t, e=e: t**e for e in (0, 1, 2, 3, -1, 0.5, 2.5, -2)] + [lambda t, b=b: b**t for b in (0, 2, 0.5, -2)]
    calls += [lambda t: 2 / t, lambda t: t / 3, lambda t: tenfold.lerp(t, t * 2, 0.3), lambda t: t.sin() * t.tanh()]
    if dtype is not tenfold.complex64:
        calls += [lambda t: t.xlogy(2), lambda t: tenfold.xlogy(3, t), lambda t: t.clamp_min(0.5), lambda t: t.clamp(-1, 2)]
        calls += [lambda t: t.fmod(0.75), lambda t: t * 2**40]
    for k, call in enumerate(calls):
        got, expected = (gradients(tenfold, call, [t], (True,)) for t in (x.cuda(), x))
        alike([tenfold.view_as_real(t) if t.is_complex() else t for t in got],
              [tenfold.view_as_real(t) if t.is_complex() else t for t in expected], k)  # fmt: skip


def test_what_has_no_text_is_left_to_the_rules():
    g = tenfold.ones(3, device="cuda")._array
    assert sloped(g, "mul_input_slope", g.astype(np.float64)) is NotImplemented
    assert sloped(g.astype(np.int32), "mul_input_slope", g.astype(np.int32)) is NotImplemented
    assert sloped(g, "mul_input_slope", 1e39) is NotImplemented
    assert sloped(g[:0], "mul_input_slope", g[:0]) is NotImplemented
    assert len(SLOPES) == sum(map(len, OF_FUNCTIONS.values())) + len(ROOT) + len(OF_REDUCTIONS)  # no name stands twice
    with tenfold.autocast("cuda"):
        x = tenfold.ones(2, 2, device="cuda", requires_grad=True)
        y = tenfold.ones(2, 2, dtype=tenfold.float64, device="cuda", requires_grad=True)
        tenfold.maximum(x, y).sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (tenfold.float32, tenfold.float64)
    assert x.grad.tolist() == y.grad.tolist() == [[0.5] * 2] * 2


def test_gradients_share_no_memory_and_change_nothing():
    x, y, g = (tenfold.linspace(1, 2, 6, device="cuda").requires_grad_(w) for w in (True, True, False))
    a, b = tenfold.autograd.grad(x * y, (x, y), g)
    a.zero_()
    assert b.tolist() == (x * g).tolist()
    assert g.tolist() == x.tolist() == y.tolist()


REDUCED = {
    **{name: lambda x, f=name, **o: getattr(x, f)(**o) for name in ("var", "std", "amax", "amin", "logsumexp")},
    "correction": lambda x, **o: x.var(correction=0, **o),
    **{f"norm {p}": lambda x, p=p, **o: tenfold.linalg.vector_norm(x, p, **o) for p in (1, 2, 3, 2.5, 1.5, 0.5, -1, inf, -inf)},
    "var_mean": lambda x, **o: sum(tenfold.var_mean(x, **o)), "std_mean": lambda x, **o: sum(tenfold.std_mean(x, **o)),
}  # fmt: skip
ROWS = [[1.0, 1.0, -2.0, 2.0], [0.0, -0.0, 0.0, 0.0], [3.5, 0.0, -1.0, 0.25], [inf, 1.0, -inf, 2.0], [nan, 1.0, 2.0, nan]]


@pytest.mark.filterwarnings("ignore:All-NaN slice")  # the interpreter's, of a largest of nan
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", REDUCED)
def test_of_reductions(name, dtype):
    """Along and across, with ties, zeros, infinities and nan; of finite numbers a second time through."""
    for options in ({"dim": 1}, {"dim": 0, "keepdim": True}, {"dim": (0, 1)}):
        for rows in (ROWS, ROWS[:3:2]):
            x = tenfold.tensor(rows, dtype=dtype)
            for t in (x, x.t().contiguous().t(), x.expand(2, *x.shape)):
                # Second gradients go through other operators, whatever the layout.
                second = dtype is tenfold.float64 and rows is not ROWS and t is x
                call = lambda t, options=options: REDUCED[name](t, **options)  # noqa: E731
                got = gradients(tenfold, call, [t.cuda()], (True,), second)
                alike(got, gradients(tenfold, call, [t], (True,), second), f"{name} {options}")


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
def test_of_spreads_without_freedom():
    x = tenfold.tensor([[1.0, 1.0, 4.0, -2.0], [2.0, 2.0, 2.0, 2.0]])
    for name, correction in (("var", 4), ("std", 4), ("var", 6), ("std", 7)):
        call = lambda t, name=name, correction=correction: getattr(t, name)(dim=1, correction=correction)  # noqa: E731
        alike(gradients(tenfold, call, [x.cuda()], (True,)), gradients(tenfold, call, [x], (True,)), name)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
@pytest.mark.parametrize("dim", [0, -1, None])
def test_of_spreads_of_a_tensor_without_dimensions(dim):
    x = tenfold.tensor(2.0)
    for name, correction in (("var", 0), ("std", 0), ("var", 1)):
        call = lambda t, name=name, correction=correction: getattr(t, name)(dim=dim, correction=correction)  # noqa: E731
        alike(gradients(tenfold, call, [x.cuda()], (True,)), gradients(tenfold, call, [x], (True,)), name)


def test_a_gradient_of_a_reduction_lies_as_the_input_does():
    x = tenfold.rand(2, 3, 4, 5, device="cuda").contiguous(memory_format=tenfold.channels_last).requires_grad_()
    x.var((2, 3)).sum().backward()
    assert x.grad.is_contiguous(memory_format=tenfold.channels_last)
    x = tenfold.rand(3, 4, device="cuda").requires_grad_()
    tenfold.linalg.vector_norm(x).backward()
    alike([x.grad], [(x / x.norm()).detach()], "0-d")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_of_limits_that_are_tensors(dtype):
    numbers = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.5, -2.0, 3.0]
    x = tenfold.tensor(numbers, dtype=dtype).repeat_interleave(8).reshape(8, 8)
    low, high = tenfold.tensor(numbers, dtype=dtype), tenfold.tensor([*numbers[3:], *numbers[:3]], dtype=dtype)
    for a, b in ((low, high), (high, low), (low.expand(8, 8), high[:, None]), (low[5], high[2])):
        got, expected = x.cuda().clamp(a.cuda(), b.cuda()), x.clamp(a, b)
        assert got.dtype is dtype
        np.testing.assert_array_equal(got.cpu().double().numpy(), expected.double().numpy())
    whole = tenfold.arange(-4, 4)
    limits = tenfold.tensor([-2] * 4 + [3] * 4), tenfold.tensor([2] * 7 + [1])
    assert whole.cuda().clamp(*[t.cuda() for t in limits]).tolist() == whole.clamp(*limits).tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_of_vector_products(dtype):
    x, y = tenfold.linspace(-2, 3, 24).reshape(2, 4, 3).to(dtype), tenfold.linspace(1, -1, 12).reshape(1, 4, 3).to(dtype)
    for dim, order in ((-1, (0, 1, 2)), (0, (2, 0, 1)), (1, (0, 2, 1))):
        a, b = x.permute(order), y.permute(order)
        call = lambda a, b, dim=dim: tenfold.linalg.cross(a, b, dim=dim)  # noqa: E731
        second = dtype is tenfold.float64
        got = gradients(tenfold, call, [a.cuda(), b.cuda()], (True, True), second)
        alike(got, gradients(tenfold, call, [a, b], (True, True), second), dim)
        alike([call(a.cuda(), b.cuda())], [call(a, b)], dim)
        assert not call(a.cuda(), a.cuda()).any()
    alike([tenfold.linalg.cross(x[0, 0].cuda(), x[1, 0].cuda())], [tenfold.linalg.cross(x[0, 0], x[1, 0])], "vectors")
    assert tenfold.linalg.cross(*tenfold.tensor([[1, 0, 0], [0, 1, 0]], device="cuda")).tolist() == [0, 0, 1]
    with pytest.raises(RuntimeError, match="must have length 3"):
        tenfold.linalg.cross(x.cuda(), x.cuda(), dim=0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_of_products_as_pytorch_has_them(dtype):
    """With no zero, one and two in a row, infinities and nan; along dimensions, and over all elements."""
    torch = pytest.importorskip("torch")
    rows = [[1.5, 2.0, -3.0, 0.5], [2.0, 0.0, 3.0, -1.0], [0.0, 2.0, -0.0, 1.0], [-1.0, 4.0, 2.0, 0.25]]
    special = [[inf, 1.0, 2.0, -1.0], [nan, 1.0, 2.0, 0.5], [1e30, 1e30, 2.0, 1.0]]
    beside = [[0.0, inf, 2.0, 1.0], [2.0, -inf, 0.0, 3.0], [0.0, nan, 2.0, 1.0], [inf, nan, 0.0, 1.0], [0.0, 0.0, inf, 2.0]]
    cases = [*product(([rows[0], rows[3]], rows, special), ({}, {"dim": 1}, {"dim": 0, "keepdim": True})), (beside, {"dim": 1})]
    for values, options in cases:
        found = []
        for module, device in ((tenfold, "cuda"), (torch, "cpu")):
            x = module.tensor(values, dtype=getattr(module, str(dtype).partition(".")[2]), device=device)
            found.append(gradients(module, lambda t, o=options: t.prod(**o), [x], (True,)))
        alike(*found, f"{values} {options}")
    x = tenfold.tensor(rows[:2], device="cuda", dtype=tenfold.float64).requires_grad_()
    assert tenfold.autograd.gradgradcheck(lambda t: t.prod(1), x)


def test_quotients_of_half_precision_are_rounded_before_they_are_cut():
    for dtype, x, y in ((tenfold.float16, 3.294921875, 0.6591796875), (tenfold.bfloat16, 2.84375, 0.5703125)):
        found = []
        for device in ("cpu", "cuda"):
            other = tenfold.tensor([y], dtype=dtype, device=device, requires_grad=True)
            tenfold.fmod(tenfold.tensor([x], dtype=dtype, device=device), other).sum().backward()
            found.append(other.grad.item())
        assert found == [-5.0, -5.0], dtype  # of 4.9985 and 4.986
