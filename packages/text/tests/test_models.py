"""Models without an oracle: folders, keys of older files, what is refused."""

from __future__ import annotations

import json

import pytest
from small_models import IDS, SMALL, bert, gpt2

import tenfold
from tenfold.checkpoint.safetensors import load_file, save_file
from tenfold.text import models
from tenfold.text.models import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)


# The published sizes; the counts are those of the model cards
@pytest.mark.parametrize(
    ("name", "sizes", "expected"),
    [
        ("BertModel", {}, 109_482_240),
        ("BertForMaskedLM", {}, 109_514_298),
        ("RobertaForMaskedLM", {}, 124_697_433),
        ("DistilBertModel", {}, 66_362_880),
        ("GPT2LMHeadModel", {}, 124_439_808),
        ("GPT2LMHeadModel", {"n_embd": 1024, "n_layer": 24, "n_head": 16}, 354_823_168),
        ("T5ForConditionalGeneration", {}, 60_506_624),
        ("LlamaForCausalLM", {}, 6_738_415_616),
    ],
)
def test_published_numbers_of_parameters(name, sizes, expected):
    kind = models.model_class(name)
    with tenfold.device("meta"):
        assert kind(kind.config_class(**sizes)).num_parameters() == expected


@pytest.mark.parametrize(("kind", "words"), [(BertForMaskedLM, 30522), (GPT2LMHeadModel, 50257)])
def test_a_whole_network_runs_forward_and_backward_without_memory(kind, words):
    with tenfold.device("meta"):
        model = kind(kind.config_class())
        scores = model(tenfold.zeros(2, 64, dtype=tenfold.int64)).logits
        scores.sum().backward()
    assert scores.device.type == "meta"
    assert scores.shape == (2, 64, words)
    for name, parameter in model.named_parameters():
        assert parameter.grad.shape == parameter.shape, name
        assert parameter.grad.device.type == "meta", name


# Folders


def test_a_folder_there_and_back(tmp_path):
    given = bert()
    given.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    read = models.from_pretrained(tmp_path)
    assert type(read) is BertForMaskedLM
    assert not read.training
    assert tenfold.equal(read(IDS).logits, given(IDS).logits)
    assert "cls.predictions.decoder.weight" not in load_file(tmp_path / "model.safetensors")  # it is that of the words
    assert models.from_pretrained(tmp_path, dtype=tenfold.bfloat16).dtype == tenfold.bfloat16


def test_dtypes_of_folders(tmp_path):
    given = bert()
    given.save_pretrained(tmp_path)
    for dtype in (tenfold.float16, "float16", "torch.float16"):
        assert models.from_pretrained(tmp_path, dtype=dtype).dtype == tenfold.float16
    assert models.from_pretrained(tmp_path, torch_dtype="bfloat16").dtype == tenfold.bfloat16
    assert models.from_pretrained(tmp_path, dtype="auto").dtype == tenfold.float32
    for name in ("dtype", "torch_dtype"):
        given.config.extra = {name: "float16"}
        given.save_pretrained(tmp_path)
        assert models.from_pretrained(tmp_path, dtype="auto").dtype == tenfold.float16
    for wrong in ("half a float", "int64", "nn", 3, float):
        with pytest.raises(TypeError, match=r"dtype is a floating one such as tenfold\.bfloat16, its name, or 'auto'; got"):
            models.from_pretrained(tmp_path, dtype=wrong)


@pytest.mark.parametrize("kind", ["safetensors", "parts", "bin", "old"])
@pytest.mark.parametrize("mmap", [False, True])
def test_a_folder_is_read_and_no_more(tmp_path, kind, mmap):
    """What a model is, trains and shares is the same, however its file lies; the file stays as it is."""
    given = gpt2()
    given.save_pretrained(tmp_path, max_shard_size=2000 if kind == "parts" else 1 << 30)
    if kind in ("bin", "old"):
        state = load_file(tmp_path / "model.safetensors")
        (tmp_path / "model.safetensors").unlink()
        tenfold.save(state, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=kind == "bin")
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    read = models.from_pretrained(tmp_path, mmap=mmap)
    assert read.lm_head.weight is read.transformer.wte.weight
    assert all(p.requires_grad and p.is_leaf and p.device.type == "cpu" for p in read.parameters())
    assert tenfold.equal(read(IDS).logits, given(IDS).logits)
    optimizer = tenfold.optim.SGD(read.parameters(), lr=0.1)
    before = read(IDS, labels=IDS).loss
    before.backward()
    optimizer.step()
    assert read(IDS, labels=IDS).loss.item() < before.item()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_narrow_models_turn_as_wide_ones_do(tmp_path):
    """The angles of rotations are of float32: the last of many positions is turned as it should be."""
    given = LlamaForCausalLM(LlamaConfig(**SMALL, max_position_embeddings=4096, initializer_range=0.3)).eval()
    given.save_pretrained(tmp_path)
    places = tenfold.arange(4000, 4004).unsqueeze(0)
    expected = given.model.rotation(places, tenfold.float32)[0]
    for narrow in (models.from_pretrained(tmp_path, dtype=tenfold.bfloat16), given.half()):
        assert tenfold.equal(narrow.model.rotation(places, tenfold.float32)[0], expected)


