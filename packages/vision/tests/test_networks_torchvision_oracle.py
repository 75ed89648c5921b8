"""Networks against torchvision's: names, shapes and order of parameters, and results of the same parameters in float64."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision", exc_type=(ImportError, RuntimeError))  # RuntimeError: its operators do not load

import tenfold  # noqa: E402
from tenfold.vision import models  # noqa: E402

# one small member of each family: arguments, and the side of the pictures
FORWARD = {
    "alexnet": ({}, 67), "convnext_tiny": ({}, 64), "densenet121": ({}, 48), "efficientnet_b0": ({}, 48),
    "efficientnet_b5": ({}, 32),
    "efficientnet_v2_s": ({}, 48), "googlenet": ({"init_weights": False}, 65), "inception_v3": ({"init_weights": False}, 107),
    "mnasnet0_5": ({}, 65), "mobilenet_v2": ({}, 48), "mobilenet_v3_large": ({}, 48),
    "mobilenet_v3_small": ({"dilated": True}, 48),
    "regnet_x_400mf": ({}, 48), "regnet_y_400mf": ({}, 48), "resnet18": ({}, 48), "resnext50_32x4d": ({}, 32),
    "shufflenet_v2_x0_5": ({}, 48), "squeezenet1_0": ({}, 49), "squeezenet1_1": ({}, 49),
    "swin_t": ({}, 100), "swin_v2_t": ({}, 100),
    "vit_b_32": ({"image_size": 64}, 64),
    "lraspp_mobilenet_v3_large": ({"weights_backbone": None}, 48),
    "deeplabv3_mobilenet_v3_large": ({"weights_backbone": None, "aux_loss": True}, 64),
    "mc3_18": ({}, 24), "r2plus1d_18": ({}, 24), "swin3d_t": ({}, 60), "s3d": ({}, 33), "maxvit_t": ({}, 224),
}  # fmt: skip


def _theirs(name: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of first weights that torchvision will draw in another way
        return torchvision.models.get_model(name, weights=None, **options)


def fill(network: Any) -> None:
    """Parameters and statistics that let something through every layer, and differ everywhere."""
    generator = torch.Generator().manual_seed(0)
    for name, value in network.state_dict().items():
        if value.is_floating_point() and not name.endswith(("relative_coords_table",)):
            fan = max(value[0].numel(), 1) if value.ndim > 1 else 1
            drawn = torch.randn(value.shape, generator=generator, dtype=torch.float64) * (1.5 / fan) ** 0.5
            scale = name.endswith(("running_var", "logit_scale")) or (value.ndim == 1 and "weight" in name)
            value.copy_(1 + 0.1 * drawn.abs() if scale else 0.3 * drawn)


@pytest.mark.parametrize("name", FORWARD)
def test_result(name: str) -> None:
    options, side = FORWARD[name]
    torch_model = _theirs(name, **options).double().eval()
    fill(torch_model)
    model = models.get_model(name, **options).double().eval()
    model.load_state_dict({key: tenfold.from_numpy(value.numpy()) for key, value in torch_model.state_dict().items()})
    frames = {"swin3d_t": (18,), "s3d": (13,)}.get(name, (4,) if name.endswith("_18") and "net" not in name else ())
    if name == "s3d":  # its own pooling wants large pictures
        torch_model.avgpool, model.avgpool = torch.nn.AdaptiveAvgPool3d(1), tenfold.nn.AdaptiveAvgPool3d(1)
    x = np.random.default_rng(1).standard_normal((2, 3, *frames, side, side))
    with torch.no_grad(), tenfold.no_grad():
        expected, found = torch_model(torch.from_numpy(x)), model(tenfold.from_numpy(x))
    parts = expected if isinstance(expected, dict) else {"": expected}
    for part, values in parts.items():
        mine = found[part] if part else found
        assert values.abs().max() > 1e-3
        np.testing.assert_allclose(mine.numpy(), values.numpy(), rtol=1e-6, atol=1e-6 * float(values.abs().max()), err_msg=part)


@pytest.mark.parametrize("name", ["raft_large", "raft_small"])
def test_flow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision.models.optical_flow import raft

    places = raft.make_coords_grid
    monkeypatch.setattr(
        raft, "make_coords_grid", lambda *sizes: places(*sizes).double()
    )  # which are float32 whatever the model is
    monkeypatch.setattr(torch, "linspace", lambda *ends: torch.arange(ends[0], ends[1] + 1, dtype=torch.float64))
    theirs = _theirs(name).double().eval()
    fill(theirs)
    ours = models.get_model(name).double().eval()
    ours.load_state_dict({key: tenfold.from_numpy(value.numpy()) for key, value in theirs.state_dict().items()})
    first, second = np.random.default_rng(0).uniform(-1, 1, (2, 1, 3, 128, 136))
    with torch.no_grad(), tenfold.no_grad():
        expected = theirs(torch.from_numpy(first), torch.from_numpy(second), num_flow_updates=2)
        found = ours(tenfold.from_numpy(first), tenfold.from_numpy(second), num_flow_updates=2)
    for mine, values in zip(found, expected, strict=True):
        assert values.abs().max() > 1e-3
        np.testing.assert_allclose(mine.numpy(), values.numpy(), rtol=1e-6, atol=1e-6 * float(values.abs().max()))


@pytest.mark.parametrize("name", ["mvit_v1_b", "mvit_v2_s"])
def test_film(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision.models.video import mvit

    settings: dict[str, Any] = {}
    monkeypatch.setattr(mvit, "_mvit", lambda **given: settings.update(given))
    _theirs(name)  # whose sizes are fixed: the class takes smaller films
    small = {"spatial_size": (64, 64), "temporal_size": 4}
    usual = {"residual_with_cls_embed": True, "rel_pos_embed": False, "proj_after_attn": False}
    options = {**usual, **{key: value for key, value in settings.items() if key not in ("weights", "progress")}, **small}
    theirs = mvit.MViT(**options).double().eval()
    fill(theirs)
    ours = models.get_model(name, **small).double().eval()
    ours.load_state_dict({key: tenfold.from_numpy(value.numpy()) for key, value in theirs.state_dict().items()})
    film = np.random.default_rng(0).standard_normal((2, 3, 4, 64, 64))
    with torch.no_grad(), tenfold.no_grad():
        expected, found = theirs(torch.from_numpy(film)), ours(tenfold.from_numpy(film))
    assert expected.abs().max() > 1e-3
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6, atol=1e-6 * float(expected.abs().max()))


@pytest.mark.parametrize("name", ["mvit_v1_b", "mvit_v2_s", "raft_large", "raft_small"])
def test_names(name: str) -> None:
    shapes = [(key, tuple(value.shape)) for key, value in _theirs(name).state_dict().items()]
    assert [(key, tuple(value.shape)) for key, value in models.get_model(name).state_dict().items()] == shapes
