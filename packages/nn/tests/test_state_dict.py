"""state_dict and load_state_dict: contents, errors, hooks, extra state, assign."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import tenfold
from tenfold import nn


def net():
    return nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.BatchNorm1d(3)))


KEYS = ["a.weight", "a.bias", "b.weight", "b.bias", "b.running_mean", "b.running_var", "b.num_batches_tracked"]


def test_contents_share_memory_and_are_detached():
    module = net()
    state = module.state_dict()
    assert list(state) == KEYS
    assert isinstance(state, OrderedDict)
    assert not state["a.weight"].requires_grad
    assert type(state["a.weight"]) is tenfold.Tensor
    with tenfold.no_grad():
        state["a.weight"].fill_(5.0)
    assert module.a.weight[0, 0].item() == 5.0
    assert module.state_dict(keep_vars=True)["a.weight"] is module.a.weight
    assert dict(state._metadata) == {"": {"version": 1}, "a": {"version": 1}, "b": {"version": 2}}


def test_prefix_and_destination():
    into = OrderedDict(other=1)
    state = net().state_dict(destination=into, prefix="net.")
    assert state is into
    assert list(state) == ["other", *(f"net.{key}" for key in KEYS)]
    with pytest.warns(FutureWarning):
        assert list(nn.Linear(1, 1).state_dict(None, "p.")) == ["p.weight", "p.bias"]


def test_loading_copies_into_the_same_tensors():
    source, target = net(), net()
    weight = target.a.weight
    result = target.load_state_dict(source.state_dict())
    assert target.a.weight is weight
    assert weight.tolist() == source.a.weight.tolist()
    assert weight.data_ptr() != source.a.weight.data_ptr()
    assert repr(result) == "<All keys matched successfully>"
    assert result == ([], [])


def test_strict_lists_every_error():
    state = net().state_dict()
    state["a.weight"] = tenfold.ones(5)
    state["z.k"] = state.pop("b.weight")
    state["extra"] = tenfold.ones(1)
    state["a.bias"] = 3
    with pytest.raises(RuntimeError) as error:
        net().load_state_dict(state)
    text = str(error.value)
    assert text.startswith("Error(s) in loading state_dict for Sequential:\n\t")
    assert 'Missing key(s) in state_dict: "b.weight". ' in text
    assert 'Unexpected key(s) in state_dict: "z.k", "extra". ' in text
    assert "size mismatch for a.weight: copying a param with shape" in text
    assert 'While copying the parameter named "a.bias", expected' in text


def test_not_strict_returns_the_keys():
    state = net().state_dict()
    state["z"] = state.pop("a.bias")
    result = net().load_state_dict(state, strict=False)
    assert result.missing_keys == ["a.bias"]
    assert result.unexpected_keys == ["z"]
    state["a.weight"] = tenfold.ones(1, 1)
    with pytest.raises(RuntimeError, match="size mismatch"):
        net().load_state_dict(state, strict=False)


def test_wrong_kind_of_argument():
    with pytest.raises(TypeError, match="dict-like"):
        net().load_state_dict(3)


def test_loading_does_not_change_the_dictionary():
    state = net().state_dict()
    for key in list(state._metadata):
        state._metadata[key].pop("version")
    del state["b.num_batches_tracked"]
    before = list(state)
    module = net()
    module.load_state_dict(state)  # a checkpoint from before version 2 had no batch count
    assert list(state) == before
    assert module.b.num_batches_tracked.item() == 0


def test_one_element_vector_goes_into_a_scalar():
    module = nn.Module()
    module.register_buffer("scalar", tenfold.tensor(0.0))
    module.load_state_dict({"scalar": tenfold.tensor([3.0])})
    assert module.scalar.item() == 3.0


def test_assign_takes_the_tensors_themselves():
    state = {key: value.double() for key, value in net().state_dict().items()}
    module = net()
    module.a.weight.requires_grad_(False)
    module.load_state_dict(state, assign=True)
    assert module.a.weight.dtype == tenfold.float64
    assert isinstance(module.a.weight, nn.Parameter)
    assert module.a.weight.data_ptr() == state["a.weight"].data_ptr()
    assert not module.a.weight.requires_grad
    assert module.a.bias.requires_grad
    assert module.b.running_mean is state["b.running_mean"]
    meta = nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match="meta"):
        meta.load_state_dict(nn.Linear(2, 3).state_dict())
    meta.load_state_dict(nn.Linear(2, 3).state_dict(), assign=True)
    assert not meta.weight.is_meta


class Extra(nn.Module):
    def __init__(self, value=0):
        super().__init__()
        self.value = value

    def get_extra_state(self):
        return {"value": self.value}

    def set_extra_state(self, state):
        self.value = state["value"]


def test_extra_state():
    source = nn.Sequential(Extra(7))
    assert source.state_dict() == {"0._extra_state": {"value": 7}}
    target = nn.Sequential(Extra())
    target.load_state_dict(source.state_dict())
    assert target[0].value == 7
    with pytest.raises(RuntimeError, match=r'Missing.*"0\._extra_state"'):
        target.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected.*"0\._extra_state"'):
        nn.Sequential(nn.ReLU()).load_state_dict(source.state_dict())
    for call in (lambda: nn.ReLU().get_extra_state(), lambda: nn.ReLU().set_extra_state(1)):
        with pytest.raises(RuntimeError):
            call()


def test_state_dict_hooks():
    module, calls = net(), []
    module.register_state_dict_pre_hook(lambda m, prefix, keep: calls.append((prefix, keep)))
    module.a.register_state_dict_post_hook(lambda m, state, prefix, meta: state.__delitem__(prefix + "bias"))
    assert "p.a.bias" not in module.state_dict(prefix="p.")
    assert calls == [("p.", False)]
    module._register_state_dict_hook(lambda m, state, prefix, meta: {"only": 1})
    assert module.state_dict() == {"only": 1}
    wrong = nn.ReLU()
    wrong.register_state_dict_post_hook(lambda *a: 3)
    with pytest.raises(RuntimeError, match="must return None"):
        wrong.state_dict()


def test_load_state_dict_hooks():
    module, calls = net(), []

    def rename(owner, state, prefix, metadata, strict, missing, unexpected, errors):
        calls.append((owner, prefix, strict))
        state[prefix + "weight"] = state.pop(prefix + "old_weight")

    module.a.register_load_state_dict_pre_hook(rename)
    module.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = net().state_dict()
    state["a.old_weight"] = state.pop("a.weight")
    del state["b.weight"]
    assert module.load_state_dict(state).missing_keys == []
    assert calls == [(module.a, "a.", True)]
    assert "a.old_weight" in state
    module.register_load_state_dict_post_hook(lambda m, keys: 1)
    with pytest.raises(AssertionError, match="return None"):
        module.load_state_dict(state)
