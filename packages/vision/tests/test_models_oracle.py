"""ResNets, compared with torchvision's: keys, shapes, checkpoints' addresses and, from the same seed, every parameter."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.vision import models

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=ImportError)

NAMES = ["resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2"]


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_parameters_and_output(name):
    tenfold.manual_seed(0)
    ours = getattr(models, name)(num_classes=7).eval()
    torch.manual_seed(0)
    theirs = getattr(torchvision.models, name)(num_classes=7).eval()
    expected = theirs.state_dict()
    assert list(ours.state_dict()) == list(expected)
    for key, value in ours.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), expected[key].numpy(), err_msg=key)
    x = np.random.default_rng(0).standard_normal((1, 3, 40, 40)).astype(np.float32)
    with torch.no_grad():
        np.testing.assert_allclose(
            ours(tenfold.from_numpy(x)).detach().numpy(), theirs(torch.from_numpy(x)).numpy(), rtol=1e-3, atol=1e-4
        )


@pytest.mark.parametrize("options", [{"zero_init_residual": True}, {"replace_stride_with_dilation": [False, True, True]}])
def test_options(options):
    layers = [1, 1, 1, 1]
    tenfold.manual_seed(0)
    ours = models.ResNet(models.resnet.Bottleneck, layers, num_classes=3, **options).eval()
    torch.manual_seed(0)
    theirs = torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, layers, num_classes=3, **options).eval()
    assert repr(ours) == repr(theirs)
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_array_equal(mine.detach().numpy(), other.detach().numpy())


CATALOGS = [name for name in models.__all__ if name.endswith("_Weights")]


@pytest.mark.parametrize("name", CATALOGS)
def test_checkpoints(name):
    ours, theirs = getattr(models, name), getattr(torchvision.models, name)
    assert [(w.name, w.url) for w in ours] == [(w.name, w.url) for w in theirs]
    assert ours.DEFAULT.name == theirs.DEFAULT.name
