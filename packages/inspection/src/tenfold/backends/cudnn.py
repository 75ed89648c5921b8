"""Switches of cuDNN, which tenfold-backend-cuda uses where its extra `cudnn` is installed."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

from tenfold.backends._precisions import Cudnn, Precision, choose
from tenfold.inspection.precision import OWN

enabled = True
benchmark = deterministic = False
benchmark_limit: int | None = 10
allow_tf32: bool  # kept by the module's class
depthwise_kernel = "auto"  # kept for programs that set it


def _library() -> Any:
    """cuDNN's module, if tenfold-backend-cuda is there and finds it."""
    try:
        return importlib.import_module("tenfold.cuda.cudnn_graphs").library()
    except ImportError:
        return None


def is_available() -> bool:
    """Whether cuDNN is there."""
    return _library() is not None


def version() -> int | None:
    """cuDNN's version, such as 92000; None if it is not there."""
    found = _library()
    return None if found is None else int(found.backend_version())


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN would take a tensor: it is on, it is there, and the tensor lies on a GPU in a dtype that it knows."""
    known = tensor.is_cuda and tensor.dtype.name in ("float16", "bfloat16", "float32", "float64")
    return bool(enabled and known and is_available())


_NAMES = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32", "fp32_precision", "depthwise_kernel")


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Set the switches that are given; what they all were before, in the order of `flags`."""
    given = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32, _fp32_precision, _depthwise_kernel)
    here = sys.modules[__name__]
    before = tuple(OWN["cuda"] if name == "fp32_precision" else getattr(here, name) for name in _NAMES)
    if _fp32_precision != OWN["cuda"]:
        choose("cuda", _fp32_precision)
    for name, value in zip(_NAMES, given):
        if value is not None and name != "fp32_precision":
            setattr(here, name, value)
    return before


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> Iterator[None]:
    """A context in which the switches have these values: as in PyTorch, those that are not given have the values above."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision, depthwise_kernel)
    try:
        yield
    finally:
        set_flags(*before)


conv, rnn = Precision("conv"), Precision("rnn")
sys.modules[__name__].__class__ = Cudnn

__all__ = ["flags", "is_acceptable", "is_available", "set_flags", "version"]
