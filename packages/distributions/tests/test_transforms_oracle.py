"""Transforms, constraints and their registries beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
import tenfold.distributions

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")
Make = Callable[[Any, Any], Any]  # (library.distributions.transforms, tensor maker) -> transform
REAL = [[-2.0, 0.3, 1.5], [0.1, -0.7, 4.0]]
POSITIVE = [[0.2, 0.3, 1.5], [0.1, 2.7, 4.0]]
SQUARE = [[[0.3, 0.5], [-1.0, 0.2]], [[1.0, 0.0], [0.3, -0.6]]]

CASES: dict[str, tuple[Make, Any]] = {
    "abs": (lambda f, t: f.AbsTransform(), REAL),
    "affine": (lambda f, t: f.AffineTransform(1.0, -2.0), REAL),
    "affine-tensors": (lambda f, t: f.AffineTransform(t([1.0, 2.0, 3.0]), t([2.0, -1.0, 0.5]), event_dim=1), REAL),
    "cat": (lambda f, t: f.CatTransform([f.ExpTransform(), f.TanhTransform()], dim=1, lengths=[1, 2]), REAL),
    "cat-rows": (lambda f, t: f.CatTransform([f.ExpTransform(), f.TanhTransform()], dim=0), REAL),
    "compose": (lambda f, t: f.ComposeTransform([f.ExpTransform(), f.AffineTransform(1.0, 3.0)]), REAL),
    "compose-events": (lambda f, t: f.ComposeTransform([f.TanhTransform(), f.StickBreakingTransform()]), REAL),
    "corr": (lambda f, t: f.CorrCholeskyTransform(), REAL),
    "cumulative": (lambda f, t: f.CumulativeDistributionTransform(NORMAL[t.__name__](0.0, 1.0)), REAL),
    "exp": (lambda f, t: f.ExpTransform(), REAL),
    "identity": (lambda f, t: f.identity_transform, REAL),
    "independent": (lambda f, t: f.IndependentTransform(f.ExpTransform(), 1), REAL),
    "lower": (lambda f, t: f.LowerCholeskyTransform(), SQUARE),
    "positive-definite": (lambda f, t: f.PositiveDefiniteTransform(), SQUARE),
    "power": (lambda f, t: f.PowerTransform(t([2.0, -0.5, 3.0])), POSITIVE),
    "reshape": (lambda f, t: f.ReshapeTransform((2, 2), (4,)), SQUARE),
    "sigmoid": (lambda f, t: f.SigmoidTransform(), REAL),
    "softmax": (lambda f, t: f.SoftmaxTransform(), REAL),
    "softplus": (lambda f, t: f.SoftplusTransform(), REAL),
    "stack": (lambda f, t: f.StackTransform([f.ExpTransform(), f.TanhTransform()], dim=0), REAL),
    "stick": (lambda f, t: f.StickBreakingTransform(), REAL),
    "tanh": (lambda f, t: f.TanhTransform(), REAL),
}
NORMAL = {"tenfold": tenfold.distributions.Normal, "torch": torch.distributions.Normal}


def tensors(lib: Any) -> Any:
    def maker(value: Any) -> Any:
        return lib.tensor(value, dtype=lib.float64)

    maker.__name__ = lib.__name__
    return maker


def both(name: str) -> list[tuple[Any, Any, Any]]:
    make, value = CASES[name]
    return [(lib, make(lib.distributions.transforms, tensors(lib)), tensors(lib)(value)) for lib in (tenfold, torch)]


def equal(ours: Any, theirs: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-10, atol=1e-12)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        return call()
    except (ValueError, TypeError, RuntimeError, AssertionError, IndexError, AttributeError) as error:
        return type(error)


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    results = []
    for _, transform, x in both(name):
        x = x.clone().requires_grad_()
        y = transform(x)
        back = transform.inv(y)
        jacobian = outcome(lambda transform=transform, x=x, y=y: transform.log_abs_det_jacobian(x, y))
        total = y.sum() + (0 if isinstance(jacobian, type) else jacobian.sum())
        total.backward()
        results.append((y, back, jacobian, x.grad))
    for ours, theirs in zip(*results):
        if isinstance(theirs, type):
            assert ours is theirs
        else:
            equal(ours, theirs)


@pytest.mark.parametrize("name", CASES)
def test_properties(name: str) -> None:
    (_, ours, x), (_, theirs, _) = both(name)
    assert repr(ours) == repr(theirs)
    assert repr(ours.inv) == repr(theirs.inv)
    for asked in ("domain", "codomain"):
        assert repr(getattr(ours, asked)) == repr(getattr(theirs, asked))
        assert getattr(ours, asked).event_dim == getattr(theirs, asked).event_dim
    assert ours.bijective == theirs.bijective
    for call in (
        lambda t: t.sign,
        lambda t: t.event_dim,
        lambda t: tuple(t.forward_shape(tuple(x.shape))),
        lambda t: tuple(t.inverse_shape(t.forward_shape(tuple(x.shape)))),
        lambda t: t.forward_shape(()),
        lambda t: t.with_cache()._cache_size,
        lambda t: t.with_cache().inv.inv._cache_size,
    ):
        a, b = outcome(lambda call=call: call(ours)), outcome(lambda call=call: call(theirs))
        assert (a.tolist() == b.tolist()) if hasattr(b, "tolist") else a == b
    again = CASES[name][0]
    other, other_theirs = (again(lib.distributions.transforms, tensors(lib)) for lib in (tenfold, torch))
    assert (ours == other) == (theirs == other_theirs)
    assert (ours.inv == other.inv) == (theirs.inv == other_theirs.inv)


@pytest.mark.parametrize("name", CASES)
def test_caching(name: str) -> None:
    _, transform, x = both(name)[0]
    try:
        cached = transform.with_cache()
    except NotImplementedError:
        return
    y = cached(x)
    assert cached.inv(y) is x
    assert cached(x) is y


CONSTRAINTS: dict[str, Make] = {
    "boolean": lambda c, t: c.boolean, "cat": lambda c, t: c.cat([c.positive, c.real], dim=-1, lengths=[1, 2]),
    "corr": lambda c, t: c.corr_cholesky, "greater": lambda c, t: c.greater_than(0.2),
    "greater-eq": lambda c, t: c.greater_than_eq(0.2),
    "half": lambda c, t: c.half_open_interval(0.0, 1.5), "independent": lambda c, t: c.independent(c.positive, 1),
    "integers": lambda c, t: c.integer_interval(0, 3), "interval": lambda c, t: c.interval(t([0.0, 0.3, 1.0]), 2.0),
    "less": lambda c, t: c.less_than(0.2), "lower": lambda c, t: c.lower_cholesky, "triangular": lambda c, t: c.lower_triangular,
    "multinomial": lambda c, t: c.multinomial(3), "nonnegative": lambda c, t: c.nonnegative,
    "nonnegative-integer": lambda c, t: c.nonnegative_integer, "one-hot": lambda c, t: c.one_hot,
    "positive": lambda c, t: c.positive, "definite": lambda c, t: c.positive_definite,
    "positive-integer": lambda c, t: c.positive_integer, "semidefinite": lambda c, t: c.positive_semidefinite,
    "real": lambda c, t: c.real, "real-vector": lambda c, t: c.real_vector, "simplex": lambda c, t: c.simplex,
    "square": lambda c, t: c.square, "stack": lambda c, t: c.stack([c.positive, c.real], dim=0),
    "symmetric": lambda c, t: c.symmetric, "unit": lambda c, t: c.unit_interval,
    "mixture": lambda c, t: c.MixtureSameFamilyConstraint(c.positive),
}  # fmt: skip
VALUES = [
    REAL, POSITIVE, SQUARE, [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], [[1.0, 0.0], [0.6, 0.8]], [[2.0, 0.1], [0.1, 1.0]],
    [[0.0, 1.0, 3.0], [float("nan"), float("inf"), 2.0]], [[1.0, 1.0], [1.0, 1.0]],
]  # fmt: skip


def checked(constraint: Any, value: Any) -> Any:
    return outcome(lambda: constraint.check(value).tolist())


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name: str) -> None:
    made = [CONSTRAINTS[name](lib.distributions.constraints, tensors(lib)) for lib in (tenfold, torch)]
    assert made[0].event_dim == made[1].event_dim
    assert made[0].is_discrete == made[1].is_discrete
    assert repr(made[0]).replace("tenfold", "torch") == repr(made[1])
    for value in VALUES:
        ours, theirs = (checked(c, tensors(lib)(value)) for lib, c in zip((tenfold, torch), made))
        assert ours == theirs, value


def registered(lib: Any, registry: str, name: str) -> Any:
    constraint = CONSTRAINTS[name](lib.distributions.constraints, tensors(lib))
    return outcome(lambda: getattr(lib.distributions, registry)(constraint))


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registries(name: str, registry: str) -> None:
    ours, theirs = (
        outcome(
            lambda lib=lib: getattr(lib.distributions, registry)(CONSTRAINTS[name](lib.distributions.constraints, tensors(lib)))
        )
        for lib in (tenfold, torch)
    )
    assert repr(ours) == repr(theirs) if not isinstance(theirs, type) else ours is theirs
    if isinstance(theirs, type):
        return
    value = SQUARE if theirs.domain.event_dim == 2 else REAL
    a, b = outcome(lambda: ours(tensors(tenfold)(value))), outcome(lambda: theirs(tensors(torch)(value)))
    if isinstance(b, type):
        assert a is b
    else:
        equal(a, b)
