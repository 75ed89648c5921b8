"""Optimizers' steps that are counted on the device: what `capturable=True` asks for, and steps that may be left out.

The host knows nothing of a step's number, so that replays of a CUDA graph go on counting. What most optimizers' formulas need of
it (powers of the betas, a product of momenta) is computed in float64, in a row of numbers for each parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.kernels import step_launches as common
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.kernels.multi_tensor import guarded
from tenfold.ops.creation.factories import full
from tenfold.ops.indexing.joining import stack
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import float32, float64

COUNTED = 256  # counters of steps that a program advances
COUNTERS = (F32, F64)


def by_device(name: str, param: Any, grad: Any, kept: list[Any], step: Any) -> common.Member | None:
    """`member_of` for a step that is counted on the device; None: the parameter has no elements, and its step is counted only."""
    member = common.member_of(param, grad, kept) or _gathered(param, grad, kept) if param.numel() else None
    if (member is None and param.numel()) or step._array.dtype not in COUNTERS:
        raise common.refused(name, param)
    return member


def _gathered(param: Any, grad: Any, kept: list[Any]) -> common.Member | None:
    """A member of copies of what lies apart, which a step writes back; None for dtypes that the kernels do not have."""
    tensors = [param, *kept]
    given = [t._array for t in (*tensors, grad)]
    if guarded(tensors) or any(a.dtype != given[0].dtype or a.dtype not in FLOATS for a in given):
        return None
    arrays = [contiguous(a) for a in given]
    return common.Member(tensors, arrays, given[-1], [(a, b) for a, b in zip(given[:-1], arrays) if a is not b])


def _on_device(params: list[Any], states: list[Any], group: Any, scalars: Sequence[str] = ("step",)) -> list[Any]:
    """The counters of steps, moved to the device with other scalar states where they are not there yet.

    Float64 where the default dtype was that when they were made, but for fused steps.
    """
    for param, state in zip(params, states):
        for name in scalars:
            value = state[name]
            if value.dtype is float64 and not group.get("fused"):
                dtype = float64
            else:
                dtype = float32
            state[name] = value.to(dtype) if value.is_cuda else full((), float(value), dtype=dtype, device=param.device)
    return [state["step"] for state in states]


def count(steps: Sequence[Any], index: int, scaling: common.Scaling) -> None:
    """Advance counters on the device, all of one dtype, in one launch."""
    now = runtime.current()
    addresses = np.array(now.pointers([step._array for step in steps]), np.int64)
    table = capturing.constant(now, addresses, index) if capturing.CAPTURES else _addresses(now, addresses, index)
    program = Handwritten("count_steps", (("SCALED", scaling.kind), ("STEP", TYPE_OF[steps[0]._array.dtype]), ("BLOCK", COUNTED)))
    found = table if scaling.arrays[0] is None else scaling.arrays[0]
    start(program, (-(-len(steps) // COUNTED),), (table, found, len(steps)), index)


_counters: dict[tuple[int, int, bytes], Any] = {}


def _addresses(now: Any, addresses: Any, index: int) -> Any:
    key = (*capturing.place(now, index), addresses.tobytes())
    found = _counters.get(key)
    if found is None:
        if len(_counters) >= 64:
            _counters.clear()
        found = _counters[key] = capturing.constant(now, addresses, index)
    return found


# Adam and Adagrad, whose kernels read the step's number


def adam(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """Adam with the counters on the device, and the learning rate too if it is a tensor there: replays go on counting."""
    lr, beta1, beta2 = group["lr"], *map(float, group["betas"])
    names = common.moments_of(group["amsgrad"])
    batches: dict[tuple[Any, ...], list[tuple[common.Member | None, Any]]] = {}
    for param, grad, state, step in zip(params, grads, states, _on_device(params, states, group)):
        member = by_device("Adam", param, grad, [state[name] for name in names], step)
        batches.setdefault(_batch(member, param, step), []).append((member, step))
    placed = isinstance(lr, Tensor) and lr.is_cuda
    decay_of = 0 if not group["weight_decay"] else 1 if group["decoupled_weight_decay"] else 2
    for (dtype, index, counter), found in batches.items():
        members, steps = [m for m, _ in found if m], [step for _, step in found]
        scaling = common.scaling_of(group, steps[0].device)
        count(steps, index, scaling)
        if not members:
            continue
        rate = lr.to(device=steps[0].device, dtype=float64 if dtype == F64 else float32)._array if placed else None
        shares = (1 - beta1, beta2, 1 - beta2, float(group["eps"]), 0.0 if placed else float(lr), _log(beta1), _log(beta2))
        numbers = (-1.0 if group["maximize"] else 1.0, float(group["weight_decay"]), *shares)
        constants = (
            ("DECAY", decay_of),
            ("AMSGRAD", int(group["amsgrad"])),
            ("COUNTED", 1 + (counter == F64)),
            ("PLACED", int(placed)),
        )
        common.launch_step("adam_step", members, (rate, *numbers), constants, scaling, steps)


def _batch(member: Any, param: Any, step: Any) -> tuple[Any, ...]:
    """What a launch has to be told of a parameter: those alike are one."""
    return member and param._array.dtype, param._key.index, step._array.dtype


def _log(beta: float) -> float:
    return log(beta) if beta else float("-inf")


def adagrad(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """Adagrad with the counters on the device."""
    options = common.options_of(group)
    decay_of, decay = common.decay_of_group(options)
    batches: dict[tuple[Any, ...], list[tuple[common.Member | None, Any]]] = {}
    for param, grad, state, step in zip(params, grads, states, _on_device(params, states, group)):
        member = by_device("Adagrad", param, grad, [state["sum"]], step)
        batches.setdefault(_batch(member, param, step), []).append((member, step))
    for (_, index, counter), found in batches.items():
        members, steps = [m for m, _ in found if m], [step for _, step in found]
        scaling = common.scaling_of(group, steps[0].device)
        count(steps, index, scaling)
        numbers = (common.sign_of(options), decay, options.eps, -options.lr, options.lr_decay)
        if members:
            common.launch_rule("adagrad", members, numbers, (decay_of, 1 + (counter == F64)), scaling, steps)


# The others, whose kernel reads numbers that are made on the device

WIDTH = 8  # of a row: six numbers, the decay, and whether RAdam's step is rectified
Numbers = tuple[Sequence[Any], dict[str, Any], Any]  # of a rule, new values of its scalar states, and RAdam's flag


def _adadelta(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    return (o.rho, 1 - o.rho, o.eps, -o.lr), {}, 0.0


def _adamax(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    return (1 - o.betas[0], o.betas[1], o.eps, -o.lr / (1 - o.betas[0] ** t)), {}, 0.0


def _nadam(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    beta1, beta2 = o.betas
    mu, following = (beta1 * (1 - 0.5 * 0.96 ** (step * o.momentum_decay)) for step in (t, t + 1))
    product, unbias = kept["mu_product"] * mu, (1 - beta2**t).sqrt()
    ahead = -o.lr * unbias * (1 - mu) / (1 - product), -o.lr * unbias * following / (1 - product * following)
    return (1 - beta1, beta2, 1 - beta2, o.eps * unbias, *ahead), {"mu_product": product}, 0.0


def _radam(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    beta1, beta2 = o.betas
    longest, power = 2 / (1 - beta2) - 1, beta2**t
    rho = longest - 2 * t * power / (1 - power)
    ready = rho > 5  # as tenfold-optim has it
    ratio = ((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho) * (1 - power)).clamp(min=0).sqrt()
    return (1 - beta1, beta2, 1 - beta2, o.eps, -o.lr / (1 - beta1**t) * ratio.where(ready, 1.0)), {}, ready


def _rmsprop(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    return (o.alpha, 1 - o.alpha, o.eps, -o.lr, o.momentum), {}, 0.0


def _rprop(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    return (*o.etas, *o.step_sizes), {}, 0.0


def _asgd(o: Any, t: Any, kept: dict[str, Any]) -> Numbers:
    eta, mu = kept["eta"], kept["mu"]
    following = {"eta": o.lr / (1 + o.lambd * o.lr * t) ** o.alpha, "mu": 1 / (t - o.t0).clamp(min=1)}
    return (1 - o.lambd * eta, -eta, mu), following, 0.0


FORMULAS: dict[str, Callable[[Any, Any, dict[str, Any]], Numbers]] = {
    "adadelta": _adadelta, "adamax": _adamax, "nadam": _nadam, "radam": _radam, "rmsprop": _rmsprop, "rprop": _rprop,
    "asgd": _asgd,
}  # fmt: skip
SCALARS = {"nadam": ("mu_product",), "asgd": ("eta", "mu")}


def counts_here(states: Sequence[Any], group: Any) -> bool:
    """Whether a group's steps are counted on the device."""
    return bool(group.get("capturable")) or any(state["step"].is_cuda for state in states)


