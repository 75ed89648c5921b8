"""What samples do not reach: special values, layouts, in-place forms, numbers of every kind, activations' kernels."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import plugins
from tenfold.cuda import runtime
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.formulas import FORMULAS
from tenfold.dispatch.operators import OPERATORS
from tenfold.testing.tolerances import implementation

inf, nan = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-3, -1e-3, 40.0, -40.0, inf, -inf, nan]


def operators(operands):
    """The operators whose formula for floating-point numbers has these operands."""
    found = (name for name, formula in FORMULAS.items() if formula.floating and formula.operands == operands)
    return [name for name in found if name in OPERATORS]


plugins.load_operators()
UNARY = operators("x")
# Operands that are no pair, and degrees of polynomials, which test_special.py has.
BINARY = [name for name in operators("xy") if name not in ("prelu", "glu") and "polynomial" not in name]


def test_formulas_are_found():
    assert {"exp", "erfinv", "silu"} <= set(UNARY)
    assert {"add", "logaddexp2", "nextafter"} <= set(BINARY)


def same(got, expected, words="", signs=True):
    assert got.dtype is expected.dtype, words
    assert got.shape == expected.shape, words
    rtol, atol = implementation(expected.dtype)
    a, b = (t.cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=words)
    number = ~np.isnan(b) & signs
    np.testing.assert_array_equal(np.signbit(a[number]), np.signbit(b[number]), err_msg=f"{words}: signs")


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float64], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_special_values(name, dtype):
    x = tenfold.tensor(SPECIAL, dtype=dtype)
    with np.errstate(all="ignore"):
        expected = OPERATORS[name].fn(x)
    same(OPERATORS[name].fn(x.cuda()), expected, name)


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_special_values(name):
    x = tenfold.tensor(SPECIAL)
    if name == "heaviside":
        x = x[~x.isnan()]
    got = OPERATORS[name].fn(x.cuda()[:, None], x.cuda())
    # A remainder of zero has the dividend's sign here and in PyTorch, the divisor's in NumPy.
    same(got, OPERATORS[name].fn(x[:, None], x), name, signs=name != "remainder")


ACTIVATIONS = {
    "silu": lambda t: tenfold.op.silu(t), "gelu": lambda t: tenfold.op.gelu(t),
    "gelu_tanh": lambda t: tenfold.op.gelu(t, "tanh"), "leaky_relu": lambda t: tenfold.op.leaky_relu(t, 0.2),
    "elu": lambda t: tenfold.op.elu(t, 1.5), "celu": lambda t: tenfold.op.celu(t, 1.5),
    "mish": lambda t: tenfold.op.mish(t), "softplus": lambda t: tenfold.op.softplus(t, 2.0, 10.0),
    "softsign": lambda t: tenfold.op.softsign(t), "tanhshrink": lambda t: tenfold.op.tanhshrink(t),
    "hardshrink": lambda t: tenfold.op.hardshrink(t, 0.3), "softshrink": lambda t: tenfold.op.softshrink(t, 0.3),
    "hardswish": lambda t: tenfold.op.hardswish(t), "threshold": lambda t: tenfold.op.threshold(t, 0.1, -20.0),
    "prelu": lambda t: tenfold.op.prelu(t[:48].reshape(4, 3, 4), t[20:23]), "prelu 1": lambda t: tenfold.op.prelu(t, t[:1]),
    "glu": lambda t: tenfold.op.glu(t[:48].reshape(4, 12), 0), "glu -1": lambda t: tenfold.op.glu(t[:48].reshape(4, 12)),
    "nan_to_num": lambda t: (t / (t > 3)).nan_to_num(0.5, -2), "logit": lambda t: t.logit(0.25), "frac": lambda t: t.frac(),
    "isclose": lambda t: t.isclose(t.round(), 0.1, 0.2).to(t.dtype), "rsub": lambda t: 3 - t, "ldexp": lambda t: t.ldexp(t),
    "logsigmoid": lambda t: tenfold.op.logsigmoid(t), "silu_backward": lambda t: tenfold.op.silu_backward(t * 2, t),
    "gelu_backward": lambda t: tenfold.op.gelu_backward(t * 2, t),
    "gelu_tanh_backward": lambda t: tenfold.op.gelu_backward(t * 2, t, "tanh"),
    "threshold_backward": lambda t: tenfold.op.threshold_backward(t * 2, t, 0.5),
    "add_scaled": lambda t: tenfold.op.add_scaled(t, t * 2, 0.5), "clamp": lambda t: t.clamp(-1, 2.5),
    "clamp_min": lambda t: t.clamp_min(0.5), "masked_fill": lambda t: t.masked_fill(t > 1, 7.0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float16, tenfold.bfloat16], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, dtype):
    x = tenfold.linspace(-6, 6, 49).to(dtype)
    got, expected = ACTIVATIONS[name](x.cuda()), ACTIVATIONS[name](x)
    assert got.dtype is expected.dtype
    rtol, atol = implementation(dtype)
    np.testing.assert_allclose(got.cpu().double().numpy(), expected.double().numpy(), rtol=rtol, atol=atol)


UNITS = {
    "leaky_relu": (0.2,), "hardtanh": (-0.5, 2.0), "elu": (1.5,), "celu": (1.5,), "selu": (), "mish": (), "softplus": (2.0, 10.0),
    "softsign": (), "tanhshrink": (), "hardshrink": (0.3,), "softshrink": (0.3,), "hardsigmoid": (), "hardswish": (),
    "logsigmoid": (), "threshold": (0.1, -20.0), "sigmoid": (), "tanh": (),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float64], ids=str)
@pytest.mark.parametrize("name", UNITS)
def test_gradients_of_units(name, dtype):
    """Of special values, and a second time through, beside the gradients that the CPU has."""
    second = dtype is tenfold.float64
    x, g = tenfold.tensor(SPECIAL[: 12 if name == "mish" or second else None], dtype=dtype), []
    for device in ("cpu", "cuda"):
        leaf = x.to(device).requires_grad_()
        with np.errstate(all="ignore"):
            y = OPERATORS[name].fn(leaf, *UNITS[name])
            g.append(tenfold.autograd.grad(y, leaf, tenfold.full_like(y, 1.5), create_graph=second))
            if second:
                g[-1] += tenfold.autograd.grad(g[-1][0].square().sum(), leaf)
    for expected, got in zip(*g, strict=True):
        same(got.detach(), expected.detach(), name, signs=False)


def _grown(unit, *tensors):
    found = []
    for device in ("cpu", "cuda"):
        leaves = [t.to(device).requires_grad_() for t in tensors]
        y = unit(*leaves)
        found.append(tenfold.autograd.grad(y, leaves, tenfold.linspace(-1, 2, y.numel()).reshape(y.shape).to(y)))
    for expected, got in zip(*found, strict=True):
        same(got, expected, signs=False)


def test_gradients_of_units_with_two_operands():
    x = tenfold.linspace(-3, 3, 48).reshape(2, 4, 6)
    for dtype in (tenfold.float32, tenfold.float64, tenfold.bfloat16):
        for dim in (0, 1, -1):
            _grown(lambda t, dim=dim: tenfold.op.glu(t, dim), x.to(dtype))
        _grown(lambda t: tenfold.op.glu(t.transpose(0, 1), 0), x.to(dtype))
        for weight in (tenfold.tensor([0.25]), tenfold.tensor([0.25, -0.5, 2.0, 0.0])):
            _grown(tenfold.op.prelu, x.to(dtype), weight.to(dtype))
    _grown(tenfold.op.prelu, x.transpose(1, 2).contiguous().transpose(1, 2), tenfold.tensor([0.25, -0.5, 2.0, 0.0]))


LAYOUTS = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "permuted": lambda x: x.permute(1, 0, 2),
    "sliced": lambda x: x[:, ::2, 1:],
    "expanded": lambda x: x[:, :1, :].expand(4, 6, 5),
    "one element": lambda x: x[0, 0, 0].expand(3, 2),
    "0-d": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:, :0],
}


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float16, tenfold.bfloat16, tenfold.int64, tenfold.bool], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, dtype):
    base = (tenfold.arange(120).reshape(4, 6, 5) % 7 - 3).to(dtype)
    x, y = LAYOUTS[layout](base), LAYOUTS[layout](base.cuda())
    same((y == y.max()) if x.numel() else y.logical_not(), (x == x.max()) if x.numel() else x.logical_not())
    same(y + y, x + x)
    same(y.maximum(y.flip(0)) if x.dim() else y, x.maximum(x.flip(0)) if x.dim() else x)
    if layout in ("contiguous", "transposed", "permuted"):
        assert (y + y).stride() == (x + x).stride()


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.int64], ids=str)
def test_tiles_of_transposed_operands(dtype):
    x = (tenfold.arange(3 * 70 * 33) % 101 - 50).reshape(3, 70, 33).to(dtype)
    b = x[0, 0, :32]
    for order in ((0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)):
        for wanted, got in [(z.permute(order).contiguous(), y.permute(order).contiguous()) for z, y in ((x, x.cuda()),)]:
            same(got, wanted)
            same(got + x.cuda().permute(order), wanted + x.permute(order))
    same(x.cuda()[:, :, 1:].transpose(1, 2).contiguous() + x.cuda()[:1, :1, :1], x[:, :, 1:].transpose(1, 2) + x[:1, :1, :1])
    y, z = x.cuda()[0, :, :32], x[0, :, :32]
    same(y.t().contiguous() + y[:, 0], z.t() + z[:, 0])  # one element all along the other side, in whole lines along this one
    same(y.t().contiguous() * y.t() + b.cuda()[:, None], z.t() * z.t() + b[:, None])
    same(y.transpose(0, 1).clone().copy_(y.t().flip(0)), z.t().flip(0))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "uint8", "bool", "complex64"])
def test_conjugates(name):
    x = tenfold.tensor([0, 1, 2]).to(getattr(tenfold, name))
    same(tenfold.op.conj_physical(x.cuda()).abs() if name == "complex64" else tenfold.op.conj_physical(x.cuda()),
         tenfold.op.conj_physical(x).abs() if name == "complex64" else tenfold.op.conj_physical(x))  # fmt: skip


def test_bfloat16_is_rounded_once():
    # 1 + 2^-8 lies between two bfloat16 numbers: rounding to even gives 1, and 1 + 3 * 2^-8 gives 1 + 2^-6.
    x = tenfold.tensor([1.0, 1.0], dtype=tenfold.bfloat16, device="cuda")
    y = tenfold.tensor([2**-8, 3 * 2**-8], dtype=tenfold.bfloat16, device="cuda")
    assert (x + y).float().tolist() == [1.0, 1.015625]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_numbers_meet_half_precision_rounded(name):
    x = tenfold.tensor([0.7, 0.3, -0.7, 3.0, 1.4, 2.1, 5.5], dtype=getattr(tenfold, name))
    for call in (
        lambda x: x == 0.7,
        lambda x: x != 0.7,
        lambda x: x < 0.7,
        lambda x: x > 0.7,
        lambda x: x >= 0.7,
        lambda x: x <= 0.7,
        lambda x: x.fmod(0.7),
        lambda x: x % 0.7,
        lambda x: tenfold.remainder(0.7, x),
        lambda x: x.clone().fmod_(0.7),
        lambda x: x**0.7,
        lambda x: 0.7**x,
    ):
        for operand in (x, x.repeat(8), x[::2], x.repeat(3, 1).t()):
            expected, got = call(operand), call(operand.cuda()).cpu()
            assert got.dtype is expected.dtype
            np.testing.assert_array_equal(got.float().numpy(), expected.float().numpy())
    assert (x.cuda() == 0.7).tolist() == [True, *[False] * 6]


def test_integers_wrap_and_divide_as_on_the_cpu():
    x = tenfold.tensor([7, -7, 2**62, -(2**63)])
    for y in (2, -3):
        for f in (lambda a, b: a * b, lambda a, b: a // b, lambda a, b: a % b, lambda a, b: a.fmod(b), lambda a, b: a + b):
            assert f(x.cuda(), y).tolist() == f(x, y).tolist()
    assert tenfold.div(x.cuda(), -2, rounding_mode="trunc").tolist() == [-3, 3, -(2**61), 2**62]


def test_shifts_beyond_the_width():
    x = tenfold.tensor([-8, 8], dtype=tenfold.int32, device="cuda")
    assert (x << 40).tolist() == [0, 0]
    assert (x >> 40).tolist() == [-1, 0]


def test_in_place_writes_into_the_same_memory():
    base = tenfold.zeros(4, 6, device="cuda")
    view = base.t()[1:3]
    address = view.data_ptr()
    view.add_(tenfold.arange(4.0, device="cuda")).mul_(2).clamp_(max=4)
    assert view.data_ptr() == address
    assert base.tolist()[3] == [0, 4, 4, 0, 0, 0]
    base.zero_()
    assert base.sum().item() == 0


def test_copies_within_one_memory():
    x = tenfold.arange(6.0, device="cuda")
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:] = x[:-1]
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x.copy_(tenfold.arange(6))
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_out_is_checked():
    x = tenfold.zeros(2, 3, device="cuda")
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        tenfold.zeros(3, device="cuda").add_(x)
    out = tenfold.empty(2, 3, device="cuda")
    assert tenfold.add(x, 1, out=out) is out
    assert out.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("value", [2, -1, 0.5, 1, 3, 2.5, -0.5])
def test_powers(value):
    x = tenfold.tensor([0.5, 2.0, -3.0, 0.0])
    same(x.cuda() ** value, x**value)
    same(value ** x.cuda(), value**x)


def test_whole_powers():
    x = tenfold.tensor([2, -3, 0])
    assert (x.cuda() ** 5).tolist() == [32, -243, 0]
    with pytest.raises(RuntimeError, match="negative integer powers"):
        x.cuda() ** -1


def test_complex_goes_through_the_array_module():
    x = tenfold.tensor([1 + 2j, -1j])
    for f in (lambda a: a * a, lambda a: a + 1j, lambda a: a.exp(), lambda a: a.abs(), lambda a: a / 2, lambda a: a.conj()):
        np.testing.assert_allclose(f(x.cuda()).cpu().numpy(), f(x).numpy(), rtol=1e-6)


def test_several_programs():
    x = tenfold.arange(200_003, dtype=tenfold.float32)
    assert (x.cuda() + 1).cpu().equal(x + 1)
    y = x[: 2 * 100_001].reshape(100_001, 2)
    assert (y.cuda().t() * y.cuda().t().flip(1)).cpu().equal(y.t() * y.t().flip(1))


def test_operands_without_a_formula_are_declined():
    now = runtime.current()
    assert run("exp", now.from_host(np.zeros(2, np.complex64), 0)) is NotImplemented
    with pytest.raises(ValueError, match="do not broadcast"):
        run("add", now.from_host(np.zeros(2), 0), now.from_host(np.zeros(3), 0))


def test_two_devices_are_not_mixed():
    with pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu"):
        tenfold.zeros(2, device="cuda") + tenfold.zeros(2)


def test_errors_are_those_of_the_operator():
    x = tenfold.zeros(2, 3, device="cuda")
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        x + tenfold.zeros(4, device="cuda")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        x @ x
    with pytest.raises(TypeError, match="no dtype float8_e5m2fnuz; it has bool"):
        tenfold.zeros(2, dtype=tenfold.float8_e5m2fnuz, device="cuda")


@pytest.mark.parametrize("last", [tenfold.channels_last, tenfold.channels_last_3d], ids=["planes", "volumes"])
def test_what_is_repeated_lies_as_the_array_that_it_is_repeated_for(last):
    size = (4, 3, *[5] * (3 if last is tenfold.channels_last_3d else 2))
    x = tenfold.rand(size).contiguous(memory_format=last)
    y = x.cuda()
    for shape in ((), (5,), (1, 3, *[1] * (len(size) - 2)), (4, 1, *[1] * (len(size) - 3), 5), size):
        b = tenfold.rand(shape)
        for apart in (b, b.contiguous(memory_format=last) if b.dim() == x.dim() else b):
            c = apart.cuda()
            for got, expected in (
                (c + y, apart + x),
                (y * c, x * apart),
                (tenfold.where(y > 0.5, c, y), tenfold.where(x > 0.5, apart, x)),
            ):
                assert got.stride() == expected.stride()
                assert got.cpu().equal(expected)
    assert y.cpu(memory_format=tenfold.contiguous_format).is_contiguous()
    assert x.cpu(memory_format=tenfold.contiguous_format).is_contiguous()


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float16, tenfold.int64], ids=str)
def test_repeated_dimensions_say_nothing_of_how_a_result_lies(dtype):
    x = tenfold.arange(24).reshape(2, 3, 4).to(dtype)
    for made in (
        lambda t: t[:1].expand(2, 3, 4), lambda t: t[:, :, :1].expand(2, 3, 4), lambda t: t[0, 0, 0].expand(2, 3, 4),
        lambda t: t.transpose(0, 2)[:, :1].expand(4, 3, 2),
    ):  # fmt: skip
        a, b = made(x), made(x.cuda())
        for call in (lambda t: t.abs(), lambda t: t + t, lambda t: t * 2, lambda t: t > 3, lambda t: t.to(tenfold.float64)):
            assert call(b).stride() == call(a).stride()
            assert call(b).cpu().equal(call(a))
    assert (x.cuda().as_strided((3, 4), (1, 1)) * 2).stride() == (1, 3)  # of equal steps the longer dimension lies outside


def test_multiples_that_a_dtype_does_not_have_are_refused():
    for size in (0, 1, 3):
        x = tenfold.ones(size, dtype=tenfold.uint8, device="cuda")
        for call in (lambda x: tenfold.addcmul(x, x, x, value=-0.3), lambda x: x.addcmul_(x, x, value=300)):
            with pytest.raises(RuntimeError, match="cannot be converted to type uint8_t without overflow"):
                call(x)
        for value in (0.5, -1, 2.7, 255):
            y = x.cpu()
            assert tenfold.addcmul(x, x, x, value=value).tolist() == tenfold.addcmul(y, y, y, value=value).tolist()
