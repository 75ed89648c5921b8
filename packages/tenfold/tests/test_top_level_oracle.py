"""Functions that PyTorch has twice, with other orders of arguments: `torch.batch_norm` beside `nn.functional.batch_norm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


def _table(t: Any) -> Any:
    return t.arange(12.0).reshape(6, 2)


def _channels(t: Any) -> list[Any]:
    return [t.tensor(values) for values in ([2.0, 3.0], [5.0, 7.0], [0.1, 0.2], [1.0, 2.0])]


CALLS: dict[str, Any] = {
    "batch_norm": lambda t: t.batch_norm(t.ones(3, 2), *_channels(t), False, 0.1, 1e-5, False),
    "batch_norm in training": lambda t: t.batch_norm(_table(t), *_channels(t), True, 0.1, 1e-5, True),
    "instance_norm": lambda t: t.instance_norm(t.ones(1, 2, 3), *_channels(t), False, 0.1, 1e-5, False),
    "layer_norm": lambda t: t.layer_norm(_table(t), (2,), *_channels(t)[:2], 1e-5, False),
    "group_norm": lambda t: t.group_norm(_table(t), 1, *_channels(t)[:2], 1e-5, True),
    "embedding": lambda t: t.embedding(_table(t), t.tensor([[1, 5], [0, 0]])),
    "embedding without padding": lambda t: t.embedding(_table(t), t.tensor([1, 5]), -1, False, False),
    "bce": lambda t: t.binary_cross_entropy_with_logits(t.ones(2), t.zeros(2), t.tensor([1.0, 2.0]), t.tensor([3.0, 4.0]), 0),
    "cosine": lambda t: t.cosine_embedding_loss(t.eye(2), t.ones(2, 2), t.tensor([1, -1]), 0.1, 2),
    "hinge as it is called without a reduction": lambda t: t.hinge_embedding_loss(t.tensor([0.5, 0.25]), t.tensor([1, -1])),
    "hinge": lambda t: t.hinge_embedding_loss(t.tensor([0.5, 0.25]), t.tensor([1, -1]), 2.0, 0),
    "kl_div": lambda t: t.kl_div(t.ones(2), t.tensor([0.5, 0.25])),
    "kl_div of logarithms": lambda t: t.kl_div(t.ones(2), t.tensor([0.5, 0.25]), 0, log_target=True),
    "ranking": lambda t: t.margin_ranking_loss(t.ones(2), t.zeros(2), t.tensor([1.0, -1.0]), 0.5, 0),
    "ranking over rows": lambda t: t.margin_ranking_loss(t.eye(2), t.zeros(2, 2), t.tensor([1.0, -1.0]), 0.5, 0),
    "poisson": lambda t: t.poisson_nll_loss(t.ones(2), t.tensor([2.0, 3.0]), True, True, 1e-8, 0),
    "triplet": lambda t: t.triplet_margin_loss(t.eye(2), t.ones(2, 2), t.zeros(2, 2), 2.0, 2, 1e-6, False, 0),
    "ctc": lambda t: t.ctc_loss(t.ones(4, 1, 3).log_softmax(2), t.tensor([[1, 2]]), (4,), (2,), 0, 2),
    "rrelu": lambda t: t.rrelu(t.tensor([-1.0, 2.0]), 0.1, 0.3, False, None),
    "polygamma": lambda t: t.polygamma(1, t.tensor([1.0, 2.0])),
}


def _arrays(result: Any) -> list[Any]:
    return [x.numpy() for x in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name: str) -> None:
    for expected, found in zip(_arrays(CALLS[name](torch)), _arrays(CALLS[name](tenfold)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [(False,), (True,), (False, 4), (True, 4)], ids=str)  # include_last_offset, padding_idx
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_embedding_bag(mode: int, options: tuple[Any, ...]) -> None:
    results = []
    for t in (torch, tenfold):
        indices, offsets = t.tensor([1, 2, 4, 5, 4, 3]), t.tensor([0, 2, 2, 6] if options[0] else [0, 2, 2, 4])
        results.append(_arrays(t.embedding_bag(_table(t), indices, offsets, False, mode, False, None, *options)))
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("call", [lambda t: t.kl_div(t.ones(2), t.ones(2), "mean"), lambda t: t.embedding(t.ones(2, 2))])
def test_what_is_refused(call: Any) -> None:
    for t in (torch, tenfold):
        with pytest.raises(TypeError):
            call(t)
