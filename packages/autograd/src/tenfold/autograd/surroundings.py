"""What a second run of a checkpointed part needs as the first had it: random states, and the autocasting around it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold.amp.autocast import autocast
from tenfold.amp.settings import SETTINGS, get_autocast_dtype, is_autocast_enabled
from tenfold.random.generator import get_rng_state, set_rng_state
from tenfold.tensor.tensor import Tensor


class Surroundings:
    """The random state and the autocasting under which the first run began."""

    def __init__(self, preserve: bool) -> None:
        self.rng = get_rng_state() if preserve else None
        self.casting = [
            (name, is_autocast_enabled(name), get_autocast_dtype(name), SETTINGS.cache)
            for name in {"cpu", "cuda", *SETTINGS.enabled}
        ]

    @contextmanager
    def again(self) -> Iterator[None]:
        """Run a block under them; afterwards random numbers go on where they were."""
        now = None if self.rng is None else get_rng_state()
        try:
            if self.rng is not None:
                set_rng_state(self.rng)
            with contextlib.ExitStack() as stack:
                for name, enabled, dtype, cache in self.casting:
                    if enabled or is_autocast_enabled(name):
                        stack.enter_context(autocast(name, dtype=dtype, enabled=enabled, cache_enabled=cache))
                yield
        finally:
            if now is not None:
                set_rng_state(now)


def _tensors(tree: Any) -> Iterator[Tensor]:
    """The tensors among arguments, and in lists, tuples and dictionaries of them."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, (list, tuple, dict)):
        for branch in tree.values() if isinstance(tree, dict) else tree:
            yield from _tensors(branch)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The GPUs that tensors among the arguments, or in trees of them, lie on, and the state of random numbers of each.

    >>> from tenfold.ops.creation.factories import empty
    >>> get_device_states(empty(2), {"x": empty(3)})
    ([], [])
    """
    # Every device draws from the one default generator, whose state is each device's.
    found = {t.device.index or 0 for t in _tensors(args) if t.device.type not in ("cpu", "meta")}
    return sorted(found), [get_rng_state() for _ in found]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Put the random numbers of devices back to the states that `get_device_states` gave.

    >>> set_device_states([], [])
    """
    if len(devices) != len(states):
        raise ValueError(
            f"set_device_states: each device needs a state, but got {len(devices)} devices and {len(states)} states; "
            "pass both lists as get_device_states gave them"
        )
    for state in states:
        set_rng_state(state)
