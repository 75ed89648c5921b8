"""What models give besides their results, and take in place of ids, against transformers with the same weights, in float64."""

from __future__ import annotations

import pytest

import tenfold
from tenfold.text import models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from oracle_models import CASES, IDS, MASK, both, close, in_float64, inputs  # noqa: E402 - needs PyTorch

pytestmark = pytest.mark.filterwarnings("ignore")  # the oracle's own
__all__ = ["in_float64"]

BASES = ["BertModel", "RobertaModel", "DistilBertModel", "GPT2Model", "LlamaModel", "T5Model", "T5EncoderModel"]
WRITERS = ["GPT2LMHeadModel", "LlamaForCausalLM", "T5ForConditionalGeneration"]
LEFT = [[0, 0, 1, 1, 1, 1, 1], [1] * 7]


def run(model, library, given, **more):
    return model(**{key: library.tensor(value) for key, value in given.items()}, **more)


def looked(name, given, **more):
    """The outputs of both where the oracle says how it looks, which it does in its plainest implementation alone."""
    oracle, ours = both(name)
    before = oracle.config._attn_implementation
    oracle.set_attn_implementation("eager")
    try:
        return run(oracle, torch, given, **more), run(ours, tenfold, given, **more)
    finally:
        oracle.set_attn_implementation(before)


def all_close(found, expected, seen=None):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if seen is not None and one.dim() == 4:  # what padding looks at means nothing
            one, other = one[tenfold.tensor(seen).bool()], other[torch.tensor(seen).bool()]
        close(one, other)


@pytest.mark.parametrize("name", [name for name in CASES if "-" not in name])
def test_attentions_and_hidden_states_of_every_model(name):
    given = {key: value for key, value in inputs(name).items() if "decoder_attention" not in key}
    del given["attention_mask"]
    expected, found = looked(name, given, output_attentions=True, output_hidden_states=True)
    assert [key for key, part in expected.items() if not isinstance(part, tuple) or len(part)] == found.keys()
    kinds = [key for key in dict(found) if key.endswith(("attentions", "hidden_states"))]
    assert len(kinds) == (5 if "T5" in name and "Encoder" not in name and "Token" not in name else 2)
    for kind in kinds:
        all_close(found[kind], expected[kind])


@pytest.mark.parametrize("name", [*BASES, *WRITERS])
def test_where_positions_may_not_look(name):
    """Padding on either side; keys that are hidden have no weight, and hidden states are those without the looks."""
    sides = [MASK] if name.startswith("Llama") else [MASK, LEFT]  # on the left the oracle's plain Llama has no numbers in float64
    for mask in sides:
        given = {**inputs(name), "attention_mask": mask}
        given = {key: value for key, value in given.items() if key != "labels" and "decoder" not in key}
        if "T5" in name and "Encoder" not in name:
            given["decoder_input_ids"] = [[0, 5, 6, 7], [0, 8, 1, 3]]
        expected, found = looked(name, given, output_attentions=True)
        plain = run(both(name)[1], tenfold, given)
        assert (found[0] - plain[0]).abs().max().item() < 1e-9
        for kind in ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"):
            if expected.get(kind):
                rows = [mask, None][kind in ("decoder_attentions", "cross_attentions")]
                for one, other in zip(found[kind], expected[kind], strict=True):
                    one, other = one.transpose(1, 2), other.transpose(1, 2)
                    all_close([one], [other], rows)


@pytest.mark.parametrize("name", [name for name in CASES if "-" not in name and not name.startswith("T5For")])
def test_vectors_in_place_of_ids(name):
    oracle, ours = both(name)
    given = inputs(name)
    if "MultipleChoice" in name and name.startswith("Distil"):
        del given["labels"]
    ids = given.pop("input_ids")
    if "ForSequence" in name and name.startswith(("GPT2", "Llama", "Qwen2")):
        given.pop("attention_mask")  # without ids the last token is that of the last place
    vectors = oracle.get_input_embeddings()(torch.tensor(ids)).detach()
    mine = ours.get_input_embeddings()(tenfold.tensor(ids))
    close(mine, vectors)
    expected = run(oracle, torch, given, inputs_embeds=vectors)
    found = run(ours, tenfold, given, inputs_embeds=tenfold.tensor(vectors.numpy()))
    there = tenfold.tensor(MASK).bool()
    for key in expected:
        if isinstance(expected[key], torch.Tensor):
            one, other = found[key], expected[key]
            if one.dim() > 1 and one.shape[1] == 7 and "attention_mask" in given:
                one, other = one[there], other[torch.tensor(there.numpy())]
            close(one, other)
    for wrong in ({}, {"input_ids": tenfold.tensor(ids), "inputs_embeds": mine}):
        with pytest.raises(ValueError, match="input_ids"):
            ours(**wrong, **({"decoder_input_ids": tenfold.tensor(IDS)} if name == "T5Model" else {}))


