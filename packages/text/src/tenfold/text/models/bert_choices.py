"""BERT's tasks that choose: among texts, or whether one follows another."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor, nn
from tenfold.nn import functional as F
from tenfold.text.models.bert import BertConfig, BertPretrained
from tenfold.text.models.bert_tasks import _rate
from tenfold.text.models.heads import flat_choices
from tenfold.text.models.output import Output


class Relation(nn.Module):
    """Scores of whether the second text follows the first."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.seq_relationship(x)


class BertForNextSentencePrediction(BertPretrained):
    """Scores of whether the second text follows (0) or is of elsewhere (1). Shape: (B, T) -> (B, 2)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=True)
        self.cls = Relation(config)
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
        logits = self.cls(found.pooler_output)
        loss = None if labels is None else F.cross_entropy(logits, labels.view(-1))
        return found.of_task(loss=loss, logits=logits)


class BertForMultipleChoice(BertPretrained):
    """A score of each of several texts. Shape: (B, choices, T) -> (B, choices).

    Raises: ValueError for ids of another shape.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=True)
        self.dropout = nn.Dropout(_rate(config))
        self.classifier = nn.Linear(config.hidden_size, 1)
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
        choices, flat = flat_choices(type(self).__name__, input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds)
        found = self.encode(*flat, **options)
        logits = self.classifier(self.dropout(found.pooler_output)).view(choices)
        loss = None if labels is None else F.cross_entropy(logits, labels)
        return found.of_task(loss=loss, logits=logits)
