"""The example writes its images and picture, freezes what it says, and learns."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import train

from tenfold.vision import models


def test_only_the_last_stage_learns():
    model = models.resnet18(num_classes=5)
    train.freeze(model, 3)
    learning = {name.split(".")[0] for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert learning == {"layer4", "fc"}
    assert model.fc.out_features == 3


def test_it_learns(tmp_path):
    accuracy = train.main(["--epochs", "1", "--out", str(tmp_path)])
    assert accuracy > 0.7
    assert (tmp_path / "predictions.png").stat().st_size > 1000
    assert len(list(tmp_path.glob("images/*/*/*/*.png"))) == 1797
