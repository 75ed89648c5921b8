"""The words that seed NumPy in a worker, against PyTorch's."""

from __future__ import annotations

import pytest

from tenfold.data.worker_info import numpy_seed

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("base", [0, 5, 2**32, 2**61 + 7, 2**63 - 1])
@pytest.mark.parametrize("worker", [0, 1, 17])
def test_numpy_seed(base: int, worker: int) -> None:
    from torch.utils.data._utils.worker import _generate_state

    assert numpy_seed(base, worker) == _generate_state(base, worker)
