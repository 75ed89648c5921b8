"""`NestedIOFunction`: arguments and results in tuples, lists and dictionaries."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.autograd import NestedIOFunction, gradcheck


class Mixed(NestedIOFunction):
    """(a b, [a + k x]) of ((a, b), {"x": x}, k)."""

    @staticmethod
    def forward_extended(ctx, pair, more, k):
        a, b = pair
        ctx.save_for_backward(a, (b, [more["x"]]))
        ctx.k = k
        return {"product": a * b, "sum": [a + k * more["x"]]}

    @staticmethod
    def backward_extended(ctx, g):
        a, (b, _) = ctx.saved_tensors
        of_product, (of_sum,) = g["product"], g["sum"]
        return (of_product * b + of_sum, of_product * a), {"x": ctx.k * of_sum}, None


def leaves(*values):
    return [tenfold.full((2,), v, dtype=tenfold.float64, requires_grad=True) for v in values]


def test_results_and_gradients_are_nested_as_they_were_given():
    a, b, x = leaves(1.0, 3.0, 5.0)
    found = Mixed.apply((a, b), {"x": x}, 7)
    assert list(found) == ["product", "sum"]
    assert type(found["sum"]) is list
    (found["product"].sum() * 2 + found["sum"][0].sum()).backward()
    for tensor, expected in ((a, 7.0), (b, 2.0), (x, 7.0)):
        assert tensor.grad.tolist() == [expected] * 2
    assert type(found["product"].grad_fn).__name__ == "MixedBackward"

    def flat(a, b, x):
        got = Mixed.apply((a, b), {"x": x}, 7)
        return got["product"], got["sum"][0]

    assert gradcheck(flat, (a, b, x))


def test_the_context_says_which_leaves_want_gradients():
    class Asking(Mixed):
        @staticmethod
        def forward_extended(ctx, pair, more, k):
            Asking.asked = ctx.needs_input_grad[:4]
            return Mixed.forward_extended(ctx, pair, more, k)

    a, b, x = leaves(1.0, 3.0, 5.0)
    Asking.apply((a, b.detach()), {"x": x}, 7)
    assert Asking.asked == (True, False, True, False)


def test_a_result_without_a_gradient_and_one_alone():
    class Sign(NestedIOFunction):
        @staticmethod
        def forward_extended(ctx, x):
            sign = x.sign()
            ctx.mark_non_differentiable([sign])
            return x * 2, sign

        @staticmethod
        def backward_extended(ctx, g, of_sign):
            return g * 2

    (x,) = leaves(-3.0)
    double, sign = Sign.apply(x)
    assert (double.requires_grad, sign.requires_grad) == (True, False)
    double.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_backward_must_return():
    class Wrong(Mixed):
        returned = None

        @staticmethod
        def backward_extended(ctx, g):
            return Wrong.returned

    a, b, x = leaves(1.0, 3.0, 5.0)
    one = tenfold.ones(2, dtype=tenfold.float64)
    for returned, words in (
        ((None, None), "incorrect number of gradients .expected 3, got 2."),
        ((one, None, None), "gradient 0 of 1 leaves"),
        (((one, one, one), None, None), "gradient 0 of 3 leaves"),
        ((None, {"y": one}, None), "gradient 1"),
    ):
        Wrong.returned = returned
        with pytest.raises(RuntimeError, match=words):
            Wrong.apply((a, b), {"x": x}, 7)["product"].sum().backward()
    Wrong.returned = (None, one, None)  # as a leaf it is no dictionary
    with pytest.raises(RuntimeError, match="gradient 1"):
        Wrong.apply((a, b), {"x": x}, 7)["product"].sum().backward()
    with pytest.raises(NotImplementedError, match="forward_extended"):
        NestedIOFunction.apply(a)
