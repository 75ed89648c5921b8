"""Sums of two operands by a plan, which equations have: the values and refusals of the sublist form, which has none."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold


def sublists(equation, x, y):
    left, arrow, right = equation.partition("->")
    first, second = ([ord(c) - 97 for c in part] for part in left.split(","))
    return tenfold.einsum(x, first, y, second, *([[ord(c) - 97 for c in right]] if arrow else []))


def outcome(call):
    try:
        return call()
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(40))
def test_as_the_sublist_form(seed):
    rng = np.random.default_rng(seed)
    sizes = dict(zip("abcde", rng.choice([0, 1, 2, 3, 4], 5, p=[0.04, 0.24, 0.24, 0.24, 0.24]), strict=True))
    for _ in range(20):
        first, second = ("".join(rng.permutation(list("abcde"))[: rng.integers(1, 4)]) for _ in range(2))
        out = "".join(rng.permutation(sorted({*first, *second}))[: rng.integers(0, 4)])
        equation = f"{first},{second}" + (f"->{out}" if rng.random() < 0.8 else "")
        shapes = [[sizes[c] if rng.random() < 0.95 else 1 for c in part] for part in (first, second)]
        x, y = (tenfold.from_numpy(rng.integers(-3, 4, shape).astype(np.float32)) for shape in shapes)
        got, expected = (outcome(lambda f=f, e=equation, x=x, y=y: f(e, x, y)) for f in (tenfold.einsum, sublists))
        if isinstance(got, str) or isinstance(expected, str):
            assert got == expected
            continue
        assert got.shape == expected.shape
        assert got.tolist() == expected.tolist()  # whole numbers, so that no order of adding them counts
        if x.shape == tuple(sizes[c] for c in first):
            np.testing.assert_array_equal(got.numpy(), np.einsum(equation, x.numpy(), y.numpy()))


def test_one_plan_serves_gradients_dtypes_and_transforms():
    x, y = tenfold.randn(2, 3, dtype=tenfold.float64), tenfold.randn(3, 4, dtype=tenfold.float64)
    for equation in ("ij,jk->ik", "ij,jk->ki", "ij,jk"):
        tenfold.autograd.gradcheck(lambda a, b, e=equation: tenfold.einsum(e, a, b), (x.requires_grad_(), y.requires_grad_()))
    batch = tenfold.randn(5, 2, 3, dtype=tenfold.float64)
    rows = tenfold.func.vmap(lambda a: tenfold.einsum("ij,jk->ik", a, y.detach()))(batch)
    np.testing.assert_allclose(rows.numpy(), np.einsum("bij,jk->bik", batch.numpy(), y.detach().numpy()))
    assert tenfold.einsum("i,i->", tenfold.arange(3), tenfold.arange(3)).item() == 5
    with pytest.raises(RuntimeError, match="dtype"):
        tenfold.einsum("ij,jk->ik", x, y.float())


def test_the_result_is_no_part_of_an_operand():
    x, y = tenfold.ones(2, 2), tenfold.eye(2)
    z = tenfold.einsum("ij,jk->ik", x, y)
    z.zero_()
    assert x.sum() == 4
    assert y.sum() == 2


def test_bools_are_multiplied_where_a_sum_has_one_term():
    a, b = tenfold.tensor([[[True], [False]]]), tenfold.tensor([[[True, True, False]]])
    assert tenfold.einsum("bij,bjk->kbi", a, b).tolist() == [[[True, False]], [[True, False]], [[False, False]]]
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        tenfold.einsum("bij,bjk->kbi", b, b.mT)


def test_an_operand_repeats_a_subscript_over_one_size_alone():
    with pytest.raises(RuntimeError, match="repeated for operand 0 but the sizes don't match, 1 != 4"):
        tenfold.einsum("jll->j", tenfold.ones(2, 4, 1))
    assert tenfold.einsum("jll->j", tenfold.ones(2, 4, 4)).tolist() == [4.0, 4.0]


@pytest.mark.parametrize(("equation", "place"), [("1", 0), ("a,b1->ab", 3), ("a,b->a2", 6)])
def test_a_subscript_that_is_none_is_told_by_its_place(equation, place):
    with pytest.raises(RuntimeError, match=f"invalid subscript given at index {place} in the equation string"):
        tenfold.einsum(equation, tenfold.ones(2), *([tenfold.ones(2, 2)] if "," in equation else []))


def test_too_few_and_too_many_operands_are_told_apart():
    with pytest.raises(RuntimeError, match="fewer operands were provided than specified in the equation"):
        tenfold.einsum("a,b,c", tenfold.ones(2), tenfold.ones(2))
    with pytest.raises(RuntimeError, match="more operands were provided than specified in the equation"):
        tenfold.einsum("a", tenfold.ones(2), tenfold.ones(2))
