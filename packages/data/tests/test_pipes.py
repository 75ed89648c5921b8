from __future__ import annotations

import csv
import gzip
import io
import json
import tarfile
import threading
import time

import pytest

import tenfold
from tenfold.data import DataLoader, IterDataPipe
from tenfold.data.pipes import FromIterable
from tenfold.data.readers import CSVReader, JSONLinesReader, LineReader, ParquetReader, TarReader, TarSamples


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


def test_pipes_that_combine_and_count():
    letters = FromIterable("abc")
    assert list(letters.zip(range(9), "xyz")) == [("a", 0, "x"), ("b", 1, "y"), ("c", 2, "z")]
    assert list(letters.concat(range(2), letters)) == ["a", "b", "c", 0, 1, "a", "b", "c"]
    assert list(letters.enumerate(5).take(2)) == [(5, "a"), (6, "b")]
    assert list(letters.take(0)) == list(letters.repeat(0)) == list(FromIterable([]).repeat()) == []
    assert list(letters.repeat().take(7)) == list("abcabca")
    assert list(FromIterable(["a b", "", "c"]).flat_map(str.split).repeat(2)) == ["a", "b", "c"] * 2


@pytest.mark.parametrize("wrong", [lambda p: p.take(-1), lambda p: p.repeat(-1), lambda p: p.prefetch(0)])
def test_counts_below_the_least_are_refused(wrong):
    with pytest.raises(ValueError, match="got"):
        wrong(FromIterable("ab"))


def test_a_cache_keeps_whole_passes_only():
    made = []
    pipe = FromIterable(range(3)).map(lambda x: made.append(x) or x).cache()
    next(iter(pipe))
    assert list(pipe) == list(pipe) == [0, 1, 2]
    assert made == [0, 0, 1, 2]


