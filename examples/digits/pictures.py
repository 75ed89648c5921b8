"""The pictures that a run leaves: how the loss fell, and what the network says about test images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from tenfold import Tensor

COLUMNS, ROWS = 12, 8
WRONG = "#d62728"


def draw_loss(path: Path, history: list[dict[str, float]]) -> None:
    """Loss and accuracy of training and test images over the epochs."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    epochs = range(1, len(history) + 1)
    for axes, (what, unit) in zip(figure.subplots(1, 2), [("loss", "nats"), ("accuracy", "%")]):
        for images in ("train", "test"):
            axes.plot(epochs, [row[f"{images}_{what}"] for row in history], marker=".", label=images)
        axes.set(xlabel="epoch", ylabel=f"{what} ({unit})", title=what)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=110)


def draw_predictions(path: Path, images: Tensor, truth: Tensor, scores: Tensor) -> None:
    """A sheet of test images with what the network takes them for; its mistakes come first, in red with the truth.

    Shapes: (N, 1, 8, 8), (N), (N, 10).
    """
    predicted, actual = scores.argmax(1).numpy(), truth.numpy()
    wrong = predicted != actual
    shown = np.argsort(~wrong, kind="stable")[: ROWS * COLUMNS]
    figure = Figure(figsize=(COLUMNS * 0.8, ROWS * 0.95 + 0.5), layout="constrained")
    figure.suptitle(
        f"{wrong.sum()} of {len(wrong)} test images wrong; above each image what the network says, in red with the truth",
        fontsize=10,
    )
    for axes in figure.subplots(ROWS, COLUMNS).flat:
        axes.axis("off")
    for axes, index in zip(figure.axes, shown):
        axes.imshow(images[int(index), 0].numpy(), cmap="gray_r")
        if wrong[index]:
            axes.set_title(f"{predicted[index]}, is {actual[index]}", color=WRONG, fontsize=9, fontweight="bold")
            axes.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=WRONG, linewidth=3, transform=axes.transAxes))
        else:
            axes.set_title(f"{predicted[index]}", fontsize=9)
    figure.savefig(path, dpi=110)
