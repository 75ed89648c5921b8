"""The short ways before products with vectors, Fourier transforms, systems of small matrices and grids, against PyTorch and the
ordinary way."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from compared_calls import outcome, same_from_every_source, seen_by_classes_and_modes

import tenfold

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)
FORMS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
TRANSFORMS = {
    f"{name}{what}": lambda lib, x, name=name, options=options: getattr(lib.fft, name)(x, **options)
    for what, options in {
        "": {}, " ortho": {"norm": "ortho"}, " forward": {"norm": "forward"}, " backwards": {"norm": "backwards"},
    }.items()
    for name in FORMS
}  # fmt: skip
ALONE = {
    f"{name}{what}": lambda lib, x, name=name, options=options: getattr(lib.fft, name)(x, **options)
    for what, options in {
        " cut": {"n": 2}, " filled": {"n": 9}, " of none": {"n": 0}, " first": {"dim": 0}, " nowhere": {"dim": 2},
    }.items()
    for name in FORMS[:6]
}  # fmt: skip
SEVERAL = {
    f"{name}{what}": lambda lib, x, name=name, options=options: getattr(lib.fft, name)(x, **options)
    for what, options in {
        " first": {"dim": (0,)}, " turned": {"dim": (1, 0)}, " twice": {"dim": (0, 0)}, " sizes": {"s": (2, 3)},
        " nowhere": {"dim": (0, 5)}, " of no dimension": {"dim": ()},
    }.items()
    for name in FORMS[6:]
}  # fmt: skip
CASES = {
    **TRANSFORMS,
    **ALONE,
    **SEVERAL,
    "fftshift": lambda lib, x: lib.fft.fftshift(x),
    "fftshift of columns": lambda lib, x: lib.fft.fftshift(x, 1),
    "ifftshift": lambda lib, x: lib.fft.ifftshift(x, (0, -1)),
    "ifftshift nowhere": lambda lib, x: lib.fft.ifftshift(x, 2),
    "mv": lambda lib, x: lib.mv(x, x[0]),
    "mv of columns": lambda lib, x: x.t().mv(x[:, 1]),
    "mv of one": lambda lib, x: x[:1, :1].mv(x[0, :1]),
    "mv of none": lambda lib, x: x[:, :0].mv(x[0, :0]),
    "mv that does not fit": lambda lib, x: x.mv(x[:, 0]),
    "matrix @ vector": lambda lib, x: x @ x[1],
    "vector @ matrix": lambda lib, x: x[:, 2] @ x,
    "numbers @": lambda lib, x: x[0, 0] @ x,
    "@ that does not fit": lambda lib, x: x @ x,
    "addmv": lambda lib, x: lib.addmv(x[:, 0], x, x[0]),
    "addmv scaled": lambda lib, x: lib.addmv(x[:, 0], x, x[0], beta=0.3, alpha=-2),
    "addmv alone": lambda lib, x: lib.addmv(x[:, 0] / 0, x, x[0], beta=0),
    "addmv to a number": lambda lib, x: lib.addmv(x[0, 0], x, x[0], alpha=2.5),
    "addmv to a row": lambda lib, x: lib.addmv(x[:1], x, x[0]),
    "addmv wrongly alone": lambda lib, x: lib.addmv(x[0], x, x[0], beta=0),
    "addmv by a truth": lambda lib, x: lib.addmv(x[:, 0], x, x[0], beta=True),
    "addmv by too much": lambda lib, x: lib.addmv(x[:, 0], x, x[0], alpha=1e300),
    "addr": lambda lib, x: lib.addr(x, x[:, 0], x[0]),
    "addr scaled": lambda lib, x: lib.addr(x, x[:, 0], x[0], beta=2, alpha=0.7),
    "addr to a row": lambda lib, x: lib.addr(x[0], x[:, 0], x[0]),
    "addr that does not fit": lambda lib, x: lib.addr(x, x[0], x[0]),
    "baddbmm": lambda lib, x: lib.baddbmm(x[0, 0], x[None], x.t()[None]),
    "baddbmm scaled": lambda lib, x: lib.baddbmm(x[:, :1], x[None], x.t()[None], beta=-1.5, alpha=3),
    "baddbmm of matrices": lambda lib, x: lib.baddbmm(x, x, x),
    "vdot": lambda lib, x: lib.vdot(x[0], x[1]),
    "vdot of matrices": lambda lib, x: lib.vdot(x, x),
    "vdot that does not fit": lambda lib, x: lib.vdot(x[0], x[:, 0]),
    "meshgrid": lambda lib, x: lib.meshgrid(x[0], x[:, 0], indexing="ij"),
    "meshgrid xy": lambda lib, x: lib.meshgrid([x[0], x[:, 0], x[1]], indexing="xy"),
    "meshgrid of matrices": lambda lib, x: lib.meshgrid(x, x, indexing="ij"),
    "meshgrid of numbers": lambda lib, x: lib.meshgrid(x[0, 0], x[0], indexing="ij"),
    "cartesian_prod": lambda lib, x: lib.cartesian_prod(x[0], x[:, 0], x[1]),
    "cartesian_prod of one": lambda lib, x: lib.cartesian_prod(x[0]),
    "cartesian_prod of none": lambda lib, x: lib.cartesian_prod(x[0], x[0, :0]),
    "block_diag": lambda lib, x: lib.block_diag(x, x.t(), x[:0]),
    "block_diag of vectors": lambda lib, x: lib.block_diag(x, x[0], x[0, 0]),
    "block_diag of images": lambda lib, x: lib.block_diag(x, x[None]),
}
ARRAY = np.random.default_rng(8).standard_normal((3, 4)).astype(np.float32)
SOURCES = {
    "float32": lambda lib, a: lib.from_numpy(a.copy()),
    "float64": lambda lib, a: lib.from_numpy(a.astype(np.float64)),
    "complex64": lambda lib, a: lib.from_numpy(a.astype(np.complex64) * (1 - 0.5j)),
    "conjugate": lambda lib, a: lib.from_numpy(a.astype(np.complex64) * (1 - 0.5j)).conj(),
    "int64": lambda lib, a: lib.from_numpy((4 * a).astype(np.int64)),
    "columns": lambda lib, a: lib.from_numpy(np.ascontiguousarray(a.T)).t(),
    "a part": lambda lib, a: lib.from_numpy(np.pad(a, 1))[1:-1, 1:-1],
    "infinite": lambda lib, a: lib.from_numpy(np.where(a > 1, np.inf, a)),
    "a leaf": lambda lib, a: lib.from_numpy(a.copy()).requires_grad_(),
}
# PyTorch's transforms lie as their library leaves them, which differs where it is not along the last dimensions of rows; and
# infinity leaves other numbers there.
LAID_OUT = {"columns", "a part", "infinite", "conjugate"}


# Where the ordinary way differs from PyTorch: in an error's type, and by lying row by row where what is added to does not.
APART = {"baddbmm of matrices"}
IN_ROWS = {"addr", "addr scaled"}


def _compared(ours, theirs, lies):
    """Whether both were refused, or the results are alike."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs)), (ours, theirs)
        return
    assert not isinstance(ours, Exception), (ours, theirs)
    pairs = zip(*(y if isinstance(y, (tuple, list)) else (y,) for y in (ours, theirs)), strict=True)
    for a, b in pairs:
        assert str(a.dtype).rpartition(".")[2] == str(b.dtype).rpartition(".")[2]
        assert tuple(a.shape) == tuple(b.shape)
        assert a.requires_grad == b.requires_grad
        if lies and b.numel():
            places = [d for d, n in enumerate(b.shape) if n > 1]
            assert [a.stride()[d] for d in places] == [b.stride()[d] for d in places]
        np.testing.assert_allclose(a.detach().resolve_conj().numpy(), b.detach().resolve_conj().numpy(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", [n for n in CASES if n not in APART])
def test_results_are_pytorchs(name):
    transforms = any(name.startswith(form) for form in FORMS)
    for source in SOURCES:
        if not (transforms and source in LAID_OUT):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours, theirs = (outcome(CASES[name], lib, SOURCES[source](lib, ARRAY)) for lib in LIBRARIES)
            _compared(ours, theirs, name in TRANSFORMS or not (transforms or (name in IN_ROWS and source == "columns")))


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_ordinary_way(name):
    same_from_every_source(CASES[name], SOURCES, ARRAY)


CALLS = {
    "fft_fft": lambda x: tenfold.fft.fft(x),
    "fft_irfftn": lambda x: tenfold.fft.irfftn(x + 0j),
    "mv": lambda x: x.mv(x[0]),
    "baddbmm": lambda x: tenfold.baddbmm(x, x[None], x[None]),
    "linalg_solve": lambda x: tenfold.linalg.solve(x, x),
    "linalg_cholesky": lambda x: tenfold.linalg.cholesky(x),
    "meshgrid": lambda x: tenfold.meshgrid(x[0], x[1], indexing="ij"),
    "block_diag": lambda x: tenfold.block_diag(x, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_classes_and_modes_see_the_call(name):
    x = tenfold.eye(3)
    seen_by_classes_and_modes(CALLS[name], x, name)


@pytest.mark.parametrize("name", CALLS)
def test_each_example_of_a_batch_is_one_call(name):
    x = 3 * tenfold.eye(3) + tenfold.arange(2.0).view(2, 1, 1)
    made, each = tenfold.func.vmap(CALLS[name])(x), [CALLS[name](row) for row in x]
    if not isinstance(made, tuple):
        made, each = (made,), [(y,) for y in each]
    for k, y in enumerate(made):
        assert tenfold.allclose(y, tenfold.stack([parts[k] for parts in each]))


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_a_recorded_call(name):
    x = (2 * tenfold.eye(3, dtype=tenfold.float64) + 0.1).requires_grad_()
    assert tenfold.autograd.gradcheck(CALLS[name] if name != "linalg_cholesky" else lambda y: CALLS[name](y @ y.mT), [x])
