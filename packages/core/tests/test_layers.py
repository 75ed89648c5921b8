"""Layers: the order of nesting, what a layer sees, threads, exceptions."""

from __future__ import annotations

import threading
from typing import ClassVar

import pytest

import tenfold
from tenfold.dispatch.runtime import RUNTIME, STATE, Layer, call_inside, suspended_layers
from tenfold.inspection import tracing


class Log(Layer):
    """Writes the calls it sees into a list that layers share."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def handle(self, operator, args, kwargs):
        self.log.append((self.name, operator.name))
        return operator(*args, **kwargs)


@pytest.fixture(autouse=True)
def _nothing_stays_entered():
    before = RUNTIME["ACTIVE"]
    yield
    assert STATE.layers == ()
    assert RUNTIME["ACTIVE"] == before


def test_the_innermost_layer_comes_first():
    log = []
    with Log("outer", log), Log("inner", log):
        result = tenfold.ones(2) * 3
    assert result.tolist() == [3.0, 3.0]
    calls = [entry for entry in log if entry[1] == "mul"]
    assert calls == [("inner", "mul"), ("outer", "mul")]


def test_a_layer_is_off_while_it_handles():
    class Twice(Layer):
        def handle(self, operator, args, kwargs):
            return operator(*args, **kwargs) * 2  # this mul is not handled again

    x = tenfold.ones(2)
    with Twice():
        assert (x + 1).tolist() == [4.0, 4.0]


def test_a_layer_may_answer_by_itself():
    class Answer(Layer):
        def handle(self, operator, args, kwargs):
            return operator.name, args[1:], kwargs

    x = tenfold.ones(2)
    with Answer():
        assert tenfold.add(x, 1) == ("add", (1,), {})
        assert tenfold.add(x, other=1, alpha=2) in (("add", (1,), {"alpha": 2}), ("add", (), {"other": 1, "alpha": 2}))
        assert x.sum(0, True) == ("sum", (0, True), {})
        assert x.sum() == ("sum", (), {})


def test_composites_are_seen_whole_or_with_their_bodies():
    class Inside(Log):
        def handle(self, operator, args, kwargs):
            self.log.append((self.name, operator.name))
            return call_inside(self, operator, args, kwargs)

    x = tenfold.ones(2)
    whole, parts = [], []
    with Log("whole", whole):
        tenfold.aminmax(x)
    with Inside("parts", parts):
        tenfold.aminmax(x)
    assert [name for _, name in whole] == ["aminmax"]
    assert [name for _, name in parts] == ["aminmax", "amin", "amax"]


def test_another_thread_does_not_see_the_layer():
    log, results = [], []
    x = tenfold.ones(2)

    def work():
        results.append((x + 1).tolist())
        with Log("thread", log):
            x * 2

    with Log("main", log):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        x - 1
    assert results == [[2.0, 2.0]]
    assert log == [("thread", "mul"), ("main", "sub")]


def test_exceptions_restore_the_layers():
    class Fails(Layer):
        def handle(self, operator, args, kwargs):
            raise LookupError(operator.name)

    log = []
    x = tenfold.ones(2)
    with Log("outer", log):
        with pytest.raises(LookupError, match="add"), Fails():
            x + 1
        assert (x + 1).tolist() == [2.0, 2.0]
    assert log == [("outer", "add")]
    assert (x + 1).tolist() == [2.0, 2.0]


def test_errors_of_operators_pass_through_layers():
    with Log("log", []), pytest.raises(RuntimeError, match="must match the size"):
        tenfold.ones(2) + tenfold.ones(3)


def test_layers_are_left_in_reverse_order():
    first, second = Log("first", []), Log("second", [])
    first.__enter__()
    second.__enter__()
    with pytest.raises(RuntimeError, match="Log: layers must be left in the reverse order of entering"):
        first.__exit__()
    second.__exit__()
    first.__exit__()


def test_a_layer_needs_a_handle_method():
    x = tenfold.ones(1)
    with Layer(), pytest.raises(TypeError, match=r"Layer is a Layer without a method handle\(operator, args, kwargs\)"):
        x + 1


def test_suspended_layers():
    log = []
    x = tenfold.ones(1)
    with Log("log", log):
        with suspended_layers():
            x + 1
        x * 1
    assert log == [("log", "mul")]


def test_in_place_and_out_forms_are_seen():
    log = []
    x, out = tenfold.ones(1), tenfold.empty(1)
    with Log("log", log):
        x.add_(1)
        tenfold.mul(x, 2, out=out)
    assert [name for _, name in log] == ["add_", "mul"]
    assert out.item() == 4.0


def test_layers_and_overriding_classes_see_writes_of_parts():
    x = tenfold.zeros(2, 3)
    log = []
    with Log("layer", log):
        x[0] = 1.0
        x[1, tenfold.tensor([0, 2])] = 2.0
    assert x.tolist() == [[1, 1, 1], [2, 0, 2]]
    assert {("layer", "copy_"), ("layer", "index_put_")} <= set(log)

    graph = tracing.trace(assigned, tenfold.zeros(3))
    assert graph(tenfold.ones(3)).tolist() == [1.0, 5.0, 1.0]

    class Seen(tenfold.Tensor):
        names: ClassVar[list[str]] = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    y = tenfold.zeros(3).as_subclass(Seen)
    y[1] = 4.0
    assert "__setitem__" in Seen.names
    assert y.tolist() == [0.0, 4.0, 0.0]


def assigned(x):
    y = x * 1
    y[1] = 5.0
    return y
