"""Values between PyTorch and Tenfold: what a PyTorch program hands to a function, made for Tenfold, and results compared."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

import tenfold

_NAMES = (
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 bool complex64 complex128 contiguous_format channels_last "
    "channels_last_3d preserve_format strided sparse_coo"
)
CONSTANTS = {getattr(torch, name): getattr(tenfold, name) for name in _NAMES.split()}


def walk(change: Callable[[Any], Any], value: Any) -> Any:
    """A nested structure with every leaf changed."""
    if isinstance(value, Mapping):
        return {key: walk(change, item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(walk(change, item) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(walk(change, item) for item in value) if type(value) in (list, tuple) else tuple(value)
    return change(value)


def array_of(x: Any) -> np.ndarray[Any, Any]:
    """The elements of either library's tensor, sparse ones written out."""
    x = x.detach()
    x = x.to_dense() if x.is_sparse else x
    return np.array(x.resolve_conj().resolve_neg().numpy() if "bfloat16" not in str(x.dtype) else x.double().numpy())


def copied(x: torch.Tensor) -> Any:
    """A tensor of Tenfold's with the same elements."""
    if x.is_sparse:
        indices, values = (tenfold.from_numpy(part.detach().numpy().copy()) for part in (x._indices(), x._values()))
        return tenfold.sparse_coo_tensor(indices, values, tuple(x.shape), is_coalesced=x.is_coalesced())
    return tenfold.from_numpy(x.detach().numpy().copy(order="K")).requires_grad_(x.requires_grad)


def crossed(value: Any) -> Any:
    """What PyTorch is given, for Tenfold: each tensor copied once, with its strides; dtypes and functions by name."""
    copies: dict[int, Any] = {}

    def change(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            if id(item) not in copies:
                copies[id(item)] = copied(item)
            return copies[id(item)]
        if isinstance(item, torch.nn.TransformerEncoderLayer):
            return _encoder_layer(item)
        if type(item).__name__ == "LinearCrossEntropyOptions":  # which PyTorch has from 2.13 on
            ours = tenfold.nn.LinearCrossEntropyOptions
            return ours(*[change(getattr(item, name)) for name in ours._fields])
        if isinstance(item, torch.nn.Module):
            return getattr(tenfold.nn, type(item).__name__)()
        if callable(item) and getattr(torch.nn.functional, getattr(item, "__name__", ""), None) is item:
            return getattr(tenfold.nn.functional, item.__name__)
        return CONSTANTS.get(item, item) if isinstance(item, (torch.dtype, torch.layout, torch.memory_format)) else item

    return walk(change, value)


def _encoder_layer(layer: Any) -> Any:
    """A layer for the constructor of TransformerEncoder, which copies it."""
    sizes = (layer.self_attn.embed_dim, layer.self_attn.num_heads, layer.linear1.out_features, layer.dropout.p)
    options = {"batch_first": layer.self_attn.batch_first, "norm_first": layer.norm_first, "bias": layer.linear1.bias is not None}
    return tenfold.nn.TransformerEncoderLayer(*sizes, crossed(layer.activation), **options)


def leaves(value: Any) -> list[Any]:
    """Whatever lies in a nested structure."""
    found: list[Any] = []
    walk(found.append, value)
    return found


def tensors(value: Any) -> list[Any]:
    """The tensors in a nested structure, of either library."""
    return [item for item in leaves(value) if isinstance(item, (torch.Tensor, tenfold.Tensor))]


def compare(what: str, mine: Any, theirs: Any, tolerance: float) -> None:
    """Raise AssertionError unless two structures hold tensors of one dtype, shape and, within `tolerance`, value."""
    if isinstance(theirs, Mapping) and isinstance(mine, Mapping):
        assert set(mine) == set(theirs), f"{what}: keys {list(mine)}, PyTorch has {list(theirs)}"
        for key, value in theirs.items():
            compare(f"{what}[{key!r}]", mine[key], value, tolerance)
        return
    ours, expected = leaves(mine), leaves(theirs)
    assert len(ours) == len(expected), f"{what}: {len(ours)} values, PyTorch has {len(expected)}"
    for i, (got, want) in enumerate(zip(ours, expected, strict=True)):
        where = f"{what}[{i}]" if len(expected) > 1 else what
        if not isinstance(want, torch.Tensor):
            assert got == want or (got != got and want != want) or np.isclose(got, want, tolerance), f"{where}: {got}, not {want}"
            continue
        assert isinstance(got, tenfold.Tensor), f"{where}: {type(got).__name__}, PyTorch has a tensor"
        assert CONSTANTS[want.dtype] is got.dtype, f"{where}: {got.dtype}, PyTorch has {want.dtype}"
        assert tuple(got.shape) == tuple(want.shape), f"{where}: shape {tuple(got.shape)}, PyTorch has {tuple(want.shape)}"
        np.testing.assert_allclose(array_of(got), array_of(want), tolerance, tolerance, err_msg=where)


def through_file(state: Any) -> tuple[Any, Any]:
    """A checkpoint that Tenfold saves, as Tenfold and as PyTorch load it."""
    file = io.BytesIO()
    tenfold.save(state, file)
    return tenfold.load(io.BytesIO(file.getvalue())), torch.load(io.BytesIO(file.getvalue()))


def from_file(state: Any) -> Any:
    """A checkpoint that PyTorch saves, as Tenfold loads it."""
    file = io.BytesIO()
    torch.save(state, file)
    return tenfold.load(io.BytesIO(file.getvalue()))


def score(kind: str, rows: Mapping[str, Callable[[], None]], verbose: bool) -> int:
    """Run every row, print those that fail and the count; 0 where all passed, as an exit status."""
    failed = []
    for name, check in rows.items():
        try:
            check()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one row's
            failed.append(name)
            text = " ".join(str(error).split())
            print(f"{name}: {type(error).__name__}: {text[: 2000 if verbose else 300]}", flush=True)
    print(f"{kind}: {len(rows) - len(failed)} of {len(rows)} agree", flush=True)
    return 1 if failed else 0
