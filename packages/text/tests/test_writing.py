"""Texts that models write: they end, stream, stop; beams, chance and settings."""

from __future__ import annotations

import pytest
from small_models import IDS, gpt2

import tenfold
from tenfold.text.generation import TextStreamer
from tenfold.text.models import (
    T5Config,
    T5ForConditionalGeneration,
)


def test_writing_leaves_the_model_as_it_was():
    model = gpt2().train()
    written = model.generate(IDS, max_new_tokens=3)
    assert model.training
    assert not written.requires_grad
    assert model.generate(IDS, max_new_tokens=0).tolist() == IDS.tolist()
    assert model.generate(IDS, max_length=6).shape == (1, 6)
    assert model.generate(IDS).shape == (1, 24)
    assert model.generate(IDS, max_new_tokens=100).shape == (1, 24)  # as many positions as it has


@pytest.mark.parametrize("beams", [1, 3])
def test_nothing_more_is_the_prompt(beams):
    assert gpt2().generate(IDS, num_beams=beams, max_new_tokens=0).tolist() == IDS.tolist()


def test_streams_are_shaped_as_texts_are():
    model = gpt2()
    settings = {"max_new_tokens": 6, "begin_suppress_tokens": [3], "forced_eos_token_id": 5, "min_new_tokens": 2}
    assert list(model.stream(IDS, **settings)) == model.generate(IDS, **settings)[0, 4:].tolist()


def test_an_answer_of_a_criterion_may_be_for_all():
    assert gpt2().generate(IDS, max_new_tokens=6, stopping_criteria=lambda ids, scores: ids.shape[1] == 6).shape == (1, 6)


def test_an_end_ends():
    model = gpt2()
    written = model.generate(IDS, max_new_tokens=8)[0].tolist()
    end = written[6]
    stopped = model.generate(tenfold.cat([IDS, IDS + 1]), max_new_tokens=8, eos_token_id=end, pad_token_id=29)
    assert stopped[0, :7].tolist() == written[:7] if end not in written[4:6] else True
    after = stopped[0].tolist().index(end, 4)
    assert set(stopped[0, after + 1 :].tolist()) <= {29}


def test_streams():
    model = gpt2()
    written = model.generate(IDS, max_new_tokens=8)[0, 4:].tolist()
    assert list(model.stream(IDS, max_new_tokens=8)) == written
    assert list(model.stream(IDS[0], max_new_tokens=8, eos_token_id=written[3])) == written[: written.index(written[3]) + 1]
    with pytest.raises(ValueError, match="one text"):
        next(model.stream(IDS, num_beams=2))


def test_streams_of_a_model_in_training_are_without_dropout():
    model = gpt2(resid_pdrop=0.9, embd_pdrop=0.9)
    written = model.generate(IDS, max_new_tokens=8)[0, 4:].tolist()
    model.train()
    stream = model.stream(IDS, max_new_tokens=8)
    assert [next(stream), *stream] == written
    assert model.training


class Words:
    """Every id is a word."""

    def decode(self, ids):
        return " ".join(f"w{i}" for i in ids)


def test_streamers_show_whole_words():
    model, pieces = gpt2(), []
    written = model.generate(IDS, max_new_tokens=5, streamer=TextStreamer(Words(), pieces.append))[0, 4:].tolist()
    assert "".join(pieces) == Words().decode(written)
    assert pieces[0] == f"w{written[0]} "
    with pytest.raises(ValueError, match="one text can be streamed"):
        model.generate(IDS.repeat(2, 1), streamer=TextStreamer(Words()))
    with pytest.raises(ValueError, match="beams cannot be streamed"):
        model.generate(IDS, num_beams=2, streamer=TextStreamer(Words()))


def test_stop_words():
    model = gpt2()
    written = model.generate(IDS, max_new_tokens=8)[0].tolist()
    word = f"w{written[6]}"
    stopped = model.generate(IDS, max_new_tokens=8, stop_strings=word, tokenizer=Words())[0].tolist()
    assert stopped == written[: written.index(written[6], 4) + 1]
    with pytest.raises(ValueError, match="need the tokenizer"):
        model.generate(IDS, stop_strings=["a"])


