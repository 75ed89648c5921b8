"""What optimizers' steps have in common: which parameters a launch takes, what it is told, and formulas of most optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from types import SimpleNamespace
from typing import Any, NamedTuple

from tenfold.cuda import runtime
from tenfold.cuda.kernels.argument_types import TYPE_OF
from tenfold.cuda.kernels.handwritten import F64, FLOATS, contiguous
from tenfold.cuda.kernels.multi_tensor import Entry, fits, guarded, launch, written
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.dtypes import float32


def options_of(group: Any, keep: Sequence[str] = ()) -> Any:
    """A group's options as attributes, tensors of one element as numbers but for those to `keep`."""
    return SimpleNamespace(**{k: v if k in keep else _plain(v) for k, v in group.items() if k not in NO_OPTIONS})


NO_OPTIONS = frozenset(("params", "found_inf", "grad_scale"))


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return float(value)
    return tuple(map(_plain, value)) if type(value) is tuple else value


class Member(NamedTuple):
    """A parameter of a launch: what is written, and all arrays, the parameter first and the gradient last."""

    tensors: list[Any]
    arrays: list[Any]
    grad: Any = None  # the gradient as it was given, of which the last array may be a copy
    copied: Sequence[tuple[Any, Any]] = ()  # arrays that are written, which lie apart, and the copies that the kernel writes


def launch_step(
    name: str, members: Sequence[Member], more: tuple[Any, ...], constants: tuple[tuple[str, Any], ...], scaling: Scaling,
    steps: Sequence[Any] = (),
) -> None:  # fmt: skip
    """Start a step's kernel; `steps` are the members' counters where these are on the device."""
    now, first = runtime.current(), members[0].arrays[0]
    addresses = now.pointers([step._array for step in steps]) or [0] * len(members)
    entries = [Entry(m.arrays, address) for m, address in zip(members, addresses, strict=True)]
    kind = (("SCALED", scaling.kind), ("KIND", TYPE_OF[first.dtype]), ("DOUBLE", int(first.dtype == F64)))
    launch(name, entries, (*scaling.arrays, *more), (*constants, *kind), now.index_of(first))
    for m in members:
        unscaled = scaling.kind == 2 and m.grad is not None and m.grad is not m.arrays[-1]  # divided by the scale
        for given, copy in (*m.copied, *[(m.grad, m.arrays[-1])] * unscaled):
            wrap(given, m.tensors[0]._key).copy_(wrap(copy, m.tensors[0]._key))
    written([*steps, *(t for m in members for t in m.tensors)])


class Scaling(NamedTuple):
    """What a loss was scaled by, as kernels take it: numbers on the device that the host does not wait for."""

    kind: int  # 0: not at all; 1: a step that may be left out; 2: gradients are still scaled
    arrays: tuple[Any, Any]  # whether something was found, and the scale; None where there is none


def scaling_of(group: Any, device: Any) -> Scaling:
    found, scale = (group.get(name) for name in ("found_inf", "grad_scale"))
    placed = [None if t is None else t.to(device=device, dtype=float32)._array for t in (found, scale)]
    return Scaling(0 if found is None else 1 if scale is None else 2, (placed[0], placed[1]))


def decay_of_group(options: Any) -> tuple[int, float]:
    """(0: none, 1: of the parameter, 2: in the gradient; the number that goes with it)."""
    if not options.weight_decay:
        return 0, 0.0
    decoupled = getattr(options, "decoupled_weight_decay", False)
    return (1, 1 - options.lr * options.weight_decay) if decoupled else (2, options.weight_decay)


UNSCALED = Scaling(0, (None, None))


def moments_of(amsgrad: bool) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if amsgrad else ("exp_avg", "exp_avg_sq")


def member_of(param: Any, grad: Any, kept: list[Any]) -> Member | None:
    """What a launch needs of a parameter and its state; None: the kernels do not serve it."""
    tensors = [param, *kept]
    arrays = [t._array for t in tensors]
    arrays.append(grad._array)
    first = arrays[0]
    shape, strides, dtype = first.shape, first.strides, first.dtype
    for a in arrays:  # lying as the parameter does, which alone is looked at then
        if a.strides != strides or a.shape != shape or a.dtype != dtype:
            break
    else:
        if dtype in FLOATS and first.size and first.flags.c_contiguous:
            return None if guarded(tensors) else Member(tensors, arrays)
    order = runtime.order_in_memory(arrays[0])
    if order is not None:  # such as channels_last: the same elements in the order in which they lie
        arrays = [a.transpose(order) for a in arrays]
    given, arrays[-1] = arrays[-1], contiguous(arrays[-1])
    return Member(tensors, arrays, given) if fits(arrays) and not guarded(tensors) else None


