"""Whole networks train on the device to the CPU's losses, in full and in half precision, and leave no memory behind.

What other tests look at one by one meets here: layers, attention, losses, gradients, autocast, scaled gradients, clipping, fused
steps and schedules, on memory that is used again.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tenfold
from tenfold import amp, cuda, nn, optim
from tenfold.cuda import runtime
from tenfold.nn import functional as F

STEPS = 3
WORDS, LENGTH, WIDTH, HEADS = 17, 12, 16, 2
HALVES = {"bfloat16": tenfold.bfloat16, "float16": tenfold.float16}
# Of a loss or a norm of gradients. Half precision rounds a product to 2^-9 or 2^-11 of it, and both devices at other places.
TOLERANCES = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 4e-3}


def convolutional():
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    body = (nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*body, nn.Conv2d(4, 8, 3, stride=2, groups=2), nn.GroupNorm(4, 8), nn.SiLU(), *head)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0].mean(1))


class Gpt(nn.Module):
    """One block; the words' vectors are also what the last layer multiplies by."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.before, self.after, self.last = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.attend, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        x = self.words(words) / WIDTH**0.5 + self.places(tenfold.arange(words.shape[1], device=words.device))
        heads = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.attend(self.before(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.mix(seen.transpose(1, 2).flatten(2))
        return self.head(self.last(x + self.feed(self.after(x))))


# The network, the shape of its examples (None: of words) and of a batch's targets, and how many classes there are.
NETWORKS = {
    "convolutional": (convolutional, (2, 3, 10, 10), (2,), 5),
    "channels last": (lambda: convolutional().to(memory_format=tenfold.channels_last), (2, 3, 10, 10), (2,), 5),
    "lstm": (Recurrent, (3, 4, 5), (3,), 3),
    "gpt": (Gpt, None, (2, LENGTH), WORDS),
}


def training(name, precision, device):
    """A function that trains for one step, on new numbers each time, and gives (loss, norm of the gradients)."""
    make, shape, targets, classes = NETWORKS[name]
    tenfold.manual_seed(0)
    model, numbers = make().to(device), np.random.default_rng(0)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, fused=device == "cuda" or None)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    scaler = amp.GradScaler(device, enabled=precision == "float16")
    half = HALVES.get(precision)

    def step():
        drawn = numbers.integers(WORDS, size=targets) if shape is None else numbers.standard_normal(shape).astype(np.float32)
        x, target = tenfold.tensor(drawn).to(device), tenfold.tensor(numbers.integers(classes, size=targets)).to(device)
        with tenfold.autocast(device, dtype=half or tenfold.bfloat16, enabled=half is not None):
            loss = F.cross_entropy(model(x).flatten(0, -2), target.flatten(), label_smoothing=0.1)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        schedule.step()
        return loss, norm

    return step


@pytest.fixture(autouse=True)
def full_float32(monkeypatch):
    """TF32, which convolutions may use unless it is switched off, has ten bits of a number."""
    monkeypatch.setattr(tenfold.backends.cudnn, "allow_tf32", False)


# Each network in full and in a half precision, each half in networks of two kinds.
HALF_OF = {"convolutional": "bfloat16", "channels last": "float16", "lstm": "float16", "gpt": "bfloat16"}
PAIRS = [(name, precision) for name, half in HALF_OF.items() for precision in ("float32", half)]


@pytest.mark.parametrize(("name", "precision"), PAIRS)
def test_a_network_trains_to_the_cpus_losses(name, precision):
    expected, found = (
        [[value.item() for value in step()] for _ in range(STEPS)]
        for step in (training(name, precision, device) for device in ("cpu", "cuda"))
    )
    np.testing.assert_allclose(found, expected, rtol=TOLERANCES[precision])
    assert len({loss for loss, _ in found}) == STEPS


@pytest.mark.parametrize("name", ["convolutional", "lstm", "gpt"])
def test_steps_leave_no_memory_behind(name):
    """A thousand on a GPU; in the interpreter, which takes its time, a few."""
    warm, steps = (100, 1000) if isinstance(runtime.current(), runtime.CupyRuntime) else (2, 4)
    step, used = training(name, "float32", "cuda"), []
    for count in (warm, steps - warm):
        for _ in range(count):
            step()
        gc.collect()
        used.append(cuda.memory_allocated())
    assert used[1] <= used[0]
