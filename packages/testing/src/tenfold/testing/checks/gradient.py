"""Checks of derivatives, made when tenfold-autograd is installed: against differences, and of the memory they lie in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tenfold
from tenfold import plugins
from tenfold.ops.creation.like import ones_like
from tenfold.tensor.tensor import Tensor
from tenfold.testing import tolerances
from tenfold.testing.checks.case import Case, Result, Skip, missing_reason, results_of, to_host, unless
from tenfold.testing.samples import Sample

WIDE = (tenfold.float64, tenfold.complex128)
SMALL = 24  # elements up to which every entry of the Jacobian is compared; above, random directions


@functools.lru_cache(maxsize=1)
def has_autograd() -> bool:
    """Whether tenfold-autograd is installed."""
    return plugins.layer("autograd") is not None


def no_derivatives(case: Case) -> str:
    """Why the operator's derivatives are not compared; empty when they are."""
    if not has_autograd():
        return "tenfold-autograd is not installed"
    if case.operator.nondifferentiable:
        return "the operator is not differentiable"
    if case.operator.no_derivative:
        return f"the operator has no derivative: {case.operator.no_derivative}"
    if case.registered.related or case.registered.no_gradient:
        return case.registered.related or case.registered.no_gradient
    wide = (dtype for dtype in WIDE if dtype in case.candidates and case.refusal(dtype) is None)
    found = any(_has_floats(case, sample) for dtype in wide for sample in case.samples(dtype))
    return "" if found else "no sample of a dtype that has derivatives"


class Problem:
    """A sample as a function of its floating-point tensors, which become leaves."""

    def __init__(self, case: Case, sample: Sample) -> None:
        self.case, self.sample = case, sample
        self.leaves: list[Any] = []
        self.positions: list[int | None] = []
        constants = _constants(case, sample)
        for t in sample.tensors:
            wanted = t.dtype.category >= 2 and id(t) not in constants
            self.positions.append(len(self.leaves) if wanted else None)
            if wanted:
                leaf = t.detach()
                # gradcheck moves elements one by one, which those that share their memory cannot be
                leaf = leaf.contiguous() if 0 in leaf.stride() else leaf
                self.leaves.append(leaf.requires_grad_(True))
        results = self.outputs(self(*self.leaves))
        if not results:
            raise Skip("no result depends differentiably on the arguments")
        if any(r.dtype not in WIDE for r in results):
            raise Skip("a result in lower precision than the arguments has no differences to compare with")

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        """All floating-point results for these leaves."""
        order = iter(self.positions)

        def put(t: Any) -> Any:
            position = next(order)
            return t if position is None else leaves[position]

        registered = self.case.registered
        sample = self.sample.map(put)
        if registered.before is not None:
            sample = Sample(*registered.before(*sample.args), **sample.kwargs)
        result = self.case.call(sample)
        if registered.stable is not None:
            result = registered.stable(result)
        return tuple(r for r in results_of(result) if isinstance(r, Tensor) and r.dtype.category >= 2)

    def outputs(self, results: tuple[Any, ...]) -> list[Any]:
        return [r for r in results if r.requires_grad]

    @property
    def empty(self) -> bool:
        return any(t.numel() == 0 for t in self.leaves)

    @property
    def size(self) -> int:
        return sum(t.numel() for t in self.leaves)


def each_problem(case: Case, check: str, function: Callable[[Problem], None]) -> Iterator[Result]:
    """Try every sample that has derivatives, in double precision."""
    wide = [dtype for dtype in WIDE if dtype in case.dtypes]
    yield from case.each(check, lambda sample, _: function(Problem(case, sample)), wide, lambda sample: _has_floats(case, sample))


def _has_floats(case: Case, sample: Sample) -> bool:
    constants = _constants(case, sample)
    return any(t.dtype.category >= 2 and id(t) not in constants for t in sample.tensors)


def _constants(case: Case, sample: Sample) -> set[int]:
    names = [p.name for p in case.operator.params if not p.keyword_only]
    given = [*zip(names, sample.args), *sample.kwargs.items()]
    return {id(value) for name, value in given if name in case.registered.constants}


def _first_means_nothing(case: Case) -> str:
    return "" if has_autograd() and case.operator.nondifferentiable else no_derivatives(case)


