"""Memory that is kept for new arrays, copies in blocks, choices without branches."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

import tenfold
import tenfold.cpu
from tenfold.cpu import allocator
from tenfold.cpu.choice import choose
from tenfold.cpu.conversion import row_major
from tenfold.settings.environment import number_of_bytes

needs_glibc = pytest.mark.skipif(not tenfold.cpu.memory_stats()["supported"], reason="another C library than glibc")


def child(program, **variables):
    import os

    env = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr


FAULTS = """
import resource, tenfold
x = tenfold.ones(1 << 18)
def run():
    kept = [x]
    for _ in range(6):
        kept.append(kept[-1] + x)
run()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    run()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@needs_glibc
def test_blocks_are_used_again():
    kept, _ = child(FAULTS)
    fresh, _ = child(FAULTS, TENFOLD_CPU_CACHE="0")
    assert int(kept) < 2_000  # page faults; 120 arrays have 30,000 pages
    assert int(fresh) > 10_000


@needs_glibc
def test_what_the_environment_says():
    program = "import tenfold.cpu as c, tenfold; tenfold.ones(1); s = c.memory_stats(); print(s['enabled'], s['limit_bytes'])"
    assert child(program, TENFOLD_CPU_CACHE="64M")[0] == f"True {64 << 20}"
    assert child(program, TENFOLD_CPU_CACHE="0")[0] == "False 0"
    assert child(program, MALLOC_ARENA_MAX="2")[0] == "False 0"
    assert "TENFOLD_CPU_CACHE has to be a number of bytes" in child(program, TENFOLD_CPU_CACHE="much")[1]


LIMITED = """
import tenfold, tenfold.cpu as c
c.set_memory_limit(16 << 20)
tenfold.ones(50_000_000)
print(c.memory_stats()["cached_bytes.all.current"] < 100 << 20)
c.set_memory_limit(1 << 30)
kept = [tenfold.ones(1 << 18) for _ in range(200)]
after = kept[-1]
del kept
count = c.memory_stats()["num_releases"]
c.empty_cache()
print(c.memory_stats()["num_releases"] - count, after.sum().item() == 1 << 18)
"""


@needs_glibc
def test_memory_goes_back_beyond_the_limit_and_when_asked():
    """In a process of its own: what lies between the pieces that a long one still uses cannot go back."""
    assert child(LIMITED)[0].split() == ["True", "1", "True"]
    with pytest.raises(ValueError, match="0 or more"):
        tenfold.cpu.set_memory_limit(-1)


@needs_glibc
def test_scarce_memory_releases(monkeypatch):
    big = [np.ones(1 << 22) for _ in range(4)]
    keep = np.ones(1 << 18)
    del big
    monkeypatch.setattr(allocator, "_available", lambda: 0)
    monkeypatch.setitem(allocator._state, "checked", 0.0)
    monkeypatch.setitem(allocator._state, "on", True)
    monkeypatch.setitem(allocator._state, "limit", 0)
    before = tenfold.cpu.memory_stats()["num_releases"]
    allocator.look()
    assert tenfold.cpu.memory_stats()["num_releases"] == before + 1
    allocator.look()  # not twice in a second
    assert tenfold.cpu.memory_stats()["num_releases"] == before + 1
    assert keep.sum() == 1 << 18


def test_sizes_in_words():
    assert [number_of_bytes("X", t) for t in ("0", "12", "3k", "5M", "2G")] == [0, 12, 3 << 10, 5 << 20, 2 << 30]
    for wrong in ("", "-1", "2T", "1.5G", "M"):
        with pytest.raises(ValueError, match="X has to be a number of bytes"):
            number_of_bytes("X", wrong)


SHAPES = [
    ((300, 500), (1, 0)), ((512, 512), (1, 0)), ((1, 70_000), (1, 0)), ((130, 140, 5), (1, 0, 2)), ((130, 5, 140), (2, 1, 0)),
    ((16, 3, 40, 40), (0, 2, 3, 1)), ((16, 40, 40, 3), (0, 3, 1, 2)), ((4, 128, 8, 16), (0, 2, 1, 3)), ((3, 200, 130), (0, 2, 1)),
    ((0, 5), (1, 0)), ((2, 3), (1, 0)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "bfloat16", "complex128", "int16"])
@pytest.mark.parametrize(("shape", "dims"), SHAPES)
def test_copies_in_another_order(shape, dims, dtype):
    x = tenfold.arange(int(np.prod(shape))).reshape(shape).to(getattr(tenfold, dtype))
    view = x.permute(dims)
    copied = view.contiguous()
    assert copied.is_contiguous()
    assert tenfold.equal(copied, view)
    part = view[..., ::2]
    assert tenfold.equal(row_major_of(part), part)


def row_major_of(tensor):
    return tenfold.from_numpy(row_major(tensor.numpy())) if tensor.dtype is not tenfold.bfloat16 else tensor.contiguous()


def test_copies_of_negative_and_zero_steps():
    array = np.arange(300 * 400.0).reshape(300, 400)
    for view in (array.T[::-1], array[:, ::-1].T, np.broadcast_to(array[0], (300, 400)).T, array[::-1, ::-1]):
        np.testing.assert_array_equal(row_major(view), view)
        assert row_major(view).flags.c_contiguous


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i8", "c8", "c16", "?"])
@pytest.mark.parametrize("runs", [1, 50, 5000])
def test_choices(dtype, runs):
    rng = np.random.default_rng(0)
    condition = np.repeat(rng.random(120_000 // runs + 1) > 0.5, runs)[:100_001]
    a, b = (rng.integers(0, 100, len(condition)).astype(dtype) for _ in range(2))
    if dtype in ("f4", "f8"):
        a[:3], b[:3] = [np.nan, -0.0, np.inf], [-np.inf, np.nan, -0.0]
    for left in (a, a[:1].reshape(())):
        for right in (b, b[-1:].reshape(())):
            np.testing.assert_array_equal(choose(condition, left, right), np.where(condition, left, right))
    odd = np.full(len(condition), 2, np.uint8).view(bool)  # a byte of a bool from elsewhere
    np.testing.assert_array_equal(choose(odd, a, b), a)
    assert choose(condition.reshape(1, -1), a.reshape(1, -1), b).shape == (1, len(a))


@needs_glibc
def test_no_line_of_python_runs_inside_a_collection():
    """An interrupt that comes there would be lost."""
    assert allocator._note_collection in gc.callbacks
    allocator.COLLECTED.clear()
    gc.collect()
    assert allocator.COLLECTED
    tenfold.zeros(1)
    assert not allocator.COLLECTED


@pytest.mark.parametrize("dtype", [tenfold.float8_e5m2, tenfold.float8_e4m3fn, tenfold.bfloat16, tenfold.float16])
def test_views_of_arrays_of_any_dtype_become_tensors(dtype):
    array = tenfold.tensor([1.0, 2.0, 3.0]).to(dtype).numpy(force=True)
    part = tenfold.from_numpy(array[1:])
    assert (part.dtype, part.tolist()) == (dtype, [2.0, 3.0])
    part[0] = 1
    assert array.tolist() == [1.0, 1.0, 3.0]
