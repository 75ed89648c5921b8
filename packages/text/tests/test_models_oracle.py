"""Models against transformers: the same random weights by key, float64; outputs, losses, gradients, texts."""

from __future__ import annotations

import functools
import warnings

import pytest

import tenfold
from tenfold.text import models

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")
    import transformers.models.llama.modeling_llama as llama_code
    import transformers.models.t5.modeling_t5 as t5_code
transformers.logging.set_verbosity_error()
pytestmark = pytest.mark.filterwarnings("ignore")  # the oracle's own

BERT = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24,
    "max_position_embeddings": 20, "num_labels": 3, "initializer_range": 0.5,
}  # fmt: skip
DISTIL = {
    "vocab_size": 60, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 24, "max_position_embeddings": 20, "num_labels": 3,
    "initializer_range": 0.5,
}  # fmt: skip
GPT2 = {
    "vocab_size": 60, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40, "initializer_range": 0.5, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
LLAMA = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "initializer_range": 0.5, "max_position_embeddings": 64,
}  # fmt: skip
LONG = {
    "rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
T5 = {"vocab_size": 60, "d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0}

CASES = {
    "BertModel": ("Bert", BERT),
    "BertForMaskedLM": ("Bert", BERT),
    "BertForPreTraining": ("Bert", BERT),
    "BertForSequenceClassification": ("Bert", BERT),
    "BertForTokenClassification": ("Bert", {**BERT, "hidden_act": "gelu_new"}),
    "BertForQuestionAnswering": ("Bert", {**BERT, "num_labels": 2}),
    "BertForNextSentencePrediction": ("Bert", BERT),
    "BertForMultipleChoice": ("Bert", BERT),
    "RobertaModel": ("Roberta", BERT),
    "RobertaForTokenClassification": ("Roberta", BERT),
    "RobertaForQuestionAnswering": ("Roberta", {**BERT, "num_labels": 2}),
    "RobertaForMultipleChoice": ("Roberta", BERT),
    "XLMRobertaForSequenceClassification": ("XLMRoberta", BERT),
    "RobertaForMaskedLM": ("Roberta", BERT),
    "RobertaForSequenceClassification": ("Roberta", BERT),
    "DistilBertModel": ("DistilBert", DISTIL),
    "DistilBertForMaskedLM": ("DistilBert", DISTIL),
    "DistilBertForSequenceClassification": ("DistilBert", DISTIL),
    "DistilBertForTokenClassification": ("DistilBert", DISTIL),
    "DistilBertForQuestionAnswering": ("DistilBert", {**DISTIL, "num_labels": 2}),
    "GPT2Model": ("GPT2", GPT2),
    "GPT2ForSequenceClassification": ("GPT2", {**GPT2, "pad_token_id": 0, "num_labels": 3}),
    "LlamaForSequenceClassification": ("Llama", {**LLAMA, "pad_token_id": 0, "num_labels": 3}),
    "Qwen2ForSequenceClassification": ("Qwen2", {**LLAMA, "pad_token_id": 0, "num_labels": 3}),
    "GPT2LMHeadModel": ("GPT2", {**GPT2, "scale_attn_by_inverse_layer_idx": True}),
    "LlamaModel": ("Llama", LLAMA),
    "LlamaForCausalLM": ("Llama", LLAMA),
    "LlamaForCausalLM-long": (
        "Llama",
        {**LLAMA, "rope_parameters": LONG, "initializer_range": 0.1, "attention_bias": True, "mlp_bias": True, "head_dim": 6},
    ),
    "Qwen2ForCausalLM": ("Qwen2", {**LLAMA, "tie_word_embeddings": True}),
    "MistralForCausalLM": ("Mistral", LLAMA),
    "T5ForConditionalGeneration": ("T5", T5),
    "T5ForConditionalGeneration-gated": (
        "T5",
        {**T5, "feed_forward_proj": "gated-gelu", "num_decoder_layers": 3, "tie_word_embeddings": False},
    ),
}


@pytest.fixture(autouse=True)
def in_float64(monkeypatch):
    """Norms, which the oracle computes in float32 whatever the model's dtype, in float64 as everything else but rotations."""

    def norm(self, x):
        eps = getattr(self, "variance_epsilon", None)
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    import transformers.models.mistral.modeling_mistral as mistral_code
    import transformers.models.qwen2.modeling_qwen2 as qwen2_code

    for module, name in (
        (t5_code, "T5LayerNorm"), (llama_code, "LlamaRMSNorm"), (mistral_code, "MistralRMSNorm"), (qwen2_code, "Qwen2RMSNorm")
    ):  # fmt: skip
        monkeypatch.setattr(getattr(module, name), "forward", norm)


@functools.cache
def both(name, **more):
    """The two models with the same weights."""
    published = name.split("-")[0]
    kind, sizes = CASES[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**sizes, **more)
    oracle = getattr(transformers, published)(config).double().eval()
    with torch.no_grad():
        for p in oracle.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    ours_class = models.model_class(published)
    ours = ours_class(ours_class.config_class.from_dict(config.to_dict())).double().eval()
    state = {key: tenfold.tensor(value.numpy()) for key, value in oracle.state_dict().items()}
    assert set(ours.state_dict()) == set(state)
    assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == {k: tuple(v.shape) for k, v in state.items()}
    ours.load_state_dict(state)
    assert ours.num_parameters() == sum(p.numel() for p in oracle.parameters())
    return oracle, ours


IDS = [[3, 17, 42, 5, 9, 8, 7], [11, 12, 13, 14, 0, 0, 0]]
MASK = [[1] * 7, [1] * 4 + [0] * 3]


def inputs(name):
    """Two texts, the second padded; with labels where the model takes them."""
    ids = [[i or 1 for i in row] for row in IDS] if "Roberta" in name else IDS
    given = {"input_ids": ids, "attention_mask": MASK}
    if name.startswith("Bert"):
        given["token_type_ids"] = [[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 0]]
    if "ForSequence" in name:
        given["labels"] = [2, 0]
    elif "NextSentence" in name:
        given["labels"] = [1, 0]
    elif "MultipleChoice" in name:
        given = {key: [rows, rows[::-1]] for key, rows in given.items()} | {"labels": [1, 0]}
    elif "QuestionAnswering" in name:
        given |= {"start_positions": [1, 2], "end_positions": [3, 9]}
    elif "TokenClass" in name:
        given["labels"] = [[0, 1, 2, 0, 1, 2, -100], [1, 1, -100, 2, -100, -100, -100]]
    elif name.startswith("T5"):
        given["labels"] = [[5, 6, 7, 1], [8, 1, -100, -100]]
    elif "Model" not in name or "LMHead" in name:
        given["labels"] = [[-100, 17, -100, 5, 9, -100, 7], [-100, 12, 13, -100, -100, -100, -100]]
    if "PreTraining" in name:
        given["next_sentence_label"] = [1, 0]
    return given


def close(ours, theirs, tolerance=1e-6):
    theirs = theirs.detach().numpy()
    assert ours.shape == theirs.shape
    assert abs(ours.detach().numpy() - theirs).max() <= tolerance * max(1.0, abs(theirs).max())


@pytest.mark.parametrize("name", CASES)
def test_outputs_losses_and_gradients(name):
    oracle, ours = both(name)
    given = inputs(name)
    expected = oracle(**{key: torch.tensor(value) for key, value in given.items()})
    found = ours(**{key: tenfold.tensor(value) for key, value in given.items()})
    there = tenfold.tensor(MASK).bool().numpy()
    for key in expected:
        if key in ("past_key_values", "encoder_last_hidden_state"):
            continue
        one, other = found[key], expected[key]
        if one.dim() > 1 and one.shape[1] == 7:  # what stands at padding means nothing
            one, other = one[tenfold.tensor(there)], other[torch.tensor(there)]
        close(one, other)
    if "loss" not in expected:
        return
    oracle.zero_grad()
    ours.zero_grad()
    expected.loss.backward()
    found.loss.backward()
    theirs = dict(oracle.named_parameters())
    compared = 0
    for key, p in ours.named_parameters():
        if theirs[key].grad is not None:
            close(p.grad, theirs[key].grad)
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("name", [name for name in CASES if "T5" not in name and "-" not in name])
def test_places_and_hidden_states_of_every_task(name):
    oracle, ours = both(name)
    given = {key: value for key, value in inputs(name).items() if "label" not in key and "positions" not in key}
    places = [[1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1]]
    given["position_ids"] = [places, places] if "MultipleChoice" in name else places
    expected = oracle(**{key: torch.tensor(value) for key, value in given.items()}, output_hidden_states=True)
    found = ours(**{key: tenfold.tensor(value) for key, value in given.items()}, output_hidden_states=True)
    there = tenfold.tensor(MASK * (2 if "MultipleChoice" in name else 1)).bool().numpy()
    assert len(found.hidden_states) == len(expected.hidden_states)
    for one, other in zip(found.hidden_states, expected.hidden_states, strict=True):
        close(one[tenfold.tensor(there)], other[torch.tensor(there)])


def test_several_texts_without_a_padding_token():
    _, ours = both("GPT2ForSequenceClassification")
    ours.config.pad_token_id = None
    try:
        with pytest.raises(ValueError, match=r"2 texts: .*config\.pad_token_id, which is None"):
            ours(tenfold.tensor(IDS))
        assert ours(tenfold.tensor(IDS[:1])).logits.shape == (1, 3)
    finally:
        ours.config.pad_token_id = 0
    _, chooses = both("BertForMultipleChoice")
    with pytest.raises(ValueError, match=r"input_ids are \(texts, choices, tokens\), got \(2, 7\)"):
        chooses(tenfold.tensor(IDS))


def test_hidden_states():
    oracle, ours = both("BertModel")
    expected = oracle(torch.tensor(IDS[:1]), output_hidden_states=True).hidden_states
    found = ours(tenfold.tensor(IDS[:1]), output_hidden_states=True).hidden_states
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        close(one, other)


WRITERS = ["GPT2LMHeadModel", "LlamaForCausalLM", "T5ForConditionalGeneration"]
WAYS = {
    "greedy": {},
    "repeated less": {"repetition_penalty": 1.7},
    "repeated more": {"repetition_penalty": 0.5},
    "no repeats": {"no_repeat_ngram_size": 2},
    "not at once": {"min_new_tokens": 5},
    "long": {"min_length": 9},
    "to a length": {"max_new_tokens": None, "max_length": 12},
    "without words": {"bad_words_ids": [[5], [7, 9], [30]]},
    "without tokens": {"suppress_tokens": [5, 6, 7, 8], "begin_suppress_tokens": [9, 10, 11, 12, 13]},
    "the first and last": {"forced_bos_token_id": 7, "forced_eos_token_id": 2},
    "beams": {"num_beams": 3},
    "many beams": {"num_beams": 5, "num_return_sequences": 3},
    "more beams than words": {"num_beams": 70, "max_new_tokens": 3},
    "long beams": {"num_beams": 4, "length_penalty": 2.0, "early_stopping": "never"},
    "short beams": {"num_beams": 4, "length_penalty": 0.3, "early_stopping": True},
    "beams of any length": {"num_beams": 3, "length_penalty": 0.0},
    "beams that like short texts": {"num_beams": 3, "length_penalty": -1.0},
    "beams without repeats": {"num_beams": 3, "no_repeat_ngram_size": 2, "repetition_penalty": 1.3},
    "beams with much forbidden": {"num_beams": 3, "bad_words_ids": [[5], [7, 9]], "forced_eos_token_id": 2, "min_length": 8},
    "no cache": {"num_beams": 2, "use_cache": False},
}


def prompts(name):
    """Two prompts of different lengths: padded on the left, but for an encoder on the right."""
    if name.startswith("T5"):
        return IDS, MASK
    return [[3, 17, 42, 5, 9], [0, 0, 12, 13, 14]], [[1] * 5, [0, 0, 1, 1, 1]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("ends", [[2], [2, 30, 31, 32, 33, 34, 35]])
def test_written_texts(name, way, ends):
    oracle, ours = both(name)
    ids, mask = prompts(name)
    settings = {"max_new_tokens": 10, "eos_token_id": ends, "pad_token_id": 3, **WAYS[way]}
    expected = oracle.generate(torch.tensor(ids), attention_mask=torch.tensor(mask), do_sample=False, **settings)
    found = ours.generate(tenfold.tensor(ids), tenfold.tensor(mask), **settings)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", WRITERS)
def test_scores_of_beams(name):
    oracle, ours = both(name)
    ids, mask = prompts(name)
    settings = {"max_new_tokens": 6, "num_beams": 3, "num_return_sequences": 3, "pad_token_id": 3, "eos_token_id": 2}
    expected = oracle.generate(
        torch.tensor(ids),
        attention_mask=torch.tensor(mask),
        return_dict_in_generate=True,
        output_scores=True,
        do_sample=False,
        **settings,
    )
    _, scores = ours.generate(tenfold.tensor(ids), tenfold.tensor(mask), return_scores=True, **settings)
    close(scores, expected.sequences_scores)


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "T5ForConditionalGeneration"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"top_k": 0}, {"temperature": 0.7, "top_k": 9}, {"top_k": 0, "top_p": 0.8}, {"min_p": 0.1, "temperature": 1.5},
     {"typical_p": 0.5}, {"num_beams": 3, "num_return_sequences": 2}, {"num_beams": 3, "top_k": 1, "num_return_sequences": 1},
     {"num_beams": 2, "top_p": 0.1, "num_return_sequences": 1}],
)  # fmt: skip
def test_texts_by_chance_are_those_of_the_same_seed(name, settings):
    oracle, ours = both(name)
    ids, _ = prompts(name)
    settings = {
        "max_new_tokens": 12,
        "do_sample": True,
        "num_return_sequences": 3,
        "eos_token_id": 2,
        "pad_token_id": 3,
        **settings,
    }
    if settings.get("num_beams"):
        settings["num_return_sequences"] = min(settings["num_return_sequences"], settings["num_beams"])
    torch.manual_seed(5)
    expected = oracle.generate(torch.tensor(ids[:1]), **settings)
    tenfold.manual_seed(5)
    assert ours.generate(tenfold.tensor(ids[:1]), **settings).tolist() == expected.tolist()


