"""Transformer encoder and decoder. Source: Vaswani et al. 2017; norm_first: Xiong et al. 2020."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.container import ModuleList
from tenfold.nn.layers.attention import fast_path
from tenfold.nn.layers.attention.multihead import MultiheadAttention
from tenfold.nn.layers.dropout import Dropout
from tenfold.nn.layers.linear import Linear
from tenfold.nn.layers.norm.layers import LayerNorm
from tenfold.nn.module import Module

Activation = str | Callable[[Tensor], Tensor]


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    chosen: Callable[[Tensor], Tensor] = getattr(F, given)
    return chosen


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each added to its input and normalized (before, with `norm_first`).

    Shape: (S, N, d_model), (N, S, d_model) with batch_first, or (S, d_model), kept. Raises RuntimeError for an activation
    other than "relu", "gelu" or a function.

    >>> list(TransformerEncoderLayer(4, 2, 8)(tenfold.ones(3, 1, 4)).shape)
    [3, 1, 4]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **where)
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = _activation(activation)

    def _activation_code(self) -> int:
        """1 for ReLU, 2 for GELU by the error function, 0 for others."""
        fast = {"relu": 1, "ReLU": 1, "gelu": 2, "GELU": 2}
        name = getattr(self.activation, "__name__", type(self.activation).__name__)
        return 0 if getattr(self.activation, "approximate", "none") != "none" else fast.get(name, 0)

    def _torch_state(self) -> dict[str, Any]:
        return {"activation_relu_or_gelu": self._activation_code()}

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        if not self.training and self._is_fast(src, src_mask, src_key_padding_mask):
            return self._fast(src, src_mask, src_key_padding_mask)
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = src + self._sa_block(self.norm1(src), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(src + self._sa_block(src, *masks))
        return self.norm2(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _is_fast(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> bool:
        """Whether the layer's own operator computes it: for inference, batch first, with the sublayers that it was made with."""
        attention = self.self_attn
        if self._activation_code() == 0 or self.norm1.eps != self.norm2.eps or self.linear1.bias is None:
            return False
        if attention._why_not_fast(src, src, src, padding, mask) is not None:
            return False
        if any(m._forward_hooks or m._forward_pre_hooks for m in self.modules()):
            return False
        return not fast_path.learns(self.parameters())

    def _fast(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        attention, gelu = self.self_attn, self._activation_code() == 2
        merged, kind = fast_path.merged_masks(mask, padding, src, attention.num_heads)
        return fast_path.PUBLIC._transformer_encoder_layer_fwd(  # type: ignore[no-any-return]
            src, attention.embed_dim, attention.num_heads, attention.in_proj_weight, attention.in_proj_bias,
            attention.out_proj.weight, attention.out_proj.bias, gelu, self.norm_first, self.norm1.eps, self.norm1.weight,
            self.norm1.bias, self.norm2.weight, self.norm2.bias, self.linear1.weight, self.linear1.bias, self.linear2.weight,
            self.linear2.bias, merged, kind,
        )  # fmt: skip

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool) -> Tensor:
        return self.dropout1(_attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)  # type: ignore[no-any-return]


def _packs_rows(attention: MultiheadAttention) -> bool:
    """Whether an attention is of the kind that computes nested batches."""
    whole = attention._qkv_same_embed_dim and attention.in_proj_bias is not None
    return whole and attention.batch_first and attention.num_heads % 2 == 0


