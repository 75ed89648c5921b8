"""How results of einsum lie in memory, which `view` depends on, compared with PyTorch's; random equations with sizes 0 and 1."""

from __future__ import annotations

import random

import pytest

import tenfold

torch = pytest.importorskip("torch")

CASES = [
    ("ab,cd->acbd", (2, 3), (4, 5)),
    ("i,j->ji", (3,), (4,)),
    ("bi,bj->bji", (2, 3), (2, 4)),
    ("ij,ij->ji", (2, 3), (2, 3)),
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("bi,ij->jb", (2, 3), (3, 4)),
    ("abcd,cdef->efab", (2, 3, 4, 5), (4, 5, 2, 3)),
    ("zui,zvj->zuvij", (2, 3, 4), (2, 6, 5)),
    ("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 6, 5)),
]


@pytest.mark.parametrize(("equation", "first", "second"), CASES)
def test_strides(equation: str, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    ours = tenfold.einsum(equation, tenfold.ones(first), tenfold.ones(second))
    theirs = torch.einsum(equation, torch.ones(first), torch.ones(second))
    assert (ours.shape, ours.stride()) == (tuple(theirs.shape), theirs.stride())


@pytest.mark.parametrize("seed", range(8))
def test_values_of_random_pairs(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        letters = draw.sample("abcdef", draw.randint(1, 5))
        sizes = {s: draw.choice([0, 1, 2, 3, 4]) if draw.random() < 0.3 else draw.randint(2, 5) for s in letters}
        sides = [draw.sample(letters, draw.randint(1, len(letters))) for _ in range(2)]
        used = sorted({*sides[0], *sides[1]})
        equation = f"{''.join(sides[0])},{''.join(sides[1])}->{''.join(draw.sample(used, draw.randint(0, len(used))))}"
        shapes = [tuple(1 if draw.random() < 0.1 else sizes[s] for s in side) for side in sides]
        torch.manual_seed(seed)
        x, y = (torch.randn(shape, dtype=torch.float64) for shape in shapes)
        theirs = torch.einsum(equation, x, y)
        ours = tenfold.einsum(equation, tenfold.tensor(x.numpy()), tenfold.tensor(y.numpy()))
        tenfold.testing.assert_close(ours, tenfold.tensor(theirs.numpy()), msg=f"{equation} of {shapes}")


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij->ij", [(3, 4)]), ("ij->j", [(3, 4)]), ("ii->i", [(3, 3)]), ("i,j->ij", [(3,), (4,)]), ("ij,j->ij", [(3, 4), (4,)])],
)
def test_what_made_a_result(equation, shapes):
    found = []
    for lib in (tenfold, torch):
        made = lib.einsum(equation, *[lib.ones(*shape).requires_grad_() for shape in shapes])
        found.append((made.grad_fn.name(), made._is_view()))
    assert found[0] == found[1]
