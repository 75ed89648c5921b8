"""Every kind of module hook: when it runs, what it sees, what its result replaces."""

from __future__ import annotations

import copy
import gc
import weakref
from collections import OrderedDict

import pytest

import tenfold
from tenfold import nn
from tenfold.nn import hooks


class Add(nn.Module):
    def forward(self, x, *, y=0):
        return x + y


class Fails(nn.Module):
    def forward(self, x):
        raise ValueError("no")


def test_forward_hooks_see_and_replace():
    module, seen = Add(), []
    module.register_forward_pre_hook(lambda m, args: seen.append((m, args)))
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_hook(lambda m, args, output: output * 10)
    module.register_forward_hook(lambda m, args, output: seen.append((args, output)))
    assert module(1) == 20
    assert seen == [(module, (1,)), ((2,), 20)]


def test_forward_hooks_with_kwargs():
    module, seen = Add(), []
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"y": kwargs["y"] * 2}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, output: seen.append(kwargs), with_kwargs=True)
    assert module(1, y=3) == 7
    assert seen == [{"y": 6}]
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="new_args, new_kwargs"):
        module(1, y=1)


def test_prepend_and_removal():
    module, order = Add(), []
    handles = [module.register_forward_hook(lambda *a, i=i: order.append(i), prepend=i == 2) for i in range(3)]
    module(1)
    assert order == [2, 0, 1]
    handles[0].remove()
    handles[0].remove()
    with handles[2]:
        pass
    order.clear()
    module(1)
    assert order == [1]
    handles[1].remove()
    assert module(1) == 1
    assert "_hooked" not in module.__dict__


def test_always_call_runs_after_a_failure():
    module, seen = Fails(), []
    module.register_forward_hook(lambda *a: seen.append("plain"))
    module.register_forward_hook(lambda m, args, output: seen.append(output), always_call=True)
    with pytest.raises(ValueError, match="no"):
        module(1)
    assert seen == [None]

    def fails(*arguments):
        raise KeyError("hook")

    module.register_forward_hook(fails, always_call=True)
    with pytest.warns(UserWarning, match="silenced"), pytest.raises(ValueError, match="no"):
        module(1)


def test_hooks_survive_deepcopy():
    module = nn.ReLU()
    module.register_forward_hook(lambda m, args, output: output + 1)
    assert copy.deepcopy(module)(tenfold.ones(1)).item() == 2


def test_full_backward_hook_sees_both_ends():
    linear, seen = nn.Linear(2, 1, bias=False), []
    linear.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append((m, grad_in, grad_out)))
    x = tenfold.ones(1, 2, requires_grad=True)
    (linear(x) * 3).sum().backward()
    ((module, (grad_in,), (grad_out,)),) = seen
    assert module is linear
    assert grad_out.tolist() == [[3.0]]
    assert grad_in.tolist() == (3 * linear.weight.detach()).tolist()
    assert x.grad.tolist() == grad_in.tolist()


