"""Where PyTorch asks for a bool, numbers, text and tensors are refused."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS: dict[str, Any] = {
    "sum": lambda t, flag: t.ones(3).sum(0, flag),
    "mean by name": lambda t, flag: t.ones(3).mean(0, keepdim=flag),
    "max": lambda t, flag: t.ones(3).max(0, flag).values,
    "any": lambda t, flag: t.any(t.ones(3), 0, flag),
    "argmax": lambda t, flag: t.ones(3).argmax(0, flag),
    "sort": lambda t, flag: t.ones(3).sort(0, flag).values,
    "topk": lambda t, flag: t.ones(3).topk(1, 0, flag).values,
    "kthvalue": lambda t, flag: t.ones(3).kthvalue(1, 0, flag).values,
    "multinomial": lambda t, flag: t.multinomial(t.ones(1), 1, flag),
    "searchsorted": lambda t, flag: t.searchsorted(t.ones(3), t.ones(3), right=flag),
    "isin": lambda t, flag: t.isin(t.ones(3), t.ones(3), invert=flag),
    "allclose": lambda t, flag: t.tensor(t.allclose(t.ones(3), t.ones(3), equal_nan=flag)),
    "index_put_": lambda t, flag: t.ones(3).index_put_((t.tensor([0]),), t.ones(1), flag),
    "copy_": lambda t, flag: t.ones(3).copy_(t.ones(3), flag),
    "zeros": lambda t, flag: t.zeros(3, requires_grad=flag),
    "svd": lambda t, flag: t.linalg.svd(t.ones(3, 3), flag).S * 0,
    "cholesky": lambda t, flag: t.linalg.cholesky(t.eye(3), upper=flag),
    "hann_window": lambda t, flag: t.hann_window(3, flag),
    "avg_pool2d": lambda t, flag: t.nn.functional.avg_pool2d(t.ones(1, 4, 4), 2, ceil_mode=flag),
    "batch_norm": lambda t, flag: t.nn.functional.batch_norm(t.ones(2, 3), t.zeros(3), t.ones(3), training=flag),
    "grid_sample": lambda t, flag: t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 1, 1, 2), align_corners=flag),
    "embedding_bag, whose flag is PyTorch's Python's": lambda t, flag: t.nn.functional.embedding_bag(
        t.zeros(1, 1, dtype=t.int64), t.ones(1, 2), include_last_offset=flag
    ),
    "gaussian_nll_loss, too": lambda t, flag: t.nn.functional.gaussian_nll_loss(t.ones(3), t.ones(3), t.ones(3), full=flag),
    "relu, whose flag is PyTorch's Python's": lambda t, flag: t.nn.functional.relu(t.ones(3), flag),
}  # fmt: skip


@pytest.mark.parametrize("flag", [True, False, 1, 0, 1.0, "yes"])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_bool(name: str, flag: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        try:
            found.append(CALLS[name](lib, flag).flatten().tolist())
        except TypeError as error:
            found.append(TypeError)
            said = str(error)
    if isinstance(found[0], list):
        assert found[1] == pytest.approx(found[0], nan_ok=True)
    else:
        assert found[1] is TypeError
        assert "bool" in said


def test_a_tensor_is_no_bool() -> None:
    for lib in (torch, tenfold):
        with pytest.raises(TypeError):
            lib.ones(3).max(0, lib.tensor(True))
