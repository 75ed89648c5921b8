"""Derivatives of functions by their arguments: pullbacks (`vjp`), gradients, and forward mode (`jvp`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tenfold.autograd.dual_level import DualLevel
from tenfold.autograd.levels import current
from tenfold.autograd.pytree import Spec, flatten, form, tree_map, unflatten
from tenfold.autograd.scopes import Scope, pull
from tenfold.ops.creation.like import ones_like, zeros_like
from tenfold.tensor.tensor import Tensor

Function = Callable[..., Any]


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function and its pullback: (func(*primals), cotangents -> tuple of the primals' gradients).

    Formula: the pullback maps u to J^H u. With `has_aux` the function returns (output, aux), and aux comes third.
    The pullback can be called many times.

    >>> import tenfold
    >>> from tenfold.autograd.func import vjp
    >>> y, pullback = vjp(lambda x: x * x, tenfold.tensor([1., 3.]))
    >>> pullback(tenfold.tensor([1., 1.]))
    (tensor([2., 6.]),)
    """
    leaves, spec = flatten(primals)
    _require_tensors(leaves)
    scope = Scope(current(), func)
    with scope:
        inputs = [scope.begin(t) for t in leaves]
        output, aux = split_aux("vjp", func(*unflatten(inputs, spec)), has_aux)
    outputs, out_spec = flatten(output)
    require_outputs("vjp", outputs)

    def pullback(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {form(cotangents)}, primal output: {form(output)}"
            )
        for i, (t, g) in enumerate(zip(outputs, given)):
            if not isinstance(g, Tensor):
                raise RuntimeError(f"vjp: expected Tensors as cotangents, got unsupported type {type(g)}")
            if g.shape != t.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}."
                )
        return unflatten(pull(scope, outputs, inputs, given), spec)

    value = tree_map(scope.cut, output)
    return (value, pullback, _cut_aux(scope, aux)) if has_aux else (value, pullback)


# How PyTorch writes the calls in its messages.
_CALLS = {
    "grad": "grad_and_value(f)(*args)", "grad_and_value": "grad_and_value(f)(*args)", "vjp": "vjp(f, *primals)",
    "jvp": "jvp(f, primals, tangents)", "jacrev": "vjp(f, *primals)", "jacfwd": "jvp(f, primals, tangents)",
}  # fmt: skip


