"""Models by name, their checkpoints, and results of inner layers."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import tenfold
from tenfold import nn
from tenfold.vision import models
from tenfold.vision.models.feature_extraction import (
    IntermediateLayerGetter,
    create_feature_extractor,
    get_graph_node_names,
)
from tenfold.vision.models.registry import BUILDERS, CATALOGS

# of each published network: how many parameters and buffers, how many numbers, and the first digits of the SHA-256 of its keys
PUBLISHED = json.loads(Path(__file__).with_name("published_keys.json").read_text())
NAMES = models.list_models()
# the checkpoints' table counts auxiliary classifiers and norms in another way than a network without a checkpoint has them
COUNTED_OTHERWISE = {
    "googlenet",
    "quantized_googlenet",
    *models.list_models(include=["fcn_*", "deeplab*", "*rcnn*", "retinanet*", "fcos*"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_the_published_ones(name):
    bare = {"weights_backbone": None} if "weights_backbone" in BUILDERS[name].__wrapped__.__kwdefaults__ else {}
    with tenfold.device("meta"):
        network = models.get_model(name, **bare)
    state = network.state_dict()
    text = "\n".join(f"{key} {tuple(value.shape)} {str(value.dtype).removeprefix('tenfold.')}" for key, value in state.items())
    numbers = sum(parameter.numel() for parameter in network.parameters())
    if name not in PUBLISHED:
        assert name == "unet"
        assert numbers == 31_037_698
        return
    assert [len(state), numbers, hashlib.sha256(text.encode()).hexdigest()[:16]] == PUBLISHED[name]
    if name in CATALOGS:
        published = {weights.meta["num_params"] for weights in CATALOGS[name]}
        assert numbers in published or name in COUNTED_OTHERWISE


def test_listing():
    assert models.list_models(include="densenet*", exclude="*20?") == ["densenet121", "densenet161", "densenet169"]
    assert "resnet18" in models.list_models(models)
    assert models.list_models(include=["vgg11", "alex*"]) == ["alexnet", "vgg11"]
    with pytest.raises(ValueError, match="Unknown model nope"):
        models.get_model("nope")


def test_checkpoints_by_name():
    assert models.get_model_weights("resnet50") is models.ResNet50_Weights
    assert models.get_model_weights(models.resnet50) is models.ResNet50_Weights
    assert models.get_weight("ResNet50_Weights.DEFAULT") is models.ResNet50_Weights.IMAGENET1K_V2
    with pytest.raises(ValueError, match="Nope_Weights"):
        models.get_weight("Nope_Weights.DEFAULT")
    with pytest.raises(KeyError):
        models.get_weight("ResNet50_Weights.NOPE")
    with pytest.raises(ValueError, match="no published checkpoints"):
        models.get_model_weights(nn.Linear)


def test_what_is_known_of_a_checkpoint():
    weights = models.ResNet50_Weights.IMAGENET1K_V2
    assert (len(weights.meta["categories"]), weights.meta["categories"][:2]) == (1000, ["tench", "goldfish"])
    assert weights.meta["num_params"] == 25_557_032
    assert weights.url == "https://download.pytorch.org/models/resnet50-11ad3fa6.pth"
    for copied in (copy.deepcopy(weights), pickle.loads(pickle.dumps(weights))):
        assert copied is weights


@pytest.mark.parametrize("name", [name for name in NAMES if name in CATALOGS])
def test_every_checkpoint_prepares_pictures(name):
    for weights in CATALOGS[name]:
        frames = (2,) if "video" in CATALOGS[name].__module__ else ()
        pictures = [tenfold.zeros(*frames, 3, 40, 30, dtype=tenfold.uint8)] * (2 if name.startswith("raft") else 1)
        prepared = weights.transforms()(*pictures)
        for each in prepared if len(pictures) == 2 else [prepared]:
            assert each.dtype == tenfold.float32
            assert each.ndim == 3 + len(frames)
        assert repr(weights.transforms())


def test_preparation_has_the_published_numbers():
    prepared = models.ResNet50_Weights.DEFAULT.transforms(crop_size=8, resize_size=8)(
        tenfold.full((3, 16, 16), 255, dtype=tenfold.uint8)
    )
    expected = (1 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    np.testing.assert_allclose(prepared.mean((1, 2)).numpy(), expected, rtol=1e-5)


def test_former_arguments():
    with pytest.warns(UserWarning, match="'pretrained' is deprecated"):
        network = models.squeezenet1_1(pretrained=False, num_classes=3)
    assert network(tenfold.zeros(1, 3, 32, 32)).shape == (1, 3)
    with pytest.warns(UserWarning, match="'pretrained' is deprecated"):
        models.squeezenet1_1(False)
    with pytest.raises(TypeError, match="at most 2 positional"):
        models.squeezenet1_1(None, True, 3)


def small_network():
    tenfold.manual_seed(0)
    return models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=5)


def test_feature_extractor():
    network = small_network().eval()
    x = tenfold.rand(1, 3, 32, 32)
    features = create_feature_extractor(network, {"layer1": "a", "layer2.0.relu_1": "b"})
    assert not features.training
    assert list(features.state_dict()) == list(network.state_dict())
    found = features(x)
    stem = network.layer1(network.maxpool(network.relu(network.bn1(network.conv1(x)))))
    assert list(found) == ["a", "b"]
    np.testing.assert_array_equal(found["a"].detach().numpy(), stem.detach().numpy())
    np.testing.assert_array_equal(found["b"].detach().numpy(), network.layer2(stem).detach().numpy())
    found["b"].sum().backward()
    assert network.conv1.weight.grad is not None
    assert not network.layer1._forward_hooks
    assert copy.deepcopy(features)(x)["b"].shape == (1, 128, 4, 4)


def test_feature_extractor_stops_after_the_last_result():
    reached = []
    network = small_network()
    network.layer4.register_forward_hook(lambda *_: reached.append(1))
    create_feature_extractor(network, ["layer2"])(tenfold.rand(2, 3, 32, 32))
    assert not reached


def test_feature_extractor_by_mode():
    features = create_feature_extractor(small_network(), train_return_nodes=["layer1"], eval_return_nodes=["layer2", "fc"])
    x = tenfold.rand(2, 3, 32, 32)
    assert list(features.train()(x)) == ["layer1"]
    assert list(features.eval()(x)) == ["layer2", "fc"]


def test_feature_extractor_errors():
    network = small_network()
    with pytest.raises(ValueError, match="'layer9' is not present"):
        create_feature_extractor(network, ["layer9"])
    with pytest.raises(ValueError, match="either return_nodes"):
        create_feature_extractor(network)
    with pytest.raises(ValueError, match="both, or neither"):
        create_feature_extractor(network, train_return_nodes=["layer1"])
    with pytest.raises(ValueError, match=r"layer1_1.* took no part"):
        create_feature_extractor(network, ["layer1_1"])(tenfold.rand(2, 3, 32, 32))
    train, evaluated = get_graph_node_names(network)
    assert train == evaluated
    assert "layer1.0.conv1" in train


def test_intermediate_layers():
    network = small_network().eval()
    body = IntermediateLayerGetter(network, {"layer1": "low", "layer3": "high"})
    assert list(body) == ["conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3"]
    found = body(tenfold.rand(1, 3, 32, 32))
    assert {name: tuple(value.shape) for name, value in found.items()} == {"low": (1, 64, 8, 8), "high": (1, 256, 2, 2)}
    with pytest.raises(ValueError, match="not present in model"):
        IntermediateLayerGetter(network, {"nope": "a"})


def test_networks_that_could_be_quantized_are_networks_of_floats():
    from tenfold.vision.models import quantization

    assert len(models.list_models(quantization)) == 12
    weights = models.get_weight("ResNet50_QuantizedWeights.DEFAULT")
    assert (weights.meta["backend"], weights.meta["unquantized"]) == ("fbgemm", models.ResNet50_Weights.IMAGENET1K_V2)
    assert models.get_model_weights(quantization.resnet50) is quantization.ResNet50_QuantizedWeights
    assert models.get_model_weights(models.resnet50) is models.ResNet50_Weights
    network = models.get_model("quantized_shufflenet_v2_x0_5", num_classes=5).eval()
    assert isinstance(network, quantization.QuantizableShuffleNetV2)
    plain = models.shufflenet_v2_x0_5(num_classes=5).eval()
    plain.load_state_dict(network.state_dict())
    x = tenfold.rand(1, 3, 64, 64)
    assert tenfold.equal(network(x), plain(x))
    assert not any(part.inplace for part in network.modules() if isinstance(part, nn.ReLU))
    with pytest.raises(NotImplementedError, match="quantize=True needs tensors of 8 bits"):
        quantization.resnet18(quantize=True)
    with pytest.raises(NotImplementedError, match="fuse_model"):
        network.fuse_model()
