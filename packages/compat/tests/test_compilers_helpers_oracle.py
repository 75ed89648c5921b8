"""What programs call beside compiled functions, compared with PyTorch."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import tenfold
from tenfold.as_torch.stand_ins import _logging
from tenfold.as_torch.stand_ins._higher_order_ops import foreach_map

torch = pytest.importorskip("torch")


def _calls(engine: Any) -> list[tuple[Any, ...]]:
    one, several = engine.ones(2), [engine.ones(2), engine.arange(2.0)]
    return [
        (engine.add, several, several), (engine.add, tuple(several), 3), (engine.add, 3, several), (engine.add, several, [one]),
        (engine.lerp, several, several, 0.5), (engine.add, several, one), (engine.add, one, 3), (engine.add, [], []),
        (lambda x: (x, x + 1), several), (lambda x: [x, x + 1], several),
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value.tolist()


@pytest.mark.parametrize("which", range(10))
def test_functions_over_lists(which: int) -> None:
    expected = pytest.importorskip("torch._higher_order_ops.foreach_map").foreach_map(*_calls(torch)[which])
    found = foreach_map(*_calls(tenfold)[which])
    assert _plain(found) == _plain(expected)
    assert isinstance(found, list) == isinstance(expected, list)


def test_functions_over_lists_take_further_arguments_by_name() -> None:
    assert _plain(foreach_map(tenfold.add, [tenfold.ones(1)], [tenfold.ones(1)], alpha=2)) == [[3.0]]


def test_logs_can_be_chosen() -> None:
    _logging.set_logs(dynamo=logging.DEBUG, graph=True, modules={"tenfold.nn": logging.INFO})
    _logging.set_logs()
    with pytest.raises(ValueError, match="Unrecognized log level for log dynamo"):
        _logging.set_logs(dynamo="loud")  # type: ignore[arg-type]
    assert isinstance(_logging.getArtifactLogger("mine", "graph"), logging.Logger)


def test_they_are_found_under_pytorchs_names(run: Any) -> None:
    run("""
import torch
from torch._higher_order_ops.foreach_map import foreach_map
torch._logging.set_logs(graph=True)
assert foreach_map(torch.neg, [torch.ones(1)])[0].item() == -1
assert torch.ao.quantization.QuantStub is not None
try:
    torch.ao.surely
except AttributeError as error:
    assert "torch.ao" in str(error)
""")
