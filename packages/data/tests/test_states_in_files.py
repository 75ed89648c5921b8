"""A loader's state goes through a checkpoint as it is loaded by default: without trusting the file."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tenfold
from tenfold.data import DataLoader, Dataset


class Noisy(Dataset):
    """Samples that need all three generators."""

    def __len__(self):
        return 20

    def __getitem__(self, index):
        return index + random.random() / 4 + np.random.rand() / 4 + tenfold.rand(()).item() / 4


@pytest.mark.timeout(60)
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_a_state_is_saved_and_loaded_by_default(tmp_path, workers, when):
    def make():
        return DataLoader(
            Noisy(), 2, shuffle=True, num_workers=workers, generator=tenfold.Generator().manual_seed(3),
            multiprocessing_context="fork" if workers else None,
        )  # fmt: skip

    loader = make()
    batches = iter(loader) if when != "before" else iter(())
    for _ in range({"before": 0, "during": 3, "after": 99}[when]):
        next(batches, None)
    tenfold.save(loader.state_dict(), tmp_path / "state.pt")
    default = tenfold.get_rng_state(), random.getstate(), np.random.get_state()
    rest = [batch.tolist() for batch in (batches if when == "during" else loader)]
    other = make()
    other.load_state_dict(tenfold.load(tmp_path / "state.pt"))
    tenfold.set_rng_state(default[0])
    random.setstate(default[1])
    np.random.set_state(default[2])
    assert [batch.tolist() for batch in other] == rest
    assert rest
