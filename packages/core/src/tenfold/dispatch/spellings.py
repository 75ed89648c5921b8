"""Spellings of a call that PyTorch takes beside the declared one: NumPy's names, Python's types as dtypes, and the
positional forms from before PyTorch 1.5. Call paths come here only when a call uses one of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from operator import index
from typing import Any

from numpy import generic

from tenfold.dispatch.operators import Operator, Param
from tenfold.dispatch.runtime import RUNTIME
from tenfold.settings.warnings import warn_once
from tenfold.types import dtypes, qualified
from tenfold.types.dtypes import dtype

NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
PYTHON_TYPES = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


class _Required:
    """The default of a parameter that has none, but also another name."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED = _Required()


def missing(operator: str, parameter: str) -> TypeError:
    """The error for a call without a required argument."""
    return TypeError(f'{operator}() missing 1 required positional arguments: "{parameter}"')


def absent(operator: str, parameter: str) -> Any:
    raise missing(operator, parameter)


def as_int(value: Any, operator: str, name: str, several: bool = False) -> Any:
    """The int that an argument means: an integer but no bool, or a tensor of one."""
    kind = type(value)
    tensor = hasattr(type(value), "_array")
    if value is REQUIRED or (hasattr(kind, "__torch_function__") and not tensor):
        return value
    if kind is not bool and not (tensor and not several and (value.ndim or value.dtype is dtypes.bool_)):
        try:
            return index(value)
        except TypeError:
            pass
    raise TypeError(f"{operator}(): argument '{name}' must be int, not {kind.__name__}")


def as_bool(value: Any, operator: str, name: str) -> Any:
    """What is given in a bool's place by a class that overrides operators; TypeError for anything else, None too."""
    kind = type(value)
    known = value is REQUIRED or (value is None and name in "requires_grad pin_memory")
    if known or (hasattr(kind, "__torch_function__") and not hasattr(kind, "_array")):
        return value
    raise TypeError(f"{operator}(): argument '{name}' must be bool, not {kind.__name__}")


def as_complex(value: Any, operator: str, name: str) -> Any:
    """The number that is given, also as a tensor without dimensions that needs no gradient; TypeError for anything else."""
    kind = type(value)
    if hasattr(kind, "_array"):
        if not value.ndim and not value.requires_grad:
            return value.item()
    elif isinstance(value, (int, float, complex, generic)) or value is REQUIRED or hasattr(kind, "__torch_function__"):
        return value
    raise TypeError(f"{operator}(): argument '{name}' must be Number, not {kind.__name__}")


def as_float(value: Any, operator: str, name: str) -> Any:
    """The same but no complex one, and a bool as an int."""
    value = as_complex(value, operator, name)
    if isinstance(value, complex):
        raise TypeError(f"{operator}(): argument '{name}' must be float, not complex")
    return +value if value is True or value is False else value


def as_dims(value: Any, operator: str, name: str) -> Any:
    """One dimension, or several as a tuple, where a bool stands for an int behind the first."""
    if hasattr(type(value), "count"):
        given = [+v if i and type(v) is bool else v for i, v in enumerate(value)]
        return tuple([v if type(v) is int else as_int(v, operator, name, True) for v in given])
    return as_int(value, operator, name, True)


def as_dtype(value: Any, operator: str, name: str = "dtype") -> dtype:
    """The dtype that a `dtype=` argument means: itself, or that of Python's `float int bool complex`; else TypeError.

    >>> as_dtype(float, "zeros")
    tenfold.float64
    """
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in PYTHON_TYPES:
        return PYTHON_TYPES[value]
    raise TypeError(f"{operator}(): argument '{name}' must be {qualified('dtype')}, not {type(value).__name__}")


