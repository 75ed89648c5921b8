"""`tenfold.llvm.explain`, and the small functions beside it."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import llvm


def test_an_elementwise_call():
    found = llvm.explain(tenfold.op.exp, tenfold.randn(100, 200))
    assert found.served
    assert "fma" in found.description
    assert "define void @kernel" in found.ir
    assert "kernel:" in found.assembly
    assert found.bytes == 160_000
    assert found.gigabytes_per_second > 0
    assert str(found).startswith("exp: compiled code serves: ")


def test_a_strided_call_and_a_function():
    found = llvm.explain(tenfold.exp, tenfold.randn(100, 200).T[::2])
    assert found.served
    assert "%outer" in found.ir


def test_rows():
    found = llvm.explain(tenfold.op.softmax, tenfold.randn(10, 20), -1)
    assert found.served
    assert "largest" in found.description
    found = llvm.explain(tenfold.op.sum, tenfold.randn(300, 400), 0)
    assert "total" in found.description


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: llvm.explain(tenfold.op.exp, tenfold.randn(3).to(tenfold.complex64)), "the dtype complex64"),
        (lambda: llvm.explain(tenfold.op.glu, tenfold.randn(40, 30).t(), 0), "its arguments"),
        (lambda: llvm.explain(tenfold.op.mm, tenfold.randn(99, 99), tenfold.randn(99, 99)), "its arguments"),
        (
            lambda: llvm.explain(tenfold.op.dot, tenfold.ones(3), tenfold.ones(3)),
            "dot has no compiled kernel of its own",
        ),
    ],
)
def test_what_numpy_serves(call, words):
    found = call()
    assert not found.served
    assert words in found.why
    assert not found.assembly


def test_memory_and_folder():
    tenfold.llvm.empty_cache()
    assert llvm.memory_stats()["cached_bytes"] == 0
    before = llvm.memory_stats()["limit_bytes"]
    llvm.set_memory_limit(1 << 20)
    assert llvm.memory_stats()["limit_bytes"] == 1 << 20
    llvm.set_memory_limit(before)
    assert llvm.is_available()
    assert llvm.cache_folder().name == "llvm"
