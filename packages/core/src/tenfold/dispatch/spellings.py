"""Spellings of a call that PyTorch takes beside the declared one: NumPy's names, Python's types as dtypes, and the
positional forms from before PyTorch 1.5. Call paths come here only when a call uses one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import RUNTIME
from tenfold.settings.warnings import warn_once
from tenfold.types import dtypes
from tenfold.types.dtypes import dtype
from tenfold.types.naming import qualified

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


def as_dtype(value: Any, operator: str) -> dtype:
    """The dtype that a `dtype=` argument means: itself, or that of Python's `float int bool complex`; else TypeError.

    >>> as_dtype(float, "zeros")
    tenfold.float64
    """
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in PYTHON_TYPES:
        return PYTHON_TYPES[value]
    raise TypeError(f"{operator}(): argument 'dtype' must be {qualified('dtype')}, not {type(value).__name__}")


def old_form(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carry out `add(x, 2, y)` for `add(x, y, alpha=2)`: the deprecated orders that the operator names in `old=`."""
    declared = operator.inplace_of or operator
    for order in declared.old:
        if len(order) == len(args) and all(_fits(declared, name, value) for name, value in zip(order, args)):
            _warn_once(operator, declared, order)
            return operator.fn(**{**kwargs, **dict(zip(order, args))})
    first = sum(not p.keyword_only for p in declared.params)
    raise TypeError(f"{operator.name}() takes {first} positional arguments but {len(args)} were given")


def _fits(operator: Operator, name: str, value: Any) -> bool:
    tensor = hasattr(value, "_array") or hasattr(type(value), "__torch_function__")
    return tensor != (name in operator.neutral or name in _scales(operator))


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


RUNTIME.update(as_dtype=as_dtype, old_form=old_form, missing=missing, absent=absent, REQUIRED=REQUIRED, DTYPE=dtype, ONE=1)