def test_vectors_read_and_written_by_t5():
    oracle, ours = both("T5ForConditionalGeneration")
    read, written = torch.tensor(IDS), torch.tensor([[0, 5, 6], [0, 7, 8]])
    words = oracle.get_input_embeddings()
    vectors = {"inputs_embeds": words(read).detach(), "decoder_inputs_embeds": words(written).detach()}
    expected = oracle(**vectors)
    found = ours(**{key: tenfold.tensor(value.numpy()) for key, value in vectors.items()})
    close(found.logits, expected.logits)
    for given in (found.encoder_last_hidden_state, (found.encoder_last_hidden_state,), ours.get_encoder()(tenfold.tensor(IDS))):
        again = ours(encoder_outputs=given, decoder_input_ids=tenfold.tensor(written.numpy()))
        close(again.logits, expected.logits)


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "LlamaForCausalLM", "GPT2Model", "LlamaModel"])
def test_going_on_from_what_was_read(name):
    """Keys and values come with every output, and vectors go on from them as ids do."""
    oracle, ours = both(name)
    expected, found = oracle(torch.tensor(IDS)), ours(tenfold.tensor(IDS))
    for step in ([[4], [9]], [[6, 7], [8, 9]]):
        vectors = oracle.get_input_embeddings()(torch.tensor(step)).detach()
        mask = torch.ones(2, 7 + found.past_key_values.get_seq_length() - 7 + len(step[0]), dtype=torch.long)
        mask[0, :2] = 0
        expected = oracle(inputs_embeds=vectors, past_key_values=expected.past_key_values, attention_mask=mask)
        found = ours(
            inputs_embeds=tenfold.tensor(vectors.numpy()),
            past_key_values=found.past_key_values,
            attention_mask=tenfold.tensor(mask.numpy()),
        )
        close(found[0], expected[0])
    assert found.past_key_values.get_seq_length() == expected.past_key_values.get_seq_length() == 10
    assert ours(tenfold.tensor(IDS), use_cache=False).past_key_values is None


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "LlamaForCausalLM"])
def test_logits_of_the_last_tokens_alone(name):
    oracle, ours = both(name)
    for keep in (0, 1, 3):
        close(ours(tenfold.tensor(IDS), logits_to_keep=keep).logits, oracle(torch.tensor(IDS), logits_to_keep=keep).logits)


@pytest.mark.parametrize("name", [*BASES, "BertForSequenceClassification", "GPT2LMHeadModel", "T5ForConditionalGeneration"])
def test_results_in_order(name):
    oracle, ours = both(name)
    given = inputs(name)
    expected = run(oracle, torch, given, output_hidden_states=True, return_dict=False)
    found = run(ours, tenfold, given, output_hidden_states=True, return_dict=False)
    assert isinstance(found, tuple)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, tuple) == isinstance(other, tuple)
        if isinstance(other, torch.Tensor):
            assert tuple(one.shape) == tuple(other.shape)
    ours.config.return_dict, ours.config.output_hidden_states = False, True
    try:
        again = run(ours, tenfold, given)
        assert isinstance(again, tuple)
        assert len(again) == len(expected)
    finally:
        ours.config.return_dict, ours.config.output_hidden_states = True, False


@pytest.mark.parametrize("name", BASES)
def test_a_text_of_padding_alone_leaves_the_others_as_they_are(name):
    oracle, ours = both(name)
    given = {"input_ids": [[i or 1 for i in row] for row in IDS], "attention_mask": [[1] * 7, [0] * 7]}
    if name == "T5Model":
        given["decoder_input_ids"] = [[0, 4], [0, 4]]
    expected, found = run(oracle, torch, given)[0], run(ours, tenfold, given)[0]
    assert bool(found.isfinite().all())
    close(found[0], expected[0])
    close(found[1], expected[1])


@pytest.mark.parametrize("problem", ["regression", "single_label_classification", "multi_label_classification"])
@pytest.mark.parametrize("name", ["BertForSequenceClassification", "GPT2ForSequenceClassification"])
def test_which_problem_classes_are(name, problem):
    oracle, ours = both(name)
    labels = [2, 0] if problem.startswith("single") else [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    dtype = (torch.int64, tenfold.int64) if problem.startswith("single") else (torch.float64, tenfold.float64)
    oracle.config.problem_type = ours.config.problem_type = problem
    try:
        expected = oracle(torch.tensor(IDS), labels=torch.tensor(labels, dtype=dtype[0])).loss
        close(ours(tenfold.tensor(IDS), labels=tenfold.tensor(labels, dtype=dtype[1])).loss, expected)
        ours.config.problem_type = "other"
        with pytest.raises(ValueError, match="problem_type is regression, single_label_classification"):
            ours(tenfold.tensor(IDS), labels=tenfold.tensor(labels))
    finally:
        oracle.config.problem_type = ours.config.problem_type = None


@pytest.mark.parametrize("name", ["BertForMaskedLM", "GPT2LMHeadModel", "T5ForConditionalGeneration", "LlamaForCausalLM"])
@pytest.mark.parametrize("size", [66, 50])
def test_more_words_and_fewer(name, size):
    oracle, _ = both(name)
    ours = models.model_class(name)
    mine = ours(ours.config_class.from_dict(oracle.config.to_dict())).double().eval()
    mine.load_state_dict({key: tenfold.tensor(value.numpy()) for key, value in oracle.state_dict().items()})
    words = mine.resize_token_embeddings(size)
    assert words is mine.get_input_embeddings()
    assert words.weight.shape[0] == mine.config.vocab_size == size
    assert (mine.get_output_embeddings().weight is words.weight) == (not name.startswith("Llama"))
    given = {**inputs(name), "input_ids": [[i % 50 for i in row] for row in inputs(name)["input_ids"]]}
    found, expected = run(mine, tenfold, given).logits, run(oracle, torch, given).logits
    assert found.shape[-1] == size
    kept = min(size, 60)
    there = (tenfold.tensor(MASK) if found.shape[1] == 7 else tenfold.ones(2, 4)).bool()
    close(found[..., :kept][there], expected[..., :kept][torch.tensor(there.numpy())])
