"""What einsum refuses, in PyTorch's words."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402

CALLS = [
    ("", []), (". ..", [(2,)]), ("... ...", [(2,)]), ("1", [(2,)]), (",", [(2,)]), ("", [(2,), (2,)]), ("", [(2,)]),
    ("ai", [(2,)]), ("ai...", [(2,)]), ("a->... .", [(2,)]), ("a->..", [(2,)]), ("a->1", [(2,)]), ("a->aa", [(2,)]),
    ("a->i", [(2,)]), ("aa", [(2, 3)]), ("...,...", [(2,), (2, 3)]), ("a,a", [(2,), (3,)]), ("a, ba", [(2,), (2, 3)]),
    ("b,aa", [(2,), (2, 3)]), ("a,b...", [(2,), ()]), ("...a,...a", [(4, 2), (3, 2)]),
]  # fmt: skip


def said(t, *arguments):
    with pytest.raises((RuntimeError, ValueError)) as error:
        t.einsum(*arguments)
    return error.type, str(error.value).replace("operand 1has", "operand 1 has")


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_refusals(call):
    equation, shapes = CALLS[call]
    theirs, ours = (said(t, equation, [t.ones(shape) for shape in shapes]) for t in (torch, tenfold))
    assert ours[0] is theirs[0]
    assert ours[1].startswith(theirs[1].partition(" in the equation string")[0])


@pytest.mark.parametrize("number", [-1, 52])
def test_numbers_that_are_no_subscripts(number):
    for last in ([], [[number]]):
        theirs, ours = (said(t, t.ones(2), [0] if last else [number], *last) for t in (torch, tenfold))
        assert ours[0] is theirs[0] is ValueError
        assert ours[1].startswith(theirs[1].rstrip("."))
