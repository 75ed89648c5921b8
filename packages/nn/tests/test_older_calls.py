"""Calls as older programs write them: they do what they did, and warn."""

import pytest

import tenfold
import tenfold.nn.functional as F

TABLE = tenfold.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_bags_of_a_table_and_indices_the_other_way_round():
    indices, offsets = tenfold.tensor([0, 1, 1]), tenfold.tensor([0, 2])
    with pytest.warns(
        UserWarning, match=r"Argument order of nn.functional.embedding_bag was changed.*`embedding_bag\(weight, input"
    ):
        found = F.embedding_bag(TABLE, indices, offsets, mode="sum")
    assert found.tolist() == F.embedding_bag(indices, TABLE, offsets, mode="sum").tolist() == [[4, 6], [3, 4]]
