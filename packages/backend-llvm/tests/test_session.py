"""Threads, memory, the cache on disk, and what happens where something cannot be had."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.dispatch import kernels
from tenfold.llvm import compiler, maths, objects
from tenfold.llvm.elementwise import Operator
from tenfold.llvm.memory import CACHED_FROM
from tenfold.llvm.session import session

TEXT = "define i64 @answer() {\n  ret i64 42\n}\n"


def python(code, **environment):
    """Run a program of its own, with this run's cache."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """An empty cache on disk."""
    monkeypatch.setenv("TENFOLD_HOME", str(tmp_path))
    return tmp_path / "llvm"


def test_machine_code_is_kept(kept, monkeypatch):
    compiler.load(TEXT)
    (file,) = kept.iterdir()
    monkeypatch.setattr(compiler, "object_code", lambda text, passes: pytest.fail("compiled again"))
    assert compiler.load(TEXT).address("answer")
    assert file.suffix == ".o"


def test_each_module_has_a_kernel_of_its_own():
    texts = [TEXT.replace("answer", "kernel").replace("42", str(n)) for n in (1, 2)]
    addresses = [compiler.load(text).address("kernel") for text in (*texts, *texts)]
    assert [ctypes.CFUNCTYPE(ctypes.c_int64)(address)() for address in addresses] == [1, 2, 1, 2]


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 2000])
def test_a_damaged_file_is_made_anew(kept, damage):
    compiler.load(TEXT)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert compiler.load(TEXT).address("answer")
    assert file.read_bytes() == whole


