"""In-place writes that both libraries refuse: to leaves, to their views, and to what a backward pass needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def leaf_itself(lib: Any, x: Any) -> None:
    x.mul_(2)


def memory_of_leaf_exchanged(lib: Any, x: Any) -> None:
    x.set_(lib.ones(2))


def view_of_leaf(lib: Any, x: Any) -> None:
    x[0].mul_(2)


def assignment_to_leaf(lib: Any, x: Any) -> None:
    x[0] = 1


def advanced_assignment_to_leaf(lib: Any, x: Any) -> None:
    x[lib.tensor([0])] = 1


def saved_operand_written(lib: Any, x: Any) -> None:
    y = x * 2
    z = y * y
    y.add_(1)
    z.sum().backward()


def saved_result_written(lib: Any, x: Any) -> None:
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def saved_operand_written_through_view(lib: Any, x: Any) -> None:
    y = x * 2
    z = y * y
    y[0].add_(1)
    z.sum().backward()


def saved_view_written_through_base(lib: Any, x: Any) -> None:
    y = x * 2
    v = y[0]
    z = v * v
    y.add_(1)
    z.sum().backward()


def own_view_as_operand(lib: Any, x: Any) -> None:
    y = x * 2
    y[0].mul_(y[1])
    y.sum().backward()


def saved_operand_written_by_assignment(lib: Any, x: Any) -> None:
    y = x * 2
    z = y * y
    y[lib.tensor([0])] = 1
    z.sum().backward()


def saved_index_written(lib: Any, x: Any) -> None:
    i = lib.tensor([0, 1])
    z = (x * 2)[i]
    i[0] = 1
    z.sum().backward()


def saved_operand_written_through_detached(lib: Any, x: Any) -> None:
    y = x * 2
    z = y * y
    y.detach().mul_(2)
    z.sum().backward()


def wrong_shape(lib: Any, x: Any) -> None:
    y = x * 2
    y[0] = lib.ones(7)


def detached_view_in_place(lib: Any, x: Any) -> None:
    (x * 2)[0].detach_()


@pytest.mark.parametrize(
    "program",
    [
        leaf_itself, memory_of_leaf_exchanged, view_of_leaf, assignment_to_leaf, advanced_assignment_to_leaf,
        saved_operand_written,
        saved_result_written, saved_operand_written_through_view, saved_view_written_through_base, own_view_as_operand,
        saved_operand_written_by_assignment, saved_index_written, saved_operand_written_through_detached, wrong_shape,
        detached_view_in_place,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_both_refuse(program: Any) -> None:
    for lib in (torch, tenfold):
        x = lib.from_numpy(np.ones((3, 4))).requires_grad_(True)
        with pytest.raises(RuntimeError):
            program(lib, x)


def test_error_texts_say_what_happened() -> None:
    x = tenfold.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.mul_(2)
    y = x * 2
    z = y * y
    y[0] = 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_the_conjugate_of_real_numbers_in_place_is_a_write_of_the_graph():
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor([1.0, -0.0], requires_grad=True)
        y = x * 2
        whole, part = y.view(2), y[:1]
        whole.conj_physical_()
        before = lib.autograd.grad(part.sum(), [whole], allow_unused=True)[0]
        (gradient,) = lib.autograd.grad(part.sum() + whole.sum(), [x])
        found.append((before, gradient.tolist(), whole.tolist(), y.grad_fn.name(), y._version))
    assert found[1] == found[0]


@pytest.mark.parametrize("operator", ["floor_divide", "heaviside"])
@pytest.mark.parametrize("part", [lambda t: t * 1, lambda t: t[True], lambda t: t.view(-1)], ids=["whole", "indexed", "view"])
def test_an_output_of_a_step_leaves_the_graph_of_what_it_overwrites(operator, part):
    found = []
    for lib in (torch, tenfold):
        x = lib.tensor([0.5, 2.0], requires_grad=True)
        before = x * 1
        y = part(before)
        square = y * y
        written = getattr(lib, operator)(y * 3, lib.tensor([0.4, 0.7]), out=y)
        gradient = lib.autograd.grad(square.sum(), [y], allow_unused=True)
        with pytest.raises(RuntimeError, match=f"derivative for .*{operator}"):
            y.sum().backward()
        found.append((gradient, written is y, y.requires_grad, y.grad_fn.name(), before.grad_fn.name(), y.tolist()))
    assert found[1] == found[0]


WITHOUT_DERIVATIVE = [
    "gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "floor_divide",
    "heaviside",
]  # fmt: skip


@pytest.mark.parametrize("operator", WITHOUT_DERIVATIVE)
@pytest.mark.parametrize("part", [lambda t: t, lambda t: t[1:]], ids=["whole", "view"])
def test_an_output_of_constants_without_derivative_refuses_its_gradient(operator, part):
    for lib in (torch, tenfold):
        x = lib.tensor([0.5, 2.0, 3.0], requires_grad=True)
        whole = x * 1
        out = part(whole)
        given = lib.ones(out.shape, dtype=lib.float32 if operator == "heaviside" else lib.int64)
        getattr(lib, operator)(given, given, out=out)
        assert out.tolist() == getattr(lib, operator)(given, given).tolist()
        for read in (out, whole):
            with pytest.raises(RuntimeError, match=f"derivative for .*{operator}"):
                read.sum().backward(retain_graph=True)


def test_an_output_of_a_step_may_not_be_one_of_several_views():
    for lib in (torch, tenfold):
        first, _ = (lib.ones(4, requires_grad=True) * 1).chunk(2)
        with pytest.raises(RuntimeError):
            lib.floor_divide(first.detach(), 2, out=first)


def test_an_output_without_a_graph_may_be_one_of_several_views():
    for dtype in ("int64", "float32"):
        found = []
        for lib in (torch, tenfold):
            first, second = lib.arange(4, dtype=getattr(lib, dtype)).chunk(2)
            lib.floor_divide(second, 2, out=first)
            found.append(first.tolist())
        assert found[1] == found[0]


def test_an_output_that_is_a_view_of_a_graph_made_without_recording():
    for operator in ("add", "floor_divide"):
        for base in (lambda x: x, lambda x: x * 1):
            for lib in (torch, tenfold):
                whole = base(lib.ones(4, requires_grad=True))
                with lib.no_grad():
                    part = whole.view(2, 2)
                with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
                    getattr(lib, operator)(lib.ones(2, 2), 3, out=part)


@pytest.mark.parametrize("asked", ["what it holds", "what was written"])
def test_an_output_of_a_step_refuses_both_ways(asked):
    for lib in (torch, tenfold):
        x, z = (lib.tensor([0.5, 2.0], requires_grad=True) for _ in range(2))
        out = x * 1
        lib.floor_divide(z * 3, z * 2, out=out)
        with pytest.raises(RuntimeError, match=r"derivative for .*floor_divide"):
            lib.autograd.grad(out.sum(), [x if asked == "what it holds" else z], allow_unused=True)
