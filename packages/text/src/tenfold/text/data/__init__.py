"""Preparing texts: collation, batches by length, masking, n-grams, metrics; and torchtext's paths below `torchtext.data`."""

from __future__ import annotations

from tenfold.data.buckets import BucketSampler
from tenfold.text.data.collation import PadCollate
from tenfold.text.data.functional import (
    custom_replace,
    filter_wikipedia_xml,
    generate_sp_model,
    load_sp_model,
    numericalize_tokens_from_iterator,
    sentencepiece_numericalizer,
    sentencepiece_tokenizer,
    simple_space_split,
    to_map_style_dataset,
)
from tenfold.text.data.masking import mask_tokens
from tenfold.text.data.metrics import bleu_score, perplexity
from tenfold.text.data.ngrams import ngrams_iterator
from tenfold.text.data.pairs import sentence_pairs
from tenfold.text.tokenizers import get_tokenizer

__all__ = [
    "BucketSampler",
    "PadCollate",
    "bleu_score",
    "custom_replace",
    "filter_wikipedia_xml",
    "generate_sp_model",
    "get_tokenizer",
    "load_sp_model",
    "mask_tokens",
    "ngrams_iterator",
    "numericalize_tokens_from_iterator",
    "perplexity",
    "sentence_pairs",
    "sentencepiece_numericalizer",
    "sentencepiece_tokenizer",
    "simple_space_split",
    "to_map_style_dataset",
]
