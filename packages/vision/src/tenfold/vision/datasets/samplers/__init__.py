"""Samplers of the clips of films."""

from __future__ import annotations

from tenfold.vision.datasets.samplers.clip_sampler import DistributedSampler, RandomClipSampler, UniformClipSampler

__all__ = ["DistributedSampler", "RandomClipSampler", "UniformClipSampler"]
