"""Fourier and short-time Fourier transforms against PyTorch: values, dtypes, gradients, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
pytest.importorskip("tenfold.autograd")

RNG = np.random.default_rng(0)
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = [name + end for name in ONE for end in "2n"]
REAL_ONLY = ("rfft", "ihfft")


def array(shape: Any, dtype: str) -> Any:
    values = RNG.standard_normal(shape)
    return (values + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def both(name: str, x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    results = []
    for lib in (tenfold, torch):
        t = lib.from_numpy(x.copy()).requires_grad_(True)
        result = getattr(lib.fft, name)(t, *args, **kwargs)
        weights = lib.arange(result.numel(), dtype=lib.float64).reshape(result.shape) + 1
        parts = lib.view_as_real(result.resolve_conj()) * weights.unsqueeze(-1) if result.is_complex() else result * weights
        (grad,) = lib.autograd.grad((parts * parts).sum(), t)
        results.append((result.detach().resolve_conj().numpy(), grad.resolve_conj().numpy()))
    return results[0], results[1]


def agree(ours: Any, theirs: Any) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        tolerance = 2e-4 if a.dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, np.abs(b).max(initial=0)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
@pytest.mark.parametrize("name", ONE)
def test_one_dimension(name: str, norm: str | None, dtype: str) -> None:
    if dtype.startswith("complex") and name in REAL_ONLY:
        pytest.skip("takes real numbers")
    for shape, n, dim in [((5,), None, -1), ((6,), 4, 0), ((2, 5), 8, 1), ((4, 3), None, 0), ((2, 2, 3), 3, -2)]:
        agree(*both(name, array(shape, dtype), n, dim, norm))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("norm", [None, "forward", "ortho"])
@pytest.mark.parametrize("name", SEVERAL)
def test_several_dimensions(name: str, norm: str | None, dtype: str) -> None:
    if dtype.startswith("complex") and name.startswith(REAL_ONLY):
        pytest.skip("takes real numbers")
    for shape, s, dim in [
        ((4, 5), None, (0, 1)),
        ((2, 3, 4), (4, 2), (0, 2)),
        ((3, 4), (-1, 6), (1, 0)),
        ((2, 3, 4), None, (-1, 0)),
    ]:
        agree(*both(name, array(shape, dtype), s, dim, norm))
    agree(*both(name, array((3, 4), dtype)))


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_integers_become_the_default_dtype(dtype: str) -> None:
    assert tenfold.fft.fft(tenfold.ones(3, dtype=getattr(tenfold, dtype))).dtype is tenfold.complex64
    assert tenfold.fft.ihfft(tenfold.ones(3, dtype=getattr(tenfold, dtype))).dtype is tenfold.complex64


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.fft.fft(lib.zeros(3, dtype=lib.float16)),
        lambda lib: lib.fft.fft(lib.zeros(())),
        lambda lib: lib.fft.fft(lib.zeros(3), 0),
        lambda lib: lib.fft.rfft(lib.zeros(3, dtype=lib.complex64)),
        lambda lib: lib.fft.fftn(lib.zeros(3, 3), s=(2,), dim=(0, 1)),
        lambda lib: lib.fft.fftn(lib.zeros(3, 3), s=(1, 2, 3)),
        lambda lib: lib.fft.fftn(lib.zeros(3, 3), dim=(0, 0)),
        lambda lib: lib.fft.fft2(lib.zeros(3)),
        lambda lib: lib.fft.rfftn(lib.zeros(3, 3), dim=()),
        lambda lib: lib.fft.fft(lib.zeros(3), norm="other"),
        lambda lib: lib.fft.irfft(lib.zeros(1)),
        lambda lib: lib.fft.fftfreq(3, dtype=lib.int32),
    ],
)
def test_refusals_are_pytorchs(call: Any) -> None:
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        call(torch)
    with pytest.raises(type(theirs.value)) as ours:
        call(tenfold)
    said = str(theirs.value).splitlines()[0].partition("in PyTorch")[0].rstrip(".")
    assert said in str(ours.value) or "FFT" in said


def test_out_and_frequencies() -> None:
    x = tenfold.randn(8)
    out = tenfold.empty(0, dtype=tenfold.complex64)
    assert tenfold.fft.fft(x, out=out) is out
    np.testing.assert_array_equal(out.numpy(), tenfold.fft.fft(x).numpy())
    for n in (1, 4, 5):
        np.testing.assert_allclose(tenfold.fft.fftfreq(n, 0.3).numpy(), torch.fft.fftfreq(n, 0.3).numpy(), rtol=1e-6)
        np.testing.assert_allclose(tenfold.fft.rfftfreq(n, 0.3).numpy(), torch.fft.rfftfreq(n, 0.3).numpy(), rtol=1e-6)


STFT = [
    {"n_fft": 8}, {"n_fft": 8, "hop_length": 3}, {"n_fft": 8, "win_length": 5}, {"n_fft": 8, "center": False},
    {"n_fft": 7, "onesided": False}, {"n_fft": 8, "normalized": True}, {"n_fft": 8, "pad_mode": "constant"},
    {"n_fft": 8, "pad_mode": "replicate"}, {"n_fft": 8, "pad_mode": "circular"},
]  # fmt: skip


@pytest.mark.parametrize("shape", [(24,), (2, 24)])
@pytest.mark.parametrize("options", STFT)
def test_stft_and_back(options: dict[str, Any], shape: Any) -> None:
    x = RNG.standard_normal(shape)
    spectra = []
    for lib in (tenfold, torch):
        window = lib.hann_window(options.get("win_length", options["n_fft"]), dtype=lib.float64) + 0.1
        spectra.append(lib.stft(lib.from_numpy(x), window=window, return_complex=True, **options))
    np.testing.assert_allclose(spectra[0].numpy(), spectra[1].numpy(), atol=1e-10)
    given = {key: value for key, value in options.items() if key != "pad_mode"}
    window = tenfold.hann_window(options.get("win_length", options["n_fft"]), dtype=tenfold.float64) + 0.1
    if "win_length" not in options:
        back = tenfold.istft(spectra[0], window=window, **given)
        there = torch.istft(spectra[1], window=torch.from_numpy(window.numpy()), **given)
        np.testing.assert_allclose(back.numpy(), there.numpy(), atol=1e-10)
        np.testing.assert_allclose(back.numpy(), x[..., : back.shape[-1]], atol=1e-10)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_windows(name: str, n: int) -> None:
    for periodic in (True, False):
        ours, theirs = (getattr(lib, f"{name}_window")(n, periodic, dtype=lib.float64) for lib in (tenfold, torch))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-12)
        ours, theirs = (getattr(lib.signal.windows, name)(n, sym=not periodic) for lib in (tenfold, torch))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cosine", {}), ("nuttall", {}), ("exponential", {"tau": 2.0}), ("gaussian", {"std": 0.7}),
        ("general_cosine", {"a": [0.4, 0.3, 0.2]}), ("general_hamming", {"alpha": 0.7}),
    ],
)  # fmt: skip
def test_further_windows(name: str, options: dict[str, Any]) -> None:
    for sym in (True, False):
        ours, theirs = (getattr(lib.signal.windows, name)(6, sym=sym, **options) for lib in (tenfold, torch))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-6)


def test_istft_of_two_sided_spectra_reads_their_first_half() -> None:
    parts = np.random.default_rng(7).standard_normal((2, 6, 3))
    spectra, window = parts[0] + 1j * parts[1], np.linspace(0.5, 1.5, 6)
    ours, theirs = [
        lib.istft(lib.from_numpy(spectra), 6, onesided=False, window=lib.from_numpy(window)) for lib in (tenfold, torch)
    ]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_infinities_without_a_warning(name: str) -> None:
    x = tenfold.full((3, 5), float("inf"))
    assert not tenfold.isfinite(tenfold.view_as_real(getattr(tenfold.fft, name)(x) + 0j)).all()
