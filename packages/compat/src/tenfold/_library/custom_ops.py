"""An operator of a program's own: its functions for kinds of devices, its schema, its gradient, and how vmap computes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold._library.results import as_declared
from tenfold._library.schemas import FunctionSchema
from tenfold._ops import OpOverload, OpOverloadPacket, ops, overriding
from tenfold.dispatch.overrides import handle_torch_function
from tenfold.dispatch.runtime import STATE

Kernel = Callable[..., Any]


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors of an argument or a result: itself, or those in a list."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def flat(value: Any) -> list[Any]:
    """What lists within a list or tuple hold, one after the other.

    >>> flat((1, [2, 3]))
    [1, 2, 3]
    """
    return [inner for item in value for inner in (flat(item) if isinstance(item, (list, tuple)) else (item,))]


def nest(like: Any, items: Iterator[Any]) -> Any:
    """Items in the lists and tuples that `like` is made of.

    >>> nest((0, [0, 0]), iter("abc"))
    ('a', ['b', 'c'])
    """
    return type(like)([nest(item, items) for item in like]) if isinstance(like, (list, tuple)) else next(items)


class CustomOpDef:
    """An operator of a program's own: a function, perhaps one for each kind of device, and its gradient if one was given."""

    def __init__(
        self, name: str, fn: Kernel | None = None, mutates_args: Iterable[str] = (), schema: FunctionSchema | None = None
    ) -> None:
        self._namespace, found, self._name = name.partition("::")
        if not found:
            raise ValueError(f"custom_op(): expected name to be of the form 'namespace::name', got {name!r}")
        self._qualname, self._kernels, self._implicit = name, {"": fn} if fn else {}, False
        self._schema = schema
        changed = [a.name for a in schema.arguments if a.mutated] if schema else mutates_args
        self._mutates_args = frozenset(changed)
        self._strict = False  # what `custom_op` made: it returns new tensors, and has a function of its own for meta tensors
        self._switched_off: set[str] = set()
        self._backward: Kernel | None = None
        self._setup: Kernel | None = None
        self._vmap: Kernel | None = None
        self._narrow: dict[str, Any] = {}
        self.__name__, self.__doc__ = self._name, fn.__doc__ if fn else None
        self._place_in_ops()
        DEFINED[name] = self

    def _place_in_ops(self) -> None:
        """As `torch.ops.NAMESPACE.NAME`, beside other forms of that name if there are such."""
        name, _, form = self._name.partition(".")
        places = vars(getattr(ops, self._namespace))
        if name not in places:
            places[name] = OpOverloadPacket(self._namespace, name, self)
        places[name]._register(form or "default", self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (given := overriding(args, kwargs)) is not None:
            return handle_torch_function(self._overload, given, *args, **kwargs)
        if self._schema is not None:
            args, kwargs = self._schema.bind(args, kwargs)  # type: ignore[assignment]
        if self._narrow and (kind := next(tensors((*args, *kwargs.values())), None)) is not None:
            dtype = self._narrow.get(kind.device.type)
            if dtype is not None and tenfold.is_autocast_enabled(kind.device.type):
                return self._narrowed(dtype, kind.device.type, args, kwargs)
        recorded = tenfold.is_grad_enabled() and any(t.requires_grad for t in tensors((*args, *kwargs.values())))
        if not self._implicit and (recorded or STATE.transforms):
            return self._recorded(args, kwargs)
        return self._run(*args, **kwargs)

    @property
    def _overload(self) -> OpOverload:
        """Its place in `torch.ops`, which is what classes that override operators are told."""
        name, _, form = self._name.partition(".")
        packet: OpOverloadPacket = getattr(getattr(ops, self._namespace), name)
        return getattr(packet, form or "default")  # type: ignore[no-any-return]

    def _narrowed(self, dtype: Any, device: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call of an operator with a rule for autocast: floating point arguments in its dtype."""

        def cast(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(map(cast, value))
            return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value

        with tenfold.autocast(device, enabled=False):
            return self(*map(cast, args), **{name: cast(value) for name, value in kwargs.items()})

    def _kernel(self, device: str) -> Kernel:
        kernel = None if device in self._switched_off else self._kernels.get(device)
        if kernel is None and not (self._strict and device == "meta"):
            kernel = self._kernels.get("")
        if kernel is not None:
            return kernel
        if self._strict and device == "meta":
            raise RuntimeError(
                f"There was no fake impl registered for {self!r}, which tells the results' shapes without numbers. "
                f"Please use `{self._name}.register_fake` to add an fake impl."
            )
        raise NotImplementedError(
            f"Could not run '{self._qualname}' with arguments from the '{device.upper() or 'BackendSelect'}' backend: kernels "
            f"are registered for {sorted(filter(None, self._kernels))}"
        )

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        given = list(tensors((*args, *kwargs.values())))
        device = given[0].device.type if given else ""
        if self._strict and device == "meta" and "meta" not in self._kernels and self._schema and self._schema.returns_nothing():
            return None  # it only changes arguments, which have no numbers
        result = self._kernel(device)(*args, **kwargs)
        if self._schema is not None:
            result = as_declared(self._schema, result)
        if self._strict:
            self._refuse_aliases(given, result)
        if self._mutates_args:
            changed = [v for name, v in self._named(args, kwargs) if name in self._mutates_args]
            tenfold.autograd.graph.increment_version(list(tensors(changed)))
        return result

    def _refuse_aliases(self, given: list[Tensor], result: Any) -> None:
        known = {t.untyped_storage().data_ptr() for t in given if t.numel() and t.device.type == "cpu"}
        for r in tensors(result):
            if any(r is t for t in given) or (r.numel() and r.device.type == "cpu" and r.untyped_storage().data_ptr() in known):
                raise RuntimeError(
                    f"{self._qualname}: The output of this custom operator must not also be an input to it, and may not alias an "
                    "input or another output; return a clone of it, such as x.clone()"
                )
            if r.numel() and r.device.type == "cpu":
                known.add(r.untyped_storage().data_ptr())

    def _recorded(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """A call on the tape: one node, whatever the function does."""
        bound = self._bound(args, kwargs)
        nested, keywords = bound.args, bound.kwargs
        returned: list[Any] = []

        def forward(*inputs: Any) -> Any:
            result = self._run(*nest(nested, iter(inputs)), **keywords)
            returned[:] = [result]
            return tuple(flat(result)) if isinstance(result, (list, tuple)) else result

        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if self._setup is not None:
                extra = {"keyword_only_inputs": keywords} if keywords else {}
                whole = nest(returned[0], iter(output)) if isinstance(output, tuple) else output
                given = {"inputs": nest(nested, iter(inputs)), "output": whole, **extra}
                self._setup(ctx, *given.values()) if not extra else self._setup(ctx=ctx, **given)

        def backward(ctx: Any, *grads: Any) -> Any:
            if self._backward is None:
                form = "" if "." in self._name else ".default"
                raise RuntimeError(
                    f"Trying to backward through {self._namespace}.{self._name}{form} but no autograd formula was registered. "
                    "Please use register_autograd to add one."
                )
            result = returned[0]
            whole = nest(result, iter(grads)) if isinstance(result, tuple) else (nest(result, iter(grads)),)
            return self._flat_gradients(self._backward(ctx, *whole), nested)

        def one_by_one(info: Any, in_dims: Any, *given: Any) -> Any:
            return self._one_by_one(info.batch_size, nest(nested, iter(in_dims)), nest(nested, iter(given)), keywords)

        rules = {"forward": forward, "setup_context": setup_context, "backward": backward, "vmap": self._vmap or one_by_one}
        made = {name: staticmethod(rule) for name, rule in rules.items()}
        function: Any = type(f"GeneratedBackwardFor_{self._namespace}_{self._name}_default", (tenfold.autograd.Function,), made)
        found = function.apply(*flat(nested))
        return nest(returned[0], iter(found)) if returned and isinstance(found, tuple) else found

    def _flat_gradients(self, found: Any, nested: Sequence[Any]) -> Any:
        """What a gradient's function gave, an entry for each tensor; RuntimeError where it has not the arguments' form."""
        each = found if isinstance(found, tuple) else (found,)
        while len(each) > len(nested) and each[-1] is None:
            each = each[:-1]
        if self._schema is not None and len(each) < len(nested):  # those that calls may leave out need no entry
            left = list(zip(self._schema.arguments, nested, strict=False))[len(each) :]
            if all(a.has_default_value() and not list(tensors(value)) for a, value in left):
                each += (None,) * len(left)
        if len(each) == len(nested) and not any(isinstance(a, (list, tuple)) for a in nested):
            return each
        spread: list[Any] = []
        for grad, given in zip(each, nested, strict=False):
            if not isinstance(given, (list, tuple)):
                spread.append(grad)
            elif grad is None:
                spread += [None] * len(flat(given))
            else:
                spread += flat(grad)
        if len(each) != len(nested) or len(spread) != len(flat(nested)):
            raise RuntimeError(
                f"{self._qualname}: Expected the return from backward to be of the same structure as the inputs: one gradient, "
                f"or None, for each of {len(nested)} arguments, and a list for a list; got {len(each)} for them"
            )
        return tuple(spread)

    def _one_by_one(self, count: int, in_dims: Any, given: Sequence[Any], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """Under vmap without a rule: every example by itself."""

        def chosen(value: Any, dim: Any, i: int) -> Any:
            if isinstance(value, (list, tuple)) and isinstance(dim, (list, tuple)):
                return type(value)(chosen(v, d, i) for v, d in zip(value, dim, strict=True))
            return value if dim is None or not isinstance(value, Tensor) else value.select(dim, i)

        found = [self(*(chosen(v, d, i) for v, d in zip(given, in_dims, strict=True)), **keywords) for i in range(count)]
        if isinstance(found[0], (list, tuple)):
            columns = tuple(tenfold.stack(column) for column in zip(*found, strict=True))
            return columns, (0,) * len(columns)
        return (None, None) if found[0] is None else (tenfold.stack(found), 0)

    def _bound(self, args: Iterable[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """A call's arguments by the names of the function's parameters."""
        if self._schema is not None:
            kinds = {False: inspect.Parameter.POSITIONAL_OR_KEYWORD, True: inspect.Parameter.KEYWORD_ONLY}
            signature = inspect.Signature([inspect.Parameter(a.name, kinds[a.kwarg_only]) for a in self._schema.arguments])
            args, kwargs = self._schema.bind(list(args), kwargs)
            return signature.bind(*args, **kwargs)
        kernel = self._kernels.get("") or next(iter(self._kernels.values()))
        bound = inspect.signature(kernel).bind(*args, **kwargs)
        bound.apply_defaults()
        return bound

    def _named(self, args: Iterable[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        yield from self._bound(args, kwargs).arguments.items()

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: Kernel | None = None, /) -> Any:
        """Another function for some kinds of device."""
        kinds = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
        return decorated(lambda kernel: self._kernels.update({kind or "": kernel for kind in kinds}), fn)

    def register_fake(self, fn: Kernel, /) -> Kernel:
        """The function for tensors without numbers."""
        self._kernels["meta"] = fn
        return fn

    def register_autograd(self, backward: Kernel, /, *, setup_context: Kernel | None = None) -> None:
        """The gradient: `setup_context(ctx, inputs, output)` keeps what `backward(ctx, *grads)` needs.

        Raises: NotImplementedError for an operator that takes tensors by name alone.
        """
        if self._schema is not None and self._schema.by_name_alone:
            raise NotImplementedError(
                f"register_autograd with kwarg-only Tensor args: {self._schema.by_name_alone} of {self._schema}; declare them "
                "before the '*'"
            )
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func: Kernel | None = None) -> Any:
        """How `vmap` computes it at once: `func(info, in_dims, *args)` gives (output, out_dims)."""

        def register(function: Kernel) -> None:
            self._vmap = function

        return decorated(register, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Under autocast of a kind of device its floating point arguments are of this dtype."""
        if not isinstance(device_type, str):
            raise ValueError(f"register_autocast: device_type must be a str, got {type(device_type).__name__}")
        if device_type not in ("cpu", "cuda"):
            raise ValueError(f"Unknown device type: {device_type}; register_autocast knows cpu and cuda")
        self._narrow[device_type] = cast_inputs

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Whether the function that was registered for a kind of device serves it, or the one for all."""
        before = set(self._switched_off)
        (self._switched_off.discard if enabled else self._switched_off.add)(device_type)
        try:
            yield
        finally:
            self._switched_off = before


DEFINED: dict[str, CustomOpDef] = {}


def decorated(register: Callable[[Kernel], Any], fn: Kernel | None) -> Any:
    """Register a function now, or return the decorator that does."""

    def decorator(function: Kernel) -> Kernel:
        register(function)
        return function

    return decorator if fn is None else decorator(fn)


def operator(op: Any) -> CustomOpDef:
    """The operator by its name, its object, or its place in `torch.ops`."""
    if isinstance(op, CustomOpDef):
        return op
    name = op if isinstance(op, str) else op.name() if isinstance(op, OpOverload) else op._qualified_op_name
    if name.removesuffix(".default") not in DEFINED:
        raise RuntimeError(f"operator {name} does not exist: it was not registered in this process")
    return DEFINED[name.removesuffix(".default")]
