"""What PyTorch's test classes need to be made for the device "cuda": put in place of the judge's own, which knows the CPU only.

`torchtests_on_cuda.py` copies the judge and lets its support files call `install`, `facts` and `helpers` at their ends.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any

DEVICE = "cuda:0"
LARGEST_GB = 1  # of what a test may hold: the interpreter's memory is the host's, and slow


def start() -> None:
    """The device, in this interpreter: a GPU or Triton's interpreter, which says that it is one."""
    import on_cuda  # type: ignore[import-not-found] # beside this file, whose folder is on the path by now

    on_cuda.start()
    import tenfold

    if not tenfold.cuda.is_available():
        tenfold.cuda.is_available = lambda: True


def as_cuda(text: str) -> str:
    """The judge's file of classes, which makes them for one device, with the other one's name."""
    head, mark, tail = text.partition("# ---------------------------------------------------------------- decorators")
    assert mark, "the judge's common_device_type.py has no part of decorators any more"
    for old, new in (('"cpu"', '"cuda"'), ("_cpu", "_cuda"), ('"CPU"', '"CUDA"')):
        assert old in head, f"the judge's common_device_type.py has no {old} any more"
        head = head.replace(old, new)
    return head + mark + tail + "\n__import__('cuda_classes').install(globals())\n"


def install(classes: dict[str, Any]) -> None:
    """Into the namespace of the copied common_device_type.py."""
    base = classes["DeviceTypeTestBase"]
    base.get_primary_device = base._init_and_get_primary_device = classmethod(lambda cls: DEVICE)
    base.get_all_devices = classmethod(lambda cls: [DEVICE])
    base.has_cudnn = lambda self: False
    classes["CUDATestBase"] = base
    classes["get_all_device_types"] = lambda: ["cpu", "cuda"]
    classes["_one"] = functools.partial(_made, classes["_one"])
    keep = classes["_keep"]
    for name, why in {
        "onlyCPU": "for the CPU",
        "skipCUDAIfNotRocm": "for AMD",
        "skipCUDAIfNoMiopen": "for AMD",
        "skipCUDAIfNotMiopenSuggestNHWC": "for AMD",
        "expectedFailureCUDA": "PyTorch fails there",
    }.items():
        classes[name] = unittest.skip(why)
    classes["onlyCUDA"] = classes["onlyCUDAAndPRIVATEUSE1"] = _of_cuda
    classes["onlyOn"] = lambda device: keep if "cuda" in device else unittest.skip(f"for {device}")
    classes["skipCUDAIf"] = lambda dep, reason: unittest.skip(reason) if dep is True else keep
    classes["skipIf"] = lambda dep, reason, device_type=None: (
        unittest.skip(reason) if dep is True and device_type in (None, "cuda") else keep
    )
    for name in ("skipCPUIf", "skipCPUIfNoMklSparse", "skipCPUIfNoMkldnn"):
        classes[name] = keep
    classes["largeTensorTest"] = _large
    classes["has_cusolver"] = lambda: True


def facts(names: dict[str, Any]) -> None:
    """Into the namespace of the copied common_cuda.py: a GPU of compute capability 9.0."""
    import torch

    missing = names["__getattr__"]
    names["TEST_CUDNN"] = _about_cuda()  # there it only says that there is a GPU
    names.update(TEST_CUDA=True, TEST_MAGMA=True, CUDA_DEVICE=torch.device(DEVICE), _get_torch_cuda_version=lambda: (13, 0))
    names["__getattr__"] = lambda name: bool(re.fullmatch(r"(SM[5-9]\d|CUDA1\d)OrLater", name)) or missing(name)


def helpers(names: dict[str, Any]) -> None:
    """Into the namespace of the copied common_utils.py: tools for a GPU, whose random numbers are kept as the CPU's are."""
    import torch

    kept = names["freeze_rng_state"]

    @contextlib.contextmanager
    def freeze_rng_state() -> Iterator[None]:
        before = torch.cuda.get_rng_state()
        try:
            with kept():
                yield
        finally:
            torch.cuda.set_rng_state(before)

    if not hasattr(torch.cuda, "_sleep"):
        torch.cuda._sleep = lambda cycles: None
    torch._C._nn = torch.nn.functional  # where the functions are that the lists of autocast name
    torch._C._linalg = types.SimpleNamespace(
        **{f"linalg_{name}": getattr(torch.linalg, name) for name in ("vecdot", "multi_dot")}
    )
    torch.testing._internal = sys.modules["harness_internal"]  # by which decorators of classes are named
    names.update(TEST_CUDA_GRAPH=True, NoTest=object, get_cycles_per_ms=lambda: 1000.0)
    names["freeze_rng_state"] = freeze_rng_state


def plain(cls: Any, test: str, source_of: Callable[[Any], str]) -> bool:
    """Whether a test of a class that is not made for devices is about the device; it is noted, as one for CUDA alone."""
    name = f"{cls.__name__}.{test}"
    here = _about_cuda() or re.search("cuda", source_of(getattr(cls, test)), re.IGNORECASE)
    made_of = cls.__name__.endswith("CUDA") or "device" in inspect.signature(getattr(cls, test)).parameters
    if made_of or not here or not re.search(os.environ["TORCHTESTS_ONLY"], name):
        return False
    _note(name, True)
    return True


def _about_cuda() -> bool:
    """Whether the whole file is, such as test_cuda."""
    return "_cuda" in os.environ["TORCHTESTS_FILE"]


def _note(name: str, alone: bool) -> None:
    with open(os.environ["TORCHTESTS_MADE"], "a") as notes:
        print(json.dumps([name, alone]), file=notes)


def _of_cuda(test: Any) -> Any:
    test.of_cuda = True
    return test


def _large(size: Any, device: Any = None, inductor: Any = None) -> Callable[[Any], Any]:
    parts = re.fullmatch(r"([\d.]+)\s*([KMG]?)B", str(size), re.IGNORECASE)
    powers = {"": 0, "K": 1, "M": 2, "G": 3}
    gigabytes = float(parts[1]) * 1024 ** (powers[parts[2].upper()] - 3) if parts else LARGEST_GB + 1.0
    return (lambda test: test) if gigabytes <= LARGEST_GB else unittest.skip(f"needs {size} of memory")


def _made(one: Callable[..., None], cls: Any, name: str, test: Any, kwargs: Any, decorators: Any, dtype: Any) -> None:
    """Make a test for a device as the judge does, on `cuda:0`, and note whether the CPU has it as well."""

    def placed(test: Any) -> Any:
        @functools.wraps(test)
        def run(self: Any, **given: Any) -> Any:
            return test(self, **given | ({"device": DEVICE} if given.get("device") == "cuda" else {}))

        return run

    one(cls, name, test, kwargs, [*decorators, placed], dtype)
    table = getattr(test, "dtypes", {})
    here = table.get("cpu", table.get("all", ()))
    alone = (
        getattr(test, "of_cuda", False) is True or ("cuda" in table and dtype is not None and dtype not in here) or _about_cuda()
    )
    _note(f"{cls.__name__}.{name}", alone)
