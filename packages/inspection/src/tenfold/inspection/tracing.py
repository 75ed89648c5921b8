"""Recording a function's operator calls as a graph that can be printed, inspected and run again.

A trace holds the calls that happened, for the shapes and Python values of the examples: Python's own branches, loops and
numbers read with `.item()` are fixed in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.dispatch.runtime import Layer
from tenfold.tensor.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Ref:
    """The result number `index` of a graph; `item` picks one of several results of a call."""

    index: int
    item: int | None = None

    def __repr__(self) -> str:
        return f"%{self.index}" if self.item is None else f"%{self.index}[{self.item}]"


@dataclass(slots=True)
class Call:
    """One operator call: arguments are values or `Ref`s to earlier results."""

    operator: Operator
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shape: Any  # of the result, for reading

    def __repr__(self) -> str:
        given = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.kwargs.items()]
        return f"{self.operator.name}({', '.join(given)}) -> {self.shape}"


@dataclass(slots=True)
class Graph:
    """A recorded function: inputs, captured tensors and calls, numbered in this order; call it to run it again."""

    n_inputs: int
    constants: list[Tensor] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    output: Any = None

    def __call__(self, *inputs: Any) -> Any:
        if len(inputs) != self.n_inputs:
            raise TypeError(f"this graph takes {self.n_inputs} inputs, got {len(inputs)}")
        values: list[Any] = [*inputs, *self.constants]

        def fetch(x: Any) -> Any:
            value = values[x.index]
            return value if x.item is None else value[x.item]

        for call in self.calls:
            args = map_refs(fetch, call.args)
            values.append(call.operator.fn(*args, **map_refs(fetch, call.kwargs)))
        return map_refs(fetch, self.output)

    def __repr__(self) -> str:
        lines = [f"%{i} = input" for i in range(self.n_inputs)]
        lines += [f"%{self.n_inputs + i} = constant {list(c.shape)}" for i, c in enumerate(self.constants)]
        first = len(lines)
        lines += [f"%{first + i} = {call!r}" for i, call in enumerate(self.calls)]
        return "\n".join([*lines, f"return {self.output!r}"])


def map_refs(function: Callable[[Ref], Any], value: Any) -> Any:
    """Replace every `Ref` inside nested tuples, lists and dictionaries."""
    if isinstance(value, Ref):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[map_refs(function, v) for v in value])
    if isinstance(value, (tuple, list)):
        return type(value)([map_refs(function, v) for v in value])
    if isinstance(value, slice):
        return slice(*[map_refs(function, v) for v in (value.start, value.stop, value.step)])
    if isinstance(value, dict):
        return {k: map_refs(function, v) for k, v in value.items()}
    return value


class _Recorder(Layer):
    """Sees the outermost operator calls while a function runs."""

    def __init__(self, inputs: tuple[Any, ...]) -> None:
        self.known: dict[int, Ref] = {id(t): Ref(i) for i, t in enumerate(inputs)}
        self.alive: list[Any] = list(inputs)  # so that no identity is used twice
        self.constants: list[Tensor] = []
        self.calls: list[tuple[Operator, Any, Any, Any]] = []

    def handle(self, operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = self._to_refs(args), self._to_refs(kwargs)
        result = operator.fn(*args, **kwargs)
        index = -len(self.calls) - 1  # numbered for good once the number of constants is known
        self.calls.append((operator, *given, result))
        self.alive.append(result)
        for item, t in enumerate(result) if isinstance(result, (tuple, list)) else ((None, result),):
            if isinstance(t, Tensor):
                self.known[id(t)] = Ref(index, item)
        return result

    def _to_refs(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            ref = self.known.get(id(value))
            if ref is None:
                self.constants.append(value)
                ref = self.known[id(value)] = Ref(-(10**9) - len(self.constants))
            return ref
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self._to_refs(v) for v in value])
        if isinstance(value, (tuple, list)):
            return [self._to_refs(v) for v in value] if isinstance(value, list) else tuple(self._to_refs(v) for v in value)
        if isinstance(value, slice):
            return slice(*[self._to_refs(v) for v in (value.start, value.stop, value.step)])
        if isinstance(value, dict):
            return {k: self._to_refs(v) for k, v in value.items()}
        return value

    def graph(self, n_inputs: int, output: Any) -> Graph:
        output = self._to_refs(output)
        first_call = n_inputs + len(self.constants)

        def number(ref: Ref) -> Ref:
            if ref.index >= 0:
                return ref
            if ref.index < -(10**9):
                return Ref(n_inputs - ref.index - 10**9 - 1)
            return Ref(first_call - ref.index - 1, ref.item)

        calls = [
            Call(operator, map_refs(number, args), map_refs(number, kwargs), _shape_of(result))
            for operator, args, kwargs, result in self.calls
        ]
        return Graph(n_inputs, self.constants, calls, map_refs(number, output))


def _shape_of(result: Any) -> Any:
    if isinstance(result, Tensor):
        return f"{result.dtype.name}{list(result.shape)}"
    return [_shape_of(r) for r in result] if isinstance(result, (tuple, list)) else type(result).__name__


def trace(function: Callable[..., Any], *examples: Tensor) -> Graph:
    """Run `function` on example tensors and return the graph of the operator calls it made.

    >>> import tenfold
    >>> from tenfold.inspection.tracing import trace
    >>> graph = trace(lambda x: (x * 2 + 1).exp(), tenfold.zeros(2))
    >>> graph
    %0 = input
    %1 = mul(%0, 2) -> float32[2]
    %2 = add(%1, 1) -> float32[2]
    %3 = exp(%2) -> float32[2]
    return %3
    >>> graph(tenfold.tensor([0.0]))
    tensor([2.7183])
    """
    for x in examples:
        if not isinstance(x, Tensor):
            raise TypeError(f"trace: examples must be Tensors, got {type(x).__name__}")
    recorder = _Recorder(examples)
    with recorder:
        output = function(*examples)
    return recorder.graph(len(examples), output)
