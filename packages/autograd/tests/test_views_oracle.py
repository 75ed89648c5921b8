"""Writes through views: what is refused, what versions say and which gradients come out, in both libraries alike."""

from __future__ import annotations

from typing import Any

import pytest
from view_programs import assert_as_pytorch, computed

import tenfold

torch = pytest.importorskip("torch")


def view_of_no_grad_written(lib: Any) -> Any:
    _, b = computed(lib)
    with lib.no_grad():
        v = b[:2]
    return v.mul_(2)


def view_of_leaf_of_no_grad_written(lib: Any) -> Any:
    x, _ = computed(lib)
    with lib.no_grad():
        v = x[:2]
    return v.mul_(2)


def view_of_constant_of_no_grad_written(lib: Any) -> Any:
    x, w = lib.ones(3), lib.ones(2, requires_grad=True)
    with lib.no_grad():
        v = x[:2]
    return v.mul_(w)


def view_of_view_of_no_grad_written(lib: Any) -> Any:
    _, b = computed(lib)
    with lib.no_grad():
        v = b[:2]
    return v[:1].mul_(2)


def base_of_no_grad_view_written(lib: Any) -> Any:
    _, b = computed(lib)
    with lib.no_grad():
        v = b[:2]
    b.mul_(2)
    return v.grad_fn


def no_grad_view_written_without_gradients(lib: Any) -> Any:
    x, b = computed(lib)
    with lib.no_grad():
        v = b[:2]
        v.mul_(2)
    (b * b).sum().backward()
    return x.grad


def unbound(lib: Any) -> Any:
    return computed(lib)[1].unbind()[0].mul_(2)


def part_of_unbound(lib: Any) -> Any:
    return computed(lib)[1].view(3, 1).unbind()[0][0].mul_(2)


def constants_unbound(lib: Any) -> Any:
    return lib.ones(3).unbind()[0].mul_(lib.ones((), requires_grad=True))


def constants_unbound_and_nothing_recorded(lib: Any) -> Any:
    x = lib.ones(3)
    x.unbind()[0].mul_(3)
    return x


def unbound_then_base_written(lib: Any) -> Any:
    _, b = computed(lib)
    u = b.unbind()
    b.mul_(2)
    return u[0].grad_fn


def split_in_place(lib: Any) -> Any:
    return computed(lib)[1].split(1)[0].mul_(2)


def chunk_in_place(lib: Any) -> Any:
    return computed(lib)[1].chunk(2)[0].mul_(2)


def tensor_split_in_place(lib: Any) -> Any:
    x, b = computed(lib)
    b.tensor_split(2)[0].mul_(2)
    b.sum().backward()
    return x.grad


def unsafe_after_iteration(lib: Any) -> Any:
    _, b = computed(lib)
    for row in b:
        row.mul_(2)


def expanded(lib: Any) -> Any:
    return computed(lib)[1].expand(3, 3).mul_(2)


def expanded_copied_into(lib: Any) -> Any:
    return lib.ones(1).expand(3).copy_(lib.ones(3))


def expanded_assigned(lib: Any) -> Any:
    lib.ones(1).expand(3)[:] = 2


def expanded_element_assigned(lib: Any) -> Any:
    e = lib.ones(1).expand(3)
    e[0] = 2
    return e


def expanded_as_out(lib: Any) -> Any:
    return lib.add(lib.ones(3), 1, out=lib.ones(1).expand(3))


def expanded_drawn(lib: Any) -> Any:
    return lib.ones(1).expand(3).normal_()


def expanded_filled(lib: Any) -> Any:
    e = lib.ones(1).expand(3)
    e.fill_(2)
    e.detach().zero_()
    return e


def expanded_detached(lib: Any) -> Any:
    return lib.ones(1).expand(3).detach().add_(1)


def expanded_then_base_written(lib: Any) -> Any:
    x = lib.ones(1)
    e = x.expand(3)
    x.add_(1)
    return e


def strided_over_itself(lib: Any) -> Any:
    return lib.ones(3).as_strided((2, 2), (0, 1)).add_(1)


