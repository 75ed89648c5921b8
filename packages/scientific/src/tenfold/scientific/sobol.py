"""Sobol' sequences: points that fill the unit cube more evenly than random ones.

Point n has in each dimension the number whose bits are those of the XOR of the direction numbers at the ones of n's Gray
code, of which successive n differ in one bit.

Source: S. Joe and F. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM 2008; the scrambling
is J. Matousek's, On the L2-discrepancy for anchored boxes, 1998.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

import numpy as np

from tenfold.ops.creation.factories import place
from tenfold.ops.random import randint
from tenfold.random.generator import Generator, default_generator
from tenfold.tensor.tensor import Tensor, host
from tenfold.types.dtypes import dtype as Dtype, get_default_dtype, int64


class SobolEngine:
    """The points of a (scrambled) Sobol' sequence in [0, 1), one draw after the other.

    Scrambling (a random linear matrix and a shift of the bits) keeps the evenness and makes the points random; `seed` makes
    it repeatable. Raises ValueError for a dimension outside of 1 to 21201.

    >>> from tenfold.quasirandom import SobolEngine
    >>> SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT: ClassVar[int] = 30
    MAXDIM: ClassVar[int] = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self._directions = _directions(dimension)
        shift = np.zeros(dimension, np.int64)
        if scramble:
            shift, self._directions = _scrambled(self._directions, seed)
        self.shift, self._default = place(shift, None), get_default_dtype()
        self.reset()

    @property
    def sobolstate(self) -> Tensor:
        """The direction numbers. Shape: (dimension, MAXBIT)."""
        made: Tensor = place(self._directions, None)
        return made

    @property
    def quasi(self) -> Tensor:
        """The last point, as integers."""
        made: Tensor = place(self._last.copy(), None)
        return made

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next n points. Shape: (n, dimension). Dtype: `dtype`, else the default."""
        start = self.num_generated
        if n < (1 if start == 0 else 0):
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}, {self.dimension}]")
        points = self._next(n)
        kind = dtype or get_default_dtype()
        made: Tensor = place(_fractions(points, kind), None).to(kind)
        if start == 0:  # PyTorch makes this one with the engine, in the default dtype
            made[0] = place(_fractions(points[0], self._default), None)
        if out is None:
            return made
        out.resize_as_(made).copy_(made)
        return out

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next 2^m points; ValueError where all points together would not be a power of two, and so not balanced."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been "
                f"previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                f"'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point."""
        self._last, self.num_generated = host(self.shift).copy(), 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next n points."""
        self._next(n)
        return self

    def _next(self, n: int) -> Any:
        """The next n points as integers, (n, dimension)."""
        first = self.num_generated == 0
        steps = np.arange(self.num_generated - (not first), self.num_generated + n - 1)
        changed = self._directions[:, _lowest_zero(steps)].T  # (steps, dimension)
        made = np.bitwise_xor.accumulate(np.concatenate([self._last[None], changed]), 0)
        self._last, self.num_generated = made[-1], self.num_generated + n
        return made if first else made[1:]

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        options += ["scramble=True"] if self.scramble else []
        options += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(options)})"


def _fractions(points: Any, kind: Dtype) -> Any:
    """The integers as numbers between 0 and 1, in double precision where the dtype has more than four bytes."""
    exact = points.astype(np.float64 if kind.itemsize > 4 else np.float32)
    return exact / exact.dtype.type(2**SobolEngine.MAXBIT)


def _lowest_zero(numbers: Any) -> Any:
    """The place of the lowest bit that is zero, in which the Gray code of a number differs from that of the next."""
    ones = numbers & ~(numbers + 1)  # all bits below it
    return np.log2(ones + 1).astype(np.int64)


def _directions(dimension: int) -> Any:
    """Joe's and Kuo's direction numbers, which SciPy has."""
    try:
        qmc = importlib.import_module("scipy.stats.qmc")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'SobolEngine takes its direction numbers from SciPy, which is not installed: pip install "tenfold-scientific[scipy]"',
            name="scipy",
        ) from error
    return qmc.Sobol(dimension, scramble=False, bits=SobolEngine.MAXBIT)._sv.astype(np.int64)


def _scrambled(directions: Any, seed: int | None) -> tuple[Any, Any]:
    """(shift, direction numbers) after a random shift, and a random triangular matrix times the numbers' bits."""
    generator = default_generator if seed is None else Generator().manual_seed(seed)
    dimension, bits = directions.shape

    def drawn(*shape: int) -> Any:
        return host(randint(2, shape, generator=generator, dtype=int64))

    powers = 1 << np.arange(bits)
    shift = drawn(dimension, bits) @ powers
    matrices = np.tril(drawn(dimension, bits, bits), -1) | np.eye(bits, dtype=np.int64)
    digits = (directions[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1  # (dimension, number, bit), the highest first
    mixed = digits @ matrices.transpose(0, 2, 1) & 1
    return shift, mixed @ powers[::-1]


__all__ = ["SobolEngine"]
