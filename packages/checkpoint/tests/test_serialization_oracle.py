"""Checkpoints between Tenfold and PyTorch, both ways, bit for bit."""

from __future__ import annotations

import copy
import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


def moved(obj: Any, writer: Any, reader: Any, **options: Any) -> Any:
    file = io.BytesIO()
    writer.save(obj, file)
    file.seek(0)
    return reader.load(file, **options)


def bits(t: Any) -> Any:
    return t.untyped_storage().tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold)])
def test_dtypes(dtype: str, writer: Any, reader: Any) -> None:
    x = writer.arange(6).to(getattr(writer, dtype)).reshape(2, 3)
    y = moved([x, x.t()], writer, reader)
    assert y[0].dtype is getattr(reader, dtype)
    assert bits(y[0]) == bits(x)
    assert tuple(y[1].stride()) == (1, 3)
    assert y[0].data_ptr() == y[1].data_ptr()


@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold)])
def test_containers(writer: Any, reader: Any) -> None:
    given = OrderedDict(
        n=[1, 2.5, 1j, None, True, 10**30], s="ä", b=b"\x00\xff", t=(1, {2}), d=writer.device("cuda", 1), k=writer.bfloat16,
        z=writer.Size([1, 2]), r=writer.ones(2, requires_grad=True), m=writer.empty(2, 3, device="meta"), e=writer.zeros(0, 2),
    )  # fmt: skip
    back = moved(given, writer, reader)
    assert {k: back[k] for k in "nsbt"} == {k: given[k] for k in "nsbt"}
    assert str(back["d"]) == "cuda:1"
    assert back["k"] is reader.bfloat16
    assert type(back["z"]) is reader.Size
    assert back["r"].requires_grad
    assert back["m"].device.type == "meta"
    assert tuple(back["e"].shape) == (0, 2)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("mmap", [False, True])
def test_files(tmp_path: Path, protocol: int, mmap: bool) -> None:
    path = str(tmp_path / "x.pt")
    tenfold.save({"w": tenfold.arange(100.0)}, path, pickle_protocol=protocol)
    assert torch.load(path, mmap=mmap, weights_only=protocol == 2)["w"].tolist() == list(map(float, range(100)))
    torch.save({"w": torch.arange(100.0)}, path, pickle_protocol=protocol)
    assert tenfold.load(path, mmap=mmap)["w"].tolist() == list(map(float, range(100)))


def test_modules_and_parameters() -> None:
    nn = pytest.importorskip("tenfold.nn")
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    ours = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    ours.load_state_dict(moved(theirs.state_dict(), torch, tenfold))
    for name, value in moved(ours.state_dict(), tenfold, torch).items():
        assert torch.equal(value, theirs.state_dict()[name])
    parameter = moved(torch.nn.Parameter(torch.ones(2)), torch, tenfold)
    assert type(parameter) is nn.Parameter
    assert isinstance(moved(nn.Parameter(tenfold.ones(2)), tenfold, torch), torch.nn.Parameter)
    whole = moved(theirs[0], torch, tenfold, weights_only=False)
    assert type(whole) is nn.Linear
    assert whole.weight.tolist() == theirs[0].weight.tolist()


def test_optimizer_state() -> None:
    pytest.importorskip("tenfold.optim")
    results = []
    for library in (tenfold, torch):
        w = library.nn.Parameter(library.ones(3))
        optimizer = library.optim.Adam([w], lr=0.1)
        w.sum().backward()
        optimizer.step()
        results.append(optimizer.state_dict())
    ours = moved(results[1], torch, tenfold)
    assert ours["state"][0]["exp_avg"].tolist() == results[0]["state"][0]["exp_avg"].tolist()
    assert moved(results[0], tenfold, torch)["param_groups"][0]["lr"] == 0.1


def test_the_same_errors(tmp_path: Path) -> None:
    data = io.BytesIO()
    torch.save([torch.ones(100)], data)
    cut = data.getvalue()[:-50]
    for library in (torch, tenfold):
        with pytest.raises(RuntimeError):
            library.load(io.BytesIO(cut))
        with pytest.raises(EOFError):
            library.load(io.BytesIO(b""))
        with pytest.raises(pickle.UnpicklingError):
            library.load(io.BytesIO(b"not a pickle"))


# The format from before PyTorch 1.6


@pytest.mark.parametrize(
    "dtype", [name for name in DTYPES if name not in ("uint16", "uint32", "uint64") and "float8" not in name]
)
@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold)])
def test_old_files(dtype: str, writer: Any, reader: Any) -> None:
    x = writer.arange(6).to(getattr(writer, dtype)).reshape(2, 3)
    file = io.BytesIO()
    writer.save([x, x.t(), "é", b"\xff"], file, _use_new_zipfile_serialization=False)
    for options in ({"weights_only": True}, {"weights_only": False}):
        y = reader.load(io.BytesIO(file.getvalue()), **options)
        assert y[0].dtype is getattr(reader, dtype)
        assert bits(y[0]) == bits(x)
        assert tuple(y[1].stride()) == (1, 3)
        assert y[0].data_ptr() == y[1].data_ptr()
        assert y[2:] == ["é", b"\xff"]


