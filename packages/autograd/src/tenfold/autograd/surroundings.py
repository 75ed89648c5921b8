"""What a second run of a checkpointed part needs as the first had it: random states, and the autocasting around it."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tenfold.amp.autocast import autocast
from tenfold.amp.settings import SETTINGS, get_autocast_dtype, is_autocast_enabled
from tenfold.dispatch.devices import loaded_backends
from tenfold.random.generator import get_rng_state, set_rng_state
from tenfold.tensor.tensor import Tensor


class Surroundings:
    """The random state and the autocasting under which the first run began."""

    def __init__(self, preserve: bool) -> None:
        self.rng = _random_streams() if preserve else None
        self.casting = [
            (name, is_autocast_enabled(name), get_autocast_dtype(name), SETTINGS.cache)
            for name in {"cpu", "cuda", *SETTINGS.enabled}
        ]

    @contextmanager
    def again(self) -> Iterator[None]:
        """Run a block under them; afterwards random numbers go on where they were."""
        now = None if self.rng is None else _random_streams()
        try:
            if self.rng is not None:
                self.rng()
            with contextlib.ExitStack() as stack:
                for name, enabled, dtype, cache in self.casting:
                    if enabled or is_autocast_enabled(name):
                        stack.enter_context(autocast(name, dtype=dtype, enabled=enabled, cache_enabled=cache))
                yield
        finally:
            if now is not None:
                now()


def _random_streams() -> Callable[[], None]:
    """What puts the process's random numbers and the devices' own back where they are."""
    state, devices = get_rng_state(), [backend.kept() for backend in loaded_backends()]

    def restore() -> None:
        set_rng_state(state)
        for again in devices:
            again()

    return restore


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
    found = sorted({(t.device.index or 0, t.device.type) for t in _tensors(args) if t.device.type not in ("cpu", "meta")})
    return [index for index, _ in found], [_numbers(kind).get_rng_state(index) for index, kind in found]


def _infer_device_type(*args: Any) -> str:
    """The device type of tensors among the arguments that are not on the CPU, the first one's with a warning where they differ.

    Without any: the CPU.

    >>> from tenfold.ops.creation.factories import empty
    >>> _infer_device_type({"x": empty(2, device="meta")})
    'meta'
    """
    kinds = list(dict.fromkeys(t.device.type for t in _tensors(args) if t.device.type != "cpu"))
    if len(kinds) > 1:
        warnings.warn(
            "Tensor arguments, excluding CPU tensors, are detected on at least two types of devices. Device state will only be "
            f"saved for devices of a single device type: the first. Device types: {sorted(kinds)} first device type: {kinds[0]}",
            stacklevel=2,
        )
    return kinds[0] if kinds else "cpu"


def _numbers(device_type: str) -> Any:
    """The module of a device type, such as `tenfold.cuda`, which has the states of its random numbers."""
    return importlib.import_module(f"tenfold.{device_type}")


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Put the random numbers of devices back to the states that `get_device_states` gave.

    >>> set_device_states([], [])
    """
    if len(devices) != len(states):
        raise ValueError(
            f"set_device_states: each device needs a state, but got {len(devices)} devices and {len(states)} states; "
            "pass both lists as get_device_states gave them"
        )
    for index, state in zip(devices, states):
        _numbers(device_type or "cuda").set_rng_state(state, index)
