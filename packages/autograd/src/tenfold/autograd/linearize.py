"""`linearize`: the function runs once, its derivative as often as one likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.autograd.derivatives import check_directions, jvp, require_outputs
from tenfold.autograd.dual_level import DualLevel
from tenfold.autograd.linear_level import LinearLevel, NotLinear, Program
from tenfold.autograd.pytree import Spec, flatten, form, unflatten
from tenfold.ops.creation.like import zeros_like
from tenfold.tensor.tensor import Tensor

Function = Callable[..., Any]


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The value of a function and its derivative as a function of the direction: (func(*primals), tangents -> J tangents).

    The function runs once. The derivative makes only the calls that tangents are in, with what the function computed from
    the primals, random numbers included, as it was then. Where those calls cannot be told (a custom Function's own
    rule, numbers read from a tangent) each derivative runs the function, as `jvp` does. RuntimeError when a tensor that
    the derivative needs was written since.

    >>> import tenfold
    >>> from tenfold.autograd.func import linearize
    >>> value, derivative = linearize(lambda x: x * x, tenfold.tensor(3.0))
    >>> derivative(tenfold.tensor(1.0))
    tensor(6.)
    """
    leaves, _ = check_directions(primals, primals)
    try:
        value, program, spec = _recorded(func, primals, leaves)
    except NotLinear:
        return func(*primals), lambda *tangents: jvp(func, primals, tangents)[1]

    def derivative(*tangents: Any) -> Any:
        _check_alike(primals, tangents)
        check_directions(primals, tangents)
        if program.changed:
            raise RuntimeError(
                "linearize: one of the tensors needed for the derivative has been modified by an inplace operation since the "
                "function ran; linearize it again, or write to a clone"
            )
        return unflatten(program.run(flatten(tangents)[0]), spec)

    return value, derivative


def _check_alike(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> None:
    (leaves, spec), (directions, other) = flatten(primals), flatten(tangents)
    if spec != other:
        raise RuntimeError(
            f"linearize: Expected the tangents {form(tangents)} to have the same argspec as the primals {form(primals)}"
        )
    for i, (p, t) in enumerate(zip(leaves, directions)):
        for what in ("shape", "dtype", "device") if isinstance(t, Tensor) else ():
            mine, its = getattr(t, what), getattr(p, what)
            if mine != its:
                raise RuntimeError(
                    f"linearize: tangent:{i} with {what} {mine} in flattened pytree doesn't match the {what} {its} of the "
                    "corresponding primal."
                )


def _recorded(func: Function, primals: tuple[Any, ...], leaves: list[Any]) -> tuple[Any, Program, Spec]:
    """(the function's value, the calls of its derivative, the form of both)."""
    with LinearLevel() as linear, DualLevel(func) as level:
        duals = [level.wrap(p, linear.variable(zeros_like(p))) for p in leaves]
        outputs, spec = flatten(func(*unflatten(duals, flatten(primals)[1])))
        require_outputs("jvp", outputs)
        pairs = [level.unwrap(t) for t in outputs]
        values = [linear.unwrap(p)[0] for p, _ in pairs]
        ends = [zeros_like(p) if t is None else linear.unwrap(t)[1] for p, t in pairs]
    program = Program(linear, len(leaves), ends)
    if program.changed:
        raise NotLinear("the function wrote to what it had used")
    return unflatten(values, spec), program, spec


__all__ = ["linearize"]