def counted(name: str, params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of an optimizer of FORMULAS."""
    rule, o = common.RULES[name], common.options_of(group, keep=("lr",))
    o.lr = o.lr if isinstance(o.lr, Tensor) and o.lr.is_cuda else float(o.lr)
    o.weight_decay = getattr(o, "weight_decay", 0)
    batches: dict[tuple[Any, ...], list[tuple[common.Member | None, Any]]] = {}
    steps = _on_device(params, states, group, ("step", *SCALARS.get(name, ())))
    for param, grad, state, step in zip(params, grads, states, steps):
        member = by_device(rule.optimizer, param, grad, [state[key] for key in rule.states(o)], step)
        batches.setdefault(_batch(member, param, step), []).append((member, state))
    decay = 0 if not o.weight_decay else 1 if _decoupled(o) else 2
    for (_, index, _), found in batches.items():
        those = [state for _, state in found]
        count([state["step"] for state in those], index, common.UNSCALED)
        rows = _rows(name, o, those)
        members = [member for member, _ in found if member is not None]
        if members:
            kind = (decay, int(rule.flags(o, those[0])) if name == "rmsprop" else 0)
            common.launch_rule(name, members, (-1.0 if o.maximize else 1.0,), kind, common.UNSCALED, list(rows.unbind()), 1)


def _decoupled(o: Any) -> bool:
    return bool(getattr(o, "decoupled_weight_decay", False))


def _rows(name: str, o: Any, states: Sequence[Any]) -> Any:
    """The rows of numbers, in float64; scalar states get their next values."""
    names = ("step", *SCALARS.get(name, ()))
    kept = {key: stack([state[key] for state in states]).to(float64) for key in names}
    numbers, following, flag = FORMULAS[name](o, kept["step"], kept)
    for key, values in following.items():
        for state, value in zip(states, values.unbind()):
            state[key].copy_(value)
    decay = o.weight_decay if not (o.weight_decay and _decoupled(o)) else 1 - o.lr * o.weight_decay
    columns = (*numbers, *[0.0] * (6 - len(numbers)), decay, flag)
    like = full((len(states),), 0.0, dtype=float64, device=kept["step"].device)
    return stack([like + column for column in columns], 1)
