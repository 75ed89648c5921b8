"""Where a loader stands in its epoch, as a state that a later loader can go on from.

A state holds the random states from which the order of the epoch was drawn and the number of batches given so far.
To go on, the order is drawn again and that many batches are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tenfold
from tenfold import Generator


@dataclass
class Progress:
    """An epoch under way: its starting point, and the batches given so far."""

    start: dict[str, Any]
    batches: int = 0
    finished: bool = field(default=False)

    def state(self) -> dict[str, Any]:
        """The state to go on from in the middle of this epoch."""
        return {**self.start, "batches": self.batches, "started": True}


def snapshot(sampler: Any, generators: dict[str, Generator], base_seed: int | None, passes: int) -> dict[str, Any]:
    """The state of a loader whose epoch has not started: what the order of the next epoch will be drawn from."""
    return {
        "batches": 0,
        "started": False,
        "workers": None,
        "base_seed": base_seed,
        "passes": passes,
        "epoch": getattr(sampler, "epoch", None),
        "default_rng": tenfold.get_rng_state(),
        "generators": {name: generator.get_state() for name, generator in generators.items()},
    }


def restore(state: dict[str, Any], sampler: Any, generators: dict[str, Generator]) -> None:
    """Put all random states, and the sampler's epoch, back to a snapshot.

    Raises: KeyError for a dict that is no such state; ValueError when it is of a loader with other generators.
    """
    if state["generators"].keys() != generators.keys():
        raise ValueError(
            f"DataLoader.load_state_dict: the state has generators {sorted(state['generators'])}, this loader has "
            f"{sorted(generators)}; build the loader as it was when the state was taken"
        )
    tenfold.set_rng_state(state["default_rng"])
    for name, generator in generators.items():
        generator.set_state(state["generators"][name])
    if state["epoch"] is not None:
        sampler.set_epoch(state["epoch"])


@contextmanager
def default_rng_kept(keep: bool) -> Iterator[None]:
    """With `keep`, leave the default generator afterwards as it was before: in mid-epoch it belongs to the training."""
    before = tenfold.get_rng_state()
    try:
        yield
    finally:
        if keep:
            tenfold.set_rng_state(before)
