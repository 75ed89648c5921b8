"""Steps of Adam, AdamW and SGD in one pass over each parameter: fused kernels of tenfold-optim."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.llvm import session as sessions
from tenfold.llvm.expressions import Expr, fma, load, parameter, sqrt
from tenfold.llvm.maths import maximum
from tenfold.llvm.programs import Program, suitable
from tenfold.llvm.rows import Array as Argument, Rows
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.tensor.storage import Storage
from tenfold.tensor.tensor import Tensor

PIECE = 1 << 12  # elements that one call of a loop updates
EXACT = 1 << 11  # whole numbers that every floating dtype of a counter has
WINDOW = 64  # rows that native code is given at once after one that it left to Python
_PLAIN = frozenset((float, int, bool, type(None), str))


def _numbers(count: int, type: str) -> list[Expr]:
    return [parameter(i, type) for i in range(count)]


def _update(stored: Stored, arrays: int, results: list[Expr], numbers: int) -> Rows:
    row = Argument(stored, "row")
    return Rows(tuple((e, row) for e in results), (row,) * arrays, numbers)


def _adam(stored: Stored, decay_of: str, amsgrad: bool) -> Rows:
    """Arrays p, m, v, g; the operations in the order of PyTorch's step of one tensor, a product and a sum rounded once.

    `amsgrad`: the largest v so far stands before g.
    """
    type = stored.computed
    p, m, v, g = (load(i, type) for i in (0, 1, 2, 3 + amsgrad))
    sign, decay, new_share, beta2, new_square, eps, step, unbias = _numbers(8, type)
    g = g * sign
    if decay_of == "parameter":
        p = p * decay
    elif decay_of == "gradient":
        g = fma(p, decay, g)
    m = fma(g - m, new_share, m)
    v = fma(g * new_square, g, v * beta2)
    square, kept = v, [m, v]
    if amsgrad:
        square = maximum(load(3, type), v)
        kept.append(square)
    return _update(stored, 4 + amsgrad, [p + m * step / (sqrt(square) / unbias + eps), *kept], 8)


def _sgd(stored: Stored, momentum: bool, nesterov: bool, decays: bool) -> Rows:
    """Arrays p, g, or p, buffer, g."""
    type = stored.computed
    sign, decay, keep, new_share, step = _numbers(5, type)
    p, g = load(0, type), load(2 if momentum else 1, type)
    g = g * sign
    g = fma(p, decay, g) if decays else g
    if not momentum:
        return _update(stored, 2, [fma(g, step, p)], 5)
    buffer = fma(g, new_share, load(1, type) * keep)
    return _update(stored, 3, [fma(fma(buffer, keep, g) if nesterov else buffer, step, p), buffer], 5)


def _none(rows: list[list[Any]], numbers: tuple[float, ...]) -> int:
    return 0


class Update:
    """The native step of many parameters, where there are native call paths."""

    def __init__(self) -> None:
        session = sessions.session()
        self.run: Any = None
        if session is not None and session.paths is not None:
            session.paths.look_for_parameters()
            session.native.cell("u_piece").value = PIECE
            self.run = session.native.builtin("update", None, 0)

    def step(self, program: Program, *variant: Any) -> Any:
        """What updates all but the last tensor of each row while the rows are plain: (rows, numbers) -> how many were."""
        single, double = program.known((FLOAT32, *variant)), program.known((FLOAT64, *variant))
        if self.run is None or not (single or double):
            return _none
        return partial(self.run, single, double)


@cache
def native_update() -> Update:
    """The native step, on first use."""
    return Update()


ADAM, MOMENTUM = Program("adam", _adam), Program("sgd", _sgd)


def _in_place(tensors: list[Any], numbers: tuple[float, ...], program: Program, *variant: Any) -> bool:
    """Update all but the last tensor, which is the gradient; False where the ordinary rule has to."""
    arrays = [t._array for t in tensors]
    stored = suitable(*arrays)
    shape = arrays[0].shape
    if (stored is not FLOAT32 and stored is not FLOAT64) or not arrays[0].size or _overlap(arrays):
        return False
    for a in arrays:  # loops, which for so few take half of what generators do
        if a.shape != shape:
            return False
    storages = []
    for t in tensors[:-1]:
        storage = _storage(t)
        if storage.guarded:
            return False
        storages.append(storage)
    size, key = arrays[0].size, (stored, *variant)
    if size <= PIECE:
        if not program.rows(key, 1, size, *arrays[:-1], *arrays, *numbers):
            return False
    else:
        flat = [a.reshape(-1) for a in arrays]
        whole, rest = divmod(size, PIECE)
        if not program.rows(key, whole, PIECE, *flat[:-1], *flat, *numbers):
            return False
        if rest:
            tail = [a[whole * PIECE :] for a in flat]
            program.rows(key, 1, rest, *tail[:-1], *tail, *numbers)
    for s in storages:
        s.version += 1
    return True


def _overlap(arrays: list[Any]) -> bool:
    """Whether two arrays share memory: asked only of views, since others have memory of their own."""
    for i, a in enumerate(arrays):
        for b in arrays[:i]:
            if a is b or ((a.base is not None or b.base is not None) and np.may_share_memory(a, b)):
                return True
    return False


def _storage(tensor: Any) -> Any:
    if tensor._storage is None:
        tensor._storage = Storage(tensor._array, tensor._key)
    return tensor._storage


def _counted(state: Any) -> float:
    """Count a step, and say which it is: in the counter's array where nobody watches its tensor, a third of the time."""
    step = state["step"]
    if type(step) is Tensor and step._node is None and step._key is CPU:
        array, storage = step._array, _storage(step)
        if not array.ndim and array.dtype.kind == "f" and array.flags.carray and not storage.guarded:
            count: float = array.item() + 1.0
            array.fill(count)
            storage.version += 1
            return count if count <= EXACT else float(array.item())
    state["step"] += 1
    return float(state["step"])


