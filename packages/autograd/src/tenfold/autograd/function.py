"""`Function`: operations whose backward pass the user writes."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tenfold.autograd.anomaly import note
from tenfold.autograd.function_ctx import FunctionCtx
from tenfold.autograd.function_results import attach, check_dirty, mark_views
from tenfold.autograd.levels import SCOPES
from tenfold.autograd.nodes import NUMBERS, RELEASED, Node
from tenfold.autograd.recording import alias, modified, restore, restore_output, second_time
from tenfold.autograd.refusing import refusing
from tenfold.autograd.saved import Packed, current_hooks, raw_saved
from tenfold.dispatch.gradmode import enable_grad, no_grad
from tenfold.dispatch.inplace import _broadcasts_to
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.ops.creation.factories import zeros
from tenfold.tensor.tensor import Tensor


def deprecated_saved_variables(ctx: Any) -> tuple[Any, ...]:
    """What `ctx.saved_variables` was before it was called `saved_tensors`."""
    warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
    return tuple(ctx.saved_tensors)


class FunctionNode(Node, FunctionCtx):
    """The graph node of a custom function, and the `ctx` that its methods get."""

    # No __slots__: a ctx takes any attribute.
    _function: Any
    is_multiple = False

    def __init__(self) -> None:
        FunctionCtx.__init__(self)
        self._next, self._shape, self._extra, self._number = (), (), None, next(NUMBERS)
        self.needs_input_grad: tuple[bool, ...] = ()
        self._materialize_non_diff_grads = True
        self._differentiable: tuple[bool, ...] = ()
        self._saved: Any = ()

    @property
    def _output_places(self) -> Sequence[int]:
        """All that forward returned counts as an output, as `backward` takes a gradient for each."""
        return range(len(self._shape)) if self.is_multiple else (0,)

    # What backward reads

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors; RuntimeError after they were freed or overwritten."""
        if self._saved is RELEASED:
            raise second_time(self)
        found = []
        for tensor, version, place in self._saved:
            if type(tensor) is Packed:
                tensor = tensor.tensor()
            elif tensor is not None and tensor._version != version:
                raise modified(self, "saved tensor", tensor, version)
            found.append(tensor if place is None else self._restored(tensor, place))
        return tuple(found)

    def _restored(self, tensor: Any, place: int) -> Any:
        """A saved result in its place of the graph, in whatever mode: a backward pass may begin to record by itself."""
        with enable_grad():
            if not self.is_multiple:
                return restore(tensor, self)
            return restore_output(tensor, self, place) if self._differentiable[place] else tensor

    saved_variables = property(deprecated_saved_variables)

    def for_jvp(self) -> Any:
        """A context in which `saved_tensors` are those that were saved for `jvp`."""
        return _SavedForForward(self)

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        if self._saved is RELEASED:
            raise second_time(self)
        return tuple(raw_saved(self, "saved", i) for i in range(len(self._saved)))

    def set_saved_hooks(self, field: str, position: int | None, hooks: Any) -> None:
        """Hand one saved tensor to a pair of hooks."""
        if self._saved is RELEASED:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed.")
        assert position is not None
        value, version, place = self._saved[position]
        if type(value) is Packed:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set.")
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        self._saved[position] = (Packed(value, hooks, place is not None), version, place)

    def _keep(self, outputs: tuple[Any, ...]) -> None:
        kept: list[Any] = []
        hooks = current_hooks()
        for t in self.to_save:
            # Which of the results it is, if any
            place = None if t is None else next((i for i, o in enumerate(outputs) if o is t), None)
            value = t if place is None else alias(t)
            if hooks is not None and value is not None:
                kept.append((Packed(value, hooks, place is not None), None, place))
                continue
            kept.append((value, 0 if t is None or t._storage is None else t._storage.version, place))
        self._saved, self.to_save = kept, ()

    def release(self) -> None:
        self._saved = RELEASED

    def apply(self, g: Any, wanted: tuple[Any, ...]) -> Any:
        gs = self._materialized(g) if isinstance(g, list) else [g]
        results = _own_backward(self._function)(self, *gs)
        if not isinstance(results, tuple):
            results = (results,)
        expected = len(self._next)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(
                f"function {type(self).__name__} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(results)})"
            )
        for i, (n, r) in enumerate(zip(self._next, results)):
            if r is not None and not isinstance(r, Tensor):
                raise TypeError(
                    f"function {type(self).__name__} returned {type(r).__name__} as gradient {i}, expected a Tensor or None"
                )
            if r is not None and n is not None:
                self._check_shape(i, n, r)
        return results

    def _check_shape(self, i: int, n: Any, r: Any) -> None:
        if n.is_multiple or tuple(r.shape) == tuple(n._shape):
            return
        if not _broadcasts_to(tuple(n._shape), tuple(r.shape)):
            raise RuntimeError(
                f"Function {type(self).__name__} returned an invalid gradient at index {i} - got {list(r.shape)} but expected "
                f"shape compatible with {list(n._shape)}"
            )

    def _materialized(self, gs: list[Any]) -> list[Any]:
        if not self.materialize_grads:
            return gs
        made = []
        shapes: Any = self._shape  # of several outputs: (shape, dtype, device) for each tensor
        for i, (g, described) in enumerate(zip(gs, shapes)):
            if g is None and described is not None and (self._materialize_non_diff_grads or self._differentiable[i]):
                shape, dtype, device = described
                g = zeros(shape, dtype=dtype, device=device)
            made.append(g)
        return made


class _SavedForForward:
    """The extent of a call of `jvp`."""

    def __init__(self, ctx: FunctionNode) -> None:
        self.ctx = ctx

    def __enter__(self) -> None:
        self.kept = self.ctx._saved
        self.ctx._saved = [(t, None if t is None else t._version, None) for t in getattr(self.ctx, "saved_for_forward", ())]

    def __exit__(self, *exc: object) -> None:
        self.ctx._saved = self.kept


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

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        cls._node_class = cls._backward_cls = type(name + "Backward", (FunctionNode,), {"_function": cls})


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


class _Running(threading.local):
    """Whether this thread is inside of a custom Function's forward."""

    forward = False


RUNNING = _Running()


def _own_backward(cls: Any) -> Any:
    if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
        )
    return cls.backward if cls.backward is not Function.backward else cls.vjp


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
