"""Functions that stay under an older name say so, once in a process."""

import warnings

import pytest

import tenfold
from tenfold.settings import warnings as once

A = tenfold.tensor([[2.0, 0.0], [1.0, 3.0]])
LU, PIVOTS = tenfold.linalg.lu_factor(A)
SQUARE = tenfold.ones(3, 3)

CALLS = {
    "cholesky": lambda: tenfold.cholesky(A @ A.mT),
    "qr": lambda: A.qr(),
    "lu": lambda: tenfold.lu(A),
    "lu_solve": lambda: tenfold.lu_solve(A, LU, PIVOTS),
    "triangular_solve": lambda: tenfold.triangular_solve(A, A, upper=False),
    "chain_matmul": lambda: tenfold.chain_matmul(A, A),
    "cross": lambda: tenfold.cross(SQUARE, SQUARE),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_older_name_warns_once(name, monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match=rf"torch\.{name} .*deprecated"):
        CALLS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[name]()


REMOVED = {
    "eig": [tenfold.eig, lambda x: x.eig(eigenvectors=True)],
    "symeig": [tenfold.symeig, lambda x: x.symeig(upper=False)],
    "solve": [lambda x: tenfold.solve(x, x), lambda x: x.solve(x)],
    "lstsq": [lambda x: tenfold.lstsq(x, x), lambda x: x.lstsq(x)],
    "matrix_rank": [lambda x: tenfold.matrix_rank(x, symmetric=True)],
}


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_name_says_what_does_its_work(name):
    instead = name.replace("symeig", "eigh")
    for call in REMOVED[name]:
        with pytest.raises(RuntimeError, match=rf"^{name}: .*since version 1.9 and is now removed.*tenfold\.linalg\.{instead}"):
            call(A)


def test_names_of_today_do_not_warn(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tenfold.linalg.cholesky(A @ A.mT), tenfold.linalg.qr(A), tenfold.linalg.lu(A), tenfold.linalg.lu_solve(LU, PIVOTS, A)
        tenfold.linalg.multi_dot([A, A, A]), tenfold.linalg.cross(SQUARE, SQUARE), tenfold.cross(SQUARE, SQUARE, dim=0)


def test_a_spectrums_frequencies_find_room_in_an_output_of_another_size(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    for function in (tenfold.fft.fftfreq, tenfold.fft.rfftfreq):
        out = tenfold.empty(7, 3)
        with pytest.warns(UserWarning, match=r"shape \[7, 3\] is 21 which does not match .* The out tensor will be resized"):
            function(6, out=out)
        assert out.tolist() == function(6).tolist()
    out = tenfold.empty(2, 3)
    assert tenfold.fft.fftfreq(6, out=out).shape == (2, 3)  # as many: filled as it is


@pytest.mark.parametrize("dtype", [tenfold.float16, tenfold.bfloat16], ids=lambda d: d.name)
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (2.0, 3.0), (0.6, 0.3), (0, 2.0)])
def test_addr_of_half_precision_is_rounded_after_every_step(dtype, beta, alpha):
    m, a, b = (tenfold.linspace(-2.0, 1.7, n).to(dtype) for n in (64, 8, 8))
    m = m.view(8, 8)
    scalar = [tenfold.tensor(x, dtype=dtype).expand(8, 8) for x in (beta, alpha)]
    product = (scalar[1][0] * a)[:, None] * b
    expected = scalar[0] * m + product if beta else product
    assert tenfold.equal(tenfold.addr(m, a, b, beta=beta, alpha=alpha), expected)


@pytest.mark.parametrize(
    ("equation", "said"),
    [
        ("i. .", r"found '\.' for operand 0 that is not part of any ellipsis"),
        ("ij->..", r"found '\.' for output that is not part of any ellipsis"),
        ("... ...", r"found '\.' for operand 0 for which an ellipsis was already found"),
        ("ij->... .", r"found '\.' for output but an ellipsis \(\.\.\.\) was already found"),
    ],
)
def test_einsum_names_the_operand_with_a_stray_point(equation, said):
    with pytest.raises(RuntimeError, match=said):
        tenfold.einsum(equation, A)


def test_pairs_of_numbers_instead_of_complex_spectra_warn_once(monkeypatch):
    monkeypatch.setattr(once, "_seen", set())
    with pytest.warns(UserWarning, match="stft with return_complex=False is deprecated"):
        tenfold.stft(tenfold.ones(8), 4, window=tenfold.ones(4), return_complex=False)


def test_addr_of_half_precision_refuses_truth_values_as_factors():
    x = tenfold.ones(1, dtype=tenfold.float16)
    with pytest.raises(RuntimeError, match="Boolean beta only supported for Boolean results"):
        tenfold.addr(x[None], x, x, beta=True)


def test_range_is_deprecated():
    with pytest.warns(UserWarning, match=r"torch.range is deprecated"):
        assert tenfold.range(0, 3).tolist() == [0.0, 1.0, 2.0, 3.0]
