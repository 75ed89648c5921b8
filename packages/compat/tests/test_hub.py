"""Models by name from folders, and checkpoints by URL."""

import hashlib
import zipfile

import pytest

import tenfold
from tenfold import hub

CONF = '''
dependencies = ["tenfold"]
import helper


def small(width=1):
    """A small one."""
    return [helper.NAME, width]


def _private():
    pass
'''


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "hubconf.py").write_text(CONF)
    (folder / "helper.py").write_text("NAME = 'helper'")
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_dir", None)
    hub.set_dir(tmp_path / "hub")
    return tmp_path / "hub"


def test_a_folder(repository):
    assert hub.load(str(repository), "small", source="local", width=3) == ["helper", 3]
    assert hub.list(str(repository)) == ["small"]
    assert hub.help(str(repository), "small") == "A small one."
    with pytest.raises(RuntimeError, match="Cannot find callable large"):
        hub.load(str(repository), "large", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        hub.load(str(repository), "small", source="elsewhere")


def test_a_repository_in_the_cache(repository, home):
    home.mkdir()
    repository.rename(home / "owner_name_main")
    assert hub.load("owner/name", "small", verbose=False) == ["helper", 1]


def test_a_repository_that_is_fetched(repository, tmp_path, monkeypatch):
    offline = tmp_path / "offline"
    offline.mkdir()
    with zipfile.ZipFile(offline / "v1", "w") as archive:
        for file in repository.iterdir():
            if file.is_file():
                archive.write(file, f"owner-name-0123/{file.name}")
    monkeypatch.setenv("TENFOLD_OFFLINE_FOLDER", str(offline))
    assert hub.load("owner/name:v1", "small", verbose=False) == ["helper", 1]


def test_a_package_that_is_missing(repository):
    (repository / "hubconf.py").write_text("dependencies = ['surely_missing']")
    with pytest.raises(RuntimeError, match="surely_missing"):
        hub.load(str(repository), "small", source="local")


def test_checkpoints_by_url(tmp_path, home):
    tenfold.save({"w": tenfold.ones(2)}, tmp_path / "file.pt")
    digits = hashlib.sha256((tmp_path / "file.pt").read_bytes()).hexdigest()[:8]
    named = tmp_path / f"model-{digits}.pt"
    (tmp_path / "file.pt").rename(named)
    found = hub.load_state_dict_from_url(named.as_uri(), progress=False, check_hash=True)
    assert found["w"].tolist() == [1.0, 1.0]
    assert (home / "checkpoints" / named.name).exists()
    wrong = tmp_path / "model-00000000.pt"
    named.rename(wrong)
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.load_state_dict_from_url(wrong.as_uri(), progress=False, check_hash=True)
    assert not (home / "checkpoints" / wrong.name).exists()
