"""Tokenizers by rule: from a text to a list of words or characters."""

from __future__ import annotations

import re
from collections.abc import Callable

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


def _spacy(language: str) -> Tokenizer:
    try:
        import spacy
    except ImportError as error:
        raise _missing("spacy", "spacy") from error
    pipeline = spacy.blank(language) if len(language) == 2 else spacy.load(language)
    return lambda text: [token.text for token in pipeline.tokenizer(text)]


def _moses(language: str) -> Tokenizer:
    try:
        from sacremoses import MosesTokenizer
    except ImportError as error:
        raise _missing("moses", "sacremoses") from error
    return MosesTokenizer(lang=language).tokenize  # type: ignore[no-any-return]


def _toktok(language: str) -> Tokenizer:
    try:
        from nltk.tokenize.toktok import ToktokTokenizer
    except ImportError as error:
        raise _missing("toktok", "nltk") from error
    return ToktokTokenizer().tokenize  # type: ignore[no-any-return]


def _missing(name: str, library: str) -> ImportError:
    return ImportError(f"get_tokenizer: {name!r} needs the library {library!r}: pip install {library}")


_BY_NAME: dict[str, Tokenizer] = {"basic_english": basic_english, "characters": characters}
_OF_LIBRARIES: dict[str, Callable[[str], Tokenizer]] = {"moses": _moses, "spacy": _spacy, "toktok": _toktok}


def get_tokenizer(tokenizer: str | Tokenizer | None, language: str = "en") -> Tokenizer:
    """A tokenizer by name; None splits at white space; a callable is given back.

    "basic_english" and "characters" are Tenfold's; "spacy", "moses" and "toktok" need the library of that name.

    Raises: ValueError for an unknown name, or basic_english in a language other than "en"; ImportError for a missing library.

    >>> get_tokenizer(None)("two  words")
    ['two', 'words']
    """
    if tokenizer is None:
        return str.split
    if callable(tokenizer):
        return tokenizer
    if tokenizer in _OF_LIBRARIES:
        return _OF_LIBRARIES[tokenizer](language)
    if tokenizer not in _BY_NAME:
        raise ValueError(
            f"get_tokenizer: got {tokenizer!r}; accepted are {sorted([*_BY_NAME, *_OF_LIBRARIES])}, None and callables from "
            "text to tokens"
        )
    if tokenizer == "basic_english" and language != "en":
        raise ValueError(f"get_tokenizer: basic_english is for language 'en', got {language!r}")
    return _BY_NAME[tokenizer]
