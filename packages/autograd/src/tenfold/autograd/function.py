"""`Function`: operations whose backward pass the user writes."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any

from tenfold.autograd.anomaly import note
from tenfold.autograd.function_ctx import FunctionCtx
from tenfold.autograd.function_node import FunctionNode, NestedNode
from tenfold.autograd.function_results import attach, check_dirty, mark_views
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.pytree import LEAF, Spec, flatten, unflatten
from tenfold.autograd.refusing import refusing
from tenfold.dispatch.gradmode import no_grad
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.tensor import Tensor

_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a `backward` that cannot itself be differentiated: its results say so when that is tried."""

    @functools.wraps(backward)
    def wrapped(ctx: Any, *gs: Any) -> Any:
        recording = STATE.grad_enabled and any(g is not None and g._node is not None for g in gs)
        with no_grad():
            results = backward(ctx, *gs)
        if not recording:
            return results
        single = not isinstance(results, tuple)
        sources = tuple(g._node for g in gs if g is not None and g._node is not None)
        made = tuple(None if r is None else refusing(r, sources, _TWICE) for r in ((results,) if single else results))
        return made[0] if single else made

    return wrapped


BackwardCFunction = FunctionNode  # PyTorch's name for it


class FunctionMeta(type):
    """Makes for each Function the class of its nodes, named as PyTorch names it."""

    _node_base: type[FunctionNode] = FunctionNode

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._node_class = cls._backward_cls = type(name + "Backward", (cls._node_base,), {"_function": cls})


class Function(metaclass=FunctionMeta):
    """A custom operation: subclass it with static methods `forward` and `backward`, call `Subclass.apply(...)`.

    `forward(ctx, *args)` computes; or `forward(*args)` with `setup_context(ctx, inputs, output)`. `backward(ctx, *gs)`
    returns one gradient, or None, for each argument of forward.

    >>> import tenfold
    >>> from tenfold.autograd import Function
    >>> class Cube(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * g
    >>> x = tenfold.tensor([2.0], requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor([12.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke them "
            f"on the class itself. Instantiating an autograd function will raise an error in a future version.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
            "static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save on ctx what backward needs, when `forward` takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient of each argument of forward."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function.")

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for backward; define one of them."""
        return Function.backward(ctx, *grad_outputs)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangents of the results (forward mode)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Return (results, their batch dimensions) for batched arguments."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override vmap or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function and record it."""
        if cls.setup_context is not Function.setup_context and (kwargs or len(args) != cls._count()):
            args, kwargs = _with_defaults(cls, args, kwargs), {}
        if SCOPES.depth and cls.setup_context is Function.setup_context:
            raise RuntimeError(
                f"{cls.__name__}: in order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), "
                f"it must override the setup_context staticmethod, and forward must not take a ctx"
            )
        if any(isinstance(a, Tensor) and a._key.level is not None for a in args):
            return SERVICES.apply_through_transforms(cls, args)
        return apply_recorded(cls, args, kwargs)

    @classmethod
    def _count(cls) -> int:
        """How many arguments forward takes."""
        found: Any = cls.__dict__.get("_arity")
        if found is None:
            found = cls._arity = len(inspect.signature(cls.forward).parameters)  # type: ignore[attr-defined]
        return int(found)

    @classmethod
    def _own_backward(cls) -> Callable[..., Any]:
        """`backward`, or `vjp`, whichever this function has."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                "You should only implement one of them."
            )
        return cls.backward if cls.backward is not Function.backward else cls.vjp


def _with_defaults(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of forward, what was left out included: setup_context gets them all."""
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return tuple(bound.args)


