"""Tensors of inference mode: what is refused outside of it, what is not, and what they do not have, in both libraries alike."""

from __future__ import annotations

from typing import Any

import pytest
from view_programs import assert_as_pytorch, computed

import tenfold

torch = pytest.importorskip("torch")


def inference_view_written(lib: Any) -> Any:
    _, b = computed(lib)
    with lib.inference_mode():
        v = b[:2]
    return v.mul_(2)


def inference_view_of_written_base(lib: Any) -> Any:
    _, b = computed(lib)
    with lib.inference_mode():
        v = b[:2]
    b.mul_(2)
    return v.grad_fn


def inference_written_outside(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    return v.mul_(2)


def inference_view_written_outside(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    return v.view(2).add_(1)


def inference_written_inside(lib: Any) -> Any:
    with lib.inference_mode():
        return (lib.ones(2) + 1).mul_(2)


def inference_item_set_outside(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    v[0] = 2.0


def inference_saved(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    return v * lib.ones(2, requires_grad=True)


def inference_parts_of_a_leaf(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(4, requires_grad=True)
    return [y.requires_grad for y in (*v.unbind(0), *v.split(3), *v.chunk(2), *v.tensor_split(2))]


def inference_not_saved(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    return (v + lib.ones(2, requires_grad=True)).requires_grad


def inference_version(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    return v._version


def inference_requires_grad(lib: Any) -> Any:
    with lib.inference_mode():
        v = lib.ones(2)
    v.requires_grad = True


def which_are_inference(lib: Any) -> Any:
    x, b = lib.ones(2), lib.ones(2)
    with lib.inference_mode():
        made = [lib.ones(2), x + 1, x[0], x.view(2), x.detach(), lib.ones(2)[0], b.add_(1), x.clone(), x.sum(), x.max(0)[0]]
    made += [made[0] + 1, made[0][0], made[0].view(2), made[0].detach(), made[0].clone(), x]
    return [t.is_inference() for t in made]


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__ and callable(f)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    assert_as_pytorch(program, tenfold, torch)
