"""BERT, an encoder that sees both sides of a word.

Source: J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, BERT: Pre-training of Deep Bidirectional Transformers, 2019.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.text.models.activations import activation
from tenfold.text.models.attention import attend, checked_heads, split_heads, visible
from tenfold.text.models.config import Config
from tenfold.text.models.heads import class_loss, span_loss, token_loss
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

    def positions(self, input_ids: Tensor) -> Tensor:
        """The number of each token."""
        return tenfold.arange(input_ids.shape[1], device=input_ids.device).unsqueeze(0)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None = None, position_ids: Tensor | None = None) -> Tensor:
        T, most = input_ids.shape[1], self.position_embeddings.num_embeddings
        if most < T:
            raise ValueError(f"the text has {T} tokens, the model positions for {most}; truncate it")
        types = tenfold.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = self.positions(input_ids) if position_ids is None else position_ids
        sums = self.word_embeddings(input_ids) + self.token_type_embeddings(types) + self.position_embeddings(places)
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
    ignored: ClassVar[tuple[str, ...]] = ("position_ids",)
    embeddings_class: ClassVar[type[Embeddings]] = Embeddings

    def base(self, config: Any, pooled: bool) -> None:
        """Make the encoder, under the name that the checkpoints give it."""
        setattr(self, self.base_prefix, BertModel(config, pooled, self.embeddings_class))

    def encode(self, *inputs: Any, **options: Any) -> Output:
        """What the encoder gives; `options` are `position_ids` and `output_hidden_states`."""
        found: Output = getattr(self, self.base_prefix)(*inputs, **options)
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
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> Output:
        x = self.embeddings(input_ids, token_type_ids, position_ids)
        states = self.encoder(x, visible(attention_mask, x))
        pooled = None if self.pooler is None else self.pooler(states[-1])
        each = tuple(states) if output_hidden_states else None
        return Output(last_hidden_state=states[-1], pooler_output=pooled, hidden_states=each)


class Transform(nn.Module):
    """What comes before the scores of words."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.act = activation(config.hidden_act)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x: Tensor) -> Tensor:
        return self.LayerNorm(self.act(self.dense(x)))


class Predictions(nn.Module):
    """Scores of words, by the vectors with which they are read. Shape: (B, T, D) -> (B, T, V)."""

    def __init__(self, config: Any, words: nn.Embedding) -> None:
        super().__init__()
        self.transform = Transform(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        if config.tie_word_embeddings:
            self.decoder.weight = words.weight
        self.bias = self.decoder.bias

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.transform(x))


class PreTrainingHeads(nn.Module):
    """Scores of words, and of whether the second text follows the first."""

    def __init__(self, config: Any, words: nn.Embedding, relation: bool) -> None:
        super().__init__()
        self.predictions = Predictions(config, words)
        if relation:
            self.seq_relationship = nn.Linear(config.hidden_size, 2)


class BertForMaskedLM(BertPretrained):
    """Scores of the hidden words; with `labels` (-100 where nothing is asked) their cross entropy."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert: BertModel
        self.base(config, pooled=False)
        self.cls = PreTrainingHeads(config, self.bert.embeddings.word_embeddings, relation=False)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        logits = self.cls.predictions(found.last_hidden_state)
        return Output(loss=token_loss(logits, labels), logits=logits, hidden_states=found.hidden_states)


class BertForPreTraining(BertPretrained):
    """Both of BERT's tasks: the hidden words, and whether the second text follows (0) or is of elsewhere (1)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert: BertModel
        self.base(config, pooled=True)
        self.cls = PreTrainingHeads(config, self.bert.embeddings.word_embeddings, relation=True)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        words = self.cls.predictions(found.last_hidden_state)
        relation = self.cls.seq_relationship(found.pooler_output)
        loss = token_loss(words, labels)
        if loss is not None and next_sentence_label is not None:
            loss = loss + nn.functional.cross_entropy(relation, next_sentence_label.view(-1))
        states = found.hidden_states
        return Output(loss=loss, prediction_logits=words, seq_relationship_logits=relation, hidden_states=states)


class BertForSequenceClassification(BertPretrained):
    """Scores of a text's classes; with one class, a number (and the squared error as loss). Shape: (B, T) -> (B, classes)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=True)
        self.dropout = nn.Dropout(_rate(config))
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        logits = self.classifier(self.dropout(found.pooler_output))
        return Output(loss=class_loss(logits, labels), logits=logits, hidden_states=found.hidden_states)


class BertForTokenClassification(BertPretrained):
    """Scores of each token's classes. Shape: (B, T) -> (B, T, classes)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=False)
        self.dropout = nn.Dropout(_rate(config))
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        logits = self.classifier(self.dropout(found.last_hidden_state))
        return Output(loss=token_loss(logits, labels), logits=logits, hidden_states=found.hidden_states)


class BertForQuestionAnswering(BertPretrained):
    """Scores of where the answer starts and where it ends. Shape: (B, T) -> (B, T), (B, T)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=False)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        start, end = self.qa_outputs(found.last_hidden_state).unbind(-1)
        loss, states = span_loss(start, end, start_positions, end_positions), found.hidden_states
        return Output(loss=loss, start_logits=start, end_logits=end, hidden_states=states)


def _rate(config: Any) -> float:
    """The dropout before a classifier."""
    given = config.classifier_dropout
    return float(config.hidden_dropout_prob if given is None else given)
