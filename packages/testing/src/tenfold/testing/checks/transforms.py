"""Checks of transforms, made when tenfold-autograd is installed: vmap against a loop, forward mode against reverse mode."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold.ops.indexing.joining import stack
from tenfold.tensor.tensor import Tensor
from tenfold.testing.checks.case import Case, Result, Skip, assert_same, missing_reason, results_of, to_host, unless
from tenfold.testing.checks.gradient import Problem, each_problem, has_autograd, no_derivatives
from tenfold.testing.samples import Make, Sample
from tenfold.types.memory_format import memory_format

TOLERANCE = 1e-6  # relative, of sums in float64 that are computed in two orders


def _no_batches(case: Case) -> str:
    registered = case.registered
    if not has_autograd():
        return "tenfold-autograd is not installed"
    if case.random or registered.mutates:
        return "what is drawn, or written, differs between a batch and a loop"
    if registered.data_dependent:
        return f"results' shapes depend on data: {registered.data_dependent}"
    if not any(s.tensors for s in case.samples((registered.dtypes or (None,))[0])):
        return "no sample has a tensor"
    return registered.no_batching or registered.no_value


@unless(_no_batches)
def batching(case: Case) -> Iterator[Result]:
    """`vmap` over all tensor arguments, and over each alone, gives what a loop over the examples gives.

    Arguments that depend on one another do not vary alone.
    """

    def compare(sample: Sample, dtype: Any) -> None:
        _require_batches(sample)
        count = len(sample.tensors)
        alone = [[i] for i in range(count)] if count > 1 and not case.registered.related else []
        for batched in [list(range(count)), *alone]:
            _against_loop(case, sample, batched)

    preferred = (tenfold.float64, tenfold.float32, tenfold.int64, tenfold.bool)
    yield from case.each("batching", compare, [d for d in preferred if d in case.dtypes][:1], lambda sample: bool(sample.tensors))


def _require_batches(sample: Sample) -> None:
    """Skip what `vmap` refuses, as PyTorch's does: an order in memory for each example's dimensions."""
    if any(isinstance(v, memory_format) and v.order for v in (*sample.args, *sample.kwargs.values())):
        raise Skip("vmap does not lay out the examples in channels last")


def _against_loop(case: Case, sample: Sample, batched: list[int]) -> None:
    from tenfold.func import vmap

    def call(*tensors: Any) -> Any:
        order = iter(tensors)
        made = sample.map(lambda t: next(order))
        return tuple(r for r in results_of(case.operator.fn(*made.args, **made.kwargs)) if isinstance(r, Tensor))

    first = sample.tensors
    second = [_another(t) if i in batched and not case.registered.related else t for i, t in enumerate(first)]
    try:
        expected = [call(*first), call(*second)]
    except (RuntimeError, ValueError, IndexError):  # in another order the values are not what the operator takes
        second, expected = first, [call(*first)] * 2
    if not expected[0] or any(a.shape != b.shape for a, b in zip(*expected)):
        return
    in_dims = tuple(0 if i in batched else None for i in range(len(first)))
    given = [stack([a, b]) if i in batched else a for i, (a, b) in enumerate(zip(first, second))]
    result = vmap(call, in_dims=in_dims)(*given)
    looped = tuple(stack([a, b]) for a, b in zip(*expected))
    assert_same(result, looped, f"vmap of {case.operator.name} against a loop, in_dims={in_dims}")


def _another(t: Any) -> Any:
    """The same values in another order, so that they stay where the operator takes them."""
    return t.flip(tuple(range(t.dim()))) if t.dim() else t.clone()


@unless(lambda case: case.registered.no_forward or no_derivatives(case))
def forward_mode(case: Case) -> Iterator[Result]:
    """Forward and reverse mode are a linear map and its transpose, `<u, J t> = <J^T u, t>`; `linearize` is the same map."""

    def compare(problem: Problem) -> None:
        from tenfold.func import jvp, linearize

        if problem.empty:  # NaN from nothing has no sum to compare
            return
        leaves = [leaf.detach() for leaf in problem.leaves]
        tangents = [direction(leaf) for leaf in leaves]
        outputs, pushed = jvp(differentiable(problem), tuple(leaves), tuple(tangents))
        cotangents = [direction(r, 1) for r in outputs]
        reverse = problem.outputs(problem(*problem.leaves))
        pulled = tenfold.autograd.grad(reverse, problem.leaves, cotangents, allow_unused=True)
        ahead = math.fsum(_inner(u, t) for u, t in zip(cotangents, pushed))
        back = math.fsum(_inner(g, t) for g, t in zip(pulled, tangents) if g is not None)
        _close(case, "forward mode", ahead, back)
        again = linearize(differentiable(problem), *leaves)[1](*tangents)
        assert_same(again, pushed, f"linearize of {case.operator.name} against jvp")

    yield from each_problem(case, "forward_mode", _where_kernels_are(case, compare))


@unless(lambda case: case.registered.no_forward or case.registered.no_second_gradient or no_derivatives(case))
def forward_over_reverse(case: Case) -> Iterator[Result]:
    """The second derivative in a direction by forward over reverse mode is that by reverse over reverse mode."""

    def compare(problem: Problem) -> None:
        from tenfold.func import jvp, vjp

        if problem.empty:
            return
        function = differentiable(problem)

        def slopes(*leaves: Any) -> Any:
            outputs, pull = vjp(function, *leaves)
            return pull(tuple(direction(r, 1) for r in outputs))

        leaves = tuple(leaf.detach() for leaf in problem.leaves)
        tangents = tuple(map(direction, leaves))
        _, pushed = jvp(slopes, leaves, tangents)
        twice = vjp(slopes, *leaves)[1](tangents)
        ahead = math.fsum(_inner(direction(h, 2), h) for h in pushed)
        back = math.fsum(_inner(direction(h, 2), h) for h in twice)
        _close(case, "forward over reverse mode", ahead, back)

    yield from each_problem(case, "forward_over_reverse", _where_kernels_are(case, compare))


@unless(lambda case: _no_batches(case) or no_derivatives(case))
def gradients_of_batches(case: Case) -> Iterator[Result]:
    """`vmap` of a gradient, and the gradient of a `vmap`, are the gradients of the examples one by one."""

    def compare(problem: Problem) -> None:
        if problem.empty:
            return
        _require_batches(problem.sample)
        from tenfold.func import grad, vmap

        function = differentiable(problem)
        first = [leaf.detach() for leaf in problem.leaves]
        second = first if case.registered.related else [_another(t) for t in first]
        places = tuple(range(len(first)))

        def scalar(*leaves: Any) -> Any:
            return _real_sum(function(*leaves))

        def slopes(*leaves: Any) -> Any:
            return grad(scalar, argnums=places)(*leaves)

        try:
            looped = [slopes(*first), slopes(*second)]
        except (RuntimeError, ValueError, IndexError):  # in another order the values are not what the operator takes
            second, looped = first, [slopes(*first)] * 2
        batches = tuple(stack([a, b]) for a, b in zip(first, second))
        expected = tuple(stack(list(pair)) for pair in zip(*looped))
        with _allowing_loops():
            assert_same(vmap(slopes)(*batches), expected, f"vmap of the gradient of {case.operator.name}")
            outer = grad(lambda *given: vmap(scalar)(*given).sum(), argnums=places)(*batches)
        assert_same(outer, expected, f"the gradient of the vmap of {case.operator.name}")

    yield from each_problem(case, "gradients_of_batches", _where_kernels_are(case, compare))


def _real_sum(results: tuple[Any, ...]) -> Any:
    """One real number that depends on every element of the results."""
    total: Any = 0
    for r in results:
        weighted = (r * direction(r, 1)).sum()
        total = total + (weighted.real if weighted.is_complex() else weighted)
    return total


@contextlib.contextmanager
def _allowing_loops() -> Iterator[None]:
    """An operator without a batching rule warns that it is slow, which is not what is compared."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "vmap: there is no batching rule")
        yield


