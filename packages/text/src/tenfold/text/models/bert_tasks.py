"""BERT's tasks: hidden words, classes of texts and of tokens, answers.

Source: J. Devlin, M.-W. Chang, K. Lee, K. Toutanova, BERT: Pre-training of Deep Bidirectional Transformers, 2019.
"""

from __future__ import annotations

from typing import Any

from tenfold import Tensor, nn
from tenfold.text.models.activations import activation
from tenfold.text.models.bert import BertConfig, BertModel, BertPretrained
from tenfold.text.models.heads import class_loss, next_token_loss, span_loss, token_loss
from tenfold.text.models.output import Output


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

    def word_loss(self, logits: Tensor, labels: Tensor | None) -> Tensor | None:
        """What is trained. Shape: (B, T, V), (B, T) -> ()."""
        return token_loss(logits, labels)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **options)
        logits = self.cls.predictions(found.last_hidden_state)
        return found.of_task(loss=self.word_loss(logits, labels), logits=logits)


class BertLMHeadModel(BertForMaskedLM):
    """Scores of the next word; each sees none of those after it where `config.is_decoder` says so."""

    def word_loss(self, logits: Tensor, labels: Tensor | None) -> Tensor | None:
        return next_token_loss(logits, labels)


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
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **options)
        words = self.cls.predictions(found.last_hidden_state)
        relation = self.cls.seq_relationship(found.pooler_output)
        loss = token_loss(words, labels)
        if loss is not None and next_sentence_label is not None:
            loss = loss + nn.functional.cross_entropy(relation, next_sentence_label.view(-1))
        return found.of_task(loss=loss, prediction_logits=words, seq_relationship_logits=relation)


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
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **options)
        logits = self.classifier(self.dropout(found.pooler_output))
        return found.of_task(loss=class_loss(logits, labels, self.config.problem_type), logits=logits)


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
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **options)
        logits = self.classifier(self.dropout(found.last_hidden_state))
        return found.of_task(loss=token_loss(logits, labels), logits=logits)


class BertForQuestionAnswering(BertPretrained):
    """Scores of where the answer starts and where it ends. Shape: (B, T) -> (B, T), (B, T)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=False)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **options)
        start, end = self.qa_outputs(found.last_hidden_state).unbind(-1)
        loss = span_loss(start, end, start_positions, end_positions)
        return found.of_task(loss=loss, start_logits=start, end_logits=end)


def _rate(config: Any) -> float:
    """The dropout before a classifier."""
    given = config.classifier_dropout
    return float(config.hidden_dropout_prob if given is None else given)
