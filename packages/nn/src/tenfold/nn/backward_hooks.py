"""Module hooks that run in the backward pass, made of two identity functions around the forward.

The tap on the inputs is the last thing that the module's part of the graph reaches and the tap on the outputs the first, so
their backward functions see exactly the gradients that the hooks are promised.
"""

from __future__ import annotations

import warnings
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.autograd import Function

__all__: list[str] = []


class BackwardHookFunction(Function):
    """Passes tensors through and lets `arrived` look at, and replace, their gradients on the way back."""

    @staticmethod
    def forward(ctx: Any, arrived: Any, *tensors: Tensor) -> Any:
        ctx.set_materialize_grads(False)
        ctx.arrived = arrived
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        return None, *ctx.arrived(grads)


class Taps:
    """One call's backward hooks: collects the gradients at both ends and calls the hooks."""

    def __init__(self, module: Any, pre_hooks: list[Any], hooks: list[Any]) -> None:
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.input_places: list[int] | None = None  # None while no input needs a gradient
        self.inputs_like: list[Any] = []  # of each input how zeros for it are made, None where it is no tensor
        self.output_places: list[int] = []
        self.count_inputs = self.count_outputs = 0

    def wrap_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Puts the tap before forward, if a gradient will come out there."""
        self.count_inputs = len(args)
        wrapped, self.input_places = _tap(args, self.inputs_arrived)
        self.inputs_like = [(a.shape, a.dtype, a.device) if isinstance(a, Tensor) else None for a in args]
        return wrapped

    def wrap_outputs(self, result: Any) -> Any:
        """Puts the tap behind forward; results other than a tensor or a tuple pass unseen, with a warning."""
        if not isinstance(result, (tuple, Tensor)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                f"but received {type(result)}",
                stacklevel=5,
            )
            return result
        values = result if isinstance(result, tuple) else (result,)
        self.count_outputs = len(values)
        wrapped, places = _tap(values, self.outputs_arrived)
        self.output_places = places or []
        if not places:
            return result
        if isinstance(result, Tensor):
            return wrapped[0]
        return type(result)(*wrapped) if hasattr(result, "_fields") else wrapped

    def outputs_arrived(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Calls the pre-hooks, and the hooks too when no input will report."""
        full = _spread(grads, self.output_places, self.count_outputs)
        for hook in self.pre_hooks:
            full = self._replaced(full, hook(self.module, full), "grad_output")
        self.grad_outputs = full
        if self.input_places is None:
            self._call_without_inputs(full)
        return tuple(full[place] for place in self.output_places)

    def inputs_arrived(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Calls the hooks with both ends' gradients."""
        places = self.input_places or []
        # Tensors that nothing came back to, or that need no gradient, have zeros for one.
        given = zip(_spread(grads, places, self.count_inputs), self.inputs_like, strict=True)
        full = tuple(_zeros(*like) if grad is None and like is not None else grad for grad, like in given)
        if self.grad_outputs is None:
            return tuple(
                full[place] for place in places
            )  # it did not come through the outputs: a double backward, or another way to the inputs
        for hook in self.hooks:
            full = self._replaced(full, hook(self.module, full, self.grad_outputs), "grad_input")
        self.grad_outputs = None
        return tuple(full[place] for place in places)

    def _call_without_inputs(self, grad_outputs: tuple[Any, ...]) -> None:
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
            "gradients.",
            stacklevel=2,
        )
        nothing = (None,) * self.count_inputs
        for hook in self.hooks:
            answer = hook(self.module, nothing, grad_outputs)
            if answer is not None and not (isinstance(answer, tuple) and all(grad is None for grad in answer)):
                raise RuntimeError(
                    f"{type(self.module).__name__}: Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _replaced(self, current: tuple[Any, ...], answer: Any, what: str) -> tuple[Any, ...]:
        if answer is None:
            return current
        answers: tuple[Any, ...] = answer if isinstance(answer, tuple) else (answer,)
        if len(answers) != len(current):
            raise RuntimeError(
                f"{type(self.module).__name__}: Backward hook returned an invalid number of {what}, "
                f"got {len(answers)}, but expected {len(current)}."
            )
        return answers


def _tap(values: tuple[Any, ...], arrived: Any) -> tuple[tuple[Any, ...], list[int] | None]:
    """`values` with those that need a gradient passed through one BackwardHookFunction, and their places (None: none)."""
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
    if not places or not tenfold.is_grad_enabled():
        return values, None
    tapped = BackwardHookFunction.apply(arrived, *[values[place] for place in places])
    new = list(values)
    for place, tensor in zip(places, tapped, strict=True):
        new[place] = tensor
    return tuple(new), places


def _zeros(shape: Any, dtype: Any, device: Any) -> Tensor:
    return tenfold.zeros(shape, dtype=dtype, device=device)


def _spread(grads: tuple[Any, ...], places: list[int], count: int) -> tuple[Any, ...]:
    full: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        full[place] = grad
    return tuple(full)


def taps_for(module: Any, everywhere: Any) -> Taps | None:
    """The taps of one call, or None when no full backward hook asks for them."""
    if not (module._backward_hooks or module._backward_pre_hooks or everywhere.backward or everywhere.backward_pre):
        return None
    pre_hooks = [*everywhere.backward_pre.values(), *module._backward_pre_hooks.values()]
    hooks = list(everywhere.backward.values()) if everywhere.is_full_backward else []
    if module._is_full_backward_hook:
        hooks += module._backward_hooks.values()
    return Taps(module, pre_hooks, hooks) if hooks or pre_hooks else None


def attach_regular(module: Any, everywhere: Any, args: tuple[Any, ...], result: Any) -> None:
    """Puts the hooks of `register_backward_hook` on the node that made the (first) result."""
    hooks = list(everywhere.backward.values()) if everywhere.is_full_backward is False else []
    if module._is_full_backward_hook is False:
        hooks += module._backward_hooks.values()
    if not hooks:
        return
    first = result
    while not isinstance(first, Tensor):
        if not isinstance(first, (dict, tuple, list)) or not first:
            return
        first = next((v for v in first.values() if isinstance(v, Tensor)), None) if isinstance(first, dict) else first[0]
    if first.grad_fn is None:
        return
    missing = _missing(args, result, first.grad_fn)
    if missing:
        warnings.warn(
            f"{type(module).__name__}: Using a non-full backward hook when {missing[0]} is deprecated and will be removed in "
            f"future versions. This hook will be missing some {missing[1]}. Please use register_full_backward_hook to get the "
            f"documented behavior.",
            FutureWarning,
            stacklevel=5,
        )
    for hook in hooks:
        first.grad_fn.register_hook(lambda grad_input, grad_output, hook=hook: hook(module, grad_input, grad_output))


def _missing(args: tuple[Any, ...], result: Any, node: Any) -> tuple[str, str] | None:
    """Why a hook on one node does not see all of a module's gradients, and which it does not see; None if it does."""
    results = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(r, Tensor) for r in results):
        return "the forward does not return a single Tensor or a tuple of Tensors", "of the grad_output"
    if not all(isinstance(a, Tensor) for a in args):
        return "the forward does not take as input a single Tensor or a tuple of Tensors", "of the grad_input"
    if any(r.grad_fn is not node for r in results):
        return "outputs are generated by different autograd Nodes", "grad_output"
    inputs = {id(a.grad_fn) for a in args if a.grad_fn is not None}
    if inputs != {id(following) for following, _ in node.next_functions if following is not None}:
        return "the forward contains multiple autograd Nodes", "grad_input"
    return None
