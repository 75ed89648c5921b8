"""A causal mask made by the library is known as one until it is written; any other is compared."""

from __future__ import annotations

import tenfold
from tenfold import nn
from tenfold.nn.layers.attention import sublayers


def looked(monkeypatch):
    """The sizes of the masks that are compared from now on."""
    seen, made = [], sublayers.causal_mask
    monkeypatch.setattr(sublayers, "causal_mask", lambda size, *rest: (seen.append(size), made(size, *rest))[1])
    return seen


def test_a_mask_made_causal_is_not_looked_at_until_it_is_written(monkeypatch):
    seen, mask = looked(monkeypatch), nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
    for expected in (True, True):
        assert sublayers.is_causal_mask(mask, None) is expected
    assert seen == []
    mask[0, 0] = 1.0
    for _ in range(2):
        assert not sublayers.is_causal_mask(mask, None)
    assert seen == [4, 4]
    mask[0, 0] = 0.0
    assert sublayers.is_causal_mask(mask, None)
    assert not sublayers.is_causal_mask(mask.clone().fill_(1.0), None)


def test_a_mask_with_other_memory_is_looked_at_again():
    mask, ones = nn.Transformer.generate_square_subsequent_mask(4, device="cuda"), tenfold.ones(4, 4, device="cuda")
    mask.data = ones
    assert not sublayers.is_causal_mask(mask, None)
    mask.data = nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
    assert sublayers.is_causal_mask(mask, None)
    mask.set_(ones)
    assert not sublayers.is_causal_mask(mask, None)


def test_a_mask_is_looked_at_once_its_data_was_asked_for(monkeypatch):
    seen, mask = looked(monkeypatch), nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
    assert sublayers.is_causal_mask(mask, None)
    data = mask.data
    assert sublayers.is_causal_mask(mask, None)
    version = mask._version
    data[0, 0] = 1.0
    assert mask._version == version
    assert not sublayers.is_causal_mask(mask, None)
    other = nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
    other[:2].data.fill_(0.0)
    assert not sublayers.is_causal_mask(other, None)
    assert seen == [4, 4, 4]


def test_masks_of_the_cpu_are_always_looked_at(monkeypatch):
    seen, mask = looked(monkeypatch), nn.Transformer.generate_square_subsequent_mask(4)
    assert sublayers.is_causal_mask(mask, None)
    mask.numpy()[0, 0] = 1.0
    assert not sublayers.is_causal_mask(mask, None)
    assert seen == [4, 4]


def test_what_is_known_goes_with_the_mask():
    before, mask = len(sublayers._made), nn.Transformer.generate_square_subsequent_mask(3, device="cuda")
    assert len(sublayers._made) == before + 1
    del mask
    assert len(sublayers._made) == before


def test_masks_of_inference_are_always_looked_at(monkeypatch):
    seen = looked(monkeypatch)
    with tenfold.inference_mode():
        mask = nn.Transformer.generate_square_subsequent_mask(4, device="cuda")
        for _ in range(2):
            assert sublayers.is_causal_mask(mask, None)
        mask[0, 0] = 1.0
        assert not sublayers.is_causal_mask(mask, None)
    assert seen == [4] * 3
