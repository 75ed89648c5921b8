"""The loader with worker processes: order, seeds, faults, shared memory."""

from __future__ import annotations

import gc
import pickle
import weakref
from itertools import chain

import data_cases as cases
import numpy as np
import pytest

import tenfold
from tenfold.data import DataLoader
from tenfold.multiprocessing.shared import Segment
from tenfold.multiprocessing.transit import Handle

pytestmark = [pytest.mark.timeout(60), pytest.mark.usefixtures("no_leaks")]


def no_room(arrays, size):
    raise OSError("made for this test")


def numbers(loader):
    return [batch[1].tolist() for batch in loader]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_batches_arrive_in_order_and_whole(method):
    loader = DataLoader(cases.Images(11), 3, num_workers=2, multiprocessing_context=method)
    batches = list(loader)
    assert [numbers.tolist() for _, numbers in batches] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]]
    for images, indices in batches:
        assert images.shape == (len(indices), *cases.LARGE)
        assert (images.amax((1, 2)).tolist(), images.amin((1, 2)).tolist()) == (indices.tolist(), indices.tolist())


def test_shuffle_is_that_of_no_workers():
    orders = []
    for workers in (0, 2):
        tenfold.manual_seed(6)
        orders.append(numbers(DataLoader(cases.Images(9), 2, shuffle=True, num_workers=workers)))
    assert orders[0] == orders[1]


def test_batches_in_shared_memory_can_be_written_and_outlive_the_loader():
    loader = DataLoader(cases.Images(4), 2, num_workers=1)
    (first, _), (second, _) = list(loader)
    del loader
    gc.collect()
    first.add_(10)
    view = first[1]
    del first
    gc.collect()
    assert (view.amax().item(), second.amax().item()) == (11.0, 3.0)


