"""Modes and tensor classes with `__torch_dispatch__` see what PyTorch shows them, and operations are counted as by PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold._ops import ops
from tenfold.as_torch.stand_ins import _C
from tenfold.utils import _python_dispatch, flop_counter
from tenfold.utils._pytree import tree_map

torch = pytest.importorskip("torch")
import torch.utils._python_dispatch as torch_dispatch  # noqa: E402
import torch.utils.flop_counter as torch_flops  # noqa: E402


def seen(engine: Any, mode: type, program: Any) -> list[str]:
    """The operators that a mode is shown while a program runs."""
    names: list[str] = []

    class Listing(mode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(f"{func} {[a for a in args if type(a) in (int, float, list) and not hasattr(a, 'shape')]}")
            return func(*args, **(kwargs or {}))

    with Listing():
        program(engine)
    return [n for n in names if "detach" not in n]


def _rows(t: Any) -> Any:
    return t.arange(6.0).view(2, 3)


PROGRAMS: dict[str, Any] = {
    "arithmetic": lambda t: (_rows(t) + 1) * _rows(t) / 2 - 1,
    "parts": lambda t: (
        _rows(t)[:, 1:],
        _rows(t)[:, ::2],
        _rows(t)[..., :2],
        _rows(t)[:1, 1:],
        _rows(t)[:, None],
        _rows(t)[:, 1],
    ),
    "columns": lambda t: t.nn.functional.fold(t.nn.functional.unfold(t.ones(1, 2, 4, 4), 2), (4, 4), 2),
    "comparison": lambda t: (_rows(t) > 2, _rows(t) == _rows(t), _rows(t) ** 2, _rows(t).pow(_rows(t))),
    "reductions": lambda t: (_rows(t).sum(), _rows(t).sum(0), _rows(t).mean(1, keepdim=True), _rows(t).max(1), _rows(t).prod()),
    "in place": lambda t: _rows(t).add_(1).mul_(2.0).zero_().fill_(3).clamp_(0, 1),
    "indexing": lambda t: (_rows(t)[0], _rows(t)[:, 1], _rows(t)[None], _rows(t)[1:], _rows(t)[_rows(t) > 2]),
    "views": lambda t: (
        _rows(t).t(),
        _rows(t).reshape(6),
        _rows(t).unsqueeze(0),
        _rows(t).expand(4, 2, 3),
        _rows(t).transpose(0, 1),
    ),
    "products": lambda t: (_rows(t) @ _rows(t).t(), _rows(t)[None].bmm(_rows(t).t()[None]), _rows(t).mv(t.ones(3))),
    "joining": lambda t: (t.cat([_rows(t), _rows(t)]), t.stack([_rows(t), _rows(t)], 1)),
    "softmax": lambda t: (_rows(t).softmax(-1), t.log_softmax(_rows(t), 0)),
    "conversion": lambda t: (_rows(t).to(t.float64), _rows(t).clone()),
    "linear": lambda t: t.nn.functional.linear(_rows(t), t.ones(4, 3), t.ones(4)),
    "linear of batches": lambda t: t.nn.functional.linear(t.ones(2, 5, 3), t.ones(4, 3), t.ones(4)),
    "convolution": lambda t: t.nn.functional.conv2d(t.ones(1, 2, 5, 5), t.ones(3, 2, 3, 3), t.ones(3)),
    "layer norm": lambda t: t.nn.functional.layer_norm(_rows(t), (3,)),
    "recorded": lambda t: t.relu(_rows(t).requires_grad_() @ t.ones(3, 2)),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_mode_sees_what_pytorch_shows_it(program: Any) -> None:
    ours = seen(tenfold, _python_dispatch.TorchDispatchMode, program)
    assert ours == seen(torch, torch_dispatch.TorchDispatchMode, program)
    assert ours


def test_a_mode_sees_the_backward_pass_and_the_step() -> None:
    layer = tenfold.nn.Linear(3, 2)
    step = tenfold.optim.SGD(layer.parameters(), lr=0.1)

    def program(t: Any) -> None:
        t.nn.functional.relu(layer(t.ones(4, 3))).sum().backward()
        step.step()

    names = seen(tenfold, _python_dispatch.TorchDispatchMode, program)
    assert "aten.threshold_backward.default [0]" in names
    assert any(n.startswith("aten.addmm") for n in names)
    assert any(n.startswith("aten.mm") for n in names)
    assert sum(n.startswith("aten.add_.Tensor") for n in names) == 2


def test_gradients_are_those_without_a_mode() -> None:
    class Passing(_python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    def gradients() -> Any:
        tenfold.manual_seed(0)
        net = tenfold.nn.Sequential(
            tenfold.nn.Conv1d(2, 3, 3), tenfold.nn.GELU(), tenfold.nn.Flatten(), tenfold.nn.Linear(18, 4), tenfold.nn.LayerNorm(4)
        )
        loss = tenfold.nn.functional.cross_entropy(net(tenfold.randn(5, 2, 8)), tenfold.arange(5) % 4)
        loss.backward()
        return [p.grad for p in net.parameters()]

    plain = gradients()
    with Passing():
        seen_gradients = gradients()
    for a, b in zip(plain, seen_gradients, strict=True):
        tenfold.testing.assert_close(a, b)


@pytest.mark.parametrize("program", [lambda t, x: x @ t.arange(3.0), lambda t, x: x[:, 1:] * 2, lambda t, x: x[..., ::2].exp()])
def test_what_goes_in_parts_has_its_gradient_beneath_a_mode(program: Any) -> None:
    gradients = []
    for t, mode in ((tenfold, _python_dispatch.TorchDispatchMode), (torch, torch_dispatch.TorchDispatchMode)):
        x = _rows(t).requires_grad_()
        seen(t, mode, lambda t, x=x: program(t, x).square().sum().backward())
        gradients.append(x.grad.flatten().tolist())
    assert gradients[0] == pytest.approx(gradients[1])


def test_a_mode_may_change_results_and_modes_nest() -> None:
    class Adding(_python_dispatch.TorchDispatchMode):
        def __init__(self, amount: float) -> None:
            super().__init__()
            self.amount = amount

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            return out + self.amount if func is ops.aten.mul.Tensor else out

    x = tenfold.ones(1)
    with Adding(10.0), Adding(1.0):
        assert (x * 2).item() == 13.0
    assert (x * 2).item() == 2.0


def logging_class(t: Any, disabled: Any, mapped: Any, calls: list[str]) -> Any:
    """A tensor class that wraps another, as programs write it."""

    class Logging(t.Tensor):  # type: ignore[misc, name-defined]
        elem: Any
        __slots__ = ("elem",)
        __torch_function__ = disabled

        @staticmethod
        def __new__(cls: Any, elem: Any) -> Any:
            made = t.Tensor._make_wrapper_subclass(
                cls, elem.size(), strides=elem.stride(), dtype=elem.dtype, device=elem.device, requires_grad=elem.requires_grad
            )
            made.elem = elem.detach() if made.requires_grad else elem
            return made

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(str(func))
            out = func(*mapped(lambda x: x.elem if isinstance(x, cls) else x, args), **(kwargs or {}))
            return mapped(lambda x: cls(x) if isinstance(x, t.Tensor) else x, out)

        def __repr__(self, *, tensor_contents: Any = None) -> str:
            return f"Logging({self.elem})"

    return Logging


def wrapped_program(t: Any, disabled: Any, mapped: Any) -> str:
    calls: list[str] = []
    cls = logging_class(t, disabled, mapped, calls)
    x = cls(t.arange(6.0).view(2, 3).requires_grad_())
    w = t.ones(4, 3, requires_grad=True)
    (t.nn.functional.linear(x * 2, w).relu()).sum().backward()
    a = cls(t.ones(3))
    a.add_(1)
    a *= 3
    p = t.nn.Parameter(cls(t.ones(2, 3)))
    layer = t.nn.Linear(3, 2, bias=False)
    layer.weight = p
    layer(t.ones(1, 3)).sum().backward()
    t.optim.Adam(layer.parameters(), lr=0.1).step()
    shown = (x.grad, w.grad, a, a[0], a[1:], t.cat([a, a]), t.ones(3) + a, a > 2, a.to(t.float64), a.view(3, 1), layer.weight)
    kinds = (type(x.grad).__name__, type(p).__name__, isinstance(p, t.nn.Parameter), x.shape, x.dtype, x.device, x.is_leaf)
    wanted = ("aten.mul", "aten.mm", "aten.relu", "aten.sum", "aten.threshold_backward", "aten.add_")
    return repr((*shown, *map(str, kinds), *(any(c.startswith(w) for c in calls) for w in wanted))).replace("tenfold.", "torch.")


def test_tensors_that_wrap_others_do_what_they_do_in_pytorch() -> None:
    ours = wrapped_program(tenfold, _C._disabled_torch_function_impl, tree_map)
    theirs = wrapped_program(torch, torch._C._disabled_torch_function_impl, torch.utils._pytree.tree_map)
    assert ours == theirs


def test_a_class_without_an_answer_is_named() -> None:
    class Silent(tenfold.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    x = tenfold.ones(2).as_subclass(Silent)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'aten.add.Tensor'.*Silent"):
        x + 1
    with pytest.raises(RuntimeError, match="defines no __torch_dispatch__"):
        tenfold.Tensor._make_wrapper_subclass(tenfold.nn.Parameter, (2,))


def networks(t: Any) -> dict[str, Any]:
    F = t.nn.functional
    return {
        "mlp": (t.nn.Sequential(t.nn.Linear(8, 16), t.nn.ReLU(), t.nn.Linear(16, 4)), (t.ones(5, 8),)),
        "convolutions": (
            t.nn.Sequential(t.nn.Conv2d(3, 8, 3, stride=2, padding=1), t.nn.ReLU(), t.nn.Conv2d(8, 8, 3, groups=2)),
            (t.ones(2, 3, 16, 16),),
        ),
        "transposed": (t.nn.ConvTranspose2d(4, 6, 3, stride=2), (t.ones(2, 4, 5, 5),)),
        "products": (lambda a, b: (a @ b).sum() + F.linear(a, b[0].t()).sum(), (t.ones(2, 3, 4), t.ones(2, 4, 5))),
        "einsum": (lambda a, b: t.einsum("bij,bjk->bik", a, b), (t.ones(2, 3, 4), t.ones(2, 4, 5))),
    }


@pytest.mark.parametrize("name", list(networks(tenfold)))
@pytest.mark.parametrize("backward", [False, True])
def test_operations_are_counted_as_by_pytorch(name: str, backward: bool) -> None:
    counts = []
    for t, counter in ((tenfold, flop_counter.FlopCounterMode), (torch, torch_flops.FlopCounterMode)):
        function, given = networks(t)[name]
        given = tuple(g.requires_grad_() for g in given)
        with counter(display=False) as mode:
            out = function(*given)
            if backward:
                out.sum().backward()
        by_module = {key: sum(found.values()) for key, found in mode.get_flop_counts().items()}
        counts.append((mode.get_total_flops(), by_module))
    assert counts[0][0] > 0
    assert counts[0] == counts[1]


def test_the_table_names_modules() -> None:
    net = tenfold.nn.Sequential(tenfold.nn.Linear(8, 16), tenfold.nn.Linear(16, 4))
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        flop_counter.FlopCounterMode(tenfold.nn.Linear(2, 2))
    with flop_counter.FlopCounterMode(display=False) as mode:
        net(tenfold.ones(5, 8))
    table = mode.get_table()
    assert "Sequential.0" in table
    assert "aten.addmm" in table
