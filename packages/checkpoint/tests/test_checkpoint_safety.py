"""Loading makes nothing that a file only claims: hostile files, files changed at random, bounded memory and time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile import corpus

import tenfold
from tenfold.checkpoint.errors import CheckpointError, EmptyFileError
from tenfold.checkpoint.safetensors import load_file, load_metadata

FUZZ = Path(__file__).parent / "hostile" / "fuzz.py"


def fuzz(*options: str) -> Any:
    done = subprocess.run([sys.executable, str(FUZZ), *options], capture_output=True, text=True, timeout=100)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited with RLIMIT_AS")
@pytest.mark.parametrize("kind", ["pt", "safetensors"])
@pytest.mark.parametrize("options", [("--corpus",), ("--count", "400", "--seed", "1")])
def test_nothing_but_our_exception_in_bounded_memory_and_time(kind: str, options: tuple[str, ...]) -> None:
    found = fuzz("--kind", kind, *options)
    assert found["faults"] == []


@pytest.mark.parametrize(("name", "data"), [*corpus.tensors_files()], ids=lambda value: value if isinstance(value, str) else "")
def test_hostile_safetensors(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=r"w\.safetensors"):
        load_file(path)


def test_a_small_storage_reads_no_other_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(corpus.archive(corpus.tensor((1000,), (1,), 0, 0), {"data/0": b""}))
    with pytest.raises(CheckpointError, match=r"x\.pt: data\.pkl: corrupt .*size \(1000,\).*storage of 0 float32 elements"):
        tenfold.load(path)
    path.write_bytes(corpus.archive(corpus.tensor((2, 3), (0, 1), 1, 4), {"data/0": bytes(16)}))
    assert tenfold.load(path).shape == (2, 3)  # what overlaps is no lie


def test_the_exception_is_both_of_pytorchs() -> None:
    import pickle

    assert issubclass(CheckpointError, pickle.UnpicklingError)
    assert issubclass(CheckpointError, RuntimeError)
    assert issubclass(EmptyFileError, EOFError)


def test_the_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(corpus.archive(corpus.tensor((4,), (1,), 0, 4), {}))
    with pytest.raises(CheckpointError) as caught:
        tenfold.load(path)
    assert caught.value.file == str(path)
    assert caught.value.place == "record 'data/0'"


def test_what_a_map_location_raises_stays_what_it_is(tmp_path: Path) -> None:
    tenfold.save([tenfold.ones(1)], tmp_path / "x.pt")

    def location(storage: Any, where: str) -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        tenfold.load(tmp_path / "x.pt", map_location=location)


def test_metadata_is_text_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(corpus.tensors_file({"__metadata__": {"a": 1}}))
    with pytest.raises(CheckpointError, match="text by name"):
        load_metadata(path)
    path.write_bytes(corpus.tensors_file({"__metadata__": {"a": "b"}}))
    assert load_metadata(path) == {"a": "b"}
    assert load_file(path) == {}
