"""Operators: what each means, declared once.

`@primitive(family)` declares an operator with kernels per device; `@composite(family)` one with a Python body in other
operators. Both return the public function, whose code is a call path made for its signature (callpath.py) the first
time it is called; its `.op` is the `Operator`, also found as `tenfold.op.NAME`.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES

if TYPE_CHECKING:  # a protocol costs time to make, and only type checkers read this one
    from typing import Protocol, TypeVar

    Result = TypeVar("Result", covariant=True)
    Function = TypeVar("Function", bound=Callable[..., Any])

    class PublicFunction(Protocol[Result]):
        """An operator's function: its parameters are checked by the call path, its result is as declared."""

        op: Operator
        source: str
        __name__: str

        def rule(self, function: Function, /) -> Function: ...
        def lower(self, **neutral: Any) -> Callable[[Function], Function]: ...
        def overload(self, function: Function, /) -> Function: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Result: ...


Number = int | float | complex
OPERATORS: dict[str, Operator] = {}
# Further public names: the same function as the operator's own.
ALIASES: dict[str, Any] = {}

# What a parameter's annotation says about how a call treats it.
ROLES = {
    "Tensor": "tensor",
    "Tensor | Number": "number",
    "Tensor | None": "optional",
    "Sequence[Tensor]": "list",
    "Sequence[Tensor | None]": "list",
    "Ints": "ints",
}
TENSOR_ROLES = ("tensor", "number", "optional", "list")


class Param(NamedTuple):
    """One parameter of an operator: how it is passed and what it holds."""

    name: str
    role: str  # "tensor", "number" (a tensor or a Python number), "optional", "list", "ints" (also as *args), "args", "value"
    keyword_only: bool
    default: Any


def annotation_text(annotation: Any) -> str:
    """An annotation's text without module names: `Tensor` for `tenfold.Tensor`, whether it comes as text or as an object."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return text if "." not in text else re.sub(r"\b[A-Za-z_]\w*\.(?=\w)", "", text)


class Operator:
    """The identity of an operator: signature, meaning, shape rule, body; kernels and gradients refer to it."""

    def __init__(self, declared: Any, family: str, options: dict[str, Any]) -> None:
        self.name: str = options.pop("name", None) or declared.__name__
        self.declared = declared
        self.family = family
        self.doc: str = declared.__doc__ or ""
        self.body: Any = None
        self.promote: str | None = options.pop("promote", None)
        self.promoted: tuple[str, ...] | None = options.pop("promoted", None)
        self.view: bool = options.pop("view", False)
        self.out: bool = options.pop("out", False)
        self.moves: bool = options.pop("moves", False)  # kernels return (array, device)
        self.mixed: bool = options.pop("mixed", False)  # arguments may be on several devices: the body sees to it
        self.random: bool = options.pop("random", False)
        self.pointwise: bool = options.pop("pointwise", family in ("pointwise", "activation"))
        self.inplace_of: Operator | None = options.pop("inplace_of", None)
        self.shape_rule: Any = options.pop("rule", None)
        self.nondifferentiable: str | None = options.pop("nondifferentiable", None)
        if options:
            raise TypeError(f"operator {self.name}: unknown option(s) {', '.join(options)}")
        self.neutral: dict[str, Any] = {}
        self.lower_body: Any = None
        self.lower_inplace: Any = None  # the same for the in-place form, where it can do without a copy
        self.overload_body: Any = None
        self._params: tuple[Param, ...] | None = None
        self.fn: Any = None

    # Declaring more about the operator

    def rule(self, function: Function) -> Function:
        """Decorator: the shape and dtype rule, `Meta` arrays in and out; raises PyTorch's errors for bad input."""
        self.shape_rule = function
        return function

    def lower(self, **neutral: Any) -> Callable[[Function], Function]:
        """Decorator: rewrites a call in which one of these parameters differs from its neutral value.

        Kernels and gradients never see these parameters: `add(alpha=2)` becomes `add(input, mul(other, 2))`.
        """

        def register(function: Function) -> Function:
            for operator in (self, OPERATORS.get(self.name + "_")):
                if operator is not None and operator.declared is self.declared:
                    operator.neutral, operator.lower_body = neutral, function
            return function

        return register

    def overload(self, function: Function) -> Function:
        """Decorator: another form of call, asked before arguments are checked; returns NotImplemented for the usual form."""
        self.overload_body = function
        return function

    # Reading it

    @property
    def params(self) -> tuple[Param, ...]:
        if self._params is None:
            self._params = tuple(self._read_params())
        return self._params

    def _read_params(self) -> Iterator[Param]:
        for p in inspect.signature(self.declared).parameters.values():
            role = "args" if p.kind is p.VAR_POSITIONAL else ROLES.get(annotation_text(p.annotation), "value")
            yield Param(p.name, role, p.kind is p.KEYWORD_ONLY, p.default)

    @property
    def outputs(self) -> int:
        """The number of results; 0 when it varies from call to call."""
        text = annotation_text(self.declared.__annotations__.get("return", "Tensor"))
        if not text.startswith("tuple["):
            return 1
        return 0 if "..." in text else text.count("Tensor")

    @property
    def kernel_params(self) -> tuple[Param, ...]:
        """The parameters that kernels, shape rules and gradients receive, in order."""
        return tuple(p for p in self.params if p.name not in self.neutral and p.name != "out")

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Every parameter's value by name; TypeError as Python's own for a wrong call."""
        binder = RUNTIME.get("bind_" + self.name)
        if binder is None:
            RUNTIME["specialise"](self)
            binder = RUNTIME["bind_" + self.name]
        return binder(*args, **kwargs)  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.name}{self.signature}>"

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.declared)

    @property
    def kind(self) -> str:
        return "primitive" if self.body is None else "composite"


def _first_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a declared function does until its call path is made."""
    operator = OPERATORS[name]
    RUNTIME["specialise"](operator)
    return operator.fn(*args, **kwargs)


