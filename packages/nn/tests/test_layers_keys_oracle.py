"""Every layer against PyTorch's: same keys, same repr, same initial numbers under a seed, same output from the same
weights.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

# PyTorch's advice about its own fast paths
pytestmark = [
    pytest.mark.filterwarnings("ignore:enable_nested_tensor is True"),
    pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN"),
]

F = "float32"


def layer(name, *args, inputs=(), **kwargs):
    """One row: class, constructor arguments, shapes of the inputs (None: an index tensor is built by the test)."""
    label = f"{name}({', '.join([*map(str, args), *(f'{k}={v}' for k, v in kwargs.items())])})"
    return pytest.param(name, args, kwargs, inputs, id=label)


IMAGE, SEQUENCE, VOLUME = (2, 4, 8, 9), (2, 4, 9), (2, 4, 6, 7, 8)

TABLE = [
    layer("Identity", 3, inputs=[(2, 3)]),
    layer("Linear", 3, 4, inputs=[(2, 3)]),
    layer("Linear", 3, 4, bias=False, inputs=[(5, 2, 3)]),
    layer("Bilinear", 3, 4, 5, inputs=[(2, 3), (2, 4)]),
    layer("Conv1d", 4, 6, 3, inputs=[SEQUENCE]),
    layer("Conv1d", 4, 6, 4, padding="same", dilation=2, padding_mode="circular", inputs=[SEQUENCE]),
    layer("Conv2d", 4, 6, 3, stride=2, padding=1, groups=2, bias=False, inputs=[IMAGE]),
    layer("Conv2d", 4, 6, (3, 2), padding=(1, 2), dilation=2, padding_mode="reflect", inputs=[IMAGE]),
    layer("Conv3d", 4, 2, 3, padding="valid", inputs=[VOLUME]),
    layer("ConvTranspose1d", 4, 6, 3, stride=2, output_padding=1, inputs=[SEQUENCE]),
    layer("ConvTranspose2d", 4, 6, 3, stride=2, padding=1, groups=2, inputs=[IMAGE]),
    layer("ConvTranspose3d", 4, 2, 2, dilation=2, inputs=[VOLUME]),
    layer("MaxPool1d", 2, inputs=[SEQUENCE]),
    layer("MaxPool2d", 3, 2, 1, ceil_mode=True, inputs=[IMAGE]),
    layer("MaxPool2d", 2, return_indices=True, inputs=[IMAGE]),
    layer("MaxPool3d", 2, inputs=[VOLUME]),
    layer("MaxUnpool1d", 2),
    layer("MaxUnpool2d", 2, 3, 1),
    layer("MaxUnpool3d", 2),
    layer("AvgPool1d", 2, padding=1, count_include_pad=False, inputs=[SEQUENCE]),
    layer("AvgPool2d", 3, 2, ceil_mode=True, inputs=[IMAGE]),
    layer("AvgPool3d", 2, divisor_override=3, inputs=[VOLUME]),
    layer("LPPool1d", 2, 3, inputs=[SEQUENCE]),
    layer("LPPool2d", 2, 3, stride=2, inputs=[IMAGE]),
    layer("LPPool3d", 3, 2, inputs=[VOLUME]),
    layer("FractionalMaxPool2d", 2, output_size=(4, 4)),
    layer("FractionalMaxPool3d", 2, output_ratio=0.5),
    *[layer(f"Adaptive{kind}Pool1d", 3, inputs=[SEQUENCE]) for kind in ("Avg", "Max")],
    *[layer(f"Adaptive{kind}Pool2d", (3, None), inputs=[IMAGE]) for kind in ("Avg", "Max")],
    *[layer(f"Adaptive{kind}Pool3d", 3, inputs=[VOLUME]) for kind in ("Avg", "Max")],
    *[layer(f"{kind}Pad1d", (1, 2), inputs=[SEQUENCE]) for kind in ("Zero", "Reflection", "Replication", "Circular")],
    *[layer(f"{kind}Pad2d", 2, inputs=[IMAGE]) for kind in ("Zero", "Reflection", "Replication", "Circular")],
    *[layer(f"{kind}Pad3d", 1, inputs=[VOLUME]) for kind in ("Zero", "Reflection", "Replication", "Circular")],
    *[layer(f"ConstantPad{n}d", 1, 3.5, inputs=[s]) for n, s in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME))],
    layer("BatchNorm1d", 4, inputs=[SEQUENCE]),
    layer("BatchNorm2d", 4, momentum=None, inputs=[IMAGE]),
    layer("BatchNorm2d", 4, bias=False, affine=True, inputs=[IMAGE]),
    layer("BatchNorm3d", 4, track_running_stats=False, affine=False, inputs=[VOLUME]),
    layer("SyncBatchNorm", 4),
    layer("InstanceNorm1d", 4, inputs=[SEQUENCE]),
    layer("InstanceNorm2d", 4, affine=True, track_running_stats=True, inputs=[IMAGE]),
    layer("InstanceNorm3d", 4, inputs=[(4, 6, 7, 8)]),
    layer("LayerNorm", 9, inputs=[SEQUENCE]),
    layer("LayerNorm", (8, 9), bias=False, inputs=[IMAGE]),
    layer("LayerNorm", [9], elementwise_affine=False, inputs=[IMAGE]),
    layer("GroupNorm", 2, 4, inputs=[IMAGE]),
    layer("RMSNorm", 9, inputs=[SEQUENCE]),
    layer("RMSNorm", (8, 9), eps=1e-3, elementwise_affine=False, inputs=[IMAGE]),
    layer("LocalResponseNorm", 2, inputs=[IMAGE]),
    layer("CrossMapLRN2d", 3, inputs=[IMAGE]),
    layer("CrossMapLRN2d", 4, 1e-2, inputs=[IMAGE]),
    layer("Dropout", 0.3, True),
    *[layer(f"Dropout{n}d") for n in (1, 2, 3)],
    layer("AlphaDropout", 0.2),
    layer("FeatureAlphaDropout"),
    layer("Embedding", 5, 3, padding_idx=-1, max_norm=1.0),
    layer("Embedding", 5, 3, sparse=True, scale_grad_by_freq=True),
    layer("EmbeddingBag", 5, 3, padding_idx=1),
    layer("EmbeddingBag", 5, 3, mode="sum"),
    layer("RNN", 3, 4, inputs=[(5, 2, 3)]),
    layer("RNN", 3, 4, 2, "relu", bidirectional=True, inputs=[(5, 2, 3)]),
    layer("LSTM", 3, 4, 2, batch_first=True, bidirectional=True, inputs=[(2, 5, 3)]),
    layer("LSTM", 3, 4, 2, proj_size=2, inputs=[(5, 2, 3)]),
    layer("LSTM", 3, 4, bias=False, inputs=[(5, 3)]),
    layer("GRU", 3, 4, 2, bidirectional=True, inputs=[(5, 2, 3)]),
    layer("GRU", 3, 4, bias=False, batch_first=True, inputs=[(2, 5, 3)]),
    layer("RNNCell", 3, 4, inputs=[(2, 3)]),
    layer("RNNCell", 3, 4, nonlinearity="relu", inputs=[(2, 3), (2, 4)]),
    layer("LSTMCell", 3, 4, False, inputs=[(3,)]),
    layer("GRUCell", 3, 4, inputs=[(2, 3), (2, 4)]),
    layer("MultiheadAttention", 4, 2, inputs=[(3, 2, 4)] * 3),
    layer("MultiheadAttention", 4, 2, bias=False, add_bias_kv=True, add_zero_attn=True, inputs=[(3, 2, 4)] * 3),
    layer("MultiheadAttention", 4, 2, kdim=3, vdim=5, batch_first=True, inputs=[(2, 3, 4), (2, 6, 3), (2, 6, 5)]),
    layer("TransformerEncoderLayer", 4, 2, 8, dropout=0.0, inputs=[(3, 2, 4)]),
    layer(
        "TransformerEncoderLayer",
        4,
        2,
        8,
        0.0,
        "gelu",
        norm_first=True,
        batch_first=True,
        bias=False,
        inputs=[(2, 3, 4)],
    ),
    layer("TransformerDecoderLayer", 4, 2, 8, dropout=0.0, inputs=[(3, 2, 4), (5, 2, 4)]),
    layer("TransformerDecoderLayer", 4, 2, 8, 0.0, "gelu", norm_first=True, inputs=[(3, 2, 4), (5, 2, 4)]),
    layer("Transformer", 4, 2, 1, 2, 8, dropout=0.0, inputs=[(3, 2, 4), (5, 2, 4)]),
    *[
        layer(name, inputs=[(2, 4, 6)])
        for name in (
            "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6 "
            "SELU "
            "SiLU "
            "Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Softmax2d"
        ).split()
    ],
    *[layer(name, dim=1, inputs=[(2, 4, 6)]) for name in ("Softmax", "Softmin", "LogSoftmax")],
    layer("RReLU", 0.1, 0.3),
    layer("PReLU", 4, 0.1, inputs=[(2, 4, 6)]),
    layer("Threshold", 0.1, 20, inputs=[(2, 4)]),
    layer("Hardtanh", -0.5, 0.5, True),
    layer("ReLU", True),
    layer("ELU", 0.5, True),
    layer("SELU", True),
    layer("LeakyReLU", 0.2, True),
    layer("GELU", "tanh", inputs=[(2, 4)]),
    layer("GLU", 0, inputs=[(2, 4)]),
    *[
        layer(name, reduction=r, inputs=[(2, 4), (2, 4)])
        for name in (
            "L1Loss MSELoss SmoothL1Loss HuberLoss SoftMarginLoss MultiLabelSoftMarginLoss PoissonNLLLoss HingeEmbeddingLoss"
        ).split()
        for r in ("mean", "sum", "none")
    ],
    layer("KLDivLoss", reduction="batchmean", log_target=True, inputs=[(2, 4), (2, 4)]),
    layer("BCEWithLogitsLoss", inputs=[(2, 4), (2, 4)]),
    layer("BCELoss"),
    layer("NLLLoss", ignore_index=1),
    layer("CrossEntropyLoss", label_smoothing=0.1, inputs=[(2, 4), (2, 4)]),
    layer("GaussianNLLLoss", full=True),
    layer("MultiLabelMarginLoss"),
    layer("MultiMarginLoss", 2),
    layer("CTCLoss", 1),
    layer("CosineEmbeddingLoss", 0.1),
    layer("MarginRankingLoss", inputs=[(4,), (4,), (4,)]),
    layer("TripletMarginLoss", swap=True, inputs=[(2, 4)] * 3),
    layer("TripletMarginWithDistanceLoss", inputs=[(2, 4)] * 3),
    layer("AdaptiveLogSoftmaxWithLoss", 8, 10, [2, 5], div_value=2.0),
    layer("PairwiseDistance", 1.0, keepdim=True, inputs=[(2, 4), (2, 4)]),
    layer("CosineSimilarity", inputs=[(2, 4), (2, 4)]),
    layer("Flatten", inputs=[IMAGE]),
    layer("Unflatten", 1, (2, 2), inputs=[IMAGE]),
    layer("PixelShuffle", 2, inputs=[IMAGE]),
    layer("PixelUnshuffle", 2, inputs=[(1, 2, 4, 6)]),
    layer("ChannelShuffle", 2, inputs=[IMAGE]),
    layer("Upsample", scale_factor=2, inputs=[IMAGE]),
    layer("Upsample", size=5, mode="linear", align_corners=True, inputs=[SEQUENCE]),
    layer("UpsamplingNearest2d", scale_factor=(2, 3), inputs=[IMAGE]),
    layer("UpsamplingBilinear2d", size=(3, 4), inputs=[IMAGE]),
    layer("Unfold", 2, padding=1, inputs=[IMAGE]),
    layer("Fold", (3, 4), 2, inputs=[(1, 8, 6)]),
    *[layer(f"LazyConv{n}d", 6, 3, 2) for n in (1, 2, 3)],
    *[layer(f"LazyConvTranspose{n}d", 6, 3) for n in (1, 2, 3)],
    *[layer(f"Lazy{kind}Norm{n}d") for kind in ("Batch", "Instance") for n in (1, 2, 3)],
    layer("LazyLinear", 3),
]


# Layers without a row, each with the reason.
NO_ROW = {
    **dict.fromkeys(("Module", "RNNBase", "RNNCellBase"), "what others derive from"),
    **dict.fromkeys(("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"), "in test_containers.py"),
    **dict.fromkeys(("TransformerEncoder", "TransformerDecoder"), "within Transformer's row"),
    "NLLLoss2d": "NLLLoss by an older name",
    "Container": "a Module by an older name, with a warning",
    "LinearCrossEntropyLoss": "in WITH_INDICES and in test_linear_loss_oracle.py",
}


def test_every_layer_has_a_row():
    public = {name for name in tenfold.nn.__all__ if is_layer(getattr(tenfold.nn, name))}
    assert public - {row.values[0] for row in TABLE} == NO_ROW.keys(), "give it a row in TABLE, or a reason in NO_ROW"


def test_reasons_name_files_that_there_are():
    named = {word.strip(".,") for reason in NO_ROW.values() for word in reason.split() if word.startswith("test_")}
    assert named
    assert [name for name in sorted(named) if not Path(__file__).with_name(name).exists()] == []


def is_layer(item):
    return isinstance(item, type) and issubclass(item, tenfold.nn.Module)


def pair(name, args, kwargs):
    """The layer from both libraries, made under the same seed."""
    made = []
    for library in (tenfold, torch):
        library.manual_seed(7)
        made.append(getattr(library.nn, name)(*args, **kwargs))
    return made


def neutral(text):
    return text.replace("tenfold.", "torch.")


def to_numpy(value):
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in to_numpy(part)]
    return [] if value is None else [value.detach().numpy()]


def copy_weights(ours, theirs):
    """Their state into our layer, through NumPy, so that nothing depends on the generators."""
    state = {key: tenfold.tensor(value.numpy().copy()) for key, value in theirs.state_dict().items()}
    ours.load_state_dict(state)


@pytest.mark.parametrize(("name", "args", "kwargs", "inputs"), TABLE)
def test_keys_and_repr_are_pytorchs(name, args, kwargs, inputs):
    ours, theirs = pair(name, args, kwargs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    assert neutral(repr(ours)) == repr(theirs)


@pytest.mark.parametrize(("name", "args", "kwargs", "inputs"), [row for row in TABLE if "Lazy" not in row.id])
def test_initial_numbers_are_pytorchs(name, args, kwargs, inputs):
    ours, theirs = pair(name, args, kwargs)
    for (key, mine), value in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
        np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-6, atol=1e-7, err_msg=key)


@pytest.mark.parametrize(("name", "args", "kwargs", "inputs"), [row for row in TABLE if row.values[3]])
def test_outputs_are_pytorchs(name, args, kwargs, inputs):
    ours, theirs = pair(name, args, kwargs)
    copy_weights(ours, theirs)
    rng = np.random.default_rng(3)
    arrays = [rng.uniform(0.05, 1.0, shape).astype(F) for shape in inputs]
    for mode in (True, False):
        mine = ours.train(mode)(*[tenfold.tensor(array) for array in arrays])
        right = theirs.train(mode)(*[torch.tensor(array) for array in arrays])
        for got, expected in zip(to_numpy(mine), to_numpy(right), strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
    for (key, mine), value in zip(ours.state_dict().items(), theirs.state_dict().values(), strict=True):
        np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=1e-5, atol=1e-6, err_msg=key)


def indices(*shape, high=5):
    return np.random.default_rng(5).integers(0, high, shape)


WITH_INDICES = [
    ("Embedding", (5, 3), {"max_norm": 1.0}, [indices(2, 4)]),
    ("EmbeddingBag", (5, 3), {"padding_idx": 1}, [indices(2, 4)]),
    ("EmbeddingBag", (5, 3), {"mode": "max"}, [indices(6), np.array([0, 2, 5])]),
    ("NLLLoss", (), {"ignore_index": 1}, [np.ones((3, 5), F), indices(3)]),
    ("CrossEntropyLoss", (), {}, [np.arange(15, dtype=F).reshape(3, 5), indices(3)]),
    ("LinearCrossEntropyLoss", (5, 4), {"bias": True}, [np.arange(15, dtype=F).reshape(3, 5) / 9, indices(3, high=4)]),
    ("LinearCrossEntropyLoss", (5, 4), {"out_features": (2, 3)}, [np.ones((3, 5), F), np.ones((3, 2, 3), np.int64)]),
    ("MultiMarginLoss", (), {}, [np.arange(15, dtype=F).reshape(3, 5) / 7, indices(3)]),
    ("MultiLabelMarginLoss", (), {}, [np.arange(4, dtype=F)[None] / 3, np.array([[3, 0, -1, 1]])]),
    ("BCELoss", (), {}, [np.full((2, 3), 0.3, F), np.eye(2, 3, dtype=F)]),
    ("GaussianNLLLoss", (), {"full": True}, [np.ones((2, 3), F), np.zeros((2, 3), F), np.full((2, 3), 0.5, F)]),
    ("CosineEmbeddingLoss", (), {}, [np.eye(2, 3, dtype=F), np.ones((2, 3), F), np.array([1, -1])]),
    ("AdaptiveLogSoftmaxWithLoss", (8, 10, [2, 5]), {"div_value": 2.0}, [np.ones((6, 8), F), indices(6, high=10)]),
    ("AdaptiveLogSoftmaxWithLoss", (8, 10, [2, 5]), {"div_value": 2.0}, [np.ones(8, F), np.array(7)]),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "arrays"), WITH_INDICES)
def test_outputs_with_integer_inputs_are_pytorchs(name, args, kwargs, arrays):
    ours, theirs = pair(name, args, kwargs)
    copy_weights(ours, theirs)
    mine = ours(*[tenfold.tensor(array) for array in arrays])
    right = theirs(*[torch.tensor(array) for array in arrays])
    for got, expected in zip(to_numpy(mine), to_numpy(right), strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)


def test_adaptive_softmax_log_prob_and_predict():
    ours, theirs = pair("AdaptiveLogSoftmaxWithLoss", (8, 10, [2, 5]), {"div_value": 2.0})
    copy_weights(ours, theirs)
    rows = np.random.default_rng(1).normal(size=(20, 8)).astype(F) * 3
    np.testing.assert_allclose(
        ours.log_prob(tenfold.tensor(rows)).detach().numpy(),
        theirs.log_prob(torch.tensor(rows)).detach().numpy(),
        atol=1e-5,
    )
    assert ours.predict(tenfold.tensor(rows)).tolist() == theirs.predict(torch.tensor(rows)).tolist()


LAZY = [
    ("LazyLinear", (3,), (2, 4)),
    ("LazyConv1d", (6, 3, 2), SEQUENCE),
    ("LazyConv2d", (6, 3, 2), IMAGE),
    ("LazyConv3d", (6, 3), VOLUME),
    ("LazyConvTranspose1d", (6, 3), SEQUENCE),
    ("LazyConvTranspose2d", (6, 3), IMAGE),
    ("LazyConvTranspose3d", (6, 3), VOLUME),
    ("LazyBatchNorm1d", (), SEQUENCE),
    ("LazyBatchNorm2d", (), IMAGE),
    ("LazyBatchNorm3d", (), VOLUME),
    ("LazyInstanceNorm1d", (), SEQUENCE),
    ("LazyInstanceNorm2d", (), IMAGE),
    ("LazyInstanceNorm3d", (), VOLUME),
]


@pytest.mark.parametrize(("name", "args", "shape"), LAZY)
def test_lazy_layers_become_pytorchs(name, args, shape):
    ours, theirs = pair(name, args, {})
    array = np.random.default_rng(0).normal(size=shape).astype(F)
    results = []
    for library, module in ((tenfold, ours), (torch, theirs)):
        library.manual_seed(3)
        results.append(module(library.tensor(array)).detach().numpy())
    assert type(ours).__name__ == type(theirs).__name__ == name.removeprefix("Lazy")
    assert neutral(repr(ours)) == repr(theirs)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_and_initial_states(name, bidirectional):
    ours, theirs = pair(name, (3, 4, 2), {"bidirectional": bidirectional})
    copy_weights(ours, theirs)
    rng = np.random.default_rng(0)
    batch, lengths = rng.normal(size=(6, 4, 3)).astype(F), [4, 6, 1, 4]
    first = rng.normal(size=(4 if bidirectional else 2, 4, 4)).astype(F)
    results = []
    for library, module in ((tenfold, ours), (torch, theirs)):
        rnn = library.nn.utils.rnn
        packed = rnn.pack_padded_sequence(library.tensor(batch), lengths, enforce_sorted=False)
        state = library.tensor(first)
        output, last = module(packed, (state, state) if name == "LSTM" else state)
        results.append(to_numpy([*rnn.pad_packed_sequence(output, padding_value=-1.0, total_length=7), last]))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer_masks(norm_first):
    ours, theirs = pair("Transformer", (4, 2, 2, 2, 8, 0.0), {"norm_first": norm_first})
    copy_weights(ours, theirs)
    rng = np.random.default_rng(0)
    src, tgt = rng.normal(size=(5, 2, 4)).astype(F), rng.normal(size=(3, 2, 4)).astype(F)
    padding = np.array([[False] * 5, [False] * 3 + [True] * 2])
    results = []
    for library, module in ((tenfold, ours), (torch, theirs)):
        mask = module.generate_square_subsequent_mask(3)
        options = {"tgt_mask": mask, "src_key_padding_mask": library.tensor(padding)}
        options["memory_key_padding_mask"] = library.tensor(padding)
        results.append(module(library.tensor(src), library.tensor(tgt), **options).detach().numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-5)