def test_more_batches_than_may_be_mapped_are_copied(monkeypatch):
    from tenfold.data import transport

    gc.collect()
    before = Segment.live
    monkeypatch.setattr(transport, "_MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(transport, "_max_mappings", lambda: before + 2)
    batches = list(DataLoader(cases.Images(8), num_workers=1))
    assert 0 < Segment.live - before <= 4  # two more may have arrived that nobody has looked at
    assert [images.amax().item() for images, _ in batches] == list(range(8))
    del batches
    gc.collect()
    assert Segment.live == before


def test_no_room_in_shared_memory_sends_through_the_pipe(monkeypatch):
    monkeypatch.setattr("tenfold.data.transport._MIN_SHARED_BYTES", 0)
    monkeypatch.setattr(Segment, "holding", no_room)
    loader = DataLoader(cases.Images(6), 3, num_workers=1, multiprocessing_context="fork")
    assert [images.amax().item() for images, _ in loader] == [2.0, 5.0]


@pytest.mark.parametrize("pack", ["pack", "pack_small"])
def test_a_packed_batch_is_let_go_at_once(pack):
    from tenfold.data import transport

    large, small = np.zeros(100_000), np.zeros(3)
    alive = [weakref.ref(large), weakref.ref(small)]
    gc.collect()
    gc.disable()  # what waits for it holds a batch's memory, and ended processes when it cleared a buffer before its user
    try:
        packet = getattr(transport, pack)([large, small])
        del large, small
        assert packet.body
        assert [ref() is None for ref in alive] == [True, True]
    finally:
        gc.enable()


def test_packets_keep_every_kind_of_array(monkeypatch):
    from tenfold.data import transport

    big = np.arange(4096.0)
    batch = {
        "big": big,
        "turned": np.arange(6000, dtype=np.int16).reshape(60, 100).T[::-1],
        "empty": np.empty((0, 3), np.float32),
        "scalar": np.array(3, np.uint8),
        "tensor": tenfold.ones(50, 50),
        "text": "x" * 10_000,
        "bytes": bytearray(8000),
        "objects": np.array([1, "a"], object),
        "again": big,
    }
    for way in ("shared", "no room", "small"):
        if way == "no room":
            monkeypatch.setattr(Segment, "holding", no_room)
        if way == "small":
            monkeypatch.setattr(transport, "_MIN_SHARED_BYTES", 1 << 20)
        packet = transport.pack(batch)
        assert [type(block) for block in packet.blocks] == {"shared": [Handle], "no room": [], "small": [bytearray]}[way]
        result = transport.unpack(packet)
        for key in ("big", "turned", "empty", "scalar", "objects"):
            np.testing.assert_array_equal(result[key], batch[key])
            assert result[key].dtype == batch[key].dtype
            assert result[key].flags.writeable
        assert result["again"] is result["big"]
        assert (result["text"], result["bytes"]) == (batch["text"], batch["bytes"])
        assert result["tensor"].sum().item() == 2500


def test_a_dtype_from_outside_numpy_travels():
    from tenfold.data import transport

    ml_dtypes = pytest.importorskip("ml_dtypes")
    for size in (4, 5000):
        array = np.arange(size).astype(ml_dtypes.bfloat16)
        result = transport.unpack(transport.pack(array))
        assert result.dtype == array.dtype
        assert (result == array).all()


@pytest.mark.parametrize("dtype", [tenfold.bfloat16, tenfold.float8_e5m2, tenfold.float16])
def test_tensors_of_dtypes_that_numpy_lacks_travel(dtype):
    batches = list(DataLoader([tenfold.ones(2).to(dtype)] * 2, 2, num_workers=1, multiprocessing_context="fork"))
    assert [(batch.dtype, batch.tolist()) for batch in batches] == [(dtype, [[1.0, 1.0], [1.0, 1.0]])]


def test_gradient_flag_travels():
    from tenfold.data import transport

    tensor = tenfold.ones(3).requires_grad_()
    assert transport.unpack(transport.pack(tensor)).requires_grad is True


def test_seeds_are_per_worker_and_follow_the_main_seed():
    def seeds():
        tenfold.manual_seed(21)
        return list(DataLoader(cases.WorkerSeeds(), None, num_workers=2))

    (id0, seed0, *first), (id1, seed1, *second) = seeds()
    assert ((id0, id1), seed1 - seed0) == ((0, 1), 1)
    assert (first[0], second[0]) == (seed0, seed1)
    assert first[1:] != second[1:]
    assert seeds() == [[id0, seed0, *first], [id1, seed1, *second]]


def test_init_function_runs_in_each_worker():
    loader = DataLoader(cases.ReadEnvironment(), None, num_workers=2, worker_init_fn=cases.set_environment)
    assert list(loader) == [0, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_streams_shared_out_or_not(workers):
    shared = sorted(number for batch in DataLoader(cases.Stream(7), 2, num_workers=workers) for number in batch.tolist())
    assert shared == list(range(7))
    loader = DataLoader(cases.Stream(3, shared_out=False), None, num_workers=workers)
    if workers == 1:
        assert list(loader) == [0, 1, 2]
    else:
        assert len(loader) == 3
        with pytest.warns(UserWarning, match="each worker then gives all of it"):
            assert list(loader) == [0, 0, 1, 1, 2, 2]


def test_streams_of_unequal_length_go_round_the_workers():
    loader = DataLoader(cases.Stream(7), 2, num_workers=2)
    assert [batch.tolist() for batch in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    assert [batch.tolist() for batch in DataLoader(cases.Stream(7), 2, num_workers=2, drop_last=True)] == [[0, 2], [1, 3], [4, 6]]


def test_out_of_order_gives_all_batches():
    loader = DataLoader(cases.Images(9), 2, num_workers=2, in_order=False)
    assert sorted(chain.from_iterable(numbers(loader))) == list(range(9))


@pytest.mark.parametrize("prefetch", [0, 1, 5])
def test_any_prefetch(prefetch):
    assert numbers(DataLoader(cases.Images(5), 2, num_workers=2, prefetch_factor=prefetch)) == [[0, 1], [2, 3], [4]]


def test_persistent_workers_stay_and_start_epochs_afresh():
    loader = DataLoader(cases.Images(6), 2, num_workers=2, persistent_workers=True)
    first = iter(loader)
    pids = first.pool.pids
    next(first)
    assert numbers(loader) == numbers(loader) == [[0, 1], [2, 3], [4, 5]]
    assert iter(loader).pool.pids == pids
    del loader, first
    gc.collect()
    assert cases.gone(pids)
    stream = DataLoader(cases.Stream(4), None, num_workers=2, persistent_workers=True)
    assert list(stream) == list(stream) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [cases.Images, cases.Stream])
@pytest.mark.parametrize("given", [0, 2, 4])
@pytest.mark.parametrize("persistent", [False, True])
def test_resuming_with_workers(kind, given, persistent):
    def make():
        shuffle = True if kind is cases.Images else None
        return DataLoader(kind(11), 2, shuffle, num_workers=2, persistent_workers=persistent, collate_fn=cases.give_list)

    def indices(batches):
        return [[sample[1] if isinstance(sample, tuple) else sample for sample in batch] for batch in batches]

    tenfold.manual_seed(4)
    loader = make()
    running = iter(loader)
    for _ in range(given):
        next(running)
    state = loader.state_dict()
    assert state["batches"] == given
    rest = indices(running)
    other = make()
    other.load_state_dict(state)
    assert indices(other) == rest


@pytest.mark.parametrize("given", [0, 1, 3, 5])
@pytest.mark.parametrize("persistent", [False, True])
def test_resuming_goes_on_with_the_workers_random_numbers(given, persistent):
    def make():
        return DataLoader(cases.Augmented(), 2, True, num_workers=2, persistent_workers=persistent, collate_fn=cases.give_list)

    loader = make()
    if persistent:
        list(loader)
    running = iter(loader)
    for _ in range(given):
        next(running)
    state = loader.state_dict()
    rest = list(running)
    other = make()
    other.load_state_dict(pickle.loads(pickle.dumps(state)))
    resumed = iter(other)
    assert [next(resumed)] == rest[:1]
    again = other.state_dict()
    assert list(resumed) == rest[1:]
    third = make()
    third.load_state_dict(again)
    assert list(third) == rest[1:]


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        (cases.raise_value, ValueError, "the text of the fault"),
        (cases.raise_key, KeyError, "the key at fault"),
        (cases.raise_two, RuntimeError, "TwoArgumentsError"),
        (cases.raise_named, cases.NamedMessageError, "said by name"),
        (cases.raise_local, RuntimeError, "nobody can import this type"),
    ],
)
def test_exceptions_come_with_the_worker_s_traceback(action, kind, text):
    with pytest.raises(kind) as caught:
        list(DataLoader(cases.Failing(action), num_workers=1))
    message = str(caught.value)
    assert type(caught.value) is kind
    assert "in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n" in message
    assert text in message
    assert action.__name__ in message


