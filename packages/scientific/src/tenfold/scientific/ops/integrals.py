"""Differences of neighbours, and sums over the spaces between samples: the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.tensor.tensor import Tensor


def _strips(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> tuple[Any, int]:
    """The area between each sample and the next, and the dimension."""
    dim = wrap_dim(dim, y.dim(), name)
    if y.dtype.category == 0 or (x is not None and x.dtype.category == 0):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    count = y.size(dim)
    pairs = y.narrow(dim, 0, max(count - 1, 0)) + y.narrow(dim, min(1, count), max(count - 1, 0))
    if x is None:
        return pairs * (dx / 2), dim
    return pairs * _widths(name, y, x, dim) / 2, dim


def _step(name: str, x: Any, dx: Any) -> Any:
    """The distance of samples: 1 unless told; TypeError beside points, RuntimeError for a complex one."""
    if dx is None:
        return 1
    if x is not None:
        raise TypeError(f"{name}() received an invalid combination of arguments: the points `x` or the distance `dx`, not both")
    if isinstance(dx, complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number, got {dx}")
    return dx


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Any:
    """The distances between sample points; those of a vector belong to the dimension."""
    if x.dim() == 1:
        if x.size(0) != y.size(dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point, got {x.size(0)} for {y.size(dim)}")
        return x.diff().reshape([-1 if i == dim else 1 for i in range(y.dim())])
    return x.diff(dim=dim - y.dim())


@composite("integrals", method=None, aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: complex | None = None, dim: int = -1) -> Tensor:
    """Integral of samples by the trapezoidal rule, at distances `dx` or at the points `x`.

    Formula: sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2); at equal distances (sum(y) - (y[0] + y[-1]) / 2) * dx.

    >>> import tenfold
    >>> tenfold.trapezoid(tenfold.tensor([1.0, 5.0, 10.0]))
    tensor(10.5000)
    """
    d = wrap_dim(dim, y.dim(), "trapezoid")
    dx = _step("trapezoid", x, dx)
    if y.dim() and not y.size(d):
        return y.detach().sum(d).to(y.dtype)  # zeros, which nothing can change
    if x is None and y.dtype.category:  # in whole numbers the sum of neighbours could leave the dtype's range
        ends = y.select(d, 0) * 0.5 + y.select(d, -1) * 0.5
        return (y.sum(d) - ends) * dx
    strips, dim = _strips("trapezoid", y, x, dx, dim)
    return strips.sum(dim)


@composite("integrals", method=None)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: complex | None = None, dim: int = -1) -> Tensor:
    """The integral by the trapezoidal rule up to each sample after the first.

    >>> import tenfold
    >>> tenfold.cumulative_trapezoid(tenfold.tensor([1.0, 5.0, 10.0]))
    tensor([ 3.0000, 10.5000])
    """
    dx = _step("cumulative_trapezoid", x, dx)
    strips, dim = _strips("cumulative_trapezoid", y, x, dx, dim)
    return strips.cumsum(dim)


@composite("integrals", out=True, mixed=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """The n-th forward difference along a dimension: x[i + 1] - x[i], applied n times; exclusive or for bool.

    >>> import tenfold
    >>> tenfold.diff(tenfold.tensor([1, 3, 7]))
    tensor([2, 4])
    """
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap_dim(dim, input.dim(), "diff")
    if n == 0:
        return input.clone()
    parts = [p for p in (prepend, input, append) if p is not None]
    for part in parts:
        if part.dim() != input.dim():
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        if any(n != m for i, (n, m) in enumerate(zip(part.shape, input.shape)) if i != d):
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
                f"dimension; input.size() = {list(input.shape)}, got {list(part.shape)}"
            )
    if len(parts) > 1:
        input = op.cat(parts, d)
    for _ in range(n):
        size = input.shape[d]
        if size == 0:
            break
        later, earlier = input.narrow(d, 1, size - 1), input.narrow(d, 0, size - 1)
        input = later.logical_xor(earlier) if input.dtype.category == 0 else later - earlier
    return input
