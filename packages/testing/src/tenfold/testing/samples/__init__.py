"""Samples: arguments that every operator is tried with, and calls that it must refuse.

    @samples(op.add, reference=np.add)
    def _(make):
        yield Sample(make(2, 1), make(3))

A generator gets a `Make` and uses it for every tensor, so that the same samples serve all dtypes and devices. Families
of like operators share generators. A package registers its modules of samples with the hook `tenfold_samples`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import tenfold
from tenfold import plugins
from tenfold.dispatch.operators import OPERATORS, Operator, as_operator, op
from tenfold.tensor.tensor import Tensor
from tenfold.testing.make import ANY, LAYOUTS, NONZERO, POSITIVE, PROBABILITY, UNIT, Domain, Make
from tenfold.testing.references import NO_REFERENCE, NO_SPECIAL, REFERENCES

__all__ = [
    "ANY", "LAYOUTS", "NONZERO", "POSITIVE", "PROBABILITY", "UNIT", "Domain", "ErrorSample", "Make", "Sample", "Samples",
    "error_samples", "error_samples_of", "find", "more_samples", "samples", "samples_of",
]  # fmt: skip

Generator = Callable[[Make], Iterable[Any]]


@dataclass(frozen=True, slots=True, init=False)
class Sample:
    """One call of an operator: `Sample(x, 1, keepdim=True, note="0-d")`."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    note: str

    def __init__(self, *args: Any, note: str = "", **kwargs: Any) -> None:
        for name, value in (("args", args), ("kwargs", kwargs), ("note", note)):
            object.__setattr__(self, name, value)

    def map(self, function: Callable[[Any], Any]) -> Sample:
        """The same call with every tensor replaced by what a function makes of it."""
        args = tuple(_map(a, function) for a in self.args)
        return Sample(*args, note=self.note, **{k: _map(v, function) for k, v in self.kwargs.items()})

    @property
    def tensors(self) -> list[Any]:
        """Every tensor among the arguments, in order."""
        found: list[Any] = []
        self.map(found.append)
        return found

    def __repr__(self) -> str:
        parts = [_shown(a) for a in self.args] + [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})" + (f" [{self.note}]" if self.note else "")


def _map(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (tuple, list)) and any(isinstance(v, (Tensor, tuple, list)) for v in value):
        return type(value)(_map(v, function) for v in value)
    return value


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        layout = "" if value.is_contiguous() else f", strides {tuple(value.stride())}"
        return f"{value.dtype.name}{list(value.shape)}{layout}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(_shown, value))})"
    return repr(value)