def leaf_transposed(lib: Any) -> Any:
    return lib.ones(2, requires_grad=True).t_()


def view_of_leaf_unsqueezed(lib: Any) -> Any:
    return lib.ones(2, requires_grad=True)[:1].unsqueeze_(0)


def leaf_transposed_without_gradients(lib: Any) -> Any:
    x = lib.ones(2, 3, requires_grad=True)
    with lib.no_grad():
        x.t_()
    (x * lib.arange(6.0).view(3, 2)).sum().backward()
    return x._version, x.is_leaf, tuple(x.shape), x.grad


def transposed_after_it_was_saved(lib: Any) -> Any:
    y, w = lib.ones(2, 2, requires_grad=True) * 2, lib.ones(2, 2, requires_grad=True)
    z = y * w
    y.t_()
    z.sum().backward()


def geometry_in_place(lib: Any) -> Any:
    x = lib.arange(6.0).view(2, 3).requires_grad_(True)
    y = x * 2
    y.t_().unsqueeze_(0).squeeze_(0).transpose_(0, 1).swapdims_(0, 1).swapaxes_(0, 1)
    y.mul_(y.detach())
    y.sum().backward()
    return y._version, x.grad


def geometry_of_view_in_place(lib: Any) -> Any:
    x = lib.arange(6.0).view(2, 3).requires_grad_(True)
    y = x * 2
    v = y[:, 1:]
    v.t_()
    v.mul_(3)
    y.mul_(lib.arange(6.0).view(2, 3))
    (y * y).sum().backward()
    return v, x.grad


def versions(lib: Any) -> Any:
    _, b = computed(lib)
    v, d, data = b.view(3), b.detach(), b.data
    d.mul_(2)
    data.add_(1)
    return v._version, b._version, d._version, data._version


