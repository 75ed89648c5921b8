"""How results lie in memory: those of elementwise operators as their arguments, those of reductions and scans row by row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import gt
from typing import Any

import numpy as np

from tenfold.dispatch.devices import CPU
from tenfold.dispatch.operators import Operator
from tenfold.dispatch.reading import tensor_params
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.types.memory_format import propagated_order, with_steps

# How a new result lies in memory: the function that sees to it.
BY_ROWS = ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward", "logsigmoid", "masked_fill")


def layout_of(operator: Operator) -> str:
    """The name of the function that lays results out, or nothing where the kernel's layout is the right one."""
    if operator.outputs != 1 or operator.view:
        return ""
    if operator.name in ("clone", "flip", "nonzero", "to_dtype"):
        return "note_layout"
    if operator.family == "reduction" or operator.name in BY_ROWS:
        return "by_rows"
    if operator.name == "pow":
        return "arrange_power"
    return "arrange" if operator.pointwise else ""


def arranged(operator: Operator) -> list[str]:
    """Lines that give elementwise results the strides that follow from the arguments'.

    Only views, and what was computed of them, are laid out otherwise than row by row; they have a storage.
    """
    name = layout_of(operator)
    if not name:
        return []
    params = [p for p in tensor_params(operator) if p.role in ("tensor", "number")]
    is_tensor = {p.name: "" if p.role == "tensor" else f"a_{p.name} is not {p.name} and " for p in params}
    is_number = {p.name: "" if p.role == "tensor" else f"a_{p.name} is {p.name} or " for p in params}
    has_storage = " or ".join(f"{is_tensor[p.name]}{p.name}._storage is not None" for p in params)
    by_rows = ["r_.flags.c_contiguous"]
    if name.startswith("arrange"):
        by_rows += [f"({is_number[p.name]}a_{p.name}.flags.c_contiguous)" for p in params]
    look = f"key_ is CPU and not ({' and '.join(by_rows)})"
    if name != "note_layout":  # of a copy the format may have been asked for
        look = f"({has_storage}) and {look}"
    arrays = "".join(f"a_{p.name}, " for p in params)
    return [f"    if {look}:", f"        {name}(t_, ({arrays}))"]


def lay_out(operator: Operator, result: Any, arrays: Sequence[Any]) -> None:
    """Lay a new result out; the generated code does the same for arguments that have a storage."""
    name = layout_of(operator)
    if name:
        RUNTIME[name](result, arrays)


def note_layout(result: Any, arrays: Sequence[Any] = ()) -> None:
    """Give what does not lie row by row a storage, by which operators know that they must look at strides."""
    made = result._array
    if type(made) is np.ndarray and not made.flags.c_contiguous and result._storage is None and not STATE.inference:
        result._storage = RUNTIME["Storage"](made, result._key)


def by_rows(result: Any, arrays: Sequence[Any]) -> None:
    """Have a new result lie row by row."""
    made = result._array
    if type(made) is np.ndarray and not made.flags.c_contiguous:
        result._array = made.copy("C")


def arrange(result: Any, arrays: Sequence[Any]) -> None:
    """Give a new result the layout that follows from the arrays that it was computed of."""
    made = result._array
    if type(made) is not np.ndarray or made.ndim < 2:
        return
    if all(type(a) is not np.ndarray or a.flags.c_contiguous or _in_rows(a.strides) for a in arrays):
        by_rows(result, arrays)
        return
    order, back = result_order(made.shape, *[(a.shape, a.strides, a.itemsize) for a in arrays if getattr(a, "ndim", 0)])
    if not made.transpose(order).flags.c_contiguous:
        result._array = made.transpose(order).copy("C").transpose(back)
    note_layout(result)


def arrange_power(result: Any, arrays: Sequence[Any]) -> None:
    """The same; powers of a number lie row by row."""
    (arrange if type(arrays[0]) is np.ndarray else by_rows)(result, arrays)


def _in_rows(strides: tuple[int, ...]) -> bool:
    """Whether each dimension lies outside of the next: rows with gaps, such as a part of the columns."""
    return all(map(gt, strides, strides[1:]))


@lru_cache(1024)
def result_order(shape: Sequence[int], *given: Any) -> tuple[Any, Any]:
    """The order of a result's dimensions in memory, and the way back."""
    spread = []
    for own, strides, size in given:
        missing = len(shape) - len(own)
        steps = with_steps(own, [s // size for s in strides])
        spread.append([0] * missing + [0 if n == 1 != m else s for n, m, s in zip(own, shape[missing:], steps)])
    order = propagated_order(shape, spread)
    return order, tuple(map(order.index, range(len(order))))


RUNTIME.update(CPU=CPU, arrange=arrange, arrange_power=arrange_power, by_rows=by_rows, note_layout=note_layout)
