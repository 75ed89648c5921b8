"""Vocabularies: tokens to indices and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any


class Vocab:
    """Two-way map between tokens and the indices 0, 1, 2, ...

    A token that is not in the vocabulary has the default index, if one is set.

    Raises: RuntimeError for a duplicate token, for an unknown token without default index, and for an index out of range.

    >>> v = Vocab(["<unk>", "a", "b"])
    >>> v(["b", "a"]), v.lookup_tokens([0, 2])
    ([2, 1], ['<unk>', 'b'])
    """

    def __init__(self, tokens: Iterable[str] = (), default_index: int | None = None) -> None:
        self._tokens: list[str] = []
        self._indices: dict[str, int] = {}
        self._default_index = default_index
        for token in tokens:
            self.append_token(token)

    def __reduce__(self) -> Any:
        if type(self) is not Vocab:
            return super().__reduce__()
        return Vocab, (list(self._tokens), self._default_index)

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._indices

    def __getitem__(self, token: str) -> int:
        index = self._indices.get(token, self._default_index)
        if index is None:
            raise RuntimeError(f"Vocab: token {token!r} not found and default index is not set; set one with set_default_index")
        return index

    def __call__(self, tokens: Sequence[str]) -> list[int]:
        return self.lookup_indices(tokens)

    def forward(self, tokens: Sequence[str]) -> list[int]:
        """The indices of tokens."""
        return self.lookup_indices(tokens)

    def set_default_index(self, index: int | None) -> None:
        """Set the index of unknown tokens; None makes them an error."""
        self._default_index = index

    def get_default_index(self) -> int | None:
        """The index of unknown tokens."""
        return self._default_index

    def append_token(self, token: str) -> None:
        """Add a token at the end."""
        self.insert_token(token, len(self._tokens))

    def insert_token(self, token: str, index: int) -> None:
        """Add a token at an index; later tokens move up by one."""
        if token in self._indices:
            raise RuntimeError(f"Vocab: token {token!r} already exists with index {self._indices[token]}; a token has one index")
        if not 0 <= index <= len(self._tokens):
            raise RuntimeError(f"Vocab: index {index} is out of range, must be in [0, {len(self._tokens)}]")
        self._tokens.insert(index, token)
        for position in range(index, len(self._tokens)):
            self._indices[self._tokens[position]] = position

    def lookup_token(self, index: int) -> str:
        """The token at an index."""
        if not 0 <= index < len(self._tokens):
            raise RuntimeError(f"Vocab: index {index} is out of range, must be in [0, {len(self._tokens)})")
        return self._tokens[index]

    def lookup_tokens(self, indices: Sequence[int]) -> list[str]:
        """The tokens at indices."""
        return [self.lookup_token(index) for index in indices]

    def lookup_indices(self, tokens: Sequence[str]) -> list[int]:
        """The indices of tokens."""
        return [self[token] for token in tokens]

    def get_stoi(self) -> dict[str, int]:
        """A dict from tokens to indices."""
        return dict(self._indices)

    def get_itos(self) -> list[str]:
        """All tokens, by index."""
        return list(self._tokens)


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
