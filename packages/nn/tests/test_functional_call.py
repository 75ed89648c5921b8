"""Modules called with other tensors: names they have, by any way, and names they do not have."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import nn
from tenfold.func import functional_call
from tenfold.nn.utils import stateless


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(1, 1)
        self.register_buffer("buffer", tenfold.ones(1))
        self.foo = 0.0

    def forward(self, x):
        return self.l1(x) + self.buffer + getattr(self, "extra", 0.0)


WEIGHTS = {"l1.weight": tenfold.tensor([[2.0]]), "l1.bias": tenfold.tensor([5.0]), "buffer": tenfold.tensor([3.0])}


def test_an_unknown_name_is_an_attribute_meanwhile():
    net = Net()
    before = dict(vars(net))
    assert functional_call(net, {**WEIGHTS, "extra": tenfold.tensor([10.0])}, tenfold.ones(1, 1)).item() == 20
    assert functional_call(net, {**WEIGHTS, "extra": nn.Parameter(tenfold.tensor([1.0]))}, tenfold.ones(1, 1)).item() == 11
    assert vars(net) == before
    assert set(net._parameters) == set()


def test_strict_names():
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'extra'\.\s+Missing key\(s\): 'buffer', 'l1.bias'\."):
        functional_call(Net(), {"l1.weight": tenfold.ones(1, 1), "extra": tenfold.ones(1)}, tenfold.ones(1, 1), strict=True)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"l1.weight": 3}, TypeError, "3 is not an instance of torch.Tensor"),
        ({"foo": tenfold.ones(1)}, TypeError, "attribute `foo`: 0.0 is not an instance of torch.Tensor"),
        ({"l9.weight": tenfold.ones(1)}, AttributeError, "has no attribute .l9."),
    ],
)
def test_what_cannot_be_given(given, error, told):
    net = Net()
    with pytest.raises(error, match=told):
        functional_call(net, given, tenfold.ones(1, 1))
    assert net.foo == 0.0


def test_none_takes_a_bias_away():
    assert functional_call(Net(), {**WEIGHTS, "l1.bias": None}, tenfold.ones(1, 1)).item() == 5


def test_a_module_that_refers_to_one_it_is_in():
    net = Net()
    net.l1.m = net
    weights = {"l1.m.l1.weight": tenfold.ones(1, 1), "l1.bias": tenfold.zeros(1), "l1.m.buffer": tenfold.zeros(1)}
    assert functional_call(net, weights, tenfold.ones(1, 1), tie_weights=False).item() == 1


def test_the_old_path_says_so():
    with pytest.warns(FutureWarning, match="Please use `torch.func.functional_call`"):
        stateless.functional_call(Net(), WEIGHTS, tenfold.ones(1, 1))


def test_a_block_in_which_a_module_has_other_tensors():
    net, weight = Net(), tenfold.tensor([[4.0]], requires_grad=True)
    own = net.l1.weight
    with nn.utils.stateless._reparametrize_module(net, {"l1.weight": weight, "buffer": tenfold.zeros(1)}) as entered:
        assert entered is None
        assert net.l1.weight is weight
        (net(tenfold.ones(1, 1)) - net.l1.bias).sum().backward()
    assert net.l1.weight is own
    assert weight.grad.item() == 1
    assert net.buffer.item() == 1


def test_prefixes_are_taken_off():
    state = nn.Sequential(Net()).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "0.")
    Net().load_state_dict(state)
