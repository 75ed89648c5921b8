"""Vocabularies: tokens to indices and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

from tenfold.text.vocab.files import read_tokens, write_tokens


class Vocab:
    """Two-way map between tokens and the indices 0, 1, 2, ...

    A token that is not in the vocabulary has the default index, if one is set.

    Raises: RuntimeError for a duplicate token, for an unknown token without default index, and for an index out of range.

    >>> v = Vocab(["<unk>", "a", "b"])
    >>> v(["b", "a"]), v.lookup_tokens([0, 2])
    ([2, 1], ['<unk>', 'b'])
    """

    __module__ = "tenfold.text.vocab"  # its name in checkpoints, whichever file it lives in

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
        if not isinstance(token, str):
            raise TypeError(f"Vocab: tokens are str, got {token!r}; lookup_token gives the token of an index")
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
        """The indices of tokens. Raises: TypeError for one str, which has letters, not tokens."""
        if isinstance(tokens, str):
            raise TypeError(f"Vocab: expected a list of tokens, got the str {tokens!r}; vocab[token] gives the index of one")
        return [self[token] for token in tokens]

    def get_stoi(self) -> dict[str, int]:
        """A dict from tokens to indices."""
        return dict(self._indices)

    def get_itos(self) -> list[str]:
        """All tokens, by index."""
        return list(self._tokens)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokens as text: one in a line, as in BERT's ``vocab.txt``, or with the suffix ``.json`` one object from
        tokens to indices, as in GPT-2's ``vocab.json``.

        Raises: ValueError for a token with a line break, unless the file is JSON.
        """
        write_tokens(self._tokens, path)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], unknown: str | None = None) -> Self:
        """Read what `save` writes; with `unknown` its index is the default one.

        Raises: ValueError naming the file, and the line of a token that is there twice.
        """
        made = cls(read_tokens(path))
        if unknown is not None:
            made.set_default_index(made[unknown])
        return made
