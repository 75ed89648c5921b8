"""Writes through views: what is refused, what versions say and which gradients come out, in both libraries alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def computed(lib: Any) -> tuple[Any, Any]:
    """A leaf, and a tensor computed from it."""
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return x, x * 1


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


class Refused(Exception):
    """What an exception said, up to the first full stop."""


def outcome(program: Any, lib: Any) -> Any:
    try:
        return plain(program(lib))
    except (RuntimeError, ValueError, TypeError) as error:
        return Refused(type(error).__name__, error)


def plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return np.round(np.array(value.detach().tolist()), 5).tolist()
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


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


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__annotations__", {}).get("lib") == "Any"]
PROGRAMS = [f for f in PROGRAMS if f not in (outcome, computed)]
# The parts of messages that tell what is wrong; PyTorch's own tests look for them.
PHRASES = (
    "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
    "A view was created in no_grad mode and its base or another view of its base has been modified inplace",
    "A view was created in inference mode and is being modified inplace in normal mode",
    "A view was created in inference mode and its base or another view of its base has been modified inplace",
    "This view is the output of a function that returns multiple views. Such functions do not allow",
    "Inplace update to inference tensor outside InferenceMode is not allowed",
    "Inference tensors cannot be saved for backward",
    "Inference tensors do not track version counter",
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
    "more than one element of the written-to tensor refers to a single memory location",
    "a leaf Variable that requires grad is being used in an in-place operation",
    "a view of a leaf Variable that requires grad is being used in an in-place operation",
    "one of the variables needed for gradient computation has been modified by an inplace operation",
    "can't assign Variable as its own grad",
    "Can't detach views in-place. Use detach() instead",
)
# Where PyTorch speaks of a view of a view, or of no_grad mode where there is none.
OWN_WORDS = {
    "view_of_view_of_no_grad_written": "A view was created in no_grad mode and is being modified inplace",
    "constants_unbound": "This view is the output of a function that returns multiple views",
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_pytorch(program: Any) -> None:
    ours, theirs = outcome(program, tenfold), outcome(program, torch)
    if not isinstance(theirs, Refused):
        assert not isinstance(ours, Refused), ours
        assert ours == theirs
        return
    assert isinstance(ours, Refused), f"got {ours}, PyTorch raises {theirs}"
    assert ours.args[0] == theirs.args[0]
    said = OWN_WORDS.get(program.__name__) or next(p for p in PHRASES if p in str(theirs.args[1]))
    assert said in str(ours.args[1]), ours
