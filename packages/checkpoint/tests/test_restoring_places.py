"""Where a storage goes, asked by a `map_location` of a program's own."""

from __future__ import annotations

import io

import pytest

import tenfold
from tenfold import serialization


def test_map_location_of_ones_own_calls_the_default() -> None:
    file = io.BytesIO()
    tenfold.save({"w": tenfold.arange(3.0)}, file)
    file.seek(0)
    loaded = tenfold.load(file, map_location=lambda s, _: serialization.default_restore_location(s, "cpu"))
    assert loaded["w"].tolist() == [0.0, 1.0, 2.0]


def test_a_storage_is_brought_to_another_device_and_no_unknown_one() -> None:
    storage = tenfold.ones(3).untyped_storage()
    assert serialization.default_restore_location(storage, "cpu") is storage
    assert serialization.default_restore_location(storage, "meta").device.type == "meta"
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .* \(tagged with bogus\)"):
        serialization.default_restore_location(storage, "bogus")


def test_files_know_the_class_of_a_storage_by_its_name() -> None:
    assert serialization.normalize_storage_type(tenfold.FloatStorage) is tenfold.FloatStorage
