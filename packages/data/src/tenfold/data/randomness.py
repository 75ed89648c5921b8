"""The random state of a worker process: its seeds, and the whole of its generators for going on later."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import tenfold


def seed_worker(base_seed: int, worker_id: int) -> int:
    """Seed tenfold and `random` with `base_seed + worker_id`, NumPy with words mixed from both; returns the seed."""
    seed = base_seed + worker_id
    random.seed(seed)
    tenfold.manual_seed(seed)
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    np.random.seed(np.random.SeedSequence(entropy).generate_state(4))
    return seed


def get_random_state() -> dict[str, Any]:
    """The states of this process's default generators."""
    return {"python": random.getstate(), "numpy": np.random.get_state(), "tenfold": tenfold.get_rng_state()}


def set_random_state(state: dict[str, Any]) -> None:
    """Put this process's default generators into given states."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    tenfold.set_rng_state(state["tenfold"])
