"""The networks that training.py times and loss_curves.py compares, each written once for both libraries.

`network(lib, name)` returns the model, the loss of one step and the optimizer, over seeded data. Modules of PyTorch's names
only, so that `lib` may be `tenfold` or `torch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Numbers = np.random.Generator


class Network(NamedTuple):
    """A model with all that one step of training needs."""

    model: Any
    loss: Callable[[int], Any]  # of the batch of this number
    optimizer: Any


def mlp(lib: Any) -> Any:
    """784-256-256-10."""
    nn = lib.nn
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def lenet(lib: Any) -> Any:
    """Two convolutions and three affine maps, on 28x28 images."""
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def resnet18(lib: Any) -> Any:
    """He et al., 2015, with the keys of `tenfold.vision.models.resnet18`."""
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.downsample = None
            if stride > 1:
                self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            out = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
            return (out + (x if self.downsample is None else self.downsample(x))).relu()

    class ResNet(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            self.maxpool = nn.MaxPool2d(3, 2, 1)
            widths = [64, 64, 128, 256, 512]
            for i in range(1, 5):
                first = Block(widths[i - 1], widths[i], 1 if i == 1 else 2)
                setattr(self, f"layer{i}", nn.Sequential(first, Block(widths[i], widths[i], 1)))
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 10)

        def forward(self, x: Any) -> Any:
            x = self.maxpool(self.bn1(self.conv1(x)).relu())
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(self.avgpool(x).flatten(1))

    return ResNet()


WORDS, STEPS, BATCH = 10_000, 35, 20  # as Zaremba, Sutskever and Vinyals, 2014, on the Penn Treebank


def lstm_lm(lib: Any) -> Any:
    """A language model of two LSTM layers, 200 wide."""
    nn = lib.nn

    class LanguageModel(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.lstm, self.out = nn.Embedding(WORDS, 200), nn.LSTM(200, 200, 2), nn.Linear(200, WORDS)

        def forward(self, words: Any) -> Any:
            return self.out(self.lstm(self.embedding(words))[0])

    return LanguageModel()


def small_lstm(lib: Any) -> Any:
    """One LSTM layer, 64 wide: little work in many steps."""
    return lib.nn.LSTM(64, 64)


def gpt(lib: Any) -> Any:
    """Four blocks of attention and perceptron, 192 wide (Radford et al., 2019)."""
    nn, functional, width, heads, letters, context = lib.nn, lib.nn.functional, 192, 6, 256, 128

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            B, T, D = x.shape
            q, k, v = (p.view(B, T, heads, D // heads).transpose(1, 2) for p in self.qkv(self.norm1(x)).split(D, 2))
            seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(seen.transpose(1, 2).reshape(B, T, D))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(context, width)
            self.blocks = nn.ModuleList([Block() for _ in range(4)])
            self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

        def forward(self, text: Any) -> Any:
            x = self.letters(text) + self.places(lib.arange(text.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.out(self.norm(x))

    return GPT()


def _images(rng: Numbers, *shape: int) -> tuple[Any, Any]:
    """Images of ten classes, each brighter in a place of its own, so that there is something to learn."""
    target = rng.integers(0, 10, shape[0])
    data = rng.standard_normal(shape)
    data.reshape(shape[0], -1)[np.arange(shape[0]), target * 7] += 3
    return data, target


def _text(rng: Numbers, rows: int, columns: int, kinds: int) -> tuple[Any, Any]:
    """Sequences in which each element mostly follows from the one before."""
    steps = rng.integers(0, 3, (rows + 1, columns)).cumsum(0) * 7 % kinds
    return steps[:-1], steps[1:]


DATA: dict[str, Callable[[Numbers], tuple[Any, Any]]] = {
    "MLP 784-256-256-10": lambda rng: _images(rng, 64, 784),
    "LeNet": lambda rng: _images(rng, 64, 1, 28, 28),
    "ResNet-18, 32x32": lambda rng: _images(rng, 16, 3, 32, 32),
    "LSTM language model": lambda rng: _text(rng, STEPS, BATCH, WORDS),
    "GPT 4x192": lambda rng: tuple(a.T for a in _text(rng, 128, 4, 256)),
    "small LSTM": lambda rng: (rng.standard_normal((32, 8, 64)), rng.standard_normal((32, 8, 64))),
}
MODELS = dict(zip(DATA, (mlp, lenet, resnet18, lstm_lm, gpt, small_lstm), strict=True))
OPTIMIZERS = {"LeNet": ("SGD", {"lr": 0.05, "momentum": 0.9}), "ResNet-18, 32x32": ("SGD", {"lr": 0.01, "momentum": 0.9}),
              "small LSTM": ("SGD", {"lr": 0.01})}  # fmt: skip
BATCHES = 5


def set_weights(lib: Any, model: Any) -> None:
    """The same first weights in every library: matrices drawn from a seed, biases 0, factors of norms 1."""
    rng = np.random.default_rng(0)
    norms = {id(p) for m in model.modules() if "Norm" in type(m).__name__ for p in m.parameters()}
    with lib.no_grad():
        for p in model.parameters():
            if p.dim() > 1:
                p.copy_(lib.from_numpy(rng.standard_normal(tuple(p.shape)) / np.sqrt(np.prod(p.shape[1:]))))
            elif id(p) not in norms:
                p.zero_()


def network(lib: Any, name: str, dtype: str = "float32") -> Network:
    """The network of this name in one library, with its first weights, its data and its optimizer."""
    model = MODELS[name](lib).to(getattr(lib, dtype))
    set_weights(lib, model)
    rng = np.random.default_rng(1)
    batches = [[_tensor(lib, a, dtype) for a in DATA[name](rng)] for _ in range(BATCHES)]
    kind, options = OPTIMIZERS.get(name, ("AdamW", {"lr": 1e-3}))

    def loss(number: int) -> Any:
        x, target = batches[number % BATCHES]
        if name == "small LSTM":
            return (model(x)[0] * target).mean()
        logits = model(x)
        return lib.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))

    return Network(model, loss, getattr(lib.optim, kind)(model.parameters(), **options))


def _tensor(lib: Any, array: Any, dtype: str) -> Any:
    kind = dtype if array.dtype.kind == "f" else "int64"
    return lib.from_numpy(np.ascontiguousarray(array, dtype=kind))


def step(made: Network, number: int) -> Any:
    """One step of training; returns the loss."""
    made.optimizer.zero_grad()
    value = made.loss(number)
    value.backward()
    made.optimizer.step()
    return value
