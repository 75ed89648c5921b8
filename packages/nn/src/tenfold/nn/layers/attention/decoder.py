"""A Transformer's decoder and its layer. Source: Vaswani et al. 2017; norm_first: Xiong et al. 2020."""

from __future__ import annotations

from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.attention.multihead import MultiheadAttention
from tenfold.nn.layers.attention.sublayers import Activation, attend, chosen_activation, clones, is_causal_mask
from tenfold.nn.layers.dropout import Dropout
from tenfold.nn.layers.linear import Linear
from tenfold.nn.layers.norm.layers import LayerNorm
from tenfold.nn.module import Module


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's memory, then two linear layers, each added to its input and normalized.

    Shape: (T, N, d_model) and memory (S, N, d_model), batch first with batch_first, or without N -> like the first.

    >>> import tenfold
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
        self.activation = chosen_activation(activation)

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
        return self.dropout1(attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        return self.dropout2(attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)  # type: ignore[no-any-return]


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after the other, and an optional last norm. Shape: as the layer's.

    >>> import tenfold
    >>> from tenfold import nn
    >>> layer = nn.TransformerDecoderLayer(8, 2, batch_first=True)
    >>> list(TransformerDecoder(layer, 2)(tenfold.ones(1, 3, 8), tenfold.ones(1, 5, 8)).shape)
    [1, 3, 8]
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = clones(decoder_layer, num_layers)
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
        causal = is_causal_mask(tgt_mask, tgt_is_causal)
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
