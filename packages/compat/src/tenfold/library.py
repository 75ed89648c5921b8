"""The module `library` of `torch`: operators that programs register, each called as `torch.ops.NAMESPACE.NAME`."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold._library.checks import CHECKS, OpCheckError, check
from tenfold._library.custom_ops import DEFINED, CustomOpDef, Kernel, decorated, operator
from tenfold._library.infer_schema import infer_schema
from tenfold._library.schemas import FunctionSchema, parse
from tenfold._ops import ops
from tenfold.as_torch.stand_ins.absent import functions

_KEYS = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta"}  # PyTorch's names of devices' kernels


def custom_op(
    name: str, fn: Kernel | None = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None,
    schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Make a function an operator, `torch.ops.NAMESPACE.NAME`, with a gradient of its own if one is registered.

    Raises: ValueError for a `schema` that changes other arguments than `mutates_args`, NotImplementedError for tensors that are
    given by name alone.

    >>> import tenfold
    >>> from tenfold import Tensor
    >>> from tenfold._ops import ops
    >>> @custom_op("shown::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> ops.shown.twice(tenfold.ones(1)), twice(tenfold.ones(1))
    (tensor([2.]), tensor([2.]))
    """

    def make(function: Kernel) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args, op_name=name) if schema is None else f"{name}{schema}"
        declared = parse(text)
        _check_declaration(declared, mutates_args if schema is not None else None)
        made = CustomOpDef(name, None if device_types else function, mutates_args, declared)
        made._strict = True
        if device_types:
            made.register_kernel(device_types, function)
        return made

    return make if fn is None else make(fn)


def _check_declaration(declared: FunctionSchema, mutates_args: str | Iterable[str] | None) -> None:
    changed = {a.name for a in declared.arguments if a.mutated}
    if mutates_args is not None and (isinstance(mutates_args, str) or changed != set(mutates_args)):
        raise ValueError(
            f"custom_op(): mutates_args={mutates_args!r} and the schema {declared} differ: by the schema the op mutates "
            f"{changed or '{}'}"
        )
    if declared.by_name_alone:
        raise NotImplementedError(
            f"custom_op with kwarg-only Tensor args: {declared.by_name_alone} of {declared}; declare them before the '*'"
        )


def register_fake(op: Any, func: Kernel | None = None, /, *, lib: Any = None, **options: Any) -> Any:
    """The function of an operator for tensors without numbers."""
    return decorated(operator(op).register_fake, func)


impl_abstract = register_fake


def register_kernel(op: Any, device_types: Any, func: Kernel | None = None, /, *, lib: Any = None) -> Any:
    """Another function of an operator for some kinds of device."""
    return operator(op).register_kernel(device_types, func)


