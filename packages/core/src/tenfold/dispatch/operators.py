"""Operators: what each means, declared once.

`@primitive(family)` declares an operator with kernels per device; `@composite(family)` one with a Python body in other
operators. Both return the public function, whose code is a call path made for its signature (callpath.py) the first
time it is called; its `.op` is the `Operator`, also found as `tenfold.op.NAME`.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections import UserString
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tenfold.dispatch.accepted import Accepted
from tenfold.dispatch.calls import Calls
from tenfold.dispatch.late_methods import LATE, LateMethod, Table, load_late
from tenfold.dispatch.runtime import RUNTIME
from tenfold.dispatch.services import SERVICES

if TYPE_CHECKING:  # a protocol costs time to make, and only type checkers read this one
    from typing import Protocol, TypeVar

    Result = TypeVar("Result", covariant=True)
    Function = TypeVar("Function", bound=Callable[..., Any])

    class PublicFunction(Protocol[Result]):
        """An operator's function: its parameters are checked by the call path, its result is as declared."""

        op: Operator
        source: UserString
        __name__: str

        def rule(self, function: Function, /) -> Function: ...
        def lower(self, **neutral: Any) -> Callable[[Function], Function]: ...
        def overload(self, function: Function, /) -> Function: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Result: ...


from tenfold.dispatch.calls import STUB, Source, first_call, stub_code

Number = int | float | complex
Data = Any  # what tensors are made of: numbers, nested lists, arrays; NumPy's numbers among them keep their dtype


OPERATORS: dict[str, Operator] = Table()
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
TENSOR_ROLES, WHOLE = ("tensor", "number", "optional", "list"), ("int", "bool", "float", "complex")


