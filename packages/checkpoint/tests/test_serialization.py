"""save and load: round trips, sharing, mapping, damaged and hostile files."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import serialization
from tenfold.types import dtypes


def copied(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    tenfold.save(obj, file)
    file.seek(0)
    return tenfold.load(file, **options)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda d: d.name)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_every_dtype(dtype: Any) -> None:
    x = tenfold.arange(6).reshape(2, 3).to(dtype)
    y = copied(x)
    assert y.dtype is dtype
    assert y.untyped_storage().tolist() == x.untyped_storage().tolist()
    assert y.shape == x.shape


@pytest.mark.parametrize(
    "x", [tenfold.tensor(2.5), tenfold.zeros(0, 3), tenfold.arange(12.0).reshape(3, 4)[1:, ::2], tenfold.zeros(2, 2).t()]
)
def test_shapes_and_strides(x: Any) -> None:
    y = copied(x)
    assert (y.shape, y.stride(), y.tolist()) == (x.shape, x.stride(), x.tolist())


def test_negative_strides_become_positive() -> None:
    x = tenfold.arange(4.0).flip(0)
    assert copied(x).tolist() == [3.0, 2.0, 1.0, 0.0]


def test_shared_memory_stays_shared_and_is_written_once() -> None:
    base = tenfold.arange(1000.0)
    file = io.BytesIO()
    tenfold.save([base, base[10:20], base.view(10, 100).t(), base], file)
    assert len([n for n in zipfile.ZipFile(file).namelist() if "/data/" in n and "/.data" not in n]) == 1
    file.seek(0)
    a, b, c, again = tenfold.load(file)
    a[10] = -1.0
    assert b[0].item() == -1.0
    assert c[10, 0].item() == -1.0
    assert again is a


def test_plain_python_objects() -> None:
    given = OrderedDict(
        numbers=[1, 2.5, 1 + 2j, True, None, 10**30], text="ä", raw=b"\x00\xff", nested={"t": (1, [2]), 3: {4, 5}},
        device=tenfold.device("cuda", 1), dtype=tenfold.bfloat16, size=tenfold.Size([1, 2]), frozen=frozenset({1}),
    )  # fmt: skip
    back = copied(given)
    assert back == given
    assert type(back) is OrderedDict
    assert type(back["size"]) is tenfold.Size


def test_gradient_flags_and_meta_tensors() -> None:
    pytest.importorskip("tenfold.autograd")
    x = tenfold.ones(2, requires_grad=True)
    assert copied(x).requires_grad
    assert copied(x * 2).requires_grad
    meta = copied(tenfold.empty(2, 3, device="meta"))
    assert (meta.device.type, meta.shape) == ("meta", (2, 3))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(protocol: int) -> None:
    file = io.BytesIO()
    tenfold.save({"w": tenfold.ones(2), "b": b"x"}, file, pickle_protocol=protocol)
    file.seek(0)
    back = tenfold.load(file)
    assert back["w"].tolist() == [1.0, 1.0]
    assert back["b"] == b"x"


def test_entries_are_aligned_and_stored(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    tenfold.save([tenfold.ones(3), tenfold.ones(5, dtype=tenfold.uint8)], path)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            head = path.read_bytes()[info.header_offset + 26 : info.header_offset + 30]
            start = info.header_offset + 30 + int.from_bytes(head[:2], "little") + int.from_bytes(head[2:], "little")
            assert start % 64 == 0
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.filename.startswith("weights/")


def test_map_location() -> None:
    x = [tenfold.ones(2)]
    assert copied(x, map_location="meta")[0].is_meta
    assert copied(x, map_location=tenfold.device("meta"))[0].is_meta
    assert copied(x, map_location={"cpu": "meta"})[0].is_meta
    assert copied(x, map_location={"cuda:0": "cpu"})[0].is_cpu
    seen = []
    assert copied(x, map_location=lambda storage, location: seen.append((storage.nbytes(), location)))[0].tolist() == [1.0, 1.0]
    assert seen == [(8, "cpu")]
    assert copied(x, map_location=lambda storage, location: storage.clone())[0].tolist() == [1.0, 1.0]


def test_missing_device_says_what_to_do() -> None:
    file = io.BytesIO()
    tenfold.save(tenfold.ones(2), file)
    raw = file.getvalue()
    source = zipfile.ZipFile(io.BytesIO(raw))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, source.read(name).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00absent"))
    changed.seek(0)
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        tenfold.load(changed)
    changed.seek(0)
    assert tenfold.load(changed, map_location="cpu").tolist() == [1.0, 1.0]


def test_mmap(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    tenfold.save({"a": tenfold.arange(1000.0), "b": tenfold.ones(3)}, path)
    before = path.read_bytes()
    loaded = tenfold.load(path, mmap=True)
    assert loaded["a"].sum().item() == 499500.0
    assert isinstance(loaded["a"].numpy().base, np.ndarray)
    loaded["b"][0] = 5.0
    assert loaded["b"].tolist() == [5.0, 1.0, 1.0]
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="file path"):
        tenfold.load(io.BytesIO(before), mmap=True)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    tenfold.save([1], path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        tenfold.save([lambda: 1], path)
    assert tenfold.load(path) == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.pt"]


def test_wrong_targets() -> None:
    with pytest.raises(AttributeError, match="path"):
        tenfold.save([1], 3)
    with pytest.raises(AttributeError, match="BytesIO"):
        tenfold.load(3)
    with pytest.raises(FileNotFoundError):
        tenfold.load("/nowhere/x.pt")


# Damaged files


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    tenfold.save(obj, file)
    return file.getvalue()


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_cut_short(tmp_path: Path, keep: float) -> None:
    data = saved([tenfold.arange(100.0)])
    path = tmp_path / "cut.pt"
    path.write_bytes(data[: int(len(data) * keep)])
    for mmap in (False, True):
        with pytest.raises(RuntimeError, match=r"cut\.pt.*corrupt"):
            tenfold.load(path, mmap=mmap)


def test_changed_bytes_are_noticed() -> None:
    data = bytearray(saved([tenfold.full((100,), 3.0)]))
    place = data.index(np.float32(3.0).tobytes() * 10)
    data[place] ^= 1
    with pytest.raises(RuntimeError, match="corrupt"):
        tenfold.load(io.BytesIO(bytes(data)))


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", EOFError, "empty"),
        (b"hello", pickle.UnpicklingError, "not a checkpoint"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.rest", RuntimeError, "corrupt"),
    ],
)
def test_other_files(data: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        tenfold.load(io.BytesIO(data))


def archive_with(pickled: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    return file


# Hostile pickles


class Calls:
    """Pickles as a call of any function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("function", [print, eval, getattr, __import__, io.open])
