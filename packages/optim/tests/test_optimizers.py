"""What every optimizer does around its rule: groups, state, checkpoints, hooks, closures and errors."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import tenfold
from tenfold.optim import SGD, Adam, AdamW, Optimizer, optimizer as optimizer_module, rule

# What every optimizer must do is tried with these; the others take parameters or gradients of another kind.
EVERY = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta", "Rprop", "ASGD", "Adafactor"]

OTHERS = {"LBFGS": "needs a closure", "Muon": "takes matrices only", "SparseAdam": "takes sparse gradients only"}

UNCOUNTED = {"SGD"}  # their rules do not depend on the number of the step


def defined() -> set[str]:
    """The optimizers in the package's modules. `swa_utils`, which averages modules, needs tenfold-nn."""
    names = [module.name for module in pkgutil.iter_modules(tenfold.optim.__path__) if module.name != "swa_utils"]
    found = (vars(importlib.import_module(f"tenfold.optim.{name}")).values() for name in names)
    classes = {item for items in found for item in items if isinstance(item, type) and issubclass(item, Optimizer)}
    return {item.__name__ for item in classes - {Optimizer, rule.RuleOptimizer}}


def test_every_optimizer_is_public_and_tried() -> None:
    assert defined() - set(tenfold.optim.__all__) == set(), "name it in tenfold/optim/__init__.py and in its __all__"
    assert defined() - {*EVERY, *OTHERS} == set(), "name it in EVERY, or in OTHERS with the reason, and try it there by hand"


def test_every_optimizer_is_named_where_optimizers_are_compared_with_pytorchs() -> None:
    # Those tests need PyTorch and are left out without it: who has none is to hear of a missing row, too.
    text = Path(__file__).with_name("test_optimizers_against_pytorch.py").read_text(encoding="utf-8")
    missing = sorted(name for name in defined() if f'"{name}"' not in text)
    assert missing == [], "give it rows in OPTIMIZERS of that file, or a test of its steps here and its name in NO_ROW there"


def leaf(*values: float) -> Any:
    return tenfold.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def with_grad(*values: float) -> Any:
    param = leaf(*values)
    param.grad = tenfold.ones_like(param).detach()
    return param


@pytest.mark.parametrize("name", EVERY)
def test_first_step_goes_against_the_gradient_and_maximize_along_it(name: str) -> None:
    for maximize in (False, True):
        param = with_grad(1.0, 2.0)
        getattr(tenfold.optim, name)([param], lr=0.01, maximize=maximize).step()
        moved = [new - old for new, old in zip(param.tolist(), [1.0, 2.0], strict=True)]
        assert all((change > 0) == maximize for change in moved)


@pytest.mark.parametrize("name", EVERY)
def test_minimizes_a_quadratic(name: str) -> None:
    param = leaf(1.0, -2.0)
    optimizer = getattr(tenfold.optim, name)([param], lr={"Adadelta": 20.0, "Adagrad": 0.5}.get(name, 0.05))
    for _ in range(200):
        optimizer.zero_grad()
        (param * param).sum().backward()
        optimizer.step()
    assert max(map(abs, param.tolist())) < 0.2


def test_adam_by_hand() -> None:
    # Kingma and Ba's algorithm 1 for gradients 1 and -3: m = 0.1 then -0.21, v = 0.001 then 0.009999
    param = leaf(0.0)
    optimizer = Adam([param], lr=0.1)
    expected = 0.0
    for grad, m, v, t in ((1.0, 0.1, 0.001, 1), (-3.0, -0.21, 0.009999, 2)):
        param.grad = tenfold.tensor([grad])
        optimizer.step()
        expected -= 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + 1e-8)
        assert param.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_pickle_and_deepcopy_continue_alike(name: str) -> None:
    param = with_grad()
    optimizer = getattr(tenfold.optim, name)([param], lr=0.1)
    optimizer.step()
    copies = [copy.deepcopy((optimizer, param)), pickle.loads(pickle.dumps((optimizer, param)))]
    param.grad = tenfold.tensor([2.0, -1.0])
    optimizer.step()
    for other, other_param in copies:
        assert other.param_groups[0]["params"][0] is other_param
        other_param.grad = tenfold.tensor([2.0, -1.0])
        other.step()
        assert other_param.tolist() == param.tolist()


