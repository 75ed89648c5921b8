"""A module's tensors by name, as libraries put them in and out."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
from tenfold import nn
from tenfold.nn.modules import module
from tenfold.nn.utils._named_member_accessor import swap_tensor


def test_swap_puts_in_and_gives_back() -> None:
    layer = nn.Linear(2, 1)
    weight, plain = layer.weight, tenfold.zeros(1, 2)
    assert swap_tensor(layer, "weight", plain) is weight
    assert layer.weight is plain
    assert swap_tensor(layer, "weight", weight) is plain
    assert layer._parameters["weight"] is weight


def test_swap_of_buffers_and_attributes() -> None:
    norm = nn.BatchNorm1d(2)
    before = norm.running_mean
    assert swap_tensor(norm, "running_mean", None) is before
    assert norm.running_mean is None
    missing = swap_tensor(norm, "extra", tenfold.ones(1), allow_missing=True)
    assert norm.extra.item() == 1
    swap_tensor(norm, "extra", missing)
    assert not hasattr(norm, "extra")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((3, "bias", None), TypeError, "not an instance of torch.nn.Module"),
        ((None, "bias", 3), TypeError, "not an instance of torch.Tensor"),
        ((None, "a.b", None), KeyError, 'can\'t contain "."'),
        ((None, "", None), KeyError, "empty string"),
        ((None, "other", None), AttributeError, "has no attribute `other`"),
        ((None, "in_features", None), TypeError, "not an instance of torch.Tensor"),
    ],
)
def test_swap_refuses(given: tuple[Any, ...], error: type[Exception], words: str) -> None:
    owner = nn.Linear(1, 1) if given[0] is None else given[0]
    with pytest.raises(error) as raised:
        swap_tensor(owner, *given[1:])
    assert words in str(raised.value).replace("\\'", "'")


def test_tables_of_hooks_under_pytorchs_names() -> None:
    seen = []
    handle = nn.modules.module.register_module_parameter_registration_hook(lambda owner, name, value: seen.append(name))
    try:
        assert len(module._global_parameter_registration_hooks) == 1
        nn.Linear(1, 1)
    finally:
        handle.remove()
    assert seen == ["weight", "bias"]
    assert not module._global_parameter_registration_hooks
