"""T5: an encoder that reads a text and a decoder that writes another one.

Source: C. Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor, nn
from tenfold.text.generation.generate import Generative
from tenfold.text.models.attention import Cache, begun
from tenfold.text.models.config import Config
from tenfold.text.models.heads import token_loss
from tenfold.text.models.output import Output
from tenfold.text.models.pretrained import PretrainedModel
from tenfold.text.models.t5_stack import Attention, Dense, GatedDense, Stack, T5Config


class T5Pretrained(PretrainedModel):
    """What T5's models share."""

    config_class: ClassVar[type[Config]] = T5Config
    base_prefix: ClassVar[str] = "transformer"
    words: ClassVar[str] = "shared"
    ignored: ClassVar[tuple[str, ...]] = ("EncDecAttention.relative_attention_bias.weight", "lm_head.weight")

    def _initialize(self, module: nn.Module) -> None:
        """Weights whose products have a variance of one."""
        factor, config = self.config.initializer_factor, self.config
        if isinstance(module, Attention):
            D, wide = config.d_model, config.d_kv
            nn.init.normal_(module.q.weight, std=factor / math.sqrt(D * wide))
            for part in (module.k, module.v):
                nn.init.normal_(part.weight, std=factor / math.sqrt(D))
            nn.init.normal_(module.o.weight, std=factor / math.sqrt(config.num_heads * wide))
            if hasattr(module, "relative_attention_bias"):
                nn.init.normal_(module.relative_attention_bias.weight, std=factor / math.sqrt(D))
        elif isinstance(module, Dense | GatedDense):
            for name, p in module.named_parameters():
                nn.init.normal_(p, std=factor / math.sqrt(config.d_ff if name == "wo.weight" else config.d_model))
        elif isinstance(module, Stack):
            nn.init.normal_(module.embed_tokens.weight, std=factor)

    def shifted(self, labels: Tensor) -> Tensor:
        """What the decoder reads in order to write the labels: its start token, then these without the last."""
        start = tenfold.full((labels.shape[0], 1), self.config.decoder_start_token_id, dtype=labels.dtype, device=labels.device)
        moved = tenfold.cat([start, labels[:, :-1]], 1)
        return tenfold.where(moved == -100, self.config.pad_token_id, moved)

    def get_encoder(self) -> nn.Module:
        """The layers that read."""
        found: nn.Module = self.encoder
        return found

    def encoder_given(self, given: Any, *inputs: Any, **options: bool) -> Output:
        """What the encoder made: of `inputs`, or as it is given, as an output, in a tuple, or a tensor alone.

        Raises: ValueError where neither is there.
        """
        if given is None:
            if all(part is None for part in inputs):
                raise ValueError(f"{type(self).__name__}: give input_ids, inputs_embeds, or encoder_outputs made of them")
            ids, mask, embeds = inputs
            found: Output = self.encoder(ids, mask, inputs_embeds=embeds, **options)
            return found
        if isinstance(given, Tensor):
            return Output(last_hidden_state=given, hidden_states=None, attentions=None)
        if isinstance(given, Output):
            return given
        return Output(**dict(zip(("last_hidden_state", "hidden_states", "attentions"), [*given, None, None], strict=False)))

    def asked(self, output_hidden_states: bool | None, output_attentions: bool | None) -> dict[str, bool]:
        """What both stacks are to give besides their last states."""
        return {
            "output_hidden_states": self.wants("output_hidden_states", output_hidden_states),
            "output_attentions": self.wants("output_attentions", output_attentions),
        }


class T5EncoderModel(T5Pretrained):
    """The encoder alone. Shape: ids (B, T) -> last_hidden_state (B, T, D)."""

    ignored: ClassVar[tuple[str, ...]] = ("decoder", "lm_head.weight")

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Stack(config, self.shared, decoder=False)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        token_type_ids: Tensor | None = None,  # of an `Encoding`; this model has one kind of text
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        asked = self.asked(output_hidden_states, output_attentions)
        return self.encoder_given(None, input_ids, attention_mask, inputs_embeds, **asked)


class T5Model(T5Pretrained):
    """The encoder and the decoder. Shape: ids (B, S), decoder_input_ids (B, T) -> last_hidden_state (B, T, D).

    Raises: ValueError without text to read or to write.

    >>> sizes = T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    >>> T5Model(sizes)(tenfold.tensor([[5, 6, 1]]), decoder_input_ids=tenfold.tensor([[0, 7]])).last_hidden_state.shape
    tenfold.Size([1, 2, 8])
    """

    is_encoder_decoder: ClassVar[bool] = True

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Stack(config, self.shared, decoder=False)
        self.decoder = Stack(config, self.shared, decoder=True)
        self.initialize()

    def encoded(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """What the encoder makes of a text, for `encoder_outputs`. Shape: (B, S, D)."""
        found: Tensor = self.encoder(input_ids, attention_mask).last_hidden_state
        return found

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: Cache | None = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        token_type_ids: Tensor | None = None,  # of an `Encoding`; this model has one kind of text
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        asked = self.asked(output_hidden_states, output_attentions)
        read = self.encoder_given(encoder_outputs, input_ids, attention_mask, inputs_embeds, **asked)
        cache = begun(past_key_values, self.wants("use_cache", use_cache))
        written = self.decoder(
            decoder_input_ids,
            decoder_attention_mask,
            read.last_hidden_state,
            attention_mask,
            decoder_inputs_embeds,
            cache,
            **asked,
        )
        return Output(
            last_hidden_state=written.last_hidden_state,
            past_key_values=cache,
            decoder_hidden_states=written.hidden_states,
            decoder_attentions=written.attentions,
            cross_attentions=written.cross_attentions,
            encoder_last_hidden_state=read.last_hidden_state,
            encoder_hidden_states=read.hidden_states,
            encoder_attentions=read.attentions,
        )


class T5ForConditionalGeneration(T5Model, Generative):
    """Scores of the next token of the text that is written; with `labels` (-100 where nothing is asked) their cross entropy.

    Shape: ids (B, S), decoder_input_ids or labels (B, T) -> (B, T, V).
    Raises: ValueError without text to write.

    >>> model = T5ForConditionalGeneration(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)).eval()
    >>> model.generate(tenfold.tensor([[5, 6, 1]]), max_new_tokens=4).shape[0]
    1
    """

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.shared.weight
        else:
            nn.init.normal_(self.lm_head.weight, std=config.initializer_factor)
        self.initialize()

    def forward(  # type: ignore[override]  # labels stand where the published signature has them
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: Cache | None = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        **options: Any,
    ) -> Output:
        if decoder_input_ids is None and decoder_inputs_embeds is None:
            if labels is None:
                raise ValueError(f"{type(self).__name__}: give decoder_input_ids, or labels from which they come")
            decoder_input_ids = self.shifted(labels)
        found = T5Model.forward(
            self, input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, past_key_values,
            inputs_embeds, decoder_inputs_embeds, use_cache, **options,
        )  # fmt: skip
        x = found.last_hidden_state
        logits = self.lm_head(x * self.config.d_model**-0.5 if self.config.scale_decoder_outputs else x)
        return found.of_task(loss=token_loss(logits, labels), logits=logits)
