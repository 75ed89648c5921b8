"""What a folder's configuration says, and what a caller says otherwise: labels, tasks, sizes."""

from __future__ import annotations

import json

import pytest
from small_models import IDS, SMALL, bert, gpt2

import tenfold
from tenfold.checkpoint.safetensors import load_file, save_file
from tenfold.text import models
from tenfold.text.models import BertConfig, BertForSequenceClassification, GPT2Config

NAMES = {0: "bad", 1: "so", 2: "good"}


def test_names_of_labels(tmp_path):
    config = BertConfig(**SMALL, id2label={"0": "bad", "1": "so", "2": "good"})
    assert config.num_labels == 3
    assert config.id2label == NAMES
    assert config.label2id == {"bad": 0, "so": 1, "good": 2}
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    read = models.from_pretrained(tmp_path)
    assert (read.config.id2label, read.config.num_labels) == (NAMES, 3)
    assert json.loads((tmp_path / "config.json").read_text())["id2label"] == {"0": "bad", "1": "so", "2": "good"}
    config.num_labels = 2
    assert config.id2label == {0: "LABEL_0", 1: "LABEL_1"} == BertConfig().id2label
    assert "id2label" not in BertConfig(num_labels=7).to_dict()
    with pytest.warns(UserWarning, match="other shapes.*classifier"):
        other = models.from_pretrained(tmp_path, num_labels=5, ignore_mismatched_sizes=True)
    assert other.config.id2label[4] == "LABEL_4"
    assert other(IDS).logits.shape == (1, 5)
    named = BertForSequenceClassification.from_pretrained(tmp_path, id2label={i: n.upper() for i, n in NAMES.items()})
    assert named.config.label2id == {"BAD": 0, "SO": 1, "GOOD": 2}


def test_weights_of_other_shapes_are_new_where_that_is_allowed(tmp_path):
    BertForSequenceClassification(BertConfig(**SMALL)).save_pretrained(tmp_path)
    with pytest.raises(RuntimeError, match=r"other shapes: classifier.*ignore_mismatched_sizes"):
        BertForSequenceClassification.from_pretrained(tmp_path, num_labels=4)
    with pytest.warns(UserWarning, match=r"has other shapes of classifier\.bias, classifier\.weight; these are new"):
        made = BertForSequenceClassification.from_pretrained(tmp_path, num_labels=4, ignore_mismatched_sizes=True)
    assert made(IDS).logits.shape == (1, 4)
    kept = models.from_pretrained(tmp_path).bert.embeddings.word_embeddings.weight
    assert tenfold.equal(made.bert.embeddings.word_embeddings.weight, kept)


def test_a_configuration_of_the_callers_own(tmp_path):
    bert().save_pretrained(tmp_path)
    config = BertConfig.from_pretrained(tmp_path, output_attentions=True)
    assert len(models.from_pretrained(tmp_path, config=config)(IDS).attentions) == 1
    config.save_pretrained(tmp_path / "new")
    assert models.AutoConfig.from_pretrained(tmp_path / "new") == BertConfig.from_pretrained(tmp_path / "new") == config
    with pytest.raises(TypeError, match="BertConfig has no entry 'layers'"):
        BertConfig.from_pretrained(tmp_path, layers=3)


def test_tasks_of_a_folder_of_any_kind(tmp_path):
    bert().save_pretrained(tmp_path / "bert")
    gpt2().save_pretrained(tmp_path / "gpt2")
    assert type(models.AutoModelForMaskedLM.from_pretrained(tmp_path / "bert")).__name__ == "BertForMaskedLM"
    assert type(models.AutoModelForCausalLM.from_pretrained(tmp_path / "gpt2")).__name__ == "GPT2LMHeadModel"
    with pytest.warns(UserWarning, match="pooler"):
        assert type(models.AutoModel.from_pretrained(tmp_path / "bert")).__name__ == "BertModel"
    with pytest.warns(UserWarning, match="score.weight; these are new"):
        made = models.AutoModelForSequenceClassification.from_pretrained(tmp_path / "gpt2", num_labels=3)
    assert made(IDS).logits.shape == (1, 3)
    made = models.AutoModelForTokenClassification.from_config(GPT2Config(vocab_size=9, n_embd=4, n_head=2, n_layer=1))
    assert type(made).__name__ == "GPT2ForTokenClassification"
    with pytest.raises(KeyError, match="AutoModelForSeq2SeqLM: gpt2 has no such task here"):
        models.AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "gpt2")
    (tmp_path / "gpt2" / "config.json").write_text('{"model_type": "whisper"}')
    with pytest.raises(KeyError, match="'whisper' is no kind of model that is here; there are bert"):
        models.AutoModel.from_pretrained(tmp_path / "gpt2")


@pytest.mark.parametrize("base", ["model", "transformer", ""])
def test_tasks_whose_base_has_another_name(tmp_path, base):
    """Answers of Llama keep the decoder under another name than its other tasks do."""
    sizes = {**SMALL, "num_key_value_heads": 2}
    made = models.LlamaForQuestionAnswering(models.LlamaConfig(**sizes))
    made.save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    head = f"{base}." if base else ""
    save_file({key.replace("transformer.", head): tensor for key, tensor in state.items()}, tmp_path / "model.safetensors")
    read = models.from_pretrained(tmp_path)
    assert tenfold.equal(read(IDS).start_logits, made.eval()(IDS).start_logits)


@pytest.mark.parametrize(("size", "multiple", "expected"), [(33, None, 33), (33, 8, 40), (None, 8, 32), (12, None, 12)])
def test_numbers_of_words(size, multiple, expected, tmp_path):
    model = gpt2()
    mean = model.transformer.wte.weight.mean(0)
    model.resize_token_embeddings(size, pad_to_multiple_of=multiple)
    assert model.lm_head.weight is model.transformer.wte.weight
    assert model.config.vocab_size == model.lm_head.out_features == expected
    if expected > 30:
        assert tenfold.allclose(model.transformer.wte.weight[30:], mean)
    model(IDS, labels=IDS).loss.backward()
    assert model.lm_head.weight.grad.shape == (expected, 8)
    model.save_pretrained(tmp_path)
    assert tenfold.equal(models.from_pretrained(tmp_path)(IDS).logits, model(IDS).logits)
    with pytest.raises(ValueError, match="at least one word, got 0"):
        model.resize_token_embeddings(0)


def test_another_layer_reads_the_words():
    model = gpt2()
    other = tenfold.nn.Embedding(30, 8)
    model.set_input_embeddings(other)
    assert model.transformer.wte is model.get_input_embeddings() is other


def test_weights_are_looked_at_without_changing_what_comes_out():
    for model in (bert(), gpt2()):
        plain, looked = model(IDS), model(IDS, output_attentions=True)
        assert tenfold.allclose(plain.logits, looked.logits, atol=1e-6)
        assert plain.attentions is None
        weights = looked.attentions[0]
        assert weights.shape == (1, 2, 4, 4)
        assert tenfold.allclose(weights.sum(-1), tenfold.ones(1, 2, 4))
