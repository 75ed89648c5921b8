"""nn.utils.prune against PyTorch: masks, values, names, errors."""

from __future__ import annotations

import pickle

import pytest

import tenfold
from tenfold import nn
from tenfold.nn.utils import prune

torch = pytest.importorskip("torch")
torch_prune = pytest.importorskip("torch.nn.utils.prune")


def pair(seed=0):
    """The same Conv2d(3, 4, 2) here and there."""
    torch.manual_seed(seed)
    theirs = torch.nn.Conv2d(3, 4, 2)
    ours = nn.Conv2d(3, 4, 2)
    ours.load_state_dict({name: tenfold.tensor(value.tolist()) for name, value in theirs.state_dict().items()})
    return ours, theirs


def assert_same(ours, theirs):
    mine, their = ours.state_dict(), theirs.state_dict()
    assert sorted(mine) == sorted(their)
    for name, value in their.items():
        assert mine[name].tolist() == value.tolist(), name
    assert ours.weight.tolist() == theirs.weight.tolist()
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]


STEPS = {
    "identity": [("identity", {})],
    "l1": [("l1_unstructured", {"amount": 0.3})],
    "l1 twice": [("l1_unstructured", {"amount": 0.3}), ("l1_unstructured", {"amount": 5})],
    "ln": [("ln_structured", {"amount": 1, "n": 2, "dim": 1}), ("ln_structured", {"amount": 0.5, "n": 1, "dim": -1})],
    "ln infinity": [("ln_structured", {"amount": 2, "n": float("inf"), "dim": 0})],
    "mixed": [("ln_structured", {"amount": 2, "n": 2, "dim": 0}), ("l1_unstructured", {"amount": 0.5})],
    "random": [("random_unstructured", {"amount": 0.4}), ("random_structured", {"amount": 2, "dim": 0})],
    "nothing": [("random_structured", {"amount": 0, "dim": 0}), ("l1_unstructured", {"amount": 0.0})],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_masks_are_pytorch_s(steps):
    ours, theirs = pair()
    tenfold.manual_seed(3)
    torch.manual_seed(3)
    for name, arguments in steps:
        assert getattr(prune, name)(ours, "weight", **arguments) is ours
        getattr(torch_prune, name)(theirs, "weight", **arguments)
        assert_same(ours, theirs)
    assert prune.is_pruned(nn.Sequential(ours))
    prune.remove(ours, "weight")
    torch_prune.remove(theirs, "weight")
    assert_same(ours, theirs)
    assert not prune.is_pruned(ours)


def test_global_pruning_over_two_layers():
    (ours, theirs), (ours2, theirs2) = pair(), pair(1)
    prune.l1_unstructured(ours, "weight", 4)
    torch_prune.l1_unstructured(theirs, "weight", 4)
    prune.global_unstructured([(ours, "weight"), (ours2, "weight")], prune.L1Unstructured, amount=0.4)
    torch_prune.global_unstructured([(theirs, "weight"), (theirs2, "weight")], torch_prune.L1Unstructured, amount=0.4)
    assert_same(ours, theirs)
    assert_same(ours2, theirs2)


def test_gradients_stop_at_the_mask_and_pickling_keeps_it():
    layer = prune.custom_from_mask(nn.Linear(2, 1), "weight", mask=tenfold.tensor([[1.0, 0.0]]))
    copied = pickle.loads(pickle.dumps(layer))
    layer(tenfold.ones(1, 2)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[1.0, 0.0]]
    with tenfold.no_grad():
        copied.weight_orig.fill_(2.0)
        copied(tenfold.ones(1, 2))
    assert copied.weight.tolist() == [[2.0, 0.0]]


def test_a_recurrent_layer_reads_the_pruned_weight():
    layer = prune.random_unstructured(nn.LSTM(2, 3), "weight_ih_l0", 1.0)
    assert sum(isinstance(weight, nn.Parameter) for weight in layer._flat_weights) == 3
    outputs = [layer(value * tenfold.ones(1, 1, 2))[0].tolist() for value in (0.0, 5.0)]
    assert outputs[0] == outputs[1]


REFUSED = {
    "type": lambda p, n, t: p.l1_unstructured(n.Linear(3, 2), "weight", "much"),
    "fraction": lambda p, n, t: p.random_unstructured(n.Linear(3, 2), "weight", 1.5),
    "negative": lambda p, n, t: p.random_structured(n.Linear(3, 2), "weight", -2, 0),
    "too many": lambda p, n, t: p.l1_unstructured(n.Linear(3, 2), "weight", 100),
    "vector": lambda p, n, t: p.ln_structured(n.Linear(3, 2), "bias", 0.5, 2, 0),
    "dim": lambda p, n, t: p.random_structured(n.Linear(3, 2), "weight", 1, 5),
    "name": lambda p, n, t: p.identity(n.Linear(3, 2), "nothing"),
    "scores": lambda p, n, t: p.l1_unstructured(n.Linear(3, 2), "weight", 1, importance_scores=t.zeros(3)),
    "mask": lambda p, n, t: p.custom_from_mask(n.Linear(3, 2), "weight", t.zeros(3)),
    "prune": lambda p, n, t: p.L1Unstructured(1).prune(t.zeros(2, 3), importance_scores=t.zeros(3)),
    "remove": lambda p, n, t: p.remove(n.Linear(3, 2), "weight"),
    "parameters": lambda p, n, t: p.global_unstructured(3, p.L1Unstructured, amount=1),
    "no dict": lambda p, n, t: p.global_unstructured([], p.L1Unstructured, importance_scores=3, amount=1),
    "abstract": lambda p, n, t: p.BasePruningMethod(),
    "no method": lambda p, n, t: p.PruningContainer().add_pruning_method(3),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_refusals(refused):
    with pytest.raises(Exception) as theirs:
        refused(torch_prune, torch.nn, torch)
    with pytest.raises(type(theirs.value)) as ours:
        refused(prune, nn, tenfold)
    assert str(ours.value) == str(theirs.value).replace("torch.Size", "tenfold.Size")


def test_a_mask_that_fails_leaves_the_module_as_it_was():
    class Odd(prune.BasePruningMethod):
        PRUNING_TYPE = "odd"

        def compute_mask(self, t, default_mask):
            return default_mask

    layer = prune.l1_unstructured(nn.Linear(3, 2), "weight", 2)
    with pytest.raises(ValueError, match="Unrecognized PRUNING_TYPE odd"):
        Odd.apply(layer, "weight")
    assert [type(hook) for hook in layer._forward_pre_hooks.values()] == [prune.L1Unstructured]
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE'):
        prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2)