@pytest.mark.parametrize("way", [{}, {"num_beams": 3}, {"eos_token_id": [0, 2]}])
@pytest.mark.parametrize("name", WRITERS)
def test_padding_is_seen_where_no_mask_is_given(name, way):
    oracle, ours = both(name)
    ids, _ = prompts(name)
    settings = {"max_new_tokens": 8, "pad_token_id": 0, "eos_token_id": 2, **way}
    expected = oracle.generate(torch.tensor(ids), do_sample=False, **settings).tolist()
    assert ours.generate(tenfold.tensor(ids), **settings).tolist() == expected


def test_a_callers_own_functions():
    """Processors and criteria that are written for either library's tensors."""
    oracle, ours = both("GPT2LMHeadModel")
    ids, _ = prompts("GPT2")

    def shifted(ids, scores):
        return scores.roll(1, -1)

    class Long(transformers.StoppingCriteria):
        def __call__(self, ids, scores, **more):
            return (ids[:, 5] % 2 == 0) & (ids.shape[1] >= 8)

    for more in ({}, {"num_beams": 2}, {"num_beams": 2, "max_new_tokens": 2}):
        settings = {"max_new_tokens": 9, "pad_token_id": 3, "eos_token_id": 2, "logits_processor": [shifted], **more}
        expected = oracle.generate(torch.tensor(ids), do_sample=False, stopping_criteria=[Long()], **settings)
        assert ours.generate(tenfold.tensor(ids), stopping_criteria=Long(), **settings).tolist() == expected.tolist()


