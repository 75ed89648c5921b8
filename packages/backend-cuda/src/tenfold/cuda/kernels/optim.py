"""Optimizers' steps for all parameters of a group in one launch: fused kernels of tenfold-optim."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

from tenfold.cuda import capturing
from tenfold.cuda.kernels import counted_steps
from tenfold.cuda.kernels.step_launches import (
    RULES,
    UNSCALED,
    Member,
    decay_of_group,
    launch_rule,
    launch_step,
    member_of,
    moments_of,
    options_of,
    refused,
    scaling_of,
    sign_of,
)
from tenfold.ops.creation.like import zeros_like


def adam(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of Adam or AdamW; with `capturable`, or counters on the device, nothing of it is the host's to know."""
    if group.get("capturable") or "found_inf" in group or any(state["step"].is_cuda for state in states):
        counted_steps.adam(params, grads, states, group)
        return
    capturing.refuse(
        "Attempting CUDA graph capture of step() for an instance of Adam but this group's capturable is False: its step is a "
        "number of the host's, which would be recorded as it is now",
        "pass capturable=True",
    )
    options = options_of(group)
    beta1, beta2 = options.betas
    decay_of, decay = decay_of_group(options)
    names = moments_of(options.amsgrad)
    batches: dict[tuple[Any, ...], list[Member]] = {}
    for param, grad, state in zip(params, grads, states):
        state["step"] += 1
        member = member_of(param, grad, [state[name] for name in names])
        if member is None:
            _by_rule("Adam", param, grad, state, options)
        else:
            batches.setdefault((param._array.dtype, param._key.index, float(state["step"])), []).append(member)
    for (_, _, t), members in batches.items():
        unbias = sqrt(1 - beta2**t)
        size = -options.lr * unbias / (1 - beta1**t)
        numbers = (sign_of(options), decay, 1 - beta1, beta2, 1 - beta2, options.eps * unbias, size, 0.0, 0.0)
        constants = (("DECAY", decay_of), ("AMSGRAD", int(options.amsgrad)), ("COUNTED", 0), ("PLACED", 0))
        launch_step("adam_step", members, (None, *map(float, numbers)), constants, UNSCALED)


def _by_rule(name: str, param: Any, grad: Any, state: Any, options: Any) -> None:
    """The step of one parameter by the optimizer's own rule, whose counter has been advanced."""
    from tenfold import optim  # an optional package, which has called this

    getattr(optim, name).update(param, -grad if options.maximize else grad, state, options)


def sgd(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of SGD; the first with momentum makes the buffers."""
    options = options_of(group)
    momentum, found = float(options.momentum), group.get("found_inf")
    fresh = [bool(momentum) and state.get("momentum_buffer") is None for state in states]
    if found is not None and any(fresh) and options.dampening and bool(found):
        return  # a first step that is left out would be taken for one: the buffer's first contents are not dampened
    batches: dict[tuple[Any, ...], list[Member]] = {}
    for param, grad, state, new in zip(params, grads, states, fresh):
        buffer = zeros_like(param) if new else state.get("momentum_buffer")
        member = member_of(param, grad, [buffer] if momentum else [])
        if member is not None:
            batches.setdefault((param._array.dtype, param._key.index, new), []).append(member)
            if new:
                state["momentum_buffer"] = buffer
        elif found is not None and param.numel():
            raise refused("SGD", param)
        else:
            _by_rule("SGD", param, grad, state, options)
    numbers = (sign_of(options), options.weight_decay, momentum, 1 - options.dampening, -options.lr)
    for (_, _, new), members in batches.items():
        constants = (("MOMENTUM", (2 if new else 1) if momentum else 0), ("NESTEROV", int(bool(options.nesterov))))
        launch_step("sgd_step", members, tuple(map(float, numbers)), constants, scaling_of(group, members[0].tensors[0].device))


def ruled(name: str, params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of an optimizer of RULES; with `capturable`, or counters on the device, its numbers are made there."""
    if counted_steps.counts_here(states, group):
        counted_steps.counted(name, params, grads, states, group)
        return
    rule, options = RULES[name], options_of(group)
    capturing.refuse(
        f"Attempting CUDA graph capture of step() for an instance of {rule.optimizer} but this group's capturable is False: its "
        "step is a number of the host's, which would be recorded as it is now",
        "pass capturable=True" if name in counted_steps.FORMULAS else "step outside of the graph",
    )
    options.weight_decay = getattr(options, "weight_decay", 0)
    decay_of, decay = decay_of_group(options)
    batches: dict[tuple[Any, ...], list[Member]] = {}
    for param, grad, state in zip(params, grads, states):
        state["step"] += 1
        member = member_of(param, grad, [state[key] for key in rule.states(options)])
        if member is None:
            _by_rule(rule.optimizer, param, grad, state, options)
            continue
        key = (param._array.dtype, param._key.index, tuple(rule.numbers(options, state)), rule.flags(options, state))
        batches.setdefault(key, []).append(member)
        rule.after(options, state)
    for (_, _, numbers, flags), members in batches.items():
        launch_rule(name, members, (sign_of(options), decay, *numbers), (decay_of, flags), UNSCALED)


def adagrad(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of Adagrad; one that may be left out counts on the device, as Adam's."""
    if "found_inf" in group or any(state["step"].is_cuda for state in states):
        counted_steps.adagrad(params, grads, states, group)
    else:
        ruled("adagrad", params, grads, states, group)


def attach() -> None:
    """Give tenfold-optim, which asks for this module, the fused steps."""
    from tenfold.optim.rule import register_fused  # of an optional package, which has asked

    register_fused("adam", "cuda", adam, scales=True)
    register_fused("sgd", "cuda", sgd, scales=True)
    register_fused("adagrad", "cuda", adagrad, scales=True)
    for name in RULES:
        if name != "adagrad":
            register_fused(name, "cuda", partial(ruled, name))


attach()