def test_wrong_parameters() -> None:
    param = leaf()
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
        SGD(param)
    with pytest.raises(ValueError, match="empty parameter list"):
        SGD([])
    with pytest.raises(TypeError, match="can only optimize Tensors, but one of the params is int"):
        SGD([1])
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        SGD([param * 2])
    with pytest.raises(TypeError, match="ordered collections"):
        SGD([{"params": {param}}])
    with pytest.raises(ValueError, match="more than one parameter group"):
        SGD([{"params": [param]}, {"params": [param]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        SGD([param, param])
    with pytest.raises(TypeError, match="param_group must be a dict"):
        SGD([param]).add_param_group([leaf()])
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        Optimizer([param], {"lr": optimizer_module.required})


def test_groups_have_their_own_options() -> None:
    first, second = with_grad(1.0), with_grad(1.0)
    optimizer = SGD([{"params": first}, {"params": [second], "lr": 0.5}], lr=0.25)
    optimizer.step()
    assert (first.item(), second.item()) == (0.75, 0.5)
    third = with_grad(1.0)
    optimizer.add_param_group({"params": third})
    optimizer.step()
    assert third.item() == 0.75


def test_named_parameters() -> None:
    optimizer = SGD([("weight", leaf()), ("bias", leaf())])
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="Some param names are missing"):
        SGD([("weight", leaf()), leaf()])
    with pytest.raises(ValueError, match="cannot add param group without names"):
        optimizer.add_param_group({"params": [leaf()]})
    unnamed = SGD([leaf(), leaf()]).state_dict()
    optimizer.load_state_dict(unnamed)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]


def test_zero_grad() -> None:
    param, other = with_grad(), leaf()
    optimizer = SGD([param, other])
    grad = param.grad
    optimizer.zero_grad(set_to_none=False)
    assert param.grad is grad
    assert grad.tolist() == [0.0, 0.0]
    assert other.grad is None
    optimizer.zero_grad()
    assert param.grad is None


def test_a_parameter_without_gradient_is_left_alone() -> None:
    param, other = with_grad(), leaf()
    optimizer = Adam([param, other])
    optimizer.step()
    assert other.tolist() == [1.0, 2.0]
    assert list(optimizer.state_dict()["state"]) == [0]


def test_step_is_a_number_while_training_and_a_tensor_in_a_checkpoint() -> None:
    param = with_grad()
    optimizer = AdamW([param])
    optimizer.step()
    assert optimizer.state[param]["step"] == 1
    step = optimizer.state_dict()["state"][0]["step"]
    assert step.dtype is tenfold.float32
    assert step.shape == ()
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.step()
    assert optimizer.state_dict()["state"][0]["step"].item() == 2


def test_closure_runs_with_gradients_and_its_loss_comes_back() -> None:
    param = leaf(1.0)
    optimizer = SGD([param], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (param * param).sum()
        loss.backward()
        return loss

    with tenfold.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 1.0
    assert param.item() == 0.0
    assert param.requires_grad
    assert param.is_leaf


def test_load_casts_floating_state_to_the_parameter_and_checks_sizes() -> None:
    param = with_grad()
    optimizer = Adam([param])
    optimizer.step()
    double = leaf().detach().double().requires_grad_()
    other = Adam([double])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[double]["exp_avg"].dtype is tenfold.float64
    assert other.state_dict()["state"][0]["step"].dtype is tenfold.float32
    with pytest.raises(ValueError, match="different number of parameter groups"):
        other.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size"):
        other.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_a_double_run_counts_in_double() -> None:
    before = tenfold.get_default_dtype()
    tenfold.set_default_dtype(tenfold.float64)
    try:
        optimizer = Adam([with_grad()])
        optimizer.step()
        assert optimizer.state_dict()["state"][0]["step"].dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(before)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in UNCOUNTED])
def test_steps_are_counted_in_a_tensor_and_old_checkpoints_numbers_become_one(name: str) -> None:
    param = with_grad()
    optimizer = getattr(tenfold.optim, name)([param], lr=0.1)
    optimizer.step()
    assert optimizer.state[param]["step"].item() == 1.0
    saved = copy.deepcopy(optimizer.state_dict())
    state = saved["state"][0]
    state.update({key: state[key].item() for key in optimizer.scalars})
    fresh = getattr(tenfold.optim, name)([param], lr=0.1)
    fresh.load_state_dict(saved)
    for key in optimizer.scalars:
        assert fresh.state[param][key].item() == optimizer.state[param][key].item()
    fresh.step()
    assert fresh.state[param]["step"].item() == 2.0


def test_state_that_is_no_parameters_goes_through_checkpoints() -> None:
    optimizer = Adam([with_grad()])
    optimizer.step()
    optimizer.state["note"] = "kept"
    other = Adam([with_grad()])
    other.load_state_dict(optimizer.state_dict())
    assert other.state["note"] == "kept"


def test_step_hooks_run_in_order_and_can_be_removed() -> None:
    seen: list[str] = []
    optimizer = SGD([with_grad()])
    everywhere = [
        optimizer_module.register_optimizer_step_pre_hook(lambda *_: seen.append("global pre")),
        optimizer_module.register_optimizer_step_post_hook(lambda *_: seen.append("global post")),
    ]
    with optimizer.register_step_pre_hook(lambda *_: seen.append("pre")):
        post = optimizer.register_step_post_hook(lambda *_: seen.append("post"))
        optimizer.step()
    assert seen == ["global pre", "pre", "post", "global post"]
    for handle in [*everywhere, post]:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4


