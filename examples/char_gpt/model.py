"""A small GPT: a transformer that predicts the next character from those before it.

Source: A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019 (layer norm before each part).
"""

from __future__ import annotations

from dataclasses import dataclass

import tenfold
from tenfold import Tensor, nn
from tenfold.nn import functional as F


@dataclass(frozen=True)
class Config:
    """Sizes of the model; written into its checkpoint."""

    vocabulary: int
    context: int = 64  # T, the characters that it sees
    width: int = 96  # D
    heads: int = 4
    layers: int = 3
    dropout: float = 0.0  # a run of two minutes sees little of the text twice


class Attention(nn.Module):
    """Every position gathers from itself and those before it. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4).unbind(0)  # (B, H, T, D/H)
        dropout = self.dropout if self.training else 0.0
        gathered = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
        return self.out(gathered.transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    """Attention and a layer for each position, both added to what comes in. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        D = config.width
        self.norm1, self.attention = nn.LayerNorm(D), Attention(config)
        self.norm2 = nn.LayerNorm(D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D), nn.Dropout(config.dropout))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class CharGPT(nn.Module):
    """Scores of the next character at every position. Shape: (B, T) int64 -> (B, T, vocabulary)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.characters = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width)
        self.scores = nn.Linear(config.width, config.vocabulary, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
        self.scores.weight = self.characters.weight  # a character has one vector, for reading and for writing

    def forward(self, ids: Tensor) -> Tensor:
        x = self.characters(ids) + self.positions(tenfold.arange(ids.shape[1]))
        return self.scores(self.norm(self.blocks(x)))


@tenfold.no_grad()
def continue_text(model: CharGPT, ids: Tensor, length: int, temperature: float = 0.8, top_k: int | None = 20) -> Tensor:
    """Draw further characters, each from the `top_k` likeliest. Shape: (T) -> (T + length).

    Raises: ValueError for a temperature that is not positive or a top_k below 1.
    """
    if temperature <= 0 or (top_k is not None and top_k < 1):
        raise ValueError(f"continue_text: temperature must be positive and top_k at least 1, got {temperature} and {top_k}")
    model.eval()
    for _ in range(length):
        scores = model(ids[-model.config.context :].unsqueeze(0))[0, -1] / temperature
        if top_k is not None:
            least = scores.topk(min(top_k, len(scores))).values[-1]
            scores = scores.masked_fill(scores < least, -tenfold.inf)
        ids = tenfold.cat([ids, tenfold.multinomial(scores.softmax(0), 1)])
    return ids
