"""What a function being differentiated may write to, and what `print` shows inside of it."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.func import grad, jacfwd, jacrev, jvp, vmap

REFUSED = "would mutate a captured Tensor"
OUTSIDE = tenfold.zeros(3)


def into_closure(x: tenfold.Tensor, captured: tenfold.Tensor) -> None:
    def write(t: tenfold.Tensor) -> tenfold.Tensor:
        captured.copy_(t)
        return (t * captured).sum()

    grad(write)(x)


def into_global(x: tenfold.Tensor, captured: tenfold.Tensor) -> None:
    def write(t: tenfold.Tensor) -> tenfold.Tensor:
        OUTSIDE.add_(t)
        return (t * OUTSIDE).sum()

    jvp(write, (x,), (x,))


def into_part(x: tenfold.Tensor, captured: tenfold.Tensor) -> None:
    def write(t: tenfold.Tensor) -> tenfold.Tensor:
        captured[:2] = t[:2]
        return (t * captured).sum()

    grad(grad(lambda a, t: a * write(t)))(tenfold.tensor(1.0), x)
    grad(write)(x)


@pytest.mark.parametrize("case", [into_closure, into_global, into_part])
def test_captured_tensors_are_not_written(case):
    with pytest.raises(RuntimeError, match=REFUSED):
        case(tenfold.ones(3), tenfold.zeros(3))


def test_what_the_function_makes_or_is_given_is_written():
    def made(t: tenfold.Tensor) -> tenfold.Tensor:
        z = tenfold.zeros(3)
        z.copy_(t)
        return (t * z).sum()

    def given(t: tenfold.Tensor, z: tenfold.Tensor) -> tenfold.Tensor:
        z.copy_(t)
        return z * 2

    x = tenfold.tensor([1.0, 2.0, 3.0])
    assert grad(made)(x).tolist() == [2.0, 4.0, 6.0]
    assert jvp(made, (x,), (tenfold.ones(3),))[1].item() == 12.0
    for jacobian in (jacrev, jacfwd):
        assert jacobian(given)(x, tenfold.zeros(3)).diagonal().tolist() == [2.0] * 3


def test_a_write_that_no_gradient_follows_may_go_anywhere():
    seen = tenfold.zeros(3)

    def function(t: tenfold.Tensor) -> tenfold.Tensor:
        with tenfold.no_grad():
            seen.add_(1)
        return (t * t).sum()

    grad(function)(tenfold.ones(3))
    assert seen.tolist() == [1.0] * 3


def texts(transforms: list[object], x: tenfold.Tensor) -> str:
    found: list[str] = []

    def innermost(t: tenfold.Tensor) -> tenfold.Tensor:
        found.append(repr(t))
        return t.sum()

    function = innermost
    for transform in reversed(transforms):
        function = transform(function)
    function(x)
    return found[0]


@pytest.mark.parametrize(
    ("transforms", "shape", "expected"),
    [
        ([grad], (), "GradTrackingTensor(lvl=1, value=tensor(1.))"),
        ([grad, grad], (), "GradTrackingTensor(lvl=2, value=GradTrackingTensor(lvl=1, value=tensor(1.)))"),
        ([vmap], (2,), "BatchedTensor(lvl=1, bdim=0, value=tensor([1., 1.]))"),
        ([vmap, grad], (2,), "GradTrackingTensor(lvl=2, value=BatchedTensor(lvl=1, bdim=0, value=tensor([1., 1.])))"),
    ],
)
def test_printing_says_what_tracks_a_tensor(transforms, shape, expected):
    assert texts(transforms, tenfold.ones(shape)) == expected
    assert repr(tenfold.ones(1)) == "tensor([1.])"


def test_constants_inside_print_as_they_are():
    assert grad(lambda x: (x * len(repr(tenfold.ones(1)))).sum())(tenfold.ones(1)).item() == len("tensor([1.])")


def test_results_of_unknown_size_are_refused_in_batches():
    with pytest.raises(RuntimeError, match="We do not support batching operators that can output dynamic shape"):
        vmap(lambda x: x.nonzero())(tenfold.ones(2, 2))
