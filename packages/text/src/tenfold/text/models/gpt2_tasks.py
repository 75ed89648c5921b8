"""GPT-2's tasks that write nothing: classes of texts and of tokens, answers."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor, nn
from tenfold.text.models.attention import Cache
from tenfold.text.models.gpt2 import GPT2Config, GPT2Model, GPT2Pretrained
from tenfold.text.models.heads import at_last_token, class_loss, span_loss, token_loss
from tenfold.text.models.output import Output


class GPT2ForSequenceClassification(GPT2Pretrained):
    """Scores of a text's classes, from its last token; with one class, a number. Shape: (B, T) -> (B, classes).

    Raises: ValueError for several texts where `config.pad_token_id` is None.
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.score = nn.Linear(config.n_embd, config.num_labels, bias=False)
        self.initialize()

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
        **options: Any,
    ) -> Output:
        found = self.transformer(
            input_ids, past_key_values, attention_mask, token_type_ids, position_ids, inputs_embeds, use_cache,
            return_dict=True, **options,
        )  # fmt: skip
        logits = at_last_token(self.score(found.last_hidden_state), input_ids, self.config)
        return found.of_task(loss=class_loss(logits, labels, self.config.problem_type), logits=logits)


class GPT2ForTokenClassification(GPT2Pretrained):
    """Scores of each token's classes, from it and those before it. Shape: (B, T) -> (B, T, classes)."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.dropout = nn.Dropout(0.1 if config.classifier_dropout is None else config.classifier_dropout)
        self.classifier = nn.Linear(config.n_embd, config.num_labels)
        self.initialize()

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
        **options: Any,
    ) -> Output:
        found = self.transformer(
            input_ids, past_key_values, attention_mask, token_type_ids, position_ids, inputs_embeds, use_cache,
            return_dict=True, **options,
        )  # fmt: skip
        logits = self.classifier(self.dropout(found.last_hidden_state))
        return found.of_task(loss=token_loss(logits, labels), logits=logits, past_key_values=None)


class GPT2ForQuestionAnswering(GPT2Pretrained):
    """Scores of where the answer starts and where it ends. Shape: (B, T) -> (B, T), (B, T)."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.qa_outputs = nn.Linear(config.n_embd, 2)
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
        found = self.transformer(
            input_ids, None, attention_mask, token_type_ids, position_ids, inputs_embeds, return_dict=True, **options
        )
        start, end = self.qa_outputs(found.last_hidden_state).unbind(-1)
        loss = span_loss(start, end, start_positions, end_positions)
        return found.of_task(loss=loss, start_logits=start, end_logits=end, past_key_values=None)
