"""Optical flow as colours."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

import tenfold
from tenfold import Tensor

# how many steps there are from red to yellow, to green, to cyan, to blue, to magenta, and back
STEPS = (15, 6, 4, 11, 13, 6)
RISING = ((1, True), (0, False), (2, True), (1, False), (0, True), (2, False))  # the channel that changes, and whether it rises


@cache
def _wheel() -> list[list[float]]:
    """Colours of bytes around the circle: (55, 3)."""
    rows = []
    color = [255.0, 0.0, 0.0]
    for count, (channel, rises) in zip(STEPS, RISING, strict=True):
        for step in range(count):
            change = math.floor(255 * step / count)
            color[channel] = change if rises else 255 - change
            rows.append(list(color))
        color[channel] = 255.0 if rises else 0.0
    return rows


def flow_to_image(flow: Tensor) -> Tensor:
    """Direction as hue and length, relative to the longest, as strength: (2, H, W) or (N, 2, H, W), float -> 3 channels of bytes.

    Raises:
        ValueError: another dtype or shape.

    Source: S. Baker and others, A Database and Evaluation Methodology for Optical Flow, 2011, section 4 (the colour code).
    """
    if flow.dtype != tenfold.float32:
        raise ValueError(f"flow_to_image: Flow should be of dtype torch.float, got {flow.dtype}.")
    batch = flow[None] if flow.ndim == 3 else flow
    if batch.ndim != 4 or batch.shape[1] != 2:
        raise ValueError(f"flow_to_image: Input flow should have shape (2, H, W) or (N, 2, H, W), got {tuple(flow.shape)}.")
    longest = (batch**2).sum(1).sqrt().max()
    scaled = batch / (longest + tenfold.finfo(tenfold.float32).eps)
    image = _colored(scaled)
    return image[0] if flow.ndim == 3 else image


def _colored(flow: Tensor) -> Tensor:
    length = (flow**2).sum(1).sqrt()
    wheel = tenfold.tensor(_wheel(), dtype=tenfold.float32, device=flow.device)
    angle = tenfold.atan2(-flow[:, 1], -flow[:, 0]) / np.pi
    place = (angle + 1) / 2 * (len(wheel) - 1)
    low = place.floor().long()
    share = (place - low)[..., None]
    hue = (1 - share) * (wheel[low] / 255.0) + share * (wheel[(low + 1) % len(wheel)] / 255.0)
    color = 1 - length[..., None] * (1 - hue)  # white where nothing moves
    return (255 * color).floor().permute(0, 3, 1, 2).to(tenfold.uint8)
