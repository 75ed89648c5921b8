"""Tokenizers: from texts to tokens, ids and batches."""

from __future__ import annotations

from tenfold.text.tokenizers.basic import Tokenizer, basic_english, characters, get_tokenizer
from tenfold.text.tokenizers.encoding import Encoder, Encoding
from tenfold.text.tokenizers.sentencepiece import SentencePiece
from tenfold.text.tokenizers.subword import SubwordTokenizer

__all__ = [
    "Encoder",
    "Encoding",
    "SentencePiece",
    "SubwordTokenizer",
    "Tokenizer",
    "basic_english",
    "characters",
    "get_tokenizer",
]
