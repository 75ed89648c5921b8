"""Leaves that stop asking for gradients and ask again, as layers that are frozen for a while."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import tenfold
from tenfold.autograd import tape

torch = pytest.importorskip("torch")

WAYS = {
    "requires_grad_": lambda x: x.requires_grad_(False),
    "assigned": lambda x: setattr(x, "requires_grad", False),
    "detach_": lambda x: x.detach_(),
}


def _hooked(lib: Any, freeze: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    handle = x.register_hook(lambda g: g * 3)
    freeze(x)
    x.requires_grad_()
    (x * 2).sum().backward()
    first = x.grad.tolist()
    handle.remove()
    (x * 2).sum().backward()
    return first, x.grad.tolist()


def _told(lib: Any, freeze: Any) -> Any:
    x, told = lib.ones(2, requires_grad=True), []
    x.register_post_accumulate_grad_hook(lambda p: told.append(p.grad.tolist()))
    freeze(x)
    x.requires_grad_()
    (x * 2).sum().backward()
    return told


def _asked(lib: Any, freeze: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    before = x * 2
    freeze(x)
    x.requires_grad_()
    (g,) = lib.autograd.grad((before + x * 3).sum(), [x])
    return g.tolist()


def _shaped(lib: Any, freeze: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    freeze(x)
    x.unsqueeze_(0).requires_grad_()
    (x * 2).sum().backward()
    return x.grad.tolist()


def _still_frozen(lib: Any, freeze: Any) -> Any:
    x, seen = lib.ones(2, requires_grad=True), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    y = x * 2
    freeze(x)
    y.sum().backward()
    return x.grad, seen


def _kept_gradient(lib: Any, freeze: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    y = x * 2
    (x * 5).sum().backward()
    freeze(x)
    y.sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", [_hooked, _told, _asked, _shaped, _still_frozen, _kept_gradient])
def test_frozen_for_a_while(program: Any, way: str) -> None:
    assert program(tenfold, WAYS[way]) == program(torch, WAYS[way])


def test_a_frozen_leaf_that_goes_leaves_nothing_behind() -> None:
    before = len(tape._RESTING)
    leaves = [tenfold.ones(1, requires_grad=True).requires_grad_(False) for _ in range(5)]
    assert len(tape._RESTING) == before + 5
    del leaves
    gc.collect()
    assert len(tape._RESTING) == before


def _computed(lib: Any) -> tuple[Any, Any]:
    return lib.ones(2, requires_grad=True) * 2, []


def _leaf(lib: Any) -> tuple[Any, Any]:
    return lib.ones(2, requires_grad=True), []


def _one_of_several(lib: Any) -> tuple[Any, Any]:
    return lib.ones(2, 2, requires_grad=True).max(1)[0], []


def _hook(seen: Any, factor: int) -> Any:
    return lambda g: (seen.append((factor, g.tolist())), g * factor)[1]


def _detached_once(lib: Any, x: Any, seen: Any) -> None:
    x.detach_()


def _hooked_again(lib: Any, x: Any, seen: Any) -> None:
    x.detach_().requires_grad_().register_hook(_hook(seen, 2))


def _computed_in_between(lib: Any, x: Any, seen: Any) -> None:
    x.detach_().add_(lib.ones(2, requires_grad=True)).detach_()


def _written_before(lib: Any, x: Any, seen: Any) -> None:
    if not x.is_leaf:
        x.add_(lib.ones(2)).register_hook(_hook(seen, 7))
    x.detach_()


def _in_another_graph(lib: Any, x: Any, seen: Any) -> None:
    before = (x * 5).sum()
    x.detach_()
    before.backward()


@pytest.mark.parametrize("made", [_computed, _leaf, _one_of_several])
@pytest.mark.parametrize("cut", [_detached_once, _hooked_again, _computed_in_between, _written_before, _in_another_graph])
@pytest.mark.parametrize("removed", [False, True])
def test_hooks_stay_with_a_tensor_that_is_detached_in_place(made: Any, cut: Any, removed: bool) -> None:
    found = []
    for lib in (torch, tenfold):
        x, seen = made(lib)
        handle = x.register_hook(_hook(seen, 3))
        cut(lib, x, seen)
        x.requires_grad_()
        if removed:
            handle.remove()
        (x * 2).sum().backward()
        found.append((x.grad.tolist(), seen))
    assert found[1] == found[0]


QUIETLY = {
    "unsqueeze_": lambda x: x.unsqueeze_(0), "last": lambda x: x.unsqueeze_(-1), "squeeze_": lambda x: x.squeeze_(),
    "twice": lambda x: x.unsqueeze_(0).unsqueeze_(0),
}  # fmt: skip


def _spread_and_reshaped(lib: Any, shape: Any, other: Any, change: Any) -> Any:
    x = lib.ones(shape, requires_grad=True)
    y = x * lib.ones(other)
    with lib.no_grad():
        change(x)
    y.sum().backward()
    return x


@pytest.mark.parametrize("way", QUIETLY)
@pytest.mark.parametrize(
    "shapes", [((3,), (2, 3)), ((3,), (3, 3)), ((3, 1), (3, 3)), ((1,), (3,)), ((), (3,)), ((3, 1), (2, 3, 4))]
)
def test_a_leaf_that_was_spread_and_then_reshaped_has_the_gradient_of_its_former_shape(shapes: Any, way: str) -> None:
    theirs, ours = (_spread_and_reshaped(lib, *shapes, QUIETLY[way]) for lib in (torch, tenfold))
    assert ours.grad.shape == ours.shape
    assert ours.grad.reshape(-1).tolist() == theirs.grad.reshape(-1).tolist()


def test_a_leaf_spread_before_and_after_it_was_reshaped_has_the_sum_of_both_gradients() -> None:
    x = tenfold.ones(3, requires_grad=True)
    before = x * tenfold.ones(3, 3)
    with tenfold.no_grad():
        x.unsqueeze_(1)
    (before * tenfold.tensor([1.0, 2.0, 3.0])).sum().add((x * tenfold.ones(3, 4)).sum()).backward()
    assert x.grad.tolist() == [[7.0], [10.0], [13.0]]
