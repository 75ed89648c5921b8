"""Vocabularies made from counts and from texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from tenfold.text.vocab.vocab import Vocab


def vocab(
    ordered_dict: Mapping[str, int], min_freq: int = 1, specials: Sequence[str] | None = None, special_first: bool = True
) -> Vocab:
    """A vocabulary of a mapping from tokens to counts, in the mapping's order; tokens below `min_freq` are left out.

    Special tokens come first (or last) whatever their count.

    >>> vocab({"b": 3, "a": 1, "c": 2}, min_freq=2, specials=["<unk>"]).get_itos()
    ['<unk>', 'b', 'c']
    """
    specials = list(specials or ())
    kept = [token for token, count in ordered_dict.items() if count >= min_freq and token not in specials]
    return Vocab([*specials, *kept] if special_first else [*kept, *specials])


def build_vocab_from_iterator(
    iterator: Iterable[Iterable[str]],
    min_freq: int = 1,
    specials: Sequence[str] | None = None,
    special_first: bool = True,
    max_tokens: int | None = None,
) -> Vocab:
    """A vocabulary of lists of tokens: the most frequent first, equal ones in alphabetical order.

    `max_tokens` counts the special tokens too.

    Raises: AssertionError when `max_tokens` is not above the number of special tokens.

    >>> build_vocab_from_iterator([["b", "a"], ["c", "b"]], specials=["<unk>"], max_tokens=3).get_itos()
    ['<unk>', 'b', 'a']
    """
    counts = Counter(chain.from_iterable(iterator))
    specials = list(specials or ())
    for special in specials:
        counts.pop(special, None)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    if max_tokens is not None:
        if max_tokens <= len(specials):
            raise AssertionError(
                f"build_vocab_from_iterator: max_tokens={max_tokens} must be above the number of specials, {len(specials)}"
            )
        ordered = ordered[: max_tokens - len(specials)]
    return vocab(dict(ordered), min_freq, specials, special_first)
