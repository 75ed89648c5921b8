"""Batches that workers stack in shared memory: the same values, without a second copy on their way."""

from __future__ import annotations

import gc
import weakref

import data_cases as cases
import numpy as np
import pytest

import tenfold
from tenfold.data import DataLoader, default_collate, stacking, transport, worker_info
from tenfold.multiprocessing.shared import AVAILABLE, Segment, on_span
from tenfold.multiprocessing.transit import Handle

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.usefixtures("no_leaks"),
    pytest.mark.skipif(not AVAILABLE, reason="tensors share memory between processes on Linux only"),
]
SHAPE = (64, 64, 3)


class Pictures(cases.Images):
    """Sample i is a picture full of i, turned so that its memory is in another order, and its number."""

    def __getitem__(self, index):
        return tenfold.full(SHAPE, float(index)).permute(2, 0, 1), index


@pytest.fixture
def in_worker(monkeypatch):
    monkeypatch.setattr(worker_info, "_worker_info", worker_info.WorkerInfo(0, 1, 0, None))


def samples(count=8, dtype=tenfold.float32):
    return [(tenfold.arange(number, number + 64 * 64 * 3) % 251).reshape(SHAPE).to(dtype) for number in range(count)]


def lies_shared(tensor):
    return tensor.untyped_storage().is_shared()


def refuse(*arguments):
    raise OSError("made for this test")


def test_workers_give_what_the_main_process_gives():
    expected = list(DataLoader(Pictures(11), 6))
    found = list(DataLoader(Pictures(11), 6, num_workers=1))
    for (images, numbers), (reference, indices) in zip(found, expected, strict=True):
        assert (images.shape, images.dtype, images.stride()) == (reference.shape, reference.dtype, reference.stride())
        assert numbers.tolist() == indices.tolist()
        assert (images == reference).all()
        images.add_(1)  # it can be written


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.uint8, tenfold.bfloat16, tenfold.bool])
def test_a_large_batch_is_stacked_in_shared_memory_and_sent_without_a_copy(in_worker, monkeypatch, dtype):
    parts = samples(32, dtype)
    batch = default_collate(parts)
    assert lies_shared(batch)
    assert (batch == tenfold.stack(parts)).all()
    monkeypatch.setattr(Segment, "holding", refuse)
    packet = transport.pack([batch, batch[3:]])
    assert [type(block) for block in packet.blocks] == [Handle]
    whole, tail = transport.unpack(packet)
    assert (whole.dtype, tail.dtype) == (dtype, dtype)
    assert (whole == batch).all()
    assert (tail == batch[3:]).all()
    assert whole.data_ptr() == batch.data_ptr()  # in one process the memory is the same


def test_what_is_made_of_the_batch_travels_as_ever(in_worker):
    batch = default_collate(samples())
    labels = tenfold.arange(40_000)
    made = {"turned": batch.transpose(1, 2), "flipped": batch.flip(0), "twice": batch * 2, "whole": batch, "labels": labels}
    packet = transport.pack(made)
    assert len(packet.blocks) == 2
    found = transport.unpack(packet)
    for key, expected in made.items():
        assert (found[key] == expected).all(), key


def test_small_batches_and_small_samples_are_stacked_as_ever(in_worker):
    for parts in (samples(2), [tenfold.ones(8)] * 10_000):
        assert not lies_shared(default_collate(parts))


def test_only_plain_samples_that_are_alike(in_worker):
    parts = samples()
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        default_collate([*parts, parts[0][1:]])
    mixed = default_collate([*parts, parts[0].double()])
    assert (mixed.dtype, lies_shared(mixed)) == (tenfold.float64, False)


def test_samples_in_a_graph_stay_in_it(in_worker):
    pytest.importorskip("tenfold.autograd")
    parts = [part.requires_grad_() for part in samples()]
    assert default_collate(parts).requires_grad


def test_without_room_samples_are_stacked_as_ever(in_worker, monkeypatch):
    monkeypatch.setattr(Segment, "joining", refuse)
    parts = samples()
    batch = default_collate(parts)
    assert not lies_shared(batch)
    assert (batch == tenfold.stack(parts)).all()


def test_the_memory_goes_with_the_batch(in_worker):
    batch = default_collate(samples())
    place = stacking.place_of(batch.numpy())
    assert place is not None
    segment = weakref.ref(place[0])
    del place
    assert segment() in stacking._stacked
    del batch
    gc.collect()
    assert segment() is None


def test_joining_many_parts_lays_them_end_to_end(monkeypatch):
    """More parts than one call of the system takes, and calls that write less than they were given."""
    import os

    whole = os.pwritev
    monkeypatch.setattr(os, "pwritev", lambda fd, parts, at: whole(fd, [b"".join(parts[:3])[:4]], at))
    generator = np.random.default_rng(0)
    parts = [generator.integers(0, 256, length, np.uint8) for length in generator.integers(1, 6, 1500)]
    segment = Segment.joining(parts)
    np.testing.assert_array_equal(on_span(segment, 0, segment.size), np.concatenate(parts))
