"""In-place writes and views in the gradient graph, against PyTorch: the same program runs in both libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def through_view(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[1].mul_(w[0])
    return base


def through_view_of_view(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[1:][:, 1:].mul_(w[1:, 1:])
    return base * x


def written_view_is_read(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    v = base[0]
    v.mul_(w[1])
    return v * v


def old_view_sees_write_to_base(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    v = base[:, 1]
    base.mul_(w)
    return v * 3


def old_view_sees_write_through_other_view(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    v, u = base[:, 1:], base[1]
    u.mul_(w[1])
    return v * base[:, :3]


def two_overlapping_writes(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[:, 1:3].mul_(w[:, :2])
    base[1, :2].add_(w[0, :2])
    return base


def write_then_use_then_write(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[0].mul_(w[0])
    seen = base + 1
    base[2].mul_(w[2])
    return seen + base


def transposed_base(lib: Any, x: Any, w: Any) -> Any:
    base = (x * 2).t() * 1.0
    base[1].mul_(w[:, 0])
    return base


def transposed_view(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.t()[1:3].mul_(w.t()[1:3])
    return base


def non_contiguous_base(lib: Any, x: Any, w: Any) -> Any:
    base = (x.t() * 2).clone()
    base.t()[0].mul_(w[0])
    base.t()[:, 2].sub_(w[:, 1])
    return base


def diagonal_write(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.diagonal().mul_(w.diagonal())
    return base


def reshaped_write(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.view(-1)[2:7].mul_(w.reshape(-1)[:5])
    return base


def select_and_unsqueeze(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.select(1, 2).unsqueeze(0).mul_(w[:, 0])
    return base


def constant_base(lib: Any, x: Any, w: Any) -> Any:
    base = lib.zeros(3, 4, dtype=lib.float64)
    base[1] = x[0] * w[0]
    base[2, 1:] = w[2, 1:]
    return base


def augmented_assignment(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[0] += w[0]
    base[:, 1] *= w[:, 2]
    return base * x


def tril_in_place(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.tril_()
    base[1:].triu_()
    return base * w


def assign_number(lib: Any, x: Any, w: Any) -> Any:
    base = x * w
    base[:, 1] = 0
    return base


def assign_all(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[...] = w
    return base * x


def assign_mask(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[x > 0] = 1.5
    return base * w


def assign_masked_values(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    mask = x > 0
    base[mask] = w[mask]
    return base


def assign_rows(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[lib.tensor([2, 0])] = w[:2]
    return base


def assign_in_view(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[1:, lib.tensor([0, 3])] = w[0, :2]
    return base


def put_accumulates(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.index_put_((lib.tensor([0, 0, 1]),), w, accumulate=True)
    return base


def index_ops_in_place(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.index_add_(1, lib.tensor([0, 2]), w[:, :2])
    base.index_copy_(0, lib.tensor([1]), w[:1])
    base.index_fill_(1, lib.tensor([3]), 2.0)
    return base * x


def scatter_in_place(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    index = lib.tensor([[0, 1, 2, 0]])
    base.scatter_(0, index, w[:1])
    base.scatter_add_(0, index, w[1:2])
    return base


def saved_result(lib: Any, x: Any, w: Any) -> Any:
    base = x.exp()
    y = base * 1.0
    y.exp_()
    return y * w


def in_place_chain(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    return base.mul_(w).add_(x).mul_(w[0])


def broadcast_operand(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[1:].mul_(w[0, 0])
    base.add_(w[0])
    return base


def part_added_to_part(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base[0].add_(base[1])
    return base * w


def narrowed_and_transposed(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    first = base.narrow(0, 0, 2)
    first.t().mul_(w[:2].t())
    return first * base[:2]


def metadata_in_place(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    base.unsqueeze_(0).transpose_(1, 2).squeeze_(0)
    return base * w.t()


def detached_write_stays_outside(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    other = base.detach()
    other.mul_(3)
    return base + w


def written_without_recording(lib: Any, x: Any, w: Any) -> Any:
    base = x * 2
    with lib.no_grad():
        base[0].mul_(5)
    return base * w


PROGRAMS = [f for f in list(globals().values()) if getattr(f, "__module__", None) == __name__ and callable(f)]


def run(program: Any, lib: Any, x: Any, w: Any, g: Any) -> list[Any]:
    make = lib.from_numpy
    tx, tw = make(x.copy()).requires_grad_(True), make(w.copy()).requires_grad_(True)
    result = program(lib, tx, tw)
    weight = make(np.resize(g, tuple(result.shape)))
    first = lib.autograd.grad((result * weight).sum(), (tx, tw), create_graph=True, allow_unused=True)
    total = sum((f * f * 0.5).sum() for f in first if f is not None)
    second: Any = (None, None)
    if total.requires_grad:
        second = lib.autograd.grad(total, (tx, tw), allow_unused=True)
    return [result.detach().numpy(), *(None if t is None else t.detach().numpy() for t in (*first, *second))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients_are_pytorchs(program: Any) -> None:
    rng = np.random.default_rng(0)
    x, w, g = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.standard_normal(64)
    ours, theirs = run(program, tenfold, x, w, g), run(program, torch, x, w, g)
    for a, b in zip(ours, theirs):
        # A gradient that one library reports as absent is zero in the other.
        np.testing.assert_allclose(0.0 if a is None else a, 0.0 if b is None else b, rtol=1e-9, atol=1e-12)


def allowed_after_sum(lib: Any, x: Any) -> Any:
    y = x * 2
    z = y + 1
    y.mul_(5)
    return z


def allowed_under_no_grad(lib: Any, x: Any) -> Any:
    with lib.no_grad():
        x[0] = 4
    return x * 2


def allowed_detached_leaf(lib: Any, x: Any) -> Any:
    x.detach().mul_(2)
    return x * x


@pytest.mark.parametrize("program", [allowed_after_sum, allowed_under_no_grad, allowed_detached_leaf], ids=lambda f: f.__name__)
def test_both_accept(program: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.from_numpy(np.ones((3, 4))).requires_grad_(True)
        result = program(lib, x)
        result.sum().backward()
        found.append((result.detach().numpy(), x.grad.numpy()))
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b)


def test_the_written_view_belongs_to_the_new_graph() -> None:
    base = tenfold.ones(3, requires_grad=True) * 1
    view = base[:2]
    view.mul_(2)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert view._base is base


def test_version_counters_are_shared_by_views() -> None:
    x = tenfold.zeros(4)
    view = x[1:]
    view.add_(1)
    assert x._version == view._version == 1
    x[0] = 1
    assert view._version == 2
    assert x.detach()._version == 2


GEOMETRIES = {
    "squeeze_": (), "unsqueeze_": (0,), "transpose_": (0, 1), "swapaxes_": (0, 1), "swapdims_": (0, 1), "t_": (),
    "as_strided_": ((2, 2), (1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", GEOMETRIES)
def test_views_read_their_gradients_from_a_base_of_new_geometry(name):
    def found(lib: Any) -> Any:
        x = lib.arange(12.0).view(3, 4).requires_grad_(True)
        base = x * 2
        view, other = base[None, -2], base[:, 1]
        getattr(base, name)(*GEOMETRIES[name])
        kind = type(view.grad_fn).__name__
        gradients = lib.autograd.grad((view * view).sum() + other.sum(), [base, x], allow_unused=True)
        return kind, view._version, [g.tolist() for g in gradients]

    assert found(tenfold) == found(torch)


COPIES = {
    "the same dtype": lambda lib, x, b: x.copy_(b),
    "another dtype": lambda lib, x, b: x.copy_(b.float()),
    "a complex number": lambda lib, x, b: x.copy_(b.to(lib.complex64)),
    "one number": lambda lib, x, b: x.copy_(b.sum()),
    "constants first": lambda lib, x, b: x.copy_(lib.zeros(2, 3)).copy_(b),
    "through a view": lambda lib, x, b: x[:, :, None].copy_(b.sum()),
    "into a part": lambda lib, x, b: x[1:].copy_(b[:1]) is x or x,
    "by slices": lambda lib, x, b: x.__setitem__(slice(None), b) or x,
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_what_a_copy_overwrote_gets_zeros(name: str) -> None:
    """Not None: the optimizer sees a gradient of zeros, and its weight decay goes on."""
    found = []
    for lib in (tenfold, torch):
        a, b = (lib.ones(2, 3, dtype=lib.float64, requires_grad=True) for _ in range(2))
        y = COPIES[name](lib, a * 2, b)
        grads = lib.autograd.grad((y * y).sum(), [a, b], allow_unused=True)
        found.append([None if g is None else g.tolist() for g in grads])
    assert found[0] == found[1]


def test_the_gradients_of_stacked_tensors_may_be_written() -> None:
    found = []
    for lib in (torch, tenfold):
        a, b = lib.tensor([-2.0, 1.0], requires_grad=True), lib.tensor([3.0, 4.0], requires_grad=True)
        first, second = lib.autograd.grad(lib.stack([a, b], 1).square().sum(), [a, b], create_graph=True)
        first.mul_(3)
        (first * second).sum().backward()
        found.append([t.tolist() for t in (first, second, a.grad, b.grad)])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "sum", "mean"])
def test_a_source_that_is_larger_than_the_index_gets_zeros_for_the_rest(name: str) -> None:
    """PyTorch's gradient is of the index's shape, which its engine then refuses."""
    x = tenfold.ones(2, 2, requires_grad=True)
    source = tenfold.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    index = tenfold.tensor([[0, 1]])
    reduced = {"reduce": name} if name in ("sum", "mean") else {}
    call = x.scatter_reduce if reduced else getattr(x, name)
    y = call(0, index, source, **reduced)
    whole = tenfold.tensor([[1.0, 2.0], [3.0, 4.0]])
    (gradient,) = tenfold.autograd.grad((y * whole).sum(), [source])
    share = 0.5 if name == "mean" else 1.0
    assert gradient.tolist() == [[1.0 * share, 4.0 * share], [0.0, 0.0]]


@pytest.mark.parametrize("change", [lambda t: t.t_(), lambda t: t.unsqueeze_(0), lambda t: t.transpose_(0, 1)])
@pytest.mark.parametrize("asked", ["whole", "other"])
def test_a_view_changes_its_shape_beside_other_views(change: Any, asked: str) -> None:
    """Their graphs are made anew, so that what was computed before does not lead to them; hooks are of the value before."""
    found = []
    for lib in (torch, tenfold):
        x = lib.ones(2, 3, requires_grad=True)
        whole = x * 1
        other, part = whole.view(3, 2), whole[:1]
        other.register_hook(lambda g: g * 10)
        before = other * 2
        change(part)
        to = {"whole": whole, "other": other}[asked]
        made = [lib.autograd.grad(y.sum(), [to], retain_graph=True, allow_unused=True)[0] for y in (before, part, other * 3)]
        through = lib.autograd.grad((part * 2).sum() + (other * 3).sum() + before.sum(), x)[0]
        found.append(([None if g is None else g.tolist() for g in made], through.tolist(), other._version))
    assert found[1] == found[0]
