"""The layers of T5's encoder and decoder, with positions relative to each other.

Source: C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.text.models.activations import activation
from tenfold.text.models.attention import Cache, attend, looks, split_heads, visible
from tenfold.text.models.config import Config
from tenfold.text.models.embedded import embedded
from tenfold.text.models.output import Output


@dataclasses.dataclass(kw_only=True)
class T5Config(Config):
    """T5's sizes; those of ``t5-small`` by default."""

    model_type: ClassVar[str] = "t5"
    vocab_size: int = 32128
    d_model: int = 512
    d_kv: int = 64
    d_ff: int = 2048
    num_layers: int = 6
    num_decoder_layers: int | None = None
    num_heads: int = 8
    relative_attention_num_buckets: int = 32
    relative_attention_max_distance: int = 128
    dropout_rate: float = 0.1
    layer_norm_epsilon: float = 1e-6
    initializer_factor: float = 1.0
    feed_forward_proj: str = "relu"
    pad_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 1
    decoder_start_token_id: int | None = 0
    classifier_dropout: float = 0.0
    scale_decoder_outputs: bool | None = None  # by default where words are read and written with the same vectors

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale_decoder_outputs is None:
            self.scale_decoder_outputs = self.tie_word_embeddings

    @classmethod
    def accepts(cls) -> tuple[str, ...]:
        return ("t5", "mt5")

    @property
    def gated(self) -> bool:
        """Whether the wide layer has a gate."""
        return self.feed_forward_proj.startswith("gated-")

    @property
    def act(self) -> str:
        """The name of the wide layer's activation."""
        name = self.feed_forward_proj.removeprefix("gated-")
        return "gelu_new" if self.feed_forward_proj == "gated-gelu" else name


class Attention(nn.Module):
    """Attention whose scores are not scaled and have the relative position's number added. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: T5Config, number: int, has_relative_bias: bool, both_sides: bool) -> None:
        super().__init__()
        inner = config.num_heads * config.d_kv
        self.heads, self.rate, self.number, self.both_sides = config.num_heads, config.dropout_rate, number, both_sides
        self.buckets, self.furthest = config.relative_attention_num_buckets, config.relative_attention_max_distance
        self.q, self.k, self.v = (nn.Linear(config.d_model, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, config.d_model, bias=False)
        if has_relative_bias:
            self.relative_attention_bias = nn.Embedding(self.buckets, self.heads)

    def forward(self, x: Tensor, bias: Tensor | None, cache: Cache | None) -> Tensor:
        k, v = split_heads(self.k(x), self.heads), split_heads(self.v(x), self.heads)
        if cache is not None:
            k, v = cache.extended(self.number, k, v)
        return self._attended(x, k, v, bias)

    def across(self, x: Tensor, memory: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """Attention to what the encoder made, whose keys and values a cache keeps."""
        held = None if cache is None else cache.fixed(self.number)
        if held is None:
            held = split_heads(self.k(memory), self.heads), split_heads(self.v(memory), self.heads)
            if cache is not None:
                cache.keep_fixed(self.number, *held)
        return self._attended(x, *held, mask)

    def _attended(self, x: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        return self.o(attend(split_heads(self.q(x), self.heads), k, v, bias, self.rate if self.training else 0.0, scale=1.0))

    def relative_bias(self, past: int, T: int) -> Tensor:
        """What is added to the scores. Shape: (1, H, T, past + T)."""
        keys = tenfold.arange(past + T, device=self.q.weight.device)
        places = relative_buckets(keys - keys[past:].unsqueeze(1), self.buckets, self.furthest, self.both_sides)
        return self.relative_attention_bias(places).permute(2, 0, 1).unsqueeze(0)


def relative_buckets(distance: Tensor, buckets: int, furthest: int, both_sides: bool) -> Tensor:
    """The bucket of each key minus query position: one for each small distance, then ever wider ones up to `furthest`.

    >>> relative_buckets(tenfold.tensor([0, -1, -7, -40, -500, 3]), 8, 128, both_sides=False).tolist()
    [0, 1, 4, 6, 7, 0]
    """
    base = tenfold.zeros_like(distance)
    if both_sides:
        buckets //= 2
        base = (distance > 0).long() * buckets
        back = distance.abs()
    else:
        back = (-distance).clamp(min=0)
    exact = buckets // 2
    steps = tenfold.log(back.clamp(min=1).float() / exact) / math.log(furthest / exact) * (buckets - exact)
    wide = (exact + steps.long()).clamp(max=buckets - 1)
    return base + tenfold.where(back < exact, back, wide)


class Dense(nn.Module):
    """The wide layer, without gate."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.wi, self.wo = nn.Linear(config.d_model, config.d_ff, bias=False), nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout, self.act = nn.Dropout(config.dropout_rate), activation(config.act)

    def forward(self, x: Tensor) -> Tensor:
        return self.wo(self.dropout(self.act(self.wi(x))))


