"""N-grams of a list of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def ngrams_iterator(token_list: Sequence[str], ngrams: int) -> Iterator[str]:
    """The tokens, then every run of 2, 3, ... up to `ngrams` tokens, joined by spaces.

    >>> list(ngrams_iterator(["a", "b", "c"], 2))
    ['a', 'b', 'c', 'a b', 'b c']
    """
    yield from token_list
    for n in range(2, ngrams + 1):
        for start in range(len(token_list) - n + 1):
            yield " ".join(token_list[start : start + n])
