"""Models against transformers: the same random weights by key, float64; outputs, losses, gradients, texts."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.text import models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from oracle_models import CASES, IDS, MASK, both, close, in_float64, inputs  # noqa: E402 - needs PyTorch

pytestmark = pytest.mark.filterwarnings("ignore")  # the oracle's own
__all__ = ["in_float64"]


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
    if name != "DistilBertForMultipleChoice":  # the oracle does not take the places of choices
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


@pytest.mark.parametrize("way", [{}, {"use_cache": False}, {"num_beams": 3}])
@pytest.mark.parametrize("name", ["MistralForCausalLM-near", "Qwen2ForCausalLM-near"])
def test_texts_of_models_that_look_at_what_is_near(name, way):
    oracle, ours = both(name)
    ids, mask = prompts(name)
    settings = {"max_new_tokens": 10, "eos_token_id": 2, "pad_token_id": 3, **way}
    expected = oracle.generate(torch.tensor(ids), attention_mask=torch.tensor(mask), do_sample=False, **settings)
    assert ours.generate(tenfold.tensor(ids), tenfold.tensor(mask), **settings).tolist() == expected.tolist()


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


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("penalty", [1.7, 0.4])
def test_padding_is_no_repetition(name, penalty, beams):
    """The padding token is a word like others here: were it counted among those that are there, it would be rarer, or dearer."""
    oracle, ours = both(name)
    _, mask = prompts(name)
    settings = {"max_new_tokens": 10, "pad_token_id": 3, "eos_token_id": 2, "num_beams": beams, "repetition_penalty": penalty}
    for padding in (5, 12, 30, 44):
        ids = [[i or padding for i in row] for row in prompts(name)[0]]
        expected = oracle.generate(torch.tensor(ids), attention_mask=torch.tensor(mask), do_sample=False, **settings)
        assert ours.generate(tenfold.tensor(ids), tenfold.tensor(mask), **settings).tolist() == expected.tolist()


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
