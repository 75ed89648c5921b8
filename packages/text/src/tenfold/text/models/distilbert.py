"""DistilBERT: half of BERT's layers, taught by it.

Source: V. Sanh, L. Debut, J. Chaumond, T. Wolf, DistilBERT, a distilled version of BERT, 2019.
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
from tenfold.text.models.heads import class_loss, flat_choices, span_loss, token_loss
from tenfold.text.models.output import Output
from tenfold.text.models.pretrained import PretrainedModel


@dataclasses.dataclass(kw_only=True)
class DistilBertConfig(Config):
    """DistilBERT's sizes; those of ``distilbert-base`` by default."""

    model_type: ClassVar[str] = "distilbert"
    vocab_size: int = 30522
    max_position_embeddings: int = 512
    dim: int = 768
    n_layers: int = 6
    n_heads: int = 12
    hidden_dim: int = 3072
    dropout: float = 0.1
    attention_dropout: float = 0.1
    activation: str = "gelu"
    seq_classif_dropout: float = 0.2
    qa_dropout: float = 0.1
    pad_token_id: int | None = 0


class Embeddings(nn.Module):
    """The sum of a token's and its position's vector, normalized. Shape: (B, T) -> (B, T, D)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, input_ids: Tensor | None, position_ids: Tensor | None = None, inputs_embeds: Tensor | None = None
    ) -> Tensor:
        x = embedded(self.word_embeddings, input_ids, inputs_embeds)
        T, most = x.shape[1], self.position_embeddings.num_embeddings
        if most < T:
            raise ValueError(f"the text has {T} tokens, the model positions for {most}; truncate it")
        places = positions(x) if position_ids is None else position_ids
        return self.dropout(self.LayerNorm(x + self.position_embeddings(places)))


class Attention(nn.Module):
    """Attention of every token to all. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        D = config.dim
        self.heads, self.rate = checked_heads(D, config.n_heads), config.attention_dropout
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (split_heads(part(x), self.heads) for part in (self.q_lin, self.k_lin, self.v_lin))
        return self.out_lin(attend(q, k, v, mask, self.rate if self.training else 0.0))


class FeedForward(nn.Module):
    """The wide layer for each position."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(config.dim, config.hidden_dim), nn.Linear(config.hidden_dim, config.dim)
        self.act, self.dropout = activation(config.activation), nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.lin2(self.act(self.lin1(x))))


class Block(nn.Module):
    """One layer of the encoder. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.attention, self.sa_layer_norm = Attention(config), nn.LayerNorm(config.dim, eps=1e-12)
        self.ffn, self.output_layer_norm = FeedForward(config), nn.LayerNorm(config.dim, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        x = self.sa_layer_norm(self.attention(x, mask) + x)
        return self.output_layer_norm(self.ffn(x) + x)


class Transformer(nn.Module):
    """The layers."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList([Block(config) for _ in range(config.n_layers)])

    def forward(self, x: Tensor, mask: Tensor | None) -> list[Tensor]:
        states = [x]
        for layer in self.layer:
            states.append(layer(states[-1], mask))
        return states


class DistilBertPretrained(PretrainedModel):
    """What DistilBERT's models share."""

    config_class: ClassVar[type[Config]] = DistilBertConfig
    base_prefix: ClassVar[str] = "distilbert"
    words: ClassVar[str] = "embeddings.word_embeddings"
    ignored: ClassVar[tuple[str, ...]] = ("position_ids",)


class DistilBertModel(DistilBertPretrained):
    """The encoder. Shape: ids (B, T) -> last_hidden_state (B, T, D)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.embeddings, self.transformer = Embeddings(config), Transformer(config)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,  # of an `Encoding`; this model has one kind of text
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        x = self.embeddings(input_ids, position_ids, inputs_embeds)
        with looks(self.wants("output_attentions", output_attentions)) as weights:
            states = self.transformer(x, visible(attention_mask, x))
        each = tuple(states) if self.wants("output_hidden_states", output_hidden_states) else None
        return Output(last_hidden_state=states[-1], hidden_states=each, attentions=tuple(weights) or None)


class DistilBertForMaskedLM(DistilBertPretrained):
    """Scores of the hidden words; with `labels` (-100 where nothing is asked) their cross entropy."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.vocab_transform = nn.Linear(config.dim, config.dim)
        self.vocab_layer_norm = nn.LayerNorm(config.dim, eps=1e-12)
        self.vocab_projector = nn.Linear(config.dim, config.vocab_size)
        if config.tie_word_embeddings:
            self.vocab_projector.weight = self.distilbert.embeddings.word_embeddings.weight
        self.act = activation(config.activation)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.distilbert(input_ids, attention_mask, inputs_embeds, position_ids, return_dict=True, **options)
        logits = self.vocab_projector(self.vocab_layer_norm(self.act(self.vocab_transform(found.last_hidden_state))))
        return found.of_task(loss=token_loss(logits, labels), logits=logits)


class DistilBertForSequenceClassification(DistilBertPretrained):
    """Scores of a text's classes; with one class, a number. Shape: (B, T) -> (B, classes)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, config.num_labels)
        self.dropout = nn.Dropout(config.seq_classif_dropout)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.distilbert(input_ids, attention_mask, inputs_embeds, position_ids, return_dict=True, **options)
        hidden = tenfold.relu(self.pre_classifier(found.last_hidden_state[:, 0]))
        logits = self.classifier(self.dropout(hidden))
        return found.of_task(loss=class_loss(logits, labels, self.config.problem_type), logits=logits)


class DistilBertForTokenClassification(DistilBertPretrained):
    """Scores of each token's classes. Shape: (B, T) -> (B, T, classes)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.dim, config.num_labels)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.distilbert(input_ids, attention_mask, inputs_embeds, position_ids, return_dict=True, **options)
        logits = self.classifier(self.dropout(found.last_hidden_state))
        return found.of_task(loss=token_loss(logits, labels), logits=logits)


class DistilBertForQuestionAnswering(DistilBertPretrained):
    """Scores of where the answer starts and where it ends. Shape: (B, T) -> (B, T), (B, T)."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.qa_outputs = nn.Linear(config.dim, 2)
        self.dropout = nn.Dropout(config.qa_dropout)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.distilbert(input_ids, attention_mask, inputs_embeds, position_ids, return_dict=True, **options)
        start, end = self.qa_outputs(self.dropout(found.last_hidden_state)).unbind(-1)
        loss = span_loss(start, end, start_positions, end_positions)
        return found.of_task(loss=loss, start_logits=start, end_logits=end)


class DistilBertForMultipleChoice(DistilBertPretrained):
    """A score of each of several texts. Shape: (B, choices, T) -> (B, choices).

    Raises: ValueError for ids of another shape.
    """

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, 1)
        self.dropout = nn.Dropout(config.seq_classif_dropout)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        position_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **options: Any,
    ) -> Output:
        name = type(self).__name__
        choices, (ids, mask, places, vectors) = flat_choices(name, input_ids, attention_mask, position_ids, inputs_embeds)
        found = self.distilbert(ids, mask, vectors, places, return_dict=True, **options)
        hidden = tenfold.relu(self.pre_classifier(found.last_hidden_state[:, 0]))
        logits = self.classifier(self.dropout(hidden)).view(choices)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return found.of_task(loss=loss, logits=logits)
