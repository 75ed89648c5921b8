"""Elementwise operators on tensors of two dtypes: values, dtypes and gradients are those of the CPU, without a cast before."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.cuda.kernels import conversion, mixed

DTYPES = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool")
HARD = [0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"), 3.0, 65504.0, 2.0**-24, 1e-40, 7.0]
PAIRS = [(a, b) for a in DTYPES for b in DTYPES if a != b and "float" in a + b]


def operand(dtype, device, shift=0):
    numbers = HARD[shift:] + HARD[:shift]
    if "float" not in dtype:
        numbers = [int(n) if abs(n) < 100 else 100 for n in numbers]
        numbers = [abs(n) for n in numbers] if dtype == "uint8" else [n != 0 for n in numbers] if dtype == "bool" else numbers
    return tenfold.tensor(numbers, dtype=getattr(tenfold, dtype)).reshape(3, 4).to(device)


def same(got, expected):
    assert got.device.type == "cuda"
    assert got.dtype is expected.dtype
    a, b = (t.detach().cpu().double().numpy() for t in (got, expected))
    np.testing.assert_allclose(a, b, rtol=1e-6 if got.dtype in (tenfold.float32, tenfold.float64) else 1e-3, equal_nan=True)
    return got


@pytest.mark.parametrize("name", mixed.SERVED.split())
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_values_of_two_dtypes(name, first, second):
    if name == "sub" and "bool" in (first, second):
        with pytest.raises(RuntimeError, match="bool"):
            operand(first, "cuda") - operand(second, "cuda")
        return
    found = []
    with np.errstate(all="ignore"):
        for device in ("cpu", "cuda"):
            x, y = operand(first, device), operand(second, device, 5)
            operator = getattr(tenfold, name)
            found.append([operator(x, y), operator(x.t(), y[0, :3]), operator(x[1:], y[0, 2]), operator(x[1, 3], y)])
    for expected, got in zip(*found, strict=True):
        same(got, expected)


@pytest.mark.parametrize("name", ["add", "mul", "div", "lt"])
@pytest.mark.parametrize("pair", [("float32", "bfloat16"), ("float16", "float32"), ("float16", "bfloat16"), ("float32", "bool"),
                                  ("int64", "float32"), ("float64", "float16")])  # fmt: skip
def test_nothing_is_cast_before(name, pair, monkeypatch):
    casts = []
    given = conversion.cast
    monkeypatch.setattr(conversion, "cast", lambda *a, **k: (casts.append(a), given(*a, **k))[1])
    x, y = (operand(dtype, "cuda") for dtype in pair)
    runs = []
    run = mixed.run
    monkeypatch.setattr(mixed, "run", lambda *a, **k: (runs.append(a[0]), run(*a, **k))[1])
    getattr(tenfold, name)(x, y)
    getattr(tenfold, name)(y, x)
    assert runs == [name, name]
    assert not casts


def test_what_a_cast_would_round_is_rounded():
    for x, y in (
        (tenfold.tensor([1.0, 2.0], dtype=tenfold.bfloat16), tenfold.tensor(1.001)),
        (tenfold.tensor([1, 2049]), tenfold.tensor([1.0, 1.0], dtype=tenfold.float16)),
        (tenfold.tensor([1, 2**24 + 1]), tenfold.tensor([1.0, 1.0])),
        (tenfold.tensor([1.0, 2.0]), tenfold.tensor(1.0 + 2**-40, dtype=tenfold.float64)),
        (tenfold.tensor([1.0, 2.0], dtype=tenfold.bfloat16), tenfold.tensor(1.001, dtype=tenfold.float64)),
        (tenfold.tensor([1.0, 2.0], dtype=tenfold.float16), tenfold.tensor(1.0078125, dtype=tenfold.bfloat16)),
        (tenfold.tensor([1, 257], dtype=tenfold.int32), tenfold.tensor([1.0, 257.0], dtype=tenfold.bfloat16)),
        (tenfold.tensor([True, False]), tenfold.tensor([1.0, 257.0], dtype=tenfold.bfloat16)),
        (tenfold.tensor([1.0, 2.0]), tenfold.tensor([1j, 2.0])),
    ):
        for operator in (tenfold.add, tenfold.mul, tenfold.eq, lambda x, y: tenfold.add(y, x)):
            got, expected = operator(x.to("cuda"), y.to("cuda")), operator(x, y)
            assert got.dtype is expected.dtype
            assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("name", mixed.SERVED.split()[:4])
def test_gradients_have_the_dtypes_of_what_they_are_for(name):
    for first, second in (("float32", "bfloat16"), ("float16", "float32"), ("bfloat16", "float16"), ("float32", "float64")):
        found = []
        for device in ("cpu", "cuda"):
            x = tenfold.tensor([[1.0, 2.0], [3.0, -4.0]], dtype=getattr(tenfold, first)).to(device).requires_grad_()
            y = tenfold.tensor([0.5, -2.0], dtype=getattr(tenfold, second)).to(device).requires_grad_()
            z = getattr(tenfold, name)(x, y)
            found.append((z, *tenfold.autograd.grad(z, [x, y], tenfold.full_like(z, 0.3), create_graph=True)))
            whole = getattr(tenfold, name)(x, tenfold.tensor([1.0, 2.0], dtype=getattr(tenfold, second), device=device))
            whole.sum().backward()
            found[-1] += (x.grad,)
        for expected, got in zip(*found, strict=True):
            same(got, expected)


@pytest.mark.parametrize("name", mixed.IN_PLACE.split())
def test_writes_of_two_dtypes(name):
    for first, second in (("float32", "bfloat16"), ("bfloat16", "float32"), ("float16", "bfloat16"), ("float32", "int64")):
        found = []
        for device in ("cpu", "cuda"):
            x, y = operand(first, device), operand(second, device, 5)
            with np.errstate(all="ignore"):
                results = [getattr(x, name + "_")(y), getattr(x.t(), name + "_")(y[0, :3]), getattr(x[1:], name + "_")(y[0])]
            assert results[0] is x
            assert x._version == 3
            found.append(x)
        same(found[1], found[0])


@pytest.mark.parametrize("alpha", [0.3, -2, float("inf"), 1])
def test_sums_with_a_multiple(alpha):
    for first, second in (("float32", "bfloat16"), ("bfloat16", "float64"), ("float16", "float32"), ("int64", "float32")):
        found = []
        for device in ("cpu", "cuda"):
            x, y = operand(first, device), operand(second, device, 5)
            with np.errstate(all="ignore"):
                sums = [tenfold.add(x, y, alpha=alpha), tenfold.sub(x, y, alpha=alpha)]
                sums += [y.clone().add_(x, alpha=alpha), y.clone().sub_(x, alpha=alpha)]
            found.append(sums)
        for expected, got in zip(*found, strict=True):
            same(got, expected)


def test_writes_that_are_refused_or_recorded():
    x, y = tenfold.ones(3, device="cuda"), tenfold.ones(3, dtype=tenfold.bfloat16, device="cuda")
    with pytest.raises(RuntimeError, match="can't be cast"):
        tenfold.ones(3, dtype=tenfold.int64, device="cuda").add_(y)
    with pytest.raises(RuntimeError, match="broadcast shape"):
        x[:1].add_(y)
    with pytest.raises(RuntimeError, match="more than one element"):
        x[:1].expand(3).add_(y)
    leaf = tenfold.ones(3, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf"):
        leaf.add_(y)
    wanted = y.clone().requires_grad_()
    z = leaf * 2
    z.mul_(wanted)
    z.sum().backward()
    assert leaf.grad.tolist() == [2.0] * 3
    assert wanted.grad.tolist() == [2.0] * 3
    shared = tenfold.ones(4, device="cuda")
    shared.mul_(shared.view(tenfold.float16)[::2])
    assert shared.tolist() == [0.0] * 4
