"""Autocast on the CPU gives every operator's results in the dtypes that PyTorch gives, over the samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.testing import samples as registry

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.autograd")
pytest.importorskip("tenfold.nn")

registry.load()

# Where dtypes differ, and why. One that does not differ any more fails here, so that its name goes from the list.
DIFFERENT = {
    "inner": "of vectors: a product of matrices here, a sum of products there",
    "local_response_norm": "averages of half numbers there are of float32 for images in batches only",
    "linalg_pinv": "computed in float32 throughout; PyTorch's last product is in the half type",
    "linalg_matrix_exp": "computed in float32; PyTorch's exponential knows bfloat16",
}  # fmt: skip
# PyTorch's function of the first name returns more than the operator; of the second it iterates in the half type without end.
OTHERS = ("adaptive_max_pool1d", "lobpcg")
HALF = tenfold.bfloat16


def function_of(library: Any, name: str) -> Any:
    """The public function of an operator; None where there is none."""
    places = [(library, name), (library.nn.functional, name), (library.special, name), (library.Tensor, name)]
    if name.startswith("linalg_"):
        places.append((library.linalg, name.removeprefix("linalg_")))
    if name.startswith("fft_"):
        places.append((library.fft, name.removeprefix("fft_")))
    return next((found for place, part in places if callable(found := getattr(place, part, None))), None)


def theirs(value: Any) -> Any:
    if isinstance(value, tenfold.Tensor):
        wide = value.float() if value.dtype is HALF else value
        return torch.from_numpy(np.array(wide.numpy())).to(getattr(torch, str(value.dtype).split(".")[1]))
    if isinstance(value, tenfold.dtype):
        return getattr(torch, str(value).split(".")[1])
    return type(value)(map(theirs, value)) if isinstance(value, (list, tuple)) else value


def dtypes_of(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [dtypes_of(r) for r in result]
    return str(result.dtype).split(".")[1] if hasattr(result, "dtype") else type(result).__name__


def samples_of(name: str) -> list[Any]:
    found = []
    for dtype in (tenfold.float32, HALF):
        try:
            made = registry.samples_of(name, dtype=dtype)
        except (TypeError, RuntimeError, NotImplementedError):  # the operator takes no such numbers
            continue
        found += [s for s in made if any(t.dtype is dtype and t.numel() for t in s.tensors)][:6]
    return found


def pairs(name: str) -> list[tuple[Any, Any]]:
    """(PyTorch's dtypes, ours) of the samples that PyTorch takes."""
    ours, other = function_of(tenfold, name), function_of(torch, name)
    found = []
    for s in samples_of(name):
        args, kwargs = theirs(s.args), {key: theirs(value) for key, value in s.kwargs.items()}
        with warnings.catch_warnings(action="ignore"), torch.autocast("cpu", dtype=torch.bfloat16):
            try:
                expected = dtypes_of(other(*args, **kwargs))
            except (RuntimeError, TypeError, ValueError, NotImplementedError, IndexError):
                continue
        with warnings.catch_warnings(action="ignore"), tenfold.autocast("cpu", dtype=HALF):
            found.append((expected, dtypes_of(ours(*s.args, **s.kwargs))))
    return found


NAMES = [
    o.name
    for o in registry.operators(None)
    if not (o.random or o.name.startswith("_") or o.name in OTHERS)
    and function_of(torch, o.name) is not None
    and function_of(tenfold, o.name) is not None
]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_pytorchs(name: str) -> None:
    found = pairs(name)
    if not found:
        pytest.skip("PyTorch takes none of the samples")
    different = [pair for pair in found if pair[0] != pair[1]]
    assert bool(different) is (name in DIFFERENT), different


def test_most_operators_are_compared() -> None:
    assert len(NAMES) > 400
    assert DIFFERENT.keys() <= set(NAMES)