def _attend(attention: Module, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool) -> Tensor:
    """Attention from `x` to `memory` without its weights; both masks are floats where one of them is."""
    if mask is not None and padding is not None and mask.dtype != padding.dtype:
        mask, padding = _additive(mask, x), _additive(padding, x)
    output, _ = attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=is_causal, need_weights=False)
    return output  # type: ignore[no-any-return]


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask as zeros and -inf to be added."""
    if mask.dtype != tenfold.bool:
        return mask
    return tenfold.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float("-inf"))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's memory, then two linear layers, each added to its input and normalized.

    Shape: (T, N, d_model) and memory (S, N, d_model), batch first with batch_first, or without N -> like the first.

    >>> list(TransformerDecoderLayer(8, 2, batch_first=True)(tenfold.ones(1, 3, 8), tenfold.ones(1, 5, 8)).shape)
    [1, 3, 8]
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **where)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **where)
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool) -> Tensor:
        return self.dropout1(_attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        return self.dropout2(_attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)  # type: ignore[no-any-return]


def _is_causal(mask: Tensor | None, given: bool | None) -> bool:
    """Whether `mask` is the causal one; looked up only where the caller did not say (None)."""
    if given is not None or mask is None:
        return bool(given)
    size = mask.size(-1)
    if tuple(mask.shape) != (size, size) or mask.dtype == tenfold.bool:
        return False
    return bool((mask == Transformer.generate_square_subsequent_mask(size, mask.device, mask.dtype)).all())


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, and an optional last norm. Shape: as the layer's.

    >>> from tenfold import nn
    >>> layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)
    >>> list(TransformerEncoder(layer, 2)(tenfold.ones(1, 5, 8)).shape)
    [1, 5, 8]
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        layer: Any = encoder_layer
        self.use_nested_tensor = (
            enable_nested_tensor
            and isinstance(layer, TransformerEncoderLayer)
            and not layer.norm_first
            and layer._activation_code() != 0
            and layer.norm1.eps == layer.norm2.eps
            and _packs_rows(layer.self_attn)
        )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        causal = _is_causal(mask, is_causal)
        x: Any = src
        padding = src_key_padding_mask
        if not self.training and padding is not None and self._packs(src, mask, padding):
            x, padding = fast_path.PUBLIC._nested_tensor_from_mask(src, padding.logical_not(), mask_check=False), None
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if x.is_nested:  # what was padding is 0 now
            x = x.to_padded_tensor(0.0, src.size())
        return x if self.norm is None else self.norm(x)

    def _packs(self, src: Tensor, mask: Tensor | None, padding: Tensor) -> bool:
        """Whether the layers compute a padded batch without its padding, as a nested tensor."""
        first = self.layers[0]
        if not self.use_nested_tensor or mask is not None or src.dim() != 3:
            return False
        if not fast_path.has_nested() or first.training or not first._is_fast(src, None, padding):
            return False
        return not self.mask_check or bool(fast_path.PUBLIC._nested_tensor_from_mask_left_aligned(src, padding.logical_not()))


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after the other, and an optional last norm. Shape: as the layer's.

    >>> from tenfold import nn
    >>> layer = nn.TransformerDecoderLayer(8, 2, batch_first=True)
    >>> list(TransformerDecoder(layer, 2)(tenfold.ones(1, 3, 8), tenfold.ones(1, 5, 8)).shape)
    [1, 3, 8]
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        causal = _is_causal(tgt_mask, tgt_is_causal)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder. Shape: src (S, N, E), tgt (T, N, E), batch first with batch_first, or without N -> like tgt.

    Raises RuntimeError where the batches of src and tgt differ or their features are not d_model.

    >>> list(Transformer(8, 2, 1, 1, 16, batch_first=True)(tenfold.ones(1, 5, 8), tenfold.ones(1, 3, 8)).shape)
    [1, 3, 8]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        shape = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*shape, **where)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model, layer_norm_eps, **where))
        else:
            self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*shape, **where)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, LayerNorm(d_model, layer_norm_eps, **where))
        else:
            self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError(
                f"Transformer: the batch number of src and tgt must be equal, got {src.size(batch)} and {tgt.size(batch)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"Transformer: the feature number of src and tgt must be equal to d_model={self.d_model}, "
                f"got {src.size(-1)} and {tgt.size(-1)}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(  # type: ignore[no-any-return]
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask (sz, sz): 0 up to the diagonal and -inf after it."""
        return tenfold.full((sz, sz), float("-inf"), device=device, dtype=dtype).triu(1)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
