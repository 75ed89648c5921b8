"""`torch._higher_order_ops.associative_scan` beside loops of our own and PyTorch's."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.as_torch.stand_ins._higher_order_ops.associative_scan import associative_scan

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch._higher_order_ops.associative_scan").associative_scan

SIZES = [1, 2, 3, 4, 5, 8, 13]


def recurrence(left, right):
    """y = a y' + b, as pairs: the scan of state space models."""
    return left[0] * right[0], left[1] * right[0] + right[1]


def both(fn, leaves, dim, **kwargs):
    """Results and gradients of the leaves, Tenfold's and PyTorch's."""
    found = []
    for library, scan in ((tenfold, associative_scan), (torch, theirs)):
        xs = tuple(library.tensor(x.tolist(), dtype=library.float64, requires_grad=True) for x in leaves)
        ys = scan(fn, xs, dim, combine_mode="generic", **kwargs)
        sum((y * y.detach().cos()).sum() for y in ys).backward()
        found.append([t.detach().numpy() for t in (*ys, *(x.grad for x in xs))])
    return found


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("n", SIZES)
def test_a_recurrence_is_pytorchs(n, dim, reverse):
    shape = [2, 3, 2]
    shape[dim] = n
    leaves = [torch.randn(shape, dtype=torch.float64) for _ in range(2)]
    for a, b in zip(*both(recurrence, leaves, dim, reverse=reverse), strict=True):
        assert a.shape == b.shape
        assert abs(a - b).max() < 1e-10


def test_order_counts_where_the_function_does_not_commute():
    x = torch.randn(6, 3, 3, dtype=torch.float64)
    for a, b in zip(*both(lambda left, right: (left[0] @ right[0],), [x], 0), strict=True):
        assert abs(a - b).max() < 1e-10


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_a_single_tensor(n):
    x = tenfold.arange(n)
    assert associative_scan(lambda a, b: a + b, x, 0).tolist() == x.cumsum(0).tolist()
    assert (
        associative_scan(lambda a, b: {"x": a["x"] + b["x"]}, {"x": x}, 0, True)["x"].tolist()
        == x.flip(0).cumsum(0).flip(0).tolist()
    )


@pytest.mark.parametrize(
    ("args", "error", "says"),
    [
        ((3, tenfold.ones(3), 0), ValueError, "must be a callable"),
        ((recurrence, tenfold.ones(3), 0.5), ValueError, "must be an int"),
        ((recurrence, tenfold.ones(3), 0, 1), ValueError, "must be a bool"),
        ((recurrence, tenfold.ones(3), 0, False, "other"), ValueError, "pointwise"),
        ((recurrence, 3, 0), ValueError, "tensors only"),
        ((recurrence, [], 0), ValueError, "at least one"),
        ((recurrence, tenfold.ones(0), 0), ValueError, "size of at least 1"),
        ((recurrence, (tenfold.ones(2), tenfold.ones(3)), 0), ValueError, "one size"),
        ((lambda a, b: (a, b), tenfold.ones(3), 0), RuntimeError, "form of xs"),
        ((lambda a, b: a.sum(), tenfold.ones(3, 2), 0), RuntimeError, "shape"),
    ],
)
def test_wrong_arguments(args, error, says):
    with pytest.raises(error, match=says):
        associative_scan(*args)


def test_a_dimension_that_is_not_there():
    with pytest.raises(IndexError):
        associative_scan(lambda a, b: a + b, tenfold.ones(3), 1)
