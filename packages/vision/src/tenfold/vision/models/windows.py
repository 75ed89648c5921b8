"""Self-attention within windows of a picture, as Swin transformers have it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import tenfold
from tenfold import Tensor, nn

Size = tuple[int, int]
SMALLEST_SCALE = math.log(100.0)  # of version 2's logits: their temperature is not below 0.01
NOT_SEEN = -100.0  # added to the logits of pairs that are not neighbours


def partition(x: Tensor, window: Size) -> Tensor:
    """Windows one after the other: (N, H, W, C) -> (N * windows, positions, C)."""
    n, h, w, c = x.shape
    tiles = x.reshape(n, h // window[0], window[0], w // window[1], window[1], c)
    return tiles.permute(0, 1, 3, 2, 4, 5).reshape(-1, window[0] * window[1], c)


def departition(windows: Tensor, window: Size, size: Size) -> Tensor:
    """The picture of these windows: (N * windows, positions, C) -> (N, H, W, C)."""
    rows, columns = size[0] // window[0], size[1] // window[1]
    tiles = windows.reshape(-1, rows, columns, window[0], window[1], windows.shape[-1])
    return tiles.permute(0, 1, 3, 2, 4, 5).reshape(-1, size[0], size[1], windows.shape[-1])


def relative_index(window: Sequence[int]) -> Tensor:
    """For each pair of positions in a window, the number of their difference among all differences: (positions**2,), int64."""
    places = tenfold.stack(tenfold.meshgrid(*(tenfold.arange(side) for side in window), indexing="ij")).flatten(1)
    steps = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0)  # (positions, positions, axes), from 1 - side to side - 1
    number = tenfold.zeros(steps.shape[:2], dtype=tenfold.int64)
    for axis, side in enumerate(window):
        number = number * (2 * side - 1) + steps[..., axis] + side - 1
    return number.flatten()


def _neighbours(size: Size, window: Size, shift: Size, like: Tensor) -> Tensor:
    """What is added to the logits after rolling by ``shift``, where windows hold parts that do not lie together: (windows, P,
    P).
    """
    bands = []
    for length, side, step in zip(size, window, shift, strict=True):
        place = tenfold.arange(length, device=like.device)
        bands.append((place >= length - side).long() + (place >= length - step).long() if step else place * 0)
    regions = bands[0][:, None] * 3 + bands[1][None, :]  # (H, W)
    parts = partition(regions[None, :, :, None], window).squeeze(-1)  # (windows, P)
    apart = parts[:, None, :] != parts[:, :, None]
    return tenfold.where(apart, NOT_SEEN, 0.0).to(like.dtype)


class ShiftedWindowAttention(nn.Module):
    """Attention within windows, whose grid is shifted in every other block; a learned number for each difference of positions.

    Shape: (N, H, W, C) in and out; sides that windows do not divide are padded for the while.

    Raises:
        ValueError: ``window_size`` or ``shift_size`` does not have two numbers.

    Source: Z. Liu and others, Swin Transformer, arXiv:2103.14030, section 3.2.
    """

    relative_position_index: Tensor

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self) -> None:
        """One number for each difference of positions and head."""
        differences = (2 * self.window_size[0] - 1) * (2 * self.window_size[1] - 1)
        self.relative_position_bias_table = nn.Parameter(tenfold.zeros(differences, self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self) -> None:
        """Which of these numbers a pair of positions takes."""
        self.register_buffer("relative_position_index", relative_index(self.window_size))

    def get_relative_position_bias(self) -> Tensor:
        """What is added to the logits: (1, heads, positions, positions)."""
        return self._looked_up(self.relative_position_bias_table)

    def _looked_up(self, table: Tensor) -> Tensor:
        positions = self.window_size[0] * self.window_size[1]
        return table[self.relative_position_index].view(positions, positions, -1).permute(2, 0, 1).unsqueeze(0)

    def _logits(self, q: Tensor, k: Tensor) -> Tensor:
        return q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (windows, heads, P, C / heads)
        return q, k, v

    def forward(self, x: Tensor) -> Tensor:
        _, h, w, _ = x.shape
        window = (self.window_size[0], self.window_size[1])
        bottom, right = -h % window[0], -w % window[1]
        x = nn.functional.pad(x, (0, 0, 0, right, 0, bottom))
        size = (h + bottom, w + right)
        # one window across a whole axis has nothing to be shifted against
        rows, columns = (0 if side >= length else step for step, side, length in zip(self.shift_size, window, size, strict=True))
        shift = (rows, columns)
        if any(shift):
            x = tenfold.roll(x, shifts=(-rows, -columns), dims=(1, 2))
        attended = self._attend(partition(x, window), _neighbours(size, window, shift, x) if any(shift) else None)
        x = departition(attended, window, size)
        if any(shift):
            x = tenfold.roll(x, shifts=shift, dims=(1, 2))
        return x[:, :h, :w]

    def _attend(self, windows: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = self._project(windows)
        logits = self._logits(q, k) + self.get_relative_position_bias()
        if mask is not None:
            count = len(mask)
            logits = (logits.unflatten(0, (-1, count)) + mask[None, :, None]).flatten(0, 1)
        weights = nn.functional.dropout(logits.softmax(-1), self.attention_dropout, self.training)
        result: Tensor = self.proj((weights @ v).transpose(1, 2).flatten(2))
        return nn.functional.dropout(result, self.dropout, self.training)


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Version 2: cosines in place of products, at a learned temperature, and a small network that makes the numbers for
    differences of positions.

    Source: Z. Liu and others, Swin Transformer V2, arXiv:2111.09883, section 3.
    """

    relative_coords_table: Tensor

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout)
        self.logit_scale = nn.Parameter(tenfold.log(10 * tenfold.ones(num_heads, 1, 1)))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False))
        if qkv_bias:
            self._without_key_bias()

    def _without_key_bias(self) -> None:
        with tenfold.no_grad():
            self.qkv.bias.chunk(3)[1].zero_()

    def define_relative_position_bias_table(self) -> None:
        """Differences of positions on a logarithmic scale, from -1 to 1 at eight pixels: what the network gets."""
        sides = [tenfold.arange(1.0 - side, side) / max(side - 1, 1) * 8 for side in self.window_size]
        table = tenfold.stack(tenfold.meshgrid(*sides, indexing="ij"), dim=-1).unsqueeze(0)
        table = table.sign() * tenfold.log2(table.abs() + 1.0) / 3.0
        self.register_buffer("relative_coords_table", table)  # (1, 2 h - 1, 2 w - 1, 2)

    def get_relative_position_bias(self) -> Tensor:
        """What is added to the logits, at most 16: (1, heads, positions, positions)."""
        table: Tensor = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        return 16 * self._looked_up(table).sigmoid()

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if self.qkv.bias is not None:
            self._without_key_bias()  # a checkpoint or a step may have set it
        return super()._project(x)

    def _logits(self, q: Tensor, k: Tensor) -> Tensor:
        cosines = nn.functional.normalize(q, dim=-1) @ nn.functional.normalize(k, dim=-1).transpose(-2, -1)
        return cosines * self.logit_scale.clamp(max=SMALLEST_SCALE).exp()