class GatedDense(nn.Module):
    """The wide layer with a gate."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.wi_0, self.wi_1 = (nn.Linear(config.d_model, config.d_ff, bias=False) for _ in range(2))
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout, self.act = nn.Dropout(config.dropout_rate), activation(config.act)

    def forward(self, x: Tensor) -> Tensor:
        return self.wo(self.dropout(self.act(self.wi_0(x)) * self.wi_1(x)))


class Normalized(nn.Module):
    """A part with the norm before it; what comes out is added to what came in."""

    def __init__(self, config: T5Config, name: str, part: nn.Module) -> None:
        super().__init__()
        setattr(self, name, part)
        self.layer_norm = nn.RMSNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)


class SelfAttention(Normalized):
    """Attention within a text."""

    def __init__(self, config: T5Config, number: int, both_sides: bool) -> None:
        super().__init__(config, "SelfAttention", Attention(config, number, number == 0, both_sides))

    def forward(self, x: Tensor, bias: Tensor | None, cache: Cache | None) -> Tensor:
        return x + self.dropout(self.SelfAttention(self.layer_norm(x), bias, cache))


class CrossAttention(Normalized):
    """Attention to what the encoder made."""

    def __init__(self, config: T5Config, number: int) -> None:
        super().__init__(config, "EncDecAttention", Attention(config, number, False, True))

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        return x + self.dropout(self.EncDecAttention.across(self.layer_norm(x), memory, mask, cache))


class FeedForward(Normalized):
    """The wide layer for each position."""

    def __init__(self, config: T5Config) -> None:
        super().__init__(config, "DenseReluDense", GatedDense(config) if config.gated else Dense(config))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.dropout(self.DenseReluDense(self.layer_norm(x)))


class Block(nn.Module):
    """One layer of the encoder or, looking at the encoder too, of the decoder."""

    def __init__(self, config: T5Config, number: int, decoder: bool) -> None:
        super().__init__()
        across = [CrossAttention(config, number)] if decoder else []
        self.layer = nn.ModuleList([SelfAttention(config, number, not decoder), *across, FeedForward(config)])

    def forward(
        self, x: Tensor, bias: Tensor | None, memory: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        x = self.layer[0](x, bias, cache)
        if memory is not None:
            x = self.layer[1](x, memory, memory_mask, cache)
        return self.layer[-1](x)


class Stack(nn.Module):
    """The encoder, or the decoder. Shape: ids (B, T) -> last_hidden_state (B, T, D)."""

    def __init__(self, config: T5Config, words: nn.Embedding, decoder: bool) -> None:
        super().__init__()
        self.embed_tokens, self.is_decoder = words, decoder
        count = config.num_layers if not decoder or config.num_decoder_layers is None else config.num_decoder_layers
        self.block = nn.ModuleList([Block(config, number, decoder) for number in range(count)])
        self.final_layer_norm = nn.RMSNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        encoder_hidden_states: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        past_key_values: Cache | None = None,
        output_hidden_states: bool = False,
        output_attentions: bool = False,
    ) -> Output:
        states = [self.dropout(embedded(self.embed_tokens, input_ids, inputs_embeds))]
        bias = self._bias(attention_mask, states[0], 0 if past_key_values is None else len(past_key_values))
        memory = encoder_hidden_states
        seen = None if memory is None else visible(encoder_attention_mask, memory)
        across = None if seen is None else _hidden(seen, tenfold.zeros((), dtype=states[0].dtype, device=states[0].device))
        with looks(output_attentions) as weights:
            for block in self.block:
                states.append(block(states[-1], bias, memory, across, past_key_values))
        states[-1] = self.dropout(self.final_layer_norm(states[-1]))
        kinds = 1 if memory is None else 2  # a layer looks at the text, then at what the encoder made
        return Output(
            last_hidden_state=states[-1],
            past_key_values=past_key_values,
            hidden_states=tuple(states) if output_hidden_states else None,
            attentions=tuple(weights[::kinds]) or None,
            cross_attentions=tuple(weights[1::2]) or None if kinds == 2 else None,
        )

    def _bias(self, attention_mask: Tensor | None, x: Tensor, past: int) -> Tensor:
        """What is added to the scores of attention within the text. Shape: (B or 1, H, T, past + T)."""
        bias: Tensor = self.block[0].layer[0].SelfAttention.relative_bias(past, x.shape[1])
        seen = visible(attention_mask, x, past, causal=self.is_decoder)
        return bias if seen is None else _hidden(seen, bias)


def _hidden(seen: Tensor, bias: Tensor) -> Tensor:
    """A bias of the scores that hides what is not seen; finite, so that a text of padding alone looks at all of it alike."""
    return tenfold.where(seen, bias, tenfold.finfo(bias.dtype).min)
