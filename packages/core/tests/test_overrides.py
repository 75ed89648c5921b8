"""Tensor subclasses, foreign types and modes with `__torch_function__`."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import tenfold
from tenfold.dispatch.overrides import (
    TorchFunctionMode,
    disabled_torch_function,
    has_torch_function,
    is_tensor_like,
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
    with TorchFunctionMode(), pytest.raises(NotImplementedError, match="TorchFunctionMode defines no __torch_function__"):
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


class Watching(tenfold.Tensor):
    """Notes what it is asked, and does as Tensor does."""

    asked: ClassVar[list[Any]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.asked.append(func)
        return super().__torch_function__(func, types, args, kwargs)

    def tolist(self):
        return "its own"


def watched():
    Watching.asked.clear()
    return tenfold.ones(2, 3).as_subclass(Watching)


@pytest.mark.parametrize(
    ("use", "func", "expected"),
    [
        (lambda x: x.size(), tenfold.Tensor.size, (2, 3)),
        (lambda x: x.size(-1), tenfold.Tensor.size, 3),
        (len, tenfold.Tensor.__len__, 2),
        (lambda x: x.shape, tenfold.Tensor.shape.__get__, (2, 3)),
        (lambda x: x.dtype, tenfold.Tensor.dtype.__get__, tenfold.float32),
        (lambda x: x.requires_grad, tenfold.Tensor.requires_grad.__get__, False),
        (lambda x: x.grad, tenfold.Tensor.grad.__get__, None),
        (lambda x: x.type(), tenfold.Tensor.type, "torch.FloatTensor"),
        (lambda x: repr(x)[:8], tenfold.Tensor.__repr__, "Watching"),
    ],
)
def test_attributes_and_methods_that_are_no_operators_are_asked_for(use, func, expected):
    x = watched()
    assert use(x) == expected
    assert Watching.asked == [func]


def test_what_is_asked_has_the_name_by_which_it_was_called():
    x = watched()
    x.is_shared()
    x[0] = 1.0
    x.is_same_size(x)
    assert [f.__name__ for f in Watching.asked] == ["is_shared", "__setitem__", "is_same_size"]


def test_attributes_that_are_set_are_asked_for():
    pytest.importorskip("tenfold.autograd")
    x = watched()
    x.requires_grad = True
    assert Watching.asked == [tenfold.Tensor.requires_grad.__set__]


def test_results_are_of_the_class_but_gradients_are_not():
    pytest.importorskip("tenfold.autograd")
    x = watched().requires_grad_()
    assert type(x.T) is type(x.data) is type(x.float()) is Watching
    x.sum().backward()
    assert type(x.grad) is tenfold.Tensor


def test_what_a_class_defines_itself_stays_its_own():
    x = watched()
    assert x.tolist() == "its own"
    assert Watching.asked == []
    with tenfold.overrides.DisableTorchFunctionSubclass():
        assert x.shape == (2, 3)
    assert Watching.asked == []


def test_other_classes_know_nothing_of_it():
    class Plain(tenfold.Tensor):
        pass

    assert vars(tenfold.Tensor)["shape"] is Plain.shape
    assert Plain.size is tenfold.Tensor.size


def test_a_class_that_is_given_a_function_late_is_asked_for_module_load():
    class Own(tenfold.Tensor):
        pass

    asked = []

    def handler(cls, func, types, args=(), kwargs=None):
        asked.append(func)
        with tenfold.overrides.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    own, plain = tenfold.ones(2).as_subclass(Own), tenfold.zeros(2)
    assert type(own.module_load(plain)) is Own
    Own.__torch_function__ = classmethod(handler)
    own.module_load(plain)
    plain.module_load(own, assign=True)
    assert asked == [tenfold.Tensor.module_load] * 2
    plain.module_load(tenfold.ones(2))
    assert plain.tolist() == [1.0, 1.0]
    assert len(asked) == 2


@pytest.mark.parametrize("of", [lambda x: x > 1, lambda x: (x > 1, None), lambda x: (..., x > 1), lambda x: [2, 3]])
def test_an_index_of_the_same_class_reads_and_writes(of):
    class Marked(tenfold.Tensor):
        pass

    x = tenfold.arange(4.0).as_subclass(Marked)
    assert type(x[of(x)]) is Marked
    assert x[of(x)].flatten().tolist() == [2.0, 3.0]
    x[of(x)] = 7
    assert x.tolist() == [0.0, 1.0, 7.0, 7.0]


def test_what_the_module_lacks_is_no_attribute():
    """With tenfold-compat or without: questions such as hasattr get an answer, not a missing package."""
    import tenfold.overrides

    assert not hasattr(tenfold.overrides, "nothing_of_this_name")
    assert not hasattr(tenfold.overrides, "__path__")
