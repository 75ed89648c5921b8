"""What checkpoints keep of the gradient graph: which tensors ask for gradients, and nothing else."""

from __future__ import annotations

import io

import tenfold


def again(value: object) -> object:
    file = io.BytesIO()
    tenfold.save(value, file)
    file.seek(0)
    return tenfold.load(file)


def test_requires_grad_is_kept():
    assert again(tenfold.ones(2, requires_grad=True)).requires_grad
    assert not again(tenfold.ones(2)).requires_grad
