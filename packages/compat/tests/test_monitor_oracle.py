"""Events and statistics, compared with PyTorch's monitor."""

from __future__ import annotations

import gc
import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from tenfold import monitor as ours

torch = pytest.importorskip("torch")
from torch import monitor as theirs  # noqa: E402 - there it is

NAMES = ("SUM", "COUNT", "MEAN", "MAX", "MIN")


def _seen(library: Any, program: Any) -> Any:
    events: list[Any] = []
    handle = library.register_event_handler(lambda e: events.append((e.name, e.data, type(e.timestamp))))
    try:
        result = program(library)
        gc.collect()
    finally:
        library.unregister_event_handler(handle)
    return result, events


def _by_name(found: Any) -> dict[str, float]:
    return {kind.name: value for kind, value in found.items()}


def _counted(m: Any) -> Any:
    stat = m.Stat("a", [getattr(m.Aggregation, n) for n in NAMES], timedelta(days=10_000), 3)
    found = [_by_name(stat.get())]
    for value in (1, 2.5, -1, 7, 8, 9, 10):
        stat.add(value)
        found.append((stat.count, _by_name(stat.get())))
    return [stat.name, *found]


def _at_the_end(m: Any) -> None:
    stat = m.Stat("b", (m.Aggregation.SUM, m.Aggregation.SUM), timedelta(days=10_000))
    stat.add(True)
    stat.add(2)
    del stat
    m.Stat("of nothing", [m.Aggregation.SUM], timedelta(days=10_000))


def _over(m: Any) -> Any:
    stat = m.Stat("c", [m.Aggregation.MAX], timedelta(milliseconds=200))
    stat.add(4)
    time.sleep(0.3)
    stat.add(5)
    return stat.count, _by_name(stat.get())


def _logged(m: Any) -> Any:
    event = m.Event("n", datetime(2020, 1, 2), {"a": 1, "b": 2.0, "c": "s"})
    m.log_event(event)
    event.name = "m"
    m.log_event(event)
    return event.name, event.timestamp, event.data


@pytest.mark.parametrize("program", [_counted, _at_the_end, _over, _logged])
def test_statistics_and_events(program: Any) -> None:
    assert _seen(ours, program) == _seen(theirs, program)


def test_refusals_and_numbers() -> None:
    now = datetime(2020, 1, 2)
    for library in (ours, theirs):
        kinds = library.Aggregation
        assert [(k.name, int(k.value)) for k in (kinds.VALUE, kinds.MEAN, kinds.MIN)] == [("VALUE", 0), ("MEAN", 2), ("MIN", 6)]
        assert (repr(kinds.SUM), str(kinds.SUM), int(kinds.SUM)) == ("<Aggregation.SUM: 4>", "Aggregation.SUM", 4)
        for arguments in ((3, now, {}), ("n", 3, {}), ("n", now, {"a": [1]})):
            with pytest.raises(TypeError):
                library.Event(*arguments)
        with pytest.raises(TypeError):
            library.log_event(3)
        with pytest.raises(TypeError):
            library.Stat("x", [kinds.SUM], timedelta(hours=1)).add("a")
    with pytest.raises(ValueError, match="taken off once"):
        ours.unregister_event_handler(ours.EventHandlerHandle(print))
    with pytest.raises(ValueError, match="a millisecond or more"):
        ours.Stat("x", [], timedelta(0))


def test_the_last_value_which_pytorch_leaves_out() -> None:
    stat = ours.Stat("a", [ours.Aggregation.VALUE], timedelta(hours=1), 2)
    stat.add(1)
    stat.add(5)
    assert stat.get() == {ours.Aggregation.VALUE: 5.0}


def test_statistics_are_written_as_scalars() -> None:
    for library in (ours, theirs):
        written: list[Any] = []
        writer = type("Writer", (), {"add_scalar": lambda self, name, value, walltime, to=written: to.append((name, value))})()
        handle = library.register_event_handler(library.TensorboardEventHandler(writer))
        stat = library.Stat("a", [library.Aggregation.SUM], timedelta(hours=1), 2)
        stat.add(1)
        stat.add(2)
        library.log_event(library.Event("another", datetime(2020, 1, 2), {"x": 1}))
        library.unregister_event_handler(handle)
        assert written == [("a.sum", 3.0)]
