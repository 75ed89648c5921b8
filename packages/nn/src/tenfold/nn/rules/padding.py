"""Gradients of padding: what was put on is cropped."""

from __future__ import annotations

from tenfold.autograd.gradients import gradient
from tenfold.nn.ops.padding import constant_pad

gradient(constant_pad, input=lambda g, pad: constant_pad(g, tuple(-n for n in pad), 0))
