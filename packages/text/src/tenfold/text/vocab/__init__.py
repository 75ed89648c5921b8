"""Vocabularies: tokens to indices and back, made from texts, kept in text files; and torchtext's path to word vectors."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.text.vocab.factory import build_vocab_from_iterator, vocab
from tenfold.text.vocab.vocab import Vocab

_VECTORS = ("CharNGram", "FastText", "GloVe", "Vectors", "pretrained_aliases")
__all__ = ["Vocab", "build_vocab_from_iterator", "vocab"]


def __getattr__(name: str) -> Any:
    if name in _VECTORS:
        return getattr(importlib.import_module("tenfold.text.vectors"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
