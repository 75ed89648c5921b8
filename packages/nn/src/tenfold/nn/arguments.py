"""Reading arguments: sizes given as one number or one for each dimension, tensors to be widened or conjugated, constants."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.dispatch.spellings import as_dims
from tenfold.types.dtypes import type_name


def per_dim(value: Any, ndim: int, what: str) -> tuple[int, ...]:
    """One integer for each of `ndim` dimensions; RuntimeError when the number of them is wrong, TypeError for what is none."""
    if type(value) is int:
        return (value,) * ndim
    sizes = ints(value, what)
    if len(sizes) == ndim:
        return sizes
    if len(sizes) == 1:
        return sizes * ndim
    raise RuntimeError(f"{what} must be an int or a tuple of {ndim} ints, got {value!r}")


def ints(value: Any, what: str) -> tuple[int, ...]:
    """One integer or several as a tuple; a number of NumPy or of a tensor is one, a bool or a float is none: TypeError."""
    operator, _, name = what.partition(": ")
    given = as_dims(value, operator, name)
    return given if type(given) is tuple else (given,)


def conjugate(x: Any) -> Any:
    """The complex conjugate; real tensors as they are."""
    return x.conj() if x._array.dtype.kind == "c" else x


def widened(x: Any) -> Any:
    """float16 and bfloat16 tensors as float32, in which statistics are computed; others as they are."""
    return x.to(tenfold.float32) if x._array.dtype.itemsize == 2 and x.dtype.is_floating_point else x


def has_kernel(operator: str, input: Any, *others: Any) -> bool:
    """Whether the device has a kernel for the operator, and these are plain tensors there; None is none."""
    key = input._key
    if key.level is not None or key.override or getattr(key.kernels, operator) is None:
        return False
    return all(x is None or x._key is key for x in others)


def refuse_gradients(name: str, **constants: Any) -> None:
    """RuntimeError, as PyTorch's, for a constant of the operator that asks for a gradient: there is none."""
    for what, value in constants.items():
        if value is not None and value.requires_grad and tenfold.is_grad_enabled():
            raise RuntimeError(
                f"{name}: not differentiable with respect to {what!r}, which requires a gradient; detach() it first"
            )


KINDS = {"c": "complex", "i": "integer", "u": "uint8", "b": "bool"}  # by NumPy's letter


def require_floating(name: str, x: Any, also: str = "") -> None:
    """NotImplementedError, as PyTorch's, for a tensor that is neither floating point nor of the kinds `also` lists."""
    if x._array.dtype.kind not in "fV" + also:
        accepted = " and ".join(["floating point", *(KINDS[kind] for kind in also)])
        raise NotImplementedError(f"\"{name}\" not implemented for '{type_name(x.dtype)}'; it takes {accepted} tensors")


def require_same_dtype(name: str, x: Any, *vectors: Any) -> None:
    """RuntimeError, as PyTorch's, for a weight or statistic of another dtype than `x`; float32 ones fit half precision."""
    for v in vectors:
        if v is not None and v.dtype is not x.dtype and not (v.dtype is tenfold.float32 and x.dtype.is_half):
            accepted = f"{x.dtype.name} or float32" if x.dtype.is_half else x.dtype.name
            raise RuntimeError(
                f"{name}: mixed dtype: all inputs must share same datatype, got {v.dtype.name} beside an input of "
                f"{x.dtype.name}, accepted is {accepted}; convert the input or the layer with .to()"
            )


_FACTORY = {"device", "dtype", "memory_format"}


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What of a layer's keywords goes to functions such as `empty`: device, dtype, memory_format and `factory_kwargs`'s own.

    Raises TypeError for other keywords, and for one given in both.

    >>> factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": None}})
    {'dtype': None, 'device': 'cpu'}
    """
    given = dict(kwargs or {})
    unexpected = given.keys() - _FACTORY - {"factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}; accepted are {', '.join(sorted(_FACTORY))} and factory_kwargs")
    result = dict(given.pop("factory_kwargs", {}))
    for name, value in given.items():
        if name in result:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        result[name] = value
    return result
