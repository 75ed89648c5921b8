"""Data pipes: streams and indexed data sets with methods that put another pipe behind them; what finds the pipes below one."""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import tenfold
from tenfold import Generator
from tenfold.data.datapipes.passes import in_passes
from tenfold.data.dataset import Dataset, IterableDataset

T_co = TypeVar("T_co", covariant=True)
Functions = dict[str, Callable[..., Any]]


class _Registered:
    """A kind of pipe whose functional forms are methods of every pipe of that kind."""

    functions: ClassVar[Functions]
    getstate_hook: ClassVar[Callable[..., Any] | None] = None
    reduce_ex_hook: ClassVar[Callable[..., Any] | None] = None

    def __getattr__(self, name: str) -> Any:
        if name in type(self).functions:
            return functools.partial(type(self).functions[name], self)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}; pipes have {sorted(type(self).functions)}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Let pipes of this kind have the function as a method."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: Any) -> None:
        """Let pipes of this kind have a method that puts a pipe of a class behind them.

        Raises: ValueError when the name is taken.
        """
        if function_name in cls.functions:
            raise ValueError(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[[dict[str, Any]], Any] | None) -> None:
        """Let a function say what of a pipe's attributes is pickled; None: all.

        Raises: RuntimeError when there is a function already.
        """
        cls._set_hook("getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[[Any], Any] | None) -> None:
        """Let a function say how a pipe is pickled, as `__reduce_ex__` does; None, or NotImplementedError from it: as usual.

        Raises: RuntimeError when there is a function already.
        """
        cls._set_hook("reduce_ex_hook", hook_fn)

    @classmethod
    def _set_hook(cls, name: str, hook: Callable[..., Any] | None) -> None:
        if hook is not None and getattr(cls, name) is not None:
            raise RuntimeError(f"Attempt to override existing {name}: set it to None first")
        setattr(cls, name, hook)

    def _state(self, state: dict[str, Any]) -> Any:
        """What is pickled of these attributes."""
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __getstate__(self) -> Any:
        return self._state(self.__dict__)

    def __reduce_ex__(self, protocol: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            with contextlib.suppress(NotImplementedError):
                return hook(self)
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return type(self).__name__


class IterDataPipe(_Registered, IterableDataset[T_co]):
    """A stream; a class of one's own defines `__iter__`, and `reset()` if a pass leaves something behind.

    >>> from tenfold.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(6)).filter(bool).map(float).batch(2))
    [[1.0, 2.0], [3.0, 4.0], [5.0]]
    """

    functions: ClassVar[Functions] = {}
    _has_passes = True
    _pass_number = _number_of_samples_yielded = 0

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__iter__" in cls.__dict__:
            cls.__iter__ = in_passes(cls.__iter__)  # type: ignore[method-assign]

    def reset(self) -> None:
        """Called before each pass."""

    def _length_of(self, source: Any) -> int:
        """The length of what this pipe reads; TypeError where that has none."""
        try:
            return len(source)
        except TypeError:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from None


class MapDataPipe(_Registered, Dataset[T_co]):
    """Samples with indices; a class of one's own defines `__getitem__` and `__len__`.

    >>> from tenfold.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper([1, 2, 3]).map(float).batch(2))
    [[1.0, 2.0], [3.0]]
    """

    functions: ClassVar[Functions] = {}

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


class DataChunk(list[Any]):
    """A batch of a pipe: a list that gives its items, at any depth of batches, by `raw_iterator`.

    >>> DataChunk([1, 2]).as_str()
    '[1, 2]'
    """

    def __init__(self, items: Any) -> None:
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The items between brackets."""
        return f"{indent}[{', '.join(str(item) for item in iter(self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The items."""
        yield from self.items


class functional_datapipe:  # noqa: N801 - PyTorch's name
    """Decorator: let pipes have a method that puts a pipe of the decorated class behind them.

    Raises: TypeError for a class that is no pipe; ValueError when the name is taken.
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        kind = next((kind for kind in (IterDataPipe, MapDataPipe) if isinstance(cls, type) and issubclass(cls, kind)), None)
        if kind is None:
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind.register_datapipe_as_function(self.name, cls)
        return cls


# The graph of pipes


def pipes_of(pipe: Any) -> list[Any]:
    """A pipe and all below it, each once, the last of the chain first."""
    found: dict[int, Any] = {}

    def visit(value: Any) -> None:
        if isinstance(value, (IterDataPipe, MapDataPipe)):
            if id(value) not in found:
                found[id(value)] = value
                for part in vars(value).values():
                    visit(part)
        elif isinstance(value, (list, tuple, set)):
            for part in value:
                visit(part)
        elif isinstance(value, dict):
            for part in value.values():
                visit(part)

    visit(pipe)
    return list(found.values())


def share_out(pipe: Any, num_of_instances: int, instance_id: int, sharding_group: int) -> None:
    """Let a pipe that shares out give one instance's share; one of a program's own may know no groups."""
    if len(inspect.signature(pipe.apply_sharding).parameters) < 3:
        pipe.apply_sharding(num_of_instances, instance_id)
    else:
        pipe.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)


def apply_sharding(pipe: Any, num_of_instances: int, instance_id: int, sharding_group: int) -> Any:
    """Let the `sharding_filter`s give one worker's share."""
    for each in pipes_of(pipe):
        if callable(getattr(each, "apply_sharding", None)):
            share_out(each, num_of_instances, instance_id, sharding_group)
    return pipe


def apply_shuffle_settings(pipe: Any, shuffle: bool | None = None) -> Any:
    """Switch the shuffling of pipes on or off; with none, True puts one behind and warns."""
    if shuffle is None:
        return pipe
    shufflers = [each for each in pipes_of(pipe) if callable(getattr(each, "set_shuffle", None))]
    if shuffle and not shufflers:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. Be aware that the "
            "default buffer size might not be sufficient for your task.",
            stacklevel=3,
        )
        pipe = pipe.shuffle()
        shufflers = [pipe]
    for each in shufflers:
        each.set_shuffle(shuffle)
    return pipe


def apply_random_seed(pipe: Any, rng: Generator) -> Any:
    """Give every pipe that draws a seed of its own, from one generator, which all workers share."""
    for each in pipes_of(pipe):
        if callable(getattr(each, "set_seed", None)):
            each.set_seed(new_seed(rng))
    return pipe


def new_seed(rng: Generator | None = None) -> int:
    """A seed drawn as PyTorch draws one for a pipe."""
    return int(tenfold.empty((), dtype=tenfold.int64).random_(generator=rng).item())