@unless(_first_means_nothing)
def first_gradient(case: Case) -> Iterator[Result]:
    """Gradients agree with central differences in float64 and complex128; gradients of empty tensors are empty."""
    if case.operator.nondifferentiable:
        yield from case.each("first_gradient", lambda sample, _: _is_cut_off(case, sample), case.dtypes[:1])
        return

    def compare(problem: Problem) -> None:
        if problem.empty:
            _shapes_only(problem)
            return
        from tenfold.autograd.gradcheck import gradcheck

        fast = problem.size > SMALL
        eps, rtol, atol = tolerances.GRADIENT
        gradcheck(problem, tuple(problem.leaves), eps=eps, rtol=rtol, atol=atol, fast_mode=fast, check_undefined_grad=False)

    yield from each_problem(case, "first_gradient", _asserting(compare))


@unless(lambda case: case.registered.no_second_gradient or no_derivatives(case))
def second_gradient(case: Case) -> Iterator[Result]:
    """Gradients of gradients agree with central differences of gradients."""

    def compare(problem: Problem) -> None:
        if problem.empty:
            raise Skip("an empty tensor has no second derivatives to compare")
        from tenfold.autograd.gradcheck import gradgradcheck

        eps, rtol, atol = tolerances.SECOND_GRADIENT
        gradgradcheck(problem, tuple(problem.leaves), eps=eps, rtol=rtol, atol=atol, fast_mode=True, check_undefined_grad=False)

    yield from each_problem(case, "second_gradient", _asserting(compare))


def _asserting(compare: Callable[[Problem], None]) -> Callable[[Problem], None]:
    """gradcheck's own error is a failed assertion here."""

    def checked(problem: Problem) -> None:
        try:
            compare(problem)
        except RuntimeError as error:
            if problem.case.lacks_kernel(error):
                raise Skip(missing_reason(problem.case.key)) from None
            raise AssertionError(str(error)) from error

    return checked


def _shapes_only(problem: Problem) -> None:
    outputs = problem.outputs(problem(*problem.leaves))
    grads = tenfold.autograd.grad(outputs, problem.leaves, [ones_like(t) for t in outputs], allow_unused=True)
    for t, g in zip(problem.leaves, grads):
        assert g is None or g.shape == t.shape, f"gradient of shape {list(g.shape)} for an argument of shape {list(t.shape)}"


def _is_cut_off(case: Case, sample: Sample) -> None:
    """A result of an operator without derivatives asks for none; what was overwritten asks, and its gradient is zero."""
    leaves: list[Tensor] = []

    def tracked(t: Tensor) -> Tensor:
        if t.dtype.category < 2:
            return t
        leaves.append(t.detach().requires_grad_(True))
        return leaves[-1]

    for result in results_of(case.call(sample.map(tracked))):
        if isinstance(result, Tensor) and result.requires_grad:
            name = case.operator.name
            assert case.registered.mutates, f"{name} is nondifferentiable, but its result requires gradients"
            for g in tenfold.autograd.grad(result, leaves, ones_like(result), allow_unused=True):
                assert g is None or not g.any(), f"{name} overwrites its input, but a gradient passes through"


@unless(no_derivatives)
def gradient_memory(case: Case) -> Iterator[Result]:
    """`backward` changes neither arguments nor incoming gradients, and no two gradients share memory with anything."""

    def compare(problem: Problem) -> None:
        outputs = problem.outputs(problem(*problem.leaves))
        incoming = [ones_like(t) for t in outputs]
        watched = [*problem.sample.tensors, *incoming]
        before = [to_host(t).copy() for t in watched]
        for leaf in problem.leaves:
            leaf.grad = None
        tenfold.autograd.backward(outputs, incoming)
        for i, (t, old) in enumerate(zip(watched, before)):
            name = "an argument" if i < len(problem.sample.tensors) else "an incoming gradient"
            assert np.array_equal(to_host(t), old, equal_nan=True), f"the backward pass of {case.operator.name} changed {name}"
        _apart(problem, [t.grad for t in problem.leaves if t.grad is not None], watched)

    yield from each_problem(case, "gradient_memory", compare)


def _apart(problem: Problem, grads: list[Any], others: list[Any]) -> None:
    name = problem.case.operator.name
    for i, g in enumerate(grads):
        if not g.numel():
            continue
        mine = _memory(g)
        for other in grads[i + 1 :]:
            assert mine is not _memory(other), f"{name}: two gradients share memory"
        for other in others:
            assert mine is not _memory(other), f"{name}: a gradient shares memory with an argument or an incoming gradient"


def _memory(t: Any) -> Any:
    return t._key.backend.memory(t._array)[0]
