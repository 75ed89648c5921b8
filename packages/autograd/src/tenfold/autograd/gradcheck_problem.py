"""What the check of gradients compares: a function's derivatives by the tape, by forward mode and by differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenfold.autograd.function import Function
from tenfold.autograd.gradcheck_values import (
    filled,
    flat,
    joined,
    joined_arrays,
    numbers,
    random_values,
    shaped,
    tensor_like,
    zeros,
)
from tenfold.autograd.tape import grad
from tenfold.dispatch.inplace import repeats
from tenfold.tensor.holding import Holding
from tenfold.tensor.tensor import Tensor, host


class GradcheckError(RuntimeError):
    """A derivative and its numerical approximation disagree."""


class Problem:
    """A function with inputs, compared in one way after the other."""

    def __init__(
        self, func: Callable[..., Any], inputs: Any, eps: float, atol: float, rtol: float, name: str, masked: bool = False
    ) -> None:  # fmt: skip
        given = as_tuple(inputs)
        self.inputs = given if masked else tuple(filled(x) if isinstance(x, Holding) else x for x in given)
        self.func, self.eps, self.atol, self.rtol = func, eps, atol, rtol
        self.places = [i for i, x in enumerate(self.inputs) if requires_grad(x)]
        if not self.places:
            raise ValueError(NO_INPUTS.format(name=name, count=len(self.inputs)))
        self.leaves = [numbers(self.inputs[i]) for i in self.places]
        for i, x in zip(self.places, self.leaves):
            self._check_input(i, x)
        results = self.results = as_tuple(func(*self.inputs))
        if any(isinstance(r, Holding) for r in results):
            raise ValueError(
                f"Sparse output is not supported at {name} yet. Please call to_dense(masked_grad=...) on the output of fn for "
                f"{name}."
            )
        self.kept = [i for i, r in enumerate(results) if requires_grad(r)]
        self.outputs = [results[i] for i in self.kept]
        self.rng = np.random.default_rng(0)

    @staticmethod
    def _check_input(place: int, x: Any) -> None:
        if x.dtype.numpy.itemsize < (16 if x.is_complex() else 8):
            warnings.warn(
                f"Input #{place} requires gradient and is not a double precision floating point or complex. This check will "
                f"likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if repeats(x._array):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to "
                f"be able to compute the numerical gradients correctly. You should call .contiguous on the input before passing "
                f"it to gradcheck."
            )

    # The two derivatives

    def evaluate(self, place: int, values: Any) -> Any:
        """All outputs as one flat array of real numbers, with other values (flat) for one input.

        They are written into the input itself, which the function may reach by another way too: a module's parameter.
        """
        x = numbers(self.inputs[place])
        other = tensor_like(x, shaped(values, x))
        if x._key.level is not None:
            return self._results([*self.inputs[:place], other.requires_grad_(True), *self.inputs[place + 1 :]])
        before = x.detach().clone()
        write = x._key.backend.write  # not an operator: no version, no graph
        write(x._array, other._array)
        try:
            return self._results(self.inputs)
        finally:
            write(x._array, before._array)

    def _results(self, arguments: Sequence[Any]) -> Any:
        results = as_tuple(self.func(*arguments))
        compared = [results[i] for i in self.kept] if self.kept else [r for r in results if isinstance(r, Tensor)]
        self._check_alike(compared)
        return joined(compared)

    def _check_alike(self, results: Sequence[Any]) -> None:
        for r, first in zip(results, self.outputs):
            for what in ("shape", "dtype"):
                if getattr(r, what) != getattr(first, what):
                    raise AssertionError(
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed by eps, but got: "
                        f"{getattr(first, what)} and {getattr(r, what)}"
                    )

    def check_constant(self) -> None:
        """Where no result has a gradient, none may change with the inputs."""
        for place in self.places:
            for unit in np.eye(flat(self.inputs[place]).size):
                if np.abs(self.difference(place, unit)).max(initial=0.0) > self.atol:
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def difference(self, place: int, direction: Any) -> Any:
        """The central difference of all outputs along a direction (flat) of one input."""
        start = flat(self.inputs[place])
        step = self.eps * direction
        return (self.evaluate(place, start + step) - self.evaluate(place, start - step)) / (2 * self.eps)

    def gradient(self, incoming: Sequence[Any]) -> list[Any]:
        """The leaves' gradients, flat, for incoming gradients given as arrays."""
        found = self.gradient_tensors([tensor_like(t, v) for t, v in zip(self.outputs, incoming)])
        for place, g, x in zip(self.places, found, self.leaves):
            if g is not None and g.shape != x.shape:
                raise GradcheckError(
                    f"gradcheck: the gradient of input {place} has shape {list(g.shape)}, the input {list(x.shape)}"
                )
        return [np.zeros(flat(x).shape) if g is None else flat(g) for g, x in zip(found, self.leaves)]

    def gradient_tensors(self, incoming: Sequence[Any]) -> tuple[Any, ...]:
        return grad(self.outputs, self.leaves, incoming, retain_graph=True, allow_unused=True)

    def random_gradients(self) -> list[Any]:
        return [random_values(self.rng, t) for t in self.outputs]

    # Comparisons

    def compare(self, fast: bool) -> None:
        for number, place in enumerate(self.places):
            if fast:
                self._compare_directions(number, place)
            else:
                self._compare_jacobians(number, place)

    def _compare_directions(self, number: int, place: int) -> None:
        for output in range(len(self.outputs)):
            self._compare_direction(number, place, output)

    def _compare_direction(self, number: int, place: int, output: int) -> None:
        incoming = [v if i == output else np.zeros_like(v) for i, v in enumerate(self.random_gradients())]
        direction = self.rng.uniform(0.5, 1.5, flat(self.inputs[place]).shape)
        terms = self.gradient(incoming)[number] * direction
        length = max(float(np.linalg.norm(direction)), 1.0)  # the step is of length eps, as PyTorch's, not each part of it
        numerical = length * float(self.difference(place, direction / length) @ joined_arrays(incoming))
        # Each entry of the Jacobian may be off by atol, as in PyTorch: of many entries that is much.
        entries = float(np.abs(incoming[output]).sum() * np.abs(direction).sum())
        limit = max(self.atol * max(entries, 1.0), self.rtol * max(abs(numerical), float(np.abs(terms).sum())))
        if not abs(terms.sum() - numerical) <= limit:
            raise GradcheckError(
                f"Jacobian mismatch for output {output} with respect to input {place}, multiplied by random vectors on both "
                f"sides\nnumerical: {numerical!r}\nanalytical: {float(terms.sum())!r}\n"
                f"allowed difference: {limit!r}"
            )

    def _compare_jacobians(self, number: int, place: int) -> None:
        size = flat(self.inputs[place]).size
        columns = [self.difference(place, unit) for unit in np.eye(size)]
        numerical = np.array(columns).reshape(size, sum(flat(t).size for t in self.outputs)).T
        analytical = np.array([self.gradient(v)[number] for v in self._unit_gradients()]).reshape(len(numerical), size)
        self._close(place, analytical, numerical)

    def _unit_gradients(self) -> Any:
        """Incoming gradients that pick one real number of the outputs each."""
        for i, t in enumerate(self.outputs):
            for unit in np.eye(flat(t).size):
                incoming = [np.zeros(tuple(o.shape)) for o in self.outputs]
                incoming[i] = shaped(unit, t)
                yield incoming

    def _place_of(self, row: int) -> tuple[int, int]:
        """The output that a row of the Jacobian belongs to, and the element of it."""
        for i, t in enumerate(self.outputs):
            size = flat(t).size
            if row < size:
                return i, row
            row -= size
        raise AssertionError("the Jacobian has a row for each element of the outputs")

    def _close(self, place: int, analytical: Any, numerical: Any, how: str = "") -> None:
        excess = np.abs(analytical - numerical) - self.rtol * np.abs(numerical)
        if not excess.size or (excess <= self.atol).all():
            return
        rows, imaginary = self._reported(~(excess <= self.atol).all(1))
        worst = np.where(np.isnan(excess), np.inf, excess)[rows]
        i, k = np.unravel_index(int(worst.argmax()), worst.shape)
        j = int(rows[i])
        output, element = self._place_of(j)
        raise GradcheckError(
            f"{'While considering the imaginary part of complex outputs only, ' if imaginary else ''}"
            f"Jacobian {how}mismatch for output {output} with respect to input {place}, at element {element} of the output "
            f"and {k} of the input (complex elements count twice)\n"
            f"numerical: {float(numerical[j, k])!r}\nanalytical: {float(analytical[j, k])!r}\n"
            f"{int((excess > self.atol).sum())} of {excess.size} entries differ (rtol {self.rtol}, atol {self.atol})"
        )

    def _reported(self, wrong: Any) -> tuple[Any, bool]:
        """The rows of the Jacobian to speak of: wrong ones, of imaginary parts if any, of the first output that has some."""
        rows = np.flatnonzero(wrong)
        places = [self._place_of(int(row)) for row in rows]
        odd = [self.outputs[output].is_complex() and element % 2 == 1 for output, element in places]
        chosen = [(row, output) for row, (output, _), is_odd in zip(rows, places, odd) if is_odd or not any(odd)]
        return np.array([row for row, output in chosen if output == chosen[0][1]]), any(odd)

    def check_repeated(self, tolerance: float) -> None:
        """Two backward passes give the same."""
        incoming = self.random_gradients()
        for place, a, b in zip(self.places, self.gradient(incoming), self.gradient(incoming)):
            if a.size and not np.abs(a - b).max() <= tolerance:
                raise GradcheckError(
                    f"Backward is not reentrant: two passes give gradients of input {place} that differ by "
                    f"{np.abs(a - b).max()}; nondet_tol is {tolerance}"
                )

    def check_multiplied(self) -> None:
        """Incoming gradients of zeros give zeros, in the inputs' layouts."""
        incoming = [zeros(t) for t in self.outputs]
        inputs = [self.inputs[place] for place in self.places]
        for place, x, g in zip(self.places, inputs, self.gradient_tensors(incoming)):
            if g is None:
                continue
            if not isinstance(x, Holding) and g.layout is not x.layout:
                raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {x.layout}), that of input {place}")
            if not (np.abs(flat(g)) <= (1e-8 if isinstance(x, Holding) else 0)).all():
                raise GradcheckError(
                    f"backward not multiplied by grad_output: incoming gradients of zeros give input {place} another gradient"
                )

    def check_undefined(self) -> None:
        """An output without an incoming gradient counts as one with zeros; where none has one, backward does without."""
        undefined = [_Undefined.apply(t) for t in self.outputs]
        incoming = [tensor_like(t, v) for t, v in zip(self.outputs, self.random_gradients())]
        try:
            grad(undefined, self.leaves, incoming, retain_graph=True, allow_unused=True)
        except RuntimeError as error:
            warnings.warn(
                "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
                "break existing callers of this function. If this is true for you, you can call this function with "
                '"check_undefined_grad=False" to disable the feature',
                stacklevel=3,
            )
            raise GradcheckError(
                f"Expected backward function to handle undefined output grads: where no output has one it raised {error!r}"
            ) from error
        for i in range(len(self.outputs) if len(self.outputs) > 1 else 0):
            incoming = self.random_gradients()
            incoming[i] = np.zeros_like(incoming[i])
            expected = self.gradient(incoming)
            others = [k for k in range(len(self.outputs)) if k != i]
            tensors = [tensor_like(self.outputs[k], incoming[k]) for k in others]
            found = grad([self.outputs[k] for k in others], self.leaves, tensors, retain_graph=True, allow_unused=True)
            for place, g, e in zip(self.places, found, expected):
                if not np.allclose(0.0 if g is None else flat(g), e):
                    raise GradcheckError(
                        f"Expected backward function to handle undefined output grads: that of output {i} is not treated as "
                        f"zeros for input {place}"
                    )

    def check_dtypes(self) -> None:
        """Gradients have their inputs' dtypes."""
        incoming = [tensor_like(t, v) for t, v in zip(self.outputs, self.random_gradients())]
        for place, x, g in zip(self.places, self.leaves, self.gradient_tensors(incoming)):
            if g is not None and g.dtype is not x.dtype:
                raise GradcheckError(f"gradcheck: the gradient of input {place} is {g.dtype}, the input {x.dtype}")

    def check_batched(self) -> None:
        """Several incoming gradients at once, under vmap, give what they give one by one."""
        batch = [self.random_gradients() for _ in range(2)]
        expected = [self.gradient(incoming) for incoming in batch]
        stacked = [tensor_like(t, np.stack(vs)) for t, vs in zip(self.outputs, zip(*batch))]
        try:
            found = grad(self.outputs, self.leaves, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True)
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\ngradcheck or gradgradcheck failed while testing batched "
                f"gradient computation, with vmap over incoming gradients. If the function is not meant for that, pass "
                f"check_batched_grad=False."
            ) from error
        for n, (place, g) in enumerate(zip(self.places, found)):
            both = np.concatenate([e[n] for e in expected])
            if not np.allclose(0.0 if g is None else flat(g), both):
                raise GradcheckError(
                    f"While computing batched gradients, the gradient of input {place} differs from the single ones"
                )

    def compare_forward(self) -> None:
        """Forward-mode derivatives along random directions are the differences."""
        for place in self.places:
            direction = self.direction(place)
            found = self.pushed(place, self.tangent(place, direction))
            self._close(place, joined(found)[:, None], self.difference(place, direction)[:, None], "computed with forward mode ")

    def direction(self, place: int) -> Any:
        return self.rng.uniform(0.5, 1.5, flat(self.inputs[place]).shape)

    def tangent(self, place: int, direction: Any) -> Any:
        x = numbers(self.inputs[place])
        return tensor_like(x, shaped(direction, x))

    def pushed(self, place: int, tangent: Any, others: bool = True) -> list[Any]:
        """The tangents of the outputs for one of an input; those of the other inputs are zeros (`others`) or undefined."""
        from tenfold.autograd import forward_ad  # forward mode is loaded when asked for

        def dual(i: int, v: Any) -> Any:
            if i == place:
                return forward_ad.make_dual(v.detach(), tangent)
            if not requires_grad(v):
                return v
            return forward_ad.make_dual(v.detach(), zeros(v)) if others else v.detach()

        with forward_ad.dual_level():
            results = as_tuple(self.func(*[dual(i, v) for i, v in enumerate(self.inputs)]))
            pairs = [forward_ad.unpack_dual(results[i]) for i in self.kept]
            return [zeros(p) if t is None else t for p, t in pairs]

    def check_undefined_forward(self) -> None:
        """An input without a tangent counts as one with zeros."""
        for place in self.places:
            tangent = self.tangent(place, self.direction(place))
            found = self.pushed(place, tangent, others=False)
            if len(self.places) > 1 and not np.allclose(joined(found), joined(self.pushed(place, tangent))):
                raise GradcheckError(
                    f"Expected forward mode to handle undefined tangents: those beside input {place} are not treated as zeros"
                )

    def check_batched_forward(self) -> None:
        """Several tangents at once, under vmap, give what they give one by one."""
        from tenfold.autograd.vmap import vmap  # most checks do without batching

        for place in self.places:
            tangents = [self.tangent(place, self.direction(place)) for _ in range(2)]
            expected = [self.pushed(place, t) for t in tangents]
            stacked = tensor_like(self.inputs[place], np.stack([host(t) for t in tangents]))
            try:
                found = vmap(lambda t, place=place: tuple(self.pushed(place, t)))(stacked)
            except RuntimeError as error:
                if "random operation" in str(error):
                    raise GradcheckError(
                        f"vmap: We do not yet support calling random operations inside of vmap. Please perform random operations "
                        f"outside of vmap as a workaround. While computing batched forward gradients, got: {error}"
                    ) from error
                raise GradcheckError(f"While computing batched forward gradients, got: {error}") from error
            for n, batch in enumerate(found):
                if not np.allclose(flat(batch), joined([e[n] for e in expected])):
                    raise GradcheckError(
                        f"While computing batched forward gradients, those by input {place} differ from the single ones"
                    )


NO_INPUTS = (
    "{name} expects at least one input tensor to require gradient, but none of the them have requires_grad=True; "
    "got {count} inputs"
)


class _Undefined(Function):
    """The identity, from which no gradient comes back."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad
