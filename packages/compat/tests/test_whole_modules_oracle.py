"""Whole modules, saved by one library and loaded by the other with weights_only=False."""

import contextlib
import io
import warnings

import pytest

import tenfold
from tenfold.serialization import torch_names

torch = pytest.importorskip("torch")


def layers(nn):
    encoder = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
    return {
        "linear": (nn.Linear(3, 4), (2, 3)),
        "conv": (nn.Conv2d(3, 4, 3, padding="same", padding_mode="reflect"), (2, 3, 5, 5)),
        "transposed": (nn.ConvTranspose2d(3, 4, 3), (2, 3, 5, 5)),
        "norms": (nn.Sequential(nn.BatchNorm1d(3), nn.InstanceNorm1d(3, affine=True), nn.LayerNorm(4), nn.RMSNorm(4)), (2, 3, 4)),
        "group": (nn.GroupNorm(1, 3), (2, 3)),
        "pools": (nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (2, 3, 8, 8)),
        "shapes": (nn.Sequential(nn.Upsample(scale_factor=2), nn.PixelShuffle(1), nn.ZeroPad2d(1), nn.Unfold(2)), (2, 3, 4, 4)),
        "activations": (nn.Sequential(nn.ReLU(inplace=True), nn.GELU(), nn.PReLU(), nn.LogSoftmax(1), nn.Dropout(0.1)), (2, 3)),
        "lstm": (nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True), (2, 5, 3)),
        "gru": (nn.GRU(3, 4), (2, 5, 3)),
        "encoder": (nn.TransformerEncoder(encoder, 2, enable_nested_tensor=False), (2, 5, 4)),
        "lists": (nn.ModuleList([nn.ModuleDict({"a": nn.Linear(1, 1)}), nn.ParameterList([nn.Linear(1, 1).weight])]), None),
        "loss": (nn.CrossEntropyLoss(label_smoothing=0.1), None),
    }


NAMES = list(layers(tenfold.nn))


def first(result):
    while isinstance(result, tuple):
        result = result[0]
    return result.detach().numpy()


@pytest.mark.parametrize("direction", ["to PyTorch", "from PyTorch"])
@pytest.mark.parametrize("name", NAMES)
def test_a_module_goes_over(name, direction):
    source, target = (tenfold, torch) if direction == "to PyTorch" else (torch, tenfold)
    module, shape = layers(source.nn)[name]
    file = io.BytesIO()
    with torch_names() if source is tenfold else contextlib.nullcontext():
        source.save(module.eval(), file)
    file.seek(0)
    loaded = target.load(file, weights_only=False)
    wanted = layers(target.nn)[name][0]
    assert type(loaded) is type(wanted)
    assert set(wanted.__dict__) <= set(loaded.__dict__)
    assert repr(loaded) == repr(wanted.eval())
    assert list(loaded.state_dict()) == list(module.state_dict())
    if shape is not None:
        x = source.rand(*shape)
        assert first(loaded(target.from_numpy(x.numpy()))) == pytest.approx(first(module(x)), abs=1e-5)
    loaded.train().to(target.float64)


def test_a_module_of_ones_own_keeps_its_name():
    file = io.BytesIO()
    with torch_names(), warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.save({"size": tenfold.Size([1]), "function": tenfold.nn.functional.relu, "kind": tenfold.optim.Adam}, file)
    file.seek(0)
    found = torch.load(file, weights_only=False)
    assert found["size"] == torch.Size([1])
    assert found["function"] is torch.nn.functional.relu
    assert found["kind"] is torch.optim.Adam


def test_tenfolds_own_names_outside():
    file = io.BytesIO()
    tenfold.save(tenfold.nn.Identity(), file)
    assert b"tenfold.nn.layers.linear" in file.getvalue()
    with torch_names():
        tenfold.save(tenfold.nn.Identity(), file)
    assert b"torch.nn.modules.linear" in file.getvalue()
    file.seek(0)
    assert type(tenfold.load(file, weights_only=False)) is tenfold.nn.Identity
