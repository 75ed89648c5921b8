"""The loader without worker processes: arguments, batching, length, resuming."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from data_cases import Failing, Images, Stream, stop_iteration

import tenfold
from tenfold.data import BatchSampler, DataLoader, DistributedSampler, IterableDataset, RandomSampler, SequentialSampler


def values(loader):
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"num_workers": 1, "prefetch_factor": -1},
        {"persistent_workers": True},
        {"sampler": [1], "shuffle": True},
        {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_sampler": [[1]], "batch_size": None},
        {"batch_sampler": [[1]], "shuffle": True},
        {"batch_sampler": [[1]], "sampler": [1]},
        {"batch_sampler": [[1]], "drop_last": True},
        {"batch_size": None, "drop_last": True},
        {"batch_size": 0},
        {"multiprocessing_context": "fork"},
        {"num_workers": 1, "multiprocessing_context": "thread"},
    ],
)
def test_contradicting_arguments_are_refused(options):
    with pytest.raises(ValueError, match=r"DataLoader|BatchSampler"):
        DataLoader(range(4), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}])
def test_streams_have_their_own_order(options):
    with pytest.raises(ValueError, match="DataLoader with IterableDataset"):
        DataLoader(Stream(3), **options)


def test_context_of_a_wrong_type_is_refused():
    with pytest.raises(TypeError, match="multiprocessing_context"):
        DataLoader(range(4), num_workers=1, multiprocessing_context=3)


def test_batches_with_and_without_the_rest():
    assert values(DataLoader(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert values(DataLoader(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert [len(DataLoader(range(5), 2, drop_last=drop)) for drop in (False, True)] == [3, 2]


def test_no_batching_gives_converted_samples():
    loader = DataLoader(Images(3), batch_size=None)
    assert [number for _, number in loader] == [0, 1, 2]
    assert len(loader) == 3


def test_samplers_decide_the_order():
    assert values(DataLoader(range(9), 2, sampler=[5, 3, 8])) == [[5, 3], [8]]
    assert values(DataLoader(range(9), batch_sampler=[[5, 3], [8]])) == [[5, 3], [8]]
    assert values(DataLoader(range(9), batch_sampler=BatchSampler(SequentialSampler(range(3)), 2, True))) == [[0, 1]]


def test_collate_fn_receives_the_samples():
    assert list(DataLoader(range(3), 2, collate_fn=tuple)) == [(0, 1), (2,)]


def test_attributes_are_pytorch_s():
    loader = DataLoader(range(4), num_workers=1, batch_size=2, shuffle=True)
    assert (loader.batch_size, loader.drop_last, loader.num_workers, loader.prefetch_factor) == (2, False, 1, 2)
    assert isinstance(loader.sampler, RandomSampler)
    assert isinstance(loader.batch_sampler, BatchSampler)
    assert DataLoader(range(4)).prefetch_factor is None
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 3
    loader.num_workers = 2
    loader.multiprocessing_context = "spawn"
    assert loader.multiprocessing_context.get_start_method() == "spawn"


def test_streams_and_their_length():
    assert values(DataLoader(Stream(5), 2)) == [[0, 1], [2, 3], [4]]
    assert values(DataLoader(Stream(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), None)) == [0, 1, 2]
    assert [len(DataLoader(Stream(5), size, drop_last=drop)) for size, drop in ((2, False), (2, True), (None, False))] == [
        3,
        2,
        5,
    ]


def test_a_stream_longer_than_it_said_is_reported():
    class Liar(Stream):
        def __len__(self):
            return 2

    loader = DataLoader(Liar(5), 2)
    assert values(loader) == [[0, 1], [2, 3], [4]]  # nobody was told a length
    passing = iter(loader)
    assert (next(passing).tolist(), len(loader)) == ([0, 1], 1)
    next(passing)  # begun before
    passing = iter(loader)
    next(passing)
    for given in (2, 3):
        with pytest.warns(
            UserWarning, match=rf"reported to be 1 .*, but {given} samples have been fetched\. For multiprocessing"
        ):
            next(passing)
    assert list(DataLoader(Liar(3), None)) == [0, 1, 2]  # list() asks for the length when the pass has begun


def test_a_stream_without_length_has_none():
    class Unknown(Stream):
        __len__ = None

    loader = DataLoader(Unknown(3))
    assert len(values(loader)) == 3
    with pytest.raises(TypeError):
        len(loader)


def test_pinning_without_a_device_warns():
    with pytest.warns(UserWarning, match="pin"):
        assert values(DataLoader(range(2), pin_memory=True)) == [[0], [1]]


def test_too_many_workers_are_warned_of():
    with pytest.warns(UserWarning, match="100000 worker processes"):
        DataLoader(range(2), num_workers=100_000)


def test_shuffle_repeats_under_a_seed_and_changes_between_epochs():
    def epochs(**options):
        loader = DataLoader(range(30), 4, shuffle=True, **options)
        return values(loader), values(loader)

    tenfold.manual_seed(1)
    first = epochs()
    tenfold.manual_seed(1)
    assert first == epochs()
    assert first[0] != first[1]
    own = [epochs(generator=tenfold.Generator().manual_seed(5)) for _ in range(2)]
    assert own[0] == own[1]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("workers", [0, 1])
def test_stop_iteration_in_a_dataset_is_not_the_end_of_the_epoch(workers):
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        list(DataLoader(Failing(stop_iteration), num_workers=workers, multiprocessing_context="fork" if workers else None))


def _loaders():
    def seeded():
        return tenfold.Generator().manual_seed(8)

    return {
        "shuffle": lambda: DataLoader(range(13), 3, shuffle=True),
        "generator": lambda: DataLoader(range(13), 3, shuffle=True, generator=seeded()),
        "sampler": lambda: DataLoader(range(13), 3, sampler=RandomSampler(range(13), True, 20, seeded())),
        "batch_sampler": lambda: DataLoader(range(13), batch_sampler=BatchSampler(RandomSampler(range(13)), 3, False)),
        "stream": lambda: DataLoader(Stream(13), 3),
        "distributed": lambda: DataLoader(range(13), 3, sampler=DistributedSampler(range(13), 1, 0)),
    }


@pytest.mark.parametrize("kind", _loaders())
@pytest.mark.parametrize("given", [0, 2, 5])
def test_resuming_gives_the_rest_of_the_epoch(kind, given):
    make = _loaders()[kind]
    tenfold.manual_seed(11)
    loader = make()
    values(loader)
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(1)
    running = iter(loader)
    for _ in range(given):
        next(running)
    state = loader.state_dict()
    rest = values(running)
    tenfold.manual_seed(99)
    other = make()
    other.load_state_dict(state)
    assert other.state_dict()["batches"] == given
    assert values(other) == rest


def test_resuming_keeps_the_epochs_after_it():
    def make():
        return DataLoader(range(13), 3, shuffle=True, generator=tenfold.Generator().manual_seed(2))

    loader = make()
    running = iter(loader)
    next(running)
    state = loader.state_dict()
    expected = [values(running), values(loader), values(loader)]
    other = make()
    other.load_state_dict(state)
    assert [values(other), values(other), values(other)] == expected


def test_resuming_between_epochs_and_after_a_break():
    tenfold.manual_seed(0)
    loader = DataLoader(range(13), 3, shuffle=True)
    values(loader)
    between = loader.state_dict()
    second = values(loader)
    for _ in loader:
        break
    assert loader.state_dict()["batches"] == 1
    other = DataLoader(range(13), 3, shuffle=True)
    other.load_state_dict(between)
    assert (between["batches"], values(other)) == (0, second)


def test_a_pass_of_which_nothing_was_taken_yet_draws_its_order_later():
    loader = DataLoader(range(13), 3, shuffle=True)
    running = iter(loader)
    tenfold.rand(5)
    state = loader.state_dict()
    expected = [values(running), tenfold.rand(1).item()]
    other = DataLoader(range(13), 3, shuffle=True)
    other.load_state_dict(state)
    assert [values(other), tenfold.rand(1).item()] == expected


def test_resuming_in_mid_epoch_leaves_the_default_generator_alone():
    loader = DataLoader(range(13), 3, shuffle=True)
    next(iter(loader))
    state = loader.state_dict()
    tenfold.manual_seed(7)
    expected = tenfold.rand(3).tolist()
    tenfold.manual_seed(7)
    loader.load_state_dict(state)
    values(loader)
    assert tenfold.rand(3).tolist() == expected


def test_resuming_needs_a_whole_state_of_a_like_loader():
    loader = DataLoader(range(3), generator=tenfold.Generator())
    with pytest.raises(ValueError, match="lacks"):
        loader.load_state_dict({"batches": 1})
    loader.load_state_dict(DataLoader(range(3)).state_dict())
    with pytest.raises(ValueError, match="this loader has"):
        iter(loader)


def test_import_is_light():
    program = (
        "import sys, tenfold; before = set(sys.modules); import tenfold.data; "
        "print([n for n in set(sys.modules) - before if n.startswith(('multiprocessing', '_posixshmem')) or n.endswith('.pool')])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"


def test_a_pass_is_shown_where_asked(capsys):
    loader = DataLoader(range(6), batch_size=2, progress="epoch 1")
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5]]
    told = capsys.readouterr().err
    assert "epoch 1" in told
    assert "3/3" in told


def test_a_pass_has_the_length_of_its_sampler():
    assert len(iter(DataLoader(range(7), batch_size=3))) == 3


class Shy(IterableDataset):
    """A stream that does not want to be asked for its length."""

    def __iter__(self):
        return iter(range(5))

    def __len__(self):
        raise NotImplementedError


def test_a_stream_whose_length_is_an_error_can_be_passed_over():
    assert [batch.tolist() for batch in DataLoader(Shy(), batch_size=3)] == [[0, 1, 2], [3, 4]]
    with pytest.raises(TypeError):
        len(iter(DataLoader(Shy())))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda loader: pickle.loads(pickle.dumps(loader))])
@pytest.mark.parametrize("begun", [False, True])
def test_loaders_are_copied_and_pickled(copied, begun):
    loader = DataLoader(range(5), 2, shuffle=True, generator=tenfold.Generator().manual_seed(1))
    passing = iter(loader) if begun else None
    assert sorted(index for batch in values(copied(loader)) for index in batch) == [0, 1, 2, 3, 4]
    assert passing is None or len(passing) == 3


def test_a_copy_has_workers_of_its_own():
    loader = DataLoader(range(5), 2, num_workers=1, persistent_workers=True)
    expected = values(loader)
    other = copy.copy(loader)
    assert other._living() is None
    assert values(other) == values(loader) == expected
