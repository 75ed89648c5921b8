from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Spawned workers import the cases by name, and inherit this path.
sys.path.insert(0, str(Path(__file__).parent))

from data_cases import blocks_of

from tenfold.data import download
from tenfold.testing.file_server import serving


@pytest.fixture
def no_leaks():
    """Fails a test that leaves shared memory behind."""
    yield
    assert blocks_of(os.getpid()) == []


@pytest.fixture
def file_server(tmp_path, monkeypatch):
    """A server of the files in its folder."""
    monkeypatch.delenv("TENFOLD_OFFLINE_FOLDER", raising=False)
    monkeypatch.setattr(download, "PAUSE_S", 0.01)
    with serving(tmp_path / "served") as server:
        yield server


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """An empty offline folder, in force."""
    monkeypatch.delenv("TENFOLD_OFFLINE_FOLDER", raising=False)
    folder = tmp_path / "offline"
    folder.mkdir()
    download.set_offline_folder(folder)
    yield folder
    download.set_offline_folder(None)
