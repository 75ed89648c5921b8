"""What happens where a kernel asks for more shared memory than a GPU gives to a program: fewer stages, then another block."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace

import pytest

from tenfold.cuda import shared_memory, tuning
from tenfold.cuda.compilation import compile_for
from tenfold.cuda.kernels.attention import NO_TABLE
from tenfold.cuda.kernels.attention_gradient import TWO_PASSES
from tenfold.cuda.kernels.attention_tiles import program_of, tiles
from tenfold.cuda.kernels.handwritten import Handwritten
from tenfold.cuda.shared_memory import TooLarge, fitting
from tenfold.types.dtypes import BY_NAME

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


def arguments(name, kind):
    """The types of a program's arguments."""
    sums = "*fp32"
    given = {"in one pass": (kind, kind, sums, *(kind,) * 5), "attention_to_keys": (kind,) * 7}.get(name, (kind,) * 6)
    places = ("i32",) * (3 if name == "attention_to_queries" else 6)
    return (*given, "*i64", sums, sums, *("i32",) * 17, "fp32", "i32", "fp32", *places)


def fitting_block(name, dtype, features):
    """The first block, of attention with a mask of floats, that a GPU with 99 KiB can run."""
    program = "attention_to_keys" if name == "in one pass" else name
    passes = {"in one pass": (("ADDS", 1),), "attention_to_keys": TWO_PASSES}.get(name, ())
    ends = (
        ("ALIGNED", 1),
        ("PRECISION", "tf32" if dtype == "float32" else "ieee"),
        *((word, features) for word in ("E", "V", "WIDE_E", "WIDE_V")),
    )
    constants = (*passes, ("CAUSAL", 1), ("MASK", 2), ("DROPS", 0), *NO_TABLE, *ends)
    signature, known = arguments(name, "*fp32" if dtype == "float32" else "*bf16"), BY_NAME[dtype].numpy
    pointers = [place for place, kind in enumerate(signature) if kind[0] == "*"]
    gpu = SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(deviceGetAttribute=lambda what, index: 101_376)))
    for tile in tiles(program, constants, known):
        kernel = program_of(program, constants, known, tile)
        with suppress(TooLarge):
            fitting(gpu, kernel, 0, lambda form: compile_for(86, form, signature, pointers))
            return tile
    return None


LARGEST = [
    ("in one pass", "bfloat16", 128), ("attention_to_queries", "bfloat16", 128), ("attention_to_keys", "bfloat16", 512),
    ("attention_to_queries", "float32", 512), ("attention_to_keys", "float32", 512),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "features"), LARGEST)
def test_some_block_of_the_largest_programs_fits(name, dtype, features, tmp_path):
    """These ask for more than 99 KiB with their first block."""
    pytest.importorskip("triton")
    # The interpreter and the compiler share no process.
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | {"TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", __file__, name, dtype, str(features)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("("), "no block fits"


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


if __name__ == "__main__":
    print(fitting_block(sys.argv[1], sys.argv[2], int(sys.argv[3])))