def split_aux(name: str, result: Any, has_aux: bool) -> tuple[Any, Any]:
    """(output, aux) of a function's result."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{_CALLS[name]}: output of function f should be a tuple: (output, aux) if has_aux is True, "
            f"got {type(result).__name__}"
        )
    for leaf in flatten(result[1])[0]:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)} in aux")
    return result


def _cut_aux(scope: Scope, aux: Any) -> Any:
    return tree_map(lambda t: scope.cut(t) if isinstance(t, Tensor) else t, aux)


def _require_tensors(leaves: list[Any]) -> None:
    """Check the arguments to differentiate by."""
    if not leaves:
        raise RuntimeError("Expected at least one Tensor among the arguments, got none")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")


def require_outputs(name: str, leaves: list[Any]) -> None:
    """Check what the function returned."""
    if not leaves or leaves == [None]:
        raise RuntimeError(f"{_CALLS[name]}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{_CALLS[name]}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")


def require_real(name: str, leaves: list[Any], what: str) -> None:
    """Refuse complex numbers, for which a Jacobian would hold one of two derivatives only."""
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what}s to be real but received complex tensor at flattened {what} idx: {i}"
            )


def selected(name: str, argnums: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions that `argnums` means, counted from the front."""
    chosen = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(chosen, tuple) or not all(isinstance(i, int) for i in chosen):
        raise RuntimeError(f"{name}: argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not chosen:
        raise RuntimeError(f"{name}: argnums must be non-empty")
    n = len(args)
    for i in chosen:
        if not -n <= i < n:
            raise RuntimeError(f"{name}: Got argnum={i}, but only {n} positional inputs")
    places = tuple(i % n for i in chosen)
    if len(set(places)) != len(places):
        raise RuntimeError(f"{name}: argnums elements must be unique, got {argnums}")
    return places


def replaced(args: tuple[Any, ...], places: tuple[int, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with those at some positions exchanged."""
    made = list(args)
    for i, value in zip(places, values):
        made[i] = value
    return tuple(made)


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The function that returns (gradients, value) of a scalar function; with `has_aux` (gradients, (value, aux)).

    >>> import tenfold
    >>> from tenfold.autograd.func import grad_and_value
    >>> grad_and_value(lambda x: (x * x).sum())(tenfold.tensor([1., 2.]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = selected("grad", argnums, args)
        leaves, spec = flatten(tuple(args[i] for i in places))
        _require_tensors(leaves)
        scope = Scope(current(), func)
        with scope:
            inputs = [scope.begin(t) for t in leaves]
            result = func(*replaced(args, places, unflatten(inputs, spec)), **kwargs)
            output, aux = split_aux("grad", result, has_aux)
        _require_scalar(output)
        found = unflatten(pull(scope, [output], inputs, [ones_like(output)]), spec)
        gradients = found[0] if isinstance(argnums, int) else found
        value = scope.cut(output)
        return (gradients, (value, _cut_aux(scope, aux))) if has_aux else (gradients, value)

    return wrapper


def _require_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"{_CALLS['grad']}: Expected f(*args) to return a Tensor, got {type(output)} (with has_aux=True, (output, aux))"
        )
    if output.dim():
        raise RuntimeError(
            f"{_CALLS['grad']}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you "
            f"wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """The function that returns the gradient of a scalar function by its arguments `argnums` (an int or a tuple).

    With `has_aux` the function returns (output, aux), and its gradient function (gradients, aux). Raises RuntimeError
    when the output is no scalar tensor.

    >>> import tenfold
    >>> from tenfold.autograd.func import grad
    >>> grad(grad(lambda x: x * x * x))(tenfold.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapper


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value of a function and its derivative along a direction, in one forward run: (func(*primals), J tangents).

    `strict` refuses outputs that do not depend on the primals, which otherwise have tangent zero.

    >>> import tenfold
    >>> from tenfold.autograd.func import jvp
    >>> jvp(lambda x: x * x, (tenfold.tensor([1., 3.]),), (tenfold.tensor([1., 10.]),))
    (tensor([1., 9.]), tensor([ 2., 60.]))
    """
    given, spec = check_directions(primals, tangents)
    directions = flatten(tangents)[0]
    with DualLevel(func) as level:
        duals = [level.wrap(p, t) for p, t in zip(given, directions)]
        output, aux = split_aux("jvp", func(*unflatten(duals, spec)), has_aux)
        outputs, out_spec = flatten(output)
        require_outputs("jvp", outputs)
        pairs = [level.unwrap(t) for t in outputs]
        if strict and any(t is None for _, t in pairs):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): an output of f is independent of the inputs")
        pushed = [zeros_like(p) if t is None else t for p, t in pairs]
        aux = tree_map(lambda t: level.unwrap(t)[0], aux)
    value, derivative = unflatten([p for p, _ in pairs], out_spec), unflatten(pushed, out_spec)
    return (value, derivative, aux) if has_aux else (value, derivative)


def check_directions(primals: Any, tangents: Any) -> tuple[list[Any], Spec]:
    """The tensors to differentiate by, checked with their directions, and their form."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_CALLS['jvp']}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals); "
            f"got {type(primals).__name__}"
        )
    leaves, spec = flatten(primals)
    directions, other = flatten(tangents)
    if spec != other:
        raise RuntimeError(
            f"{_CALLS['jvp']}: Expected primals and tangents to have the same python structure. Got primals with structure "
            f"{form(primals)} and tangents with structure {form(tangents)}"
        )
    for name, values in (("primals", leaves), ("tangents", directions)):
        if not values:
            raise RuntimeError(f"{_CALLS['jvp']}: Expected {name} to contain at least one Tensor.")
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(f"{_CALLS['jvp']}: Expected {name} to only contain Tensors, got {type(value)}")
    for p, t in zip(leaves, directions):
        if p.dtype.category < 2:
            raise ValueError(f"Expected primal to be floating point or complex, but got: {p.dtype}")
        if p.shape != t.shape:
            raise RuntimeError(f"jvp: expected a tangent of its primal's shape {list(p.shape)}, got {list(t.shape)}")
        if p.dtype is not t.dtype:
            raise RuntimeError(f"jvp: expected a tangent of its primal's dtype {p.dtype}, got {t.dtype}")
    return leaves, spec
