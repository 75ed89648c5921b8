"""Gradients where formulas have edges: at zeros, infinities, nan, ties and limits, against PyTorch's."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

POINTS = {
    "float64": [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, inf, -inf, nan, 1e300, -1e300, 1e-310],
    "float32": [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, inf, -inf, nan, 1e30, -1e30, 1e-40],
}
# acosh keeps its derivative where the square overflows, sinc where PyTorch's formula loses it; both have none outside the domain.
UNARY = (
    "abs sign square reciprocal exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh "
    "atanh sigmoid erf erfc erfinv angle floor ceil round trunc frac relu deg2rad neg"
).split()
BINARY = "add sub mul div pow atan2 hypot maximum minimum fmax fmin logaddexp logaddexp2 xlogy copysign nextafter".split()
NUMBERS = (0, 1, 2, 3, -1, 0.5, -0.5, 2.5, inf, nan)
VECTORS = {
    "nan": [1.0, nan, 3.0, nan], "ties": [2.0, 2.0, 1.0, 2.0], "infinite": [inf, 1.0, inf], "zeros": [0.0, 0.0, 0.0],
    "one zero": [0.0, 2.0, 3.0], "two zeros": [0.0, 2.0, 0.0], "minus zero": [-0.0, 0.0, 1.0], "one": [5.0],
}  # fmt: skip
# amax and amin: PyTorch makes every gradient nan where one element is; here nan attains the extreme, as in max.
REDUCTIONS: dict[str, Any] = {
    **{name: (lambda x, name=name: getattr(x, name)()) for name in "max min amax amin median nanmedian mean sum nansum".split()},
    **{name: (lambda x, name=name: getattr(x, name)(0)) for name in "cumsum cumprod logcumsumexp logsumexp".split()},
    **{name + "_dim": (lambda x, name=name: getattr(x, name)(0)[0]) for name in "max min median sort cummax cummin mode".split()},
    **{f"norm {p}": (lambda x, p=p: x.norm(p)) for p in (0, 1, 2, 3, 0.5, inf, -inf)},
    **{f"{name} {c}": (lambda x, name=name, c=c: getattr(x, name)(0, correction=c)) for name in ("var", "std") for c in (0, 1)},
    "prod": lambda x: x.prod(),
    "topk": lambda x: x.topk(1)[0],
}


def gradients(lib: Any, function: Any, *arrays: Any) -> list[Any]:
    leaves = [lib.from_numpy(a.copy()).requires_grad_(True) for a in arrays]
    out = function(lib, *leaves)
    out.backward(lib.ones_like(out))
    return [out.detach().numpy(), *(np.zeros_like(x.detach().numpy()) if x.grad is None else x.grad.numpy() for x in leaves)]


def compare(function: Any, *arrays: Any) -> None:
    rtol = 1e-4 if arrays[0].dtype == np.float32 else 1e-9
    for ours, theirs in zip(gradients(tenfold, function, *arrays), gradients(torch, function, *arrays)):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-37 if arrays[0].dtype == np.float32 else 0)


@pytest.mark.parametrize("dtype", POINTS)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name: str, dtype: str) -> None:
    compare(lambda lib, x: getattr(lib, name)(x), np.array(POINTS[dtype], dtype))


@pytest.mark.parametrize("dtype", POINTS)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name: str, dtype: str) -> None:
    a, b = map(np.ravel, np.meshgrid(*[np.array(POINTS[dtype], dtype)] * 2))
    if name == "logaddexp2":  # its value rounds otherwise
        keep = ~((a == b) & (np.abs(a) == 1))
        a, b = a[keep], b[keep]
    compare(lambda lib, x, y: getattr(lib, name)(x, y), a, b)


@pytest.mark.parametrize("dtype", POINTS)
@pytest.mark.parametrize("number", NUMBERS)
def test_powers_with_numbers(number: Any, dtype: str) -> None:
    x = np.array(POINTS[dtype], dtype)
    compare(lambda lib, x: x**number, x)
    compare(lambda lib, x: number**x, x)


def test_powers_of_zero() -> None:
    exponent = tenfold.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    (0**exponent).sum().backward()
    assert exponent.grad.tolist() == [-inf, 0.0, 0.0]
    exponent.grad = None
    tenfold.pow(tenfold.tensor(0.0), exponent).sum().backward()
    assert exponent.grad.tolist() == [-inf, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0")
@pytest.mark.parametrize("name", ["var", "std"])
def test_spreads_without_freedom(name: str) -> None:
    for points in ([0.0, 1.0, 2.0], [[1.0, 1.0, 4.0], [2.0, 2.0, 2.0]]):
        for correction in (3, 4, 6.5):
            compare(lambda lib, x, c=correction: getattr(x, name)(dim=-1, correction=c), np.array(points))
        for correction in (6, 7.5):
            compare(lambda lib, x, c=correction: getattr(x, name)(correction=c), np.array(points))


@pytest.mark.parametrize("limits", [(0, 1), (None, 0.0), (0.0, None), (1, 0)], ids=str)
def test_limits(limits: Any) -> None:
    compare(lambda lib, x: x.clamp(*limits), np.array(POINTS["float64"]))


@pytest.mark.parametrize("name", ["clamp", "clamp_"])
def test_limits_that_are_equal_get_no_gradient(name: str) -> None:
    points = [-1.0, 0.0, 1.0, inf]
    x, low, high = np.array([(a, b, c) for a in points for b in points for c in points]).T.copy()
    compare(lambda lib, x, low, high: getattr(x.clone(), name)(low, high), x, low, high)


@pytest.mark.parametrize("used", [lambda x: x + False, lambda x: x * 2, lambda x: x.exp(), lambda x: x.clone()])
def test_a_leaf_that_gets_dimensions_after_it_was_used(used: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor(3.0, dtype=lib.float64, requires_grad=True)
        y = used(x)
        with lib.no_grad():
            x.unsqueeze_(-1)
        y.backward()
        found.append(x.grad.item())
    assert found[0] == pytest.approx(found[1])
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("used", [lambda x: x.sort(1)[0], lambda x: x * 2, lambda x: x.cumsum(1)])
@pytest.mark.parametrize("changed", [lambda x: x.squeeze_(), lambda x: x.squeeze_(-1), lambda x: x.unsqueeze_(0)])
def test_a_leaf_that_loses_dimensions_after_it_was_used(used: Any, changed: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor([[[3.0], [1.0]], [[2.0], [5.0]], [[-1.0], [4.0]]], requires_grad=True)
        y = used(x)
        with lib.no_grad():
            changed(x)
        y.square().sum().backward()
        found.append(x.grad.flatten().tolist())
    assert found[0] == found[1]
    assert x.grad.shape == x.shape


@pytest.mark.parametrize("dim", [1, -2, 5])
def test_empty_vectors_are_joined_along_any_dimension(dim: int) -> None:
    for lib in (torch, tenfold):
        x = lib.zeros(0, requires_grad=True)
        joined = lib.cat([x.double(), x * 1], dim)
        joined.norm().backward()
        assert joined.shape == x.grad.shape == (0,)


@pytest.mark.parametrize("p", [inf, -inf])
def test_extremes_of_complex_sizes_that_were_rounded_otherwise(p: float) -> None:
    x = tenfold.tensor([3 + 4j, 5j, 3 + 3j, 1 + 1j], dtype=tenfold.complex128, requires_grad=True)
    size = x.norm(p)
    size.detach().numpy()[...] = np.nextafter(size.detach().numpy(), 9)  # as from a device that rounds otherwise
    size.backward()
    y = torch.tensor(x.tolist(), dtype=torch.complex128, requires_grad=True)
    y.norm(p).backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy())


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, vector: str) -> None:
    if (name, vector) == ("prod", "infinite"):  # PyTorch divides infinities; the product of the others is a number
        x = tenfold.tensor(VECTORS[vector], requires_grad=True)
        x.prod().backward()
        assert x.grad.tolist() == [inf, inf, inf]
        return
    for dtype in POINTS:
        compare(lambda lib, x: REDUCTIONS[name](x), np.array(VECTORS[vector], dtype))


def test_logsumexp_of_nothing_but_minus_infinity() -> None:
    compare(lambda lib, x: lib.logsumexp(x, 0), np.full(3, -inf))


@pytest.mark.parametrize("p", [0, 1, 2, 3, 0.5])
def test_distances_of_zero(p: float) -> None:
    compare(lambda lib, x, y: lib.cdist(x, y, p), np.array([[0.0, 0], [1, 1]]), np.array([[0.0, 0], [1, 2]]))


@pytest.mark.parametrize("name", "abs sgn angle sqrt exp log square".split())
def test_complex_functions(name: str) -> None:
    compare(lambda lib, x: getattr(lib, name)(x), np.array([0, 1, -1, 1j, -1j]))


# Infinite gradients and nan that come in, and meet derivatives that are 0: where PyTorch multiplies and where it selects.

INCOMING = (inf, -inf, nan, 0.0)
MEETING_NORMS = {f"norm {p}": (lambda lib, x, p=p: x.norm(p)) for p in (1, 2, 3, inf, -inf)}


def compare_incoming(function: Any, arrays: list[Any], g: float) -> None:
    for lib, result in (libs := {tenfold: [], torch: []}).items():
        leaves = [lib.from_numpy(a.copy()).requires_grad_(True) for a in arrays]
        out = function(lib, *leaves)
        result += [x.numpy() for x in lib.autograd.grad(out, leaves, lib.full_like(out, g))]
    for ours, theirs in zip(libs[tenfold], libs[torch], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("g", INCOMING)
@pytest.mark.parametrize("name", [*UNARY, "sinc"])
def test_gradients_that_come_into_functions_of_one(name: str, g: float) -> None:
    points = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, nan]
    compare_incoming(lambda lib, x: getattr(lib, name)(x), [np.array(points)], g)


@pytest.mark.parametrize("g", INCOMING)
@pytest.mark.parametrize("name", BINARY)
def test_gradients_that_come_into_functions_of_two(name: str, g: float) -> None:
    points = [x for x in POINTS["float64"] if 1e-9 < abs(x) < 1e9 or x in (0, inf, -inf) or x != x]
    compare_incoming(lambda lib, x, y: getattr(lib, name)(x, y), list(map(np.ravel, np.meshgrid(points, points))), g)


@pytest.mark.parametrize("g", INCOMING)
def test_gradients_that_come_into_powers_of_zero(g: float) -> None:
    compare_incoming(lambda lib, x: 0**x, [np.array(POINTS["float64"])], g)


@pytest.mark.parametrize("g", INCOMING)
@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("name", MEETING_NORMS)
def test_gradients_that_come_into_norms(name: str, vector: str, g: float) -> None:
    compare_incoming(MEETING_NORMS[name], [np.array(VECTORS[vector])], g)


@pytest.mark.parametrize("include_self", [True, False])
def test_means_of_complex_numbers_have_the_gradient_of_real_ones(include_self: bool) -> None:
    """Which PyTorch does not know: "does not support automatic differentiation for outputs with complex dtype"."""
    gradients = []
    for dtype in (tenfold.float64, tenfold.complex128):
        x, src = (tenfold.ones(n, dtype=dtype, requires_grad=True) for n in (3, 2))
        y = x.scatter_reduce(0, tenfold.tensor([1, 1]), src, "mean", include_self=include_self)
        gradients.append([g.real.tolist() for g in tenfold.autograd.grad(y.real.sum(), [x, src])])
    assert gradients[0] == gradients[1]


# What is written after the forward pass, and whether the backward pass minds.

WRITTEN_RESULTS = {
    "power": lambda lib, x: x**2, "cube": lambda lib, x: x**3, "erfinv": lambda lib, x: (x / 4).erfinv(),
    "logaddexp": lambda lib, x: lib.logaddexp(x, x * 2), "logaddexp2": lambda lib, x: lib.logaddexp2(x, x * 2),
    "sum": lambda lib, x: x.sum(0), "product": lambda lib, x: x * x, "quotient": lambda lib, x: x / (x + 3),
    "exp": lambda lib, x: x.exp(), "sqrt": lambda lib, x: (x + 3).sqrt(), "tanh": lambda lib, x: x.tanh(),
    "sin": lambda lib, x: x.sin(), "sigmoid": lambda lib, x: x.sigmoid(), "relu": lambda lib, x: x.relu(),
    "softmax": lambda lib, x: x.softmax(0), "log": lambda lib, x: (x + 3).log(), "atan2": lambda lib, x: lib.atan2(x, x + 1),
    "mm": lambda lib, x: x.view(1, -1) @ x.view(-1, 1), "cumsum": lambda lib, x: x.cumsum(0), "norm": lambda lib, x: x.norm(),
    "abs": lambda lib, x: x.abs(), "clamp": lambda lib, x: x.clamp(0, 1), "amax": lambda lib, x: x.amax(),
    "std": lambda lib, x: x.std(), "var": lambda lib, x: x.var(), "where": lambda lib, x: lib.where(x > 0, x, -x),
    "maximum": lambda lib, x: lib.maximum(x, x * 2), "lerp": lambda lib, x: lib.lerp(x, x * 2, 0.5),
    "reciprocal": lambda lib, x: (x + 3).reciprocal(), "power of a number": lambda lib, x: 2**x,
    "hypot": lambda lib, x: lib.hypot(x, x),
}  # fmt: skip


@pytest.mark.parametrize("what", ["result", "argument"])
@pytest.mark.parametrize("name", WRITTEN_RESULTS)
def test_writes_after_the_forward_pass(name: str, what: str) -> None:
    def minded(lib: Any) -> bool:
        x = lib.tensor([0.5, -1.5, 2.0], requires_grad=True) * 1
        y = WRITTEN_RESULTS[name](lib, x)
        loss = y.sum()
        with lib.no_grad():
            (y if what == "result" else x).add_(1)
        try:
            loss.backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
        return False

    if minded(tenfold):
        assert minded(torch)


@pytest.mark.parametrize(
    "name", ["threshold", "hardshrink", "softshrink", "hardtanh", "relu6", "leaky_relu", "hardsigmoid", "relu"]
)
def test_gradients_of_straight_pieces(name: str) -> None:
    points = [-7.0, -3.0, -1.0, -0.5, 0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 6.0, 7.0, nan, inf, -inf]
    for given in (points, points * 3):
        found = []
        for lib in (torch, tenfold):
            x = lib.tensor(given, requires_grad=True)
            getattr(lib.nn.functional, name)(
                x[:: len(given) // len(points)], *((0.1, 2.0) if name == "threshold" else ())
            ).sum().backward()
            found.append(x.grad.numpy())
        np.testing.assert_array_equal(found[1], found[0])


def test_floor_division_has_no_derivative_and_the_rounded_quotient_has_zero() -> None:
    for lib in (torch, tenfold):
        x, y = (lib.tensor([7.0, -7.0], requires_grad=True) for _ in range(2))
        assert (x // 2).requires_grad
        with pytest.raises(RuntimeError, match="floor_divide is not implemented"):
            (x // y).sum().backward()
        lib.div(x, y, rounding_mode="floor").sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [0.0, 0.0]
        z = lib.tensor([3.0, -2.0], dtype=lib.float64, requires_grad=True)
        lib.remainder(x.detach(), z).sum().backward()
        assert z.grad.tolist() == [-2.0, -3.0]
    n = tenfold.tensor([3.0, -2.0], requires_grad=True)
    (-7 % n).sum().backward()
    assert n.grad.tolist() == [3.0, -3.0]


@pytest.mark.parametrize("name", ["max", "min"])
def test_infinite_gradients_of_an_extreme_stay_where_it_is(name):
    grads = []
    for lib in (torch, tenfold):
        x = lib.tensor([1.0, 3.0, 3.0, 1.0], requires_grad=True)
        (getattr(x, name)() * float("inf")).backward()
        grads.append(x.grad.tolist())
    assert grads[1] == grads[0]


def test_products_along_one_element_pass_the_gradient_on():
    grads = []
    for lib in (torch, tenfold):
        x = lib.tensor([[float("inf")], [0.0], [2.0]], requires_grad=True)
        x.cumprod(1).backward(lib.tensor([[0.0], [1.0], [0.5]]))
        grads.append(x.grad.tolist())
    assert grads[1] == grads[0]


@pytest.mark.parametrize("values", [[2.0, 0.0, 3.0], [0.0, 2.0, 3.0], [2.0, 0.0, 0.0], [2.0, 3.0, 0.0], [2.0, 0.0, nan]])
@pytest.mark.parametrize("incoming", [nan, inf, -inf])
def test_a_zero_keeps_what_comes_after_it_out_of_cumprod_s_gradient(values, incoming):
    for place in range(3):
        grads = []
        for lib in (torch, tenfold):
            x = lib.tensor(values, dtype=lib.float64, requires_grad=True)
            g = lib.ones(3, dtype=lib.float64)
            g[place] = incoming
            x.cumprod(0).backward(g)
            grads.append(x.grad.numpy())
        np.testing.assert_array_equal(grads[1], grads[0])


@pytest.mark.parametrize(
    "values", [[300.0, 300, 0], [nan, 0, 2], [inf, 0, 1], [0, inf, 2], [2, 3, 0, 4, 5, 0, 6], [0, 0, 3], [1, -0.0, inf]]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_cumprod_s_gradient_beside_zeros_is_that_of_running_sums(dtype, values):
    """Of lines with and without a zero, either way round: nan and what is too large for the dtype stand where PyTorch's do."""
    for incoming in (1.0, 0.0, -2.5):
        grads = []
        for lib in (torch, tenfold):
            x = lib.tensor([values, values[::-1], [1.5] * len(values)], dtype=getattr(lib, dtype), requires_grad=True)
            g = lib.ones_like(x)
            g[:, 1] = incoming
            x.cumprod(1).backward(g)
            grads.append(x.grad.double().numpy())
        np.testing.assert_array_equal(grads[1], grads[0])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_number_between_two_tensors_is_kept_for_a_second_pass(dtype):
    for call in (lambda x, e: x.lerp(e, 0.3), lambda x, e: x.add(0).lerp_(e, 2), lambda x, e: x.lerp(e, 1e9)):
        grads = []
        for lib in (torch, tenfold):
            x, e = (lib.tensor(v, dtype=getattr(lib, dtype), requires_grad=True) for v in ([1.0, -2.0], [3.0, 0.5]))
            y = call(x, e)
            for _ in range(2):
                y.sum().backward()
            grads.append((y.tolist(), x.grad.tolist(), e.grad.tolist()))
        for ours, theirs in zip(grads[1], grads[0]):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_angle_at_the_origin_has_the_derivatives_zero_in_the_incoming_gradient_and_nan_in_the_point():
    grads = []
    for lib in (torch, tenfold):
        x, y, g = (lib.tensor(v, requires_grad=True) for v in ([0.0, 1.0, -3.0], [0.0, 2.0, 0.0], [3.0, 1.0, 2.0]))
        first = lib.autograd.grad(lib.atan2(x, y), [x, y], g, create_graph=True)
        grads.append([*first, *(d for f in first for d in lib.autograd.grad(f.sum(), [g, x, y], retain_graph=True))])
    for ours, theirs in zip(grads[1], grads[0]):
        np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-6, atol=1e-6)
