"""Where PyTorch asks for a bool, numbers, text, tensors and None are refused; where it asks for an int, bools are."""

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
    "std": lambda t, flag: t.ones(3).std(0, flag),
    "var by name": lambda t, flag: t.ones(3).var(0, unbiased=flag),
    "var_mean": lambda t, flag: t.stack(t.var_mean(t.ones(3), 0, flag)),
    "std_mean": lambda t, flag: t.stack(t.std_mean(t.ones(3), 0, keepdim=flag)).flatten(),
    "requires_grad_": lambda t, flag: t.tensor(t.ones(3).requires_grad_(flag).requires_grad),
    "requires_grad_ of a sparse tensor": lambda t, flag: t.tensor(t.ones(3).to_sparse().requires_grad_(flag).requires_grad),
    "full": lambda t, flag: t.full((3,), 1.0, requires_grad=flag),
    "to": lambda t, flag: t.ones(3).to("cpu", copy=flag),
    "unique": lambda t, flag: t.unique(t.ones(3), sorted=flag),
    "dropout": lambda t, flag: t.nn.functional.dropout(t.zeros(3), 0.5, flag),
    "interpolate": lambda t, flag: t.nn.functional.interpolate(t.ones(1, 1, 3), 3, mode="linear", align_corners=flag),
    "gumbel_softmax": lambda t, flag: t.nn.functional.gumbel_softmax(t.zeros(3), hard=flag) * 0,
    "triplet_margin_loss": lambda t, flag: t.nn.functional.triplet_margin_loss(*t.ones(3, 1, 3), swap=flag),
    "stft": lambda t, flag: t.stft(t.ones(8), 4, window=t.ones(4), normalized=flag, return_complex=True).abs() * 0,
    "pad_sequence": lambda t, flag: t.nn.utils.rnn.pad_sequence([t.ones(3)], batch_first=flag),
    "relu, whose flag is PyTorch's Python's": lambda t, flag: t.nn.functional.relu(t.ones(3), flag),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom", "ignore:.*Default grid_sample")
@pytest.mark.parametrize("flag", [True, False, 1, 0, 1.0, "yes", None])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_bool(name: str, flag: Any) -> None:
    if flag is None and name in ("std", "var by name", "var_mean"):
        pytest.skip("None is the default of Tenfold's unbiased")
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


def test_the_attribute_requires_grad_is_a_bool() -> None:
    for lib in (torch, tenfold):
        for value in (1, 0, None, "yes"):
            for x in (lib.ones(3), lib.ones(3).to_sparse()):
                with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
                    x.requires_grad = value


ONLY_INTS: dict[str, Any] = {
    "size": lambda t: t.ones(2, 3).size(True),
    "stride": lambda t: t.ones(2, 3).stride(False),
    "squeeze": lambda t: t.ones(1, 3, 1).squeeze((False,)),
    "squeeze_": lambda t: t.ones(1, 3, 1).squeeze_((True, 2)),
    "squeeze of what has no elements": lambda t: t.squeeze(t.ones(1, 0), (False,)),
}


@pytest.mark.parametrize("name", ONLY_INTS)
def test_what_is_no_dimension(name: str) -> None:
    for lib in (torch, tenfold):
        with pytest.raises(TypeError):
            ONLY_INTS[name](lib)
