"""The random state of a worker process: its seeds, and the whole of its generators for going on later."""

from __future__ import annotations

import random
from ctypes import string_at
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
    return {"python": random.getstate(), "numpy": _numpy_state(), "tenfold": tenfold.get_rng_state()}


_TWISTER_BYTES = 4 * 624 + 4  # a key of 624 words and the position in it
_last: list[Any] = [b"", None]  # the memory of NumPy's generator when its state was last taken, and that state


def _numpy_state() -> Any:
    """`np.random.get_state()`, which makes 624 numbers one by one: asked for only when the generator's memory has changed."""
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined] # the stubs lack it
    if not isinstance(generator, np.random.MT19937):
        return np.random.get_state(legacy=False)
    memory = string_at(generator.ctypes.state_address, _TWISTER_BYTES)
    kept = _last[1]
    # A cached second normal sample can be used up without a change of that memory: then nothing is known.
    if memory != _last[0] or kept[3]:
        kept = np.random.get_state()
        _last[:] = memory, kept
    return kept


def portable(state: dict[str, Any]) -> dict[str, Any]:
    """A random state of numbers and tensors alone, which `tenfold.load` reads without trusting the file."""
    if isinstance(state["numpy"], dict):  # of a generator that the program has chosen: numbers by name
        return state
    name, words, *rest = state["numpy"]
    return {**state, "numpy": (name, tenfold.from_numpy(words.astype(np.int64)), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Put this process's default generators into given states."""
    _last[:] = b"", None  # a cached normal sample may come without another key
    random.setstate(state["python"])
    words = state["numpy"]
    np.random.set_state(words if isinstance(words, dict) else (words[0], np.asarray(words[1], dtype=np.uint32), *words[2:]))
    tenfold.set_rng_state(state["tenfold"])
