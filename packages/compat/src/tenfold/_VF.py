"""`torch._VF`: the functions of operators, by which layers of programs' own call `_VF.lstm` and `_VF.gru_cell`."""

from __future__ import annotations

from typing import Any

from tenfold.as_torch.stand_ins._C import _VariableFunctions


def __getattr__(name: str) -> Any:
    return getattr(_VariableFunctions, name)


def __dir__() -> list[str]:
    return dir(_VariableFunctions)