def test_parameters_that_the_files_lack_are_those_of_a_new_model(tmp_path):
    bert(BertModel).save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    dropped = [name for name in state if name.startswith("pooler") or name.endswith("LayerNorm.weight")]
    save_file({name: tensor for name, tensor in state.items() if name not in dropped}, tmp_path / "model.safetensors")
    with pytest.warns(UserWarning, match=r"has no .*LayerNorm\.weight.*pooler\.dense\.bias.*these are new"):
        made = BertModel.from_pretrained(tmp_path, dtype="float64")
    assert tenfold.equal(made.embeddings.LayerNorm.weight, tenfold.ones(8, dtype=tenfold.float64))
    assert made.pooler.dense.bias.tolist() == [0.0] * 8
    assert 0 < made.pooler.dense.weight.std().item() < 0.2
    assert {p.dtype for p in made.parameters()} == {tenfold.float64}


@pytest.mark.parametrize("name", ["config.json", "generation_config.json", "model.safetensors.index.json"])
@pytest.mark.parametrize("text", ["{bad", "[]", ""])
def test_files_that_are_no_json_are_named(tmp_path, name, text):
    gpt2().save_pretrained(tmp_path, max_shard_size=2000)
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=rf"{name} is no JSON.*use another copy"):
        models.from_pretrained(tmp_path)


def test_a_text_of_padding_alone_is_no_number_less(tmp_path):
    sizes = {"vocab_size": 30, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    model = T5ForConditionalGeneration(T5Config(**sizes)).eval()
    mask = tenfold.tensor([[1, 1, 1, 1], [0, 0, 0, 0]])
    for dtype in (tenfold.float32, tenfold.float16, tenfold.bfloat16):
        logits = model.to(dtype)(IDS.repeat(2, 1), mask, decoder_input_ids=tenfold.tensor([[0, 3]] * 2)).logits
        assert bool(logits.isfinite().all())


def test_parts_with_an_index(tmp_path):
    given = gpt2()
    given.save_pretrained(tmp_path, max_shard_size=2000)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    names = set(index["weight_map"].values())
    assert len(names) > 2
    assert all((tmp_path / name).is_file() for name in names)
    assert tenfold.equal(models.from_pretrained(tmp_path)(IDS).logits, given(IDS).logits)
    (tmp_path / min(names)).unlink()
    with pytest.raises(FileNotFoundError, match=r"names model-00001-of-.*put them there"):
        models.from_pretrained(tmp_path)


def test_an_index_cannot_name_files_elsewhere(tmp_path):
    gpt2().save_pretrained(tmp_path, max_shard_size=2000)
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(path.read_text().replace("model-00001", "../model-00001"))
    with pytest.raises(ValueError, match="files of its folder"):
        models.from_pretrained(tmp_path)


def test_older_files(tmp_path):
    given = bert()
    given.save_pretrained(tmp_path)
    state = given.state_dict()
    old = {
        key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
        for key, t in state.items()
    }
    old["bert.embeddings.position_ids"] = tenfold.arange(12)
    (tmp_path / "model.safetensors").unlink()
    tenfold.save(old, tmp_path / "pytorch_model.bin")
    read = BertForMaskedLM.from_pretrained(tmp_path)
    assert tenfold.equal(read(IDS).logits, given(IDS).logits)
    assert read.unused_keys == []


def test_a_folder_is_read_to_where_tensors_are_made(tmp_path):
    gpt2().save_pretrained(tmp_path)
    with tenfold.device("meta"):
        read, placed = (GPT2LMHeadModel.from_pretrained(tmp_path, device=device) for device in (None, "cpu"))
    assert {t.device.type for t in read.state_dict().values()} == {"meta"}
    assert {t.device.type for t in placed.state_dict().values()} == {"cpu"}


def test_files_of_the_base_alone_and_with_another_task(tmp_path):
    given = gpt2()
    given.save_pretrained(tmp_path)
    state = {key.removeprefix("transformer."): t for key, t in given.transformer.state_dict().items()}
    state["h.0.attn.bias"] = tenfold.ones(1, 1, 24, 24)
    save_file(state, tmp_path / "model.safetensors")
    read = GPT2LMHeadModel.from_pretrained(tmp_path)
    assert tenfold.equal(read(IDS).logits, given(IDS).logits)
    bert(BertModel).save_pretrained(tmp_path / "bert")
    with pytest.warns(UserWarning, match=r"has no classifier.bias, classifier.weight; these are new"):
        made = BertForSequenceClassification.from_pretrained(tmp_path / "bert", num_labels=5)
    assert made(IDS).logits.shape == (1, 5)


def test_what_is_missing_or_wrong_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="has no config"):
        models.from_pretrained(tmp_path)
    bert().save_pretrained(tmp_path)
    with pytest.raises(RuntimeError, match=r"other shapes: .*\(30, 8\) in place of \(31, 8\)"):
        BertForMaskedLM.from_pretrained(tmp_path, vocab_size=31)
    with pytest.raises(TypeError, match="no entry 'layers'"):
        BertForMaskedLM.from_pretrained(tmp_path, layers=2)
    with pytest.raises(ValueError, match="this is the configuration of 'bert', expected gpt2"):
        GPT2LMHeadModel.from_pretrained(tmp_path)
    save_file({"other": tenfold.ones(1)}, tmp_path / "model.safetensors")
    with pytest.raises(RuntimeError, match=r"nothing in .* fits; it has other"):
        BertForMaskedLM.from_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"no weights; put model\.safetensors"):
        BertForMaskedLM.from_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["WhisperModel"]}))
    with pytest.raises(KeyError, match="'WhisperModel' is not here; there are BertModel"):
        models.from_pretrained(tmp_path)


