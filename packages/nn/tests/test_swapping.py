"""Modules whose tensors change places with converted or loaded ones: `__future__`'s switches, `utils.swap_tensors`."""

from __future__ import annotations

import weakref

import pytest

import tenfold
from tenfold import __future__ as future, nn
from tenfold.utils import swap_tensors


@pytest.fixture
def swapping():
    future.set_swap_module_params_on_conversion(True)
    yield
    future.set_swap_module_params_on_conversion(False)


@pytest.fixture
def overwriting():
    future.set_overwrite_module_params_on_conversion(True)
    yield
    future.set_overwrite_module_params_on_conversion(False)


def with_gradient():
    module = nn.Linear(2, 1)
    module(tenfold.ones(1, 2)).sum().backward()
    return module


def test_conversion_keeps_the_objects_and_renews_their_contents(swapping):
    module = with_gradient()
    weight, grad, memory = module.weight, module.weight.grad, module.weight.data_ptr()
    module.double()
    assert module.weight is weight
    assert weight.grad is grad
    assert (weight.dtype, grad.dtype) == (tenfold.float64, tenfold.float64)
    assert isinstance(weight, nn.Parameter)
    assert weight.data_ptr() != memory
    module(tenfold.ones(1, 2, dtype=tenfold.float64)).sum().backward()
    assert weight.grad.tolist() == [[2.0, 2.0]]


def test_overwriting_makes_new_parameters(overwriting):
    module = with_gradient()
    weight = module.weight
    module.double()
    assert module.weight is not weight
    assert weight.dtype is tenfold.float32
    assert module.weight.grad.dtype is tenfold.float64


def test_a_graph_from_before_the_swap_is_refused(swapping):
    module = nn.Linear(2, 1)
    out = module(tenfold.ones(1, 2))
    module.double()
    with pytest.raises(RuntimeError, match=r"AccumulateGrad node that was poisoned by swap_tensors"):
        out.sum().backward()


@pytest.mark.parametrize("saved", ["left", "right", "plain"])
def test_what_saved_a_swapped_tensor_notices(saved):
    x, y = tenfold.tensor([2.0], requires_grad=saved != "plain"), tenfold.tensor([5.0])
    w = tenfold.ones(1, requires_grad=True)
    out = x * w if saved == "left" else w * x
    swap_tensors(x, y)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation|poisoned by swap_tensors"):
        out.backward()


def test_hooks_and_gradients_move_along():
    x, y = tenfold.tensor([2.0], requires_grad=True), tenfold.tensor([5.0])
    x.register_hook(lambda g: g * 10)
    seen = []
    x.register_post_accumulate_grad_hook(seen.append)
    swap_tensors(x, y)
    assert not x.requires_grad
    (y * 3).backward()
    assert y.grad.tolist() == [30.0]
    assert seen[0] is y


def test_a_retained_gradient_goes_to_the_tensor_in_place():
    x = tenfold.ones(1, requires_grad=True)
    a, b = x * 2, tenfold.zeros(1)
    a.retain_grad()
    swap_tensors(a, b)
    b.backward()
    assert b.grad.tolist() == [1.0]
    assert a.grad is None


def test_views_and_weak_references_are_refused():
    x, y = tenfold.ones(2), tenfold.zeros(2)
    held = weakref.ref(x)
    with pytest.raises(RuntimeError, match="Cannot swap t1 because it has weakref associated with it"):
        swap_tensors(x, y)
    assert held() is x
    view = y[1:]
    with pytest.raises(RuntimeError, match="Expected use_count of t1"):
        swap_tensors(y, tenfold.zeros(1))
    other = tenfold.full((1,), 7.0)
    swap_tensors(view, other)  # a view may go: what it looks at is where it was
    other.fill_(3)
    assert (y.tolist(), view.tolist()) == ([0.0, 3.0], [7.0])


def test_different_slots_are_refused():
    class Slotted(tenfold.Tensor):
        __slots__ = ("mark",)

    class Alike(tenfold.Tensor):
        __slots__ = ("mark",)

    with pytest.raises(RuntimeError, match="Cannot swap t1 and t2 if they have different slots"):
        swap_tensors(tenfold.ones(1).as_subclass(Slotted), tenfold.ones(1))
    first, second = tenfold.ones(1).as_subclass(Slotted), tenfold.zeros(1).as_subclass(Alike)
    first.mark = 1
    swap_tensors(first, second)
    assert (type(first), second.mark, hasattr(first, "mark")) == (Alike, 1, False)


def test_loading_asks_module_load(swapping):
    module = nn.Linear(2, 1)
    weight = module.weight
    state = {"weight": tenfold.full((1, 2), 3.0), "bias": tenfold.ones(1)}
    module.load_state_dict(state)
    assert module.weight is weight
    assert weight.tolist() == [[3.0, 3.0]]
    assert weight.requires_grad
    module.load_state_dict({name: t.double() for name, t in state.items()}, assign=True)
    assert weight.dtype is tenfold.float64

    class Stubborn(tenfold.Tensor):
        def module_load(self, other, assign=False):
            return other

    module.weight = nn.Parameter(tenfold.zeros(1, 2).as_subclass(Stubborn))
    with pytest.raises(
        RuntimeError, match=r'While swapping the parameter named "weight".*module_load returned one of self or other'
    ):
        module.load_state_dict(state)


def test_what_cannot_be_swapped_is_named(swapping):
    module = nn.Linear(2, 1)
    view = module.weight.view(2)
    with pytest.raises(RuntimeError, match=r"_apply\(\): Couldn't swap Linear.weight"):
        module.double()
    assert view.dtype is tenfold.float32


def test_attributes_are_swapped_too() -> None:
    a, b = tenfold.zeros(1), tenfold.ones(2)
    a.mark = "a"
    tenfold.utils.swap_tensors(a, b)
    assert (a.tolist(), b.tolist(), b.mark) == ([1, 1], [0], "a")


def test_a_graph_that_a_conversion_outdated_does_not_hinder_the_next(swapping):
    module = nn.Linear(2, 1)
    outdated = module(tenfold.ones(1, 2))
    for convert in (module.double, module.float, module.double):
        convert()
        with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
            outdated.sum().backward(retain_graph=True)
        module(tenfold.ones(1, 2, dtype=module.weight.dtype)).sum().backward()
    assert module.weight.dtype is tenfold.float64
    assert module.weight.grad.tolist() == [[3.0, 3.0]]