def test_old_files_on_another_device() -> None:
    file = io.BytesIO()
    torch.save([torch.ones(2)], file, _use_new_zipfile_serialization=False)
    assert tenfold.load(io.BytesIO(file.getvalue()), map_location="meta")[0].is_meta


# Options


def test_layouts_and_lazy_bits() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert moved(torch.strided, torch, tenfold) is tenfold.strided
    for theirs in (x.conj(), x.conj().imag, torch._neg_view(x), torch._neg_view(x.conj()), x):
        assert moved(theirs, torch, tenfold).tolist() == theirs.tolist()
    assert moved([tenfold.strided], tenfold, torch) == [torch.strided]
    assert moved([tenfold.tensor([1 + 2j]).conj()], tenfold, torch)[0].tolist() == [1 - 2j]


@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold), (tenfold, tenfold)])
def test_attributes(writer: Any, reader: Any) -> None:
    pytest.importorskip("tenfold.nn")
    x, p = writer.zeros(2), writer.nn.Parameter(writer.ones(2))
    x.note, p.note = "a", [1]
    x, p = moved([x, p], writer, reader)
    assert (type(x), x.note, type(p), p.note) == (reader.Tensor, "a", reader.nn.Parameter, [1])


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "uint16", "bfloat16"])
def test_files_of_the_other_byte_order(mark: bool, dtype: str) -> None:
    from tenfold import serialization

    x = (
        tenfold.tensor([1, 2, 300]).to(getattr(tenfold, dtype))
        if dtype != "uint8"
        else tenfold.tensor([1, 2], dtype=tenfold.uint8)
    )
    file, turned = io.BytesIO(), io.BytesIO()
    tenfold.save([x, x[1:]], file)
    part = x.itemsize // (2 if x.is_complex() else 1)
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(turned, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("data/0"):
                data = b"".join(data[i : i + part][::-1] for i in range(0, len(data), part))
            if name.endswith("byteorder"):
                data = b"big"
                if not mark:
                    continue
            target.writestr(name, data)
    before = serialization.get_default_load_endianness()
    try:
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
        back = tenfold.load(io.BytesIO(turned.getvalue()))
    finally:
        serialization.set_default_load_endianness(before)
    assert back[0].tolist() == x.tolist()
    assert back[1].tolist() == x[1:].tolist()
    with pytest.raises(TypeError):
        serialization.set_default_load_endianness("big")  # type: ignore[arg-type]


def test_checksums_and_skipped_data(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    for library in (tenfold, torch):
        options = library.serialization
        options.set_crc32_options(False)
        try:
            library.save([library.ones(5)], path)
        finally:
            options.set_crc32_options(True)
        assert options.get_crc32_options()
        for reader in (tenfold, torch):
            assert reader.load(path)[0].tolist() == [1.0] * 5
        with options.skip_data():
            library.save([library.full((5,), 3.0)], path)
        for reader in (tenfold, torch):
            assert reader.load(path)[0].tolist() == [0.0] * 5
        with tenfold.serialization._open_zipfile_reader(path) as archive:
            offset = archive.get_record_offset("data/0")
        with open(path, "r+b") as file:  # the second pass, which fills the data in
            file.seek(offset)
            file.write(library.full((5,), 2.0).numpy().tobytes())
        for reader in (tenfold, torch):
            assert reader.load(path)[0].tolist() == [2.0] * 5
    with tenfold.serialization.skip_data():
        assert tenfold.load(path)[0].tolist() == [0.0] * 5


def test_shared_mappings_write_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    tenfold.save([tenfold.ones(5)], path)
    with tenfold.serialization.set_default_mmap_options(tenfold.serialization.MAP_SHARED):
        tenfold.load(path, mmap=True)[0][1] = 7.0
    assert tenfold.serialization.get_default_mmap_options() == torch.serialization.get_default_mmap_options()
    assert torch.load(path)[0].tolist() == [1.0, 7.0, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="MAP_SHARED"):
        tenfold.serialization.set_default_mmap_options(7)


def test_registered_packages() -> None:
    from tenfold.checkpoint.options import PACKAGES

    seen = []
    tenfold.serialization.register_package(
        1, lambda storage: "there:0" if storage.nbytes() == 8 else None, lambda storage, location: seen.append(location)
    )
    try:
        file = io.BytesIO()
        tenfold.save([tenfold.ones(2), tenfold.ones(3)], file)
        with pytest.raises(RuntimeError, match="there"):
            tenfold.load(io.BytesIO(file.getvalue()))
        assert tenfold.load(io.BytesIO(file.getvalue()), map_location="cpu")[0].tolist() == [1.0, 1.0]
        assert seen == ["there:0", "cpu", "cpu"]
    finally:
        PACKAGES.clear()


class Mine:
    """A class that no checkpoint may name by itself."""


@pytest.mark.parametrize("protocol", [2, 4])
def test_unsafe_globals_are_listed(protocol: int) -> None:
    for library in (tenfold, torch) if protocol == 2 else (tenfold,):  # PyTorch reads no other
        file = io.BytesIO()
        library.save(
            {"m": Mine(), "t": library.ones(1), "o": OrderedDict(), "s": "x", "again": Mine()}, file, pickle_protocol=protocol
        )
        assert library.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue())) == [f"{__name__}.Mine"]


