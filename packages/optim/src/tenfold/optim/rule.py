"""Optimizers that are one update rule, run for each parameter or handed whole to a device's own kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.dispatch.runtime import STATE, set_grad_enabled_here
from tenfold.dispatch.services import SERVICES
from tenfold.optim.optimizer import Closure, Group, Optimizer, Params, State, scalar_state
from tenfold.optim.options import Check, check_options

# (params, grads, states, group): updates all of them in place, advances each state's "step".
FusedKernel = Callable[[list[Tensor], list[Tensor], list[State], Group], None]
_fused_kernels: dict[tuple[str, str], FusedKernel] = {}


_scaling_kernels: set[tuple[str, str]] = set()


def register_fused(rule: str, device: str, kernel: FusedKernel, *, scales: bool = False) -> None:
    """Let `kernel` update all parameters on `device` at once, for the optimizers of `rule`.

    A package's plugin names the module that calls this under the family "optim" of its hook `tenfold_kernels`.

    Groups with `fused=False` or `foreach=False` keep the update per parameter. The kernel gets plain lists of one length;
    everything is dense and real (a complex number is two reals where the rule says so), gradients are not negated for
    `maximize`, and states are those that `init_state` made.

    Args:
        rule: the optimizer's `rule`, such as "adam" (Adam and AdamW) or "sgd".
        device: a device type, such as "cuda".
        scales: whether the kernel does what `grad_scale` and `found_inf` of a `GradScaler` ask for, which are then in the group:
            divide the gradients, and change nothing (counters too) where `found_inf` is not 0, without a wait for the device.

    Raises:
        ValueError: the pair has a kernel already.
    """
    if (rule, device) in _fused_kernels:
        owner = _fused_kernels[rule, device]
        raise ValueError(
            f"rule {rule!r} on device {device!r} already has a fused kernel: {owner.__module__}.{owner.__qualname__}"
        )
    _fused_kernels[rule, device] = kernel
    if scales:
        _scaling_kernels.add((rule, device))


_asked: set[Any] = set()


def _has_fused_kernels(params: Iterable[Any]) -> bool:
    """Whether there are any for the devices of these; packages attach them with their kernels of the family "optim"."""
    last: Any = None
    for param in params:
        key = param._key
        if key is last:  # as of most; the look-up compares devices, which takes longer than this
            continue
        last = key
        if key not in _asked and key.level is None:
            _asked.add(key)
            SERVICES.load_kernels(param.device.type, "optim")
    return bool(_fused_kernels)


def _with_gradients(params: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The parameters that have gradients, and those."""
    having, grads = [], []
    for param in params:
        grad = param.grad
        if grad is not None:
            having.append(param)
            grads.append(grad)
    return having, grads


def _device_of(params: list[Any]) -> str:
    """The type of device that all of them are on; empty where that is not one."""
    last: Any = None
    found = ""
    for param in params:
        key = param._key
        if key is last:
            continue
        last, type_ = key, param.device.type
        if found and type_ != found:
            return ""
        found = type_
    return found