def _options(group: Any) -> Any:
    """The group's options as attributes, tensors of one element as floats, as the optimizers' own rules read them."""
    return SimpleNamespace(
        **{name: value if type(value) in _PLAIN else _plain(value) for name, value in group.items() if name != "params"}
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return float(value)
    return tuple(map(_plain, value)) if type(value) is tuple else value


@cache
def _adam_rule() -> Any:
    from tenfold.optim import Adam  # of an optional package, which has called this

    return Adam


@cache
def _sgd_rule() -> Any:
    from tenfold.optim import SGD  # of an optional package, which has called this

    return SGD


def _updated(
    rows: list[list[Any]], numbers: tuple[float, ...], beneath: Callable[[int], None], program: Program, *variant: Any
) -> None:
    """Update all rows by the same numbers, in one native call where they are plain; `beneath` is the rule for one row."""
    step = native_update().step(program, *variant)
    done = step(rows, numbers)
    while done < len(rows):
        if not _in_place(rows[done], numbers, program, *variant):
            beneath(done)
        done += 1
        if step is _none:  # there may be one by now
            step = native_update().step(program, *variant)
        done += step(rows[done : done + WINDOW], numbers)


def adam(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of Adam or AdamW."""
    options, rule = _options(group), _adam_rule().update
    counts = [_counted(state) for state in states]
    (beta1, beta2), weight_decay, lr = options.betas, options.weight_decay, options.lr
    decay_of = "nothing" if not weight_decay else "parameter" if options.decoupled_weight_decay else "gradient"
    decay = 1 - lr * weight_decay if decay_of == "parameter" else weight_decay
    kept = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 2 + bool(options.amsgrad)]
    rows = [[p, *[state[name] for name in kept], g] for p, g, state in zip(params, grads, states)]
    for t in dict.fromkeys(counts):  # those that have taken as many steps: nearly always all
        mine = [k for k, count in enumerate(counts) if count == t] if counts.count(t) < len(counts) else range(len(counts))

        def beneath(number: int, mine: Any = mine) -> None:
            param, *_, grad = rows[mine[number]]
            rule(param, -grad if options.maximize else grad, states[mine[number]], options)

        unbias = (1 - beta2**t) ** 0.5
        numbers = (decay, 1 - beta1, beta2, 1 - beta2, options.eps, -lr / (1 - beta1**t), unbias)
        plain = (-1.0 if options.maximize else 1.0, *map(float, numbers))
        _updated([rows[k] for k in mine], plain, beneath, ADAM, decay_of, bool(options.amsgrad))


def sgd(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of SGD; the first with momentum, which makes the buffers, is the ordinary one."""
    options, rule = _options(group), _sgd_rule().update
    momentum, weight_decay = float(options.momentum), float(options.weight_decay)
    numbers = (-1.0 if options.maximize else 1.0, weight_decay, momentum, 1 - float(options.dampening), -float(options.lr))
    variant = bool(options.nesterov), weight_decay != 0

    def alone(param: Any, grad: Any, state: Any) -> None:
        rule(param, -grad if options.maximize else grad, state, options)

    ready: list[Any] = []
    for param, grad, state in zip(params, grads, states):
        buffer = state.get("momentum_buffer") if momentum else None
        if momentum and buffer is None:
            alone(param, grad, state)
        else:
            ready.append(([param, buffer, grad] if momentum else [param, grad], state))

    def beneath(number: int) -> None:
        tensors, state = ready[number]
        alone(tensors[0], tensors[-1], state)

    _updated([tensors for tensors, _ in ready], numbers, beneath, MOMENTUM, bool(momentum), *variant)


def attach() -> None:
    """Give tenfold-optim, which asks for this module, the fused steps."""
    from tenfold.optim.rule import register_fused  # of an optional package, which has asked

    register_fused("adam", "cpu", adam)
    register_fused("sgd", "cpu", sgd)


if sessions.session() is not None:
    attach()