@dataclass(frozen=True, slots=True, init=False)
class ErrorSample:
    """A call that an operator must refuse: `ErrorSample(x, 7, error=IndexError, match="out of range")`."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    error: type[Exception]
    match: str  # a regular expression that the message must contain, beside the operator's name

    def __init__(self, *args: Any, error: type[Exception], match: str = "", **kwargs: Any) -> None:
        for name, value in (("args", args), ("kwargs", kwargs), ("error", error), ("match", match)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"{Sample(*self.args, **self.kwargs)!r} -> {self.error.__name__}"


@dataclass(slots=True)
class Samples:
    """What is registered for one operator. The reasons switch a check off, aloud: reports show and count them."""

    name: str
    generator: Generator
    reference: Any = None  # the operator on NumPy arrays in double precision, with its parameters
    dtypes: tuple[Any, ...] | None = None  # the only ones that samples are made for
    random: bool = False  # results are drawn: they are compared under one seed only
    data_dependent: str = ""  # why a result's shape is known only from the data: no meta device
    related: str = ""  # how arguments depend on one another, so that changes of one alone mean nothing
    no_gradient: str = ""  # why derivatives are not compared with differences
    no_value: str = ""  # why values are not compared at all
    no_second_gradient: str = ""
    no_special: str = ""  # why infinities, NaN and huge numbers mean nothing to it
    no_batching: str = ""  # why vmap refuses it
    no_forward: str = ""  # why it has no forward mode
    no_reference: str = ""  # why an elementwise operator, a reduction or a loss has nothing to compare values with
    constants: tuple[str, ...] = ()  # parameters that have no derivative by the operator's definition
    before: Callable[..., Any] | None = None  # arguments to those that derivatives are taken at: symmetric matrices
    stable: Callable[[Any], Any] | None = None  # what of the result has derivatives: eigenvectors without their phase
    mutates: bool = False  # the operator writes its first argument: it is tried on copies
    errors: list[Generator] = field(default_factory=list)


SAMPLES: dict[str, Samples] = {}
MORE_SAMPLES: dict[str, list[Generator]] = {}
ERROR_SAMPLES: dict[str, list[Generator]] = {}


def _name(target: Any) -> str:
    """An operator, or the name of one whose package need not be installed."""
    return target if isinstance(target, str) else as_operator(target).name


def samples(target: Any, **options: Any) -> Callable[[Generator], Generator]:
    """Decorator: the samples of an operator; the options are the fields of `Samples`."""
    name = _name(target)

    def register(generator: Generator) -> Generator:
        if name in SAMPLES:
            owners = f"{SAMPLES[name].generator.__module__} and {generator.__module__}"
            raise RuntimeError(f"operator {name} has two sets of samples: in {owners}")
        SAMPLES[name] = Samples(name, generator, **options)
        plugins.on_failure(lambda: _discard(name))
        return generator

    return register


def _discard(name: str) -> None:
    SAMPLES.pop(name, None)


def more_samples(target: Any) -> Callable[[Generator], Generator]:
    """Decorator: further samples of an operator, such as meet the condition of an accelerated kernel (`when=`)."""
    return _added(MORE_SAMPLES, target)


def error_samples(target: Any) -> Callable[[Generator], Generator]:
    """Decorator: calls that an operator must refuse; several generators may add theirs."""
    return _added(ERROR_SAMPLES, target)


def _added(registry: dict[str, list[Generator]], target: Any) -> Callable[[Generator], Generator]:
    entries = registry.setdefault(_name(target), [])

    def register(generator: Generator) -> Generator:
        entries.append(generator)
        plugins.on_failure(lambda: entries.remove(generator))
        return generator

    return register


def load() -> None:
    """Import every package's modules of samples, once."""
    if not _loaded:
        plugins.load_operators()
        for plugin, modules in plugins.hook_results("tenfold_samples"):
            for family in modules.values():
                for module in plugins.as_modules(family):
                    plugins.load_module(plugin, module)
        for plugin in plugins.problems():
            if plugin.name == "testing":
                raise RuntimeError(f"samples: plugin {plugin} failed to load: {plugin.error}") from plugin.error
        _loaded.append(True)


_loaded: list[bool] = []


def find(target: Any) -> Samples | None:
    """What is registered for an operator."""
    load()
    found = SAMPLES.get(_name(target))
    if found is not None and found.reference is None:
        found.reference = REFERENCES.get(found.name)
        found.no_reference = found.no_reference or NO_REFERENCE.get(found.name, "")
        found.no_special = found.no_special or NO_SPECIAL.get(found.name, "")
    return found


def samples_of(target: Any, device: Any = "cpu", dtype: Any = None) -> list[Sample]:
    """An operator's samples of one dtype (float32) on one device; the same values on every device.

    >>> from tenfold import op
    >>> from tenfold.testing.samples import samples_of
    >>> samples_of(op.neg)[0]
    (float32[]) [0-d]
    """
    found = find(target)
    if found is None:
        return []
    make = Make(device, dtype or tenfold.float32, zlib.crc32(found.name.encode()))
    return [s for generator in (found.generator, *MORE_SAMPLES.get(found.name, ())) for s in generator(make)]


def error_samples_of(target: Any, device: Any = "cpu") -> list[ErrorSample]:
    """An operator's error samples, in float32."""
    load()
    name = _name(target)
    return [e for generator in ERROR_SAMPLES.get(name, []) for e in generator(Make(device, tenfold.float32, 0))]


def operator_of(target: Any) -> Operator:
    """The operator meant by an `Operator`, by its public function, or by its name."""
    return getattr(op, target) if isinstance(target, str) else as_operator(target)


def operators(names: Iterable[Any] | None = None) -> list[Operator]:
    """The operators to be tested: all, or those named; an in-place form is tested with its operator."""
    load()
    chosen = list(OPERATORS.values()) if names is None else [operator_of(n) for n in names]
    return [operator for operator in chosen if operator.inplace_of is None]


def without_operator() -> list[str]:
    """Names that have samples while no installed package declares such an operator."""
    load()
    return sorted({*SAMPLES, *ERROR_SAMPLES} - OPERATORS.keys())
