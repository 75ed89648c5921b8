"""Saving writes where it was told, whole or not at all, and leaves nothing else behind."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

import tenfold
from tenfold.checkpoint.errors import CheckpointError
from tenfold.checkpoint.files import replaced
from tenfold.checkpoint.safetensors import load_file, save_file

posix = pytest.mark.skipif(os.name != "posix", reason="devices, links and modes of POSIX")


def write_pt(path: Any) -> None:
    tenfold.save({"w": tenfold.ones(3)}, path)


def write_old(path: Any) -> None:
    tenfold.save({"w": tenfold.ones(3)}, path, _use_new_zipfile_serialization=False)


def write_safetensors(path: Any) -> None:
    save_file({"w": tenfold.ones(3)}, path)


WRITERS = [write_pt, write_old, write_safetensors]


def read(path: Path) -> Any:
    return (load_file if path.read_bytes()[:4] not in (b"PK\3\4", b"\x80\x02\x8a\n") else tenfold.load)(path)["w"].tolist()


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_a_device_stays_a_device(write: Any) -> None:
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_a_link_is_written_through(write: Any, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "latest"
    link.symlink_to("far/model")  # which does not exist yet
    for _ in range(2):
        write(link)
        assert link.is_symlink()
        assert read(tmp_path / "far" / "model") == [1.0] * 3
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["far", "latest", "model"]


@posix
def test_a_pipe_gets_the_file(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_pt(pipe)
    reader.join(20)
    assert tenfold.load(io.BytesIO(got[0]))["w"].tolist() == [1.0] * 3
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_modes_are_kept_and_new_files_follow_the_mask(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch()
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        write_pt(old)
        write_pt(new)
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


@pytest.mark.parametrize("write", WRITERS)
def test_missing_folders_are_named_by_the_users_path(write: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^Parent directory \S+/no/such does not exist\.$"):
        write(tmp_path / "no" / "such" / "x")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        write(tmp_path)


def test_an_exception_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(TypeError), replaced(path) as file:
        file.write(object())
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@posix
def test_an_interrupt_stays_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(self: Any) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile._ZipWriteFile, "close", interrupted)  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        tenfold.save(tenfold.ones(3), tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())


def test_what_killed_processes_leave_goes_with_the_next_save(tmp_path: Path) -> None:
    path = tmp_path / "x[1]?*.pt"  # a name in which glob would see patterns
    program = (
        "import sys, time\nfrom tenfold.checkpoint.files import replaced\n"
        "with replaced(sys.argv[1]) as file:\n    file.write(b'half'); file.flush(); print('writing', flush=True); time.sleep(60)"
    )
    mine = tmp_path / f".{path.name}.backup.tmp"  # not one of ours
    mine.write_text("kept")
    children = [subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == b"writing\n"
    children[0].send_signal(signal.SIGKILL)
    children[0].wait()
    assert len(list(tmp_path.iterdir())) == 3
    write_pt(path)
    assert len(list(tmp_path.iterdir())) == 3  # the file, and what the living process writes
    children[1].kill()
    children[1].wait()
    write_pt(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, mine])
    assert read(path) == [1.0] * 3
    for child in children:
        assert child.stdout is not None
        child.stdout.close()


def test_long_names(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_pt(path)
    assert read(path) == [1.0] * 3


class OnlyWrites:
    """A file object without seek, tell, fileno or anything else, which takes a few bytes at a time."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data[:1000]))
        return len(self.parts[-1])


@pytest.mark.parametrize("modern", [True, False])
def test_objects_that_only_write(modern: bool) -> None:
    file = OnlyWrites()
    tenfold.save([tenfold.arange(2000.0)], file, _use_new_zipfile_serialization=modern)
    assert tenfold.load(io.BytesIO(b"".join(file.parts)))[0].sum().item() == 1999000.0


class OnlyReads:
    """A file object with read, readline, seek and tell alone."""

    def __init__(self, data: bytes) -> None:
        file = io.BytesIO(data)
        self.read, self.readline, self.seek, self.tell = file.read, file.readline, file.seek, file.tell


@pytest.mark.parametrize("modern", [True, False])
def test_objects_that_only_read(modern: bool) -> None:
    file = io.BytesIO()
    tenfold.save([tenfold.arange(2000.0)], file, _use_new_zipfile_serialization=modern)
    assert tenfold.load(OnlyReads(file.getvalue()))[0].sum().item() == 1999000.0


def test_an_archive_inside_a_file(tmp_path: Path) -> None:
    with open(tmp_path / "x", "w+b") as file:
        file.write(b"before")
        tenfold.save([tenfold.ones(3)], file)
        file.seek(6)
        assert tenfold.load(file)[0].tolist() == [1.0] * 3


def test_old_files_one_after_the_other() -> None:
    file = io.BytesIO()
    for i in range(3):
        tenfold.save([tenfold.full((2,), float(i))], file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert [tenfold.load(file)[0].tolist() for _ in range(3)] == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


@pytest.mark.parametrize("modern", [True, False])
def test_loading_is_a_processes_first_operation(modern: bool, tmp_path: Path) -> None:
    for given in ({"w": tenfold.ones(2), "i": tenfold.arange(3)}, [tenfold.ones(2, requires_grad=False).bfloat16()]):
        tenfold.save(given, tmp_path / "x", _use_new_zipfile_serialization=modern)
        program = f"import tenfold; print(tenfold.load({str(tmp_path / 'x')!r}, map_location='cpu'))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert "tensor([1., 1.]" in done.stdout, done.stderr


@pytest.mark.parametrize("unaligned", [False, True])
def test_safetensors_lie_in_the_file(tmp_path: Path, unaligned: bool) -> None:
    path = tmp_path / "w.safetensors"
    given = {
        "a": tenfold.arange(6.0).view(2, 3),
        "b": tenfold.tensor([True, False]),
        "c": tenfold.zeros(0, 2),
        "d": tenfold.ones(()),
    }
    save_file(given, path)
    if unaligned:  # as some published files are
        data = path.read_bytes()
        length = int.from_bytes(data[:8], "little") + 1
        path.write_bytes(length.to_bytes(8, "little") + data[8 : 7 + length] + b" " + data[7 + length :])
    before = path.read_bytes()
    loaded = load_file(path, mmap=True)
    assert set(loaded) == set(given)
    assert all(tenfold.equal(loaded[name], tensor) for name, tensor in given.items())
    loaded["a"].add_(1)
    assert path.read_bytes() == before
    assert load_file(path, mmap=True)["a"].tolist() == given["a"].tolist()
    path.write_bytes(before[:-1])
    with pytest.raises(CheckpointError, match="cut short"):
        load_file(path, mmap=True)


LARGER = """
import json, os, resource, sys
from tenfold.checkpoint.safetensors import load_file
path, memory = sys.argv[1], os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
each = 1 << 30
count = 2 * memory // each + 1
about = {"dtype": "F32", "shape": [each // 4]}
header = json.dumps({f"w{i}": {**about, "data_offsets": [i * each, (i + 1) * each]} for i in range(count)})
header += " " * (-len(header) % 8)
with open(path, "wb") as file:  # holes only, which take no room
    file.write(len(header).to_bytes(8, "little") + header.encode())
    file.truncate(8 + len(header) + count * each)
tensors = load_file(path, mmap=True)
assert len(tensors) == count
assert tensors[f"w{count - 1}"][-1000:].sum().item() == 0
tensors["w0"][:10] = 1.0
assert tensors["w0"][:20].sum().item() == 10
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20  # kB
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory there is")
def test_a_file_twice_as_large_as_the_memory(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LARGER, str(tmp_path / "w")], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