class Param(NamedTuple):
    """One parameter of an operator: how it is passed and what it holds."""

    name: str
    role: str  # "tensor", "number" (a tensor or a Python number), "optional", "list", "ints" (also as *args), "args", "value"
    keyword_only: bool
    default: Any
    holes: bool = False  # whether a list may have None among its tensors
    is_data: bool = False  # whether NumPy's numbers reach the operator as what they are, not as Python's
    whole: str = ""  # of WHOLE where it holds that, perhaps with " | None", "dims" where also several ints


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
        self.exact_numbers: Any = options.pop("exact_numbers", ())
        self._accepts: Any = options.pop("accepts", None)
        self.view: bool | str = options.pop("view", False)
        self.out: bool | str = options.pop("out", False)
        self.moves: bool = options.pop("moves", False)  # kernels return (array, device)
        self.returns_argument: bool = options.pop("returns_argument", False)
        self.mixed: bool = options.pop("mixed", False)  # arguments may be on several devices: the body sees to it
        self.random: bool = options.pop("random", False)
        self.pointwise: bool = options.pop("pointwise", family in ("pointwise", "activation", "units"))
        self.inplace_of: Operator | None = options.pop("inplace_of", None)
        self.inplace_form: Operator | None = None
        self.shape_rule: Any = options.pop("rule", None)
        self.nondifferentiable: str | None = options.pop("nondifferentiable", None)
        self.no_derivative: str | None = options.pop("no_derivative", None)
        self.ends_graph: str | None = options.pop("ends_graph", None)
        # Deprecated orders of arguments, a text of parameter names each, and further names of parameters: {theirs: ours}.
        self.old: tuple[list[str], ...] = tuple(order.split() for order in options.pop("old", ()))
        self.spellings: dict[str, str] = options.pop("spellings", {})
        if options:
            raise TypeError(f"operator {self.name}: unknown option(s) {', '.join(options)}")
        self.neutral: dict[str, Any] = {}
        self.lower_body: Any = None
        self.in_place: Any = None  # what the in-place form runs where it can do without a copy: no gradient needs the old value
        self.overload_body: Any = None
        self.numbers_fit = False  # whether numbers that the promoted integer dtype does not hold are refused, not wrapped around
        self.refuses_narrowing = False  # whether the in-place form writes into tensors of the result's dtype alone
        self._params: tuple[Param, ...] | None = None
        self._kernel_params: tuple[Param, ...] | None = None
        self.fn: Any = None
        self.calls = Calls(self)

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
            for operator in self.forms:
                operator.neutral, operator.lower_body, operator._kernel_params = neutral, function, None
            return function

        return register

    def overload(self, function: Function) -> Function:
        """Decorator: another form of call, asked before arguments are checked; returns NotImplemented for the usual form."""
        for operator in (self, OPERATORS.get(self.name + "_")):
            if operator is not None and operator.declared is self.declared:
                operator.overload_body = function
        return function

    # Reading it

    @property
    def params(self) -> tuple[Param, ...]:
        if self._params is None:
            self._params = tuple(self._read_params())
        return self._params

    def _read_params(self) -> Iterator[Param]:
        params = inspect.signature(self.declared).parameters
        # What takes another tensor in a dimension's place, or a bool, sees to it itself. PyTorch has some bools in Python alone.
        dims = ["shifts", "dims" * ("shifts" in params), "split_sizes", "dim" * params.keys().isdisjoint(("other", "unbiased"))]
        dims += ["size", "stride"] * ("storage_offset" in params)
        for p in params.values():
            text = annotation_text(p.annotation)
            role = "args" if p.kind is p.VAR_POSITIONAL else ROLES.get(text, "value")
            exact = text.removesuffix(" | None") in WHOLE and p.name not in ("inplace", "return_indices")
            whole = "dims" if text == "Any" and p.name in dims else text * exact
            yield Param(p.name, role, p.kind is p.KEYWORD_ONLY, p.default, "| None]" in text, text == "Data", whole)

    @property
    def forms(self) -> tuple[Operator, ...]:
        """The operator, and its in-place form if it has one."""
        return (self,) if self.inplace_form is None else (self, self.inplace_form)

    @cached_property
    def accepts(self) -> dict[str, Accepted]:
        """What each tensor parameter accepts that does not accept all dtypes; of promoted ones, after promotion."""
        if self.inplace_of is not None:
            return self.inplace_of.accepts
        declared = self._accepts
        if not isinstance(declared, dict):
            names = self.promoted if self.promote and self.promoted else [p.name for p in self.params if p.role in TENSOR_ROLES]
            declared = dict.fromkeys(names, declared) if declared else {}
        return {name: Accepted(*(d if type(d) is tuple else (d,))) for name, d in declared.items()}

    @cached_property
    def outputs(self) -> int:
        """The number of results; 0 when it varies from call to call."""
        text = annotation_text(self.declared.__annotations__.get("return", "Tensor"))
        if not text.startswith("tuple["):
            return 1
        return 0 if "..." in text else text.count("Tensor")

    @property
    def kernel_params(self) -> tuple[Param, ...]:
        """The parameters that kernels, shape rules and gradients receive, in order."""
        if self._kernel_params is None:
            self._kernel_params = tuple(p for p in self.params if p.name not in self.neutral and p.name != "out")
        return self._kernel_params

    def takes_only(self, name: str, neutral: Any) -> bool:
        """Whether a parameter's neutral value is that object alone; an equal alpha, True or 1.0, can be one to refuse."""
        return neutral is None or isinstance(neutral, bool) or (name == "alpha" and self.family == "pointwise")

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Every parameter's value by name; TypeError as Python's own for a wrong call."""
        if self.calls.binder is None:
            SERVICES.specialise(self)
        return self.calls.binder(*args, **kwargs)  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.name}{self.signature}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.declared)

    @property
    def kind(self) -> str:
        return "primitive" if self.body is None else "composite"


def _named(name: str) -> Operator:
    """The operator that was pickled."""
    return getattr(op, name)  # type: ignore[no-any-return]


def _first_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    return first_call(lambda: SERVICES.specialise(OPERATORS[name]), args, kwargs)


RUNTIME["first_call"] = _first_call


def reset_code(operator: Operator) -> None:
    """Let the next call make the operator's call path anew (something was registered for it)."""
    fn = operator.fn
    fn.__code__ = stub_code("first_call", operator.name)
    fn.__defaults__ = fn.__kwdefaults__ = operator.calls.binder = None


def _function(operator: Operator, doc: str) -> Any:
    """The operator's public function, which makes its code when it is first called."""
    fn: Any = types.FunctionType(STUB, RUNTIME, operator.name)
    operator.fn = fn
    reset_code(operator)
    declared = operator.declared
    fn.__doc__, fn.__qualname__, fn.op, fn.source = doc, operator.name, operator, Source(operator)
    if declared.__qualname__ == operator.name:
        fn.__module__ = declared.__module__  # where its name is; else this module, which has all
    return fn


def in_float32(body: Any) -> Any:
    """The body, given half precision tensors as float32; its result is rounded once."""

    @functools.wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        tensors = [a for a in args if hasattr(a, "_array")]
        if not tensors or not tensors[0].dtype.is_half or any(t.dtype is not tensors[0].dtype for t in tensors):
            return body(*args, **kwargs)
        result = body(*[a.float() if hasattr(a, "_array") else a for a in args], **kwargs)
        return result.to(tensors[0].dtype)

    return run


