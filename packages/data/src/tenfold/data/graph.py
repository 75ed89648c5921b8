"""The graph of data pipes, `torch.utils.data.graph`: which pipe reads which."""

from __future__ import annotations

from typing import Any

from tenfold.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse_dps"]

DataPipeGraph = dict[int, tuple[Any, Any]]


def traverse_dps(datapipe: Any) -> DataPipeGraph:
    """A pipe with the graphs of those that it reads: `{id: (pipe, {id of one: (that pipe, ...)})}`.

    A pipe that is read along several ways stands in each of them; one that leads back to itself is not followed.

    >>> from tenfold.data.datapipes.iter import IterableWrapper
    >>> source = IterableWrapper(range(3))
    >>> graph = traverse_dps(source.batch(2))
    >>> [[pipe for pipe, _ in below.values()] == [source] for _, below in graph.values()]
    [True]
    """
    return _below(datapipe, frozenset())


def _below(pipe: Any, above: frozenset[int]) -> DataPipeGraph:
    if id(pipe) in above:
        return {}
    above = above | {id(pipe)}
    parts: DataPipeGraph = {}
    for part in _read_by(pipe):
        parts.update(_below(part, above))
    return {id(pipe): (pipe, parts)}


def _read_by(pipe: Any) -> list[Any]:
    """The pipes among a pipe's attributes, or inside of what these hold."""
    found: dict[int, Any] = {}
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, (IterDataPipe, MapDataPipe)):
            found[id(value)] = value
        elif isinstance(value, dict):
            for part in (*value.keys(), *value.values()):
                visit(part)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for part in value:
                visit(part)
        elif getattr(value, "__self__", None) is not None and callable(value):  # a method, whose pipe comes with it
            visit(value.__self__)

    for value in vars(pipe).values():
        visit(value)
    found.pop(id(pipe), None)
    return list(found.values())
