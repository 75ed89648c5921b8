"""Models: published parameter counts, shapes, gradients, and loading a checkpoint."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.vision import datasets, models
from tenfold.vision.models.weights import Weights, WeightsEnum
from tenfold.vision.ops.misc import FrozenBatchNorm2d


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


def small_resnet(**options):
    tenfold.manual_seed(0)
    return models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5, **options)


def test_resnet_learns_from_every_parameter():
    model = small_resnet()
    out = model(tenfold.rand(2, 3, 32, 32))
    out.sum().backward()
    assert tuple(out.shape) == (2, 5)
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_residual_blocks_can_start_as_the_identity():
    model = small_resnet(zero_init_residual=True)
    assert model.layer1[0].bn2.weight.abs().max().item() == 0.0
    x = tenfold.rand(1, 64, 4, 4)
    np.testing.assert_allclose(model.layer1.eval()(x).detach().numpy(), x.numpy(), atol=1e-6)


def test_dilation_keeps_the_resolution():
    model = models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], replace_stride_with_dilation=[False, True, True])
    features = nn.Sequential(model.conv1, model.maxpool, model.layer1, model.layer2, model.layer3, model.layer4)
    assert tuple(features(tenfold.rand(2, 3, 32, 32)).shape) == (2, 2048, 4, 4)


def test_resnet_errors():
    with pytest.raises(ValueError, match="3-element"):
        small_resnet(replace_stride_with_dilation=[True])
    with pytest.raises(ValueError, match="groups=1"):
        small_resnet(groups=2)
    with pytest.raises(NotImplementedError, match="Dilation > 1"):
        small_resnet(replace_stride_with_dilation=[True, False, False])
    with pytest.raises(ValueError, match="expected value 1000 but got 10"):
        models.resnet18(weights="DEFAULT", num_classes=10)
    with pytest.raises(KeyError, match="IMAGENET9"):
        models.resnet18(weights="IMAGENET9")
    with pytest.raises(TypeError, match="expected ResNet18_Weights but received ResNet34_Weights"):
        models.resnet18(weights=models.ResNet34_Weights.DEFAULT)


@pytest.fixture
def tiny_weights(offline, tmp_path, monkeypatch):
    monkeypatch.setenv("TENFOLD_HOME", str(tmp_path / "home"))
    source = tmp_path / "state.pth"
    tenfold.save(nn.Linear(2, 3).state_dict(), source)
    digits = hashlib.sha256(source.read_bytes()).hexdigest()[:8]

    class Tiny_Weights(WeightsEnum):
        RIGHT = Weights(f"http://127.0.0.1:9/right-{digits}.pth", nn.Identity, {"categories": ["a", "b", "c"]})
        WRONG = Weights("http://127.0.0.1:9/wrong-00000000.pth", nn.Identity, {"categories": ["a", "b", "c"]})
        DEFAULT = RIGHT

    for weights in Tiny_Weights:
        (offline / weights.url.rpartition("/")[2]).write_bytes(source.read_bytes())
    return Tiny_Weights


def test_a_checkpoint_is_loaded_and_verified(tiny_weights):
    nn.Linear(2, 3).load_state_dict(tiny_weights.verify("DEFAULT").get_state_dict())
    assert tiny_weights.verify(tiny_weights.WRONG) is tiny_weights.WRONG
    assert tiny_weights.verify("Tiny_Weights.RIGHT") is tiny_weights.RIGHT
    assert tiny_weights.verify(None) is None
    with pytest.raises(RuntimeError, match="SHA-256 checksum 00000000"):
        tiny_weights.WRONG.get_state_dict()


@pytest.mark.parametrize(("size", "parameters"), [(32, 61_706), (28, 61_706), (8, 44_426), (16, None), (64, None)])
def test_lenet_sizes(size, parameters):
    model = models.LeNet5(image_size=size, in_channels=1)
    assert tuple(model(tenfold.rand(2, 1, size, size)).shape) == (2, 10)
    assert parameters is None or count(model) == parameters


@pytest.mark.parametrize("size", [4, 30])
def test_lenet_refuses_other_sizes(size):
    with pytest.raises(ValueError, match=f"at least 8, got {size}"):
        models.LeNet5(image_size=size)


def test_lenet_reads_real_digits():
    train, test = datasets.Digits(train=True), datasets.Digits(train=False)
    x, y = train.data.unsqueeze(1).to(tenfold.float32) / 255, train.targets
    tenfold.manual_seed(0)
    model = models.LeNet5(image_size=8)
    parameters = list(model.parameters())
    velocity = [tenfold.zeros_like(parameter) for parameter in parameters]
    epochs = 12
    for epoch in range(epochs):
        rate = 0.05 * (1 - epoch / epochs)  # falls to zero, so that the last steps do not scatter the result
        for batch in tenfold.randperm(len(y)).split(32):
            grads = tenfold.autograd.grad(nn.functional.cross_entropy(model(x[batch]), y[batch]), parameters)
            with tenfold.no_grad():
                for parameter, v, grad in zip(parameters, velocity, grads, strict=True):
                    v.mul_(0.9).add_(grad)
                    parameter.sub_(v, alpha=rate)
    right = model(test.data.unsqueeze(1).to(tenfold.float32) / 255).argmax(dim=1) == test.targets
    assert right.to(tenfold.float32).mean().item() > 0.95


def test_resnet50_runs_forward_and_backward_without_memory():
    with tenfold.device("meta"):
        model = models.resnet50()
        scores = model(tenfold.empty(2, 3, 224, 224))
        scores.sum().backward()
    assert scores.device.type == "meta"
    assert scores.shape == (2, 1000)
    for name, parameter in model.named_parameters():
        assert parameter.grad.shape == parameter.shape, name
        assert parameter.grad.device.type == "meta", name


def test_vgg_and_alexnet_have_the_keys_and_shapes_of_their_checkpoints():
    vgg = models.VGG(nn.Sequential(*models.vgg._layers(((4,), (512,)), batch_norm=True)), num_classes=3, init_weights=False)
    keys = list(vgg.state_dict())
    assert keys[:7] == [f"features.{n}" for n in ("0.weight", "0.bias", "1.weight", "1.bias")] + [
        f"features.1.{n}" for n in ("running_mean", "running_var", "num_batches_tracked")
    ]
    classifier = [k for k in keys if k.startswith("classifier")]
    assert classifier == [f"classifier.{i}.{n}" for i in (0, 3, 6) for n in ("weight", "bias")]
    with tenfold.device("meta"):
        alexnet = models.AlexNet(num_classes=2)
    assert alexnet(tenfold.empty(1, 3, 64, 64, device="meta")).shape == (1, 2)
    keys = list(alexnet.state_dict())
    assert [k for k in keys if k.endswith("weight")] == [f"features.{i}.weight" for i in (0, 3, 6, 8, 10)] + [
        f"classifier.{i}.weight" for i in (1, 4, 6)
    ]
    with pytest.raises(ValueError, match="num_classes"):
        models.alexnet(weights="DEFAULT", num_classes=10)


def test_frozen_batch_norm_is_batch_norm_that_does_not_learn():
    norm, frozen = nn.BatchNorm2d(3).eval(), FrozenBatchNorm2d(3)
    with tenfold.no_grad():
        norm.running_mean.copy_(tenfold.randn(3))
        norm.running_var.copy_(tenfold.rand(3) + 0.5)
        norm.weight.copy_(tenfold.randn(3))
    frozen.load_state_dict(norm.state_dict())
    x = tenfold.randn(2, 3, 4, 4)
    assert tenfold.allclose(frozen(x), norm(x), atol=1e-5)
    assert not list(frozen.parameters())
