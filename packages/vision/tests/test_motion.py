"""Networks of motion: sizes that are published, what they refuse, and a flow that they learn."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.optim import Adam
from tenfold.vision import models
from tenfold.vision.models.optical_flow import raft_small
from tenfold.vision.models.optical_flow.raft import CorrBlock, enlarged
from tenfold.vision.models.video import MViT, mvit_v2_s

PARAMETERS = {"raft_large": 5_257_536, "raft_small": 990_162, "mvit_v1_b": 36_610_672, "mvit_v2_s": 34_537_744}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name):
    count = sum(parameter.numel() for parameter in models.get_model(name).parameters())
    assert count == PARAMETERS[name] == models.get_model_weights(name).DEFAULT.meta["num_params"]


def test_flow_is_prepared_and_listed():
    assert models.list_models(models.optical_flow) == ["raft_large", "raft_small"]
    prepare = models.get_weight("Raft_Small_Weights.DEFAULT").transforms()
    first, second = prepare(tenfold.zeros(3, 8, 8, dtype=tenfold.uint8), tenfold.full((3, 8, 8), 255, dtype=tenfold.uint8))
    assert (first.unique().tolist(), second.unique().tolist()) == ([-1.0], [1.0])


def test_correlations_of_a_place_with_itself():
    features = tenfold.eye(64).reshape(1, 64, 8, 8) * 8  # each cell has a feature of its own
    block = CorrBlock(num_levels=1, radius=1)
    block.build_pyramid(features, features)
    y, x = tenfold.meshgrid(tenfold.arange(8.0), tenfold.arange(8.0), indexing="ij")
    found = block.index_pyramid(tenfold.stack([x, y])[None])
    assert found.shape == (1, 9, 8, 8)
    tenfold.testing.assert_close(found[0, 4], tenfold.full((8, 8), 8.0))  # 8 * 8 / sqrt(64), in the middle of the square
    assert float(found[0, [0, 1, 2, 3, 5, 6, 7, 8]].abs().max()) < 1e-4


def test_a_flow_that_is_the_same_everywhere_stays_so():
    flow = tenfold.ones(1, 2, 4, 4)
    weights = tenfold.zeros(1, 576, 4, 4)
    weights.view(1, 9, 64, 4, 4)[:, 4] = 50.0  # of the nine cells around, its own
    tenfold.testing.assert_close(enlarged(flow, weights), tenfold.full((1, 2, 32, 32), 8.0))
    tenfold.testing.assert_close(enlarged(flow, None), tenfold.full((1, 2, 32, 32), 8.0))


def test_a_flow_is_learnt():
    tenfold.manual_seed(0)
    network = raft_small()
    first = tenfold.rand(1, 3, 128, 128) * 2 - 1
    second = first.roll(8, 3)  # everything moves eight pixels to the right
    optimizer = Adam(network.parameters(), 1e-3)
    losses = []
    for _ in range(6):
        flow = network(first, second, num_flow_updates=2)[-1]
        loss = (flow[:, 0] - 8).abs().mean() + flow[:, 1].abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0]


def test_what_they_refuse():
    network = raft_small()
    picture = tenfold.zeros(1, 3, 128, 128)
    with pytest.raises(ValueError, match=r"divisible by 8, got \(128, 132\)"):
        network(tenfold.zeros(1, 3, 128, 132), tenfold.zeros(1, 3, 128, 132))
    with pytest.raises(ValueError, match="should have the same size"):
        network(picture, tenfold.zeros(1, 3, 128, 136))
    with pytest.raises(ValueError, match="at least 16x16, and pictures 128x128"):
        network(picture[..., :64], picture[..., :64])
    with pytest.raises(ValueError, match="block_setting can't be empty"):
        MViT((64, 64), 4, [], False, False, False, False)
    with pytest.raises(ValueError, match="num_classes"):
        mvit_v2_s(weights="KINETICS400_V1", num_classes=3)
