"""BERT's tasks that choose: among texts, or whether one follows another."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor, nn
from tenfold.nn import functional as F
from tenfold.text.models.bert import BertConfig, BertPretrained, _rate
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
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.encode(input_ids, attention_mask, token_type_ids, **options)
        logits = self.cls(found.pooler_output)
        loss = None if labels is None else F.cross_entropy(logits, labels.view(-1))
        return Output(loss=loss, logits=logits, hidden_states=found.hidden_states)


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
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        if input_ids.dim() != 3:
            raise ValueError(f"{type(self).__name__}: input_ids are (texts, choices, tokens), got {tuple(input_ids.shape)}")
        flat = [None if part is None else part.flatten(0, 1) for part in (input_ids, attention_mask, token_type_ids)]
        if options.get("position_ids") is not None:
            options["position_ids"] = options["position_ids"].flatten(0, 1)
        found = self.encode(*flat, **options)
        logits = self.classifier(self.dropout(found.pooler_output)).view(input_ids.shape[:2])
        loss = None if labels is None else F.cross_entropy(logits, labels)
        return Output(loss=loss, logits=logits, hidden_states=found.hidden_states)
