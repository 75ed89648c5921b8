"""What checks share: one operator on one device, its samples, and how a try becomes a result."""

from __future__ import annotations

import functools
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.dispatch import devices
from tenfold.dispatch.operators import Operator
from tenfold.random.generator import manual_seed
from tenfold.tensor.tensor import Tensor, host
from tenfold.testing import samples as registry, tolerances
from tenfold.testing.comparison import assert_close
from tenfold.testing.samples import Sample, Samples

DTYPES = tuple(
    tenfold.types.dtypes.BY_NAME[name]
    for name in (
        "float32",
        "float64",
        "int64",
        "bool",
        "complex64",
        "complex128",
        "float16",
        "bfloat16",
        "int32",
        "int16",
        "int8",
        "uint8",
    )
)

# What var, std and their kin tell the user of a sample that has too few numbers, and older names and forms of themselves;
# other warnings are a kernel's, and faults.
TOLD = (
    r"\w+\(\): degrees of freedom is <= 0|torch\.\w+ is deprecated|stft with return_complex=False is deprecated|"
    r"Using torch\.cross without specifying the dim|searchsorted\(\): [a-z ]+ tensor is non-contiguous"
)


class Skip(Exception):
    """A check cannot be made; the reason is counted and shown."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found on one sample."""

    operator: str
    check: str
    sample: str
    status: str  # "passed", "failed" or "skipped"
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.operator}: {self.check} {self.status}: {self.reason}" + (
            f"\n  sample: {self.sample}" if self.sample else ""
        )


def demand(condition: bool, otherwise: str) -> None:
    """Fail the check unless the condition holds."""
    if not condition:
        raise AssertionError(otherwise)


Check = Callable[["Case"], Iterator[Result]]
WhyNot = Callable[["Case"], str]


def unless(why_not: WhyNot) -> Callable[[Check], Check]:
    """Decorator of a check: where `why_not(case)` gives a reason the check means nothing, and is not made."""

    def mark(check: Check) -> Check:
        check.why_not = why_not  # type: ignore[attr-defined]
        return check

    return mark


def why_not(check: Check, case: Case) -> str:
    """Why a check means nothing for an operator; empty where it is to be made."""
    found: str = getattr(check, "why_not", lambda case: "")(case)
    return found


