"""Files served on this machine, and a folder that stands in for the network."""

from __future__ import annotations

import pytest

from tenfold.data import download
from tenfold.testing.file_server import serving


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