def test_prefetch_runs_ahead_and_stops_when_it_is_let_go():
    made = []
    pipe = FromIterable(range(1000)).map(lambda x: made.append(x) or x).prefetch(4)
    items = iter(pipe)
    assert next(items) == 0
    deadline = time.monotonic() + 20
    while len(made) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert 5 <= len(made) <= 6  # one given, four waiting, one in the thread's hands
    del items
    while any(t.name == "tenfold.data prefetch" for t in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(made) <= 7
    assert list(pipe) == list(range(1000))


def test_an_error_ahead_comes_in_its_turn():
    items = iter(FromIterable([1, 0]).map(lambda x: 1 / x).prefetch(8))
    assert next(items) == 1
    with pytest.raises(ZeroDivisionError):
        next(items)
    with pytest.raises(StopIteration):
        next(items)


PLAIN = FromIterable(range(40))


@pytest.mark.parametrize(
    ("pipe", "whole"),
    [
        (PLAIN.map(str).filter(lambda x: x != "7"), [str(i) for i in range(40) if i != 7]),
        (PLAIN.shuffle(100).map(lambda x: x), range(40)),
        (PLAIN.take(10).map(lambda x: x), range(10)),
        (PLAIN.enumerate().map(lambda p: p[0] - p[1]), [0] * 40),
        (PLAIN.zip(PLAIN.map(lambda x: x)).map(lambda p: p[0] - p[1]), [0] * 40),
        (PLAIN.concat(range(40, 50)).cache().prefetch(), range(50)),
        (PLAIN.flat_map(lambda x: (x, x)), [i // 2 for i in range(80)]),
        (PLAIN.batch(3, drop_last=True).map(tuple).map(sum), [9 * i + 3 for i in range(13)]),
        (PLAIN.shuffle(100).repeat(2).take(40), range(40)),
    ],
)
@pytest.mark.timeout(120)
def test_workers_share_a_pipe_out_by_themselves(pipe, whole):
    loader = DataLoader(pipe, None, num_workers=2, multiprocessing_context="fork", persistent_workers=True)
    for _ in range(2):
        assert sorted(loader) == sorted(whole)


def test_what_a_worker_of_a_mapped_pipe_makes_is_its_share(tmp_path):
    def noted(x):
        with open(tmp_path / "made", "a") as file:
            file.write("x")
        return x

    assert len(list(DataLoader(PLAIN.map(noted), 4, num_workers=2, multiprocessing_context="fork"))) == 10
    assert (tmp_path / "made").stat().st_size == 40


def test_shuffles_in_two_branches_differ():
    pairs = [tuple(p) for p in DataLoader(PLAIN.shuffle(40).zip(PLAIN.shuffle(40)), None, num_workers=1)]
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == list(range(40))
    assert [a for a, _ in pairs] != [b for _, b in pairs]


def test_json_lines_and_packed_text(tmp_path):
    rows = [{"a": 1}, {"a": [None, "ü"]}]
    (tmp_path / "x.jsonl").write_text("\n\n".join(json.dumps(row) for row in rows))
    assert list(JSONLinesReader(tmp_path / "x.jsonl")) == rows
    with gzip.open(tmp_path / "y.txt.gz", "wt") as file:
        file.write("one\ntwo\n")
    assert list(LineReader(tmp_path / "y.txt.gz")) == ["one", "two"]
    (tmp_path / "z.jsonl").write_text("{}\n{oh}\n")
    with pytest.raises(ValueError, match=r"z\.jsonl, line 2: Expecting"):
        list(JSONLinesReader(tmp_path / "z.jsonl"))


def test_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": range(10), "y": [str(i) for i in range(10)]}), tmp_path / "t.parquet")
    assert list(ParquetReader(tmp_path / "t.parquet", batch_rows=4))[7] == {"x": 7, "y": "7"}
    assert list(ParquetReader([tmp_path / "t.parquet"] * 2, columns=["x"]))[-1] == {"x": 9}


def test_samples_of_a_tar(tmp_path):
    def archive(name, *members):
        with tarfile.open(tmp_path / name, "w") as file:
            for member, content in members:
                info = tarfile.TarInfo(member)
                info.size = len(content)
                file.addfile(info, io.BytesIO(content))
        return tmp_path / name

    good = archive("good.tar", ("d/1.jpg", b"J"), ("d/1.cls", b"3"), ("2.seg.png", b"P"), ("2.cls", b"4"))
    assert list(TarSamples(good, {"cls": int})) == [
        {"__key__": "d/1", "jpg": b"J", "cls": 3},
        {"__key__": "2", "seg.png": b"P", "cls": 4},
    ]
    with pytest.raises(ValueError, match=r"good\.tar: d/1\.jpg cannot be decoded: ValueError"):
        list(TarSamples(good, {"jpg": int}))
    with pytest.raises(ValueError, match="comes twice"):
        list(TarSamples(archive("twice.tar", ("1.a", b""), ("1.a", b""))))


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b'\xef\xbb\xbf{"x": 1}\n\xef\xbb\xbf\n')
    assert list(LineReader(path)) == ['{"x": 1}', "\ufeff"]
    path.write_bytes(b"\xef\xbb\xbfx,y\n1,2\n")
    assert list(CSVReader(path)) == [{"x": "1", "y": "2"}]
    assert list(CSVReader(path, encoding="UTF8")) == [{"x": "1", "y": "2"}]
    path.write_bytes(b'\xef\xbb\xbf{"x": 1}\n')
    assert list(JSONLinesReader(path)) == [{"x": 1}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y,x\n1,2,3\n", r"line 1: the header has \['x'\] twice"),
        ("x\n" + "a" * (csv.field_size_limit() + 1), r"line 2: field larger .*csv\.field_size_limit"),
        ("x,y\n1\n", "line 2: 1 fields under a header of 2"),
    ],
)
def test_csv_that_would_lose_something(tmp_path, text, said):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv, {said}"):
        list(CSVReader(path))


def test_empty_lines_before_a_header(tmp_path):
    path = tmp_path / "a.CSV.GZ"
    path.write_bytes(gzip.compress(b"\n\nx,y\n1,2\n"))
    assert list(CSVReader(path)) == [{"x": "1", "y": "2"}]


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "cut.txt.gz"
    path.write_bytes(gzip.compress(b"some text")[:-5])
    with pytest.raises(EOFError) as caught:
        list(LineReader(path))
    assert caught.value.__notes__ == [f"while reading {path}"]
    with pytest.raises(EOFError, match=r"while reading .*cut\.txt\.gz"):
        list(DataLoader(LineReader(path), num_workers=1))


@pytest.mark.parametrize("damage", ["cut in a header", "cut in a member", "a bit", "none", "no end"])
def test_a_damaged_tar_is_no_short_one(tmp_path, damage):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in ("a.txt", "b.txt", "c.txt"):
            member = tarfile.TarInfo(name)
            member.size = 600
            archive.addfile(member, io.BytesIO(b"x" * 600))
    whole, member_bytes = path.read_bytes(), 3 * 512
    flipped = whole[:member_bytes] + bytes([whole[member_bytes] ^ 1]) + whole[member_bytes + 1 :]
    ends = {"cut in a header": member_bytes + 100, "cut in a member": member_bytes + 600, "no end": 3 * member_bytes}
    path.write_bytes(flipped if damage == "a bit" else whole[: ends.get(damage)])
    if damage in ("none", "no end"):
        assert [name for name, _ in TarReader(path)] == ["a.txt", "b.txt", "c.txt"]
    else:
        with pytest.raises(tarfile.ReadError):
            list(TarReader(path))


def test_parquet_columns_that_are_missing(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table({"ab": [1], "s": [{"x": 2, "y": 3}]}), path)
    assert list(ParquetReader(path, columns="ab")) == [{"ab": 1}]
    assert list(ParquetReader(path, columns=["s.x"])) == [{"s": {"x": 2}}]
    with pytest.raises(ValueError, match=r"a\.parquet has no columns \['c'\]; it has \['ab', 's'\]"):
        list(ParquetReader(path, columns=["ab", "c"]))


def test_the_iterator_of_a_pipe_that_is_its_own_has_its_attributes():
    class Counting(IterDataPipe):
        def __init__(self):
            self.at = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.at += 1
            if self.at > 3:
                raise StopIteration
            return self.at

        def last(self):
            return self.at

    steps = iter(Counting())
    assert list(steps) == [1, 2, 3]
    assert steps.last() == 4
    with pytest.raises(AttributeError):
        steps.first()
