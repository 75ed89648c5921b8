"""What happens where a kernel asks for more shared memory than a GPU gives to a program: fewer stages, then another block."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tenfold.cuda import shared_memory, tuning
from tenfold.cuda.kernels.handwritten import Handwritten
from tenfold.cuda.shared_memory import TooLarge, fitting

KERNEL = Handwritten("attend", (), 8, 3)


@pytest.fixture
def small(monkeypatch):
    """A GPU with the 99 KiB of compute capability 8.6."""
    monkeypatch.setattr(shared_memory, "_limits", {})
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(deviceGetAttribute=lambda what, index: 101_376)))


def compiler(each):
    """Stages take `each` bytes; the forms that were compiled."""
    seen = []

    def compiled(kernel):
        seen.append(kernel.stages)
        return SimpleNamespace(metadata=SimpleNamespace(shared=each * kernel.stages))

    return compiled, seen


@pytest.mark.parametrize(("each", "stages"), [(10_000, [3]), (33_000, [3]), (40_000, [3, 2]), (60_000, [3, 2, 1])])
def test_no_more_stages_than_there_is_memory_for(small, each, stages):
    compiled, seen = compiler(each)
    assert fitting(small, KERNEL, 0, compiled).metadata.shared == each * stages[-1]
    assert seen == stages


def test_what_never_fits_is_told(small):
    with pytest.raises(TooLarge, match="attend: its programs need 102400 bytes of shared memory, and GPU 0 has 101376"):
        fitting(small, KERNEL, 0, compiler(102_400)[0])


def test_the_next_block_is_taken_and_remembered(monkeypatch):
    monkeypatch.setattr(tuning, "_too_large", set())
    ran = []

    def run(tile):
        ran.append(tile)
        if tile[0] > 32:
            raise TooLarge("attend")
        return tile

    tiles = [(128, 64), (64, 64), (32, 32)]
    for _ in range(2):
        assert tuning.run_chosen("attend", ("bfloat16", 100), tiles, run, 0) == (32, 32)
    assert ran == [*tiles, (32, 32)]
    with pytest.raises(TooLarge):
        tuning.run_chosen("attend", ("bfloat16", 200), tiles[:2], run, 0)