def register_autograd(op: Any, backward: Kernel, /, *, setup_context: Kernel | None = None, lib: Any = None) -> None:
    """The gradient of an operator."""
    operator(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Kernel | None = None, /, *, lib: Any = None) -> Any:
    """How `vmap` computes an operator at once: `func(info, in_dims, *args)` gives (output, out_dims).

    >>> import tenfold
    >>> from tenfold import Tensor
    >>> @custom_op("shown::rowsum", mutates_args=())
    ... def rowsum(x: Tensor) -> Tensor:
    ...     return tenfold.from_numpy(x.numpy().sum(-1))
    >>> @register_vmap(rowsum)
    ... def many(info, in_dims, x):
    ...     return rowsum(x.movedim(in_dims[0], 0)), 0
    >>> tenfold.vmap(rowsum)(tenfold.ones(2, 3))
    tensor([3., 3.])
    """
    return operator(op).register_vmap(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """Under autocast of a kind of device an operator's floating point arguments are of this dtype."""
    operator(op).register_autocast(device_type, cast_inputs)


def _declare(qualname: str, schema: str) -> None:
    known = DEFINED.get(qualname)
    if known is not None and known._schema is not None:
        raise RuntimeError(f"Tried to register an operator ({schema}) with the same name and overload name multiple times")
    made = CustomOpDef(qualname, schema=parse(schema))
    made._kernels.update(known._kernels if known else {})  # which may come before it is declared


def define(qualname: Any, schema: str, declaration: str = "", *, lib: Any = None, tags: Any = ()) -> Any:
    """Declare an operator, whose functions come by `impl`; of a `Library` a decorator of its function for all devices."""
    if isinstance(qualname, Library):
        library, name = qualname, qualname.define(schema + declaration)

        def attach(function: Any) -> Any:
            library.impl(name, function, "CompositeExplicitAutograd")
            return function

        return attach
    return _declare(qualname, qualname + schema)


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """The function of a declared operator for some kinds of device, "default" for all; also `impl(library, name, key)`."""
    if isinstance(qualname, Library):
        key = func or ""
        return decorated(lambda function: qualname.impl(types, function, key), None)
    kinds = [types] if isinstance(types, str) else list(types)
    if isinstance(qualname, str) and qualname not in DEFINED:
        CustomOpDef(qualname)
    found = operator(qualname)
    found._implicit |= any(map(_is_implicit, kinds))
    return found.register_kernel([None if _serves_all(kind) else _KEYS.get(kind, kind) for kind in kinds], func)


def _is_implicit(key: str) -> bool:
    """Whether functions under this key are differentiated through what they call."""
    return key == "CompositeImplicitAutograd" or key.startswith("Autograd")


def _serves_all(kind: str) -> bool:
    """Whether this is a key of PyTorch's, or "default", for functions that serve every kind of device."""
    return kind == "default" or kind.startswith(("Composite", "Autograd"))


class Library:
    """A namespace of operators that are declared by PyTorch's schemas."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._declared: list[str] = []
        weakref.finalize(self, _take_back, self._declared)  # operators live as long as their library

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator by its schema, `name(Tensor x) -> Tensor`; gives the name."""
        name = schema.partition("(")[0].strip()
        _declare(f"{self.ns}::{name}", f"{self.ns}::{schema.strip()}")
        self._declared.append(f"{self.ns}::{name}")
        return name.partition(".")[0]

    def impl(self, op_name: Any, fn: Kernel, dispatch_key: str = "", *, with_keyset: bool = False, **options: Any) -> None:
        """The function of an operator: for the kind of device that the key names, or for all of them."""
        key = dispatch_key or self.dispatch_key
        found = operator(f"{self.ns}::{op_name}" if isinstance(op_name, str) and "::" not in op_name else op_name)
        found._implicit |= _is_implicit(key)
        found.register_kernel(_KEYS.get(key), fn)

    def _destroy(self) -> None:
        """Take back what it declared."""
        _take_back(self._declared)


def _take_back(declared: list[str]) -> None:
    """Take the operators of a library out of `torch.ops`."""
    for qualname in declared:
        DEFINED.pop(qualname, None)
        namespace, _, name = qualname.partition("::")
        vars(getattr(ops, namespace)).pop(name.partition(".")[0], None)
    declared.clear()


@contextmanager
def _scoped_library(ns: str, kind: str, dispatch_key: str = "") -> Iterator[Library]:
    """A library whose operators are gone behind the block."""
    made = Library(ns, kind, dispatch_key)
    try:
        yield made
    finally:
        made._destroy()


def opcheck(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *, test_utils: str | Sequence[str] = CHECKS,
    raise_exception: bool = True, atol: float | None = None, rtol: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Whether an operator does what it says: each check's name with "SUCCESS" or, without `raise_exception`, its error.

    The checks: it changes and returns no argument that its declaration does not name as changed (test_schema), it has a
    gradient where one is asked for (test_autograd_registration), its function for tensors without numbers tells shapes and
    dtypes right (test_faketensor), and gradients fit the arguments (test_aot_dispatch_dynamic). `atol` and `rtol` are for
    compiled programs, which are not here. Raises OpCheckError.

    >>> import tenfold
    >>> from tenfold import Tensor
    >>> @custom_op("shown::thrice", mutates_args=())
    ... def thrice(x: Tensor) -> Tensor:
    ...     return x * 3
    >>> opcheck(thrice, (tenfold.ones(1),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    return check(operator(op), args, kwargs or {}, test_utils, raise_exception)


def triton_op(name: str, fn: Kernel | None = None, /, *, mutates_args: str | Iterable[str], schema: str | None = None) -> Any:
    """Make a function that runs kernels of Triton's an operator; it serves tensors without numbers, too.

    Compilers see what lies inside, which is its difference from `custom_op`'s.
    """

    def make(function: Kernel) -> CustomOpDef:
        made: CustomOpDef = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        made.register_fake(function)
        return made

    return make if fn is None else make(fn)


def wrap_triton(kernel: Any) -> Any:
    """A kernel of Triton's as it is, for compilers to see; RuntimeError for anything else."""
    if not (hasattr(kernel, "run") and hasattr(kernel, "__getitem__")):
        raise RuntimeError("wrap_triton only works on functions annotated with triton.jit or triton.autotune")
    return kernel


globals().update(functions("register_torch_dispatch",
                           "programs are compiled by the package tenfold-compile, which is not installed"))  # fmt: skip
__all__ = ["CustomOpDef", "Library", "OpCheckError", "custom_op", "define", "impl", "impl_abstract", "infer_schema", "opcheck",
           "register_autocast", "register_autograd", "register_fake", "register_kernel", "register_vmap",
           "triton_op", "wrap_triton"]  # fmt: skip
