"""Who is asked first, and for what: modes, foreign classes, subscripts; each program gives on PyTorch what it gives here."""

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def asking(t: Any, answer: Any, base: type = object) -> Any:
    """A class that answers whatever it is asked."""

    class Asked(base):  # type: ignore[misc]
        asked: list[Any] = []  # noqa: RUF012 - one for each class made here

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            cls.asked.append(func)
            return answer

    return Asked


def own(t: Any) -> Any:
    """A function of a user's that asks."""

    def function(a: Any) -> Any:
        if t.overrides.has_torch_function((a,)):
            return t.overrides.handle_torch_function(function, (a,), a)
        return a

    return function


def mode(t: Any, answer: Any) -> Any:
    class Mode(t.overrides.TorchFunctionMode):  # type: ignore[misc]
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.calls += 1
            return answer if answer != "run" else func(*args, **(kwargs or {}))

    return Mode()


def read(t: Any) -> Any:
    x, foreign, derived = t.tensor([5]), asking(t, -1)(), asking(t, -2, t.Tensor)()
    return x[foreign], x[derived], x[5, derived], x.tolist()


def write(t: Any) -> Any:
    x, foreign, derived = t.tensor([5]), asking(t, -1)(), asking(t, -2, t.Tensor)()
    x[foreign] = x[5, foreign] = x[derived] = x[5, derived] = 1
    x[0] = foreign
    seen = [f is t.Tensor.__setitem__ for f in (*foreign.asked, *derived.asked)]
    return seen, x.tolist()


def own_function_in_a_mode(t: Any) -> Any:
    x = t.ones(1)
    with mode(t, -40):
        return own(t)(x), t.neg(x)


def nested_modes(t: Any) -> Any:
    outer, inner = mode(t, "run"), mode(t, "run")
    with outer, inner:
        result = own(t)(t.ones(1))
    return result.tolist(), outer.calls, inner.calls


def a_mode_that_leaves_it_to_others(t: Any) -> Any:
    class Derived(t.Tensor):  # type: ignore[misc]
        pass

    class Leaves(t.overrides.TorchFunctionMode):  # type: ignore[misc]
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            Leaves.calls += 1
            return NotImplemented if types else func(*args, **(kwargs or {}))

    x, asked = t.ones(1).as_subclass(Derived), asking(t, 7)()
    with Leaves():
        results = type(t.neg(x)).__name__, type(own(t)(x)).__name__, t.add(t.ones(1), asked), own(t)(asked)
    return results, Leaves.calls


def a_mode_that_nobody_follows(t: Any) -> Any:
    with mode(t, NotImplemented):
        return t.neg(t.ones(1))


def a_foreign_class_after_a_tensor(t: Any) -> Any:
    silent, foreign = asking(t, NotImplemented, t.Tensor)(), asking(t, -1)()
    return t.div(silent, foreign), t.div(foreign, silent), t.lerp(silent, silent, foreign)


def constructors(t: Any) -> Any:
    with mode(t, -1) as m:
        made = (
            t.sparse_coo_tensor(1, 1, 1),
            t.sparse_csr_tensor(1, 1, 1),
            t.sparse_compressed_tensor(1, 1, 1),
            t.sparse_bsc_tensor(1, 1, 1),
        )
        return made, m.calls


def gradients(t: Any) -> Any:
    foreign = asking(t, -1)()
    found = [t.autograd.grad(foreign, foreign), foreign.asked[0] is t.autograd.grad]
    x = t.ones(2, requires_grad=True)
    with mode(t, -3):
        found.append(t.autograd.grad(x, x))
    derived = t.ones(2).as_subclass(type("Derived", (t.Tensor,), {})).requires_grad_()
    return [*found, type(t.autograd.grad((derived * 2).sum(), derived)[0]).__name__]


def handing_on(t: Any) -> Any:
    """A foreign class that hands every attribute on to the tensor it holds is foreign all the same."""

    class Held(asking(t, -1)):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            return getattr(t.ones(1), name)

    return t.overrides.has_torch_function((Held(),)), own(t)(Held())


def mode_of_a_class(t: Any) -> Any:
    class Mode(t.overrides.TorchFunctionMode):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return -1

    with pytest.raises(RuntimeError, match="classmethod is not supported, please make it a plain method"), Mode():
        t.ones(2)
    return t.ones(2).tolist()


PROGRAMS = (
    read, write, own_function_in_a_mode, nested_modes, a_mode_that_leaves_it_to_others, a_mode_that_nobody_follows,
    a_foreign_class_after_a_tensor, constructors, gradients, handing_on, mode_of_a_class,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_they_are_asked_as_by_pytorch(program: Any) -> None:
    def outcome(t: Any) -> Any:
        try:
            return program(t)
        except Exception as error:  # noqa: BLE001 - which one is the question
            return type(error)

    assert outcome(tenfold) == outcome(torch)
