"""Seeding and states of random numbers, under PyTorch's names: `tenfold.random.manual_seed` and the like."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from tenfold.dispatch.devices import loaded_backends
from tenfold.random.generator import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, _caller: str = "", _devices_kw: str = "", device_type: str = ""
) -> Iterator[None]:
    """Run a block whose random numbers leave the default generator as it was before.

    >>> before = get_rng_state()
    >>> with fork_rng():
    ...     _ = seed()
    >>> get_rng_state().equal(before)
    True
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    with contextlib.ExitStack() as stack:
        stack.callback(set_rng_state, state)
        for backend in loaded_backends():
            stack.callback(backend.kept(devices))
        yield
