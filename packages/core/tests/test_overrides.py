"""Tensor subclasses, foreign types and modes with `__torch_function__`."""

from __future__ import annotations

from typing import ClassVar

import pytest

import tenfold
from tenfold.dispatch.overrides import (
    TorchFunctionMode,
    disabled_torch_function,
    has_torch_function,
    is_tensor_like,
    resolve_name,
)


class Meters(tenfold.Tensor):
    """A subclass without behaviour of its own."""


class Logged(tenfold.Tensor):
    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.op.name)
        return super().__torch_function__(func, types, args, kwargs)


class Quiet(tenfold.Tensor):
    __torch_function__ = disabled_torch_function


class Diagonal:
    """A foreign type: a diagonal matrix that takes part in tenfold.add and tenfold.mm."""

    def __init__(self, n, value):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is tenfold.mm:
            a, b = args
            return a * b.value if isinstance(b, cls) else b * a.value
        return NotImplemented


def subclass(cls, data=(1.0, 2.0)):
    return tenfold.tensor(data).as_subclass(cls)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: tenfold.exp(x),
        lambda x: x.sum(),
        lambda x: x.view(2, 1),
        lambda x: x[0],
        lambda x: x.clone(),
        lambda x: x.detach(),
        lambda x: x.to(tenfold.float64),
        lambda x: x + tenfold.ones(2),
        lambda x: tenfold.ones(2) + x,
        lambda x: x.add_(1),
    ],
)
def test_results_keep_the_subclass(call):
    x = subclass(Meters)
    result = call(x)
    assert type(result) is Meters
    plain = call(tenfold.tensor([1.0, 2.0]))
    assert result.as_subclass(tenfold.Tensor).tolist() == plain.tolist()


def test_tuples_keep_the_subclass():
    assert [type(part) for part in subclass(Meters).unbind(0)] == [Meters, Meters]


def test_an_override_sees_every_operator():
    Logged.calls.clear()
    x = subclass(Logged)
    result = (x + 1).exp()
    assert Logged.calls == ["add", "exp"]
    assert type(result) is Logged


def test_a_disabled_override_gives_plain_tensors():
    result = subclass(Quiet) + 1
    assert type(result) is tenfold.Tensor
    assert result.tolist() == [2.0, 3.0]


def test_the_most_derived_class_is_asked_first():
    asked = []

    class Base(tenfold.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(cls.__name__)
            return NotImplemented if cls is Derived else "base"

    class Derived(Base):
        pass

    base, derived = subclass(Base), subclass(Derived)
    assert base + derived == "base"
    assert asked == ["Derived", "Base"]


def test_unrelated_subclasses_do_not_mix():
    class Feet(tenfold.Tensor):
        pass

    with pytest.raises(TypeError, match=r"no implementation found for 'tenfold.add' on types that implement __torch_function__"):
        subclass(Meters) + subclass(Feet)


def test_foreign_types_take_part():
    x = tenfold.ones(2, 2)
    assert tenfold.mm(x, Diagonal(2, 3.0)).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    with pytest.raises(TypeError, match=r"no implementation found for 'tenfold.add'.*Diagonal"):
        tenfold.add(x, Diagonal(2, 3.0))


def test_questions_about_types():
    assert has_torch_function([tenfold.ones(1), Diagonal(1, 1.0)])
    assert has_torch_function([subclass(Meters)])
    assert not has_torch_function([tenfold.ones(1), subclass(Quiet), 3])
    assert is_tensor_like(Diagonal(1, 1.0))
    assert is_tensor_like(tenfold.ones(1))
    assert not is_tensor_like([1.0])
    assert resolve_name(tenfold.mm) == "tenfold.mm"
    assert resolve_name(len) is None


class Mode(TorchFunctionMode):
    def __init__(self, name, log):
        self.name, self.log = name, log

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append((self.name, func.op.name, {t.__name__ for t in types}))
        return func(*args, **(kwargs or {}))


def test_modes_nest():
    log = []
    x = tenfold.ones(2)
    with Mode("outer", log), Mode("inner", log):
        assert (x + 1).tolist() == [2.0, 2.0]
    assert log == [("inner", "add", set()), ("outer", "add", set())]


def test_modes_come_before_subclasses():
    log = []
    Logged.calls.clear()
    with Mode("mode", log):
        result = subclass(Logged) * 2
    assert log[-1] == ("mode", "mul", {"Logged"})
    assert Logged.calls[-1] == "mul"
    assert type(result) is Logged


def test_a_mode_may_replace_results():
    class Zero(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 0

    x = tenfold.ones(2)
    with Zero():
        assert x + 1 == 0
    assert (x + 1).tolist() == [2.0, 2.0]


def test_a_mode_without_the_method():
    x = tenfold.ones(1)
    with TorchFunctionMode(), pytest.raises(TypeError, match="TorchFunctionMode defines no __torch_function__"):
        x + 1


def test_another_library_that_asks_a_tensor_gets_no_endless_answer():
    class Foreign:
        """Stands for a function of another library that asks its arguments' classes, as PyTorch's do."""

        def __call__(self, x):
            answer = type(x).__torch_function__(self, (type(x),), (x,), {})
            if answer is NotImplemented:
                raise TypeError("no implementation found")
            return answer

    with pytest.raises(TypeError, match="no implementation found"):
        Foreign()(tenfold.ones(2))
