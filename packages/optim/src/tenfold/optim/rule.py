"""Optimizers that are one update rule, run for each parameter or handed whole to a device's own kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Closure, Group, Optimizer, State

# (params, grads, states, group): updates all of them in place, advances each state's "step".
FusedKernel = Callable[[list[Tensor], list[Tensor], list[State], Group], None]
_fused_kernels: dict[tuple[str, str], FusedKernel] = {}


def register_fused(rule: str, device: str, kernel: FusedKernel) -> None:
    """Let `kernel` update all parameters on `device` at once, for the optimizers of `rule`.

    Groups with `fused=False` or `foreach=False` keep the update per parameter. The kernel gets plain lists of one length;
    everything is dense and real, gradients are not negated for `maximize`, and states are those that `init_state` made.

    Args:
        rule: the optimizer's `rule`, such as "adam" (Adam and AdamW) or "sgd".
        device: a device type, such as "cuda".

    Raises:
        ValueError: the pair has a kernel already.
    """
    if (rule, device) in _fused_kernels:
        owner = _fused_kernels[rule, device]
        raise ValueError(
            f"rule {rule!r} on device {device!r} already has a fused kernel: {owner.__module__}.{owner.__qualname__}"
        )
    _fused_kernels[rule, device] = kernel


class RuleOptimizer(Optimizer):
    """An optimizer that applies one rule to every parameter with a gradient.

    A subclass gives `rule`, `init_state` and `update_group`; its module's function `update` is the rule itself.
    """

    rule: ClassVar[str]
    accepts_sparse: ClassVar[bool] = False
    sparse_hint: ClassVar[str] = ""
    _number_state: tuple[str, ...] = ("step",)

    def init_state(self, param: Tensor, group: Group) -> State:
        """The state of `param` before its first step."""
        raise NotImplementedError(f"{type(self).__name__} does not define init_state()")

    def update_group(self, group: Group) -> None:
        """Update every parameter of `group` that has a gradient."""
        raise NotImplementedError(f"{type(self).__name__} does not define update_group()")

    def step(self, closure: Closure | None = None) -> Any:
        """Update the parameters once, after calling `closure` where one is given, and return its loss."""
        loss = None
        if closure is not None:
            with tenfold.enable_grad():
                loss = closure()
        with tenfold.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                if _fused_kernels or group.get("capturable"):
                    self._fused_step(group)
                else:
                    self.update_group(group)
        return loss

    def _fused_step(self, group: Group) -> None:
        """Run the device's kernel where it has one for this rule, and the rule itself where not."""
        params = [param for param in group["params"] if param.grad is not None]
        devices = {param.device.type for param in params}
        kernel = _fused_kernels.get((self.rule, devices.pop())) if len(devices) == 1 else None
        asked_not_to = group.get("fused") is False or group.get("foreach") is False
        plain = not any(param.grad.is_sparse or param.dtype.is_complex for param in params)
        if kernel is None or asked_not_to or group.get("differentiable") or not plain:
            if group.get("capturable") and params:
                raise RuntimeError(
                    f"{type(self).__name__}(capturable=True) on {params[0].device}: a step that can be captured needs a "
                    f"device with a fused kernel for {self.rule!r}; pass capturable=False"
                )
            self.update_group(group)
            return
        kernel(params, [param.grad for param in params], [self._state_of(param, group) for param in params], group)

    def _state_of(self, param: Tensor, group: Group) -> State:
        state = self.state[param]
        if not state:
            state.update(self.init_state(param, group))
        return state

    def ready(self, group: Group) -> Iterator[tuple[Tensor, Tensor, State]]:
        """Yield parameter, gradient and state of whatever has a gradient, its step already counted.

        The gradient is negated for `maximize`. Complex tensors come as real views, a last dimension of 2 more: every rule
        here treats a complex number as two independent reals.
        """
        states = self.state
        maximize = group.get("maximize")
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if grad.is_sparse and not self.accepts_sparse:
                raise RuntimeError(f"{type(self).__name__} does not support sparse gradients{self.sparse_hint}")
            state = states[param] or self._state_of(param, group)
            if "step" in state:
                state["step"] += 1
            if maximize:
                grad = -grad
            if param.dtype.is_complex:
                real = {name: _as_real(value) for name, value in state.items()}
                yield tenfold.view_as_real(param), tenfold.view_as_real(grad), real
                state.update({name: real[name] for name in self._number_state})
            else:
                yield param, grad, state


def _as_real(value: Any) -> Any:
    return tenfold.view_as_real(value) if isinstance(value, Tensor) else value


def plain_number(value: Any) -> float:
    """The float of a hyperparameter that may be given as a tensor of one element."""
    return value if type(value) is float else float(value)


def check_not_negative(**options: Any) -> None:
    """Raise ValueError for the first option below zero."""
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {_SPOKEN.get(name, name + ' value')}: {value}")


_SPOKEN = {"lr": "learning rate", "eps": "epsilon value"}


def check_lr(lr: Any, foreach: bool | None = None, capturable: bool = False) -> None:
    """Raise ValueError for a learning rate that is negative, or a tensor where a tensor is not accepted."""
    if isinstance(lr, Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
    check_not_negative(lr=lr)


def check_betas(betas: Any) -> None:
    """Raise ValueError unless both are in [0, 1)."""
    if len({isinstance(beta, Tensor) for beta in betas}) > 1:
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise RuntimeError for choices that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
