"""`view_copy` and its kin: what a view shows, in memory of its own (PyTorch's names for programs without aliasing)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.inplace import write_out
from tenfold.dispatch.operators import OPERATORS
from tenfold.dispatch.shape_rules import wrap_dim
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import c_name
from tenfold.types.memory_format import contiguous_format

_VIEWS = (
    "as_strided detach diagonal expand permute select split split_with_sizes squeeze t transpose unbind unfold unsqueeze "
    "view view_as_complex view_as_real"
).split()


def _slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return input[(*(slice(None),) * wrap_dim(dim, input.dim()), slice(start, end, step))]


def _view(input: Tensor, size: Any = None, *, dtype: Any = None) -> Any:
    """A copy of what is taken anyway has any shape, whatever the tensor's strides."""
    given = size if dtype is None else dtype
    return input.reshape(given) if isinstance(given, (tuple, list)) else input.view(given)


# Views that have no operator of this name, or whose copies are less narrow.
_OTHERS: dict[str, Callable[..., Any]] = {"alias": lambda input: input, "slice": _slice, "view": _view}


def _copying(name: str) -> Callable[..., Any]:
    """The function that copies what the view of this name shows."""
    view = _OTHERS.get(name) or OPERATORS[name].fn

    def copies(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        viewed = view(*args, **kwargs)
        made = _copied(viewed) if isinstance(viewed, Tensor) else tuple(map(_copied, viewed))
        if out is None:
            return made
        return _written(out, made) if isinstance(made, Tensor) else _all_written(out, made)

    copies.__name__ = copies.__qualname__ = f"{name}_copy"
    copies.__doc__ = f"What `{name}` shows of a tensor, with the same arguments, in new memory or in `out`."
    return copies


def _copied(view: Tensor) -> Tensor:
    return view.clone(memory_format=contiguous_format)


def _all_written(outs: Any, made: tuple[Tensor, ...]) -> None:
    if len(outs) != len(made):
        raise RuntimeError(f"out: expected a list of {len(made)} tensors, one for each part, got {len(outs)}")
    for out, part in zip(outs, made):
        _written(out, part)


def _written(out: Tensor, made: Tensor) -> Any:
    if out.dtype is not made.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {c_name(made.dtype)}, but got {c_name(out.dtype)} instead")
    return write_out(out, made)


FUNCTIONS = {f"{name}_copy": _copying(name) for name in (*_VIEWS, *_OTHERS)}


def __getattr__(name: str) -> Any:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