class RuleOptimizer(Optimizer):
    """An optimizer that applies one rule to every parameter with a gradient.

    A subclass names its options and their defaults in the signature of its `__init__`, says in `checks` what the common checks
    do not (options.py), and gives `init_state` and the rule, `update`. The rule gets the group's options as attributes, numbers
    that were given as tensors of one element as floats.
    """

    rule: ClassVar[str]
    checks: ClassVar[Mapping[str, Check]] = {}
    accepts_sparse: ClassVar[bool] = False
    sparse_hint: ClassVar[str] = ""
    # Whether a complex number is two independent reals to the rule, which then sees views with one dimension more.
    complex_as_real: ClassVar[bool] = True
    scalars: ClassVar[tuple[str, ...]] = ("step",)

    def __init__(self, params: Params, options: dict[str, Any]) -> None:
        check_options(options, self.checks)
        super().__init__(params, options)
        if options.get("fused"):
            self._step_supports_amp_scaling = True  # a GradScaler hands its scale over instead of waiting for the device

    def init_state(self, param: Tensor, group: Group) -> State:
        """The state of `param` before its first step."""
        raise NotImplementedError(f"{type(self).__name__} does not define init_state()")

    def keeps_state(self, group: Group) -> bool:
        """Whether parameters of a group have any state."""
        return True

    @staticmethod
    def update(param: Tensor, grad: Tensor, state: State, group: Any) -> None:
        """Move `param` and `state` one step, in place."""
        raise NotImplementedError("a RuleOptimizer defines update(param, grad, state, group)")

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once, after calling `closure` where one is given, and return its loss."""
        loss = None
        if closure is not None:
            with tenfold.enable_grad():
                loss = closure()
        before = STATE.grad_enabled
        try:
            set_grad_enabled_here(bool(self.defaults.get("differentiable")))
            for group in self.param_groups:
                scaled = self._scaled(group)
                if scaled is None:
                    continue
                if _has_fused_kernels(group["params"]) or group.get("capturable"):
                    self._fused_step(scaled)
                else:
                    self._update_group(scaled)
        finally:
            try:
                set_grad_enabled_here(before)
            finally:  # Ctrl-C may come where a function begins, before it has done anything
                set_grad_enabled_here(before)
        return loss

    def _scaled(self, group: Group) -> Group | None:
        """The group with what a GradScaler has handed over, where its kernel takes it; else that is done here.

        None: there is nothing to do, for a gradient is not finite.
        """
        found, scale = getattr(self, "found_inf", None), getattr(self, "grad_scale", None)
        if found is None:
            return group
        params, grads = _with_gradients(group["params"])
        _has_fused_kernels(params)
        kernel, device = self._kernel_for(group, params, grads)
        if kernel is not None and (self.rule, device) in _scaling_kernels:
            return {**group, "found_inf": found, "grad_scale": scale}
        if bool(found):
            return None
        if scale is not None:
            for grad in grads:
                grad.div_(scale.to(grad.device))
        return group

    def _update_group(self, group: Group) -> None:
        options = SimpleNamespace(
            **{name: value if type(value) in _PLAIN else plain(value) for name, value in group.items() if name != "params"}
        )
        update = self.update
        for param, grad, state in self.ready(group):
            if group.get("fused") and param.dtype.is_half:
                _update_in_float32(update, param, grad, state, options)
            else:
                update(param, grad, state, options)

    def _kernel_for(self, group: Group, params: list[Any], grads: list[Any]) -> tuple[FusedKernel | None, str]:
        """(the kernel that takes the step of all parameters of a group, None: there is none; the device of all of them)."""
        device = _device_of(params)
        refused = device == "cpu" and group.get("capturable") and not group.get("fused")  # there is nothing to capture in
        kernel = None if refused else _fused_kernels.get((self.rule, device))
        if kernel is None:
            return None, device
        # The kernel alone keeps its step on the device, so that it is what `capturable` asks for, however it is taken.
        asked_not_to = (group.get("fused") is False or group.get("foreach") is False) and not group.get("capturable")
        # Who watches operators is to see those of the step.
        if STATE.beneath or STATE.layers or asked_not_to or group.get("differentiable"):
            return None, device
        complex = False
        for param, grad in zip(params, grads):  # a loop, which for so few takes half of what generators do
            if grad.is_sparse or (param.dtype.is_complex and not self.complex_as_real):
                return None, device
            # `_update_in_float32` takes half precision, and `ready` refuses complex numbers.
            if group.get("fused") and (param.dtype.is_complex or (device == "cpu" and param.dtype.is_half)):
                return None, device
            complex = complex or param.dtype.is_complex
        return partial(_step_as_reals, kernel) if complex else kernel, device

    def _fused_step(self, group: Group) -> None:
        """Run the device's kernel where it has one for this rule, and the rule itself where not."""
        params, grads = _with_gradients(group["params"])
        kernel, device = self._kernel_for(group, params, grads)
        if kernel is None:
            # A differentiable step, of operators, is taken on devices with a kernel; on the CPU there is nothing to capture in.
            known = group.get("fused") if device == "cpu" else (self.rule, device) in _fused_kernels
            if group.get("capturable") and params and not known:
                raise AssertionError(
                    f"{type(self).__name__} on {params[0].device}: If capturable=True, params and state_steps must be on "
                    f"supported devices, which have a fused kernel for {self.rule!r}; pass capturable=False"
                )
            self._update_group(group)
            return
        if self.keeps_state(group):
            states = [self._state_of(param, group) for param in params]
        else:
            states = [{} for _ in params]
        kernel(params, grads, states, group)

    def _state_of(self, param: Tensor, group: Group) -> State:
        state = self.state.get(param)
        if not state:
            state = self.init_state(param, group)
            if state:
                self.state[param] = state
        return state

    def ready(self, group: Group) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Yield parameter, gradient and state of whatever has a gradient, its step already counted.

        The gradient is negated for `maximize`.
        """
        states, stateful = self.state, self.keeps_state(group)
        maximize = group.get("maximize")
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if grad.is_sparse and not self.accepts_sparse:
                raise RuntimeError(f"{type(self).__name__} does not support sparse gradients{self.sparse_hint}")
            if group.get("fused") and param.dtype.is_complex:
                raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices")
            state = (states.get(param) or self._state_of(param, group)) if stateful else {}
            if "step" in state:
                state["step"] += 1
            if maximize:
                grad = -grad
            if param._array.dtype.kind == "c" and self.complex_as_real:
                yield tenfold.view_as_real(param), tenfold.view_as_real(grad), {k: _as_real(v) for k, v in state.items()}
            else:
                yield param, grad, state


def _update_in_float32(update: Any, param: Tensor, grad: Tensor, state: State, options: Any) -> None:
    """A fused step of half precision: what it computes is rounded once, when parameter and state are written."""
    wide = {name: value.float() if isinstance(value, Tensor) else value for name, value in state.items()}
    given, moved = dict(wide), param.float()
    update(moved, grad.float(), wide, options)
    param.copy_(moved)
    for name, value in wide.items():
        known = state.get(name)
        if isinstance(known, Tensor):
            known.copy_(value)
        elif value is not given.get(name):
            state[name] = value.to(param.dtype) if isinstance(value, Tensor) else value


def _step_as_reals(kernel: FusedKernel, params: list[Any], grads: list[Any], states: list[State], group: Group) -> None:
    """A kernel's step on views of complex numbers as reals; what it puts in place of a number, such as a counter, stays."""
    views = [{name: _as_real(value) for name, value in state.items()} for state in states]
    given = [dict(view) for view in views]
    kernel([_as_real(p) for p in params], [_as_real(g) for g in grads], views, group)
    for state, view, before in zip(states, views, given):
        state.update({name: value for name, value in view.items() if value is not before[name]})


