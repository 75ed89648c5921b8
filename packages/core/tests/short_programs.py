"""What a short program leaves behind: the names that it defines, or the kind of error that it ends with."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def outcome(library: Any, program: str) -> dict[str, Any]:
    """The names that a program defines, or the kind of error that it ends with; PyTorch's NotImplementedError is one of many."""
    names = "zeros ones arange int64 int32 int16 int8 uint8 bool bfloat16 float16 float32 float64 complex64 complex128".split()
    scope = {"torch": library, "t": library.tensor, "np": np, "inf": np.inf, "nan": np.nan}
    scope |= {name: getattr(library, name) for name in names}
    known = set(scope)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(program, scope)
        except Exception as error:  # noqa: BLE001 - what it is, is compared
            return {"error": "RuntimeError" if isinstance(error, NotImplementedError) else type(error).__name__}
    return {name: shown(value) for name, value in scope.items() if name not in known and name[:2] != "__"}


def shown(value: Any) -> Any:
    """What can be asked of a result; strides count where there are elements to stride over."""
    if isinstance(value, (tuple, list)):
        return [shown(v) for v in value]
    if not hasattr(value, "stride"):
        return value
    strides = [s for s, n in zip(value.stride(), value.shape) if n > 1] if value.numel() else []
    dtype = str(value.dtype).rpartition(".")[2]
    return dtype, tuple(value.shape), strides, value._version, value.requires_grad, Near(value.detach().tolist())


class Near:
    """Numbers, equal within a few roundings; nan equals nan."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Near)
        return np.allclose(np.asarray(self.values), np.asarray(other.values), rtol=1e-5, atol=1e-6, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.values)
