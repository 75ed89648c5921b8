"""What vmap refuses: the type and the leading words are PyTorch's."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _two(name):
    return lambda lib: lambda *shapes, in_dims=0: lib.func.vmap(getattr(lib, name), in_dims)(*[lib.ones(s) for s in shapes])


CALLS = {
    "mm of 3-d": (lambda lib: _two("mm")(lib)((7, 2, 2, 2), (7, 2)), "Shape mismatch"),
    "mm of vectors": (lambda lib: _two("mm")(lib)((7, 2), (2, 2), in_dims=(0, None)), "Shape mismatch"),
    "mm with 3-d": (lambda lib: _two("mm")(lib)((2, 2), (7, 2, 2, 2), in_dims=(None, 0)), "Shape mismatch"),
    "bmm of matrices": (lambda lib: _two("bmm")(lib)((7, 2, 3), (7, 2, 3)), "Shape mismatch"),
    "squeeze": (lambda lib: lib.func.vmap(lambda x: x.squeeze(1))(lib.ones(10)), "out of range"),
    "squeeze from the end": (lambda lib: lib.func.vmap(lambda x: x.squeeze(-2))(lib.ones(10)), "out of range"),
    "squeeze of a vector": (lambda lib: lib.func.vmap(lambda x: x.squeeze(2))(lib.ones(10, 3)), "out of range"),
    "as_strided": (
        lambda lib: lib.func.vmap(lambda x: x.as_strided([1, 1, 1], [1, 1]))(lib.ones(3, 2)),
        "size and stride must have the same length",
    ),
    "equal": (lambda lib: _two("equal")(lib)((2, 3), (2, 3)), "Batching rule not implemented for aten::equal"),
    "where": (lambda lib: lib.func.vmap(lambda x: lib.where(x))(lib.ones(4, 3)), "Attempted to vmap over aten::where"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refusals(name):
    call, words = CALLS[name]
    with pytest.raises((RuntimeError, IndexError), match=words) as theirs:
        call(torch)
    with pytest.raises(theirs.type, match=words):
        call(tenfold)


def test_answers_about_what_the_examples_share():
    shared = tenfold.ones(3)

    def f(x):
        same = x.new_ones(3) if tenfold.equal(shared, shared) else None
        return x + tenfold.allclose(shared, shared + 1) + same

    assert tenfold.vmap(f)(tenfold.zeros(2, 3)).tolist() == [[1.0] * 3] * 2
    with pytest.raises(RuntimeError, match="allclose: it answers with one Python bool"):
        tenfold.vmap(lambda x: tenfold.allclose(x, shared))(tenfold.ones(2, 3))


def test_answers_of_constants_of_the_level():
    def f(x):
        constant = x.detach() * 0 + 1
        inner = tenfold.vmap(lambda y: y + tenfold.equal(constant, constant))(tenfold.zeros(2))
        return x + inner.sum()

    with pytest.raises(RuntimeError, match="Batching rule not implemented"):
        tenfold.vmap(f)(tenfold.ones(2))
    grown = tenfold.func.jvp(lambda x: x * tenfold.equal(x, x), (tenfold.ones(2),), (tenfold.ones(2),))
    assert [t.tolist() for t in grown] == [[1.0, 1.0], [1.0, 1.0]]
