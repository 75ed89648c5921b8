"""The model of a folder, by what its ``config.json`` says it is."""

from __future__ import annotations

import importlib
import os
from typing import Any

from tenfold.text.models.config import read_json
from tenfold.text.models.pretrained import PretrainedModel, checkpoint_home

MODULES = {
    "bert": ("BertModel", "BertForMaskedLM", "BertForPreTraining", "BertForSequenceClassification", "BertForTokenClassification",
             "BertForQuestionAnswering", "BertConfig"),
    "bert_choices": ("BertForNextSentencePrediction", "BertForMultipleChoice"),
    "roberta": ("RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification", "RobertaForTokenClassification",
                "RobertaForQuestionAnswering", "RobertaForMultipleChoice", "RobertaConfig"),
    "distilbert": ("DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification",
                   "DistilBertForTokenClassification", "DistilBertForQuestionAnswering", "DistilBertConfig"),
    "gpt2": ("GPT2Model", "GPT2LMHeadModel", "GPT2ForSequenceClassification", "GPT2Config"),
    "t5": ("T5EncoderModel", "T5ForConditionalGeneration", "T5Config"),
    "llama": ("LlamaModel", "LlamaForCausalLM", "LlamaForSequenceClassification", "LlamaConfig"),
}  # fmt: skip
_SAME = {"MT5ForConditionalGeneration": "T5ForConditionalGeneration", "MT5EncoderModel": "T5EncoderModel",
         "BertLMHeadModel": "BertForMaskedLM"}  # fmt: skip
_KIN = {"Mistral": "Llama", "Qwen2": "Llama", "XLMRoberta": "Roberta", "Camembert": "Roberta"}  # the same under other names
HOME = {name: module for module, names in MODULES.items() for name in names}


def model_class(name: str) -> Any:
    """The model, or the configuration, of a published name.

    Raises: KeyError for one that is not here.
    """
    name = _SAME.get(name, name)
    kin = next((kin for kin in _KIN if name.startswith(kin)), "")
    name = _KIN.get(kin, "") + name.removeprefix(kin)
    if name not in HOME:
        raise KeyError(f"{name!r} is not here; there are {', '.join(HOME)}")
    return getattr(importlib.import_module(f"tenfold.text.models.{HOME[name]}"), name)


def from_pretrained(folder: str | os.PathLike[str], **options: Any) -> PretrainedModel:
    """The model in a folder of published files, of the class that its ``config.json`` names under `architectures`.

    Raises: FileNotFoundError, RuntimeError as the class's `from_pretrained`; KeyError for an architecture that is not here.
    """
    home = checkpoint_home(folder)
    named = read_json(home / "config.json").get("architectures") or []
    if not named:
        raise KeyError(f"{home / 'config.json'} names no architecture; use a class's own from_pretrained")
    made: PretrainedModel = model_class(named[0]).from_pretrained(home, **options)
    return made