def test_how_a_published_model_writes(tmp_path):
    """The settings of its folder hold where the caller says nothing else."""
    oracle, _ = both("GPT2LMHeadModel")
    oracle.save_pretrained(tmp_path)
    said = {"max_length": 14, "eos_token_id": [2, 31], "pad_token_id": 4, "do_sample": True, "top_k": 3, "temperature": 0.9}
    transformers.GenerationConfig(**said).save_pretrained(tmp_path)
    theirs = transformers.GPT2LMHeadModel.from_pretrained(tmp_path, dtype=torch.float64).eval()
    ours = models.from_pretrained(tmp_path, dtype=tenfold.float64)
    assert ours.generation_config["top_k"] == 3
    ids, _ = prompts("GPT2")
    for more in ({}, {"top_k": 7}, {"do_sample": False}, {"max_new_tokens": 3}):
        torch.manual_seed(3)
        expected = theirs.generate(torch.tensor(ids[:1]), **more).tolist()
        tenfold.manual_seed(3)
        assert ours.generate(tenfold.tensor(ids[:1]), **more).tolist() == expected
    ours.save_pretrained(tmp_path / "again")
    assert models.from_pretrained(tmp_path / "again").generation_config == ours.generation_config


@pytest.mark.parametrize("name", ["BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM", "T5ForConditionalGeneration-gated"])
def test_published_folders_go_both_ways(name, tmp_path):
    oracle, ours = both(name)
    published = name.split("-")[0]
    oracle.save_pretrained(tmp_path / "theirs")
    read = models.from_pretrained(tmp_path / "theirs")
    assert type(read) is type(ours)
    for key, value in read.state_dict().items():
        assert tenfold.equal(value, ours.state_dict()[key].to(value.dtype)), key
    ours.save_pretrained(tmp_path / "ours", max_shard_size=9000)
    assert len(list((tmp_path / "ours").glob("*.safetensors"))) > 1
    again = getattr(transformers, published).from_pretrained(tmp_path / "ours", dtype=torch.float64)
    for key, value in again.state_dict().items():
        assert torch.equal(value, oracle.state_dict()[key]), key
