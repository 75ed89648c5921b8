"""What conformance finds in backends: memory that is read as another dtype."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

import tenfold
from tenfold import op, plugins
from tenfold.cpu.backend import CpuBackend
from tenfold.dispatch.devices import Backend
from tenfold.testing import check_operator


class Echo(CpuBackend):
    """NumPy's arrays under another device's name, with only the kernels that serve any device."""

    name = "echo"

    def from_numpy(self, array: Any, index: int | None) -> Any:
        return array.copy()


class Unchanged(Echo):
    def reinterpret(self, array: Any, dtype: Any) -> Any:
        return array


class Without(Echo):
    reinterpret = Backend.reinterpret


@pytest.fixture(params=[Echo, Unchanged, Without])
def backend(request: pytest.FixtureRequest) -> Iterator[Any]:
    class Plugin:
        TENFOLD_PLUGIN_API = plugins.API_VERSION

        @plugins.hookimpl()
        def tenfold_backends(self) -> list[Backend]:
            return [request.param()]

    plugins.register(Plugin(), "echo")
    yield request.param
    plugins.unregister("echo")


def test_conformance_sees_a_view_of_another_dtype_that_does_nothing(backend: Any) -> None:
    failed = {result.check for result in check_operator(op.view, "echo").failures}
    assert ("value" in failed) == (backend is not Echo)


def test_memory_is_read_right_or_not_at_all(backend: Any) -> None:
    x = tenfold.arange(4, device="echo")
    if backend is Echo:
        x.view(tenfold.uint8)[8] = 7
        assert x.tolist() == [0, 7, 2, 3]
        with pytest.raises(RuntimeError, match=r"self.storage_offset\(\) must be divisible"):
            x.view(tenfold.uint8)[4:12].view(tenfold.int64)
    elif backend is Without:
        with pytest.raises(TypeError, match=r"backend 'echo' defines no method reinterpret\(array, dtype\)"):
            x.view(tenfold.uint8)


def test_weights_that_share_memory_are_loaded_as_they_were(backend: Any) -> None:
    if backend is not Echo:
        pytest.skip("what such a backend refuses is tested above")
    file = io.BytesIO()
    x = tenfold.arange(3)
    tenfold.save({"whole": x, "part": x[1:]}, file)
    file.seek(0)
    loaded = tenfold.load(file, map_location="echo")
    assert loaded["whole"].tolist() == [0, 1, 2]
    loaded["part"][0] = 9
    assert loaded["whole"].tolist() == [0, 9, 2]
