"""The choice of block sizes: which candidates are timed, what is kept, and what is not touched, with a clock made up."""

from __future__ import annotations

import json

import pytest

import tenfold
from tenfold.backends import cudnn
from tenfold.cuda import capturing, tuning
from tenfold.nn import functional as F

TILES = [(64, 64), (128, 64), (32, 32)]


@pytest.fixture
def clock(monkeypatch, tmp_path):
    """Times by the product of a candidate's numbers, smaller being faster; what has been timed."""
    timed = []

    def measure(run, tile, index):
        timed.append(tile)
        if tile == (128, 64):
            return float("inf")  # does not fit
        run(tile)
        return float(tile[0] * tile[1])

    monkeypatch.setattr(tuning, "measure", measure)
    monkeypatch.setattr(tuning, "path_of", lambda name: tmp_path / "tiles.json")
    tuning.forget()
    yield timed
    tuning.forget()


def choose(problem=("float32", 100), candidates=TILES):
    return tuning.chosen("kernel", problem, candidates, lambda tile: None, 0)


def test_the_guess_holds_while_the_switch_is_off(clock):
    assert choose() == TILES[0]
    assert not clock


def test_candidates_are_timed_once_for_a_class_of_sizes(clock, monkeypatch, tmp_path):
    monkeypatch.setattr(cudnn, "benchmark", True)
    assert choose() == (32, 32)
    assert clock == TILES
    assert choose(("float32", 120)) == (32, 32)  # of the same power of 2
    assert clock == TILES
    choose(("float32", 200))
    assert clock == TILES * 2
    kept = json.loads((tmp_path / "tiles.json").read_text())
    assert kept["tiles"]["kernel float32 128"] == {"tile": [32, 32], "us": {"64x64": 4096, "32x32": 1024}}


def test_what_was_found_holds_in_other_processes_with_the_switch_off(clock, monkeypatch, tmp_path):
    monkeypatch.setattr(cudnn, "benchmark", True)
    choose()
    monkeypatch.setattr(cudnn, "benchmark", False)
    tuning.forget()
    assert choose() == (32, 32)
    path = tmp_path / "tiles.json"
    for broken in (path.read_text().replace('"version": 1', '"version": 0'), "{", '{"version": 1}'):
        path.write_text(broken)
        tuning.forget()
        assert choose() == TILES[0]


def test_a_file_keeps_what_others_wrote_meanwhile(clock, monkeypatch, tmp_path):
    monkeypatch.setattr(cudnn, "benchmark", True)
    choose()
    path = tmp_path / "tiles.json"
    text = json.loads(path.read_text())
    text["tiles"]["other"] = {"tile": [1], "us": {}}
    path.write_text(json.dumps(text))
    choose(("float16", 100))
    assert set(json.loads(path.read_text())["tiles"]) == {"kernel float32 128", "kernel float16 128", "other"}
    assert {p.suffix for p in tmp_path.iterdir()} == {".json", ".lock"}


def test_nothing_is_timed_during_a_capture(clock, monkeypatch):
    monkeypatch.setattr(cudnn, "benchmark", True)
    monkeypatch.setattr(capturing, "CAPTURES", [object()])
    monkeypatch.setattr(capturing, "current", lambda: object())
    assert choose() == TILES[0]
    assert not clock
    monkeypatch.setattr(capturing, "CAPTURES", [])
    assert choose() == (32, 32)


def test_kernels_compute_the_same_with_every_candidate(monkeypatch, tmp_path):
    x, w = tenfold.randn(1, 20, 4, 4), tenfold.randn(24, 20, 2, 2)
    q = tenfold.randn(1, 2, 3, 16).half()
    k = tenfold.randn(1, 2, 70, 16).half()
    found = []

    def measure(run, tile, index):
        found.append(tile)
        run(tile)
        return float(-len(found))  # the last one is the fastest

    monkeypatch.setattr(tuning, "measure", measure)
    monkeypatch.setattr(tuning, "path_of", lambda name: tmp_path / "tiles.json")
    monkeypatch.setattr(cudnn, "benchmark", True)
    tuning.forget()
    try:
        assert F.conv2d(x.cuda(), w.cuda()).cpu().allclose(F.conv2d(x, w), atol=1e-4)
        assert len(found) > 1
        got, expected = (F.scaled_dot_product_attention(a, b, b) for a, b in ((q.cuda(), k.cuda()), (q, k)))
        assert got.cpu().float().allclose(expected.float(), atol=2e-3)
        assert len(found) > 4
    finally:
        tuning.forget()