def test_too_long_texts_are_refused():
    long = tenfold.zeros(1, 13, dtype=tenfold.int64)
    with pytest.raises(ValueError, match="the text has 13 tokens"):
        bert()(long)
    with pytest.raises(ValueError, match="the text has 25 tokens"):
        gpt2()(tenfold.zeros(1, 25, dtype=tenfold.int64))


def test_a_configuration_keeps_what_it_does_not_know(tmp_path):
    config = BertConfig.from_dict(
        {"model_type": "bert", "hidden_size": 8, "someone": "else", "id2label": {"0": "a", "1": "b", "2": "c"}}
    )
    config.save(tmp_path / "config.json")
    again = BertConfig.from_file(tmp_path / "config.json")
    assert (again.extra["someone"], again.num_labels, again.hidden_size) == ("else", 3, 8)


def test_padding_changes_nothing():
    model = bert(BertModel)
    short = model(IDS).last_hidden_state
    padded = tenfold.cat([IDS, tenfold.zeros(1, 3, dtype=tenfold.int64)], 1)
    long = model(padded, tenfold.tensor([[1] * 4 + [0] * 3])).last_hidden_state
    assert tenfold.allclose(long[:, :4], short, atol=1e-6)
    assert not bool(long.isnan().any())


def test_heads_share_the_width():
    for kind, config in (
        (BertModel, BertConfig(**{**SMALL, "hidden_size": 9})),
        (GPT2LMHeadModel, GPT2Config(n_embd=9, n_head=2)),
    ):
        with pytest.raises(ValueError, match="2 heads cannot share a width of 9"):
            kind(config)


def test_a_decoder_goes_on_from_its_cache():
    model = gpt2()
    first = model(IDS[:, :3], use_cache=True, output_hidden_states=True)
    assert len(first.hidden_states) == 3
    after = model(IDS[:, 3:], past_key_values=first.past_key_values).logits
    assert tenfold.allclose(after, model(IDS).logits[:, 3:], atol=1e-6)
    with pytest.raises(TypeError, match="unknown"):
        model(IDS, unknown=1)


def test_outputs_by_name_and_place():
    out = bert(BertModel)(IDS)
    assert out[0] is out.last_hidden_state is out["last_hidden_state"]
    assert out.hidden_states is None
    assert len(out) == 2 == len(list(out))
    with pytest.raises(AttributeError, match="no 'logits'; there are last_hidden_state"):
        out.logits
    with pytest.raises(KeyError, match="hidden_states"):
        out["hidden_states"]


# Writing


def test_a_cache_changes_nothing():
    for model in (gpt2(), LlamaForCausalLM(LlamaConfig(**SMALL, initializer_range=0.4))):
        with_cache = model.generate(IDS, max_new_tokens=8, eos_token_id=None)
        assert with_cache.tolist() == model.generate(IDS, max_new_tokens=8, eos_token_id=None, use_cache=False).tolist()


def test_padding_on_the_left_changes_nothing():
    model = gpt2()
    alone = model.generate(IDS, max_new_tokens=6)
    padded = tenfold.cat([tenfold.tensor([[0, 0]]), IDS], 1)
    beside = model.generate(
        tenfold.cat([padded, tenfold.tensor([[7] * 6])]), tenfold.tensor([[0, 0, 1, 1, 1, 1], [1] * 6]), max_new_tokens=6
    )
    assert beside[0, 2:].tolist() == alone[0].tolist()


def test_half_precision():
    for dtype in (tenfold.bfloat16, tenfold.float16):
        assert gpt2().to(dtype=dtype).generate(IDS, max_new_tokens=3).shape == (1, 7)
        assert bert().to(dtype=dtype)(IDS, tenfold.tensor([[1, 1, 1, 0]])).logits.dtype == dtype
