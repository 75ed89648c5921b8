"""Files decoded by their endings, streams that close themselves, and shares by groups, beside PyTorch's."""

from __future__ import annotations

import gc
import io
import json
import pickle
import warnings

import numpy as np
import pytest

import tenfold
import tenfold.utils.data as ours
from tenfold.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from tenfold.data.datapipes.utils.common import StreamWrapper
from tenfold.data.datapipes.utils.decoder import Decoder, basichandlers, handle_extension, imagehandler, imagespecs

torch = pytest.importorskip("torch")
import torch.utils.data as theirs  # noqa: E402
from torch.utils.data.datapipes.iter import sharding as their_sharding  # noqa: E402
from torch.utils.data.datapipes.utils import decoder as their_decoder  # noqa: E402

FILES = {
    "a.txt": "Grüße".encode(),
    "b.cls": b"12",
    "c.json": json.dumps({"x": [1, None]}).encode(),
    "d.pyd": pickle.dumps((1, "two")),
    "e.bin": b"\x00\x01",
    "F.TXT": b"upper",
}


def picture(kind="png"):
    image = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    image.fromarray(np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)).save(stream, kind)
    return stream.getvalue()


def decoded(engine, *handlers):
    pipe = engine.datapipes.iter.IterableWrapper([(path, io.BytesIO(data)) for path, data in FILES.items()], deepcopy=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(pipe.routed_decode(*handlers))


def test_files_are_decoded_by_their_endings():
    found = decoded(ours)
    assert found == decoded(theirs)
    assert dict(found)["c.json"] == {"x": [1, None]}
    # PyTorch decodes each part of the words "txt text transcript" as text, no ending and pt among them.
    assert Decoder(basichandlers)(("none", b"x")) == {"none": b"x"}


def test_the_first_handler_that_answers_decodes_and_files_are_closed():
    streams = [io.BytesIO(b"12"), io.BytesIO(b"34")]
    pipe = ours.datapipes.iter.RoutedDecoder([("a.cls", streams[0]), ("b.txt", streams[1])], basichandlers)
    pipe.add_handler(handle_extension("cls txt", len))
    assert list(pipe) == [("a.cls", 12), ("b.txt", "34")]
    assert len(pipe) == 2
    assert all(stream.closed for stream in streams)
    assert decoded(ours, handle_extension("txt bin", len))[0] == ("a.txt", 7)
    with pytest.raises(TypeError, match="tuple of two"):
        next(iter(ours.datapipes.iter.RoutedDecoder([3])))


@pytest.mark.parametrize("spec", imagespecs)
def test_pictures(spec):
    found, data = imagehandler(spec)("png", picture()), picture()
    if spec in ("torchl8", "torchl"):  # PyTorch's raises: it has no channel to put first
        assert found.shape == (1, 4, 5)
        expected = their_decoder.imagehandler(spec.replace("torch", ""))("png", data)[None]
    else:
        expected = their_decoder.imagehandler(spec)("png", data)
    if spec.startswith("pil"):
        assert found.mode == expected.mode
    assert isinstance(found, tenfold.Tensor) == spec.startswith("torch")
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6)
    assert imagehandler(spec)("gif", data) is None
    with pytest.raises(AssertionError, match="unknown image specification"):
        imagehandler("rgb16")


def test_what_tenfold_saved_is_loaded():
    stream = io.BytesIO()
    tenfold.save({"w": tenfold.ones(2)}, stream)
    assert Decoder(basichandlers)({"__key__": "k", "m.pt": stream.getvalue()})["m.pt"]["w"].tolist() == [1.0, 1.0]


def test_streams_close_themselves():
    stream = io.BytesIO(b"abc\nd")
    wrapped = StreamWrapper(stream, name="letters")
    assert (wrapped.readline(), list(wrapped)) == (b"abc\n", [b"d"])
    assert "getvalue" in dir(wrapped)
    assert repr(wrapped) == f"StreamWrapper<letters,{stream!r}>"
    del wrapped
    gc.collect()
    assert stream.closed
    inside = [StreamWrapper(io.BytesIO()) for _ in range(3)]
    StreamWrapper.close_streams({"a": inside[0], "b": [inside[1], (inside[2],)]})
    assert all(each.closed and each.file_obj.closed for each in inside)
    copied = pickle.loads(pickle.dumps(StreamWrapper([1, 2])))
    assert list(copied) == [1, 2]


def shares(engine, groups, only=None):
    pipe = engine.datapipes.iter.IterableWrapper(range(90)).sharding_filter(sharding_group_filter=only)
    try:
        for group, instances, instance in groups:
            pipe.apply_sharding(instances, instance, sharding_group=group)
        return list(pipe), len(pipe)
    except (RuntimeError, ValueError) as error:
        return type(error).__name__


def test_shares_by_groups():
    assert [(group.name, int(group)) for group in SHARDING_PRIORITIES] == [
        (group.name, int(group)) for group in their_sharding.SHARDING_PRIORITIES
    ]
    cases = [
        ([(2, 2, 1), (3, 5, 3)], None),
        ([(3, 5, 3), (2, 2, 1)], None),
        ([(2, 2, 1), (3, 5, 3), (300, 3, 1)], None),
        ([(2, 2, 1), (3, 5, 3)], 2),
        ([(2, 2, 1), (3, 5, 3)], 3),
        ([(2, 2, 1)], 3),
        ([(1, 2, 1), (3, 5, 3)], None),
        ([(3, 5, 3), (1, 2, 1)], None),
        ([(1, 2, 1), (1, 3, 1)], None),
        ([(2, 2, 2)], None),
    ]
    for groups, only in cases:
        assert shares(ours, groups, only) == shares(theirs, groups, only), (groups, only)


def test_a_group_is_asked_for_over_a_graph_and_workers_are_one():
    for engine, settings in ((ours, tenfold.utils.data.graph_settings), (theirs, torch.utils.data.graph_settings)):
        pipe = engine.datapipes.iter.IterableWrapper(range(7)).sharding_filter(sharding_group_filter=3)
        settings.apply_sharding(pipe, 2, 1, sharding_group=2)
        assert list(pipe) == list(range(7))
        settings.apply_sharding(pipe, 2, 1, sharding_group=3)
        assert list(pipe) == [1, 3, 5]
    machine = ours.datapipes.iter.IterableWrapper(range(8)).sharding_filter(sharding_group_filter=SHARDING_PRIORITIES.DISTRIBUTED)
    loaded = [int(x) for x in ours.DataLoader(machine, num_workers=2, batch_size=None)]
    assert sorted(loaded) == sorted([*range(8), *range(8)])  # its workers are not of the group that the pipe shares by
