"""`view_copy` and its kin: what a view shows, in memory of its own (PyTorch's names for programs without aliasing)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.inplace import write_out
from tenfold.dispatch.operators import OPERATORS
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import contiguous_format

_VIEWS = (
    "as_strided detach diagonal expand narrow permute select split split_with_sizes squeeze t transpose unbind unfold unsqueeze "
    "view view_as_complex view_as_real"
).split()


def _copying(name: str) -> Callable[..., Any]:
    """The function that copies what the view of this name shows."""
    operator = OPERATORS[name]

    def copies(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        viewed = operator.fn(*args, **kwargs)
        made = _copied(viewed) if isinstance(viewed, Tensor) else tuple(map(_copied, viewed))
        if out is None:
            return made
        return write_out(out, made) if isinstance(made, Tensor) else _all_written(out, made)

    copies.__name__ = copies.__qualname__ = f"{name}_copy"
    copies.__doc__ = f"What `{name}` shows of a tensor, with the same arguments, in new memory or in `out`."
    return copies


def _copied(view: Tensor) -> Tensor:
    return view.clone(memory_format=contiguous_format)


def _all_written(outs: Any, made: tuple[Tensor, ...]) -> None:
    if len(outs) != len(made):
        raise RuntimeError(f"out: expected a list of {len(made)} tensors, one for each part, got {len(outs)}")
    for out, part in zip(outs, made):
        write_out(out, part)


FUNCTIONS = {f"{name}_copy": _copying(name) for name in _VIEWS}


def __getattr__(name: str) -> Any:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
