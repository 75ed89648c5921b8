"""Views made where nothing is recorded require gradients as their base does, in both libraries alike."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def bases(lib: Any) -> list[Any]:
    leaf = lib.ones(4, 2, requires_grad=True)
    return [leaf, leaf * 2, (leaf * 2)[1:], lib.ones(4, 2), lib.nn.Parameter(lib.ones(4, 2))]


VIEWS: dict[str, Any] = {
    "view": lambda lib, x: x.view(-1),
    "slice": lambda lib, x: x[1:],
    "number": lambda lib, x: x[0],
    "transposed": lambda lib, x: x.t(),
    "expand": lambda lib, x: x.unsqueeze(0).expand(3, *x.shape),
    "split": lambda lib, x: x.split(1)[0],
    "unbind": lambda lib, x: x.unbind()[-1],
    "chunk": lambda lib, x: x.chunk(2)[0],
    "rows": lambda lib, x: next(iter(x)),
    "strided": lambda lib, x: x.as_strided((2,), (1,)),
    "diagonal": lambda lib, x: x.diagonal(),
    "of_a_view": lambda lib, x: x.view(-1)[1:],
    "detached": lambda lib, x: x.view(-1).detach(),
    "as_integers": lambda lib, x: x.view(lib.int32),
    "copy": lambda lib, x: x.t().contiguous(),
}


def told(v: Any) -> tuple[Any, ...]:
    return v.requires_grad, v.is_leaf, v.grad_fn


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_require_gradients_as_their_base_does(name: str, mode: str) -> None:
    found = []
    for lib in (tenfold, torch):
        made = []
        for base in bases(lib):
            with getattr(lib, mode)():
                made.append(told(VIEWS[name](lib, base)))
        found.append(made)
    assert found[0] == found[1]


def computed_from(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x[1:]
    y = v * 2
    y.sum().backward()
    return y.requires_grad, y.grad_fn.name(), v.grad is None, x.grad is None


def a_view_of_it(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x.view(2, 2)
    u = v.view(-1)
    return u.requires_grad, u.is_leaf, u.grad_fn.name(), u._base is x


def asked_itself(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x.view(2, 2).requires_grad_()
    (v * 3).sum().backward()
    return v.grad.tolist(), x.grad is None


def base_asks_no_longer(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x.view(2, 2)
    x.requires_grad_(False)
    return told(v), v.mul_(2).tolist(), x.tolist()


def base_left_the_graph(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True) * 2
    with lib.no_grad():
        v = x.view(2, 2)
    x.detach_()
    return told(v), v.mul_(2).tolist(), x.tolist()


def to_numpy(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x[1:]
    return v.numpy()


def written_where_nothing_is_recorded(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        x.view(2, 2).mul_(3)
        x[0] = 7
    (x * x).sum().backward()
    return x.tolist(), x.grad.tolist()


def gradients_of_a_view(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    with lib.no_grad():
        v = x[1:]
    return [None if g is None else g.tolist() for g in lib.autograd.grad((v * 2 + x[:3]).sum(), [x])]


def of_inference_mode(lib: Any) -> Any:
    with lib.inference_mode():
        x = lib.ones(2, 3, requires_grad=True)
        views = [x.view(-1), x.split(1)[0], x[0]]
    with lib.no_grad():
        views.append(x.view(-1))
    return [v.requires_grad for v in views]


PROGRAMS = [
    computed_from, a_view_of_it, asked_itself, base_asks_no_longer, base_left_the_graph, to_numpy,
    written_where_nothing_is_recorded, gradients_of_a_view, of_inference_mode,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_comes_of_such_a_view(program: Any) -> None:
    found: list[Any] = []
    for lib in (tenfold, torch):
        try:
            found.append(program(lib))
        except RuntimeError as error:
            found.append(type(error))
    assert found[0] == found[1]
