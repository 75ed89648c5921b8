"""Generators of a GPU: whose numbers they give, what they are refused for, where they are."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold import cuda

DRAWS = (
    lambda place, source: tenfold.rand(3, device=place, generator=source),
    lambda place, source: tenfold.randn(3, device=place, generator=source),
    lambda place, source: tenfold.randint(9, (3,), device=place, generator=source),
    lambda place, source: tenfold.randperm(5, device=place, generator=source),
    lambda place, source: tenfold.bernoulli(tenfold.ones(3, device=place), generator=source),
    lambda place, source: tenfold.multinomial(tenfold.ones(3, device=place), 2, generator=source),
    lambda place, source: tenfold.ones(3, device=place).uniform_(generator=source),
    lambda place, source: tenfold.ones(3, device=place).exponential_(generator=source),
    lambda place, source: tenfold.ones(3, device=place).cauchy_(generator=source),
    lambda place, source: tenfold.poisson(tenfold.ones(3, device=place), generator=source),
)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_generator_draws_on_its_own_device(draw):
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        draw("cuda", tenfold.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        draw("cpu", tenfold.Generator("cuda"))
    one, other = (tenfold.Generator("cuda").manual_seed(11) for _ in range(2))
    assert draw("cuda", one).tolist() == draw("cuda", other).tolist()
    assert one.get_offset() == other.get_offset() > 0


def test_a_generator_of_a_gpu_has_a_seed_and_an_offset():
    g = tenfold.Generator(device="cuda")
    assert isinstance(g, tenfold.Generator)
    assert (g.device, g.initial_seed(), g.get_offset()) == (tenfold.device("cuda:0"), 67280421310721, 0)
    first = tenfold.rand(4, device="cuda", generator=g)
    state, kept, sent = g.get_state(), g.clone_state(), pickle.loads(pickle.dumps(g))
    assert state.shape == (16,)
    then = tenfold.rand(4, device="cuda", generator=g)
    assert first.tolist() != then.tolist()
    for again in (g.set_state(state), kept, sent):
        assert tenfold.rand(4, device="cuda", generator=again).tolist() == then.tolist()
    g.set_offset(0)
    assert tenfold.rand(4, device="cuda", generator=g).tolist() == first.tolist()
    with pytest.raises(RuntimeError, match="multiple of 4"):
        g.set_offset(3)
    with pytest.raises(TypeError, match="ByteTensor"):
        g.set_state(state.cuda())
    with pytest.raises(RuntimeError, match="wrong size"):
        g.set_state(tenfold.get_rng_state())


def test_each_gpu_has_a_generator_that_every_draw_takes():
    own = cuda.default_generators[0]
    assert len(cuda.default_generators) == cuda.device_count()
    cuda.manual_seed(5)
    drawn = tenfold.rand(4, device="cuda").tolist()
    cuda.manual_seed(5)
    assert own.initial_seed() == cuda.initial_seed() == 5
    assert tenfold.rand(4, device="cuda", generator=own).tolist() == drawn
    assert tenfold.rand(4, device="cuda", generator=tenfold.Generator("cuda").manual_seed(5)).tolist() == drawn
    assert own.get_state().tolist() == cuda.get_rng_state().tolist()
    assert copy.copy(own).get_offset() == own.get_offset()


def test_generators_go_on_together_by_their_graphsafe_state():
    g = tenfold.Generator("cuda").manual_seed(0)
    old, new = g.graphsafe_get_state(), g.clone_state()
    g.graphsafe_set_state(new)
    a = tenfold.rand(5, device="cuda", generator=g)
    assert (old.get_offset(), new.get_offset() > 0) == (0, True)
    g.graphsafe_set_state(old)
    b, c = (tenfold.rand(5, device="cuda", generator=g) for _ in range(2))
    assert a.tolist() == b.tolist() != c.tolist()
    assert old.get_offset() == 2 * new.get_offset()
    with pytest.raises(TypeError, match="generator of a GPU"):
        g.graphsafe_set_state(tenfold.Generator())