def sign_of(options: Any) -> float:
    return -1.0 if options.maximize else 1.0


def refused(name: str, param: Any) -> RuntimeError:
    return RuntimeError(
        f"{name}: a step with its counter or the gradients' scale on the device is for dense float32, float64, float16 and "
        f"bfloat16, got {param.dtype} of shape {tuple(param.shape)} and strides {tuple(param.stride())}; pass capturable=False "
        "and fused=False"
    )


class Rule(NamedTuple):
    """An optimizer as `rule_step` computes it."""

    optimizer: str
    states: Callable[[Any], Sequence[str]]
    numbers: Callable[[Any, Any], Sequence[float]]
    flags: Callable[[Any, Any], int] = lambda options, state: 0
    counts: bool = True
    after: Callable[[Any, Any], None] = lambda options, state: None


def _adagrad(o: Any, state: Any) -> Sequence[float]:
    return o.eps, -o.lr / (1 + (float(state["step"]) - 1) * o.lr_decay)


def _nadam(o: Any, state: Any) -> Sequence[float]:
    t, (beta1, beta2) = float(state["step"]), o.betas
    mu, following = (beta1 * (1 - 0.5 * 0.96 ** (step * o.momentum_decay)) for step in (t, t + 1))
    state["mu_product"] *= mu
    product, unbias = float(state["mu_product"]), sqrt(1 - beta2**t)
    ahead = -o.lr * unbias * (1 - mu) / (1 - product), -o.lr * unbias * following / (1 - product * following)
    return 1 - beta1, beta2, 1 - beta2, o.eps * unbias, *ahead


def _rectification(o: Any, state: Any) -> float | None:
    from tenfold.optim.radam import rectification  # of an optional package, which has called this

    found: float | None = rectification(float(state["step"]), o.betas[1])
    return found


def _radam(o: Any, state: Any) -> Sequence[float]:
    t, (beta1, beta2) = float(state["step"]), o.betas
    size, rectified = -o.lr / (1 - beta1**t), _rectification(o, state)
    return 1 - beta1, beta2, 1 - beta2, o.eps, size if rectified is None else size * rectified * sqrt(1 - beta2**t)


def _asgd(o: Any, state: Any) -> Sequence[float]:
    eta = float(state["eta"])
    return 1 - o.lambd * eta, -eta, float(state["mu"])


def _asgd_after(o: Any, state: Any) -> None:
    t = float(state["step"])
    state["eta"].fill_(o.lr / (1 + o.lambd * o.lr * t) ** o.alpha)
    state["mu"].fill_(1 / max(1, t - o.t0))


RULES = {
    "adadelta": Rule(
        "Adadelta", lambda o: ("square_avg", "acc_delta"), lambda o, s: (o.rho, 1 - o.rho, o.eps, -o.lr), counts=False
    ),
    "adagrad": Rule("Adagrad", lambda o: ("sum",), _adagrad),
    "adamax": Rule(
        "Adamax", lambda o: ("exp_avg", "exp_inf"),
        lambda o, s: (1 - o.betas[0], o.betas[1], o.eps, -o.lr / (1 - o.betas[0] ** float(s["step"]))),
    ),
    "nadam": Rule("NAdam", lambda o: ("exp_avg", "exp_avg_sq"), _nadam),
    "radam": Rule("RAdam", lambda o: ("exp_avg", "exp_avg_sq"), _radam, lambda o, s: int(_rectification(o, s) is not None)),
    "rmsprop": Rule(
        "RMSprop", lambda o: ("square_avg", *["grad_avg"] * bool(o.centered), *["momentum_buffer"] * (o.momentum > 0)),
        lambda o, s: (o.alpha, 1 - o.alpha, o.eps, -o.lr, o.momentum), lambda o, s: bool(o.centered) + 2 * (o.momentum > 0),
        counts=False,
    ),
    "rprop": Rule("Rprop", lambda o: ("prev", "step_size"), lambda o, s: (*o.etas, *o.step_sizes), counts=False),
    "asgd": Rule("ASGD", lambda o: ("ax",), _asgd, after=_asgd_after),
}  # fmt: skip


def launch_rule(
    name: str, members: list[Member], numbers: Sequence[float], kind: tuple[int, int], scaling: Scaling,
    steps: Sequence[Any] = (), counted: int = 0,
) -> None:  # fmt: skip
    """Start a step by a rule of RULES; `counted`: its numbers are on the device, a row for each member in place of `steps`."""
    padded = (*map(float, numbers), *[0.0] * (8 - len(numbers)))
    constants = (("RULE", name), ("FLAGS", kind[1]), ("DECAY", kind[0]), ("COUNTED", counted))
    launch_step("rule_step", members, padded, constants, scaling, steps)