def test_calls_are_refused(function: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        tenfold.load(archive_with(pickle.dumps(Calls(function, "1"), 2)))


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02ctorch.device\n.",
        b"\x80\x02ctorch\nfloat32\n}(X\x04\x00\x00\x00nameX\x01\x00\x00\x00xub.",  # the state of a dtype
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}(X\x0c\x00\x00\x00__defaults__)u\x86b.",  # of a function
        b"\x80\x02ctorch\nfloat32\n)R.",  # a call of what is no function
        b"\x80\x02ctorch\nSize\n)\x81N}(X\x01\x00\x00\x00a)u\x86b.",
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R.",
        b"\x80\x02X\x01\x00\x00\x00aQ.",  # a reference to nothing
        b"", b"\x80\x02R.", b"\x80\x09.", b"\xff\xff",
    ],
)  # fmt: skip
def test_malformed_pickles(pickled: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        tenfold.load(archive_with(pickled))
    assert tenfold.float32.name == "float32"


class Plain:
    """A user's class."""

    def __init__(self, value: int) -> None:
        self.value = value


def test_python_objects_by_choice() -> None:
    data = saved([Plain(3), tenfold.ones(1)])
    with pytest.raises(pickle.UnpicklingError, match="Plain"):
        tenfold.load(io.BytesIO(data))
    assert tenfold.load(io.BytesIO(data), weights_only=False)[0].value == 3
    with serialization.safe_globals([Plain]):
        assert tenfold.load(io.BytesIO(data))[0].value == 3
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Plain])
    assert serialization.get_safe_globals() == [Plain]
    serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        tenfold.load(io.BytesIO(data))


def test_annotations_of_loading_have_pytorchs_names() -> None:
    assert {tenfold.device, str, dict[str, str], type(None)} < set(serialization.MAP_LOCATION.__args__)
    assert serialization.FileLike is serialization.FILE_LIKE


@pytest.mark.parametrize(
    "call", ["save(tenfold.zeros(2), io.BytesIO())", "load(io.BytesIO(SAVED))", "load(io.BytesIO(SAVED), 'meta')"]
)
def test_as_the_first_call_of_a_process(call: str) -> None:
    file = io.BytesIO()
    tenfold.save({"w": tenfold.arange(3.0)}, file)
    code = f"import io, tenfold\nSAVED = {file.getvalue()!r}\ntenfold.{call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


class _ByCall(pickle.Pickler):
    """As cloudpickle's: made of the compiled pickler, with a way of its own for functions."""

    def reducer_override(self, obj):
        return (eval, (f"lambda x: {obj(1)}",)) if getattr(obj, "__name__", "") == "<lambda>" else NotImplemented


def test_a_pickler_made_of_the_compiled_one_says_how_its_objects_are_written():
    module = types.ModuleType("by_call")
    module.Pickler = _ByCall
    file = io.BytesIO()
    tenfold.save({"x": tenfold.ones(2), "f": lambda x: x + 4}, file, pickle_module=module)
    file.seek(0)
    found = tenfold.load(file, weights_only=False)
    assert found["x"].tolist() == [1, 1]
    assert found["f"](0) == 5
