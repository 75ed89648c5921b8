"""Operators of science on tensors of two dtypes, and with arguments that they refuse, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool", "complex64"]


def outcome(lib: Any, call: Any) -> tuple[str, Any]:
    """The dtype and the numbers of a call, or the exception's type."""
    try:
        result = call(lib)
    except (RuntimeError, TypeError) as error:
        return type(error).__name__.replace("NotImplementedError", "RuntimeError"), None
    return str(result.dtype).split(".")[-1], np.array(result.to(lib.complex128).tolist())


def agree(call: Any) -> None:
    (ours, x), (theirs, y) = outcome(tenfold, call), outcome(torch, call)
    assert ours == theirs
    if y is not None:
        np.testing.assert_allclose(x, y, rtol=2e-3 if theirs == "float16" else 1e-6)


def filled(lib: Any, shape: Any, dtype: str, number: int) -> Any:
    return lib.full(shape, number, dtype=getattr(lib, dtype))


@pytest.mark.parametrize("factors", [(1, 1), (2, 3), (0.6, 0.2), (1, 0.5), (0, 2), (True, 1)], ids=str)
@pytest.mark.parametrize("given", DTYPES)
def test_addr_in_the_dtype_of_all(given: str, factors: Any) -> None:
    beta, alpha = factors
    for vectors in DTYPES:
        for shape in ((2, 3), ()):
            agree(lambda lib, vectors=vectors, shape=shape: lib.addr(
                filled(lib, shape, given, 2), filled(lib, (2,), vectors, 3), filled(lib, (3,), vectors, 2), beta=beta, alpha=alpha
            ))  # fmt: skip


@pytest.mark.parametrize("other", DTYPES)
def test_cross_promotes_nothing(other: str) -> None:
    for given in DTYPES:
        agree(lambda lib, given=given: lib.linalg.cross(filled(lib, (3,), given, 1), filled(lib, (3,), other, 1)))


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("other", ["float64", "float32"])
@pytest.mark.parametrize("given", ["float64", "float32", "complex64"])
def test_solve_triangular_in_the_dtype_of_the_matrix(given: str, other: str, left: bool) -> None:
    agree(lambda lib: lib.linalg.solve_triangular(
        filled(lib, (2, 2), given, 2), filled(lib, (2, 2), other, 3), upper=True, left=left
    ))  # fmt: skip


@pytest.mark.parametrize("index", ["int64", "int32", "uint8"])
def test_put_at_places_of_other_dtypes(index: str) -> None:
    agree(lambda lib: lib.zeros(3).put(filled(lib, (1,), index, 1), lib.ones(1)))
    agree(lambda lib: lib.zeros(3).put_(filled(lib, (1,), index, 1), lib.ones(1), accumulate=True))


REFUSED: dict[str, Any] = {
    "nonzero_static, negative": lambda lib: lib.nonzero_static(lib.ones(2), size=-1),
    "cov, negative": lambda lib: lib.cov(lib.ones(2, 3), aweights=lib.tensor([1.0, -1.0, 1.0])),
    "cov, nan": lambda lib: lib.cov(lib.ones(2, 3), aweights=lib.tensor([1.0, float("nan"), 1.0])),
    "cov, counts": lambda lib: lib.cov(lib.ones(2, 3), fweights=lib.ones(3)),
    "cov, whole": lambda lib: lib.cov(lib.ones(2, 3), aweights=lib.tensor([1, 1, 1])),
    "cov, size": lambda lib: lib.cov(lib.ones(2, 3), aweights=lib.ones(2)),
    "cov, matrix": lambda lib: lib.cov(lib.ones(2, 3), aweights=lib.ones(1, 3)),
    "gradient of bytes": lambda lib: lib.gradient(filled(lib, (3,), "uint8", 2))[0],
    "mvlgamma of bools": lambda lib: lib.mvlgamma(filled(lib, (3,), "bool", 1), 2),
    "index_fill, complex": lambda lib: lib.ones(3).index_fill(0, lib.tensor([0]), lib.tensor(1 + 1j)),
    "block_diag": lambda lib: lib.block_diag(lib.ones(2), 1.5),
    "block_diag of a number": lambda lib: lib.block_diag(2),
    "cartesian_prod": lambda lib: lib.cartesian_prod(lib.ones(2), [1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    assert outcome(torch, REFUSED[name])[1] is None
    agree(REFUSED[name])


@pytest.mark.parametrize("unbiased", [True, False])
def test_std_mean_without_a_dimension(unbiased: bool) -> None:
    for i in range(2):
        agree(lambda lib, i=i: lib.std_mean(lib.arange(3.0), unbiased)[i])
        agree(lambda lib, i=i: lib.std_mean(lib.arange(6.0).view(2, 3), 1, unbiased, True)[i])


@pytest.mark.filterwarnings("ignore:index_reduce")  # PyTorch calls it new
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_index_reduce_into_an_output(dtype: str) -> None:
    def call(lib: Any) -> Any:
        out = filled(lib, (3,), dtype, 0)
        lib.index_reduce(lib.ones(3), 0, lib.tensor([0, 1]), lib.full((2,), 3.0), "prod", out=out)
        return out

    agree(call)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("exponent", ["float64", "float32", "float16", "bfloat16"])
def test_ldexp_by_an_exponent_of_another_precision(dtype: str, exponent: str) -> None:
    for shape in ((), (2,)):
        for exponents in ((), (1,)):
            ours, theirs = (
                lib.ldexp(
                    lib.ones(shape, dtype=getattr(lib, dtype)), lib.tensor(0.251, dtype=getattr(lib, exponent)).expand(exponents)
                )
                for lib in (tenfold, torch)
            )
            assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
            # A rounding of float32, by which PyTorch's powers differ from one processor to another; 1e-7 is less than one.
            np.testing.assert_allclose(np.array(ours.tolist()), np.array(theirs.tolist()), rtol=2**-23)


def test_inner_products_convert_nothing_for_their_output() -> None:
    for dtype in ("uint8", "float32", "float64"):
        for given in DTYPES:
            for size in ((2, 3), (3,)):
                agree(lambda lib, dtype=dtype, given=given, size=size: lib.inner(
                    filled(lib, size, dtype, 2), filled(lib, size, dtype, 3), out=lib.zeros(0, dtype=getattr(lib, given))
                ))  # fmt: skip


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize(("shape", "dim"), [((), None), ((), ()), ((3,), ()), ((3, 4), None), ((3, 4), 1), ((0, 3), None)])
def test_shifts_need_a_dimension(name: str, shape: Any, dim: Any) -> None:
    agree(lambda lib: getattr(lib.fft, name)(lib.arange(12.0)[: int(np.prod(shape))].reshape(shape), dim))


def test_the_vector_product_of_numbers_lacks_the_dimension() -> None:
    for lib in (torch, tenfold):
        with pytest.raises(IndexError):
            lib.linalg.cross(lib.ones(()), lib.ones(()))
