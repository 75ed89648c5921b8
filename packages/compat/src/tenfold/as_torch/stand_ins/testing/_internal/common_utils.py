"""`torch.testing._internal.common_utils`: the test case, the parameters and the switches that libraries' tests take from it."""

from __future__ import annotations

import functools
import importlib
import itertools
import random
import sys
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import tenfold

IS_LINUX, IS_WINDOWS, IS_MACOS = sys.platform == "linux", sys.platform == "win32", sys.platform == "darwin"
TEST_WITH_ROCM = TEST_WITH_ASAN = TEST_WITH_TSAN = TEST_WITH_UBSAN = TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = False
TEST_WITH_CROSSREF = TEST_MKL = IS_FBCODE = IS_SANDCASTLE = IS_ARM64 = IS_PPC = TEST_WITH_SLOW = False
TEST_NUMPY = True
SEED = 1234


class TestCase(unittest.TestCase):
    """unittest's, with a seed before each test and comparisons of tensors by value, dtype and shape."""

    precision: float = 0
    rel_tol: float = 0

    def setUp(self) -> None:
        """Seed all sources of random numbers."""
        set_rng_seed(SEED)

    def assertEqual(
        self, x: Any, y: Any, msg: Any = None, *, atol: float | None = None, rtol: float | None = None, equal_nan: bool = True,
        exact_dtype: bool = True, exact_device: bool = False, exact_layout: bool = False, exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:  # fmt: skip
        """Numbers equal to a tolerance of their dtype, objects by `==`, in containers of equal keys or length; nan equals nan."""
        if self.precision and atol is None and rtol is None:
            atol, rtol = self.precision, self.rel_tol
        told = None if msg is None or callable(msg) else str(msg)
        options = {
            "rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": exact_dtype, "check_device": exact_device,
            "check_layout": exact_layout, "check_stride": exact_stride, "msg": told,
        }  # fmt: skip
        self._compare(x, y, told, options)

    def _compare(self, x: Any, y: Any, msg: str | None, options: dict[str, Any]) -> None:
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            assert set(x) == set(y), msg
            for key in x:
                self._compare(x[key], y[key], msg, options)
        elif _is_sequence(x) and _is_sequence(y):
            assert len(x) == len(y), msg
            for one, other in zip(x, y):
                self._compare(one, other, msg, options)
        elif _is_numeric(x) or _is_numeric(y):
            importlib.import_module("tenfold.testing").assert_close(_beside(x, y), _beside(y, x), **options)
        else:
            assert x == y, msg

    def assertNotEqual(self, x: Any, y: Any, msg: Any = None, **options: Any) -> None:  # type: ignore[override]
        """The opposite of `assertEqual`."""
        with self.assertRaises(AssertionError, msg=msg):  # noqa: PT027 # a test case of unittest's
            self.assertEqual(x, y, msg, **options)  # noqa: PT009


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_numeric(value: Any) -> bool:
    return isinstance(value, (tenfold.Tensor, np.ndarray, np.generic, float, complex))


def _beside(value: Any, other: Any) -> Any:
    """Arrays as tensors; numbers and lists too, of the other's dtype, where that is a tensor."""
    if isinstance(value, np.ndarray):
        return tenfold.from_numpy(value)
    if isinstance(other, tenfold.Tensor) and isinstance(value, (int, float, complex, list, tuple, np.generic)):
        return tenfold.tensor(value, dtype=other.dtype, device=other.device)
    if isinstance(other, np.ndarray) and isinstance(value, (list, tuple)):
        return tenfold.tensor(value)
    return value


def set_rng_seed(seed: int) -> None:
    """Seed PyTorch's, Python's and NumPy's random numbers."""
    tenfold.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Random numbers go on after the block as if it had drawn none."""
    with tenfold.random.fork_rng():
        yield


@contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    """Another default dtype within the block."""
    before = tenfold.get_default_dtype()
    tenfold.set_default_dtype(dtype)
    try:
        yield
    finally:
        tenfold.set_default_dtype(before)


def run_tests(argv: Sequence[str] = (), **options: Any) -> None:
    """Run the tests of the program that is being run."""
    unittest.main(argv=list(argv) or sys.argv)


class subtest:  # noqa: N801 # PyTorch's name
    """One set of arguments for `parametrize`, with a name and decorators of its own."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Sequence[Callable[[Any], Any]] = ()) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, list(decorators)


def parametrize(arg_str: str, arg_values: Any, name_fn: Callable[..., str] | None = None) -> Callable[[Any], Any]:
    """A test for each set of arguments, once the class is given to `instantiate_parametrized_tests`."""
    names = [name.strip() for name in arg_str.split(",") if name.strip()]

    def decorated(test: Any) -> Any:
        cases = [one if isinstance(one, subtest) else subtest(one) for one in arg_values]
        test._parameters = [(names, cases, name_fn), *getattr(test, "_parameters", ())]
        return test

    return decorated


def instantiate_parametrized_tests(generic_cls: type) -> type:
    """Put in the place of each parametrized test of the class one for every combination of its arguments."""
    for name, test in list(vars(generic_cls).items()):
        if not hasattr(test, "_parameters"):
            continue
        delattr(generic_cls, name)
        for chosen in itertools.product(*(cases for _, cases, _ in test._parameters)):
            given: dict[str, Any] = {}
            title = name
            for (names, _, name_fn), case in zip(test._parameters, chosen):
                values = tuple(case.arg_values) if len(names) > 1 else (case.arg_values,)
                given.update(zip(names, values))
                title += "_" + (case.name or (name_fn(*values) if name_fn else "_".join(map(_title, names, values))))
            made: Any = _bound(test, given)
            for case in chosen:
                for decorator in case.decorators:
                    made = decorator(made)
            setattr(generic_cls, title, made)
    return generic_cls


def _title(name: str, value: Any) -> str:
    if isinstance(value, tenfold.dtype):
        return value.name.removeprefix("torch.")
    return f"{name}_{str(value).replace('.', '_')}"


def _bound(test: Any, given: dict[str, Any]) -> Any:
    @functools.wraps(test)
    def bound(self: Any) -> Any:
        return test(self, **given)

    del bound.__wrapped__  # pytest would read its parameters as fixtures
    return bound


def _unchanged(test: Any) -> Any:
    return test


slowTest = skipIfRocm = skipIfCrossRef = _unchanged  # PyTorch's names


def skipIfTorchDynamo(msg: str = "") -> Callable[[Any], Any]:  # PyTorch's name
    """A decorator that skips nothing: nothing is compiled here."""
    return msg if callable(msg) else _unchanged


def __getattr__(name: str) -> Any:
    module = {"gradcheck": "tenfold.autograd", "gradgradcheck": "tenfold.autograd", "make_tensor": "tenfold.testing"}.get(name)
    if module is None:
        raise AttributeError(f"module 'torch.testing._internal.common_utils' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)