def old_form(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carry out `add(x, 2, y)` for `add(x, y, alpha=2)`: the deprecated orders that the operator names in `old=`."""
    declared = operator.inplace_of or operator
    if declared.old == (["*"],):
        return operator.fn(args[0], args[1:])
    for order in declared.old:
        if len(order) == len(args) and all(_fits(declared, name, value) for name, value in zip(order, args)):
            _warn_once(operator, declared, order)
            return operator.fn(**{**kwargs, **dict(zip(order, args))})
    first = sum(not p.keyword_only for p in declared.params)
    raise TypeError(f"{operator.name}() takes {first} positional arguments but {len(args)} were given")


def _fits(operator: Operator, name: str, value: Any) -> bool:
    tensor = hasattr(type(value), "_array") or hasattr(type(value), "__torch_function__")
    return name not in _scales(operator) or not tensor or (value.shape == () and not value.requires_grad)


def _scales(operator: Operator) -> set[str]:
    return {p.name for p in operator.params if p.keyword_only}


def _warn_once(operator: Operator, declared: Operator, order: Sequence[str]) -> None:
    kinds = {name: "Number" if name in _scales(declared) else "Tensor" for name in order}
    old = ", ".join(f"{kinds[name]} {name}" for name in order)
    new = ", ".join(f"{kinds[p.name]} {p.name}" for p in declared.params if not p.keyword_only)
    scales = ", ".join(f"Number {p.name} = {p.default}" for p in declared.params if p.keyword_only)
    warn_once(
        operator.name,
        f"This overload of {operator.name} is deprecated:\n\t{operator.name}({old})\n"
        f"Consider using one of the following signatures instead:\n\t{operator.name}({new}, *, {scales})",
        stacklevel=4,
    )


for _function in (as_dtype, as_int, as_dims, as_bool, as_float, as_complex, old_form, missing, absent):
    RUNTIME[_function.__name__] = _function
RUNTIME.update(REQUIRED=REQUIRED, DTYPE=dtype, ONE=1)


def takes_out(operator: Operator) -> bool:
    """Whether calls accept `out=` beyond the declared parameters."""
    return bool(operator.out) and operator.inplace_of is None


def numpy_names(operator: Operator) -> dict[str, str]:
    """Further names of the parameters, such as NumPy's `axis` for `dim`, with ours.

    They and the parameters that the short path never has (`dtype=`, `out=`) come as `**rest_`: looking at one dictionary
    takes less time than filling in a default for each.
    """
    if operator.inplace_of is not None:
        return {}
    named = {p.name for p in operator.params if p.role == "value"}
    return {theirs: ours for ours, theirs in NUMPY_NAMES.items() if ours in named} | operator.spellings


def renamed_and_after(operator: Operator) -> list[str]:
    """Required parameters that may come under another name, and those after them: the generated code asks for them."""
    renamed = numpy_names(operator).values()
    required = [p.name for p in operator.params if p.default is inspect.Parameter.empty and p.role != "ints"]
    start = min((required.index(name) for name in renamed if name in required), default=len(required))
    return required[start:]


def in_rest(operator: Operator, p: Param) -> bool:
    """Whether a parameter is one of those that the short path never has."""
    return p.keyword_only and p.name in operator.neutral


def old_forms(operator: Operator) -> tuple[list[str], ...]:
    """The deprecated orders of arguments that calls take."""
    return (operator.inplace_of or operator).old


def old_order(operator: Operator) -> list[str]:
    if not old_forms(operator):
        return []
    names = [p.name for p in operator.params]
    given = ", ".join(p.name for p in operator.params if not p.keyword_only)
    changed = [f"({p.name!r}, {p.name}, {p.default!r})" for p in operator.params if p.keyword_only]
    changed += ["('out', out, None)"] if takes_out(operator) and names else []
    return [
        "    if old_:",
        f"        changed_ = {{s_: r_ for s_, r_, d_ in [{', '.join(changed)}] if r_ is not d_}}",
        f"        return old_form(OP_{operator.name}, ({given}, *old_), changed_)",
    ]
