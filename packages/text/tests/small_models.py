"""Models of a few numbers, for tests."""

from __future__ import annotations

import tenfold
from tenfold.text.models import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
)

SMALL = {"vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12}
IDS = tenfold.tensor([[3, 4, 5, 6]])


def bert(kind=BertForMaskedLM, **more):
    return kind(BertConfig(**SMALL, max_position_embeddings=12, **more)).eval()


def gpt2(**more):
    tenfold.manual_seed(0)
    sizes = {
        "vocab_size": 30,
        "n_embd": 8,
        "n_layer": 2,
        "n_head": 2,
        "n_positions": 24,
        "eos_token_id": None,
        "initializer_range": 0.4,
    }
    return GPT2LMHeadModel(GPT2Config(**{**sizes, **more})).eval()