RUNTIME["first_call"] = _first_call
_STUB = compile("def stub(*args, **kwargs):\n    return first_call('?', args, kwargs)", "<tenfold>", "exec").co_consts[0]


def reset_code(operator: Operator) -> None:
    """Let the next call make the operator's call path anew (something was registered for it)."""
    fn = operator.fn
    constants = tuple(operator.name if c == "?" else c for c in _STUB.co_consts)
    fn.__code__ = _STUB.replace(co_consts=constants, co_name=operator.name)
    fn.__defaults__ = fn.__kwdefaults__ = None
    RUNTIME.pop("bind_" + operator.name, None)


def _declare(declared: Any, family: str, options: dict[str, Any], body: Any = None) -> Any:
    method, inplace = options.pop("method", None), options.pop("inplace", False)
    aliases = options.pop("aliases", ())
    operator = Operator(declared, family, options)
    operator.body = body
    if operator.name in OPERATORS:
        other = OPERATORS[operator.name].declared
        raise RuntimeError(f"operator {operator.name!r} is declared twice: in {other.__module__} and in {declared.__module__}")
    OPERATORS[operator.name] = operator
    fn: Any = types.FunctionType(_STUB, RUNTIME, operator.name)
    operator.fn = fn
    reset_code(operator)
    fn.__doc__, fn.__module__, fn.__qualname__ = declared.__doc__, declared.__module__, operator.name
    fn.__wrapped__ = declared  # inspect.signature shows the declared one
    fn.op, fn.rule, fn.lower = operator, operator.rule, operator.lower
    fn.overload = operator.overload
    if method:
        _install_method(operator.name if method is True else method, fn)
    if inplace:
        _declare_inplace(operator, method is not None or inplace == "method")
    for alias in aliases:
        _alias(alias, operator, method is not None, bool(inplace))
    return fn


def _alias(name: str, operator: Operator, method: bool, inplace: bool) -> None:
    """Make the operator's function (and its in-place form's) known under another name too."""
    names = {name: operator.fn, name + "_": OPERATORS[operator.name + "_"].fn} if inplace else {name: operator.fn}
    ALIASES.update(names)
    for alias, fn in names.items():
        if method:
            _install_method(alias, fn)


def _install_method(name: str, fn: Any) -> None:
    setattr(RUNTIME["Tensor"], name, fn)


def _declare_inplace(base: Operator, method: bool) -> None:
    """`name_`: the same operator writing its result into its first argument."""
    name = base.name + "_"
    doc = f"In-place version of `{base.name}`."
    operator = Operator(base.declared, base.family, {"name": name, "inplace_of": base, "promote": base.promote})
    operator.doc = doc
    operator.neutral, operator.lower_body = base.neutral, base.lower_body
    operator.mixed = base.mixed
    OPERATORS[name] = operator
    fn: Any = types.FunctionType(_STUB, RUNTIME, name)
    operator.fn = fn
    reset_code(operator)
    fn.__doc__, fn.__module__, fn.__qualname__ = doc, base.declared.__module__, name
    fn.op = operator
    if method:
        _install_method(name, fn)


def primitive(family: str, **options: Any) -> Callable[[Callable[..., Result]], PublicFunction[Result]]:
    """Declare an operator that has a kernel per device and a shape rule (`@fn.rule`).

    Options: `method` (also a Tensor method; a string names it), `aliases` (further names), `inplace` (also `name_`;
    "method": as a method though `name` is none), `out` (accepts `out=`),
    `promote` ("common": PyTorch's promotion among the tensor and number parameters; "float": also integers to the
    default float type; None: the kernel gets the dtypes as they come), `promoted` (only these parameters), `view` (the
    result shares the first argument's memory), `rule`, `random`, `nondifferentiable` (the reason), `name`.
    """
    options.setdefault("method", True)
    return lambda declared: _declare(declared, family, options)


def composite(family: str, **options: Any) -> Callable[[Callable[..., Result]], PublicFunction[Result]]:
    """Declare an operator by its Python body in other operators; kernels attached to it are accelerations."""
    options.setdefault("method", True)
    return lambda declared: _declare(declared, family, options, body=declared)


def as_operator(target: Any) -> Operator:
    """The operator meant by an `Operator` or its public function."""
    found = target if isinstance(target, Operator) else getattr(target, "op", None)
    if not isinstance(found, Operator):
        raise TypeError(f"expected an operator such as tenfold.op.add, got {target!r}")
    return found


def find(name: str) -> Operator | None:
    """The operator of this name, or None."""
    return OPERATORS.get(name)


class OperatorNamespace(types.ModuleType):
    """`tenfold.op`: every operator by name."""

    def __getattr__(self, name: str) -> Operator:
        found = OPERATORS.get(name)
        if found is None and not name.startswith("__"):
            SERVICES.load_operators()
            found = OPERATORS.get(name)
        if found is None:
            raise AttributeError(f"there is no operator {name!r}; `python -m tenfold op` lists all")
        return found

    def __dir__(self) -> list[str]:
        return sorted(OPERATORS)


op = OperatorNamespace("tenfold.op", "Every operator by name, e.g. `tenfold.op.mm`.")
