"""vmap over what holds tensors and says itself how to be one example of a batch, as tensordict's TensorDict does."""

import pytest

import tenfold
from tenfold.as_torch.stand_ins._C import _functorch as functorch
from tenfold.func import vmap


class Pair:
    """Two batches in one."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def shape(self):
        return self.a.shape[:1]

    def dim(self):
        return len(self.shape)

    def _add_batch_dim(self, *, in_dim, vmap_level):
        return Pair(*(functorch._add_batch_dim(x, in_dim, vmap_level) for x in (self.a, self.b)))

    def _maybe_remove_batch_dim(self, funcname, vmap_level, batch_size, out_dim):
        return Pair(*(functorch._remove_batch_dim(x, vmap_level, batch_size, out_dim) for x in (self.a, self.b)))


@pytest.fixture
def pair():
    return Pair(tenfold.arange(6.0).view(3, 2), tenfold.ones(3))


def test_a_container_is_an_argument(pair):
    assert vmap(lambda p, x: p.a.sum() * x + p.b, (0, None))(pair, tenfold.tensor(2.0)).tolist() == [3.0, 11.0, 19.0]


def test_a_container_is_a_result(pair):
    made = vmap(lambda p: Pair(p.a * 2, tenfold.tensor(5.0)))(pair)
    assert tenfold.equal(made.a, pair.a * 2)
    assert made.b.tolist() == [5.0, 5.0, 5.0]


def test_other_things_are_refused():
    with pytest.raises(ValueError, match="We cannot vmap over non-Tensor arguments"):
        vmap(lambda x: x)("text")
