"""The module `library` of `torch`: operators that programs register, each called as `torch.ops.NAMESPACE.NAME`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.as_torch.stand_ins._library.checks import CHECKS, OpCheckError, check
from tenfold.as_torch.stand_ins._library.infer_schema import infer_schema
from tenfold.as_torch.stand_ins._ops import OpOverloadPacket, ops
from tenfold.as_torch.stand_ins.absent import functions
from tenfold.dispatch.runtime import STATE

Kernel = Callable[..., Any]
_KEYS = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta"}  # PyTorch's names of devices' kernels


class CustomOpDef:
    """An operator of a program's own: a function, perhaps one for each kind of device, and its gradient if one was given."""

    def __init__(self, name: str, fn: Kernel | None = None, mutates_args: Iterable[str] = ()) -> None:
        self._namespace, found, self._name = name.partition("::")
        if not found:
            raise ValueError(f"custom_op(): expected name to be of the form 'namespace::name', got {name!r}")
        self._qualname, self._kernels, self._implicit = name, {"": fn} if fn else {}, False
        self._mutates_args = frozenset(mutates_args)
        self._backward: Kernel | None = None
        self._setup: Kernel | None = None
        self._vmap: Kernel | None = None
        self.__name__, self.__doc__ = self._name, fn.__doc__ if fn else None
        setattr(getattr(ops, self._namespace), self._name, OpOverloadPacket(self._namespace, self._name, self))
        _DEFINED[name] = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        recorded = tenfold.is_grad_enabled() and any(t.requires_grad for t in given)
        if not self._implicit and (recorded or (self._vmap is not None and STATE.transforms)):
            return self._recorded(args, kwargs)
        return self._run(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        device = next((value.device.type for value in (*args, *kwargs.values()) if isinstance(value, Tensor)), "")
        kernel = self._kernels.get(device) or self._kernels.get("")
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the '{device}' backend: kernels are registered for "
                f"{sorted(filter(None, self._kernels))}"
            )
        return kernel(*args, **kwargs)

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call on the tape: one node, whatever the function does."""
        bound = self._bound(args, kwargs)
        keywords = bound.kwargs

        def forward(*inputs: Any) -> Any:
            return self._run(*inputs, **keywords)

        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if self._setup is not None:
                extra = {"keyword_only_inputs": keywords} if keywords else {}
                self._setup(ctx, inputs, output, **extra)

        def backward(ctx: Any, *grads: Any) -> Any:
            if self._backward is None:
                raise RuntimeError(
                    f"Trying to backward through {self._qualname} but no autograd formula was registered. Please use "
                    "register_autograd to add one."
                )
            return self._backward(ctx, *grads)

        rules = {"forward": forward, "setup_context": setup_context, "backward": backward}
        if self._vmap is not None:
            rules["vmap"] = self._vmap
        made = {name: staticmethod(rule) for name, rule in rules.items()}
        function: Any = type(self._name, (tenfold.autograd.Function,), made)
        return function.apply(*bound.args)

    def _bound(self, args: Iterable[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """A call's arguments by the names of the function's parameters."""
        kernel = self._kernels.get("") or next(iter(self._kernels.values()))
        bound = inspect.signature(kernel).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Kernel | None = None, /) -> Any:
        """Another function for some kinds of device."""
        kinds = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
        return _decorated(lambda kernel: self._kernels.update({kind or "": kernel for kind in kinds}), fn)

    def register_fake(self, fn: Kernel, /) -> Kernel:
        """The function for tensors without numbers."""
        self._kernels["meta"] = fn
        return fn

    def register_autograd(self, backward: Kernel, /, *, setup_context: Kernel | None = None) -> None:
        """The gradient: `setup_context(ctx, inputs, output)` keeps what `backward(ctx, *grads)` needs."""
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func: Kernel | None = None) -> Any:
        """How `vmap` computes it at once: `func(info, in_dims, *args)` gives (output, out_dims)."""

        def register(function: Kernel) -> None:
            self._vmap = function

        return _decorated(register, func)


_DEFINED: dict[str, CustomOpDef] = {}


def _decorated(register: Callable[[Kernel], Any], fn: Kernel | None) -> Any:
    """Register a function now, or return the decorator that does."""

    def decorator(function: Kernel) -> Kernel:
        register(function)
        return function

    return decorator if fn is None else decorator(fn)


def _operator(op: Any) -> CustomOpDef:
    """The operator by its name, its object, or its place in `torch.ops`."""
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else getattr(op, "overloadpacket", op)._qualified_op_name
    if name.removesuffix(".default") not in _DEFINED:
        raise RuntimeError(f"operator {name} does not exist: it was not registered in this process")
    return _DEFINED[name.removesuffix(".default")]


def custom_op(
    name: str, fn: Kernel | None = None, /, *, mutates_args: str | Iterable[str] = (), device_types: Any = None,
    schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Make a function an operator, `torch.ops.NAMESPACE.NAME`, with a gradient of its own if one is registered.

    >>> from tenfold.as_torch.stand_ins._ops import ops
    >>> @custom_op("shown::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> ops.shown.twice(tenfold.ones(1)), twice(tenfold.ones(1))
    (tensor([2.]), tensor([2.]))
    """

    def make(function: Kernel) -> CustomOpDef:
        infer_schema(function, mutates_args=mutates_args, op_name=name) if schema is None else None
        made = CustomOpDef(name, None if device_types else function, mutates_args)
        if device_types:
            made.register_kernel(device_types, function)
        return made

    return make if fn is None else make(fn)


