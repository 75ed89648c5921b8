"""The model of a folder, by what its ``config.json`` says it is."""

from __future__ import annotations

import importlib
import os
from typing import Any, ClassVar

from tenfold.text.models.config import Config, read_json
from tenfold.text.models.pretrained import PretrainedModel, checkpoint_home

MODULES = {
    "bert": ("BertModel", "BertConfig"),
    "bert_tasks": ("BertForMaskedLM", "BertLMHeadModel", "BertForPreTraining", "BertForSequenceClassification",
                   "BertForTokenClassification", "BertForQuestionAnswering"),
    "bert_choices": ("BertForNextSentencePrediction", "BertForMultipleChoice"),
    "roberta": ("RobertaModel", "RobertaForMaskedLM", "RobertaForCausalLM", "RobertaForSequenceClassification",
                "RobertaForTokenClassification", "RobertaForQuestionAnswering", "RobertaForMultipleChoice", "RobertaConfig"),
    "distilbert": ("DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification",
                   "DistilBertForTokenClassification", "DistilBertForQuestionAnswering", "DistilBertForMultipleChoice",
                   "DistilBertConfig"),
    "gpt2": ("GPT2Model", "GPT2LMHeadModel", "GPT2Config"),
    "gpt2_tasks": ("GPT2ForSequenceClassification", "GPT2ForTokenClassification", "GPT2ForQuestionAnswering"),
    "t5": ("T5Model", "T5EncoderModel", "T5ForConditionalGeneration"),
    "t5_stack": ("T5Config",),
    "t5_tasks": ("T5ForSequenceClassification", "T5ForTokenClassification", "T5ForQuestionAnswering"),
    "llama": ("LlamaModel", "LlamaForCausalLM", "LlamaConfig"),
    "llama_tasks": ("LlamaForSequenceClassification", "LlamaForTokenClassification", "LlamaForQuestionAnswering"),
}  # fmt: skip
_KIN = {
    "Mistral": "Llama",
    "Qwen2": "Llama",
    "XLMRoberta": "Roberta",
    "Camembert": "Roberta",
    "MT5": "T5",
}  # the same under other names
KINDS = {"bert": "Bert", "roberta": "Roberta", "xlm-roberta": "Roberta", "camembert": "Roberta", "distilbert": "DistilBert",
         "gpt2": "GPT2", "t5": "T5", "mt5": "T5", "llama": "Llama", "mistral": "Llama", "qwen2": "Llama"}  # fmt: skip
HOME = {name: module for module, names in MODULES.items() for name in names}


def model_class(name: str) -> Any:
    """The model, or the configuration, of a published name.

    Raises: KeyError for one that is not here.
    """
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


class Auto:
    """A task's model of whatever kind a folder, or a configuration, is."""

    endings: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_pretrained(cls, folder: str | os.PathLike[str], **options: Any) -> Any:
        """The task's model in a folder of published files; `options` are those of the class's own `from_pretrained`.

        Raises: FileNotFoundError, RuntimeError as that; KeyError for a kind of model that is not here or has no such task.
        """
        home = checkpoint_home(folder)
        return cls._class_of(str(read_json(home / "config.json").get("model_type"))).from_pretrained(home, **options)

    @classmethod
    def from_config(cls, config: Config) -> Any:
        """A new model of these sizes.

        Raises: KeyError for a kind that has no such task.
        """
        return cls._class_of(config.model_type)(config)

    @classmethod
    def _class_of(cls, kind: str) -> Any:
        name = KINDS.get(kind)
        if name is None:
            raise KeyError(f"{kind!r} is no kind of model that is here; there are {', '.join(KINDS)}")
        found = next((name + ending for ending in cls.endings if name + ending in HOME), None)
        if found is None:
            raise KeyError(f"{cls.__name__}: {kind} has no such task here")
        return model_class(found)


class AutoConfig(Auto):
    """The configuration of a folder."""

    endings: ClassVar[tuple[str, ...]] = ("Config",)


class AutoModel(Auto):
    """The model without a task."""

    endings: ClassVar[tuple[str, ...]] = ("Model",)


class AutoModelForCausalLM(Auto):
    """The model that writes on."""

    endings: ClassVar[tuple[str, ...]] = ("ForCausalLM", "LMHeadModel")


class AutoModelForMaskedLM(Auto):
    """The model of hidden words."""

    endings: ClassVar[tuple[str, ...]] = ("ForMaskedLM",)


class AutoModelForSeq2SeqLM(Auto):
    """The model that makes a text of another one."""

    endings: ClassVar[tuple[str, ...]] = ("ForConditionalGeneration",)


class AutoModelForSequenceClassification(Auto):
    """The model of classes of texts."""

    endings: ClassVar[tuple[str, ...]] = ("ForSequenceClassification",)


class AutoModelForTokenClassification(Auto):
    """The model of classes of tokens."""

    endings: ClassVar[tuple[str, ...]] = ("ForTokenClassification",)


class AutoModelForQuestionAnswering(Auto):
    """The model of answers in a text."""

    endings: ClassVar[tuple[str, ...]] = ("ForQuestionAnswering",)


class AutoModelForMultipleChoice(Auto):
    """The model that chooses among texts."""

    endings: ClassVar[tuple[str, ...]] = ("ForMultipleChoice",)


class AutoModelForNextSentencePrediction(Auto):
    """The model of whether a text follows another one."""

    endings: ClassVar[tuple[str, ...]] = ("ForNextSentencePrediction",)
