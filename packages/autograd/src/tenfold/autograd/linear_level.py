"""The level that writes down what becomes of tangents, so that a derivative can be applied to others without the function.

The wrappers of this level are tangents inside forward mode, on a level of its own below that of the dual tensors. What is
computed from primals alone never gets here, so the list of calls is the linear part of the function and nothing else. The
values that the calls are made with meanwhile are zeros; they carry the shapes, and views of memory are views.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenfold.autograd.batching import find as find_batching
from tenfold.autograd.levels import Below, Transform, bare
from tenfold.autograd.scopes import reaches_open_leaf
from tenfold.dispatch.inplace import write_back
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import Operator
from tenfold.tensor.tensor import Tensor


class NotLinear(Exception):
    """A call that cannot be written down; the derivative is then computed anew each time."""


class Traced(Meta):
    """The array of a wrapper: `value` stands for the tangent; `place` is where a run keeps it, None for a constant."""

    __slots__ = ("place", "value")
    value: Tensor
    place: int | None


@dataclass(frozen=True)
class Place:
    """Where in the memory of a run an argument is found."""

    index: int


@dataclass
class Step:
    """One call: the arguments by name, with places for what the run computes, and the places of the results."""

    operator: Operator | None  # None: a write of "result" into "target"
    name: str
    arguments: dict[str, Any]
    places: tuple[int, ...]
    several: bool = False
    frees: tuple[int, ...] = ()


class LinearLevel(Transform):
    """Writes down the calls that its wrappers are in."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.count = 0
        self.kept: list[tuple[dict[str, Any], str, int | None, Tensor, int]] = []  # constants: where, and their versions

    def variable(self, value: Tensor) -> Tensor:
        """A wrapper at a place of its own."""
        self.count += 1
        return self._wrap(value, self.count - 1)

    def constant(self, tensor: Tensor) -> Tensor:
        return self._wrap(tensor, None)

    def _wrap(self, value: Tensor, place: int | None) -> Tensor:
        inner: Any = value._array
        key: Any = value._key
        array: Any = object.__new__(Traced)
        array.shape, array.strides, array.dtype, array.offset = inner.shape, inner.strides, inner.dtype, 0
        array.value, array.place = value, place
        if value._node is not None:
            self.recorded_below = self.within_recording
        return self.make(array, key.device)

    def mapped(self, tensor: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        array: Any = tensor._array
        made = function(array.value)
        if made is array.value:
            return tensor
        wrapper = self._wrap(made, array.place)
        wrapper._node = tensor._node
        return wrapper

    def handles(self, operator: Operator) -> bool:
        return find_batching(operator) is not None  # zeros like a tangent are one that can be written to

    def unwrap(self, value: Any) -> tuple[Any, Any]:
        """(value of a lower level, the same or the place where a run finds it); lists give lists of both."""
        if isinstance(value, Tensor):
            if not self.owns(value):
                return value, value
            array: Any = value._array
            return array.value, array.value if array.place is None else Place(array.place)
        if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
            pairs = [self.unwrap(v) for v in value]
            return [v for v, _ in pairs], [p for _, p in pairs]
        return value, value

    def process(self, operator: Operator, values: dict[str, Any]) -> Any:
        if self.closed:
            raise RuntimeError(f"{operator.name}: got a tangent of a linearize that has ended")
        pairs = {name: self.unwrap(value) for name, value in values.items()}
        plain = {name: value for name, (value, _) in pairs.items()}
        arguments = {name: place for name, (_, place) in pairs.items()}
        variable = any(_places(argument) for argument in arguments.values())
        if operator.random:
            if variable:
                raise NotLinear(f"{operator.name} draws by a tangent")
            with Below(self):
                result = operator.fn(**plain)
            return values["input"] if operator.name.endswith("_") else self._results(operator, values, result, None)
        result = operator.fn(**plain)
        if not variable:
            return self._results(operator, values, result, None)
        several = not isinstance(result, Tensor)
        if several and not isinstance(result, (tuple, list)):
            raise NotLinear(f"{operator.name} of a tangent returns {type(result).__name__}")
        places = tuple(range(self.count, self.count + (len(result) if several else 1)))
        self.count += len(places)
        self._add(Step(operator, operator.name, arguments, places, several))
        return self._results(operator, values, result, places)

    def _results(self, operator: Operator, values: dict[str, Any], result: Any, places: tuple[int, ...] | None) -> Any:
        if isinstance(result, Tensor):
            wrapped: Any = self._wrap(result, None if places is None else places[0])
        elif isinstance(result, (tuple, list)):
            indices = (None,) * len(result) if places is None else places
            wrapped = tuple([self._wrap(r, i) for r, i in zip(result, indices)])
        else:
            return result
        return self.arranged(operator, values[operator.kernel_params[0].name] if operator.view else None, result, wrapped)

    def write(self, name: str, target: Tensor, result: Tensor) -> None:
        value, source = self.unwrap(result)
        goal, place = self.unwrap(target)
        if not isinstance(place, Place):
            if isinstance(source, Place):
                raise NotLinear(f"{name} writes a tangent into a constant")
            write_back(name, goal, value)
            return
        write_back(name, goal, value)
        self._add(Step(None, name, {"target": place, "result": source}, ()))

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        for name, argument in step.arguments.items():
            if isinstance(argument, Tensor):
                self.kept.append((step.arguments, name, None, argument, argument._version))
            elif isinstance(argument, list):
                self.kept += [(step.arguments, name, i, a, a._version) for i, a in enumerate(argument) if isinstance(a, Tensor)]

    def before_write(self, tensor: Tensor) -> None:
        """Keep copies of the constants that lie in memory about to be written."""
        memory = _memory(tensor)
        for at, (arguments, name, i, constant, version) in enumerate(self.kept):
            if _memory(constant) is memory and constant._version == version:
                copy = constant.clone()
                if i is None:
                    arguments[name] = copy
                else:
                    arguments[name][i] = copy
                self.kept[at] = (arguments, name, i, copy, copy._version)

    def readable(self, tensor: Tensor) -> Tensor:
        raise NotLinear("the numbers of a tangent are asked for")

    def repr_of(self, tensor: Tensor) -> str:
        return f"LinearTensor(lvl={self.shown}, shape={list(tensor.shape)})"


def _memory(tensor: Any) -> Any:
    while tensor._key.level is not None:
        tensor = tensor._array.value
    return tensor._key.backend.memory(tensor._array)[0]


def _places(argument: Any) -> list[int]:
    """The places that an argument is computed from."""
    if isinstance(argument, Place):
        return [argument.index]
    return [a.index for a in argument if isinstance(a, Place)] if isinstance(argument, list) else []


class Program:
    """The calls that a level wrote down, from `inputs` places to `outputs` (a place, or a constant tangent)."""

    def __init__(self, level: LinearLevel, inputs: int, outputs: list[Any]) -> None:
        self.count, self.inputs, self.outputs = level.count, inputs, outputs
        self.writes = any(step.operator is None for step in level.steps)
        self.steps = level.steps if self.writes else _needed(level.steps, outputs)
        used = {id(step.arguments) for step in self.steps}
        self.kept = [(constant, version) for arguments, _, _, constant, version in level.kept if id(arguments) in used]
        self._free()

    def _free(self) -> None:
        """Say after which step nobody asks for a place again."""
        live = {o.index for o in self.outputs if isinstance(o, Place)}
        for step in reversed(self.steps):
            wanted = {i for argument in step.arguments.values() for i in _places(argument)} | set(step.places)
            step.frees = tuple(wanted - live)
            live |= wanted

    @property
    def changed(self) -> bool:
        """Whether a constant was written since it was noted."""
        return any(constant._version != version for constant, version in self.kept)

    def run(self, tangents: list[Tensor]) -> list[Tensor]:
        """The derivatives along these tangents."""
        memory: list[Any] = [None] * self.count
        memory[: self.inputs] = [t.clone() for t in tangents] if self.writes else tangents
        for step in self.steps:
            arguments = {name: _found(argument, memory) for name, argument in step.arguments.items()}
            if step.operator is None:
                write_back(step.name, arguments["target"], arguments["result"])
            elif step.several:
                for i, part in zip(step.places, step.operator.fn(**arguments)):
                    memory[i] = part
            else:
                memory[step.places[0]] = step.operator.fn(**arguments)
            for i in step.frees:
                memory[i] = None
        return [_outside(_found(o, memory)) for o in self.outputs]


def _outside(tensor: Tensor) -> Tensor:
    """A result outside the graph of what the function itself differentiated."""
    return tensor if tensor._node is None or reaches_open_leaf([tensor._node]) else bare(tensor)


def _needed(steps: list[Step], outputs: list[Any]) -> list[Step]:
    """The steps that outputs depend on."""
    live = {o.index for o in outputs if isinstance(o, Place)}
    found = []
    for step in reversed(steps):
        if not live.isdisjoint(step.places):
            found.append(step)
            live |= {i for argument in step.arguments.values() for i in _places(argument)}
    return found[::-1]


def _found(argument: Any, memory: list[Any]) -> Any:
    if isinstance(argument, Place):
        return memory[argument.index]
    return [_found(a, memory) for a in argument] if isinstance(argument, list) else argument