def test_a_batch_that_cannot_travel_is_an_exception():
    with pytest.raises((AttributeError, RuntimeError, TypeError), match="Caught") as caught:
        list(DataLoader(cases.Failing(cases.return_lambda), None, num_workers=1))
    assert "lambda" in str(caught.value)


def test_the_loader_goes_on_after_an_exception():
    running = iter(DataLoader(cases.Failing(cases.raise_value, at=1), None, num_workers=2))
    assert next(running) == 0
    with pytest.raises(ValueError, match="fault"):
        next(running)
    assert list(running) == [2, 3, 4, 5, 6, 7]


def test_exceptions_of_the_init_function():
    with pytest.raises(ValueError, match="init of 0 failed"):
        list(DataLoader(cases.Images(4), num_workers=1, worker_init_fn=cases.fail_in_init))


def test_batches_of_workers_have_the_dtypes_that_kernels_know():
    """Not only equal ones, as an unpickled dtype is."""
    batch = next(iter(DataLoader(list(tenfold.ones(4, 3)), 2, num_workers=1)))
    assert batch.numpy().dtype is np.dtype(np.float32)


def test_programs_find_the_processes_of_a_pass():
    passing = iter(DataLoader(range(4), num_workers=2))
    alive = [worker.is_alive() for worker in passing._workers]
    assert len(list(passing)) == 4
    assert (alive, [worker.is_alive() for worker in passing._workers]) == ([True, True], [False, False])


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("taken", [0, 2])
def test_a_random_stream_is_resumed_with_the_numbers_of_its_pass(stay, taken):
    def make():
        return DataLoader(cases.Noise(9), None, num_workers=2, persistent_workers=stay)

    loader = make()
    list(loader)
    running = iter(loader)
    for _ in range(taken):
        next(running)
    state = loader.state_dict()
    other = make()
    other.load_state_dict(state)
    resumed = iter(other)
    assert next(resumed) == next(running)
    third = make()
    third.load_state_dict(other.state_dict())
    assert list(resumed) == list(third) == list(running)