class Case:
    """One operator on one device."""

    def __init__(self, operator: Operator, device: Any = "cpu") -> None:
        self.operator = operator
        self.key: Any = devices.located(device)
        self.registered = registry.find(operator) or Samples(operator.name, lambda make: ())

    @property
    def device(self) -> Any:
        return self.key

    @property
    def random(self) -> bool:
        """Whether results are drawn."""
        return bool(self.registered.random or self.operator.random)

    @functools.cached_property
    def dtypes(self) -> tuple[Any, ...]:
        """The dtypes whose samples the operator accepts: its rule and its kernel (the check `dtypes` compares the two)."""
        accepted = (d for d in self.candidates if self.refusal(d) is None)
        return tuple(d for d in accepted if self._unless_missing(self._tried(self.key, d)) is None)

    @property
    def candidates(self) -> tuple[Any, ...]:
        """The dtypes that samples are made for: those that the device has."""
        here = self.key.backend.dtypes
        return tuple(d for d in self.registered.dtypes or DTYPES if here is None or d.name in here)

    def refusal(self, dtype: Any) -> Exception | None:
        """What the shape rule raises for samples of a dtype, None when it accepts the dtype."""
        if self.registered.data_dependent:
            return self._tried("cpu", dtype)
        return self._tried("meta", dtype)

    def _unless_missing(self, error: Exception | None) -> Exception | None:
        return None if error is None or self.lacks_kernel(error) else error

    def _tried(self, device: Any, dtype: Any) -> Exception | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", TOLD)
                for sample in self.samples(dtype, device)[:2]:
                    self.call(sample)
        except (RuntimeError, TypeError, ValueError, IndexError, Warning) as error:
            return error
        return None

    def samples(self, dtype: Any = None, device: Any = None) -> list[Sample]:
        """The operator's samples, made anew."""
        return registry.samples_of(self.operator, self.key if device is None else device, dtype)

    def call(self, sample: Sample) -> Any:
        """The operator's result. What it draws, it draws from the same seed each time."""
        self.reseed()
        if self.registered.mutates:
            sample = sample.map(copied)
        return self.operator.fn(*sample.args, **sample.kwargs)

    def reseed(self) -> None:
        """Start what a random operator draws from at the operator's own seed."""
        if self.random:
            manual_seed(zlib.crc32(self.operator.name.encode()))

    # Results

    def each(
        self,
        check: str,
        function: Callable[[Sample, Any], None],
        dtypes: Iterable[Any] | None = None,
        where: Callable[[Sample], bool] = lambda sample: True,
    ) -> Iterator[Result]:
        """Try every sample, `where` it concerns the check, of every accepted dtype with a function that returns or fails."""
        tried = False
        for dtype in self.dtypes if dtypes is None else dtypes:
            for sample in filter(where, self.samples(dtype)):
                tried = True
                yield self.attempt(check, repr(sample), functools.partial(function, sample, dtype))
        if not tried:
            yield self.skipped(check, "no samples" if not self.samples() else "no sample that this check is about")

    def attempt(self, check: str, sample: str, function: Callable[[], None]) -> Result:
        """Run one try and say how it went."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", TOLD)
                function()
        except Skip as skip:
            return Result(self.operator.name, check, sample, "skipped", str(skip))
        except AssertionError as failure:
            return Result(self.operator.name, check, sample, "failed", str(failure) or "assertion without a message")
        except Exception as error:  # noqa: BLE001 - whatever an operator raises on its own samples is a finding
            if self.lacks_kernel(error):
                return Result(self.operator.name, check, sample, "skipped", missing_reason(self.key))
            where = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"raised {type(error).__name__}: {error} ({where.filename}:{where.lineno}){_hint(error)}"
            return Result(self.operator.name, check, sample, "failed", reason)
        return Result(self.operator.name, check, sample, "passed")

    def lacks_kernel(self, error: Exception) -> bool:
        """Whether an error says that the device has no kernel: allowed on any device but the CPU, which has them all."""
        return self.key is not devices.CPU and isinstance(error, NotImplementedError) and "has no kernel for device" in str(error)

    def skipped(self, check: str, reason: str) -> Result:
        return Result(self.operator.name, check, "", "skipped", reason)

    def failed(self, check: str, reason: str) -> Result:
        return Result(self.operator.name, check, "", "failed", reason)


def copied(tensor: Any) -> Any:
    """A copy that an operator may write, which in a graph is no leaf."""
    return tensor.clone()


def _hint(error: Exception) -> str:
    """What to do about an error that says it of itself badly."""
    if isinstance(error, RuntimeWarning):
        return "; a kernel is silent about infinities and NaN: compute under np.errstate(all='ignore')"
    return ""


def missing_reason(key: Any) -> str:
    return f"device {key.type!r} has no kernel for the operator, or for one in its body"


def results_of(value: Any) -> list[Any]:
    """The tensors (and plain values) of an operator's result."""
    if isinstance(value, (tuple, list)):
        return [item for v in value for item in results_of(v)]
    return [value]


def to_host(tensor: Any) -> Any:
    """A tensor's values as a NumPy array."""
    return host(tensor.detach())


def on_cpu(value: Any) -> Any:
    """The same values as a CPU tensor."""
    if not isinstance(value, Tensor):
        return value
    return registry.Make("cpu").place(np.array(to_host(value)))


def _prefixed(name: str, message: str) -> str:
    return f"{name}: {message}"


def assert_same(actual: Any, expected: Any, what: str, exact: bool = False) -> None:
    """Two results of an operator agree in structure, shape, dtype and value."""
    got, wanted = results_of(actual), results_of(expected)
    assert len(got) == len(wanted), f"{what}: {len(got)} results, expected {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        name = f"{what}, result {i}" if len(got) > 1 else what
        if not isinstance(b, Tensor):
            assert a == b or (a != a and b != b), f"{name}: {a!r}, expected {b!r}"
            continue
        assert a.dtype is b.dtype, f"{name}: dtype {a.dtype}, expected {b.dtype}"
        assert a.shape == b.shape, f"{name}: shape {list(a.shape)}, expected {list(b.shape)}"
        rtol, atol = tolerances.EXACT if exact else tolerances.implementation(b.dtype)
        assert_close(on_cpu(a), on_cpu(b), rtol=rtol, atol=atol, equal_nan=True, msg=functools.partial(_prefixed, name))
