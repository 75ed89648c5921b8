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


def class_loss(logits: Tensor, labels: Tensor | None, problem: str | None = None) -> Tensor | None:
    """The squared error of numbers, the cross entropy of one class, or the binary one of several at once.

    Which `problem` it is, the configuration can say; else one column is a number, whole labels are classes.

    Raises: ValueError for a problem that there is not.
    """
    if problem not in (None, "regression", "single_label_classification", "multi_label_classification"):
        raise ValueError(
            f"config.problem_type is regression, single_label_classification or multi_label_classification, got {problem!r}"
        )
    if labels is None:
        return None
    if problem is None:
        several = "multi" if labels.dtype.is_floating_point else "single"
        problem = "regression" if logits.shape[-1] == 1 else f"{several}_label_classification"
    if problem == "regression":
        numbers, wanted = (logits.squeeze(-1), labels.view(-1)) if logits.shape[-1] == 1 else (logits, labels)
        return F.mse_loss(numbers, wanted.to(logits.dtype))
    if problem == "multi_label_classification":
        return F.binary_cross_entropy_with_logits(logits, labels)
    return F.cross_entropy(logits, labels.view(-1))


def span_loss(start: Tensor, end: Tensor, first: Tensor | None, last: Tensor | None) -> Tensor | None:
    """The mean cross entropy of an answer's first and last place; places outside of the text are left out."""
    if first is None or last is None:
        return None
    T = start.shape[1]
    parts = [F.cross_entropy(s, p.view(-1).clamp(0, T), ignore_index=T) for s, p in ((start, first), (end, last))]
    return (parts[0] + parts[1]) / 2


def at_last_token(logits: Tensor, input_ids: Tensor | None, config: Any) -> Tensor:
    """What stands at each text's last token that is no padding; without ids, at the last place. Shape: (B, T, C) -> (B, C).

    Raises: ValueError for several texts where the configuration names no padding token.
    """
    pad = config.pad_token_id
    if pad is None and len(logits) > 1:
        raise ValueError(
            f"{len(logits)} texts: which token is the last of each is seen by config.pad_token_id, which is None; set it"
        )
    if pad is None or input_ids is None:
        return logits[:, -1]
    places = tenfold.arange(input_ids.shape[1], device=input_ids.device)
    last = ((input_ids != pad).long() * places).argmax(-1)
    return logits[tenfold.arange(len(input_ids), device=input_ids.device), last]


def flat_choices(name: str, input_ids: Tensor | None, *inputs: Tensor | None) -> tuple[tuple[int, int], list[Tensor | None]]:
    """How many texts and choices there are, and every choice as a text by itself; the last of `inputs` are the vectors.

    Shape: (B, choices, T) -> (B * choices, T), and vectors (B, choices, T, D) -> (B * choices, T, D).
    Raises: ValueError for inputs of another shape.
    """
    given = inputs[-1] if input_ids is None else input_ids
    if given is None or given.dim() != (4 if input_ids is None else 3):
        got = "nothing" if given is None else tuple(given.shape)
        raise ValueError(f"{name}: input_ids are (texts, choices, tokens), got {got}; inputs_embeds have a vector for each")
    flat = [None if part is None else part.flatten(0, 1) for part in (input_ids, *inputs)]
    return (given.shape[0], given.shape[1]), flat
