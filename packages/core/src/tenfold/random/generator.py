"""The stream of random words behind every random operator: PyTorch's CPU generator, bit for bit.

It is the 32-bit Mersenne Twister (Matsumoto and Nishimura, 1998) initialised with the low 32 bits of the seed. A generator
hands out words; how words become samples is in `tenfold.random.sampling`.
"""

from __future__ import annotations

import operator
import os
from ctypes import memmove, string_at
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.dispatch.devices import CPU, loaded_backends, located
from tenfold.dispatch.services import SERVICES
from tenfold.random.ahead import BLOCK as _N, LOCK, PATIENCE, Ahead

if TYPE_CHECKING:
    from numpy.random import MT19937
    from numpy.typing import NDArray

    from tenfold.dispatch.devices import device

DEFAULT_SEED = 67280421310721

# As PyTorch's `get_rng_state()` lays it out.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (_N,)),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),  # the cached normal sample
        ("normal_rho", "<f8"),
        ("normal_valid", "<i4"),
        ("padding", "V12"),
    ]
)


class Generator:
    """A reproducible stream of random numbers, the same as `torch.Generator` gives on the CPU.

    A generator made without a seed starts from the fixed seed 67280421310721.

    States are uint8 tensors in PyTorch's layout, so they travel between the two libraries.
    Source: M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), with the initialisation of 2002.

    >>> Generator().manual_seed(5489).words32(3).tolist()
    [3499211612, 581869302, 3890346734]
    """

    __slots__ = (
        "__weakref__",
        "_ahead",
        "_draw",
        "_engine",
        "_few_draws",
        "_fresh",
        "_position",
        "_seed",
        "device",
        "normal_sample",
    )

    device: device
    normal_sample: float | None  # the second half of the last Box-Muller pair, not handed out yet
    _engine: MT19937 | None
    _ahead: Ahead | None
    _few_draws: int
    _position: int  # of the engine in its block; asking the engine takes longer than a hundred draws
    _draw: Any

    def __init__(self, device: Any = "cpu") -> None:
        # The CPU's backend is not loaded for the default generator's sake.
        self.device = CPU if device == "cpu" else located(device)
        if self.device is not CPU:  # a backend's own kind
            self.__class__ = getattr(self.device.backend, "generator", Generator)
        self._restart(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from `seed` and return the generator.

        Negative seeds stand for seed + 2**64.

        Raises: RuntimeError if `seed` is no integer, ValueError if it is outside [-2**63, 2**64).

        >>> Generator().manual_seed(-1).initial_seed() == 2**64 - 1
        True
        """
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"Generator: manual_seed expected a long, but got {type(seed).__name__}; pass an int")
        self._restart(_checked_seed(operator.index(seed)))
        return self

    def seed(self) -> int:
        """Restart the stream from a seed that the operating system chose, and return that seed."""
        self._restart(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream was last started from."""
        return self._seed

    def get_state(self) -> Any:
        """The whole state, the cached normal sample included, as PyTorch's 5056 bytes. Shape: (5056,). Dtype: uint8.

        >>> Generator().get_state().shape
        tenfold.Size([5056])
        """
        return SERVICES.from_numpy(self._state())

    def _state(self) -> NDArray[np.uint8]:
        twister = self._engine_state()
        position = int(twister[_N])
        record = np.zeros(1, _STATE)
        record["seed"], record["seeded"], record["words"] = self._seed, 1, twister[:_N]
        record["left"], record["next"] = (1, 0) if self._fresh else (_N + 1 - position, position)
        if self.normal_sample is not None:
            record["normal_y"], record["normal_valid"] = self.normal_sample, 1
        return record.view(np.uint8)

    def set_state(self, new_state: Any) -> Generator:
        """Continue from a state that `get_state`, here or in PyTorch, returned; gives the generator itself.

        Raises: TypeError if `new_state` is no uint8 tensor, RuntimeError if its size or content is no such state.
        """
        if hasattr(new_state, "_array"):
            new_state = new_state.numpy(force=True)
        if not isinstance(new_state, np.ndarray) or new_state.dtype != np.uint8:
            got = getattr(new_state, "dtype", type(new_state).__name__)
            raise TypeError(f"Generator: set_state got {got}, RNG state must be uint8; pass what get_state returned")
        if new_state.size != _STATE.itemsize:
            raise RuntimeError(
                f"Generator: set_state got {new_state.size} bytes, a state has {_STATE.itemsize}; pass what get_state returned"
            )
        record = np.ascontiguousarray(new_state).reshape(-1).view(_STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        if record["seeded"] != 1 or not 1 <= left <= _N or position > _N:
            raise RuntimeError("Generator: set_state got an invalid mt19937 state; pass what get_state returned")
        self._seed = int(record["seed"])
        self.normal_sample = float(record["normal_y"]) if record["normal_valid"] else None
        self._start(record["words"].astype(np.uint32), _N if left == 1 else position)
        self._fresh = left == 1 and position == 0
        return self

    def clone_state(self) -> Generator:
        """A new generator at the same point of the same stream.

        >>> g = Generator().manual_seed(3)
        >>> bool(g.clone_state().words32(1) == g.words32(1))
        True
        """
        return Generator(self.device).set_state(self._state())

    def words32(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words of 32 bits. Shape: (count,). Dtype: uint32."""
        if self._ahead is not None:
            return self._words_from_ahead(count)
        with LOCK:
            engine = self._engine or self._started()
            self._few_draws = 0
            # random_raw starts faster, integers runs faster
            words = engine.random_raw(count).astype(np.uint32) if count < _N else self._draw(0, 1 << 32, count, np.uint32)
            self._fresh = self._fresh and not count
            self._position = (self._position + count) % _N
            return words

    def _words_from_ahead(self, count: int) -> NDArray[np.uint32]:
        with LOCK:
            ahead = self._ahead
            if ahead is None:  # another thread took the rest
                return self.words32(count)
            words = ahead.take(count).astype(np.uint32)
            if len(words) == count:
                return words
            self._ahead = None
        return np.concatenate([words, self.words32(count - len(words))])

    def few(self, count: int) -> list[int]:
        """The same as Python's integers."""
        with LOCK:
            ahead = self._looked_ahead(count)
            if ahead is not None:
                first: list[int] = ahead.take(count).tolist()
                if len(first) == count:
                    return first
                self._ahead = None
                return first + self.few(count - len(first))
            engine = self._engine or self._started()
            self._fresh = self._fresh and not count
            self._position = (self._position + count) % _N
            words: list[int] = engine.random_raw(count).tolist()
            return words

    def few_units32(self, count: int) -> NDArray[np.float32]:
        """A few uniforms in [0, 1) of 24 bits. Shape: (count,). Dtype: float32."""
        with LOCK:
            ahead = self._ahead or self._looked_ahead(count)
            if ahead is not None:
                end = ahead.next + count
                if end <= ahead.size:
                    units = ahead.units32[ahead.next : end].copy()
                    ahead.next = end
                    return units
            return np.array([(w & 0xFFFFFF) * 2.0**-24 for w in self.few(count)], np.float32)

    def few_units64(self, count: int) -> list[float]:
        """A few uniforms in [0, 1) of 53 bits, one by one."""
        with LOCK:
            ahead = self._ahead or self._looked_ahead(count)
            if ahead is not None:
                end = ahead.next + 2 * count
                if end <= ahead.size:
                    units = ahead.units64[ahead.next : end : 2]
                    ahead.next = end
                    return units
            words = self.few(2 * count)
            return [((high << 32 | low) & (2**53 - 1)) * 2.0**-53 for high, low in zip(words[0::2], words[1::2])]

    def few_normals32(self, count: int) -> NDArray[np.float32] | None:
        """A few normals, where words are drawn ahead; None: make them one by one. Shape: (count,). Dtype: float32."""
        with LOCK:
            ahead = self._ahead or self._looked_ahead(count)
            if ahead is not None:
                start, kept = ahead.next & 3, self.normal_sample
                rounded, line = ahead.lines.get(start) or ahead.normals(start)
                first = ahead.next - start >> 1
                if kept is not None:
                    first -= 1
                if kept is None or (first >= 0 and line[first] == kept):
                    end = first + count
                    if end > len(line):  # in one row with the next block; this draw leaves no words that no state can hold
                        waits = 0 if kept is None else 4
                        words = ahead.words[ahead.next - waits :], self._started().random_raw(_N)
                        self._ahead = Ahead(np.concatenate(words))
                        self._ahead.next = waits
                        return self.few_normals32(count)
                    ahead.next = start + 2 * (end + end % 2)
                    self.normal_sample = line[end] if end % 2 else None
                    return rounded[first:end].copy()
        return None

    def _looked_ahead(self, count: int) -> Ahead | None:
        """The words drawn ahead, which are drawn where a few were wanted several times in a row."""
        if self._ahead is None and count:
            self._few_draws += 1
            if self._few_draws > PATIENCE:
                engine = self._engine or self._started()
                self._ahead, self._fresh, self._position = Ahead(engine.random_raw(_N - self._position)), False, 0
        return self._ahead

    def words64(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words of 64 bits, each of two 32-bit words, the first one high. Shape: (count,). Dtype: uint64."""
        words = self.words32(2 * count)
        return words[0::2].astype(np.uint64) << np.uint64(32) | words[1::2]

    def engine_state(self) -> Any:
        """Where the stream of words is, for `restore_engine`: cheaper than `get_state`."""
        return self._engine_state(), self._fresh

    def _engine_state(self) -> NDArray[np.uint32]:
        # Key and position: `state` gives them word by word, in 60 us.
        with LOCK:
            state = np.frombuffer(string_at(self._started().ctypes.state_address, 4 * _N + 4), np.uint32).copy()
            if self._ahead is not None:
                state[_N] -= self._ahead.left()
            return state

    def restore_engine(self, state: Any) -> None:
        """Go back to where `engine_state` was taken; the cached normal sample stays."""
        words, self._fresh = state
        memmove(self._started().ctypes.state_address, words.ctypes.data, words.nbytes)
        self._ahead, self._position = None, int(words[_N]) % _N

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (str(self.device), self._state())

    def __repr__(self) -> str:
        return f"<tenfold.Generator device={str(self.device)!r} initial_seed={self._seed}>"

    def _restart(self, seed: int) -> None:
        self._seed, self._engine, self._ahead, self._few_draws = seed, None, None, 0
        self.normal_sample, self._fresh = None, True

    def _started(self) -> MT19937:
        """The engine, made when the first word is wanted: `numpy.random` is slow to import."""
        engine = self._engine
        if engine is None:
            with LOCK:  # of two threads the second takes the first one's engine
                engine = self._engine or self._seeded()
        return engine

    def _seeded(self) -> MT19937:
        seeded = np.random.RandomState(self._seed & 0xFFFFFFFF).get_state(legacy=False)
        return self._start(seeded["state"]["key"], _N)

    def _start(self, key: NDArray[np.uint32], position: int) -> MT19937:
        engine = np.random.MT19937(0)
        engine.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": position}}
        self._draw, self._engine = integers(engine), engine
        self._ahead, self._position = None, position % _N
        return engine


def integers(engine: MT19937) -> Any:
    """What draws many words; as `sampling.filled`, compiled code may replace it."""
    return np.random.Generator(engine).integers


def _restore(device: Any, state: NDArray[np.uint8]) -> Generator:
    generator = Generator(device)
    generator.set_state(state)
    return generator


def _checked_seed(seed: int) -> int:
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"manual_seed: got {seed}. Overflow: a seed is an integer in [-2**63, 2**64)")
    return seed % 2**64


default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Restart the process's default generator from `seed` and return it.

    Raises: ValueError if `seed` is outside [-2**63, 2**64) or no number.

    >>> manual_seed(0).words32(1).tolist()
    [2357136044]
    """
    generator = default_generator.manual_seed(int(seed))
    for backend in loaded_backends():
        backend.manual_seed(int(seed))
    return generator


def source(generator: Any) -> Generator:
    """The generator to draw from: the given one or the process's default."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"generator: expected a tenfold.Generator, got {type(generator).__name__}")
    return generator


@cache
def unused() -> Generator:
    """The generator of draws of no elements, which only check their arguments."""
    return Generator()


def initial_seed() -> int:
    """The seed that the process's default generator was last started from."""
    return default_generator.initial_seed()


def seed() -> int:
    """Restart the process's default generator from a seed that the operating system chose, and return that seed."""
    return default_generator.seed()


def get_rng_state() -> Any:
    """The state of the process's default generator. Shape: (5056). Dtype: uint8.

    >>> get_rng_state().shape
    tenfold.Size([5056])
    """
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the process's default generator continue from a state.

    >>> set_rng_state(get_rng_state())
    """
    default_generator.set_state(new_state)
