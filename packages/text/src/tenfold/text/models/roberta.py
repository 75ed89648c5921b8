"""RoBERTa: BERT's encoder, trained longer, with positions counted from the padding token's number.

Source: Y. Liu et al., RoBERTa: A Robustly Optimized BERT Pretraining Approach, 2019.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.nn import functional as F
from tenfold.text.models.attention import positions
from tenfold.text.models.bert import BertConfig, BertModel, BertPretrained, Embeddings
from tenfold.text.models.bert_choices import BertForMultipleChoice
from tenfold.text.models.bert_tasks import BertForQuestionAnswering, BertForTokenClassification, _rate
from tenfold.text.models.config import Config
from tenfold.text.models.heads import class_loss, next_token_loss, token_loss
from tenfold.text.models.output import Output


@dataclasses.dataclass(kw_only=True)
class RobertaConfig(BertConfig):
    """RoBERTa's sizes; those of ``roberta-base`` by default."""

    model_type: ClassVar[str] = "roberta"
    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int | None = 1
    bos_token_id: int | None = 0
    eos_token_id: int | list[int] | None = 2

    @classmethod
    def accepts(cls) -> tuple[str, ...]:
        return ("roberta", "xlm-roberta", "camembert")


class RobertaEmbeddings(Embeddings):
    """Positions begin after the padding token's number, which is the position of padding."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.pad = int(config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size, padding_idx=self.pad)

    def positions(self, input_ids: Tensor | None, x: Tensor) -> Tensor:
        if input_ids is None:
            return positions(x, self.pad + 1)
        there = (input_ids != self.pad).long()
        return there.cumsum(1) * there + self.pad


class RobertaPretrained(BertPretrained):
    """What RoBERTa's models share."""

    config_class: ClassVar[type[Config]] = RobertaConfig
    base_prefix: ClassVar[str] = "roberta"
    embeddings_class: ClassVar[type[Embeddings]] = RobertaEmbeddings


class RobertaModel(RobertaPretrained, BertModel):
    """The encoder. Shape: ids (B, T) -> last_hidden_state (B, T, D), pooler_output (B, D)."""

    def __init__(self, config: Any, add_pooling_layer: bool = True) -> None:
        BertModel.__init__(self, config, add_pooling_layer, RobertaEmbeddings)


class WordHead(nn.Module):
    """Scores of words. Shape: (B, T, D) -> (B, T, V)."""

    def __init__(self, config: Any, words: nn.Embedding) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        if config.tie_word_embeddings:
            self.decoder.weight = words.weight
        self.bias = self.decoder.bias

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.layer_norm(F.gelu(self.dense(x))))


class RobertaForMaskedLM(RobertaPretrained):
    """Scores of the hidden words; with `labels` (-100 where nothing is asked) their cross entropy."""

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config)
        self.roberta: BertModel
        self.base(config, pooled=False)
        self.lm_head = WordHead(config, self.roberta.embeddings.word_embeddings)
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
        logits = self.lm_head(found.last_hidden_state)
        return found.of_task(loss=self.word_loss(logits, labels), logits=logits)


class RobertaForCausalLM(RobertaForMaskedLM):
    """Scores of the next word; each sees none of those after it where `config.is_decoder` says so."""

    def word_loss(self, logits: Tensor, labels: Tensor | None) -> Tensor | None:
        return next_token_loss(logits, labels)


class ClassHead(nn.Module):
    """Scores of classes from the first token's state. Shape: (B, T, D) -> (B, classes)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(_rate(config))
        self.out_proj = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, x: Tensor) -> Tensor:
        hidden = tenfold.tanh(self.dense(self.dropout(x[:, 0])))
        return self.out_proj(self.dropout(hidden))


class RobertaForSequenceClassification(RobertaPretrained):
    """Scores of a text's classes; with one class, a number. Shape: (B, T) -> (B, classes)."""

    def __init__(self, config: RobertaConfig) -> None:
        super().__init__(config)
        self.base(config, pooled=False)
        self.classifier = ClassHead(config)
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
        logits = self.classifier(found.last_hidden_state)
        return found.of_task(loss=class_loss(logits, labels, self.config.problem_type), logits=logits)


class RobertaForTokenClassification(RobertaPretrained, BertForTokenClassification):
    """Scores of each token's classes. Shape: (B, T) -> (B, T, classes)."""


class RobertaForQuestionAnswering(RobertaPretrained, BertForQuestionAnswering):
    """Scores of where the answer starts and where it ends. Shape: (B, T) -> (B, T), (B, T)."""


class RobertaForMultipleChoice(RobertaPretrained, BertForMultipleChoice):
    """A score of each of several texts. Shape: (B, choices, T) -> (B, choices)."""