class InplaceFunction(Function):
    """A custom operation that may write its input, as its instances of old said."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A custom operation whose arguments and results are tuples, lists and dictionaries of tensors, as deep as wanted.

    `forward_extended(ctx, *args)` computes; `backward_extended(ctx, *gs)` takes gradients nested as the results are, and returns
    one for each argument, nested as the argument is, or None for all of it. `ctx.save_for_backward` takes nested ones, too.

    Raises RuntimeError where a gradient is not nested as its argument is.

    >>> import tenfold
    >>> from tenfold.autograd.function import NestedIOFunction
    >>> class Weighted(NestedIOFunction):
    ...     @staticmethod
    ...     def forward_extended(ctx, pair, weight):
    ...         ctx.save_for_backward(pair, weight)
    ...         return [x * weight for x in pair]
    ...     @staticmethod
    ...     def backward_extended(ctx, *gs):
    ...         pair, weight = ctx.saved_tensors
    ...         return tuple(g * weight for g in gs), sum(g * x for g, x in zip(gs, pair))
    >>> a, b, w = (tenfold.tensor(x, requires_grad=True) for x in (2.0, 3.0, 4.0))
    >>> first, second = Weighted.apply((a, b), w)
    >>> (first + second).backward()
    >>> a.grad, w.grad
    (tensor(4.), tensor(5.))
    """

    _node_base = NestedNode

    @staticmethod
    def forward_extended(ctx: Any, *args: Any) -> Any:
        """Compute the results, of arguments as they were given."""
        raise NotImplementedError("You must implement the forward_extended function for custom autograd.NestedIOFunction.")

    @staticmethod
    def backward_extended(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradients of the arguments."""
        raise NotImplementedError("You must implement the backward_extended function for custom autograd.NestedIOFunction.")

    @classmethod
    def forward(cls, ctx: Any, *given: Any) -> Any:
        """The results' leaves, of the arguments' and how these are nested; to that comes how the results are."""
        *leaves, nesting = given
        found, shape = flatten(cls.forward_extended(ctx, *unflatten(leaves, nesting[0])))
        ctx._nesting = (nesting[0], shape)
        nesting.append(shape)
        return tuple(found)

    @classmethod
    def backward(cls, ctx: Any, *gs: Any) -> Any:
        """The gradients of the arguments' leaves."""
        taken, given = ctx._nesting
        nested = unflatten(gs, given)
        found = cls.backward_extended(ctx, *(nested if given.kind in (tuple, list) else (nested,)))
        results = found if isinstance(found, tuple) else (found,)
        if len(results) != len(taken.children):
            raise RuntimeError(
                f"function {cls.__name__}Backward returned an incorrect number of gradients "
                f"(expected {len(taken.children)}, got {len(results)})"
            )
        pairs = enumerate(zip(results, taken.children))
        return (*(leaf for place, (gradient, shape) in pairs for leaf in cls._leaves(place, gradient, shape)), None)

    @classmethod
    def _leaves(cls, place: int, gradient: Any, shape: Spec) -> list[Any]:
        """The gradients of one argument's leaves."""
        if gradient is None:
            return [None] * shape.size
        leaves, found = flatten(gradient)
        if found != shape:
            wanted = "a tensor" if shape is LEAF else f"nested as the argument is, {shape.size} leaves"
            raise RuntimeError(
                f"function {cls.__name__}Backward returned a gradient {place} of {len(leaves)} leaves that is not {wanted}; "
                f"return None for an argument without one"
            )
        return leaves

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run the function and record it; the results are nested as `forward_extended` returned them."""
        leaves, shape = flatten(args)
        nesting = [shape]
        found = super().apply(*leaves, nesting, **kwargs)  # the last: `ctx.needs_input_grad` has the leaves from its first on
        return unflatten(found, nesting[1])


class _Running(threading.local):
    """Whether this thread is inside of a custom Function's forward."""

    forward = False


RUNNING = _Running()


@functools.lru_cache(maxsize=1024)
def _inside_transforms(cls: Any) -> type[FunctionNode]:
    """The class of nodes that a function being differentiated sees, named as PyTorch names it."""
    return type(f"{cls.__name__}GeneratedBackward", (cls._node_class,), {})


def apply_recorded(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Run forward outside the graph and give the results the function's node."""
    return run_recorded(cls, args, kwargs)[0]


def run_recorded(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[Any, FunctionNode]:
    """The results, in the graph where that is recorded, and the ctx."""
    ctx = _inside_transforms(cls)() if SCOPES.depth else cls._node_class()
    ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    recording = STATE.grad_enabled and any(ctx.needs_input_grad)
    outer, RUNNING.forward = RUNNING.forward, True
    try:
        with no_grad():
            if cls.setup_context is Function.setup_context:
                results = cls.forward(ctx, *args, **(kwargs or {}))
            else:
                results = cls.forward(*args, **(kwargs or {}))
                cls.setup_context(ctx, args, results)
    finally:
        RUNNING.forward = outer
    single = not isinstance(results, tuple)
    outputs: tuple[Any, ...] = (results,) if single else results
    check_dirty(ctx, args, outputs)
    if not recording:
        if STATE.grad_enabled:
            mark_views(outputs, args, len(outputs))
        return results, ctx
    ctx._next = tuple(a._node if isinstance(a, Tensor) else None for a in args)
    outputs = attach(ctx, args, outputs)
    ctx._keep(outputs)
    note(ctx)
    return (outputs[0] if single else outputs), ctx


__all__ = [
    "BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "NestedIOFunction", "apply_recorded",
    "once_differentiable", "run_recorded",
]  # fmt: skip
