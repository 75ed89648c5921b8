"""Transforms of texts as modules, under torchtext's names."""

from __future__ import annotations

from tenfold.text.transforms.lists import (
    AddToken,
    LabelToIndex,
    PadTransform,
    Sequential,
    StrToIntTransform,
    ToTensor,
    Truncate,
    VocabTransform,
)
from tenfold.text.transforms.masking import MaskTransform
from tenfold.text.transforms.tokenizers import (
    BERTTokenizer,
    CharBPETokenizer,
    CLIPTokenizer,
    GPT2BPETokenizer,
    RegexTokenizer,
    SentencePieceTokenizer,
)

__all__ = [
    "AddToken",
    "BERTTokenizer",
    "CLIPTokenizer",
    "CharBPETokenizer",
    "GPT2BPETokenizer",
    "LabelToIndex",
    "MaskTransform",
    "PadTransform",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "Sequential",
    "StrToIntTransform",
    "ToTensor",
    "Truncate",
    "VocabTransform",
]
