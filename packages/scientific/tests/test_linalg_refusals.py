"""What linear algebra refuses, in PyTorch's words: results of another dtype, norms of nothing, rows that are not there."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import linalg

A, B, V = [[4.0, 1.0], [1.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0]


def whole():
    return tenfold.empty(0, dtype=tenfold.int32)


def fractions():
    return tenfold.empty(0)


SAME = {
    "cholesky": lambda a, b: linalg.cholesky(a, out=whole()),
    "inv": lambda a, b: linalg.inv(a, out=whole()),
    "det": lambda a, b: linalg.det(a, out=whole()),
    "slogdet": lambda a, b: linalg.slogdet(a, out=(fractions(), whole())),
    "eigh": lambda a, b: linalg.eigh(a, out=(whole(), fractions())),
    "qr": lambda a, b: linalg.qr(a, out=(whole(), fractions())),
    "svd": lambda a, b: linalg.svd(a, out=(whole(), fractions(), fractions())),
    "solve": lambda a, b: linalg.solve(a, b, out=whole()),
    "lu": lambda a, b: linalg.lu(a, out=(whole(), fractions(), fractions())),
    "triangular_solve": lambda a, b: tenfold.triangular_solve(b, a, out=(whole(), fractions())),
}


@pytest.mark.parametrize("name", SAME)
def test_results_have_one_dtype(name):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got int instead"):
        SAME[name](tenfold.tensor(A), tenfold.tensor(B))


CASTABLE = {
    "cholesky_inverse: Expected result": lambda a: tenfold.cholesky_inverse(a, out=whole()),
    "linalg.eig: Expected eigenvalues": lambda a: linalg.eig(a, out=(whole(), whole())),
    "linalg.eigvals: Expected eigenvalues": lambda a: linalg.eigvals(a, out=fractions()),
    "linalg.pinv: Expected result": lambda a: linalg.pinv(a, out=whole()),
    "linalg.matrix_rank: Expected result": lambda a: linalg.matrix_rank(a, out=tenfold.empty(0, dtype=tenfold.bool)),
    "geqrf: Expected a": lambda a: tenfold.geqrf(a, out=(whole(), fractions())),
}


@pytest.mark.parametrize("words", CASTABLE)
def test_results_are_castable(words):
    with pytest.raises(RuntimeError, match=f"{words} to be safely castable from .* dtype, but got .* with dtype"):
        CASTABLE[words](tenfold.tensor(A))


def test_castable_results_are_cast():
    made = tenfold.empty(0, dtype=tenfold.float64)
    assert tenfold.cholesky_inverse(tenfold.tensor([[2.0]]), out=made) is made
    assert made.tolist() == [[0.25]]
    solution, copy = fractions(), fractions()
    tenfold.triangular_solve(tenfold.tensor([[4.0]]), tenfold.tensor([[2.0]]), out=(solution, copy))
    assert (solution.tolist(), copy.tolist()) == ([[2.0]], [[2.0]])


@pytest.mark.parametrize(("order", "text"), [(-1.0, "-1"), (-2, "-2"), (float("inf"), "inf"), (float("-inf"), "-inf")])
def test_norms_of_nothing(order, text):
    with pytest.raises(RuntimeError, match=f"linalg.vector_norm cannot compute the {text} norm on an empty tensor"):
        linalg.vector_norm(tenfold.empty(0), order)
    with pytest.raises(RuntimeError, match=f"cannot compute the {text} norm on the dimension 1"):
        linalg.vector_norm(tenfold.empty(2, 0), order, dim=1)
    assert linalg.vector_norm(tenfold.empty(2, 0), order, dim=0).shape == (0,)


@pytest.mark.parametrize("place", [0, 3])
def test_pivots_are_rows(place):
    LU, pivots = linalg.lu_factor(tenfold.tensor(A))
    pivots[0] = place
    with pytest.raises(RuntimeError, match=r"greater or equal to 1" if not place else r"smaller or equal to LU.size\(-2\)"):
        linalg.lu_solve(LU, pivots, tenfold.tensor(B))
    with pytest.raises(RuntimeError, match=r"between 1 and LU.size\(-2\)\."):
        tenfold.lu_unpack(LU, pivots)


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"beta": True}, "Boolean beta only supported for Boolean results"),
        ({"alpha": False}, "Boolean alpha only supported for Boolean results"),
        ({"beta": 1j}, "cannot be converted to type float without overflow"),
    ],
)
def test_factors_of_addr(factors, words):
    with pytest.raises(RuntimeError, match=words):
        tenfold.addr(tenfold.tensor(A), tenfold.tensor(V), tenfold.tensor(V), **factors)
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        tenfold.addr(tenfold.ones(1, 1).int(), tenfold.ones(1).int(), tenfold.ones(1).int(), alpha=1.5)


def test_negative_rcond_is_the_precision():
    a = tenfold.tensor([[1.0, 1.0], [1.0, 1.0]])
    found = linalg.lstsq(a, tenfold.tensor([[2.0], [2.0]]), rcond=-1)
    assert found.rank.item() == 1
    assert tenfold.allclose(found.solution, tenfold.ones(2, 1))


def test_condition_of_nothing():
    assert linalg.cond(tenfold.empty(0, 0)).item() == 0
    assert linalg.cond(tenfold.empty(3, 0, 0)).tolist() == [0.0, 0.0, 0.0]
    for p in (None, -2, 1, float("inf")):  # not square, either
        assert linalg.cond(tenfold.empty(0, 2), p).item() == 0
    with pytest.raises(RuntimeError, match="square"):
        linalg.cond(tenfold.empty(0, 2), "fro")


@pytest.mark.parametrize(("kinds", "name"), [(("float64", "int32"), "mantissa"), (("float32", "int64"), "exponent")])
def test_parts_of_frexp_have_their_dtypes(kinds, name):
    parts = tuple(tenfold.empty(2, dtype=getattr(tenfold, kind)) for kind in kinds)
    with pytest.raises(RuntimeError, match=rf"torch\.frexp\(\) expects {name} to have .*(int|float).* but got"):
        tenfold.frexp(tenfold.ones(2), out=parts)


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (linalg.LinAlgError, "The diagonal element 1", lambda: linalg.tensorinv(tenfold.zeros(2, 2), ind=1)),
        (RuntimeError, "expected a tensor with 2 or more dimensions", lambda: linalg.pinv(tenfold.ones(1))),
        (RuntimeError, "A must have at least 2 dimensions", lambda: linalg.norm(tenfold.ones(2), "fro")),
        (RuntimeError, "the first tensor must be 1D or 2D", lambda: linalg.multi_dot([tenfold.ones(()), tenfold.ones(2)])),
        (RuntimeError, r"torch\.linalg\.eig: input tensor should not", lambda: linalg.eig(tenfold.full((2, 2), float("nan")))),
    ],
)
def test_words(error, words, call):
    with pytest.raises(error, match=words):
        call()


def test_singular_factors_have_no_inverse():
    singular, regular = [[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [2.0, 1.0]]
    with pytest.raises(linalg.LinAlgError, match="cholesky_inverse: The diagonal element 2 is zero, the inversion could not be"):
        tenfold.cholesky_inverse(tenfold.tensor(singular))
    for upper in (False, True):
        with pytest.raises(linalg.LinAlgError, match=r"cholesky_inverse: \(Batch element 3\): The diagonal element 2 is zero"):
            tenfold.cholesky_inverse(tenfold.tensor([[regular, regular], [regular, singular]]), upper=upper)
    assert tenfold.cholesky_inverse(tenfold.empty(0, 0)).shape == (0, 0)


def test_least_squares_of_singular_matrices():
    singular = tenfold.tensor([[1.0, 0.0], [1.0, 0.0]])  # whose factors have an exact zero whatever the processor
    with pytest.raises(linalg.LinAlgError, match=r"does not have full rank \(error code: 2\)"):
        linalg.lstsq(singular, tenfold.ones(2, 1), driver="gels")
    with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\): .* full rank \(error code: 1\)"):
        linalg.lstsq(tenfold.stack([tenfold.eye(3, 2), tenfold.zeros(3, 2)]), tenfold.ones(2, 3, 1), driver="gels")
    wide = linalg.lstsq(tenfold.tensor([[3.0, 4.0]]), tenfold.tensor([[5.0]]), driver="gels")
    assert tenfold.allclose(wide.solution, tenfold.tensor([[0.6], [0.8]]))


@pytest.mark.parametrize("rcond", [0.0, 1.0, 2.0])
def test_rcond_of_divide_and_conquer(rcond):
    a = tenfold.tensor([[2.0, 0.0], [0.0, 1.0]])
    found = linalg.lstsq(a, tenfold.ones(2, 1), rcond=rcond, driver="gelsd")
    assert found.rank.item() == 2
    assert tenfold.allclose(found.solution, tenfold.tensor([[0.5], [1.0]]))


def test_norms_where_the_result_is_empty():
    for order in (-1, -2.5):
        for dim in (0, 1):
            with pytest.raises(RuntimeError, match=f"norm on the dimension {dim}"):
                linalg.vector_norm(tenfold.zeros(0, 0), order, dim=dim)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("linalg.cond got an invalid norm type: wrong", lambda: linalg.cond(tenfold.eye(2), "wrong")),
        ("linalg.cond got an invalid norm type: 3", lambda: linalg.cond(tenfold.eye(2), 3)),
        (
            "rcond tensor of complex type is not supported. Got ComplexFloat",
            lambda: linalg.pinv(tenfold.eye(2), tenfold.tensor(1j)),
        ),
        ("atol tensor of complex type", lambda: linalg.pinv(tenfold.eye(2), atol=tenfold.tensor(1j))),
        ("the last tensor must be 1D or 2D but got 0D", lambda: linalg.multi_dot([tenfold.eye(2), tenfold.ones(())])),
        ("tensor 1 must be 2D but got 3D", lambda: linalg.multi_dot([tenfold.eye(2), tenfold.ones(2, 2, 2), tenfold.eye(2)])),
        ("Expected self to satisfy", lambda: linalg.tensorsolve(tenfold.ones(2, 3, 6), tenfold.ones(2, 4))),
        ("input must have at least 2 dimensions", lambda: linalg.householder_product(tenfold.ones(2), tenfold.ones(2))),
        (r"input.shape\[-2\] must be greater", lambda: linalg.householder_product(tenfold.ones(2, 3), tenfold.ones(2))),
        (r"input.shape\[-1\] must be greater", lambda: linalg.householder_product(tenfold.ones(3, 2), tenfold.ones(5))),
    ],
)
def test_words_of_linear_algebra(words, call):
    with pytest.raises(RuntimeError, match=words):
        call()


@pytest.mark.parametrize("rows", [3, 0])
def test_a_mode_of_qr_that_is_none(rows):
    with pytest.raises(RuntimeError, match="qr received unrecognized mode 'hello'"):
        linalg.qr(tenfold.ones(rows, 3), mode="hello")


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("place", "order"), [((0, 0), 1), ((1, 1), 2), ((2, 2), 3), ((1, 0), 2), ((2, 0), 3)])
def test_nan_is_not_positive_definite(place, order, upper):
    a = tenfold.eye(3).repeat(2, 1, 1)
    a[(1, *(reversed(place) if upper else place))] = float("nan")
    assert linalg.cholesky_ex(a, upper=upper).info.tolist() == [0, order]
    with pytest.raises(linalg.LinAlgError, match=f"leading minor of order {order} is not"):
        linalg.cholesky(a, upper=upper)
    assert linalg.cholesky_ex(a.mT.contiguous(), upper=upper).info.tolist() == [0, order if place[0] == place[1] else 0]


def test_the_sign_of_a_determinant_that_is_nan_is_0():
    sign, size = linalg.slogdet(tenfold.tensor([[[float("nan")]], [[-2.0]]]))
    assert sign.tolist() == [0.0, -1.0]
    assert size.isnan().tolist() == [True, False]
