"""Llama and its kin (Mistral, Qwen2): decoders with rotated positions, gated layers and shared heads.

Source: H. Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023; J. Su et al., RoFormer, 2021.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Self

import tenfold
from tenfold import Tensor, nn
from tenfold.text.generation.generate import Generative
from tenfold.text.models.activations import activation
from tenfold.text.models.attention import Cache, attend, begun, looks, nearest, positions, split_heads, visible
from tenfold.text.models.config import Config
from tenfold.text.models.embedded import embedded
from tenfold.text.models.heads import next_token_loss
from tenfold.text.models.output import Output
from tenfold.text.models.pretrained import PretrainedModel


@dataclasses.dataclass(kw_only=True)
class LlamaConfig(Config):
    """Llama's sizes; those of ``Llama-2-7b`` by default."""

    model_type: ClassVar[str] = "llama"
    vocab_size: int = 32000
    hidden_size: int = 4096
    intermediate_size: int = 11008
    num_hidden_layers: int = 32
    num_attention_heads: int = 32
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    hidden_act: str = "silu"
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict[str, Any] | None = None
    attention_bias: bool = False
    mlp_bias: bool = False
    attention_dropout: float = 0.0
    classifier_dropout: float | None = None  # before the classes of tokens; 0.1 where it is not said
    tie_word_embeddings: bool = False
    bos_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 2

    @classmethod
    def accepts(cls) -> tuple[str, ...]:
        return ("llama", "mistral", "qwen2")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        turned = values.get("rope_parameters")  # newer files keep the angle's base and its scaling together
        if turned:
            scaling = turned if turned.get("rope_type", "default") != "default" else None
            values = {**values, "rope_theta": turned.get("rope_theta", 10000.0), "rope_scaling": scaling}
        return super().from_dict(values)

    @property
    def key_heads(self) -> int:
        """Heads of keys and values."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def width(self) -> int:
        """Numbers in a head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have biases; Qwen2's always do."""
        return self.attention_bias or self.extra.get("model_type") == "qwen2"

    def window(self, number: int) -> int | None:
        """How many tokens, its own among them, a layer's position looks at; None for all, as Llama's do."""
        kind, size = self.extra.get("model_type"), self.extra.get("sliding_window", 4096)
        if kind == "qwen2":
            first = self.extra.get("max_window_layers", 28) if self.extra.get("use_sliding_window") else number + 1
            return size if number >= first else None
        return size if kind == "mistral" else None


class Rotation(nn.Module):
    """Cosines and sines by which queries and keys are turned at each position. Shape: (B, T) -> (B, 1, T, D) twice."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        steps = tenfold.arange(0, config.width, 2, dtype=tenfold.float32, device="cpu") / config.width
        # No buffer: it stays in float32 where the model becomes narrower, for the last of many positions need its digits.
        self.speeds = _scaled(1.0 / config.rope_theta**steps, config.rope_scaling)
        self._speeds_at = {self.speeds.device: self.speeds}

    def forward(self, places: Tensor, dtype: Any) -> tuple[Tensor, Tensor]:
        speeds = self._speeds_at.get(places.device)
        if speeds is None:
            speeds = self._speeds_at[places.device] = self.speeds.to(places.device)
        angles = places.float().unsqueeze(-1) * speeds
        angles = tenfold.cat([angles, angles], -1).unsqueeze(1)
        return angles.cos().to(dtype), angles.sin().to(dtype)


def _scaled(speeds: Tensor, scaling: dict[str, Any] | None) -> Tensor:
    """Slower turns, for texts longer than those of the training.

    Raises: ValueError for a kind other than linear and llama3.
    """
    kind = "default" if scaling is None else scaling.get("rope_type", scaling.get("type"))
    if scaling is None or kind == "default":
        return speeds
    if kind == "linear":
        return speeds / scaling["factor"]
    if kind != "llama3":
        raise ValueError(f"LlamaConfig: rope_scaling is of the kinds default, linear and llama3, got {kind!r}")
    low, high, before = (scaling[n] for n in ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings"))
    turns = before / (2 * math.pi / speeds)  # in a text of the training
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * speeds / scaling["factor"] + kept * speeds


def turned(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """x turned: its halves are the two coordinates. Shape: (B, H, T, D), kept."""
    first, second = x.chunk(2, -1)
    return x * cosines + tenfold.cat([-second, first], -1) * sines


class Attention(nn.Module):
    """Attention of every token to itself and those before it. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: LlamaConfig, number: int) -> None:
        super().__init__()
        D, wide = config.hidden_size, config.width
        self.heads, self.key_heads, self.rate, self.number = (
            config.num_attention_heads, config.key_heads, config.attention_dropout, number
        )  # fmt: skip
        self.q_proj = nn.Linear(D, self.heads * wide, bias=config.input_bias)
        self.k_proj = nn.Linear(D, self.key_heads * wide, bias=config.input_bias)
        self.v_proj = nn.Linear(D, self.key_heads * wide, bias=config.input_bias)
        self.o_proj = nn.Linear(self.heads * wide, D, bias=config.attention_bias)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cache: Cache | None) -> Tensor:
        q = turned(split_heads(self.q_proj(x), self.heads), *turn)
        k = turned(split_heads(self.k_proj(x), self.key_heads), *turn)
        v = split_heads(self.v_proj(x), self.key_heads)
        if cache is not None:
            k, v = cache.extended(self.number, k, v)
        return self.o_proj(attend(q, k, v, mask, self.rate if self.training else 0.0))


