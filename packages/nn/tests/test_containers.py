"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import copy

import pytest

import tenfold
from tenfold import nn


def three():
    return nn.Identity(), nn.ReLU(), nn.Tanh()


def kinds(container):
    return [type(module).__name__ for module in container]


@pytest.mark.parametrize("make", [lambda modules: nn.Sequential(*modules), nn.ModuleList])
def test_numbered_containers_work_like_lists(make):
    modules = three()
    box = make(modules)
    assert len(box) == 3
    assert list(box) == list(modules)
    assert box[-1] is modules[2]
    assert modules[1] in box
    assert type(box[:2]) is type(box)
    assert list(box[1:]) == list(modules[1:])
    box[1] = nn.GELU()
    assert kinds(box) == ["Identity", "GELU", "Tanh"]
    del box[0]
    assert kinds(box) == ["GELU", "Tanh"]
    assert list(box._modules) == ["0", "1"]
    box.append(nn.ReLU())
    box.insert(1, nn.Sigmoid())
    box.extend([nn.SiLU()])
    assert kinds(box) == ["GELU", "Sigmoid", "Tanh", "ReLU", "SiLU"]
    assert kinds([box.pop(-1)]) == ["SiLU"]
    del box[1:3]
    assert kinds(box) == ["GELU", "ReLU"]
    assert list(box._modules) == ["0", "1"]
    for wrong in (lambda: box[5], lambda: box.pop(7), lambda: box.__setitem__(4, nn.ReLU())):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(TypeError):
        make([3])
    with pytest.raises(TypeError):
        box.append(3)


def test_sequential():
    named = nn.Sequential({"a": nn.Identity(), "b": nn.ReLU()})
    assert list(named[:1]._modules) == ["a"]
    assert named.b is named[1]
    named[1] = nn.Tanh()
    assert list(named._modules) == ["a", "b"]
    assert kinds(named) == ["Identity", "Tanh"]
    assert nn.Sequential(nn.ReLU())(tenfold.tensor([-1.0])).item() == 0
    one, two = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh())
    assert kinds(one + two) == ["ReLU", "Tanh"]
    assert kinds(one * 2) == kinds(2 * one) == ["ReLU", "ReLU"]
    one += two
    one *= 2
    assert kinds(one) == ["ReLU", "Tanh"] * 2
    assert one.append(nn.GELU()) is one
    for wrong, error in (
        (lambda: one + 3, ValueError),
        (lambda: one * 0, ValueError),
        (lambda: one * "a", TypeError),
        (lambda: one.insert(9, nn.ReLU()), IndexError),
        (lambda: one.insert(0, 3), AssertionError),
    ):
        with pytest.raises(error):
            wrong()


def test_module_list():
    box = nn.ModuleList([nn.ReLU()]) + nn.ModuleList([nn.Tanh()])
    box += [nn.GELU()]
    assert isinstance(box, nn.ModuleList)
    assert kinds(box) == ["ReLU", "Tanh", "GELU"]
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    with pytest.raises(TypeError):
        box.extend(3)
    with pytest.raises(NotImplementedError):
        box()


def test_module_dict():
    box = nn.ModuleDict({"a": nn.ReLU()})
    box.update([("b", nn.Tanh()), ("c", nn.GELU())])
    box["d"] = nn.Identity()
    assert list(box) == list(box.keys()) == ["a", "b", "c", "d"]
    assert "b" in box
    assert len(box) == 4
    assert isinstance(box.pop("d"), nn.Identity)
    assert dict(box.items()) == dict(zip(box, box.values(), strict=True))
    del box["a"]
    box.clear()
    assert len(box) == 0
    for wrong, error in ((3, TypeError), ([3], TypeError), ([(1, 2, 3)], ValueError)):
        with pytest.raises(error):
            nn.ModuleDict(wrong)
    with pytest.raises(KeyError):
        box["x"]


def test_parameter_list():
    values = nn.ParameterList([nn.Parameter(tenfold.ones(2)), tenfold.ones(3), 4])
    assert [name for name, _ in values.named_parameters()] == ["0", "1"]
    assert values[-1] == 4
    assert len(values) == 3
    assert isinstance(values[1], nn.Parameter)
    assert len(values[:2]) == 2
    values[0] = tenfold.zeros(5)
    values += [tenfold.ones(1)]
    assert values.append(7) is values
    assert [v if isinstance(v, int) else v.numel() for v in values] == [5, 3, 4, 1, 7]
    assert repr(nn.ParameterList([3])) == "ParameterList(  (0): Object of type: int)"
    assert list(values.state_dict()) == ["0", "1", "3"]
    for wrong, error in (
        (lambda: values[9], IndexError),
        (lambda: values["a"], TypeError),
        (lambda: values.extend(3), TypeError),
        (lambda: values(), RuntimeError),
    ):
        with pytest.raises(error):
            wrong()


def test_parameter_dict():
    values = nn.ParameterDict({"b": tenfold.ones(2), "a": nn.Parameter(tenfold.ones(3))})
    values["n"] = 4
    assert list(values) == ["a", "b", "n"]
    assert list(reversed(values)) == ["n", "b", "a"]
    assert len(values) == 3
    assert [name for name, _ in values.named_parameters()] == ["a", "b"]
    assert values.get("x", 1) == 1
    assert values.setdefault("n", 5) == 4
    assert values.setdefault("m", 5) == 5
    assert values.popitem() == ("m", 5)
    assert values.pop("n") == 4
    assert "n" not in values
    twin = values.copy()
    assert twin["a"] is values["a"]
    assert dict(twin.items()).keys() == {"a", "b"}
    assert len(list(twin.values())) == 2
    merged = values | nn.ParameterDict({"c": tenfold.ones(1)})
    merged |= {"d": tenfold.ones(1)}
    assert list(merged) == ["a", "b", "c", "d"]
    assert list(values.fromkeys(["k"], 3)) == ["k"]
    values.clear()
    assert len(values) == 0
    assert list(values.parameters()) == []
    for wrong, error in (
        (lambda: nn.ParameterDict({3: 1}), TypeError),
        (lambda: nn.ParameterDict(3), TypeError),
        (lambda: nn.ParameterDict([(1, 2, 3)]), ValueError),
        (lambda: values(1), RuntimeError),
        (lambda: values.popitem(), KeyError),
    ):
        with pytest.raises(error):
            wrong()


def test_containers_deepcopy():
    box = nn.ModuleList([nn.ParameterDict({"a": tenfold.ones(1)}), nn.ParameterList([tenfold.ones(1)])])
    clone = copy.deepcopy(box)
    assert list(clone.state_dict()) == list(box.state_dict()) == ["0.a", "1.0"]
    assert clone[0]["a"] is not box[0]["a"]


def test_a_replica_of_a_container_takes_tensors_under_its_parameters_names() -> None:
    for container, name in ((nn.ParameterList([tenfold.ones(2)]), "0"), (nn.ParameterDict({"a": tenfold.ones(2)}), "a")):
        replica = container._replicate_for_data_parallel()
        setattr(replica, name, container.get_parameter(name) * 2)
        assert replica[0 if name == "0" else name].tolist() == [2.0, 2.0]
        assert not list(replica.parameters())
        assert len(list(container.parameters())) == 1


@pytest.mark.parametrize(
    "weight_norm", [nn.utils.weight_norm, nn.utils.parametrizations.weight_norm], ids=["hook", "parametrized"]
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_weight_norm_of_weights_of_more_than_two_dimensions(weight_norm):
    layer = nn.Conv2d(2, 3, 2)
    before = layer.weight.detach().clone()
    assert tenfold.allclose(weight_norm(layer).weight, before)
