"""nn.init against PyTorch: the same numbers under a seed."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "name",
    [
        "xavier_uniform_",
        "xavier_normal_",
        "kaiming_uniform_",
        "kaiming_normal_",
        "trunc_normal_",
        "orthogonal_",
        "uniform_",
        "normal_",
        "ones_",
        "zeros_",
    ],
)
@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 2, 3)])
def test_init_numbers_are_pytorchs(name, shape):
    arrays = []
    for library in (tenfold, torch):
        library.manual_seed(11)
        arrays.append(getattr(library.nn.init, name)(library.empty(shape)).numpy())
    np.testing.assert_allclose(arrays[0], arrays[1], rtol=1e-5, atol=1e-6)


def test_init_dirac_sparse_and_eye_are_pytorchs():
    for name, shape, args in (("dirac_", (6, 2, 3, 3), (2,)), ("sparse_", (7, 3), (0.5,)), ("eye_", (2, 4), ())):
        arrays = []
        for library in (tenfold, torch):
            library.manual_seed(11)
            arrays.append(getattr(library.nn.init, name)(library.empty(shape), *args).numpy())
        np.testing.assert_allclose(arrays[0], arrays[1], rtol=1e-6, err_msg=name)
