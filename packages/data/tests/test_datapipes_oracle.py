"""PyTorch's data pipes: the same programs give the same items, in the same order under a seed."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import warnings

import pytest

import tenfold
import tenfold.utils.data as ours

torch = pytest.importorskip("torch")
import torch.utils.data as theirs  # noqa: E402

pytestmark = pytest.mark.timeout(120)


def double(x):
    return x * 2


def total(*values):
    return sum(values)


def odd(x):
    return x % 2 == 1


def third(x):
    return x % 3


PROGRAMS = {
    "map": lambda p: p(range(5)).map(double),
    "map column": lambda p: p([(1, 2), (3, 4)]).map(double, input_col=1),
    "map to column": lambda p: p([[1, 2], [3, 4]]).map(double, input_col=1, output_col=0),
    "map to a new column": lambda p: p([(1, 2), (3, 4)]).map(double, 0, -1),
    "map columns": lambda p: p([(1, 2, 3), (3, 4, 5)]).map(total, input_col=[0, 2]),
    "map columns to one": lambda p: p([(1, 2, 3), (3, 4, 5)]).map(total, input_col=[2, 0], output_col=[1]),
    "map keys": lambda p: p([{"a": 1, "b": 2}]).map(total, input_col=["a", "b"], output_col="c"),
    "map keys in place": lambda p: p([{"a": 1, "b": 2}]).map(total, input_col=["b", "a"]),
    "map bad": lambda p: p([1]).map(double, output_col=1),
    "filter": lambda p: p(range(9)).filter(odd),
    "filter column": lambda p: p([(1, 2), (2, 3)]).filter(odd, input_col=1),
    "filter bad": lambda p: p(range(9)).filter(double),
    "batch": lambda p: p(range(10)).batch(4),
    "batch drop": lambda p: p(range(10)).batch(4, drop_last=True),
    "batch zero": lambda p: p(range(10)).batch(0),
    "batch twice": lambda p: p(range(10)).batch(2).batch(2),
    "unbatch": lambda p: p(range(10)).batch(2).batch(2).unbatch(),
    "unbatch two": lambda p: p(range(10)).batch(2).batch(2).unbatch(unbatch_level=2),
    "unbatch all": lambda p: p([1, [2, [3]]]).unbatch(-1),
    "unbatch too deep": lambda p: p(range(3)).unbatch(1),
    "unbatch none": lambda p: p(range(3)).batch(2).unbatch(0),
    "collate": lambda p: p(range(6)).batch(3).collate(list),
    "shuffle": lambda p: p(range(50)).shuffle(),
    "shuffle small": lambda p: p(range(50)).shuffle(buffer_size=7),
    "shuffle one": lambda p: p(range(9)).shuffle(buffer_size=1),
    "shuffle none": lambda p: p(range(9)).shuffle(buffer_size=0),
    "shuffle unbatched": lambda p: p(range(20)).batch(4).shuffle(unbatch_level=1),
    "shuffle off": lambda p: p(range(9)).shuffle().set_shuffle(False),
    "shuffle seeded": lambda p: p(range(9)).shuffle().set_seed(5),
    "shuffle twice": lambda p: p(range(9)).shuffle().map(double).shuffle(buffer_size=4),
    "shard": lambda p: p(range(9)).sharding_filter(),
    "concat": lambda p: p(range(3)).concat(p("ab")),
    "zip": lambda p: p(range(5)).zip(p("abc")),
    "mux": lambda p: p(range(5)).mux(p("abc")),
    "fork": lambda p: _both(p(range(5)).fork(2)),
    "fork of one": lambda p: p(range(5)).fork(1),
    "fork overflow": lambda p: _both(p(range(5)).fork(2, buffer_size=2)),
    "fork none": lambda p: p(range(5)).fork(0),
    "demux": lambda p: _both(p(range(10)).demux(3, third)),
    "demux overflow": lambda p: _both(p(range(10)).demux(3, third, buffer_size=2)),
    "demux out": lambda p: _both(p(range(10)).demux(2, third)),
    "group": lambda p: p(range(10)).groupby(third),
    "group two": lambda p: p(range(10)).groupby(third, group_size=2),
    "group small": lambda p: p(range(12)).groupby(third, buffer_size=5, group_size=3),
    "group short": lambda p: p(range(12)).groupby(third, buffer_size=5, group_size=3, guaranteed_group_size=3),
    "group dropped": lambda p: p(range(12)).groupby(
        third, buffer_size=5, group_size=3, guaranteed_group_size=3, drop_remaining=True
    ),
    "group keys": lambda p: p(range(10)).groupby(third, keep_key=True),
    "unknown": lambda p: p(range(10)).no_such_thing(),
}


def _both(pipes):
    first = pipes[0]
    for other in pipes[1:]:
        first = first.concat(other)
    return first


def run(library, root, make):
    library.manual_seed(3)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pipe = make(root.datapipes.iter.IterableWrapper)
            items = [plain(item) for item in pipe], [plain(item) for item in pipe]
    except Exception as error:  # noqa: BLE001 - its type is compared
        return type(error).__name__
    try:
        length = len(pipe)
    except TypeError:
        length = None
    return items, length


def plain(item):
    return [type(item).__name__, *map(plain, item)] if isinstance(item, (list, tuple)) else item


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_streams_give_the_same_items(name):
    assert run(tenfold, ours, PROGRAMS[name]) == run(torch, theirs, PROGRAMS[name])


MAPS = {
    "map": lambda p: p([1, 2, 3]).map(double),
    "batch": lambda p: p(range(5)).batch(2),
    "batch drop": lambda p: p(range(5)).batch(2, drop_last=True),
    "concat": lambda p: p([1, 2]).concat(p([3])),
    "zip": lambda p: p([1, 2]).zip(p("abc")),
    "shuffle": lambda p: p(range(20)).shuffle(),
    "shuffle of some": lambda p: p(range(20)).shuffle(indices=[3, 5, 9, 1]),
}


@pytest.mark.parametrize("name", list(MAPS))
def test_indexed_pipes_give_the_same_items(name):
    sides = []
    for library, root in ((tenfold, ours), (torch, theirs)):
        library.manual_seed(1)
        pipe = MAPS[name](root.datapipes.map.SequenceWrapper)
        indexed = [plain(pipe[index]) for index in range(len(pipe))] if isinstance(pipe, root.MapDataPipe) else None
        sides.append(([plain(item) for item in pipe], indexed, len(pipe)))
    assert sides[0] == sides[1]


@pytest.mark.parametrize("shuffle", [None, True, False])
@pytest.mark.parametrize("workers", [0, 2])
def test_loaders_give_the_same_batches(workers, shuffle):
    sides = []
    for library, root in ((tenfold, ours), (torch, theirs)):
        library.manual_seed(2)
        pipe = root.datapipes.iter.IterableWrapper(range(30)).shuffle().sharding_filter().map(double)
        loader = root.DataLoader(pipe, 4, shuffle=shuffle, num_workers=workers)
        sides.append([[batch.tolist() for batch in loader] for _ in range(2)])
    assert sides[0] == sides[1]


def test_a_loader_that_shuffles_adds_what_it_needs():
    sides = []
    for root in (ours, theirs):
        with pytest.warns(UserWarning, match="does not contain a `Shuffler`"):
            loader = root.DataLoader(root.datapipes.iter.IterableWrapper(range(30)), 30, shuffle=True)
        sides.append(next(iter(loader)).tolist())
    assert sides[1] == list(range(30))  # PyTorch says that it adds one, and goes on without it
    assert sides[0] != sorted(sides[0]) == sides[1]


def test_files_are_listed_opened_and_read_alike(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("b.txt", "a.txt", "c.csv", "deep/d.txt"):
        (tmp_path / name).write_text(f"in {name}")
    options = [{}, {"masks": "*.txt"}, {"masks": ["*.csv", "a*"], "recursive": True}, {"masks": "*.txt", "recursive": True}]
    for option in options:
        found, expected = (
            list(root.datapipes.iter.FileLister(str(tmp_path), **option).open_files().read_from_stream())
            for root in (ours, theirs)
        )
        assert found == expected
    chunks = [
        list(root.datapipes.iter.FileLister(str(tmp_path), "a*").open_files("rb").read_from_stream(2)) for root in (ours, theirs)
    ]
    assert chunks[0] == chunks[1]


def test_a_pipe_of_ones_own_joins():
    for root, name in ((ours, "plus_ours"), (theirs, "plus_theirs")):

        class Plus(root.IterDataPipe):
            passes = 0

            def __init__(self, source, amount):
                self.source, self.amount = source, amount

            def reset(self):
                self.passes += 1

            def __iter__(self):
                for item in self.source:
                    yield item + self.amount

        root.functional_datapipe(name)(Plus)
        pipe = getattr(root.datapipes.iter.IterableWrapper([1, 2]), name)(10)
        assert (list(pipe), list(pipe), pipe.passes) == ([11, 12], [11, 12], 2)
        with pytest.raises(Exception, match="already taken"):
            root.functional_datapipe(name)(Plus)


def test_only_pipes_have_functional_forms():
    with pytest.raises(TypeError, match="can only decorate"):
        ours.functional_datapipe("other")(dict)


@pytest.mark.parametrize("module", ["iter", "map"])
def test_names_and_signatures(module):
    found, expected = getattr(ours.datapipes, module), getattr(theirs.datapipes, module)
    assert set(expected.__all__) - set(found.__all__) == set()
    for name in found.__all__:
        kinds = [getattr(side, name) for side in (found, expected)]
        of = [inspect.signature(kind.__new__ if name in ("Forker", "Demultiplexer") else kind.__init__) for kind in kinds]
        assert list(of[0].parameters) == list(of[1].parameters), name


def pipes_of(engine):
    return engine.utils.data.datapipes.iter


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except (RuntimeError, ValueError, TypeError, AssertionError, BufferError) as error:
            result = type(error).__name__, "invalidated" in str(error)
    known = [
        str(w.message).split(",")[0].split(".")[0] for w in caught if "buffer size" in str(w.message) or "child" in str(w.message)
    ]
    return result, known


def twice(pipe):
    first = iter(pipe)
    next(first)
    second = iter(pipe)
    return next(second), next(first)


def branches(engine):
    one, other = pipes_of(engine).IterableWrapper(range(4)).fork(2)
    first = iter(one)
    next(first)
    again = iter(one)
    return list(again), list(other), next(first)


def counted(engine):
    pipe = pipes_of(engine).IterableWrapper(range(9)).map(double)
    for value in pipe:
        if value == 6:
            break
    before = pipe._number_of_samples_yielded
    return before, list(pipe), pipe._number_of_samples_yielded


def shares(engine, *, again):
    pipe = pipes_of(engine).IterableWrapper(range(7)).sharding_filter().map(double)
    pipe = pipe.sharding_filter() if again else pipe
    return list(engine.utils.data.graph_settings.apply_sharding(pipe, 3, 1))


def graph(engine):
    source = pipes_of(engine).IterableWrapper(range(7))
    last = source.shuffle().zip(source.batch(2))
    settings = engine.utils.data.graph_settings
    found = engine.utils.data.graph.traverse_dps(last)
    kinds = sorted(
        type(pipe).__name__.removesuffix("IterDataPipe").removesuffix("per") for pipe in settings.get_all_graph_pipes(found)
    )
    return kinds, [len(below) for _, below in found.values()]


def begun_anew(e, parted):
    """Passes that begin while others are under way, and while none of their items was asked for."""
    one, other = parted(pipes_of(e).IterableWrapper(range(6)))
    passes = [iter(one)]
    begun = [next(iter(other))]
    passes.append(iter(one))
    begun += list(zip(one, other, strict=False))
    iter(one)
    return begun, list(zip(one, other, strict=False))


SESSIONS = {
    "fork begun anew": lambda e: begun_anew(e, lambda pipe: pipe.fork(2)),
    "demux begun anew": lambda e: begun_anew(e, lambda pipe: pipe.demux(2, odd)),
    "one pass at a time": lambda e: twice(pipes_of(e).IterableWrapper(range(3))),
    "one pass of a chain": lambda e: twice(pipes_of(e).IterableWrapper(range(3)).map(double)),
    "zip with itself": lambda e: list(zip(*[pipes_of(e).IterableWrapper(range(3))] * 2, strict=False)),
    "branches": branches,
    "fork without end": lambda e: [list(p) for p in pipes_of(e).IterableWrapper(range(3)).fork(2, buffer_size=-1)],
    "demux without end": lambda e: [list(p) for p in pipes_of(e).IterableWrapper(range(3)).demux(2, odd, buffer_size=-1)],
    "counted": counted,
    "map too many": lambda e: type(pipes_of(e).IterableWrapper([(1, 2)]).map(double, input_col=[0, 1])),
    "filter too few": lambda e: type(pipes_of(e).IterableWrapper([(1, 2)]).filter(lambda a, b: True, input_col=0)),
    "sampler": lambda e: type(pipes_of(e).Sampler(iter([1]))),
    "mode": lambda e: type(pipes_of(e).FileOpener(["x"], mode="w")),
    "no length": lambda e: len(pipes_of(e).IterableWrapper(iter([1])).map(double)),
    "share": lambda e: shares(e, again=False),
    "share of a share": lambda e: shares(e, again=True),
    "graph": graph,
}


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions(name):
    assert said(lambda: SESSIONS[name](tenfold)) == said(lambda: SESSIONS[name](torch))


def test_files_may_be_named_beside_folders(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.bin").write_bytes(b"b")
    for masks in ("", "*.bin"):
        roots = [str(tmp_path), str(tmp_path / "a.txt"), str(tmp_path / "b.bin")]
        listed = [sorted(pipes_of(e).FileLister(roots, masks)) for e in (tenfold, torch)]
        assert listed[0] == listed[1]
    for mode in ("b", "rb", "r", "t", "rt"):
        read = [opened_and_read(e, tmp_path / "b.bin", mode) for e in (tenfold, torch)]
        assert read[0] == read[1]


def opened_and_read(engine, path, mode):
    ((_, file),) = pipes_of(engine).FileOpener([str(path)], mode=mode)
    held = file.read()
    file.close()
    return held


def test_branches_are_pickled_while_they_are_read():
    one, other = pipes_of(tenfold).IterableWrapper(range(3)).fork(2)
    next(iter(one))
    assert list(pickle.loads(pickle.dumps(one))) == [0, 1, 2]
    assert list(other) == [0, 1, 2]


@pytest.mark.parametrize("kind", ["iter", "map"])
def test_files_of_pipes(kind: str) -> None:
    """Every pipe is found where PyTorch defines it."""
    theirs = importlib.import_module(f"torch.utils.data.datapipes.{kind}")
    for found in pkgutil.iter_modules(theirs.__path__):
        names = importlib.import_module(f"{theirs.__name__}.{found.name}").__all__
        ours = importlib.import_module(f"tenfold.utils.data.datapipes.{kind}.{found.name}")
        assert [name for name in names if name != "default_fn" and not hasattr(ours, name)] == [], found.name
