"""LoRA: nothing changes at first, little is trained, what was learned is saved, read and merged; models are downloaded."""

from __future__ import annotations

import json

import pytest

import tenfold
from tenfold import nn, optim
from tenfold.text import models
from tenfold.text.lora import LoraLinear, add_lora, load_lora, lora_state_dict, merge_lora, save_lora, unmerge_lora
from tenfold.text.models import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

IDS = tenfold.tensor([[3, 4, 5, 6], [7, 8, 9, 3]])


def bert():
    tenfold.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
    sizes["initializer_range"] = 0.5
    return BertForSequenceClassification(BertConfig(**sizes)).eval()


def gpt2():
    tenfold.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=30, n_embd=8, n_layer=2, n_head=2, n_positions=24)).eval()


@pytest.mark.parametrize(("make", "targets"), [(bert, ["query", "value"]), (gpt2, ["c_attn"])])
def test_learned_saved_read_and_merged(make, targets, tmp_path):
    model = make()
    before = model(IDS).logits
    frozen = {name: p.clone() for name, p in model.named_parameters()}
    add_lora(model, targets, r=3, alpha=6)
    assert tenfold.equal(model(IDS).logits, before)
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert len(trained) == 2 * 2 * len(targets)
    optimizer = optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    for _ in range(3):
        model(IDS).logits.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    after = model(IDS).logits
    assert not tenfold.allclose(after, before)
    save_lora(model, tmp_path)
    assert tenfold.allclose(load_lora(make(), tmp_path)(IDS).logits, after, atol=1e-6)
    merge_lora(model)
    assert tenfold.allclose(model(IDS).logits, after, atol=1e-5)
    assert set(model.state_dict()) == set(make().state_dict())
    unchanged = [name for name, p in model.named_parameters() if tenfold.equal(p, frozen[name])]
    assert len(frozen) - len(unchanged) == 2 * len(targets)


def test_adapters_have_the_published_keys(tmp_path):
    model = add_lora(bert(), "query", r=2, train=["classifier"])
    keys = lora_state_dict(model)
    assert "base_model.model.bert.encoder.layer.0.attention.self.query.lora_A.weight" in keys
    assert "base_model.model.classifier.bias" in keys
    save_lora(model, tmp_path)
    settings = json.loads((tmp_path / "adapter_config.json").read_text())
    assert (settings["peft_type"], settings["r"], settings["fan_in_fan_out"]) == ("LORA", 2, False)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="no layer is called nothing; BertForSequenceClassification has query, key"):
        add_lora(bert(), "nothing")
    with pytest.raises(ValueError, match="r must be at least 1"):
        LoraLinear(nn.Linear(2, 2), r=0)
    with pytest.raises(TypeError, match="a matrix as weight, got LayerNorm"):
        add_lora(bert(), "LayerNorm")
    with pytest.raises(ValueError, match="has no LoRA layers"):
        save_lora(bert(), "nowhere")


@pytest.mark.parametrize(
    ("targets", "more", "error", "said"),
    [("c_attn", {"train": ["score"]}, ValueError, "no part is called score"),
     ("wte", {}, TypeError, "got Embedding"), (["c_attn", "ln_1"], {}, TypeError, "got LayerNorm"),
     ("query", {}, ValueError, "GPT2LMHeadModel has c_attn, c_proj, c_fc, lm_head"),
     ("c_attn", {"r": 0}, ValueError, "at least 1")],
)  # fmt: skip
def test_what_is_refused_leaves_the_model_as_it_was(targets, more, error, said):
    model = gpt2()
    with pytest.raises(error, match=said):
        add_lora(model, targets, **more)
    assert all(p.requires_grad for p in model.parameters())
    assert not [name for name, _ in model.named_modules() if "lora" in name]


def test_a_shared_matrix_is_not_merged_into():
    """GPT-2's head is its embedding: what the head learned is not to change what the words are."""
    model = add_lora(gpt2(), ["lm_head", "c_attn"])
    nn.init.normal_(model.lm_head.lora_B.weight)
    before = model(IDS).logits
    for unload in (True, False):
        with pytest.raises(ValueError, match=r"lm_head shares its weight with transformer\.wte"):
            merge_lora(model, unload=unload)
    assert tenfold.equal(model(IDS).logits, before)
    own = model.lm_head.base_layer.weight.detach().clone()
    model.lm_head.base_layer.weight = nn.Parameter(own, requires_grad=False)
    assert tenfold.allclose(merge_lora(model)(IDS).logits, before, atol=1e-5)


