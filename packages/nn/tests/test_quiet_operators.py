"""What autocast does not look into: operators in which nothing would be cast."""

from __future__ import annotations

import numpy as np
import pytest

from tenfold import plugins
from tenfold.amp import lists
from tenfold.dispatch.operators import OPERATORS
from tenfold.dispatch.runtime import Layer, call_inside
from tenfold.testing.samples import load, samples_of

plugins.load_operators()
load()


class Names(Layer):
    """Notes every operator that is called, also in the bodies of others."""

    def __init__(self):
        self.names = set()

    def handle(self, operator, args, kwargs):
        self.names.add(operator.name)
        return call_inside(self, operator, args, kwargs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(lists.QUIET))
def test_nothing_is_cast_inside(name):
    names = Names()
    for sample in samples_of(name):
        with np.errstate(all="ignore"), names:
            OPERATORS[name].fn(*sample.args, **sample.kwargs)
    for table in (lists.CPU, lists.OTHER):
        assert table.kinds[name] == "kept"
        cast = table.lower | table.float32 | table.widest
        assert name not in cast
        assert not names.names & cast
