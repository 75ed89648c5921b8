"""Types of PTX as NumPy has them, numbers in its text, and what a register holds before anything is written to it."""

from __future__ import annotations

import numpy as np

U8, U16, U32, U64 = (np.dtype(f"u{n}") for n in (1, 2, 4, 8))
S8, S16, S32, S64 = (np.dtype(f"i{n}") for n in (1, 2, 4, 8))
F16, F32, F64, BOOL = np.dtype("f2"), np.dtype("f4"), np.dtype("f8"), np.dtype(bool)
TYPES = {
    "b8": U8, "u8": U8, "s8": S8, "b16": U16, "u16": U16, "s16": S16, "b32": U32, "u32": U32, "s32": S32, "b64": U64,
    "u64": U64, "s64": S64, "f16": F16, "f32": F32, "f64": F64, "pred": BOOL,
    "bf16": U16, "f16x2": U32, "bf16x2": U32, "tf32": U32, "s16x2": U32, "u16x2": U32,
}  # fmt: skip
UNSIGNED = {1: U8, 2: U16, 4: U32, 8: U64}
# Not a number as a float of any size, and a large number to whoever takes it for an index.
POISON = {
    1: np.array([[False]]),
    8: np.array([[0x7F]], U8),  # of inline assembly, which Triton has for bytes that become bfloat16 on 8.0
    16: np.array([[0x7FDE]], U16),
    32: np.array([[0x7FDEADDE]], U32),
    64: np.array([[0x7FFDEADDEADDEADD]], U64),
    128: np.array([[0x7FFDEADDEADDEADD]], U64),
}
NAN = U32.type(0x7FFFFFFF)
BYTE = 0xFF  # of shared and local memory that nobody has written: a NaN of any size


def typed(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A register's bits as a type; of a narrower one its lower bits.

    What is still a float32 comes from arithmetic, whose NaN has bits of its own on a GPU, others than here.
    """
    found = x.dtype
    if found is dtype:
        return x
    if found is F32:
        nan = np.isnan(x)
        if nan.any():
            x = np.where(nan, NAN, x.view(U32))
    if found.itemsize == dtype.itemsize:
        return x.view(dtype)
    return x.view(UNSIGNED[found.itemsize]).astype(UNSIGNED[dtype.itemsize]).view(dtype)


def filled(x: np.ndarray, bits: int) -> np.ndarray:
    """A value as a register of so many bits holds it: with its sign, if its type has one."""
    if x.dtype is BOOL or x.dtype.itemsize * 8 >= bits:
        return x
    wide = (S16, S32, S64) if x.dtype.kind == "i" else (U16, U32, U64)
    return x.astype(wide[(16, 32, 64).index(bits)])


def number(text: str, kind: str) -> np.ndarray | None:
    """An operand that is a number, as an array of one element; None for other operands."""
    if text[0] not in "-0123456789" or (text[0] == "-" and not text[1:2].isdigit()):
        return None
    dtype = TYPES[kind]
    if text[:2] in ("0f", "0F"):
        return np.array([[int(f"0x{text[2:]}", 16)]], U32)
    if text[:2] in ("0d", "0D"):
        return np.array([[int(f"0x{text[2:]}", 16)]], U64)
    if "." in text:
        return np.array([[float(text)]], dtype)
    value = int(text.rstrip("U"), 0)
    if dtype is BOOL:
        return np.array([[value != 0]])
    bits = np.array([[value & (2**64 - 1)]], U64).astype(UNSIGNED[dtype.itemsize])
    return bits.view(dtype)
