"""What products with powers of two keep for the backward pass, and their gradients, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBRARIES = (torch, tenfold)
REAL = ("float16", "bfloat16", "float32", "float64")
# PyTorch's gradients of a real and a complex number together stop with an assertion.
DTYPES = [*((a, b) for a in REAL for b in REAL), ("complex64", "complex64"), ("complex128", "complex128")]


def product(lib: Any, dtype: str, exponent: str) -> tuple[Any, Any, Any, Any, Any]:
    leaves = [
        lib.tensor(values, dtype=getattr(lib, d), requires_grad=True)
        for values, d in (([0.0, 1.5, -2.0], dtype), ([3.0, -1.0, 0.5], exponent))
    ]
    x, y = (leaf * 1 for leaf in leaves)
    return *leaves, x, y, lib.ldexp(x, y)


@pytest.mark.parametrize(("dtype", "exponent"), DTYPES)
def test_gradients(dtype: str, exponent: str) -> None:
    found = []
    for lib in LIBRARIES:
        a, b, _, _, result = product(lib, dtype, exponent)
        result.abs().sum().backward()
        found.append([result.detach(), a.grad, b.grad])
    for theirs, ours in zip(*found):
        assert str(theirs.dtype).removeprefix("torch.") == str(ours.dtype).removeprefix("tenfold.")
        torch.testing.assert_close(torch.tensor(ours.tolist(), dtype=theirs.dtype), theirs)


@pytest.mark.parametrize("written", ["factor", "exponent", "result"])
def test_what_may_be_overwritten(written: str) -> None:
    found = []
    for lib in LIBRARIES:
        a, b, x, y, result = product(lib, "float32", "float32")
        {"factor": x, "exponent": y, "result": result}[written].mul_(2)
        try:
            result.sum().backward()
            found.append((a.grad.tolist(), b.grad.tolist()))
        except RuntimeError as error:
            found.append(str(error)[:60])
    assert found[0] == found[1]


def test_second_derivatives() -> None:
    x, y = (tenfold.tensor(v, dtype=tenfold.float64, requires_grad=True) for v in ([1.5, -2.0, 0.0], [2.0, -1.0, 0.5]))
    assert tenfold.autograd.gradcheck(tenfold.ldexp, (x, y))
    assert tenfold.autograd.gradgradcheck(tenfold.ldexp, (x, y))
    summed = tenfold.func.vmap(tenfold.func.grad(lambda a, b: tenfold.ldexp(a, b)))(x.detach(), y.detach())
    torch.testing.assert_close(torch.tensor(summed.tolist()).double(), 2.0 ** torch.tensor(y.tolist()).double())
