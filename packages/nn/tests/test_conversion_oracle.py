"""What Module.to accepts and refuses, by PyTorch's ways to call it."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS: dict[str, Any] = {
    "device": lambda lib, m: m.to("cpu"),
    "device, dtype": lambda lib, m: m.to("cpu", lib.float64),
    "device, None, flag": lambda lib, m: m.to(lib.device("cpu"), None, True),
    "None, dtype": lambda lib, m: m.to(None, lib.float64),
    "dtype": lambda lib, m: m.to(lib.float64),
    "dtype, flag": lambda lib, m: m.to(lib.float64, True),
    "tensor, flag": lambda lib, m: m.to(lib.zeros(1, dtype=lib.float64), True),
    "nothing": lambda lib, m: m.to(),
    "no copy": lambda lib, m: m.to("cpu", copy=False),
    "no copy, fourth": lambda lib, m: m.to("cpu", lib.float64, False, False),
    "copy": lambda lib, m: m.to("cpu", copy=True),
    "copy, fourth": lambda lib, m: m.to("cpu", lib.float64, False, True),
    "copy, third": lambda lib, m: m.to(lib.float64, False, True),
    "device, flag": lambda lib, m: m.to("cpu", True),
    "None, flag": lambda lib, m: m.to(None, True),
    "dtype, device": lambda lib, m: m.to(lib.float64, lib.device("cpu")),
    "integers": lambda lib, m: m.to(lib.int64),
    "device, integers": lambda lib, m: m.to("cpu", lib.int64, True),
    "tensor of integers": lambda lib, m: m.to(lib.tensor(3), non_blocking=True),
    "list": lambda lib, m: m.to([]),
    "dict": lambda lib, m: m.to({}, non_blocking=True),
    "three flags": lambda lib, m: m.to("cpu", lib.float64, False, False, False),
}


def outcome(lib: Any, call: Any, **options: Any) -> Any:
    try:
        return str(call(lib, lib.nn.Linear(2, 2, **options)).weight.dtype).rsplit(".", 1)[-1]
    except Exception as error:  # noqa: BLE001 - its type is what is compared
        return type(error)


@pytest.mark.parametrize("name", CALLS)
def test_ways_to_call(name: str) -> None:
    assert outcome(tenfold, CALLS[name]) == outcome(torch, CALLS[name])


def test_nothing_moves_from_meta() -> None:
    for lib in (tenfold, torch):
        layer = lib.nn.Linear(2, 2, device="meta")
        with pytest.raises(NotImplementedError, match=r"Please use \w+\.nn\.Module\.to_empty\(\)"):
            layer.to("cpu")
        assert layer.to(lib.float64).weight.is_meta
        assert layer.to_empty(device="cpu").weight.shape == (2, 2)
