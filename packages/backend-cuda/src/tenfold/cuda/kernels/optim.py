"""Steps of Adam, AdamW and SGD for all parameters of a group in one launch: fused kernels of tenfold-optim.

Parameters are cut into pieces; a table on the device has the addresses of each piece. It is made again only when an
address has changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np

from tenfold.cuda import capturing, runtime
from tenfold.cuda.kernels.handwritten import F64, FLOATS, TYPE_OF, Handwritten, contiguous, start
from tenfold.tensor.storage import Storage, refused
from tenfold.tensor.tensor import Tensor

PIECE = 4096  # elements that a program updates
KEPT = 64  # tables
_tables: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def _table(now: Any, groups: Sequence[Sequence[Any]], index: int) -> tuple[Any, int]:
    """(rows of addresses and lengths on the device, how many); an entry of `groups` is the arrays of one parameter."""
    key = (index, *[(now.pointer(a), a.dtype.itemsize, a.size) for arrays in groups for a in arrays])
    found = _tables.get(key)
    if found is None:
        rows = []
        for arrays in groups:
            starts = np.arange(0, arrays[0].size, PIECE)
            columns = [now.pointer(a) + starts * a.dtype.itemsize for a in arrays]
            columns += [columns[0]] * (4 - len(columns))
            rows.append(np.stack([*columns, np.minimum(PIECE, arrays[0].size - starts)], 1))
        table = np.concatenate(rows).astype(np.int64)
        found = _tables[key] = capturing.constant(now, table, index), len(table)
        while len(_tables) > KEPT:
            _tables.popitem(last=False)
    capturing.hold(found[0])
    return found


def _fits(arrays: Sequence[Any]) -> bool:
    """Whether a piece is the same elements in all arrays: one dtype and one dense layout."""
    first = arrays[0]
    if first.dtype not in FLOATS or first.dtype == F64 or not first.size:
        return False
    return all(a.shape == first.shape and a.dtype == first.dtype and a.flags.c_contiguous for a in arrays)


def _written(tensors: Sequence[Any]) -> None:
    """Count the write, so that a gradient that needs the old value can tell."""
    for t in tensors:
        if t._storage is None:
            t._storage = Storage(t._array, t._key)
        t._storage.version += 1


def _options(group: Any) -> Any:
    return SimpleNamespace(**{name: _plain(value) for name, value in group.items() if name != "params"})


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return float(value)
    return tuple(map(_plain, value)) if type(value) is tuple else value


def _guarded(tensors: Sequence[Any]) -> bool:
    return any(t._storage is not None and t._storage.guarded and refused(t) for t in tensors)


def _launch(name: str, groups: list[list[Any]], numbers: tuple[float, ...], constants: tuple[tuple[str, Any], ...]) -> None:
    now = runtime.current()
    index = now.index_of(groups[0][0])
    table, pieces = _table(now, groups, index)
    kernel = Handwritten(name, (*constants, ("BLOCK", PIECE)), 8)
    start(kernel, (pieces,), (table, *map(float, numbers)), index)


def adam(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of Adam or AdamW."""
    from tenfold.optim import Adam  # of an optional package, which has called this

    if not group.get("capturable"):
        capturing.refuse(
            "Attempting CUDA graph capture of step() for an instance of Adam but this group's capturable is False: its step, a "
            "number of the host, would be recorded as it is now",
            "pass capturable=True",
        )
    options = _options(group)
    beta1, beta2 = options.betas
    decay_of = 0 if not options.weight_decay else 1 if options.decoupled_weight_decay else 2
    decay = 1 - options.lr * options.weight_decay if decay_of == 1 else options.weight_decay
    batches: dict[tuple[Any, ...], list[tuple[list[Any], list[Any]]]] = {}
    for param, grad, state in zip(params, grads, states):
        state["step"] += 1
        t = float(state["step"])
        tensors = [param, state["exp_avg"], state["exp_avg_sq"]]
        arrays = [*(t._array for t in tensors), contiguous(grad._array)]
        if options.amsgrad or not _fits(arrays) or _guarded(tensors):
            Adam.update(param, -grad if options.maximize else grad, state, options)
            continue
        batches.setdefault((param._array.dtype, param._key.index, t), []).append((tensors, arrays))
    for (dtype, _, t), members in batches.items():
        unbias = sqrt(1 - beta2**t)
        size = -options.lr * unbias / (1 - beta1**t)
        sign = -1.0 if options.maximize else 1.0
        kind = TYPE_OF[dtype]
        constants = (("DECAY", decay_of), ("KIND", kind), ("STATE", kind))
        numbers = (sign, decay, 1 - beta1, beta2, 1 - beta2, options.eps * unbias, size)
        _launch("adam_step", [arrays for _, arrays in members], numbers, constants)
        _written([t for tensors, _ in members for t in tensors])


def sgd(params: list[Any], grads: list[Any], states: list[Any], group: Any) -> None:
    """A step of SGD; the first with momentum, which makes the buffers, is the ordinary one."""
    from tenfold.optim import SGD  # of an optional package, which has called this

    options = _options(group)
    momentum = float(options.momentum)
    batches: dict[tuple[Any, ...], list[tuple[list[Any], list[Any]]]] = {}
    for param, grad, state in zip(params, grads, states):
        buffer = state.get("momentum_buffer") if momentum else None
        tensors = [param] if buffer is None else [param, buffer]
        arrays = [param._array, tensors[-1]._array, contiguous(grad._array)]
        ready = buffer is not None or not momentum
        if not ready or not _fits(arrays) or _guarded(tensors):
            SGD.update(param, -grad if options.maximize else grad, state, options)
            continue
        batches.setdefault((param._array.dtype, param._key.index), []).append((tensors, arrays))
    numbers = (-1.0 if options.maximize else 1.0, options.weight_decay, momentum, 1 - options.dampening, -options.lr)
    for (dtype, _), members in batches.items():
        constants = (("MOMENTUM", int(momentum != 0)), ("NESTEROV", int(bool(options.nesterov))), ("KIND", TYPE_OF[dtype]))
        _launch("sgd_step", [arrays for _, arrays in members], numbers, constants)
        _written([t for tensors, _ in members for t in tensors])


def attach() -> None:
    """Give tenfold-optim, which asks for this module, the fused steps."""
    from tenfold.optim.rule import register_fused  # of an optional package, which has asked

    register_fused("adam", "cuda", adam)
    register_fused("sgd", "cuda", sgd)


attach()