def differentiable(problem: Problem) -> Callable[..., tuple[Any, ...]]:
    """The problem without those results that depend on no leaf."""
    depends = [r.requires_grad for r in problem(*problem.leaves)]
    return lambda *leaves: tuple(r for r, wanted in zip(problem(*leaves), depends) if wanted)


def direction(t: Any, which: int = 0) -> Any:
    """A fixed direction in a tensor's space: numbers about 1 without a pattern that an operator might cancel."""
    steps: Any = np.arange(1.0, t.numel() + 1).reshape(tuple(t.shape))
    made: Any = 1 + 0.5 * np.sin(steps * (12.9898 + which))
    made = made + 0.5j * np.cos(steps * 7.233) if t.is_complex() else made
    return Make(t.device).place(made.astype(t.dtype.numpy))


def _inner(u: Any, t: Any) -> float:
    """The real inner product of two tensors."""
    return float((to_host(u).conj() * to_host(t)).sum().real)


def _close(case: Case, what: str, ahead: float, back: float) -> None:
    near = abs(ahead - back) <= TOLERANCE * max(1.0, abs(ahead), abs(back)) or (ahead != ahead and back != back)
    assert near, f"{case.operator.name}: {what} gives {ahead!r} where reverse mode gives {back!r}"


def _where_kernels_are(case: Case, compare: Callable[[Problem], None]) -> Callable[[Problem], None]:
    def checked(problem: Problem) -> None:
        try:
            compare(problem)
        except NotImplementedError as error:
            if case.lacks_kernel(error):
                raise Skip(missing_reason(case.key)) from None
            raise

    return checked