class MLP(nn.Module):
    """The gated wide layer for each position."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        D, wide = config.hidden_size, config.intermediate_size
        self.gate_proj, self.up_proj = (nn.Linear(D, wide, bias=config.mlp_bias) for _ in range(2))
        self.down_proj = nn.Linear(wide, D, bias=config.mlp_bias)
        self.act = activation(config.hidden_act)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    """One layer. Shape: (B, T, D) -> (B, T, D)."""

    def __init__(self, config: LlamaConfig, number: int) -> None:
        super().__init__()
        self.self_attn, self.mlp = Attention(config, number), MLP(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], mask: Tensor | None, cache: Cache | None) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), turn, mask, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaPretrained(PretrainedModel):
    """What Llama's models share."""

    config_class: ClassVar[type[Config]] = LlamaConfig
    base_prefix: ClassVar[str] = "model"
    words: ClassVar[str] = "embed_tokens"
    ignored: ClassVar[tuple[str, ...]] = ("rotary_emb.inv_freq", "lm_head.weight")


class LlamaModel(LlamaPretrained):
    """The decoder. Shape: ids (B, T) -> last_hidden_state (B, T, D)."""

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.layers = nn.ModuleList([Block(config, number) for number in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.rotation = Rotation(config)
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        token_type_ids: Tensor | None = None,  # of an `Encoding`; this model has one kind of text
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> Output:
        x = embedded(self.embed_tokens, input_ids, inputs_embeds)
        cache = begun(past_key_values, self.wants("use_cache", use_cache))
        past = 0 if cache is None else len(cache)
        turn = self.rotation(positions(x, past) if position_ids is None else position_ids, x.dtype)
        states, mask = [x], visible(attention_mask, x, past, causal=True)
        with looks(self.wants("output_attentions", output_attentions)) as weights:
            for number, block in enumerate(self.layers):
                near = nearest(mask, x, past, self.config.window(number))
                states.append(block(states[-1], turn, near, cache))
        states[-1] = self.norm(states[-1])
        each = tuple(states) if self.wants("output_hidden_states", output_hidden_states) else None
        return Output(last_hidden_state=states[-1], past_key_values=cache, hidden_states=each, attentions=tuple(weights) or None)


class LlamaForCausalLM(LlamaPretrained, Generative):
    """Scores of the next token at every position; with `labels` (the ids themselves) their cross entropy.

    Shape: (B, T) -> (B, T, V).
    """

    def __init__(self, config: LlamaConfig) -> None:
        super().__init__(config)
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight
        self.initialize()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int = 0,
        **options: Any,
    ) -> Output:
        found = self.model(
            input_ids, attention_mask, position_ids, past_key_values, inputs_embeds, use_cache, return_dict=True, **options
        )
        logits = self.lm_head(found.last_hidden_state[:, -logits_to_keep:])
        return found.of_task(loss=next_token_loss(logits, labels), logits=logits)
