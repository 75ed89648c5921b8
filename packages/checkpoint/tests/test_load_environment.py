"""What the environment says about trust in files, as it does to PyTorch."""

import io

import pytest

import tenfold


class Own:
    """No plain container."""


@pytest.fixture
def file():
    made = io.BytesIO()
    tenfold.save(Own(), made)
    made.seek(0)
    return made


def test_files_are_not_trusted_whatever_the_program_says(file, monkeypatch):
    assert type(tenfold.load(file, weights_only=False)).__name__ == "Own"
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    file.seek(0)
    with pytest.raises(RuntimeError, match="Weights only load failed"):
        tenfold.load(file, weights_only=False)


def test_files_are_trusted_unless_the_program_says_otherwise(file, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "true")
    assert type(tenfold.load(file)).__name__ == "Own"
    file.seek(0)
    with pytest.raises(RuntimeError, match="Weights only load failed"):
        tenfold.load(file, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        tenfold.load(file)
