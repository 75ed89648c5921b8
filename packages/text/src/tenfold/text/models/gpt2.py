"""GPT-2, a decoder that writes on.

Source: A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.text.generation.generate import Generative
from tenfold.text.models.activations import activation
from tenfold.text.models.attention import Cache, attend, begun, checked_heads, looks, positions, split_heads, visible
from tenfold.text.models.config import Config
from tenfold.text.models.embedded import embedded
from tenfold.text.models.heads import next_token_loss
from tenfold.text.models.output import Output
from tenfold.text.models.pretrained import PretrainedModel


@dataclasses.dataclass(kw_only=True)
class GPT2Config(Config):
    """GPT-2's sizes; those of ``gpt2`` by default."""

    model_type: ClassVar[str] = "gpt2"
    vocab_size: int = 50257
    n_positions: int = 1024
    n_embd: int = 768
    n_layer: int = 12
    n_head: int = 12
    n_inner: int | None = None
    activation_function: str = "gelu_new"
    resid_pdrop: float = 0.1
    embd_pdrop: float = 0.1
    attn_pdrop: float = 0.1
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True
    scale_attn_by_inverse_layer_idx: bool = False
    classifier_dropout: float | None = None  # before the classes of tokens; 0.1 where it is not said
    bos_token_id: int | None = 50256
    eos_token_id: int | list[int] | None = 50256


class Conv1D(nn.Module):
    """A linear layer whose weight is kept as (inputs, outputs). Shape: (..., inputs) -> (..., outputs)."""

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(tenfold.empty(inputs, outputs))
        self.bias = nn.Parameter(tenfold.zeros(outputs))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight.t(), self.bias)


class Attention(nn.Module):
    """Attention of every token to itself and those before it. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: GPT2Config, number: int) -> None:
        super().__init__()
        D = config.n_embd
        self.heads, self.rate, self.number = checked_heads(D, config.n_head), config.attn_pdrop, number
        self.scale = 1 / math.sqrt(D // config.n_head) if config.scale_attn_weights else 1.0
        if config.scale_attn_by_inverse_layer_idx:
            self.scale /= number + 1
        self.c_attn, self.c_proj = Conv1D(3 * D, D), Conv1D(D, D)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        q, k, v = (split_heads(part, self.heads) for part in self.c_attn(x).chunk(3, -1))
        if cache is not None:
            k, v = cache.extended(self.number, k, v)
        return self.resid_dropout(self.c_proj(attend(q, k, v, mask, self.rate if self.training else 0.0, self.scale)))


class MLP(nn.Module):
    """The wide layer for each position."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        inner = config.n_inner or 4 * config.n_embd
        self.c_fc, self.c_proj = Conv1D(inner, config.n_embd), Conv1D(config.n_embd, inner)
        self.act, self.dropout = activation(config.activation_function), nn.Dropout(config.resid_pdrop)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class Block(nn.Module):
    """One layer: attention, then the wide layer, each added. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: GPT2Config, number: int) -> None:
        super().__init__()
        D, eps = config.n_embd, config.layer_norm_epsilon
        self.ln_1, self.attn = nn.LayerNorm(D, eps=eps), Attention(config, number)
        self.ln_2, self.mlp = nn.LayerNorm(D, eps=eps), MLP(config)

    def forward(self, x: Tensor, mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = x + self.attn(self.ln_1(x), mask, cache)
        return x + self.mlp(self.ln_2(x))


class GPT2Pretrained(PretrainedModel):
    """What GPT-2's models share."""

    config_class: ClassVar[type[Config]] = GPT2Config
    base_prefix: ClassVar[str] = "transformer"
    words: ClassVar[str] = "wte"
    ignored: ClassVar[tuple[str, ...]] = (".attn.bias", ".attn.masked_bias", "lm_head.weight")

    def initialize(self) -> None:
        """Layers that are added to what comes in begin smaller, the more of them there are."""
        super().initialize()
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(p, std=self.config.initializer_range / math.sqrt(2 * self.config.n_layer))


class GPT2Model(GPT2Pretrained):
    """The decoder. Shape: ids (B, T) -> last_hidden_state (B, T, D)."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        D = config.n_embd
        self.wte, self.wpe = nn.Embedding(config.vocab_size, D), nn.Embedding(config.n_positions, D)
        self.drop = nn.Dropout(config.embd_pdrop)
        self.h = nn.ModuleList([Block(config, number) for number in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(D, eps=config.layer_norm_epsilon)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        past_key_values: Cache | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,  # of an `Encoding`; this model has one kind of text
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        x = embedded(self.wte, input_ids, inputs_embeds)
        cache = begun(past_key_values, self.wants("use_cache", use_cache))
        past = 0 if cache is None else len(cache)
        if past + x.shape[1] > self.config.n_positions:
            raise ValueError(
                f"the text has {past + x.shape[1]} tokens, the model positions for {self.config.n_positions}; truncate it"
            )
        states = [self.drop(x + self.wpe(positions(x, past) if position_ids is None else position_ids))]
        mask = visible(attention_mask, x, past, causal=True)
        with looks(self.wants("output_attentions", output_attentions)) as weights:
            for block in self.h:
                states.append(block(states[-1], mask, cache))
        states[-1] = self.ln_f(states[-1])
        each = tuple(states) if self.wants("output_hidden_states", output_hidden_states) else None
        return Output(last_hidden_state=states[-1], past_key_values=cache, hidden_states=each, attentions=tuple(weights) or None)


class GPT2LMHeadModel(GPT2Pretrained, Generative):
    """Scores of the next token at every position; with `labels` (the ids themselves) their cross entropy.

    Shape: (B, T) -> (B, T, V).

    >>> model = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_embd=8, n_layer=1, n_head=2, n_positions=16))
    >>> model.generate(tenfold.tensor([[1, 2]]), max_new_tokens=3).shape
    tenfold.Size([1, 5])
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.transformer.wte.weight
        self.initialize()

    @property
    def most_positions(self) -> int:
        return int(self.config.n_positions)

    def forward(
        self,
        input_ids: Tensor | None = None,
        past_key_values: Cache | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int = 0,
        **options: Any,
    ) -> Output:
        found = self.transformer(
            input_ids, past_key_values, attention_mask, token_type_ids, position_ids, inputs_embeds, use_cache,
            return_dict=True, **options,
        )  # fmt: skip
        logits = self.lm_head(found.last_hidden_state[:, -logits_to_keep:])
        return found.of_task(loss=next_token_loss(logits, labels), logits=logits)