def test_full_backward_hook_replaces_the_gradient():
    module = nn.Identity()
    module.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0] * 10,))
    x = tenfold.ones(2, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_full_backward_pre_hook_replaces_the_outputs_gradient():
    module, order = nn.Identity(), []
    module.register_full_backward_pre_hook(lambda m, grad_out: order.append("second"))
    module.register_full_backward_pre_hook(lambda m, grad_out: (grad_out[0] * 2,), prepend=True)
    module.register_full_backward_hook(lambda m, grad_in, grad_out: order.append(grad_out[0].tolist()))
    x = tenfold.ones(2, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert order == ["second", [2.0, 2.0]]


def test_full_backward_hook_with_several_tensors_and_others():
    class Two(nn.Module):
        def forward(self, a, text, b):
            return a * 2, text, b * 3

    module, seen = Two(), []
    module.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append((grad_in, grad_out)))
    a, b = tenfold.ones(1, requires_grad=True), tenfold.ones(1)
    first, text, second = module(a, "t", b)
    assert text == "t"
    assert not second.requires_grad
    first.sum().backward()
    ((grad_in, grad_out),) = seen
    assert grad_in[0].tolist() == [2.0]
    assert grad_in[1] is None
    assert grad_in[2].tolist() == [0.0]  # a tensor that needs no gradient has zeros
    assert grad_out[0].tolist() == [1.0]
    assert grad_out[1:] == (None, None)


def test_full_backward_hook_without_gradient_of_inputs():
    linear, seen = nn.Linear(2, 1), []
    handle = linear.register_full_backward_hook(lambda m, grad_in, grad_out: seen.append(grad_in))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        linear(tenfold.ones(1, 2)).sum().backward()
    assert seen == [(None,)]
    assert linear.weight.grad is not None
    handle.remove()
    linear.register_full_backward_hook(lambda m, grad_in, grad_out: (tenfold.ones(1),))
    with pytest.raises(RuntimeError, match="no input requires"), pytest.warns(UserWarning, match="no inputs"):
        linear(tenfold.ones(1, 2)).sum().backward()


def test_full_backward_hook_with_a_wrong_count():
    module = nn.Identity()
    module.register_full_backward_hook(lambda m, grad_in, grad_out: (grad_in[0], None))
    with pytest.raises(RuntimeError, match="invalid number of grad_input"):
        module(tenfold.ones(1, requires_grad=True)).sum().backward()


def test_backward_hooks_are_quiet_without_gradients():
    module = nn.Identity()
    module.register_full_backward_hook(lambda *a: 1 / 0)
    x = tenfold.ones(1, requires_grad=True)
    with tenfold.no_grad():
        assert module(x).item() == 1


def test_regular_backward_hook():
    module, seen = nn.ReLU(), []
    module.register_backward_hook(lambda m, grad_in, grad_out: seen.append(grad_out[0].tolist()))
    with pytest.warns(FutureWarning, match="Please use register_full_backward_hook"):
        module(tenfold.ones(2, requires_grad=True)).sum().backward()
    assert seen == [[1.0, 1.0]]
    with pytest.raises(RuntimeError, match="Cannot use both"):
        module.register_full_backward_hook(lambda *a: None)


def test_global_hooks_run_for_every_module():
    order = []
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: order.append("pre")),
        hooks.register_module_forward_hook(lambda m, args, output: order.append("forward")),
        hooks.register_module_full_backward_pre_hook(lambda m, grad: order.append("backward pre")),
        hooks.register_module_full_backward_hook(lambda m, grad_in, grad_out: order.append("backward")),
    ]
    try:
        nn.ReLU()(tenfold.ones(1, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        hooks.GLOBAL.is_full_backward = None
    assert order == ["pre", "forward", "backward pre", "backward"]
    nn.ReLU()(tenfold.ones(1))
    assert len(order) == 4
    assert nn.Module._hooked is False


def test_registration_hooks_replace_what_is_registered():
    seen = []
    handles = [
        hooks.register_module_parameter_registration_hook(lambda m, name, value: seen.append(("p", name))),
        hooks.register_module_buffer_registration_hook(lambda m, name, value: seen.append(("b", name))),
        hooks.register_module_module_registration_hook(lambda m, name, value: nn.Tanh() if name == "swap" else None),
    ]
    try:
        module = nn.Module()
        module.weight = nn.Parameter(tenfold.ones(1))
        module.register_buffer("state", None)
        module.swap = nn.ReLU()
    finally:
        for handle in handles:
            handle.remove()
    assert seen == [("p", "weight"), ("b", "state")]
    assert isinstance(module.swap, nn.Tanh)


def test_hooks_that_another_class_saved_are_called():
    layer = tenfold.nn.Linear(1, 1)
    state = layer.__getstate__()
    seen = []
    state["_forward_hooks"] = OrderedDict({0: lambda *_: seen.append(1)})
    other = tenfold.nn.Linear(1, 1)
    other.__setstate__(state)
    other(tenfold.ones(1, 1))
    assert seen == [1]


def test_compile_leaves_the_module_with_one_warning(monkeypatch):
    monkeypatch.setattr("tenfold.nn.module._compile_told", False)
    layer = tenfold.nn.Linear(1, 1)
    with pytest.warns(UserWarning, match=r"Module.compile: .* stays as it is"):
        assert layer.compile(fullgraph=True) is None
    layer.compile()
    assert layer(tenfold.ones(1, 1)).shape == (1, 1)


def test_full_backward_hooks_sleep_in_double_backward():
    loss, calls = nn.MSELoss(), []
    loss.register_full_backward_hook(lambda module, inputs, outputs: calls.append(1))
    x = tenfold.tensor([0.5], requires_grad=True)
    (g,) = tenfold.autograd.grad(loss(x, tenfold.zeros(1)), x, create_graph=True)
    assert tenfold.autograd.grad(g, x)[0].tolist() == [2.0]
    assert calls == [1]


@pytest.mark.parametrize(
    ("forward", "told"),
    [
        (lambda x: [x * 2], "does not return a single Tensor or a tuple of Tensors"),
        (lambda x: (x * 2, x + 1), "outputs are generated by different autograd Nodes"),
        (lambda x: (x * 2) + 1, "the forward contains multiple autograd Nodes"),
    ],
)
def test_a_regular_hook_tells_what_it_will_not_see(forward, told):
    class Net(nn.Module):
        def forward(self, x):
            return forward(x)

    net = Net()
    net.register_backward_hook(lambda *a: None)
    with pytest.warns(FutureWarning, match=told):
        net(tenfold.ones(1, requires_grad=True) * 1)


def test_a_full_hook_of_what_is_no_tensor_is_told():
    class Net(nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    net = Net()
    net.register_full_backward_hook(lambda *a: None)
    with pytest.warns(UserWarning, match="should be a Tensor or a tuple of Tensors"):
        net(tenfold.ones(1, requires_grad=True))


def test_tables_of_global_hooks_may_be_replaced():
    called = []
    hooks.register_module_forward_hook(lambda *a: called.append(1))
    nn.ReLU()(tenfold.ones(1))
    nn.modules.module._global_forward_hooks = OrderedDict()
    nn.ReLU()(tenfold.ones(1))
    assert called == [1]


def test_a_load_hook_keeps_no_module_alive():
    gc.disable()
    try:
        module = nn.Linear(1, 1)
        module.register_load_state_dict_pre_hook(lambda *a: None)
        gone = weakref.ref(module)
        del module
        assert gone() is None
    finally:
        gc.enable()
