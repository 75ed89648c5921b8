"""Tokenizers, vocabularies and text datasets."""

from __future__ import annotations

from .ngrams import ngrams_iterator
from .tokenizers import SubwordTokenizer, get_tokenizer
from .vocab import Vocab, build_vocab_from_iterator

__all__ = ["SubwordTokenizer", "Vocab", "build_vocab_from_iterator", "get_tokenizer", "ngrams_iterator"]
