"""PyTorch's data pipes where there is no PyTorch: functional forms, passes, branches, workers however they start."""

from __future__ import annotations

import pickle

import data_cases as cases
import pytest

import tenfold
from tenfold.data import DataLoader, IterDataPipe, MapDataPipe, datapipes
from tenfold.data.datapipes.datapipe import pipes_of
from tenfold.data.datapipes.iter import IterableWrapper
from tenfold.data.datapipes.map import SequenceWrapper

pytestmark = pytest.mark.timeout(60)


def test_functional_forms_and_modules():
    assert {"map", "filter", "batch", "shuffle", "zip", "concat", "fork", "demux", "mux"} <= IterDataPipe.functions.keys()
    assert {"map", "batch", "shuffle", "zip", "concat"} == MapDataPipe.functions.keys()
    assert IterableWrapper([1]).map(str).__class__ is datapipes.iter.Mapper
    with pytest.raises(AttributeError, match="has no attribute 'blur'"):
        IterableWrapper([1]).blur()


def test_a_wrapped_list_is_copied_at_each_pass():
    source = [[1], [2]]
    for item in IterableWrapper(source):
        item.append(0)
    assert source == [[1], [2]]
    for item in IterableWrapper(source, deepcopy=False):
        item.append(0)
    assert source == [[1, 0], [2, 0]]
    with pytest.warns(UserWarning, match="can not be deepcopied"):
        assert list(IterableWrapper(x for x in range(2))) == [0, 1]


def test_the_pipes_below_one_are_found_once():
    first, second = IterableWrapper(range(3)).fork(2)
    pipe = first.zip(second.map(str)).batch(2)
    kinds = [type(each).__name__ for each in pipes_of(pipe)]
    assert kinds == ["Batcher", "Zipper", "_Branch", "IterableWrapper", "Mapper", "_Branch"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_what_is_filtered_and_repeat_the_rest(method):
    once, twice = (IterableWrapper(range(10)).shuffle() for _ in range(2))
    options = {"batch_size": None, "num_workers": 2, "multiprocessing_context": method}
    assert sorted(DataLoader(once.sharding_filter(), **options)) == list(range(10))
    loader = DataLoader(twice, **options)
    assert len(loader) == 10
    with pytest.warns(UserWarning, match="each worker then gives all of it"):
        assert sorted(loader) == sorted([*range(10)] * 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_seed_gives_one_order_also_to_workers_that_stay(workers):
    pipe = IterableWrapper(range(40)).shuffle(buffer_size=5).sharding_filter()
    options = {"num_workers": workers, "persistent_workers": workers > 0}
    loader, epochs = DataLoader(pipe, None, **options), []
    for seed in (1, 1, 2):
        tenfold.manual_seed(seed)
        epochs.append(list(loader))
    assert (epochs[0] == epochs[1], epochs[0] == epochs[2]) == (True, False)
    tenfold.manual_seed(2)
    assert list(loader) == epochs[2]


@pytest.mark.parametrize(("workers", "stay"), [(0, False), (2, False), (2, True)])
def test_resuming_in_the_middle_of_a_shuffled_pipe(workers, stay):
    def make():
        pipe = IterableWrapper(range(20)).shuffle(buffer_size=5).sharding_filter()
        generator = tenfold.Generator().manual_seed(5)
        return DataLoader(pipe, None, num_workers=workers, persistent_workers=stay, generator=generator)

    loader = make()
    list(loader)
    running = iter(loader)
    for _ in range(4):
        next(running)
    state = loader.state_dict()
    expected = [list(running), list(loader)]
    other = make()
    other.load_state_dict(state)
    assert [list(other), list(other)] == expected


def test_workers_that_stay_draw_another_common_order_each_epoch():
    tenfold.manual_seed(0)
    pipe = IterableWrapper(range(40)).shuffle().sharding_filter()
    loader = DataLoader(pipe, None, num_workers=2, persistent_workers=True, multiprocessing_context="fork")
    epochs = [list(loader) for _ in range(3)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(40))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_pipes_travel():
    pipe = IterableWrapper(range(6)).shuffle().set_shuffle(False).batch(2)
    assert list(pickle.loads(pickle.dumps(pipe))) == [[0, 1], [2, 3], [4, 5]]
    even, odd = pickle.loads(pickle.dumps(IterableWrapper(range(4)).demux(2, cases.parity)))
    assert (list(even), list(odd)) == ([0, 2], [1, 3])
    assert list(DataLoader(SequenceWrapper([1, 2, 3]).map(float), None, num_workers=1)) == [1.0, 2.0, 3.0]


def without_source(state):
    return {name: value for name, value in state.items() if name != "iterable"}


def refused(pipe):
    raise NotImplementedError


@pytest.mark.parametrize("kind", [IterDataPipe, MapDataPipe])
def test_hooks_say_what_of_a_pipe_is_pickled_and_how(kind):
    pipe = IterableWrapper(range(3)) if kind is IterDataPipe else SequenceWrapper(range(3))
    for set_hook, name in ((kind.set_getstate_hook, "getstate_hook"), (kind.set_reduce_ex_hook, "reduce_ex_hook")):
        try:
            set_hook(refused)
            with pytest.raises(RuntimeError, match=f"Attempt to override existing {name}"):
                set_hook(refused)
        finally:
            set_hook(None)
    try:
        kind.set_getstate_hook(without_source)
        assert "iterable" not in vars(pickle.loads(pickle.dumps(pipe)))
        kind.set_reduce_ex_hook(lambda pipe: (list, ()))
        assert pickle.loads(pickle.dumps(pipe)) == []
        kind.set_reduce_ex_hook(None)
        kind.set_reduce_ex_hook(refused)  # as usual then
        assert type(pickle.loads(pickle.dumps(pipe))) is type(pipe)
    finally:
        kind.set_getstate_hook(None)
        kind.set_reduce_ex_hook(None)
    assert list(pickle.loads(pickle.dumps(pipe))) == [0, 1, 2]
