"""A Transformer's encoder and its layer. Source: Vaswani et al. 2017; norm_first: Xiong et al. 2020."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.layers.attention import fast_path
from tenfold.nn.layers.attention.multihead import MultiheadAttention
from tenfold.nn.layers.attention.sublayers import Activation, attend, chosen_activation, clones, is_causal_mask
from tenfold.nn.layers.dropout import Dropout
from tenfold.nn.layers.linear import Linear
from tenfold.nn.layers.norm.layers import LayerNorm
from tenfold.nn.module import Module


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each added to its input and normalized (before, with `norm_first`).

    Shape: (S, N, d_model), (N, S, d_model) with batch_first, or (S, d_model), kept. Raises RuntimeError for an activation
    other than "relu", "gelu" or a function.

    >>> import tenfold
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
        self.activation = chosen_activation(activation)

    @property
    def activation_relu_or_gelu(self) -> int:
        """1 for ReLU, 2 for GELU by the error function, 0 for others; a program that sets it to 0 leaves the fast path."""
        if "_activation_code" in vars(self):
            return int(vars(self)["_activation_code"])
        fast = {"relu": 1, "ReLU": 1, "gelu": 2, "GELU": 2}
        name = getattr(self.activation, "__name__", type(self.activation).__name__)
        return 0 if getattr(self.activation, "approximate", "none") != "none" else fast.get(name, 0)

    @activation_relu_or_gelu.setter
    def activation_relu_or_gelu(self, code: int) -> None:
        vars(self)["_activation_code"] = code

    def _torch_state(self) -> dict[str, Any]:
        return {"activation_relu_or_gelu": self.activation_relu_or_gelu}

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
        if self.activation_relu_or_gelu == 0 or self.norm1.eps != self.norm2.eps or self.linear1.bias is None:
            return False
        if attention._why_not_fast(src, src, src, padding, mask) is not None:
            return False
        if any(m._forward_hooks or m._forward_pre_hooks for m in self.modules()):
            return False
        return not fast_path.learns(self.parameters())

    def _fast(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor:
        attention, gelu = self.self_attn, self.activation_relu_or_gelu == 2
        merged, kind = fast_path.merged_masks(mask, padding, src, attention.num_heads)
        return fast_path.PUBLIC._transformer_encoder_layer_fwd(  # type: ignore[no-any-return]
            src, attention.embed_dim, attention.num_heads, attention.in_proj_weight, attention.in_proj_bias,
            attention.out_proj.weight, attention.out_proj.bias, gelu, self.norm_first, self.norm1.eps, self.norm1.weight,
            self.norm1.bias, self.norm2.weight, self.norm2.bias, self.linear1.weight, self.linear1.bias, self.linear2.weight,
            self.linear2.bias, merged, kind,
        )  # fmt: skip

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool) -> Tensor:
        return self.dropout1(attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))  # type: ignore[no-any-return]

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)  # type: ignore[no-any-return]


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, and an optional last norm. Shape: as the layer's.

    >>> import tenfold
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
        self.layers = clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why = _why_not_packed(encoder_layer) if enable_nested_tensor else None
        if why is not None:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{why}", stacklevel=2
            )
        self.use_nested_tensor = enable_nested_tensor and why is None

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        causal = is_causal_mask(mask, is_causal)
        x: Any = src
        padding, packed = src_key_padding_mask, None
        if not self.training and padding is not None and self._packs(src, mask, padding):
            packed = padding
            if fast_path.has_nested():
                x, padding = fast_path.PUBLIC._nested_tensor_from_mask(src, padding.logical_not(), mask_check=False), None
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if packed is not None:  # what was padding is 0 now, whether it was computed or not
            x = x.to_padded_tensor(0.0, src.size()) if x.is_nested else x.masked_fill(packed.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)  # type: ignore[no-any-return]

    def _packs(self, src: Tensor, mask: Tensor | None, padding: Tensor) -> bool:
        """Whether the layers compute a padded batch as one without padding, which a nested tensor is."""
        first = self.layers[0]
        if not self.use_nested_tensor or mask is not None or src.dim() != 3:
            return False
        if first.training or not first._is_fast(src, None, padding):
            return False
        return not self.mask_check or fast_path.is_left_aligned(src, padding)


def _why_not_packed(layer: Any) -> str | None:
    """Why a layer does not compute nested batches, as what is said of it; None if it does."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": not attention.batch_first,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
