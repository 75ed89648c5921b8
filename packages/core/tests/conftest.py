from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def site(tmp_path):
    """A folder of made-up distributions beside tenfold-core alone."""
    from fake_plugins import Site

    return Site(tmp_path)


@pytest.fixture(scope="module")
def cells():
    """The device "cells", which has memory and no kernels."""
    from cells import Plugin

    from tenfold import plugins
    from tenfold.dispatch.kernels import drop

    plugins.register(Plugin(), "cells")
    yield
    drop("cells")
    plugins.unregister("cells")
