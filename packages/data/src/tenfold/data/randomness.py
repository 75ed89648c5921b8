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


def portable(state: dict[str, Any]) -> dict[str, Any]:
    """A random state of numbers and tensors alone, which `tenfold.load` reads without trusting the file."""
    name, words, *rest = state["numpy"]
    return {**state, "numpy": (name, tenfold.from_numpy(words.astype(np.int64)), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Put this process's default generators into given states."""
    random.setstate(state["python"])
    name, words, *rest = state["numpy"]
    np.random.set_state((name, np.asarray(words, dtype=np.uint32), *rest))
    tenfold.set_rng_state(state["tenfold"])
