"""Seeds: each GPU has a generator of its own, a seed and how far it was drawn from, as in PyTorch; a program may make others.

`tenfold.manual_seed` restarts the generators of all GPUs; that of a GPU that nobody seeded has the seed of the default generator.
A draw takes as many counters as its kernel has lanes, so that no two draws share any (kernels/programs/draws.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tenfold.cuda import capturing
from tenfold.cuda.devices import current_device, device_count, is_available
from tenfold.dispatch.devices import device
from tenfold.ops.creation.factories import from_numpy
from tenfold.random import generator
from tenfold.random.generator import Generator
from tenfold.tensor.tensor import Tensor

WORDS = 4  # random words of 32 bits that a counter gives


class CudaGenerator(Generator):
    """`Generator(device="cuda")`: random numbers that are made on a GPU, from a seed and a counter.

    What the class needs lies in the slots of the CPU's: `Generator` becomes this one when it is made for a GPU. The seed and the
    counter that comes next are a list, which generators may share (`graphsafe_get_state`).
    """

    __slots__ = ()

    @property
    def place(self) -> list[int]:
        """[seed, counter that comes next]."""
        found: list[int] = self._draw
        return found

    def _restart(self, seed: int, counter: int = 0) -> None:
        place = getattr(self, "_draw", None)
        if place is None:
            self._go_on_from([seed, counter])
        else:
            place[:] = seed, counter

    def _go_on_from(self, place: Any) -> None:
        super()._restart(0)  # what the CPU's class looks at
        self._draw = place

    def initial_seed(self) -> int:
        """The seed that it was last started from."""
        return self.place[0]

    def seed(self) -> int:
        """Begin anew from a seed that the operating system chose; that seed."""
        self._restart(int.from_bytes(os.urandom(8), "little"))
        return self.place[0]

    def _state(self) -> Any:
        """16 bytes: the seed and the counter, 8 bytes each, the lowest first."""
        return np.array(self.place, "<u8").view(np.uint8)

    def set_state(self, new_state: Any) -> Generator:
        """Go on from what `get_state` gave.

        Raises: TypeError for what is no uint8 tensor of the CPU, RuntimeError for another number of bytes.
        """
        array = new_state._array if isinstance(new_state, Tensor) and new_state.device.type == "cpu" else new_state
        if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor: a uint8 tensor on the CPU, as get_state gives")
        if array.size != 16:
            raise RuntimeError(f"RNG state of a GPU is wrong size: expected 16 bytes, got {array.size}; pass what get_state gave")
        seed, counter = np.ascontiguousarray(array).view("<u8")
        self._restart(int(seed), int(counter))
        return self

    def get_offset(self) -> int:
        """How many random words of 32 bits were drawn since the seed."""
        return self.place[1] * WORDS

    def set_offset(self, offset: int) -> None:
        """Go on so many words behind the seed.

        Raises: RuntimeError for what is no multiple of 4.
        """
        if offset % WORDS:
            raise RuntimeError(f"offset must be a multiple of 4, got {offset}")
        self.place[1] = offset // WORDS

    def graphsafe_get_state(self) -> CudaGenerator:
        """A generator that goes on from here with this one: what either draws is drawn from both."""
        found = object.__new__(CudaGenerator)
        found.device = self.device
        found._go_on_from(self._draw)
        return found

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """Go on with another generator of a GPU: what either draws is drawn from both.

        Raises: TypeError for one of the CPU.
        """
        if not isinstance(state, CudaGenerator):
            raise TypeError("graphsafe_set_state: expected a generator of a GPU")
        self._draw = state._draw
        return self

    def __repr__(self) -> str:
        return f"<tenfold.Generator device={str(self.device)!r} initial_seed={self.place[0]}>"

    def _started(self) -> Any:
        raise RuntimeError("Expected a 'cpu' device type for generator but found 'cuda': make it by Generator()")


_streams: dict[int, CudaGenerator] = {}  # of each GPU its own


def default_generator(index: int) -> CudaGenerator:
    """A GPU's own generator."""
    found = _streams.get(index)
    if found is None:
        found = _streams[index] = _made(index, generator.initial_seed())
    return found


def _made(index: int, seed: int) -> CudaGenerator:
    made = object.__new__(CudaGenerator)
    made.device = device("cuda", index)
    made._restart(seed)
    return made


def own(source: Any) -> Any:
    """A generator of the user's; None for that which every program has, whose place a GPU's own takes.

    Raises: RuntimeError for one that makes its numbers on the CPU.
    """
    if source is None or source is generator.default_generator:
        return None
    if not isinstance(source, CudaGenerator):
        raise RuntimeError(
            f"Expected a 'cuda' device type for generator but found '{source.device.type}': make it by Generator(device='cuda')"
        )
    return None if source is _streams.get(source.device.index or 0) else source


def reserve(index: int, source: Any, counters: int) -> tuple[int, int]:
    """(seed, first counter) for a draw from a GPU's own generator, or from one of the user's."""
    chosen = own(source)
    if chosen is None:
        chosen = default_generator(index)
    place = chosen.place
    first = place[1]
    place[1] = first + counters
    return place[0], first


def on_the_host(index: int, source: Any) -> Generator:
    """The generator for numbers that are drawn on the CPU and copied: for one of a GPU a new one, which it leads to."""
    if source is generator.default_generator:
        return generator.default_generator
    words = np.random.SeedSequence(reserve(index, source, 1)).generate_state(1, np.uint64)
    return Generator().manual_seed(int(words[0]))


def restart(index: int, seed: int) -> None:
    """Let a GPU's own generator begin anew from a seed."""
    default_generator(index)._restart(seed % 2**64)


def restart_all(seed: int) -> None:
    """Restart the generators of all GPUs, also of those that were not used yet."""
    for index in range(device_count()):
        restart(index, seed)


def state_of(index: int) -> Tensor:
    """The state of a GPU's own generator."""
    found: Tensor = from_numpy(default_generator(index)._state())
    return found


def kept(indices: Iterable[int]) -> Callable[[], None]:
    """What puts the streams of some GPUs back where they are, and what a graph that is being recorded has drawn."""
    states = {index: list(default_generator(index).place) for index in indices}
    capture = capturing.current() if capturing.CAPTURES else None
    drawn = {} if capture is None else {key: draws.counters for key, draws in capture.draws.items()}

    def restore() -> None:
        for index, (seed, counter) in states.items():
            default_generator(index)._restart(seed, counter)
        for key, draws in () if capture is None else capture.draws.items():
            draws.counters = drawn.get(key, 0)

    return restore


def manual_seed(seed: int) -> None:
    """Restart the random numbers of the current GPU from a seed; nothing happens without a GPU."""
    if is_available():
        restart(current_device(), int(seed))


def manual_seed_all(seed: int) -> None:
    """Restart the random numbers of all GPUs from a seed."""
    if is_available():
        restart_all(int(seed))


def seed() -> None:
    """Restart the random numbers of the current GPU from a seed that the operating system chose."""
    manual_seed(int.from_bytes(os.urandom(8), "little"))


def seed_all() -> None:
    """Restart the random numbers of all GPUs from one seed that the operating system chose."""
    manual_seed_all(int.from_bytes(os.urandom(8), "little"))


def initial_seed() -> int:
    """The seed that the random numbers of the current GPU were last started from; without a GPU that of the default generator."""
    return default_generator(current_device()).initial_seed() if is_available() else generator.initial_seed()
