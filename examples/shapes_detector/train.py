"""Train a small Faster R-CNN to find drawn circles, squares and triangles.

python train.py                 # writes shapes.png and prints how many shapes it finds; about half a minute
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.vision.models.detection import AnchorGenerator, FasterRCNN
from tenfold.vision.ops import MultiScaleRoIAlign, box_iou
from tenfold.vision.transforms.functional import pil_to_tensor
from tenfold.vision.utils import draw_bounding_boxes, make_grid, save_image

NAMES = ("background", "circle", "square", "triangle")
COLORS = ("black", "red", "lime", "yellow")
SIDE = 64


class Body(nn.Sequential):
    """Three convolutions: maps of a quarter of the picture's size."""

    out_channels = 32

    def __init__(self) -> None:
        widths = (3, 16, 32, 32)
        parts: list[nn.Module] = []
        for inputs, outputs in pairwise(widths):
            parts += [
                nn.Conv2d(inputs, outputs, 3, stride=1 if inputs == 32 else 2, padding=1),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        super().__init__(*parts)


def detector() -> FasterRCNN:
    """Faster R-CNN with one level of maps and anchors of the shapes' sizes."""
    return FasterRCNN(
        Body(),
        num_classes=len(NAMES),
        min_size=SIDE,
        max_size=SIDE,
        rpn_anchor_generator=AnchorGenerator(((10, 14, 20),), ((1.0,),)),
        box_roi_pool=MultiScaleRoIAlign(["0"], 5, 2),
        rpn_pre_nms_top_n_train=60,
        rpn_post_nms_top_n_train=30,
        rpn_pre_nms_top_n_test=60,
        rpn_post_nms_top_n_test=20,
        box_batch_size_per_image=32,
        box_score_thresh=0.5,
        box_nms_thresh=0.3,
        size_divisible=8,
    )


def draw(random: np.random.Generator) -> tuple[Tensor, dict[str, Tensor]]:
    """A noisy picture of one to three shapes, with their boxes and kinds."""
    noise = random.integers(0, 60, (SIDE, SIDE, 3)).astype(np.uint8)
    picture = Image.fromarray(noise)
    canvas = ImageDraw.Draw(picture)
    boxes: list[tuple[int, int, int, int]] = []
    kinds = []
    for _ in range(random.integers(1, 4)):
        size = int(random.integers(11, 22))
        x, y = (int(place) for place in random.integers(1, SIDE - size - 1, 2))
        box = (x, y, x + size, y + size)
        if any(x < b[2] + 2 and b[0] < box[2] + 2 and y < b[3] + 2 and b[1] < box[3] + 2 for b in boxes):
            continue  # shapes do not touch
        kind = int(random.integers(1, 4))
        color = tuple(int(part) for part in random.integers(90, 256, 3))
        if kind == 1:
            canvas.ellipse(box, fill=color)
        elif kind == 2:
            canvas.rectangle(box, fill=color)
        else:
            canvas.polygon([(x, y + size), (x + size, y + size), (x + size // 2, y)], fill=color)
        boxes.append(box)
        kinds.append(kind)
    target = {"boxes": tenfold.tensor(boxes, dtype=tenfold.float32), "labels": tenfold.tensor(kinds)}
    return pil_to_tensor(picture).float() / 255, target


def train(model: FasterRCNN, steps: int, random: np.random.Generator) -> list[float]:
    """Adam on new pictures at every step; the losses."""
    optimizer = optim.Adam(model.parameters(), lr=4e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    history = []
    for step in range(steps):
        images, targets = zip(*(draw(random) for _ in range(6)), strict=True)
        losses = model.train()(images, targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
        if step % 25 == 0:
            print(f"step {step:4d}   loss {history[-1]:.3f}")
    return history


@tenfold.no_grad()
def evaluate(model: FasterRCNN, count: int, random: np.random.Generator, picture: Path) -> float:
    """The share of new shapes that are found with their kind, at half an overlap or more; the first sixteen are drawn."""
    images, targets = zip(*(draw(random) for _ in range(count)), strict=True)
    detections = model.eval()(images)
    right = total = 0
    drawn = []
    for image, target, found in zip(images, targets, detections, strict=True):
        overlap = box_iou(target["boxes"], found["boxes"]) >= 0.5
        same = target["labels"][:, None] == found["labels"][None]
        right += int((overlap & same).any(dim=1).sum()) if len(found["boxes"]) else 0
        total += len(target["boxes"])
        colors = [COLORS[kind] for kind in found["labels"].tolist()]
        drawn.append(draw_bounding_boxes(image, found["boxes"], colors=colors) if colors else image)
    save_image(make_grid(drawn[:16], nrow=8, pad_value=1.0), picture)
    return right / total


def main(arguments: list[str] | None = None) -> float:
    """Train, print the share of shapes found, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--out", type=Path, default=Path("runs/shapes"))
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    tenfold.manual_seed(0)
    model = detector()
    train(model, options.steps, np.random.default_rng(0))
    share = evaluate(model, 64, np.random.default_rng(1), options.out / "shapes.png")
    print(f"found {share:.1%} of the shapes of 64 new pictures; some are drawn in {options.out / 'shapes.png'}")
    return share


if __name__ == "__main__":
    main()
