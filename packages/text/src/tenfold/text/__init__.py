"""Text: tokenizers, vocabularies, vectors, transforms, data, datasets, models, generation.

The rooms that need more than lists and strings come in when first named, so that ``import tenfold.text`` does not load
`tenfold.nn`.
"""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.text.tokenizers import Encoder, Encoding, SentencePiece, SubwordTokenizer, get_tokenizer
from tenfold.text.vocab import Vocab, build_vocab_from_iterator

_ROOMS = (
    "data",
    "datasets",
    "functional",
    "generation",
    "lora",
    "models",
    "tokenizers",
    "transforms",
    "utils",
    "vectors",
    "vocab",
)
_HERE = {"ngrams_iterator": "tenfold.text.data.ngrams"}
__all__ = [
    "Encoder",
    "Encoding",
    "SentencePiece",
    "SubwordTokenizer",
    "Vocab",
    "build_vocab_from_iterator",
    "get_tokenizer",
    "ngrams_iterator",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HERE:
        return getattr(importlib.import_module(_HERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join([*__all__, *_ROOMS])}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
