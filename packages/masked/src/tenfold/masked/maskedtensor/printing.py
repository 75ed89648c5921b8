"""MaskedTensors as PyTorch prints them: `--` where no element is."""

from __future__ import annotations

from typing import Any


def text_of(x: Any) -> str:
    """Nested lists of numbers of 8 places, each list of lists on lines of its own."""
    data, mask = x.get_data().detach().to_dense(), x.get_mask().to_dense()
    if x.ndim == 0:
        there = bool(mask)
        return f"MaskedTensor({_number(data.item()) if there else '--'}, {there})"
    body = _block(data.tolist(), mask.tolist(), "  ")
    return f"MaskedTensor(\n{body}\n)"


def _number(value: Any) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _block(data: Any, mask: Any, indent: str) -> str:
    if not data or not isinstance(data[0], list):
        return f"{indent}[" + ", ".join(_number(v) if m else "      --" for v, m in zip(data, mask, strict=True)) + "]"
    inner = ",\n".join(_block(d, m, indent + "  ") for d, m in zip(data, mask, strict=True))
    return f"{indent}[\n{inner}\n{indent}]"
