"""BERT, an encoder that sees both sides of a word.

Source: J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, BERT: Pre-training of Deep Bidirectional Transformers, 2019.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.text.models.activations import activation
from tenfold.text.models.attention import attend, checked_heads, looks, positions, split_heads, visible
from tenfold.text.models.config import Config
from tenfold.text.models.embedded import embedded
from tenfold.text.models.output import Output
from tenfold.text.models.pretrained import PretrainedModel


@dataclasses.dataclass(kw_only=True)
class BertConfig(Config):
    """BERT's sizes; those of ``bert-base`` by default."""

    model_type: ClassVar[str] = "bert"
    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    classifier_dropout: float | None = None
    is_decoder: bool = False  # whether a token sees none of those after it


class Embeddings(nn.Module):
    """The sum of a token's, its position's and its text's vector, normalized. Shape: (B, T) -> (B, T, D)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        D = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, D, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, D)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, D)
        self.LayerNorm = nn.LayerNorm(D, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def positions(self, input_ids: Tensor | None, x: Tensor) -> Tensor:
        """The number of each token."""
        return positions(x)

    def forward(
        self,
        input_ids: Tensor | None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> Tensor:
        x = embedded(self.word_embeddings, input_ids, inputs_embeds)
        T, most = x.shape[1], self.position_embeddings.num_embeddings
        if most < T:
            raise ValueError(f"the text has {T} tokens, the model positions for {most}; truncate it")
        types = tenfold.zeros(x.shape[:2], dtype=tenfold.int64, device=x.device) if token_type_ids is None else token_type_ids
        places = self.positions(input_ids, x) if position_ids is None else position_ids
        sums = x + self.token_type_embeddings(types) + self.position_embeddings(places)
        return self.dropout(self.LayerNorm(sums))


class SelfAttention(nn.Module):
    """Attention of every token to all. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        D = config.hidden_size
        self.heads, self.rate = checked_heads(D, config.num_attention_heads), config.attention_probs_dropout_prob
        self.query, self.key, self.value = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (split_heads(part(x), self.heads) for part in (self.query, self.key, self.value))
        return attend(q, k, v, mask, self.rate if self.training else 0.0)


class Added(nn.Module):
    """A linear layer whose result is added to what came in, normalized."""

    def __init__(self, width: int, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(width, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + before)


class Attention(nn.Module):
    """Attention and what is added to it."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.self, self.output = SelfAttention(config), Added(config.hidden_size, config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    """The wide layer for each position."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.act = activation(config.hidden_act)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.dense(x))


class Layer(nn.Module):
    """One layer of the encoder. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.attention, self.intermediate = Attention(config), Intermediate(config)
        self.output = Added(config.intermediate_size, config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    """The layers; with `each` also what comes out of every one."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, x: Tensor, mask: Tensor | None) -> list[Tensor]:
        states = [x]
        for layer in self.layer:
            states.append(layer(states[-1], mask))
        return states


class Pooler(nn.Module):
    """The first token's state, transformed: what stands for the text. Shape: (B, T, D) -> (B, D)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return tenfold.tanh(self.dense(x[:, 0]))


class BertPretrained(PretrainedModel):
    """What BERT's models share."""

    config_class: ClassVar[type[Config]] = BertConfig
    base_prefix: ClassVar[str] = "bert"
    words: ClassVar[str] = "embeddings.word_embeddings"
    ignored: ClassVar[tuple[str, ...]] = ("position_ids",)
    embeddings_class: ClassVar[type[Embeddings]] = Embeddings

    def base(self, config: Any, pooled: bool) -> None:
        """Make the encoder, under the name that the checkpoints give it."""
        setattr(self, self.base_prefix, BertModel(config, pooled, self.embeddings_class))

    def encode(self, *inputs: Any, **options: Any) -> Output:
        """What the encoder gives; `options` are `output_hidden_states` and `output_attentions`."""
        found: Output = getattr(self, self.base_prefix)(*inputs, return_dict=True, **options)
        return found


class BertModel(BertPretrained):
    """The encoder: a state for each token, and one for the text.

    Shape: ids (B, T) -> last_hidden_state (B, T, D), pooler_output (B, D).
    Raises: ValueError for a text with more tokens than the model has positions.

    >>> sizes = BertConfig(vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    >>> BertModel(sizes)(tenfold.tensor([[1, 2, 3]])).last_hidden_state.shape
    tenfold.Size([1, 3, 4])
    """

    def __init__(self, config: Any, add_pooling_layer: bool = True, embeddings: type[Embeddings] = Embeddings) -> None:
        super().__init__(config)
        self.embeddings, self.encoder = embeddings(config), Encoder(config)
        self.pooler = Pooler(config) if add_pooling_layer else None
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        x = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        with looks(self.wants("output_attentions", output_attentions)) as weights:
            states = self.encoder(x, visible(attention_mask, x, causal=self.config.is_decoder))
        pooled = None if self.pooler is None else self.pooler(states[-1])
        each = tuple(states) if self.wants("output_hidden_states", output_hidden_states) else None
        return Output(last_hidden_state=states[-1], pooler_output=pooled, hidden_states=each, attentions=tuple(weights) or None)
