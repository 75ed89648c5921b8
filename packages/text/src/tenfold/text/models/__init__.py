"""Language models with the parameter keys of published checkpoints; each comes in when first named."""

from __future__ import annotations

from typing import Any

from tenfold.text.models.auto import (
    HOME,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForNextSentencePrediction,
    AutoModelForQuestionAnswering,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    from_pretrained,
    model_class,
)
from tenfold.text.models.download import download

__all__ = [
    "AutoConfig",
    "AutoModel",
    "AutoModelForCausalLM",
    "AutoModelForMaskedLM",
    "AutoModelForMultipleChoice",
    "AutoModelForNextSentencePrediction",
    "AutoModelForQuestionAnswering",
    "AutoModelForSeq2SeqLM",
    "AutoModelForSequenceClassification",
    "AutoModelForTokenClassification",
    "download",
    "from_pretrained",
    "model_class",
]


def __getattr__(name: str) -> Any:
    if name in HOME:
        return model_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join([*__all__, *HOME])}")


def __dir__() -> list[str]:
    return sorted({*globals(), *HOME})