def test_a_pre_hook_may_replace_the_arguments() -> None:
    optimizer = SGD([with_grad()])
    optimizer.register_step_pre_hook(lambda self, args, kwargs: ((self, lambda: 7.0), {}))
    assert optimizer.step() == 7.0
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_checkpoint_hooks() -> None:
    optimizer = SGD([leaf()])
    seen: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda _: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda _: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda _, state: {**state, "extra": 1})
    saved = optimizer.state_dict()
    assert saved["extra"] == 1
    assert seen == ["first", "second"]

    def with_another_rate(_: Any, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "param_groups": [{**state["param_groups"][0], "lr": 9.0}]}

    optimizer.register_load_state_dict_pre_hook(with_another_rate)
    optimizer.register_load_state_dict_post_hook(lambda _: seen.append("loaded"))
    optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["lr"] == 9.0
    assert seen[-1] == "loaded"


def test_a_wrapper_without_the_bases_init_patches_its_step() -> None:
    class Wrapper(tenfold.optim.Optimizer):
        def __init__(self, inner: tenfold.optim.Optimizer) -> None:
            self.inner, self.defaults, self.state, self.param_groups = inner, {}, inner.state, inner.param_groups
            self._optimizer_step_pre_hooks = OrderedDict()
            self._optimizer_step_post_hooks = OrderedDict()
            self._patch_step_function()

        def step(self, closure=None):
            return self.inner.step(closure)

    weight = tenfold.ones(1, requires_grad=True)
    wrapper = Wrapper(tenfold.optim.SGD([weight], lr=0.5))
    seen: list[str] = []
    wrapper.register_step_pre_hook(lambda *_: seen.append("pre"))
    weight.sum().backward()
    wrapper.step()
    assert (weight.item(), seen, Wrapper.step.hooked) == (0.5, ["pre"], True)
    assert wrapper._zero_grad_profile_name == "Optimizer.zero_grad#Wrapper.zero_grad"


def test_a_users_optimizer_gets_hooks_and_state() -> None:
    class Sign(Optimizer):
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @tenfold.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for param in group["params"]:
                    self.state[param]["seen"] = self.state[param].get("seen", 0) + 1
                    param.add_(param.grad.sign(), alpha=-group["lr"])

    param = with_grad(1.0)
    optimizer = Sign([param], lr=0.5)
    seen: list[int] = []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    optimizer.step()
    optimizer.step()
    assert (param.item(), len(seen)) == (0.0, 2)
    assert optimizer.state_dict()["state"] == {0: {"seen": 2}}


def test_differentiable_steps_carry_gradients() -> None:
    start = leaf(1.0)
    grad = leaf(0.5)
    for name in ("SGD", "Adam", "RMSprop", "NAdam"):
        param = start.clone()
        optimizer = getattr(tenfold.optim, name)([param], lr=0.1, differentiable=True)
        param.grad = grad * 2
        optimizer.step()
        start.grad = None
        param.sum().backward()
        assert start.grad.tolist() == [1.0]


def test_lr_as_a_tensor() -> None:
    param = with_grad(1.0)
    SGD([param], lr=tenfold.tensor(0.25)).step()
    assert param.item() == 0.75
    with pytest.raises(ValueError, match="1-element"):
        SGD([param], lr=tenfold.tensor([0.1, 0.2]))
    with pytest.raises(ValueError, match="lr as a Tensor is not supported"):
        Adam([param], lr=tenfold.tensor(0.1), foreach=True)


def test_a_device_kernel_gets_whole_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "_fused_kernels", {})
    calls: list[int] = []

    def kernel(params: list[Any], grads: list[Any], states: list[Any], group: dict[str, Any]) -> None:
        calls.append(len(params))
        for param, grad, state in zip(params, grads, states, strict=True):
            state["step"] += 1
            param.add_(grad, alpha=-group["lr"])

    rule.register_fused("adam", "cpu", kernel)
    params = [with_grad(1.0), leaf(1.0), with_grad(2.0)]
    optimizer = AdamW(params, lr=0.5)
    optimizer.step()
    assert calls == [2]
    assert [param.item() for param in params] == [0.5, 1.0, 1.5]
    assert optimizer.state_dict()["state"][2]["step"].item() == 1
    AdamW(params, fused=False).step()
    SGD(params).step()
    assert calls == [2]
    with pytest.raises(ValueError, match="already has a fused kernel"):
        rule.register_fused("adam", "cpu", kernel)


def test_capturable_needs_a_device_kernel() -> None:
    with pytest.raises(AssertionError, match="If capturable=True, params and state_steps must be on supported devices"):
        Adam([with_grad()], capturable=True).step()


def test_capturable_steps_on_the_cpu_where_it_is_fused() -> None:
    one, other = leaf(), leaf()
    for param, options in ((one, {"fused": True, "capturable": True}), (other, {})):
        param.grad = tenfold.ones_like(param)
        Adam([param], **options).step()
    assert one.tolist() == other.tolist()
    with pytest.raises(AssertionError, match="If capturable=True"):
        Adam([one], capturable=True).step()
