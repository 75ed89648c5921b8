from __future__ import annotations

import io
import tarfile

import pytest

import tenfold
from tenfold.data import DataLoader
from tenfold.data.pipes import FromIterable
from tenfold.data.readers import CSVReader, LineReader, TarReader


def test_pipes_compose_and_repeat():
    pipe = FromIterable(range(10)).filter(lambda x: x % 3 == 0).map(str).batch(3)
    assert list(pipe) == list(pipe) == [["0", "3", "6"], ["9"]]
    assert list(FromIterable(range(5)).batch(2, drop_last=True)) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_shuffle_gives_each_item_once(size):
    tenfold.manual_seed(0)
    order = list(FromIterable(range(30)).shuffle(size))
    assert sorted(order) == list(range(30))
    assert (order == list(range(30))) is (size == 1)
    assert all(item < position + size for position, item in enumerate(order))


def test_shuffle_repeats_under_a_seed():
    def once():
        return list(FromIterable(range(30)).shuffle(8, tenfold.Generator().manual_seed(3)))

    assert once() == once()


def test_shards_are_disjoint():
    parts = [list(FromIterable(range(7)).shard(3, index)) for index in range(3)]
    assert parts == [[0, 3, 6], [1, 4], [2, 5]]
    assert list(FromIterable("ab").shard()) == ["a", "b"]


@pytest.mark.timeout(60)
def test_a_shard_is_a_worker_s_share():
    loader = DataLoader(FromIterable(range(9)).shard(), None, num_workers=2, multiprocessing_context="fork")
    assert sorted(loader) == list(range(9))


@pytest.mark.parametrize(
    "make",
    [
        lambda pipe: pipe.shuffle(0),
        lambda pipe: pipe.batch(0),
        lambda pipe: pipe.shard(2),
        lambda pipe: pipe.shard(2, 2),
        lambda pipe: pipe.shard(index=0),
    ],
)
def test_wrong_numbers_are_refused(make):
    with pytest.raises(ValueError, match=r"Shuffle|Batch|Shard"):
        make(FromIterable([]))


def test_lines_of_several_files(tmp_path):
    (tmp_path / "a").write_text("one\n\ntwo é")
    (tmp_path / "b").write_text("three\n")
    assert list(LineReader([tmp_path / "a", tmp_path / "b"])) == ["one", "", "two é", "three"]
    with pytest.raises(FileNotFoundError):
        list(LineReader(tmp_path / "c"))


def test_csv_rows_as_dicts_or_lists(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text('name,n\n"x, y",1\n\nz,2\n')
    assert list(CSVReader(file)) == [{"name": "x, y", "n": "1"}, {"name": "z", "n": "2"}]
    assert next(iter(CSVReader(file, header=False))) == ["name", "n"]
    assert list(CSVReader(file).map(lambda row: int(row["n"]))) == [1, 2]
    file.write_text("a\tb\n1\n")
    with pytest.raises(ValueError, match=r"a\.csv, line 2: 1 fields under a header of 2"):
        list(CSVReader(file, delimiter="\t"))
    file.write_text("")
    assert list(CSVReader(file)) == []


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_files_of_a_tar_archive(tmp_path, mode):
    path = tmp_path / "a.tar"
    with tarfile.open(path, mode) as archive:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in (("folder/x.txt", b"one"), ("y.bin", b"")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    pipe = TarReader(path)
    assert list(pipe) == list(pipe) == [("folder/x.txt", b"one"), ("y.bin", b"")]
    (tmp_path / "b.tar").write_text("no archive")
    with pytest.raises(tarfile.ReadError):
        list(TarReader(tmp_path / "b.tar"))
