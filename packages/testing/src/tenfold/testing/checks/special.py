"""Check of special values: infinities, NaN, zeros of both signs, the largest and the smallest numbers of a dtype."""

from __future__ import annotations

import functools
import warnings
import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import tenfold
from tenfold.dispatch.devices import CPU
from tenfold.testing import samples as registry
from tenfold.testing.checks.case import Case, Result, assert_same, on_cpu, to_host, unless
from tenfold.testing.checks.value import nothing_to_compare, oracles
from tenfold.testing.samples import Sample

FAMILIES = ("pointwise", "activation", "units", "reduction", "loss")
DTYPES = (tenfold.float32, tenfold.float64)
SAMPLES = 8  # of each dtype, whose tensors get special values here and there
SHARE = 0.3
# A kernel may round a product and a sum at once: no product overflows here, which beside an infinity would leave one or nan.
ROUNDED_ONCE = {"addcmul", "add_scaled", "sub_scaled"}


def special_values(dtype: Any, operator: str = "") -> list[float]:
    """What every function of a float has to get right, beside ordinary numbers.

    The largest and the smallest numbers are those of the widest dtype: in a narrower one steps overflow that in the
    reference, which computes in double precision, do not. Of an operator of `ROUNDED_ONCE` nowhere.
    """
    limits = tenfold.finfo(dtype)
    if dtype is tenfold.float64 and operator not in ROUNDED_ONCE:
        huge, tiny, smallest = limits.max, limits.tiny, limits.tiny / 8
    else:
        huge, tiny, smallest = limits.max**0.5 / 4, limits.tiny**0.5 * 4, limits.tiny**0.5 * 8
    return [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, huge, -huge, tiny, -smallest, 0.5]


def _elsewhere(case: Case) -> str:
    if case.operator.family not in FAMILIES:
        return "only elementwise operators, reductions and losses compute with every value"
    return case.registered.no_special or case.registered.related or nothing_to_compare(case)


@unless(_elsewhere)
def special(case: Case) -> Iterator[Result]:
    """Infinities, NaN, signed zeros, huge and tiny numbers give what the reference, the body, or the CPU says of them."""
    tried = False
    for dtype in DTYPES:
        for sample in special_samples(case, dtype) if dtype in case.dtypes else ():
            tried = True
            yield case.attempt("special", repr(sample), functools.partial(_compare, case, sample))
    if not tried:
        yield case.skipped("special", "no sample with a floating-point tensor")


def _compare(case: Case, sample: Sample) -> None:
    if case.key is not CPU:
        warnings.simplefilter("ignore", RuntimeWarning)  # a device says of overflow what it likes; `attempt` undoes this
        assert_same(case.call(sample), case.call(sample.map(on_cpu)), f"{case.operator.name} on {case.key} against the CPU")
        return
    for oracle in oracles(case):
        oracle(case, sample)


def special_samples(case: Case, dtype: Any) -> Iterator[Sample]:
    """The operator's samples with special values in their tensors; for elementwise operators also all combinations."""
    chosen = [s for s in case.samples(dtype) if any(t.dtype is dtype and t.numel() for t in s.tensors)]
    rng = np.random.default_rng(zlib.crc32(case.operator.name.encode()))
    elementwise = case.operator.family in ("pointwise", "activation", "units") and case.operator.pointwise
    if elementwise and chosen:
        fitting = next((s for s in chosen if len({tuple(t.shape) for t in s.tensors}) == 1), chosen[0])
        grid = _combined(case, fitting, dtype)
        if _fits(case, grid):
            yield grid
    values = special_values(dtype, case.operator.name)
    if not elementwise:  # one huge number would swallow the others in one order of additions and not in another
        values = [v for v in values if not 1e6 < abs(v) < np.inf]
    for sample in chosen[:SAMPLES]:
        noted = Sample(*sample.args, note=f"{sample.note}, special values", **sample.kwargs)
        yield noted.map(functools.partial(_sprinkled, case, dtype, values, rng))


def _fits(case: Case, sample: Sample) -> bool:
    """Whether the operator takes vectors of any length, as those that are elementwise do."""
    try:
        case.call(sample.map(lambda t: t.to("meta")))
    except RuntimeError:
        return False
    return True


def _sprinkled(case: Case, dtype: Any, values: list[float], rng: Any, tensor: Any) -> Any:
    if tensor.dtype is not dtype:
        return tensor
    array = np.array(to_host(tensor))
    picked = rng.choice(values, array.shape)
    return registry.Make(case.key).place(np.where(rng.random(array.shape) < SHARE, picked, array).astype(array.dtype))


def _combined(case: Case, sample: Sample, dtype: Any) -> Sample:
    """Every tuple of special values, one element each."""
    values = special_values(dtype, case.operator.name)
    count = min(sum(t.dtype is dtype for t in sample.tensors), 3)
    columns = iter(np.array(list(product(values, repeat=count))).T)

    def put(t: Any) -> Any:
        column = next(columns, None) if t.dtype is dtype else None
        if column is None:  # masks and the like: their elements again and again
            column = np.resize(np.array(to_host(t)).reshape(-1), len(values) ** count)
        return registry.Make(case.key).place(column.astype(t.dtype.numpy))

    return Sample(*sample.args, note="all combinations of special values", **sample.kwargs).map(put)