def own_gradient(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    x.grad = x


def detached_view(lib: Any) -> Any:
    computed(lib)[1][:1].detach_()


def pairs_written(lib: Any) -> Any:
    x = lib.tensor([[1 + 2j, 3 - 1j], [0.5j, 2.0]], requires_grad=True)
    a = x * 1
    b = lib.view_as_real(a)
    b.mul_(lib.arange(8.0).view(2, 2, 2))
    (lib.view_as_real(a) * lib.arange(8.0).view(2, 2, 2)).sum().backward()
    return x.grad


def parts_written(lib: Any) -> Any:
    x = lib.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    a = x * 1
    a.imag.mul_(a.real.detach())
    a.real.add_(a.imag.detach())
    (a * a.conj()).real.sum().backward()
    return x.grad


def read_as_complex_and_written(lib: Any) -> Any:
    x = lib.arange(4.0).view(2, 2).requires_grad_(True)
    a = x * 1
    lib.view_as_complex(a).mul_(2 + 1j)
    (a * a).sum().backward()
    return x.grad


def retained_then_written(lib: Any) -> Any:
    a = lib.tensor([1.0], requires_grad=True).clone()
    a.retain_grad()
    a.mul_(2)
    a.sum().backward()
    return a.grad, a.retains_grad


def retained_view_then_base_written(lib: Any) -> Any:
    _, b = computed(lib)
    v = b[:2]
    v.retain_grad()
    b.mul_(2)
    (v * 3).sum().backward()
    return v.grad


def copied_nodes_stay_apart(lib: Any) -> Any:
    x, b = computed(lib)
    y = lib.zeros(3)
    y.copy_(b)
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    (b * 2).sum().backward()
    return seen, x.grad


def base_of_parts_written_twice(lib: Any) -> Any:
    x, b = computed(lib)
    parts = b.unbind()  # alive: each write says that they are outdated
    b[0] += 1
    b[1:] *= 2
    b.mul_(3)
    b.pow(2).sum().backward()
    assert parts[0].shape == ()
    return x.grad


def part_after_two_writes_of_its_base(lib: Any) -> Any:
    _, b = computed(lib)
    parts = b.unbind()
    b[0] += 1
    b[1:] *= 2
    (parts[0] + 1).backward()


def many_views(lib: Any) -> Any:
    x = lib.ones(20, requires_grad=True)
    y = x * 1
    views = [y[i] for i in range(20)]
    for i, v in enumerate(views):
        v.mul_(i)
    lib.stack(views).pow(2).sum().backward()
    return x.grad


def constants_written(write: Any) -> Any:
    """What still requires gradients after constants went over all of it, and the gradient before the write: zeros."""

    def program(lib: Any) -> Any:
        x, b = computed(lib)
        write(lib, b)
        y = (b * x).sum()
        y.backward()
        return b.requires_grad, b.is_leaf, x.grad.tolist()

    return program


CONSTANTS: dict[str, Any] = {
    "copy_": lambda lib, b: b.copy_(lib.tensor([3.0, 4.0, 5.0])),
    "copy_ of a number": lambda lib, b: b.copy_(lib.tensor(3.0)),
    "fill_": lambda lib, b: b.fill_(2.0),
    "fill_ of a complex number": lambda lib, b: b.fill_(2 + 0j),
    "eq_": lambda lib, b: b.eq_(2.0),
    "lt_": lambda lib, b: b.lt_(lib.tensor([2, 2, 2])),
    "slice of all": lambda lib, b: b.__setitem__(slice(None), lib.tensor([3.0, 4.0, 5.0])),
    "slice": lambda lib, b: b.__setitem__(slice(1, None), 2.0),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_written_over_what_requires_gradients(name: str) -> None:
    program = constants_written(CONSTANTS[name])
    assert program(tenfold) == program(torch)


@pytest.mark.parametrize("name", ["logical_and_", "logical_or_", "logical_xor_"])
def test_logic_written_in_place_has_no_gradient(name: str) -> None:
    """PyTorch keeps the gradient of the value before the write, which is wrong; here it is that of a constant."""
    x, b = computed(tenfold)
    getattr(b, name)(tenfold.tensor([1.0, 0.0, 1.0]))
    b.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


def test_broadcast_of_one_shape_is_the_tensor_itself() -> None:
    for lib in (torch, tenfold):
        x = lib.ones(2, requires_grad=True)
        assert lib.broadcast_tensors(x, lib.ones(2))[0].is_leaf


def _leaf_among_views(lib: Any) -> tuple[Any, Any, Any]:
    """A base that requires nothing, a view that is a leaf, and a leaf."""
    base = lib.zeros(6)
    v = base[:3].requires_grad_()
    return base, v, lib.ones(3, requires_grad=True)


def leaf_is_a_view_whose_sibling_is_written(lib: Any) -> Any:
    base, v, w = _leaf_among_views(lib)
    base[3:].copy_(w * 2)
    (base.sum() + v.sum()).backward()
    return v.is_leaf, w.grad, base.is_leaf, v.requires_grad


def leaf_is_a_view_whose_base_is_written(lib: Any) -> Any:
    base, v, w = _leaf_among_views(lib)
    (v * 3).sum().backward()
    base.mul_(w.repeat(2))
    (base.sum() + v.sum()).backward()
    return v.is_leaf, w.grad


def leaf_is_an_empty_view_whose_sibling_is_written(lib: Any) -> Any:
    parts = lib.zeros(0).tensor_split((0, 5))
    parts[1].requires_grad_()
    parts[2].copy_(lib.zeros(0, requires_grad=True) * 2)
    return parts[1].is_leaf, parts[0].is_leaf


def leaf_is_a_view_of_what_is_written_without_a_gradient(lib: Any) -> Any:
    base, v, w = _leaf_among_views(lib)
    used = v * 3
    with lib.no_grad():
        base[3:].copy_(w)
    used.sum().backward()
    return v.is_leaf, v.grad


def leaf_was_used_before_its_base_was_written(lib: Any) -> Any:
    base, v, w = _leaf_among_views(lib)
    used = v * 3
    base[3:].copy_(w)
    used.sum().backward()
    return v.grad


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__annotations__", {}).get("lib") == "Any"]
PROGRAMS = [f for f in PROGRAMS if f not in (computed, _leaf_among_views)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    assert_as_pytorch(program, tenfold, torch)
