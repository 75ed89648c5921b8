"""Downloads over HTTP from this machine: whole, resumed, dropped, wrong, redirected, offline; and unpacking."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import urllib.error
import zipfile
from types import SimpleNamespace

import pytest

from tenfold.data import download
from tenfold.data.archive import download_and_extract_archive, extract_archive
from tenfold.data.download import calculate_md5, check_integrity, check_md5, download_url

DATA = bytes(range(256)) * 40
MD5 = hashlib.md5(DATA).hexdigest()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "data" / "file.bin"


@pytest.fixture
def served(file_server):
    (file_server.folder / "file.bin").write_bytes(DATA)
    return file_server


def fetch(server, target, md5=MD5, path="file.bin"):
    download_url(server.url + path, target.parent, md5=md5)


def test_a_download_arrives_whole_under_its_own_name(served, target):
    fetch(served, target)
    assert target.read_bytes() == DATA
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


def test_a_right_file_is_not_fetched_again(served, target):
    fetch(served, target)
    fetch(served, target)
    assert len(served.ranges) == 1


def test_a_wrong_file_is_replaced(served, target):
    target.parent.mkdir()
    target.write_bytes(b"old")
    fetch(served, target)
    assert target.read_bytes() == DATA


def test_a_part_is_resumed(served, target):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(DATA[:1000])
    fetch(served, target)
    assert served.ranges == ["bytes=1000-"]
    assert target.read_bytes() == DATA


def test_a_server_that_cannot_resume_starts_over(served, target):
    served.resumes = False
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(DATA[:1000])
    fetch(served, target)
    assert target.read_bytes() == DATA


def test_a_part_of_another_file_is_thrown_away(served, target):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(b"x" * 1000)
    fetch(served, target)
    assert served.ranges == ["bytes=1000-", None]
    assert target.read_bytes() == DATA


@pytest.mark.parametrize("part", [DATA, DATA + b"more"])
def test_a_part_that_is_long_enough(served, target, part):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(part)
    fetch(served, target)
    assert target.read_bytes() == DATA


def test_a_dropped_connection_is_taken_up_where_it_stopped(served, target):
    served.drops = 2
    fetch(served, target)
    half = len(DATA) // 2
    assert served.ranges == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]
    assert target.read_bytes() == DATA


def test_a_connection_that_keeps_dropping_leaves_the_part(served, target):
    served.drops = 99
    with pytest.raises(urllib.error.URLError, match="failed 3 times"):
        fetch(served, target)
    assert not target.exists()
    served.drops = 0
    fetch(served, target)
    assert target.read_bytes() == DATA


def test_a_connection_may_drop_as_often_as_it_brings_something(served, target):
    served.drops = 8
    fetch(served, target)
    assert target.read_bytes() == DATA
    assert len(served.ranges) == 9


def test_letters_beyond_ascii_in_a_url(served, target):
    (served.folder / "%C3%A9.bin").write_bytes(DATA)  # as it is asked for
    fetch(served, target, path="é.bin")
    assert target.with_name("é.bin").read_bytes() == DATA


def test_a_length_that_is_no_number_is_not_known():
    assert download._total(SimpleNamespace(status=200, headers={"Content-Length": "many"})) is None


def test_a_wrong_checksum_leaves_nothing(served, target):
    with pytest.raises(RuntimeError, match=f"MD5 checksum {MD5}, expected 0000"):
        fetch(served, target, md5="0000")
    assert list(target.parent.iterdir()) == []


def test_a_missing_file_is_the_servers_error(served, target):
    with pytest.raises(urllib.error.HTTPError, match=r"404.*/absent\.bin") as caught:
        fetch(served, target, path="absent.bin")
    caught.value.close()
    assert not target.exists()


@pytest.mark.parametrize("path", ["ok%2F..%2F..%2Fevil.bin", "a/..%5C..%5Cevil.bin", "evil.bin?x=/../../a"])
def test_an_encoded_name_stays_in_its_folder(served, target, path):
    name = "evil.bin"
    (served.folder / "evil.bin").write_bytes(DATA)
    target.parent.mkdir()
    with contextlib.suppress(urllib.error.HTTPError):  # what the server makes of it does not matter here
        download_url(served.url + path, target.parent)
    assert [p for p in target.parents[1].rglob("evil.bin*") if p.parent not in (served.folder, target.parent)] == []
    with pytest.raises(ValueError, match="names no file"):
        download_url(served.url + "x%2F..", target.parent)
    assert download.name_in(served.url + path) == name


def test_one_of_several_processes_fetches(served, target):
    program = "import sys; from tenfold.data.download import download_url; download_url(*sys.argv[1:])"
    command = [sys.executable, "-c", program, served.url + "file.bin", str(target.parent)]
    children = [subprocess.Popen(command) for _ in range(4)]
    assert [child.wait(60) for child in children] == [0] * 4
    assert len(served.ranges) == 1
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]
    assert target.read_bytes() == DATA


def test_a_busy_server_is_asked_again(served, target):
    served.busy = 2
    fetch(served, target)
    assert target.read_bytes() == DATA
    served.busy = 99
    with pytest.raises(urllib.error.HTTPError, match=r"503.*absent\.bin") as caught:
        fetch(served, target, path="absent.bin")
    assert caught.value.code == 503


def test_a_broken_chunked_transfer_is_taken_up_again(served, target):
    served.chunked, served.drops = True, 1
    fetch(served, target)
    assert target.read_bytes() == DATA
    target.unlink()
    served.drops = 99
    with pytest.raises(urllib.error.URLError, match=r"file\.bin: the connection failed 3 times"):
        fetch(served, target)


def test_a_part_of_another_version_is_not_gone_on_with(served, target):
    served.tag, served.drops = '"1"', 99
    with pytest.raises(urllib.error.URLError):
        fetch(served, target, md5=None)
    served.drops, served.tag = 0, '"2"'
    (served.folder / "file.bin").write_bytes(DATA[::-1])
    fetch(served, target, md5=None)
    assert target.read_bytes() == DATA[::-1]
    assert served.requests[-1]["If-Range"] == '"1"'
    assert [path.name for path in target.parent.iterdir()] == ["file.bin"]


def test_a_part_of_nobody_knows_what_is_thrown_away(served, target):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(b"x" * 1000)
    fetch(served, target, md5=None)
    assert served.ranges == [None]
    assert target.read_bytes() == DATA


def test_an_interrupted_part_is_gone_on_with_if_it_is_the_same(served, target):
    served.tag, served.drops = '"1"', 99
    with pytest.raises(urllib.error.URLError):
        fetch(served, target, md5=None)
    assert target.with_name("file.bin.part").stat().st_size > 0
    served.drops = 0
    fetch(served, target, md5=None)
    assert served.ranges[-1] is not None
    assert target.read_bytes() == DATA


def test_an_answer_of_another_range_is_refused(served, target):
    served.lies = True
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(DATA[:1000])
    fetch(served, target)
    assert target.read_bytes() == DATA


def test_no_network_names_the_url(target):
    with pytest.raises(urllib.error.URLError, match=r"http://127\.0\.0\.1:9/file\.bin"):
        download_url("http://127.0.0.1:9/file.bin", target.parent)


def test_no_network_says_where_to_put_the_file(target):
    with pytest.raises(urllib.error.URLError, match=rf"put the file at {target}, or file\.bin into a folder"):
        download_url("http://127.0.0.1:9/file.bin", target.parent)


def test_sha256(served, target):
    fetch(served, target, md5=hashlib.sha256(DATA).hexdigest())
    assert target.read_bytes() == DATA
    with pytest.raises(RuntimeError, match=r"SHA-256 checksum .*, expected 0000"):
        fetch(served, target, md5="0" * 64)


def test_a_terminal_sees_how_far_it_is(served, target, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    fetch(served, target)
    shown = sys.stderr.getvalue()
    assert shown.startswith("\rfile.bin  [")
    assert "100 %" in shown


def test_a_proxy_is_honoured(served, target, monkeypatch):
    monkeypatch.setenv("http_proxy", served.url)
    monkeypatch.setenv("no_proxy", "")
    (served.folder / "http:").mkdir()  # a proxy is asked for the whole address
    (served.folder / "http:" / "elsewhere.invalid").mkdir()
    (served.folder / "http:" / "elsewhere.invalid" / "file.bin").write_bytes(DATA)
    download_url("http://elsewhere.invalid/file.bin", target.parent, md5=MD5)
    assert target.read_bytes() == DATA


def test_redirects_are_followed_up_to_a_limit(served, target):
    fetch(served, target, path="redirect/redirect/file.bin")
    assert target.read_bytes() == DATA
    target.unlink()
    with pytest.raises(urllib.error.HTTPError, match="redirect") as caught:
        download_url(served.url + "redirect/" * 5 + "file.bin", target.parent)
    caught.value.close()


def test_the_offline_folder_stands_in_for_the_network(offline, target):
    (offline / "file.bin").write_bytes(DATA)
    download_url("http://127.0.0.1:9/somewhere/file.bin", target.parent, md5=MD5)
    assert target.read_bytes() == DATA
    assert (offline / "file.bin").exists()
    with pytest.raises(FileNotFoundError, match=r"has no file other\.bin"):
        download_url("http://127.0.0.1:9/other.bin", target.parent)


def test_the_offline_folder_by_environment(tmp_path, target, monkeypatch):
    (tmp_path / "file.bin").write_bytes(b"wrong")
    monkeypatch.setenv("TENFOLD_OFFLINE_FOLDER", str(tmp_path))
    with pytest.raises(RuntimeError, match="expected"):
        download_url("http://127.0.0.1:9/file.bin", target.parent, md5=MD5)


def test_checksums(tmp_path):
    file = tmp_path / "a"
    assert not check_integrity(file)
    file.write_bytes(b"abc")
    assert calculate_md5(file) == "900150983cd24fb0d6963f7d28e17f72"  # RFC 1321, A.5
    assert check_md5(file, "900150983CD24FB0D6963F7D28E17F72")
    assert check_integrity(file)
    assert not check_integrity(file, "0")


def tar_bytes(mode, name="inner.txt"):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w:{mode}") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(DATA)
        tar.addfile(entry, io.BytesIO(DATA))
    return file.getvalue()


def zip_bytes(name="inner.txt"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, DATA)
    return file.getvalue()


ARCHIVES = {
    "a.tar": (tar_bytes, [""], "inner.txt"),
    "a.tar.gz": (tar_bytes, ["gz"], "inner.txt"),
    "a.tgz": (tar_bytes, ["gz"], "inner.txt"),
    "a.tar.xz": (tar_bytes, ["xz"], "inner.txt"),
    "a.zip": (zip_bytes, [], "inner.txt"),
    "a.gz": (gzip.compress, [DATA], "a"),
    "a.txt.bz2": (bz2.compress, [DATA], "a.txt"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_unpacking(tmp_path, name):
    make, arguments, member = ARCHIVES[name]
    (tmp_path / name).write_bytes(make(*arguments))
    extract_archive(tmp_path / name, remove_finished=True)
    assert (tmp_path / member).read_bytes() == DATA
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.tar", "a.zip"])
def test_another_process_may_make_the_folders_meanwhile(tmp_path, monkeypatch, name):
    """Two processes unpack into one folder: what one looked for and did not find, the other makes before it does."""
    content = tar_bytes("", "one/two/file.bin") if name == "a.tar" else zip_bytes("one/two/file.bin")
    (tmp_path / name).write_bytes(content)
    found = os.path.exists

    def found_too_late(path):
        before = found(path)
        if os.path.basename(path) in {"up", "one", "two"}:
            os.makedirs(path, exist_ok=True)
        return before

    monkeypatch.setattr(os.path, "exists", found_too_late)
    extract_archive(tmp_path / name, tmp_path / "up")
    assert (tmp_path / "up" / "one" / "two" / "file.bin").read_bytes() == DATA


def test_an_archive_cannot_write_outside_its_folder(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_bytes("", "../outside.txt"))
    with pytest.raises(tarfile.OutsideDestinationError):
        extract_archive(tmp_path / "a.tar", tmp_path / "in")
    assert not (tmp_path / "outside.txt").exists()


def test_an_unknown_archive_is_named(tmp_path):
    (tmp_path / "a.rar").write_bytes(b"")
    with pytest.raises(RuntimeError, match=r"cannot unpack a\.rar"):
        extract_archive(tmp_path / "a.rar")


def test_download_and_extract(file_server, tmp_path):
    (file_server.folder / "a.zip").write_bytes(zip_bytes())
    download_and_extract_archive(file_server.url + "a.zip", tmp_path / "down", tmp_path / "up", remove_finished=True)
    assert (tmp_path / "up" / "inner.txt").read_bytes() == DATA
    assert not (tmp_path / "down" / "a.zip").exists()


def test_a_tar_that_is_cut_off_is_not_half_unpacked(tmp_path):
    whole = tmp_path / "whole.tar"
    with tarfile.open(whole, "w") as archive:
        for name in ("a", "b"):
            member = tarfile.TarInfo(name)
            member.size = 10
            archive.addfile(member, io.BytesIO(b"0123456789"))
    (tmp_path / "cut.tar").write_bytes(whole.read_bytes()[: 2 * 512 + 100])  # in the second header
    with pytest.raises(tarfile.ReadError, match=r"at byte 1024: .* not whole"):
        extract_archive(tmp_path / "cut.tar", tmp_path / "in")