def _declare(declared: Any, family: str, options: dict[str, Any], body: Any = None) -> Any:
    method, inplace = options.pop("method", None), options.pop("inplace", False)
    aliases = options.pop("aliases", ())
    rounded_once = options.pop("rounded_once", family in ("activation", "units"))
    operator = Operator(declared, family, options)
    operator.body = in_float32(body) if body is not None and rounded_once else body
    if LATE.get(operator.name) != declared.__module__ and find(operator.name) is not None:
        other = OPERATORS[operator.name].declared
        raise RuntimeError(f"operator {operator.name!r} is declared twice: in {other.__module__} and in {declared.__module__}")
    OPERATORS[operator.name] = operator
    fn = _function(operator, declared.__doc__)
    fn.__wrapped__ = declared  # inspect.signature shows the declared one
    fn.rule, fn.lower, fn.overload = operator.rule, operator.lower, operator.overload
    if method:
        _install_method(operator.name if method is True else method, fn)
    if inplace:
        _declare_inplace(operator, method is not None or inplace == "method")
    for alias in aliases:
        _alias(alias, operator, method is not None)
    return fn


def _alias(name: str, operator: Operator, method: bool) -> None:
    """Make the operator's function (and its in-place form's) known under another name too."""
    names = {name + "_" * i: form.fn for i, form in enumerate(operator.forms)}
    ALIASES.update(names)
    for alias, fn in names.items():
        if method:
            _install_method(alias, fn)


def _install_method(name: str, fn: Any) -> None:
    late = fn.op.name in LATE
    if not late or type(vars(RUNTIME["Tensor"]).get(name)) in (LateMethod, type(None)):  # else a program's own is there
        setattr(RUNTIME["Tensor"], name, fn)


def _declare_inplace(base: Operator, method: bool) -> None:
    """`name_`: the same operator writing its result into its first argument."""
    name = base.name + "_"
    doc = f"In-place version of `{base.name}`."
    operator = Operator(base.declared, base.family, {"name": name, "inplace_of": base, "promote": base.promote})
    operator.doc = doc
    operator.neutral, operator.lower_body = base.neutral, base.lower_body
    operator.mixed = base.mixed
    OPERATORS[name] = base.inplace_form = operator
    fn = _function(operator, doc)
    if method:
        _install_method(name, fn)


def primitive(family: str, **options: Any) -> Callable[[Callable[..., Result]], PublicFunction[Result]]:
    """Declare an operator that has a kernel per device and a shape rule (`@fn.rule`).

    Options: `method` (also a Tensor method; a string names it), `aliases` (further names), `inplace` (also `name_`;
    "method": as a method though `name` is none), `out` (accepts `out=`;
    "same": of the result's dtype alone, "bool": of bool alone, "converted": of any that the result converts to,
    "filled": of any shape with as many elements),
    `promote` ("common": PyTorch's promotion among the tensor and number parameters; "float": also integers to the
    default float type; None: the kernel gets the dtypes as they come), `promoted` (only these parameters), `exact_numbers`
    (parameters whose number half precision need not hold: then it is computed in float32; True: kernels take it, None: an
    overload sees fractions), `accepts` (the dtypes that a kernel may get, "integer floating", see accepted.py, or those of each
    parameter by name; the others are refused before any kernel runs, on every device), `view` (the result shares the first
    argument's memory; "repeating": it may show an element more than once), `returns_argument`
    (whether the result may be the first argument itself), `rule`, `random`,
    `nondifferentiable` (the reason; its results have no part in the graph), `no_derivative` (the reason; its results have, and a
    backward pass that comes to them is refused), `ends_graph` (which
    results have no part in the graph: "always", though the memory is the argument's; "integers", those of an integer
    dtype; "reinterpreted", those of another dtype than the first argument's), `name`, `old` and `spellings` (further
    forms of call: spellings.py).
    """
    options.setdefault("method", True)
    return lambda declared: _declare(declared, family, options)


def composite(family: str, **options: Any) -> Callable[[Callable[..., Result]], PublicFunction[Result]]:
    """Declare an operator by its Python body in other operators; kernels attached to it are accelerations.

    `rounded_once` (activations and units by default): the body computes half precision in float32.
    """
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
    return OPERATORS.get(name) or (OPERATORS.get(name) if load_late(name) else None)


class OperatorNamespace(types.ModuleType):
    """`tenfold.op`: every operator by name."""

    def __getattr__(self, name: str) -> Operator:
        found = find(name)
        if found is None and not name.startswith("__"):
            SERVICES.load_operators()
            found = OPERATORS.get(name)
        if found is None:
            raise AttributeError(f"there is no operator {name!r}; `python -m tenfold op` lists all")
        return found

    def __dir__(self) -> list[str]:
        return sorted({*OPERATORS, *LATE})


op = OperatorNamespace("tenfold.op", "Every operator by name, e.g. `tenfold.op.mm`.")


def __getattr__(name: str) -> Any:
    """The function of the operator, or Python's operator, of this name: where pickle finds those that no module names."""
    method = getattr(RUNTIME["Tensor"], name, None) if name.startswith("__") and "Tensor" in RUNTIME else None
    if getattr(method, "__globals__", None) is RUNTIME:
        return method
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(op, name).fn
