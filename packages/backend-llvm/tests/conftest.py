from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory):
    """Machine code of this run goes to a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENFOLD_HOME", str(tmp_path_factory.mktemp("home")))
        yield