def test_another_models_adapter(tmp_path):
    save_lora(add_lora(gpt2(), "c_attn"), tmp_path)
    other = add_lora(bert(), "query")
    with pytest.raises(RuntimeError, match="is the adapter another model's"):
        load_lora(other, tmp_path)


def test_dropout_is_of_the_small_part():
    layer = LoraLinear(nn.Linear(4, 4), dropout=0.5).train()
    x = tenfold.ones(2, 4)
    assert tenfold.equal(layer(x), layer.base_layer(x))


# Published models brought by the network


def test_download(file_server, tmp_path):
    given = gpt2()
    given.save_pretrained(file_server.folder / "someone" / "small" / "resolve" / "main")
    (file_server.folder / "someone" / "small" / "resolve" / "main" / "vocab.json").write_text("{}")
    file_server.drops = 1
    home = models.download("someone/small", root=tmp_path, hub=file_server.url.rstrip("/"))
    assert home == tmp_path / "models" / "someone" / "small"
    assert sorted(path.name for path in home.iterdir()) == ["config.json", "model.safetensors", "vocab.json"]
    assert tenfold.equal(models.from_pretrained(home)(IDS).logits, given(IDS).logits)


def test_download_of_parts(file_server, tmp_path):
    given = gpt2()
    given.save_pretrained(file_server.folder / "parts" / "resolve" / "v1", max_shard_size=3000)
    home = models.download("parts", "v1", tmp_path, file_server.url.rstrip("/"))
    assert len(list(home.glob("*.safetensors"))) > 1
    assert tenfold.equal(models.from_pretrained(home)(IDS).logits, given(IDS).logits)
    with pytest.raises(RuntimeError, match="checksum"):
        models.download("parts", "v1", tmp_path / "b", file_server.url.rstrip("/"), {"config.json": "0" * 64})


def test_a_model_without_safetensors(file_server, tmp_path):
    given = file_server.folder / "old" / "resolve" / "main"
    given.mkdir(parents=True)
    (given / "config.json").write_text("{}")
    (given / "pytorch_model.bin").write_bytes(b"0")
    with pytest.raises(FileNotFoundError, match=r"old has neither model\.safetensors nor model\.safetensors\.index\.json"):
        models.download("old", root=tmp_path, hub=file_server.url.rstrip("/"))


@pytest.mark.parametrize("name", ["../up", "a/b/c", "", "a//b"])
def test_names_that_are_none(name, tmp_path):
    with pytest.raises(ValueError, match="expected a name or owner/name"):
        models.download(name, root=tmp_path)


def test_without_network(offline, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no file config\.json; put it there"):
        models.download("gpt2", root=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"tenfold\.text\.models\.download"):
        models.from_pretrained(tmp_path / "gpt2")


def test_merged_and_taken_apart_again(tmp_path):
    model = add_lora(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).double(), targets=["0", "2"], r=2)
    for layer in (model[0], model[2]):
        nn.init.normal_(layer.lora_B.weight)
    x, before = tenfold.randn(3, 4, dtype=tenfold.float64), model[0].base_layer.weight.clone()
    expected = model(x)
    for _ in range(2):  # once is as good as twice
        merge_lora(model, unload=False)
    assert tenfold.allclose(model(x), expected)
    assert not tenfold.allclose(model[0].base_layer.weight, before)
    for _ in range(2):
        unmerge_lora(model)
    assert tenfold.allclose(model(x), expected)
    assert tenfold.allclose(model[0].base_layer.weight, before)
    merge_lora(model, unload=False)
    merge_lora(model)
    assert type(model[0]) is nn.Linear
    assert tenfold.allclose(model(x), expected)


def test_kinds_of_published_adapters(tmp_path):
    made = add_lora(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), targets=["0"], r=4, alpha=8)
    nn.init.normal_(made[0].lora_B.weight)
    save_lora(made, tmp_path)
    path = tmp_path / "adapter_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "target_modules": ".*0$", "use_rslora": True, "lora_alpha": 4.0}))
    read = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    read.load_state_dict(merge_lora(nn.Sequential(made[0].base_layer, made[1])).state_dict())
    x = tenfold.randn(3, 4)
    assert tenfold.allclose(load_lora(read, tmp_path)(x), made(x), atol=1e-6)
    path.write_text(json.dumps({**settings, "use_dora": True}))
    with pytest.raises(ValueError, match="has use_dora; plain LoRA"):
        load_lora(nn.Sequential(nn.Linear(4, 4)), tmp_path)


def test_a_refused_layer_stays_trainable():
    layer = tenfold.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="dropout"):
        LoraLinear(layer, dropout=2.0)
    assert layer.weight.requires_grad
