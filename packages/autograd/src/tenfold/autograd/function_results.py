"""What a custom function returned as results of its node: which are written arguments, views, or without a gradient."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tenfold.autograd.inplace import rebase
from tenfold.autograd.nodes import Node, Output
from tenfold.autograd.recording import alias
from tenfold.dispatch.gradmode import no_grad
from tenfold.dispatch.inplace import bump_version, check_writable
from tenfold.tensor.tensor import Tensor

if TYPE_CHECKING:
    from tenfold.autograd.function_node import FunctionNode


def _is_in(t: Any, tensors: tuple[Any, ...]) -> bool:
    return any(t is x for x in tensors)


def check_dirty(ctx: FunctionNode, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """What was marked as written must be returned; its version says that it was written."""
    for t in ctx.dirty_tensors:
        if not _is_in(t, outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
                "modified inplace must all be outputs of the Function."
            )
        if not _is_in(t, args):
            warnings.warn(
                "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to "
                "pass it to mark_dirty().",
                UserWarning,
                stacklevel=4,
            )
        bump_version(t)


def attach(ctx: FunctionNode, args: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the results their nodes: those returned as they came become views, written ones take their old place."""
    made = tuple(_as_result(t, ctx, args) if isinstance(t, Tensor) else t for t in outputs)
    differs = [isinstance(t, Tensor) and not _is_in(o, ctx.non_differentiable) and t.dtype.category >= 2
               for t, o in zip(made, outputs)]  # fmt: skip
    if len(made) > 1 or not any(differs):
        ctx.is_multiple = True
    described: Any = tuple((t._array.shape, t.dtype, t.device) if isinstance(t, Tensor) else None for t in made)
    ctx._shape = described if ctx.is_multiple else made[0]._array.shape
    ctx._differentiable = tuple(differs)
    for i, (t, differentiable) in enumerate(zip(made, differs)):
        if differentiable:
            node = Output(ctx, i, t._array.shape) if ctx.is_multiple else ctx
            _place(ctx, t, node, _is_in(t, ctx.dirty_tensors) and _is_in(t, args), sum(differs))
        elif isinstance(t, Tensor):
            t._node = None
    return made


def _as_result(t: Any, ctx: FunctionNode, args: tuple[Any, ...]) -> Any:
    """A result that is an argument, and was not written, becomes a view of it."""
    if not _is_in(t, args) or _is_in(t, ctx.dirty_tensors):
        return t
    with no_grad():
        return t.view_as(t)


def _place(ctx: FunctionNode, t: Any, node: Node, dirty: bool, count: int) -> None:
    """Put one result into the graph."""
    if dirty:
        check_writable(type(ctx).__name__, t, True)
        if t._base is not None and count > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
                "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
                "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
                "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
                "does the other operations)."
            )
        result = alias(t)
        result._node = node
        rebase(t, result)
        return
    mark_views((t,), (), count)
    t._node = node


def mark_views(outputs: tuple[Any, ...], args: tuple[Any, ...], count: int) -> None:
    """Results that are views may not be written where that is recorded: the custom gradient would be lost."""
    for t in outputs:
        if isinstance(t, Tensor) and t._base is not None and not _is_in(t, args):
            t._origin = "function" if count == 1 else "several"
            storage = t.untyped_storage()
            storage.mark()
