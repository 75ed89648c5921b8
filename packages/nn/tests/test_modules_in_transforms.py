"""Modules as functions of their tensors, under the older names, and batch norms that vmap can run."""

from __future__ import annotations

import warnings

import pytest

import tenfold
from tenfold import func, nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.weight = self.linear.weight
        self.register_buffer("shift", tenfold.ones(3))
        self.register_buffer("same_shift", self.shift)

    def forward(self, x):
        return nn.functional.linear(self.linear(x), self.weight) + self.shift + self.same_shift


@pytest.fixture(autouse=True)
def _older_names():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def test_older_names_say_what_replaces_them():
    with pytest.warns(FutureWarning, match=r"integrated functorch.*tenfold\.func\.functional_call"):
        func.make_functional(nn.Linear(1, 1))
    with pytest.raises(AttributeError, match="make_functionals"):
        getattr(func, "make" + "_functionals")


def test_functions_of_parameters():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), tenfold.randn(5, 3)
    f, params = func.make_functional(net)
    assert len(params) == 4
    assert all(p.requires_grad for p in params)
    assert tenfold.equal(f(params, x), net(x))
    assert tenfold.equal(f(tuple(p * 0 for p in params), x), tenfold.zeros(5, 1))
    assert tenfold.equal(f(params, x), net(x))
    gradients = func.grad(lambda params: f(params, x).sum())(params)
    net(x).sum().backward()
    for g, p in zip(gradients, net.parameters()):
        assert tenfold.allclose(g, p.grad)
    assert not any(p.requires_grad for p in func.make_functional(net, disable_autograd_tracking=True)[1])
    with pytest.raises(RuntimeError, match="make_functional_with_buffers"):
        func.make_functional(Tied())


def test_tied_tensors_are_one_argument():
    net, x = Tied(), tenfold.randn(2, 3)
    f, params, buffers = func.make_functional_with_buffers(net)
    assert (len(params), len(buffers)) == (2, 1)
    assert tenfold.allclose(f(params, buffers, x), net(x))
    assert not tenfold.allclose(f((params[0] * 2, params[1]), buffers, x), net(x))


def test_ensembles():
    nets, xs = [Tied() for _ in range(3)], tenfold.randn(3, 2, 3)
    f, params, buffers = func.combine_state_for_ensemble(nets)
    assert tenfold.allclose(func.vmap(f)(params, buffers, xs), tenfold.stack([net(x) for net, x in zip(nets, xs)]), atol=1e-6)
    for models, words in (
        ([], "at least one model"), ([nets[0], Tied().eval()], "same training/eval mode"), ([nets[0], nn.ReLU()], "same class"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=words):
            func.combine_state_for_ensemble(models)


def test_batch_norms_without_statistics():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.InstanceNorm1d(3, track_running_stats=True))
    assert func.replace_all_batch_norm_modules_(net) is net
    norm = net[1]
    assert (norm.running_mean, norm.running_var, norm.num_batches_tracked, norm.track_running_stats) == (None, None, None, False)
    assert net[2].track_running_stats
    net = net[:2]
    params = {k: tenfold.stack([v.detach(), v.detach() * 2]) for k, v in net.named_parameters()}
    assert func.vmap(lambda p, x: func.functional_call(net, p, x))(params, tenfold.randn(2, 4, 2)).shape == (2, 4, 3)


def test_functions_without_mutation():
    def f(x):
        y = x.clone()
        y.view(-1)[0].mul_(3)
        return y.sum()

    x = tenfold.tensor([1.0, 2.0])
    assert func.functionalize(f)(x).item() == 5
    assert func.grad(func.functionalize(f, remove="mutations_and_views"))(x).tolist() == [3.0, 1.0]
    assert func.vmap(func.functionalize(f))(tenfold.ones(2, 2)).tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="invalid argument for remove=views"):
        func.functionalize(f, remove="views")


def test_values_beneath_transforms():
    seen = []

    def f(x):
        seen.append((func.debug_unwrap(x), func.debug_unwrap(x, recurse=False)))
        return x.sin().sum()

    x = tenfold.arange(6.0).reshape(3, 2)
    func.vmap(func.grad(f))(x)
    func.jvp(f, (x,), (x,))
    for whole, one in seen:
        assert tenfold.equal(whole, x)
        assert tenfold.equal(one, x)
        assert not whole.requires_grad
    assert func.debug_unwrap(x) is x
