"""`tenfold.random.sampling` with arrays of a GPU: the same laws by Philox, drawn where they are needed.

The numbers are not the CPU's for the same seed, as PyTorch's are not. What is drawn seldom (`__getattr__`) comes from the CPU.
"""

from __future__ import annotations

from math import log1p, sqrt
from typing import Any

import numpy as np

from tenfold.cuda import capturing, reports, runtime, seeding
from tenfold.cuda.kernels import sorting
from tenfold.cuda.kernels.argument_types import Word
from tenfold.cuda.kernels.array_kernels import cast
from tenfold.cuda.kernels.elementwise import run
from tenfold.cuda.kernels.handwritten import F32, F64, FLOATS, Handwritten, contiguous, start
from tenfold.cuda.kernels.reduction import cumsum
from tenfold.random import checks, sampling
from tenfold.random.generator import Generator

BLOCK = 256  # counters of a program
UNIFORM, NORMAL, BERNOULLI, EXPONENTIAL, CAUCHY, GEOMETRIC, LOG_NORMAL = range(7)
WIDE_RANGE = 1 << 32
WIDEST_ROW = 8192  # weights that a program looks at together


class Sampling:
    """The functions of `tenfold.random.sampling` for one GPU."""

    def __init__(self, index: int, out: Any = None) -> None:
        self.index, self.out = index, out

    def __getattr__(self, name: str) -> Any:
        return getattr(sampling, name)

    def into(self, out: Any) -> Sampling:
        """The same, drawing into an array where what is drawn is the result as it is."""
        return Sampling(self.index, out)

    def _empty(self, shape: Any, dtype: Any) -> Any:
        """The array to draw into."""
        shape, dtype = sampling.sizes_of(shape), np.dtype(dtype)
        out = self.out
        if out is not None and out.shape == shape and out.dtype == dtype:
            return out
        return runtime.current().empty(shape, dtype, self.index)

    def _launch(self, out: Any, each: int, name: str, constants: Any, generator: Any, *numbers: Any) -> Any:
        programs = -(-out.size // (each * BLOCK))
        capture = capturing.current() if capturing.CAPTURES else None
        if capture is None:
            words, (seed, offset) = out, seeding.reserve(self.index, generator, programs * BLOCK)
        else:  # where a replay begins is on the device
            words, offset = capture.draw(self.index, seeding.own(generator), programs * BLOCK)
            seed = 0
        if programs:
            kernel = Handwritten(name, (*constants, ("PLACED", int(capture is not None)), ("BLOCK", BLOCK)))
            start(kernel, (programs,), (out, words, Word(seed), Word(offset), out.size, *numbers), self.index)
        return out

    def _samples(self, law: int, generator: Any, shape: Any, dtype: Any, a: float, b: float = 0.0) -> Any:
        out = self._empty(shape, dtype)
        double = out.dtype == F64 or out.dtype.kind in "iu"
        constants = (("LAW", law), ("DOUBLE", int(double)))
        return self._launch(out, 2 if double else 4, "draw_samples", constants, generator, float(a), float(b))

    def _complex(self, law: int, generator: Any, shape: Any, dtype: Any, a: float, b: float) -> Any:
        real = self._samples(law, generator, (*sampling.sizes_of(shape), 2), checks.real_part(dtype), a, b)
        return real.view(dtype)[..., 0]

    def uniform(self, generator: Any, shape: Any, dtype: Any = np.float32, low: float = 0.0, high: float = 1.0) -> Any:
        """Uniform samples in [low, high)."""
        dtype = checks.floating("uniform", dtype)
        checks.check_interval(low, high, checks.real_part(dtype) if dtype.kind == "c" else dtype)
        draw = self._complex if dtype.kind == "c" else self._samples
        return draw(UNIFORM, generator, shape, dtype, low, high)

    def normal(
        self, generator: Any, shape: Any, dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0, *, contiguous: bool = True
    ) -> Any:
        """Normal samples; the parts of complex ones have half of the variance each."""
        dtype = checks.floating("normal", dtype)
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        if dtype.kind == "c":
            return self._complex(NORMAL, generator, shape, dtype, mean, std / sqrt(2))
        return self._samples(NORMAL, generator, shape, dtype, mean, std)

    def exponential(self, generator: Any, shape: Any, dtype: Any = np.float32, rate: float = 1.0) -> Any:
        """Exponential samples."""
        dtype = checks.real_floating("exponential", dtype)
        if not rate > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
        return self._samples(EXPONENTIAL, generator, shape, dtype, rate)

    def cauchy(self, generator: Any, shape: Any, dtype: Any, median: float, sigma: float) -> Any:
        """Cauchy samples, median + sigma tan(pi (u - 1/2))."""
        return self._samples(CAUCHY, generator, shape, dtype, median, sigma)

    def geometric(self, generator: Any, shape: Any, dtype: Any, p: float) -> Any:
        """The number of trials up to the first success, ceil(log(u) / log(1 - p))."""
        return self._samples(GEOMETRIC, generator, shape, dtype, log1p(-p))

    def log_normal(self, generator: Any, shape: Any, dtype: Any, mean: float, std: float) -> Any:
        """Samples whose logarithm is normal, exp(mean + std z)."""
        return self._samples(LOG_NORMAL, generator, shape, dtype, mean, std)

    def bernoulli(self, generator: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
        """Ones with probability p, a number or an array of them; what is no probability in it is told later (reports.py)."""
        if not hasattr(p, "shape"):
            if not 0 <= p <= 1:
                raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
            dtype, sizes = np.dtype(dtype or np.float32), () if shape is None else shape
            if dtype.kind in "fV":
                return self._samples(BERNOULLI, generator, sizes, dtype, p)
            if dtype.kind == "b":  # as the bytes that they are
                out = self._empty(sizes, dtype)
                Sampling(self.index, out.view(np.uint8))._samples(BERNOULLI, generator, out.shape, np.uint8, p)
                return out
            return cast(self._samples(BERNOULLI, generator, sizes, np.float32, p), dtype)
        return self._chosen(generator, p, np.dtype(dtype or p.dtype))

    def _chosen(self, generator: Any, p: Any, dtype: Any) -> Any:
        if dtype.kind == "b":  # as the bytes that they are
            out = self._empty(p.shape, dtype).view(np.uint8)
            return Sampling(self.index, out)._chosen(generator, p, out.dtype).view(dtype)
        if dtype not in FLOATS and dtype.kind not in "iu":
            return cast(Sampling(self.index)._chosen(generator, p, F32), dtype)
        chances = contiguous(p if p.dtype in FLOATS else cast(p, F32))
        out = self._empty(p.shape, dtype)
        if not self._each_at_its_place(out, chances):
            out = Sampling(self.index)._empty(p.shape, dtype)
        given = (chances, reports.words(runtime.current()), reports.WORDS.index("bernoulli"))
        double = p.dtype == F64
        self._launch(out, 2 if double else 4, "draw_by_chances", (("DOUBLE", int(double)),), generator, *given)
        if runtime.is_replaced():
            reports.check()
        return out

    def _each_at_its_place(self, out: Any, chances: Any) -> bool:
        """Whether what is drawn may be written while other chances are read."""
        now = runtime.current()
        same = out.dtype.itemsize == chances.dtype.itemsize and now.pointer(out) == now.pointer(chances)
        return same or not out.size or bool(now.apart(out, chances))

    def randint(self, generator: Any, low: int, high: int | None, shape: Any, dtype: Any = np.int64) -> Any:
        """Uniform integers in [low, high); `high` None stands for 2**63."""
        end = 2**63 if high is None else high
        if not low < end:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={end}")
        checks.check_range(low, end - 1, np.dtype(dtype))
        return self._integers(generator, shape, dtype, low, end - low)

    def random(self, generator: Any, shape: Any, dtype: Any = np.int64) -> Any:
        """The integers from 0 to the greatest of the dtype, or to which a float is exact."""
        return self._integers(generator, shape, dtype, 0, sampling.greatest_whole(dtype) + 1)

    def _integers(self, generator: Any, shape: Any, dtype: Any, low: int, span: int) -> Any:
        out = self._empty(shape, dtype)
        wide = span >= WIDE_RANGE
        numbers = Word(low % 2**64), Word(span % 2**64)
        return self._launch(out, 2 if wide else 4, "draw_integers", (("WIDE", int(wide)),), generator, *numbers)

    def randperm(self, generator: Any, n: int, dtype: Any = np.int64) -> Any:
        """A random permutation of 0 to n - 1: the order of n random words of 64 bits."""
        dtype = np.dtype(dtype)
        if n < 0:
            raise RuntimeError(f"randperm: got n = {n}, n must not be negative")
        sampling.randperm(Generator(), 0, dtype)  # refuses dtypes that it has none for
        if dtype.kind in "iu":
            checks.check_range(0, n - 1, dtype)
        words = self._integers(generator, (n,), np.int64, 0, 2**63)
        return cast(sorting.in_order(sorting.rows_along(words, 0))[1], dtype)

    def multinomial(self, generator: Any, weights: Any, num_samples: int, replacement: bool = False) -> Any:
        """Positions with probabilities in proportion to the last dimension; what is no weight is told later (reports.py)."""
        weights = cast(weights, F64 if weights.dtype == F64 else np.dtype(np.float32))
        self._check_weights(weights)
        if num_samples == 1 or not replacement:
            # The first to arrive; a weight of 0 never does, nor does 0 / 0 of a sample that is 0: NaN is last in order.
            arrivals = run("div", self.exponential(generator, weights.shape, weights.dtype), weights)
            return sorting.leading(sorting.rows_along(arrivals, -1), num_samples, False)[1]
        ends = cumsum(weights, -1)
        drawn = self.uniform(generator, (*weights.shape[:-1], num_samples), weights.dtype)
        return run("clamp_max", sorting.search(ends, run("mul", drawn, ends[..., -1:]), True), ends.shape[-1] - 1)

    def _check_weights(self, weights: Any) -> None:
        width = weights.shape[-1]
        rows = weights.size // max(width, 1)
        if not rows:
            return
        block = min(WIDEST_ROW, 1 << max(width - 1, 1).bit_length())
        given = (reports.words(runtime.current()), contiguous(weights), reports.WORDS.index("multinomial"), width)
        start(Handwritten("check_weights", (("BLOCK", block),), 4 if block < WIDEST_ROW else 8), (rows,), given, self.index)
        if runtime.is_replaced():
            reports.check()


def place(words: Any, seed: int, offset: int, index: int) -> None:
    """Write a seed and the first counter to the words that kernels of a graph read, in the order of the current stream."""
    start(Handwritten("place_words", ()), (1,), (words, Word(seed), Word(offset)), index)


def noted(counters: int, index: int) -> Any:
    """(seed, first counter) as two words on a GPU, for a draw of so many counters from its stream; replays draw anew."""
    capture = capturing.current() if capturing.CAPTURES else None
    out = runtime.current().empty((2,), np.dtype(np.int64), index)
    if capture is None:
        words, (seed, offset) = out, seeding.reserve(index, None, counters)
    else:
        (words, offset), seed = capture.draw(index, None, counters), 0
    start(Handwritten("note_words", (("PLACED", int(capture is not None)),)), (1,), (out, words, Word(seed), Word(offset)), index)
    return out
