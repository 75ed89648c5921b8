"""`rearrange`: what patterns mean, that results are views, gradients and vmap, and what is refused."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.func import rearrange, vmap


@pytest.mark.parametrize(
    ("pattern", "lengths", "shape"),
    [
        ("a b c -> c b a", {}, (4, 3, 2)),
        ("a b c -> (a b) c", {}, (6, 4)),
        ("a b c -> a 1 b () c", {}, (2, 1, 3, 1, 4)),
        ("a b (c d) -> d a (b c)", {"c": 2}, (2, 2, 6)),
        ("a b (c d) -> d a (b c)", {"d": 2}, (2, 2, 6)),
        ("a ... -> ... a", {}, (3, 4, 2)),
        ("a ... -> a (...)", {}, (2, 12)),
        ("... -> (...)", {}, (24,)),
        ("a b ... -> b (a ...)", {}, (3, 8)),
        ("... a b c -> c a b ...", {}, (4, 2, 3)),
    ],
)
def test_patterns(pattern: str, lengths: dict[str, int], shape: tuple[int, ...]) -> None:
    x = tenfold.arange(24.0).view(2, 3, 4)
    found = rearrange(x, pattern, **lengths)
    assert tuple(found.shape) == shape
    assert sorted(found.flatten().tolist()) == x.flatten().tolist()


def test_places() -> None:
    x = tenfold.arange(24).view(2, 3, 4)
    assert rearrange(x, "a b (c d) -> d a (b c)", c=2)[1, 0].tolist() == [1, 3, 5, 7, 9, 11]
    assert rearrange(x, "a b c -> c b a").equal(x.permute(2, 1, 0))
    assert rearrange([x, -x], "n a b c -> a (n b) c").equal(tenfold.cat([x, -x], 1))
    assert rearrange(x[:1], "1 b c -> c b").equal(x[0].T)
    assert rearrange(tenfold.tensor(1), "->").item() == 1
    assert rearrange(tenfold.tensor(1), "... -> ...").item() == 1
    assert rearrange(tenfold.ones(0, 3), "(c a) b -> c a b", c=2).shape == (2, 0, 3)


def test_views_gradients_and_vmap() -> None:
    x = tenfold.zeros(2, 3, requires_grad=True)
    rearrange(x, "a b -> b a")[1].sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 0]] * 2
    y = x.detach()
    rearrange(y, "a b -> b a")[0, 1] = 5
    assert y.tolist() == [[0, 0, 0], [5, 0, 0]]
    batch = tenfold.rand(3, 2, 4)
    assert vmap(lambda e: rearrange(e, "a (b c) -> b (a c)", b=2))(batch).equal(rearrange(batch, "n a (b c) -> n b (a c)", b=2))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a b c", "one '->'"),
        ("a b c -> a -> b c", "one '->'"),
        ("a b c -> a b", "both sides"),
        ("a b c -> a b c ...", "both sides"),
        ("a b (...) -> a b ...", "left side could"),
        ("a a b -> b a", "more than once"),
        ("... (...) -> ...", "more than once"),
        ("a b (c (d e)) -> a b c d e", "not balanced"),
        ("a b) c -> a b c", "not balanced"),
        ("a b (c -> a b c", "not closed"),
        ("a b .c -> a b c", "three"),
        ("a b+ c -> a b c", "no part of a name"),
        ("_a b c -> c b _a", "no name of an axis"),
        ("2a b c -> c b 2a", "no name of an axis"),
        ("a 3 c -> a c", "not 3"),
        ("a b -> b a", "3 dimensions, the left side 2"),
        ("... a b c d -> a b c d ...", "3 dimensions, the left side 4"),
        ("1 b c -> b c", "a dimension of 2 elements is not"),
        ("a b (c d) -> a b c d", "all but one need a length"),
    ],
)
def test_what_cannot_be_followed(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        rearrange(tenfold.zeros(2, 3, 4), pattern)


@pytest.mark.parametrize("lengths", [{"c": 3}, {"c": 2, "d": 3}, {"c": 0}, {"c": -2}, {"c": 2, "e": 1}])
def test_lengths_that_do_not_fit(lengths: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="cannot be followed"):
        rearrange(tenfold.zeros(2, 3, 4), "a b (c d) -> a b c d", **lengths)


def test_a_length_beside_none_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="cannot be followed"):
        rearrange(tenfold.zeros(0, 3), "(c a) b -> c a b", c=0)


def test_lengths_are_integers() -> None:
    with pytest.raises(TypeError, match="must be integers"):
        rearrange(tenfold.zeros(2, 3, 4), "a b (c d) -> a b c d", c="2")  # type: ignore[arg-type]
