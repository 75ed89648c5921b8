"""Files that move between Tenfold and PyTorch: what was saved comes back, memory shared as before, and code is refused."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import tenfold
from tenfold import serialization


def again(obj, **options):
    file = io.BytesIO()
    tenfold.save(obj, file)
    file.seek(0)
    return tenfold.load(file, **options)


@pytest.mark.parametrize(
    "dtype",
    "float32 float64 float16 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128 uint16 uint32 uint64".split(),
)
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 2)])
def test_every_dtype_and_shape(dtype, shape):
    x = tenfold.ones(shape, dtype=getattr(tenfold, dtype))
    back = again(x)
    assert back.dtype is x.dtype
    assert back.shape == x.shape
    assert back.tolist() == x.tolist()


def test_containers_and_values():
    value = OrderedDict(a=[1, 2.5, "é", None, True], b=(b"\xff\x00", {"s": {1, 2}}), c=tenfold.Size([2, 3]), d=2 + 1j)
    value["dtype"], value["device"] = tenfold.bfloat16, tenfold.device("cpu")
    assert again(value) == value
    assert isinstance(again(value), OrderedDict)


def test_shared_memory_stays_shared():
    base = tenfold.arange(6.0)
    back = again([base, base[2:], base.view(2, 3).T])
    back[0][2] = 50
    assert back[1][0] == 50
    assert back[2][2, 0] == 50
    assert back[2].stride() == (1, 3)


def test_two_dtypes_of_one_memory_are_refused():
    x = tenfold.ones(2)
    with pytest.raises(RuntimeError, match="different types"):
        again([x, x.view(tenfold.int32)])


def test_a_path_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "model.pt"
    tenfold.save({"w": tenfold.ones(2)}, path)
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        tenfold.save({"w": tenfold.zeros(2), "f": lambda: 0}, str(path))
    assert tenfold.load(path)["w"].tolist() == [1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["model.pt"]
    assert "model/data.pkl" in zipfile.ZipFile(path).namelist()


def test_map_location():
    x = {"w": tenfold.ones(2)}
    for location in ("cpu", tenfold.device("cpu"), {"cpu": "cpu"}, lambda storage, location: storage):
        assert again(x, map_location=location)["w"].tolist() == [1, 1]
    assert again(x, map_location="meta")["w"].is_meta


class Harmful:
    def __reduce__(self):
        return print, ("run by a file",)


class Point:
    def __init__(self):
        self.x = tenfold.ones(1)


def test_weights_only_refuses_code(capsys):
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL builtins\.print"):
        again(Harmful())
    with pytest.raises(pickle.UnpicklingError, match="Point"):
        again(Point())
    assert capsys.readouterr().out == ""
    assert again(Point(), weights_only=False).x.item() == 1
    with serialization.safe_globals([Point]):
        assert serialization.get_safe_globals() == [Point]
        assert again(Point()).x.item() == 1
    assert serialization.get_safe_globals() == []


def test_no_checkpoint(tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(b"text")
    with pytest.raises(pickle.UnpicklingError, match="not a checkpoint"):
        tenfold.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"data\.pkl"):
        tenfold.load(path)
    with pytest.raises(FileNotFoundError):
        tenfold.load(tmp_path / "none.pt")


def test_files_move_to_and_from_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "x.pt"
    names = "float32 float64 float16 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128 uint16".split()
    for here, there in ((tenfold, torch), (torch, tenfold)):
        saved = {name: here.tensor([[0, 1, 1]]).to(getattr(here, name)).T for name in names}
        saved["empty"], saved["scalar"] = here.zeros(0, 2), here.tensor(2.5, requires_grad=True)
        saved["size"], saved["dtype"] = here.Size([1, 2]), here.float16
        here.save(saved, path)
        loaded = there.load(path)
        for name in names:
            assert loaded[name].dtype is getattr(there, name)
            assert loaded[name].tolist() == saved[name].tolist()
            assert loaded[name].stride() == saved[name].stride()
        assert tuple(loaded["empty"].shape) == (0, 2)
        assert loaded["scalar"].requires_grad
        assert loaded["scalar"].item() == 2.5
        assert tuple(loaded["size"]) == (1, 2)
        assert loaded["dtype"] is there.float16
    np.testing.assert_array_equal(torch.load(path)["float32"].numpy(), [[0], [1], [1]])