def test_chance_by_a_generator():
    model = gpt2()

    def text(seed, **more):
        return model.generate(
            IDS, do_sample=True, max_new_tokens=8, generator=tenfold.Generator().manual_seed(seed), **more
        ).tolist()

    assert text(1) == text(1)
    assert text(1) != text(2)
    assert text(1, top_k=1) == model.generate(IDS, max_new_tokens=8).tolist()
    assert text(1, top_p=1e-9) == text(3, top_k=1)
    assert text(1, temperature=1e-4) == text(3, top_k=1)


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 0.0, "do_sample": True}, {"typical_p": 0.0}, {"bad_words_ids": [[]]},
     {"top_k": -1}, {"no_repeat_ngram_size": -1}, {"top_p": 0.0}, {"top_p": 1.5}, {"num_beams": 0}, {"num_return_sequences": 2},
     {"num_beams": 2, "num_return_sequences": 3}, {"repetition_penalty": 0.0},
     {"early_stopping": "soon"}, {"max_new_tokens": -1}],
)  # fmt: skip
def test_settings_without_meaning(wrong):
    with pytest.raises(ValueError, match="generate: "):
        gpt2().generate(IDS, **wrong)


@pytest.mark.parametrize("more", [{}, {"num_beams": 3}, {"do_sample": True, "top_k": 1}])
def test_a_padded_text_is_written_as_alone_where_repetition_costs(more):
    model, text = gpt2(), [3, 4, 5]
    alone = model.generate(tenfold.tensor([text]), max_new_tokens=12, repetition_penalty=3.0, **more).tolist()
    for padding in range(0, 30, 4):
        ids, mask = tenfold.tensor([[padding, padding, *text]]), tenfold.tensor([[0, 0, 1, 1, 1]])
        found = model.generate(ids, mask, max_new_tokens=12, repetition_penalty=3.0, **more)
        assert found[:, 2:].tolist() == alone


def test_one_text_is_streamed_and_a_mask_is_of_the_prompts():
    model, two = gpt2(), tenfold.tensor([[3, 4, 5], [6, 7, 8]])
    with pytest.raises(ValueError, match=r"stream: one text is written, got input_ids of \(2, 3\)"):
        next(model.stream(two))
    for mask in (tenfold.ones(2, 2), tenfold.ones(1, 3), tenfold.ones(3)):
        with pytest.raises(ValueError, match=r"attention_mask is of the shape of input_ids, \(2, 3\); got \("):
            model.generate(two, mask.long())


def test_unknown_settings_and_shapes():
    with pytest.raises(TypeError, match=r"there is no beams; there are .*do_sample"):
        gpt2().generate(IDS, beams=3)
    for wrong in (IDS[0], IDS[:, :0]):
        with pytest.raises(ValueError, match="input_ids are"):
            gpt2().generate(wrong)


def test_beams_find_no_worse_texts_than_greed():
    model = gpt2()

    def likelihood(ids):
        logits = model(ids).logits[:, :-1].log_softmax(-1)
        return logits.gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)[:, 3:].sum().item()

    greedy = likelihood(model.generate(IDS, max_new_tokens=5))
    texts, scores = model.generate(IDS, max_new_tokens=5, num_beams=30, return_scores=True)
    assert likelihood(texts) >= greedy
    assert scores.item() * 5 == pytest.approx(likelihood(texts), abs=1e-4)


def test_an_encoder_and_decoder_write():
    tenfold.manual_seed(1)
    sizes = {"vocab_size": 30, "d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    model = T5ForConditionalGeneration(T5Config(**sizes)).eval()
    written = model.generate(IDS, max_new_tokens=5, eos_token_id=None)
    assert written.shape == (1, 6)
    assert written[0, 0].item() == 0
    assert model.generate(IDS, max_new_tokens=5, eos_token_id=None, use_cache=False).tolist() == written.tolist()
    with pytest.raises(ValueError, match="give decoder_input_ids"):
        model(IDS)
    with pytest.raises(ValueError, match="give input_ids"):
        model(labels=IDS)


def test_ids_that_the_vocabulary_lacks():
    model = gpt2()
    plain = model.generate(IDS, max_new_tokens=3).tolist()
    assert model.generate(IDS, max_new_tokens=3, suppress_tokens=[50256, -1]).tolist() == plain  # never written anyway
    for name, value in {"bad_words_ids": [[2, 77]], "forced_eos_token_id": 30}.items():
        with pytest.raises(ValueError, match=r"(77|30).*the vocabulary has ids from 0 to 29"):
            model.generate(IDS, max_new_tokens=3, **{name: value})


def test_a_prompt_without_room_is_refused():
    model = gpt2()
    with pytest.raises(ValueError, match="the input has 4 tokens, and max_length, which counts them, is 4"):
        model.generate(IDS, max_length=4)
    full = tenfold.zeros(1, 24, dtype=tenfold.int64)
    with pytest.raises(ValueError, match="the input has 24 tokens, and the model 24 positions"):
        model.generate(full, max_new_tokens=1)
    assert model.generate(full, max_new_tokens=0).tolist() == full.tolist()
    assert model.generate(full[:, :23], max_new_tokens=5).shape == (1, 24)
