"""Derivatives against differences: `gradcheck` for first order, `gradgradcheck` for second order.

Complex tensors count as pairs of real numbers: with the loss L = Re(sum(conj(v) * f(x))), the gradient g that the tape
returns for the incoming gradient v satisfies dL = Re(sum(conj(g) * dx)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenfold.autograd.gradcheck_jacobians import get_analytical_jacobian, get_numerical_jacobian
from tenfold.autograd.gradcheck_problem import NO_INPUTS, GradcheckError, Problem, as_tuple, requires_grad
from tenfold.autograd.gradcheck_values import random_values, tensor_like
from tenfold.autograd.tape import grad


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
    check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether the gradients of `func` agree with central differences (f(x + eps) - f(x - eps)) / (2 eps).

    Every entry of the Jacobian is compared, |analytical - numerical| <= atol + rtol * |numerical|; `fast_mode` compares
    its product with random vectors on both sides instead, which takes two calls for each input and, of many entries, lets more
    pass. Inputs that require gradients should be float64 or complex128. `nondet_tol` bounds the difference between two backward
    passes; `check_undefined_grad` also tries results that get no incoming gradient; `check_batched_grad` compares vmap's. Of
    sparse inputs all elements are varied, or with `masked` those that are stored.

    Raises RuntimeError that locates the greatest disagreement (or returns False with `raise_exception=False`), ValueError
    when no input requires gradients.

    >>> import tenfold
    >>> from tenfold.autograd import gradcheck
    >>> x = tenfold.tensor([0.5, 2.0], dtype=tenfold.float64, requires_grad=True)
    >>> gradcheck(lambda x: x * x, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    problem = Problem(func, inputs, eps, atol, rtol, "gradcheck", bool(masked))
    try:
        if not problem.outputs:
            problem.check_constant()
            return True
        if check_backward_ad:
            problem.compare(fast_mode)
            problem.check_repeated(nondet_tol)
            if check_batched_grad:
                problem.check_batched()
            problem.check_multiplied()
            if check_undefined_grad:
                problem.check_undefined()
            if check_grad_dtypes:
                problem.check_dtypes()
        if check_forward_ad or check_batched_forward_grad:
            problem.compare_forward()
        if check_forward_ad and check_undefined_grad:
            problem.check_undefined_forward()
        if check_batched_forward_grad:
            problem.check_batched_forward()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Whether second derivatives agree with differences: `gradcheck` of the gradient as a function of inputs and g.

    `grad_outputs` are the incoming gradients, random ones by default. The other options are those of `gradcheck`.

    >>> import tenfold
    >>> from tenfold.autograd import gradgradcheck
    >>> x = tenfold.tensor([0.5, 2.0], dtype=tenfold.float64, requires_grad=True)
    >>> gradgradcheck(lambda x: x * x * x, (x,))
    True
    """
    given = as_tuple(inputs)
    places = [i for i, x in enumerate(given) if requires_grad(x)]
    if not places:
        raise ValueError(NO_INPUTS.format(name="gradgradcheck", count=len(given)))
    results = as_tuple(func(*given))
    outputs = _differentiable(results)
    incoming = _random_gradients(outputs, gen_non_contig_grad_outputs) if grad_outputs is None else as_tuple(grad_outputs)

    def gradient_of(*arguments: Any) -> Any:
        xs, gs = arguments[: len(given)], arguments[len(given) :]
        if not any(requires_grad(xs[i]) for i in places):
            return pulled_back(xs, gs)
        found = grad(_differentiable(as_tuple(func(*xs))), [xs[i] for i in places], gs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and g.requires_grad)

    def pulled_back(xs: Any, gs: Any) -> Any:
        """The same gradients for tensors of forward mode, which have no graph."""
        from tenfold.autograd.derivatives import vjp  # transforms are loaded when asked for

        def chosen(*values: Any) -> Any:
            by_place = dict(zip(places, values))
            made = as_tuple(func(*[by_place.get(i, x) for i, x in enumerate(xs)]))
            return tuple(r for r, plain in zip(made, results) if requires_grad(plain))

        found = vjp(chosen, *[xs[i] for i in places])[1](tuple(gs))
        return tuple(g for g, there in zip(found, dependent) if there)

    found = grad(outputs, [given[i] for i in places], incoming, create_graph=True, allow_unused=True)
    dependent = [g is not None and g.requires_grad for g in found]
    if not any(dependent):
        return True  # the gradients are constants
    return gradcheck(
        gradient_of, (*given, *incoming), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_backward_ad=check_rev_over_rev, check_forward_ad=check_fwd_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _differentiable(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if requires_grad(v)]


def _random_gradients(outputs: list[Any], strided: bool) -> tuple[Any, ...]:
    """Random incoming gradients as leaves; `strided` puts them into column-major memory."""
    rng = np.random.default_rng(1)
    made = []
    for t in outputs:
        g = tensor_like(t, random_values(rng, t))
        if strided and t.dim() > 1:
            g = g.transpose(0, -1).contiguous().transpose(0, -1)
        made.append(g.detach().requires_grad_(True))
    return tuple(made)


__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]
