"""Files of datasets: fetched where they are not there, and unpacked."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tenfold.data.download import set_offline_folder
from tenfold.text.utils import download_from_url, extract_archive, validate_file

TEXT = b"ein Hund\nzwei Hunde\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def served(tmp_path):
    """A folder in place of the network."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "train.de").write_bytes(TEXT)
    (folder / "train.de.gz").write_bytes(gzip.compress(TEXT))
    set_offline_folder(folder)
    yield folder
    set_offline_folder(None)


def test_downloaded_once(served, tmp_path):
    path = download_from_url("https://example.org/train.de", root=tmp_path / "data", hash_value=SHA256)
    assert path == str(tmp_path / "data" / "train.de")
    (served / "train.de").write_bytes(b"other")
    assert Path(download_from_url("https://example.org/train.de", root=tmp_path / "data")).read_bytes() == TEXT
    with pytest.raises(RuntimeError, match="has not the checksum"):
        download_from_url("https://example.org/train.de", root=tmp_path / "data", hash_value="0" * 64)
    again = download_from_url("https://example.org/train.de", path=path, overwrite=True)
    assert Path(again).read_bytes() == b"other"
    with pytest.raises(ValueError, match="known are 'sha256' and 'md5'"):
        download_from_url("https://example.org/train.de", hash_type="crc")


def test_unpacked(served, tmp_path):
    (single,) = extract_archive(download_from_url("https://example.org/train.de.gz", root=tmp_path / "one"))
    assert single == str(tmp_path / "one" / "train.de")
    assert Path(single).read_bytes() == TEXT
    with tarfile.open(tmp_path / "two.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("folder/a.txt")
        member.size = len(TEXT)
        tar.addfile(member, io.BytesIO(TEXT))
    with zipfile.ZipFile(tmp_path / "three.zip", "w") as archive:
        archive.writestr("b/", "")
        archive.writestr("b/c.txt", TEXT)
    (first,) = extract_archive(tmp_path / "two.tar.gz", tmp_path / "to")
    (second,) = extract_archive(tmp_path / "three.zip", tmp_path / "to")
    assert (first, second) == (str(tmp_path / "to/folder/a.txt"), str(tmp_path / "to/b/c.txt"))
    Path(first).write_bytes(b"changed")
    extract_archive(tmp_path / "two.tar.gz", tmp_path / "to")
    assert Path(first).read_bytes() == b"changed"
    extract_archive(tmp_path / "two.tar.gz", tmp_path / "to", overwrite=True)
    assert Path(first).read_bytes() == TEXT
    with pytest.raises(NotImplementedError, match="cannot unpack"):
        extract_archive(served / "train.de")


def test_checksums():
    assert validate_file(io.BytesIO(TEXT), SHA256)
    assert not validate_file(io.BytesIO(TEXT), "0" * 64)
    with pytest.raises(ValueError, match="crc"):
        validate_file(io.BytesIO(TEXT), "0", "crc")
