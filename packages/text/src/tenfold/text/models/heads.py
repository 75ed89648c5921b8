"""Losses of the models' tasks; None where no labels are given."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F


def token_loss(logits: Tensor, labels: Tensor | None) -> Tensor | None:
    """Cross entropy of each token's label, those of -100 left out. Shape: (B, T, V), (B, T) -> ()."""
    return None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def next_token_loss(logits: Tensor, labels: Tensor | None) -> Tensor | None:
    """Cross entropy of each token given those before it. Shape: (B, T, V), (B, T) -> ()."""
    return None if labels is None else token_loss(logits[:, :-1], labels[:, 1:])


def class_loss(logits: Tensor, labels: Tensor | None) -> Tensor | None:
    """Cross entropy of classes; of numbers with several columns the binary one; of one column the squared error."""
    if labels is None:
        return None
    if logits.shape[-1] == 1:
        return F.mse_loss(logits.squeeze(-1), labels.to(logits.dtype).view(-1))
    if labels.dtype.is_floating_point:
        return F.binary_cross_entropy_with_logits(logits, labels)
    return F.cross_entropy(logits, labels.view(-1))


def span_loss(start: Tensor, end: Tensor, first: Tensor | None, last: Tensor | None) -> Tensor | None:
    """The mean cross entropy of an answer's first and last place; places outside of the text are left out."""
    if first is None or last is None:
        return None
    T = start.shape[1]
    parts = [F.cross_entropy(s, p.view(-1).clamp(0, T), ignore_index=T) for s, p in ((start, first), (end, last))]
    return (parts[0] + parts[1]) / 2


def at_last_token(logits: Tensor, input_ids: Tensor, config: Any) -> Tensor:
    """What stands at each text's last token that is no padding. Shape: (B, T, C), (B, T) -> (B, C).

    Raises: ValueError for several texts where the configuration names no padding token.
    """
    pad = config.pad_token_id
    if pad is None:
        if len(input_ids) > 1:
            raise ValueError(
                f"{len(input_ids)} texts: which token is the last of each is seen by config.pad_token_id, which is None; set it"
            )
        return logits[:, -1]
    places = tenfold.arange(input_ids.shape[1], device=input_ids.device)
    last = ((input_ids != pad).long() * places).argmax(-1)
    return logits[tenfold.arange(len(input_ids), device=input_ids.device), last]
