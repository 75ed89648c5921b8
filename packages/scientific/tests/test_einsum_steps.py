"""The steps that `einsum` keeps for an equation and shapes: what the ordinary way makes, views, gradients and refusals too."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.scientific.ops.linalg import einsum as module
from tenfold.scientific.ops.linalg.einsum_steps import Noted

EQUATIONS = {
    "ij->ij": [(3, 4)], "ij->ji": [(3, 4)], "ij->": [(3, 4)], "ij->j": [(3, 4)], "ii->i": [(3, 3)], "iij->ji": [(3, 3, 2)],
    "ii": [(3, 3)], "i,j->ij": [(3,), (4,)], "i,i->i": [(3,), (3,)], "ij,j->ij": [(3, 4), (4,)], "ij,jk->k": [(3, 4), (4, 2)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)], "i,j,k->kji": [(2,), (3,), (4,)], "...i,...j->...ij": [(2, 1, 3), (4, 2)],
    "bij,bjk,bk->bi": [(2, 3, 4), (2, 4, 5), (2, 5)], "ij,kj->ik": [(1, 1), (3, 1)], "ij,ij->": [(0, 3), (0, 3)],
}  # fmt: skip


def _operands(shapes, dtype="float64"):
    rng = np.random.default_rng(0)
    return [tenfold.from_numpy(rng.standard_normal(shape)).to(getattr(tenfold, dtype)) for shape in shapes]


def _ordinary(equation, operands):
    inputs, output = module._expanded([t.dim() for t in operands], *module._parsed(equation))
    parts = [module._without_repeats(t, s, i) for i, (t, s) in enumerate(zip(operands, inputs, strict=True))]
    return module._contract(parts, output)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_they_give_what_the_ordinary_way_gives(equation):
    operands = _operands(EQUATIONS[equation])
    steps = module._steps(equation, *(tuple(t.shape) for t in operands))
    for given in (operands, [t.to(tenfold.float32) for t in operands]):
        made, want = steps(given), _ordinary(equation, given)
        assert (made.shape, made.stride(), made.dtype) == (want.shape, want.stride(), want.dtype)
        assert made is not given[0]
        np.testing.assert_array_equal(made.numpy(), want.numpy())


@pytest.mark.parametrize("equation", EQUATIONS)
def test_their_gradients(equation):
    found = []
    for call in (lambda operands: tenfold.einsum(equation, *operands), lambda operands: _ordinary(equation, operands)):
        operands = [t.requires_grad_() for t in _operands(EQUATIONS[equation])]
        call(operands).sum().backward()
        found.append([t.grad.numpy() for t in operands])
    for ours, want in zip(*found, strict=True):
        np.testing.assert_allclose(ours, want)


def test_a_call_seen_before_does_not_ask_again(monkeypatch):
    operands = _operands([(3,), (4,)])
    want = tenfold.einsum("i,j->ij", *operands)
    monkeypatch.setattr(module, "_contract", None)
    assert tenfold.equal(tenfold.einsum("i,j->ij", *operands), want)


def test_sizes_that_do_not_fit_are_refused_each_time():
    for _ in range(2):
        with pytest.raises(RuntimeError, match="which does not broadcast"):
            tenfold.einsum("i,ij->j", tenfold.ones(2), tenfold.ones(3, 4))


def test_what_changes_nothing_is_no_step():
    steps = module._steps("i,j->ij", (3,), (4,)).steps
    assert [step.method for step in steps] == ["reshape", "reshape", "mul"]
    assert Noted([], 0, (2, 3)).permute([0, 1]).shape == (2, 3)
