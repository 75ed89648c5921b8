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


class Epochs:
    """A loader's passes as lists, whatever its start method pickles."""

    def __init__(self, pipe, workers, **options):
        self.loader = DataLoader(pipe, None, num_workers=workers, multiprocessing_context="fork" if workers else None, **options)

    def __call__(self):
        return list(self.loader)


@pytest.fixture
def tables(tmp_path):
    for number in range(3):
        rows = "".join(f"{number * 100 + row}\n" for row in range(100))
        (tmp_path / f"{number}.csv").write_text("n\n" + rows)
    return sorted(tmp_path.glob("*.csv"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_shards_behind_a_shuffle_neither_lose_nor_repeat_rows(tables, workers, persistent):
    pipe = CSVReader(tables).shuffle(50).map(lambda row: int(row["n"])).shuffle(20).shard()
    epoch = Epochs(pipe, workers, persistent_workers=persistent and workers > 0)
    passes = [epoch() for _ in range(3)]
    assert all(sorted(rows) == list(range(300)) for rows in passes)
    assert passes[0] != passes[1] != passes[2]  # another order in every epoch


@pytest.mark.timeout(60)
@pytest.mark.parametrize("workers", [0, 2])
def test_readers_of_sharded_paths_read_each_file_once(tmp_path, workers):
    for number in range(4):
        with tarfile.open(tmp_path / f"{number}.tar", "w") as archive:
            for member in range(5):
                info = tarfile.TarInfo(f"{number}_{member}")
                info.size = 1
                archive.addfile(info, io.BytesIO(b"x"))
        (tmp_path / f"{number}.txt").write_text(f"{number}\n")
    tars, texts = sorted(tmp_path.glob("*.tar")), sorted(tmp_path.glob("*.txt"))
    names = Epochs(TarReader(FromIterable(tars).shard()).map(lambda item: item[0]), workers)
    assert sorted(names()) == sorted(names()) == [f"{number}_{member}" for number in range(4) for member in range(5)]
    assert sorted(Epochs(LineReader(FromIterable(texts).shuffle(9).shard()), workers)()) == list("0123")
    assert len(list(LineReader(path for path in texts))) == 4


@pytest.mark.timeout(60)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_sharded_shuffle_is_resumed_in_its_epoch(persistent):
    def make():
        pipe = FromIterable(range(60)).shuffle(30).shard()
        return DataLoader(pipe, None, num_workers=2, multiprocessing_context="fork", persistent_workers=persistent)

    loader = make()
    list(loader)
    whole = iter(loader)
    head = [next(whole) for _ in range(25)]
    state = loader.state_dict()
    rest = list(whole)
    assert sorted(head + rest) == list(range(60))
    other = make()
    other.load_state_dict(state)
    assert list(other) == rest
