"""PyTorch's `torch.cuda.random`: seeds and states of the GPUs' random numbers."""

from __future__ import annotations

from tenfold.cuda.seeding import initial_seed, manual_seed, manual_seed_all, seed, seed_all
from tenfold.cuda.state import get_rng_state, get_rng_state_all, set_rng_state, set_rng_state_all

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip
