"""T5's tasks that write nothing: classes of texts and of tokens, answers."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.text.models.heads import class_loss, span_loss, token_loss
from tenfold.text.models.output import Output
from tenfold.text.models.t5 import T5EncoderModel, T5Model, T5Pretrained
from tenfold.text.models.t5_stack import T5Config


class ClassHead(nn.Module):
    """Scores of classes from a state. Shape: (B, D) -> (B, classes)."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.out_proj = nn.Linear(config.d_model, config.num_labels)

    def forward(self, x: Tensor) -> Tensor:
        return self.out_proj(self.dropout(tenfold.tanh(self.dense(self.dropout(x)))))


class T5ForSequenceClassification(T5Pretrained):
    """Scores of a text's classes, from what the decoder, which reads it too, makes of its end. Shape: (B, T) -> (B, classes).

    Raises: ValueError for texts without an end, or with different numbers of them, and without ids.
    """

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.transformer = T5Model(config)
        self.classification_head = ClassHead(config)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        **options: Any,
    ) -> Output:
        if input_ids is None:
            raise ValueError(f"{type(self).__name__}: give input_ids, in which the end of each text is seen")
        if decoder_input_ids is None and decoder_inputs_embeds is None:
            decoder_input_ids = self.shifted(input_ids)
        found = self.transformer(
            input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, None, inputs_embeds,
            decoder_inputs_embeds, use_cache if labels is None else False, return_dict=True, **options,
        )  # fmt: skip
        logits = self.classification_head(self._at_end(found.last_hidden_state, input_ids))
        return found.of_task(loss=class_loss(logits, labels, self.config.problem_type), logits=logits)

    def _at_end(self, x: Tensor, input_ids: Tensor) -> Tensor:
        """The state at each text's last end. Shape: (B, T, D), (B, T) -> (B, D)."""
        ends = tenfold.isin(input_ids, tenfold.tensor(self.config.end_ids, device=input_ids.device))
        counts = sorted(set(ends.sum(1).tolist()))
        if counts[0] == 0 or len(counts) > 1:
            raise ValueError(
                f"{type(self).__name__}: each text has as many ends ({self.config.eos_token_id}) as the others and at least "
                f"one; there are some with {', '.join(map(str, counts))}"
            )
        last = (ends.long() * tenfold.arange(ends.shape[1], device=ends.device)).argmax(1)
        return x[tenfold.arange(len(x), device=x.device), last]


class T5ForTokenClassification(T5Pretrained):
    """Scores of each token's classes, from the encoder. Shape: (B, T) -> (B, T, classes)."""

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.transformer = T5EncoderModel(config)
        self.dropout = nn.Dropout(config.classifier_dropout)
        self.classifier = nn.Linear(config.d_model, config.num_labels)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        **options: Any,
    ) -> Output:
        found = self.transformer(input_ids, attention_mask, inputs_embeds, return_dict=True, **options)
        logits = self.classifier(self.dropout(found.last_hidden_state))
        return found.of_task(loss=token_loss(logits, labels), logits=logits)


class T5ForQuestionAnswering(T5Model):
    """Scores of where the answer starts and where it ends, from the decoder, which reads the text too.

    Shape: (B, T) -> (B, T), (B, T).
    """

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.qa_outputs = nn.Linear(config.d_model, config.num_labels)
        self.initialize()

    def forward(  # type: ignore[override]  # places of answers stand where the base has vectors, as in the published signature
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        **options: Any,
    ) -> Output:
        if decoder_input_ids is None and decoder_inputs_embeds is None:
            if input_ids is None:
                raise ValueError(f"{type(self).__name__}: give input_ids, decoder_input_ids or decoder_inputs_embeds")
            decoder_input_ids = self.shifted(input_ids)
        found = T5Model.forward(
            self, input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, None, inputs_embeds,
            decoder_inputs_embeds, use_cache if start_positions is None else False, **options,
        )  # fmt: skip
        start, end = self.qa_outputs(found.last_hidden_state).unbind(-1)
        loss = span_loss(start, end, start_positions, end_positions)
        return found.of_task(loss=loss, start_logits=start, end_logits=end)
