"""Every operator has a path on this device, or stands here with the reason why not; what the paths answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import tenfold
from tenfold.cuda import paths

LACKING: dict[str, str] = {}


def test_every_operator_has_a_path_or_a_reason():
    without = {name for name, path in paths.paths().items() if path == "none"}
    assert without == set(LACKING), "give it a formula or kernel in tenfold/cuda/kernels/FAMILY.py, or the reason in LACKING"


def test_the_table_says_which(capsys):
    table = paths.paths()
    assert table["add"] == table["softmax"] == table["fused_attention"] == table["sum"] == table["cummax_pair"] == "triton"
    assert table["mm"] == "library"
    assert table["linalg_ldl_solve"] == "host"
    assert paths.main(["add"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["add", "triton"]


def test_the_page_says_what_the_table_says():
    pytest.importorskip("tenfold.scientific")
    kept = Path(__file__).parents[3] / "docs" / "guide" / "cuda_operators.md"
    assert kept.read_text() == paths.page(), "stale: python -m tenfold.cuda.paths --page > docs/guide/cuda_operators.md"


def test_linear_algebra_special_functions_and_transforms_answer_as_on_the_cpu():
    pytest.importorskip("tenfold.scientific")
    x = tenfold.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 2.0]])
    b = tenfold.tensor([1.0, 2.0, 3.0])
    calls = (
        lambda x, b: tenfold.linalg.solve(x, b), lambda x, b: tenfold.linalg.cholesky(x), lambda x, b: tenfold.linalg.qr(x).R,
        lambda x, b: tenfold.linalg.eigvalsh(x), lambda x, b: tenfold.linalg.inv(x), lambda x, b: tenfold.linalg.det(x),
        lambda x, b: tenfold.lgamma(b), lambda x, b: tenfold.special.i0(b), lambda x, b: tenfold.special.entr(b),
        lambda x, b: tenfold.fft.fft(b).abs(), lambda x, b: tenfold.fft.rfft(x, dim=0).real, lambda x, b: tenfold.fft.irfft(b, 4),
        lambda x, b: tenfold.fft.ifft2(x, norm="ortho").real,
    )  # fmt: skip
    for call in calls:
        got, expected = call(x.cuda(), b.cuda()), call(x, b)
        assert got.device.type == "cuda"
        assert got.dtype is expected.dtype
        assert tenfold.allclose(got.cpu(), expected, atol=1e-5)