def _as_real(value: Any) -> Any:
    return tenfold.view_as_real(value) if isinstance(value, Tensor) and value.is_complex() else value


_PLAIN = frozenset((float, int, bool, type(None), str))


def plain(value: Any) -> Any:
    """The float of an option that is a tensor of one element, also inside a tuple; any other value as it is."""
    if isinstance(value, Tensor):
        return float(value)
    return tuple(map(plain, value)) if type(value) is tuple else value


# What several rules have in common.


def counter() -> Tensor:
    """The state "step" before the first step."""
    return scalar_state(0.0)


def averages(param: Tensor, *names: str) -> State:
    """State entries of zeros in the shape of `param`."""
    return {name: tenfold.zeros_like(param) for name in names}


def decayed(param: Tensor, grad: Tensor, group: Any) -> Tensor:
    """The gradient with `weight_decay * param` added; decoupled decay takes lr times that off the parameter instead."""
    if not group.weight_decay:
        return grad
    if getattr(group, "decoupled_weight_decay", False):
        param.mul_(1 - group.lr * group.weight_decay)
        return grad
    return grad.add(param, alpha=group.weight_decay)


def moments(grad: Tensor, state: State, group: Any) -> tuple[Tensor, Tensor]:
    """Adam's running averages of the gradient and of its square, after taking in `grad`."""
    beta1, beta2 = group.betas
    mean: Tensor = state["exp_avg"].lerp_(grad, 1 - beta1)
    return mean, state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)


def root(square: Tensor, eps: float, group: Any) -> Tensor:
    """`sqrt(square) + eps`, in new memory that a differentiable step leaves alone."""
    result = square.sqrt()
    return result.add(eps) if group.differentiable else result.add_(eps)
