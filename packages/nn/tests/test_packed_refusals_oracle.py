"""pack_padded_sequence refuses what PyTorch refuses, in its words."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")

REFUSED = {
    "unsorted": lambda t, pack: pack(t.zeros(3, 3), [1, 3, 2]),
    "nothing": lambda t, pack: pack(t.zeros(0, 0), []),
    "no sequences": lambda t, pack: pack(t.zeros(0, 1, 10), t.ones(1), True),
    "lengths of two dimensions": lambda t, pack: pack(t.zeros(3, 2, 2), t.ones(2, 2, dtype=t.int64)),
    "too few lengths": lambda t, pack: pack(t.zeros(3, 2, 2), [3]),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_refusals(refused):
    messages = []
    for library in (torch, tenfold):
        with pytest.raises(RuntimeError) as raised:
            refused(library, library.nn.utils.rnn.pack_padded_sequence)
        messages.append(str(raised.value).removeprefix("pack_padded_sequence: "))
    assert messages[1][:32] == messages[0][:32]


def test_lengths_of_a_floating_dtype() -> None:
    for lengths in ([2.7, 1.2], [2.0, 1]):
        packed = [t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), t.tensor(lengths)) for t in (tenfold, torch)]
        assert packed[0].batch_sizes.tolist() == packed[1].batch_sizes.tolist()
