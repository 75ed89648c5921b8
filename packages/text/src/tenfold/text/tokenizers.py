"""Tokenizers: from a text to a list of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

Tokenizer = Callable[[str], list[str]]

_SPACED = re.compile(r"['.,()!?]")
_DROPPED = re.compile(r'"|<br />|[;:]')


def basic_english(text: str) -> list[str]:
    """Split English text into lower-case words and the marks ' . , ( ) ! ?; drop quotes, colons, semicolons and line breaks.

    >>> basic_english("Don't panic: it's (mostly) harmless!")
    ['don', "'", 't', 'panic', 'it', "'", 's', '(', 'mostly', ')', 'harmless', '!']
    """
    cleaned = _DROPPED.sub(lambda found: "" if found.group() == '"' else " ", text.lower())
    return _SPACED.sub(lambda found: f" {found.group()} ", cleaned).split()


def characters(text: str) -> list[str]:
    """Split a text into its characters.

    >>> characters("a b")
    ['a', ' ', 'b']
    """
    return list(text)


_BY_NAME: dict[str, Tokenizer] = {"basic_english": basic_english, "characters": characters}


def get_tokenizer(tokenizer: str | Tokenizer | None, language: str = "en") -> Tokenizer:
    """A tokenizer by name ("basic_english", "characters"); None splits at white space; a callable is given back.

    Raises: ValueError for an unknown name, or basic_english in a language other than "en".

    >>> get_tokenizer(None)("two  words")
    ['two', 'words']
    """
    if tokenizer is None:
        return str.split
    if callable(tokenizer):
        return tokenizer
    if tokenizer not in _BY_NAME:
        raise ValueError(
            f"get_tokenizer: got {tokenizer!r}; accepted are {sorted(_BY_NAME)}, None and callables from text to tokens"
        )
    if tokenizer == "basic_english" and language != "en":
        raise ValueError(f"get_tokenizer: basic_english is for language 'en', got {language!r}")
    return _BY_NAME[tokenizer]


class SubwordTokenizer:
    """A byte-pair tokenizer of the `tokenizers` library (the extra tenfold-text[tokenizers]): trained, or read from a file.

    Calling it gives tokens; `encode` and `decode` go between texts and ids.

    Raises: ImportError when the library is not installed.
    """

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    @classmethod
    def train(cls, texts: Iterable[str], vocab_size: int, special_tokens: Sequence[str] = ()) -> SubwordTokenizer:
        """Learn a byte-level BPE vocabulary of at most `vocab_size` tokens (special ones first, at least all 256 bytes)."""
        library = _library()
        backend = library.Tokenizer(library.models.BPE())
        backend.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = library.decoders.ByteLevel()
        trainer = library.trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=list(special_tokens),
            initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        )
        backend.train_from_iterator(texts, trainer)
        return cls(backend)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> SubwordTokenizer:
        """Read a tokenizer from the library's JSON file."""
        return cls(_library().Tokenizer.from_file(str(path)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tokenizer to a JSON file."""
        self.backend.save(str(path))

    def __call__(self, text: str) -> list[str]:
        return list(self.backend.encode(text).tokens)

    def __len__(self) -> int:
        return int(self.backend.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """The ids of a text's tokens."""
        return list(self.backend.encode(text).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids."""
        return str(self.backend.decode(list(ids)))


def _library() -> Any:
    try:
        import tokenizers
        import tokenizers.decoders
        import tokenizers.models
        import tokenizers.pre_tokenizers
        import tokenizers.trainers
    except ImportError as error:
        raise ImportError(
            'SubwordTokenizer needs the library "tokenizers", an extra of tenfold-text: pip install "tenfold-text[tokenizers]"'
        ) from error
    return tokenizers