def test_choices_that_pytorch_refuses(tmp_path: Path) -> None:
    file = io.BytesIO()
    tenfold.save([1], file)
    old = tmp_path / "old.pt"
    tenfold.save([1], old, _use_new_zipfile_serialization=False)
    for library in (tenfold, torch):
        file.seek(0)
        with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
            library.load(file, pickle_module=pickle, weights_only=True)
        with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
            library.load(old, mmap=True)
        file.seek(0)
        assert library.load(file, pickle_module=pickle) == [1]


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold), (tenfold, tenfold)])
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages(writer: Any, reader: Any, modern: bool) -> None:
    x = writer.arange(6.0)
    file = io.BytesIO()
    writer.save([x, x.storage(), x[2:].storage(), x.storage()], file, _use_new_zipfile_serialization=modern)
    file.seek(0)
    y, first, second, third = reader.load(file)
    assert isinstance(first, reader.storage.TypedStorage)
    assert first.tolist() == second.tolist() == third.tolist() == list(range(6))
    first[2] = 50.0
    assert y[2] == 50.0
    assert second[2] == 50.0
    if modern and reader is tenfold:
        assert isinstance(moved(x.untyped_storage(), writer, reader), reader.UntypedStorage)
    if reader is tenfold:
        back = copy.deepcopy([y, first])
        back[0].fill_(1.0)
        assert back[1].tolist() == [1.0] * 6
        assert pickle.loads(pickle.dumps([y, first]))[1].tolist() == first.tolist()


@pytest.mark.filterwarnings("ignore:pickle_load_args only works")
@pytest.mark.parametrize("encoding", ["utf-8", "bytes"])
def test_files_of_python_2(encoding: str) -> None:
    """As PyTorch 0.4 wrote them there: text and the names in references are byte strings."""
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2)
    reference = b"(U\x07storagectorch\nFloatStorage\nU\x0242U\x03cpuK\x01NtQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + reference + b"K\x00K\x01\x85K\x01\x85\x89NtR"
    file = head + b"\x80\x02](U\x02\xc3\xa4" + tensor + b"e." + b"\x80\x02]U\x0242a." + b"\1" + bytes(7) + b"\0\0\x80\x3f"
    for library in (tenfold, torch):
        for weights_only in (True, False):
            text, made = library.load(io.BytesIO(file), encoding=encoding, weights_only=weights_only)
            assert text == ("ä" if encoding == "utf-8" else "ä".encode())
            assert made.tolist() == [1.0]


@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold), (tenfold, tenfold)])
def test_empty_storages_have_any_type(writer: Any, reader: Any, modern: bool) -> None:
    empty = writer.tensor([], dtype=writer.float32)
    other = writer.storage.TypedStorage(wrap_storage=empty.untyped_storage(), dtype=writer.int64, _internal=True)
    file = io.BytesIO()
    writer.save([empty, other], file, _use_new_zipfile_serialization=modern)
    file.seek(0)
    back, typed = reader.load(file)
    assert (back.dtype, back.shape, typed._size()) == (reader.float32, (0,), 0)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_half_precision_complex_numbers_are_exchanged():
    z = tenfold.tensor([1.5 - 2j, -0.25 + 3j], dtype=tenfold.complex32)
    file = io.BytesIO()
    tenfold.save(z, file)
    file.seek(0)
    theirs = torch.load(file)
    assert theirs.dtype is torch.complex32
    assert theirs.tolist() == z.tolist()
    file = io.BytesIO()
    torch.save(theirs, file)
    file.seek(0)
    made = tenfold.load(file)
    assert made.dtype is tenfold.complex32
    assert made.tolist() == z.tolist()


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_sparse_tensors_of_old_files_are_checked_when_their_places_are_read() -> None:
    sparse = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), check_invariants=True).coalesce()
    file = io.BytesIO()
    torch.save([sparse, torch.eye(2).to_sparse_csr()], file, _use_new_zipfile_serialization=False)
    coo, csr = tenfold.load(io.BytesIO(file.getvalue()))
    assert coo.is_coalesced()
    assert coo.to_dense().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    assert csr.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    places = sparse.indices().numpy().tobytes()
    assert file.getvalue().count(places) == 1
    for wrong in ([[0, 9], [1, 0]], [[1, 0], [0, 1]]):  # outside, and out of order
        bad = file.getvalue().replace(places, torch.tensor(wrong).numpy().tobytes())
        with pytest.raises(pickle.UnpicklingError):
            tenfold.load(io.BytesIO(bad))