def test_a_home_that_cannot_be_written_is_no_obstacle(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TENFOLD_HOME", str(tmp_path / "file"))
    assert compiler.load(TEXT).address("answer")


def test_writers_at_once_leave_a_whole_file(kept):
    code = os.urandom(100_000)
    threads = [threading.Thread(target=objects.keep, args=("k", code)) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert objects.find("k") == code
    assert len(list(kept.iterdir())) == 1


def test_a_kernel_that_cannot_be_compiled_leaves_the_call_to_numpy(monkeypatch):
    from tenfold.llvm import session as sessions

    monkeypatch.setattr(sessions, "_failures", [])
    broken = Operator("broken", maths.exp)
    monkeypatch.setattr(broken, "text", lambda *_: "this is no IR")
    kernel = broken.wrap(lambda x: "beneath")
    x = np.ones(3, np.float32)
    with pytest.warns(RuntimeWarning, match="NumPy serves in place of the kernel of broken: RuntimeError"):
        assert kernel(x) == "beneath"
    assert kernel(x) == "beneath"
    assert kernel(x.reshape(3, 1)[::2]) == "beneath"


def test_a_machine_that_cannot_have_it_says_so_once():
    code = """if True:
        import warnings
        from tenfold.llvm import compiler
        compiler.features = lambda: "+sse2"
        compiler.platform.machine = lambda: "x86_64"
        import tenfold
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(tenfold.ones(3).exp().shape, tenfold.ones(3).log().shape)
        print(*[w.message for w in caught])
    """
    result = python(code)
    assert result.stdout.splitlines() == [
        "tenfold.Size([3]) tenfold.Size([3])",
        "tenfold.llvm: NumPy serves in place of compiled kernels: the processor has no fused multiply-add",
    ], result.stderr


# Threads


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    before = tenfold.get_num_threads()
    tenfold.set_num_threads(request.param)
    yield request.param
    tenfold.set_num_threads(before)


@pytest.mark.parametrize("size", [1, 16_384, 32_768, 32_769, 100_003, 1_000_000])
def test_every_element_is_computed_once(threads, size):
    x = np.arange(size, dtype=np.float32)
    for _ in range(5):
        np.testing.assert_array_equal(kernels.table("cpu").add(x, 1.0), x + 1)
        np.testing.assert_array_equal(kernels.table("cpu").add__into(x, 1.0, out=x), np.arange(1, size + 1, dtype=np.float32))
        x -= 1


def test_the_pool_obeys():
    before = tenfold.get_num_threads()
    for count in (3, 1, 2):
        tenfold.set_num_threads(count)
        assert session().native.cell("pool_threads").value == count
    tenfold.set_num_threads(before)


def test_calls_from_several_threads(threads):
    x = np.random.default_rng(0).standard_normal(100_000).astype(np.float32)
    expected = kernels.table("cpu").exp(x)
    wrong = []

    def work():
        results = (kernels.table("cpu").exp(x) for _ in range(20))
        wrong.extend(r for r in results if not np.array_equal(r, expected))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_compute():
    code = """if True:
        import os, warnings
        warnings.simplefilter("ignore")
        import numpy as np, tenfold
        tenfold.set_num_threads(2)
        x = tenfold.ones(1 << 18)
        (x + 1)
        for _ in range(3):
            child = os.fork()
            if not child:
                os._exit(int((x + 1).sum().item() != 2 << 18))
            assert os.waitpid(child, 0)[1] == 0
            assert (x + 1).sum().item() == 2 << 18
        print("done")
    """
    result = python(code)
    assert result.stdout == "done\n", result.stderr


# Memory


def test_large_results_reuse_memory():
    memory = session().memory
    x = np.ones(CACHED_FROM, np.float32)
    kernel = kernels.table("cpu").add
    kernel(x, x)
    before = memory.statistics()
    for _ in range(10):
        result = kernel(x, x)
        assert result.flags.owndata
        assert result.ctypes.data % 64 == 0
        del result
    after = memory.statistics()
    assert after["made"] == before["made"]
    assert after["reused"] == before["reused"] + 10
    assert after["in_use_bytes"] == before["in_use_bytes"]


def test_what_is_kept_has_a_limit_and_can_be_given_back():
    memory = session().memory
    limit = memory.statistics()["limit_bytes"]
    kernel = kernels.table("cpu").add
    x = np.ones(1 << 20, np.float32)
    memory.limit(1 << 20)
    kernel(x, x)
    assert memory.statistics()["cached_bytes"] <= 1 << 20
    memory.limit(limit)
    memory.release()
    assert memory.statistics()["cached_bytes"] == 0
    kernel(x, x)
    assert memory.statistics()["cached_bytes"] >= x.nbytes
    memory.release()
    assert memory.statistics()["cached_bytes"] == 0
    with pytest.raises(ValueError, match="expected a number of bytes, got -1"):
        memory.limit(-1)


def test_results_are_ordinary_arrays():
    x = np.ones((600, 500), np.float32)
    result = kernels.table("cpu").add(x, x)
    result.resize((700, 500), refcheck=False)
    assert result[:600].min() == 2
    assert result.T.copy().shape == (500, 700)


def test_a_million_elements_of_calls_leave_memory_as_it_was():
    kernel = kernels.table("cpu")
    x, y = np.ones((3, 4), np.float32), np.ones((4, 3), np.float32)
    mask = x > 0
    calls = [
        lambda: kernel.add(x, x), lambda: kernel.add(x, 1), lambda: kernel.exp(x), lambda: kernel.exp(y.T),
        lambda: kernel.gt(x, 0.5), lambda: kernel.where(mask, x, 0.0), lambda: kernel.clamp(x, 0, 1),
        lambda: kernel.add__into(x, 0, out=x),
    ]  # fmt: skip
    for call in calls:
        call()
    assert left_behind(repeated(calls, 20_000), (x, y, mask, x.dtype, NotImplemented)) < SMALL


def test_native_call_paths_can_be_switched_off():
    program = "import tenfold; x = tenfold.ones(3); x + x; from tenfold.llvm.session import session; print(session().paths)"
    environment = {**os.environ, "TENFOLD_NATIVE_CALLS": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "None"
