"""A line search for the strong Wolfe conditions, by cubic interpolation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tenfold import Tensor


@dataclass(slots=True)
class Point:
    """What is known at the step size `t` along the search direction."""

    t: float
    loss: float
    grad: Tensor
    slope: float  # the gradient times the direction


Evaluate = Callable[[float], Point]


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through both values and slopes is least, within `bounds`: Nocedal and Wright 2006, equation 3.59."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    first, second = (a, b) if a.t <= b.t else (b, a)
    d1 = first.slope + second.slope - 3 * (first.loss - second.loss) / (first.t - second.t)
    square: Any = d1 * d1 - first.slope * second.slope
    if not square >= 0:
        return (low + high) / 2
    d2: Any = square.sqrt() if isinstance(square, Tensor) else sqrt(square)
    denominator = second.slope - first.slope + 2 * d2
    if denominator == 0:
        return (low + high) / 2
    t: float = second.t - (second.t - first.t) * (second.slope + d2 - d1) / denominator
    return min(max(t, low), high)


def strong_wolfe(
    evaluate: Evaluate,
    t: float,
    start: Point,
    longest: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_iterations: int = 25,
) -> tuple[Point, int]:
    """Find a step with `loss <= start + c1 t slope` and `|slope_t| <= c2 |slope|`, and return it with the evaluations made.

    Nocedal and Wright: Numerical Optimization, 2006, algorithms 3.5 and 3.6. `longest` is the largest entry of the
    direction, by which a bracket is too narrow to go on.
    """

    def too_high(point: Point) -> bool:
        return point.loss > start.loss + c1 * point.t * start.slope

    def flat_enough(point: Point) -> bool:
        return abs(point.slope) <= -c2 * start.slope

    previous, point = start, evaluate(t)
    bracket: list[Point] = [start, point]
    iterations, found = 0, False
    while iterations < max_iterations:
        if too_high(point) or (iterations > 1 and point.loss >= previous.loss):
            bracket = [previous, point]
            break
        if flat_enough(point):
            bracket, found = [point, point], True
            break
        if point.slope >= 0:
            bracket = [previous, point]
            break
        bounds = (point.t + 0.01 * (point.t - previous.t), point.t * 10)
        t = cubic_minimum(previous, point, bounds)
        previous, point = point, evaluate(t)
        iterations += 1
    else:
        bracket = [start, point]

    stalled = False
    evaluations = iterations + 1
    low, high = sorted(bracket, key=lambda candidate: candidate.loss)
    while not found and iterations < max_iterations:
        if abs(high.t - low.t) * longest < tolerance_change:
            break
        t, stalled = _inside(cubic_minimum(low, high), low.t, high.t, stalled)
        point = evaluate(t)
        iterations, evaluations = iterations + 1, evaluations + 1
        if too_high(point) or point.loss >= low.loss:
            low, high = (low, point) if low.loss <= point.loss else (point, low)
            continue
        if flat_enough(point):
            found = True
        elif point.slope * (high.t - low.t) >= 0:
            high = low
        low = point
    return low, evaluations


def _inside(t: float, a: float, b: float, stalled: bool) -> tuple[float, bool]:
    """Move a step that is near the bracket's end a tenth inside, the second time in a row; and whether it was the first."""
    lowest, highest = min(a, b), max(a, b)
    margin = 0.1 * (highest - lowest)
    if min(highest - t, t - lowest) >= margin:
        return t, False
    if not stalled and lowest < t < highest:
        return t, True
    return (highest - margin if abs(t - highest) < abs(t - lowest) else lowest + margin), False


# Under PyTorch's names, by which programs of their own minimizers call them; numbers may be tensors of one element there.


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """`cubic_minimum` of two places, their values and slopes."""
    return cubic_minimum(Point(x1, f1, g1, g1), Point(x2, f2, g2, g2), bounds)


def _strong_wolfe(
    obj_func: Any, x: Any, t: Any, d: Tensor, f: Any, g: Tensor, gtd: Any, c1: float = 1e-4, c2: float = 0.9,
    tolerance_change: float = 1e-9, max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:  # fmt: skip
    """`strong_wolfe` of a function: `obj_func(x, t, d)` is the loss and gradient at x + t d. (loss, gradient, t, evaluations)."""

    def evaluate(size: Any) -> Point:
        loss, grad = obj_func(x, size, d)
        return Point(size, loss, grad.clone(), grad.dot(d))

    longest: Any = d.abs().max()
    found, used = strong_wolfe(evaluate, t, Point(0, f, g, gtd), longest, c1, c2, tolerance_change, max_ls)
    return found.loss, found.grad, found.t, used