def register_fake(op: Any, func: Kernel | None = None, /, *, lib: Any = None, **options: Any) -> Any:
    """The function of an operator for tensors without numbers."""
    return _decorated(_operator(op).register_fake, func)


impl_abstract = register_fake


def register_kernel(op: Any, device_types: Any, func: Kernel | None = None, /, *, lib: Any = None) -> Any:
    """Another function of an operator for some kinds of device."""
    return _operator(op).register_kernel(device_types, func)


def register_autograd(op: Any, backward: Kernel, /, *, setup_context: Kernel | None = None, lib: Any = None) -> None:
    """The gradient of an operator."""
    _operator(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Kernel | None = None, /, *, lib: Any = None) -> Any:
    """How `vmap` computes an operator at once: `func(info, in_dims, *args)` gives (output, out_dims).

    >>> @custom_op("shown::rowsum", mutates_args=())
    ... def rowsum(x: Tensor) -> Tensor:
    ...     return tenfold.from_numpy(x.numpy().sum(-1))
    >>> @register_vmap(rowsum)
    ... def many(info, in_dims, x):
    ...     return rowsum(x.movedim(in_dims[0], 0)), 0
    >>> tenfold.vmap(rowsum)(tenfold.ones(2, 3))
    tensor([3., 3.])
    """
    return _operator(op).register_vmap(func)


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare an operator, whose functions come by `impl`."""
    CustomOpDef(qualname)


def impl(qualname: str, types: Any, func: Kernel | None = None, *, lib: Any = None) -> Any:
    """The function of a declared operator for some kinds of device; "default" for all."""
    kinds = [types] if isinstance(types, str) else list(types)
    return _operator(qualname).register_kernel([None if kind == "default" else kind for kind in kinds], func)


class Library:
    """A namespace of operators that are declared by PyTorch's schemas."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported library kind: ", kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator by its schema, `name(Tensor x) -> Tensor`; gives the name."""
        name = schema.partition("(")[0].strip()
        CustomOpDef(f"{self.ns}::{name}")
        return name

    def impl(self, op_name: Any, fn: Kernel, dispatch_key: str = "", *, with_keyset: bool = False, **options: Any) -> None:
        """The function of an operator: for the kind of device that the key names, or for all of them."""
        key = dispatch_key or self.dispatch_key
        operator = _operator(f"{self.ns}::{op_name}" if isinstance(op_name, str) and "::" not in op_name else op_name)
        operator._implicit |= key == "CompositeImplicitAutograd" or key.startswith("Autograd")
        operator.register_kernel(_KEYS.get(key), fn)


def opcheck(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, test_utils: str | Sequence[str] = CHECKS,
    raise_exception: bool = True, atol: float | None = None, rtol: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Whether an operator does what it says: each check's name with "SUCCESS" or, without `raise_exception`, its error.

    The checks: it changes and returns no argument that its declaration does not name as changed (test_schema), it has a
    gradient where one is asked for (test_autograd_registration), its function for tensors without numbers tells shapes and
    dtypes right (test_faketensor), and gradients fit the arguments (test_aot_dispatch_dynamic). `atol` and `rtol` are for
    compiled programs, which are not here. Raises OpCheckError.

    >>> @custom_op("shown::thrice", mutates_args=())
    ... def thrice(x: Tensor) -> Tensor:
    ...     return x * 3
    >>> opcheck(thrice, (tenfold.ones(1),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    return check(_operator(op), args, kwargs or {}, test_utils, raise_exception)


globals().update(functions("register_torch_dispatch triton_op wrap_triton",
                           "programs are compiled by the package tenfold-compile, which is not installed"))  # fmt: skip
__all__ = ["CustomOpDef", "Library", "OpCheckError", "custom_op", "define", "impl", "impl_abstract", "infer_schema", "opcheck",
           "register_autograd", "register_fake", "register_kernel", "register_vmap"]  # fmt: skip
