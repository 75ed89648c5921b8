"""Optimizer steps: a program updates one piece of one parameter, whose addresses a table has.

Source: Kingma and Ba, "Adam", 2015, section 2.
"""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def adam_step(
    table_ptr, sign, decay, new_share, beta2, new_square, eps, size, DECAY: tl.constexpr, KIND: tl.constexpr,
    STATE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam of one piece of one parameter. A program's row of the table: addresses of p, m, v, g, and the piece's length.

    DECAY 1: of the parameter (AdamW), 2: in the gradient.
    """
    row = table_ptr + tl.program_id(0).to(tl.int64) * 5
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 4)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    m_ptr = tl.load(row + 1).to(tl.pointer_type(STATE)) + i
    v_ptr = tl.load(row + 2).to(tl.pointer_type(STATE)) + i
    g_ptr = tl.load(row + 3).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    m = tl.load(m_ptr, mask, other=0.0).to(tl.float32)
    v = tl.load(v_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign
    if DECAY == 1:
        p = p * decay
    if DECAY == 2:
        g = g + p * decay
    m = m + (g - m) * new_share
    v = v * beta2 + g * g * new_square
    p = p + m / (tl.sqrt(v) + eps) * size
    tl.store(p_ptr, p.to(KIND), mask)
    tl.store(m_ptr, m.to(STATE), mask)
    tl.store(v_ptr, v.to(STATE), mask)


def sgd_step(
    table_ptr, sign, decay, keep, new_share, size, MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """SGD of one piece of one parameter: addresses of p, its momentum buffer and g, one that is not read, the piece's length."""
    row = table_ptr + tl.program_id(0).to(tl.int64) * 5
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(row + 4)
    p_ptr = tl.load(row).to(tl.pointer_type(KIND)) + i
    g_ptr = tl.load(row + 2).to(tl.pointer_type(KIND)) + i
    p = tl.load(p_ptr, mask, other=0.0).to(tl.float32)
    g = tl.load(g_ptr, mask, other=0.0).to(tl.float32) * sign + p * decay
    if MOMENTUM:
        b_ptr = tl.load(row + 1).to(tl.pointer_type(KIND)) + i
        b = tl.load(b_ptr, mask, other=0.0).to(tl.float32) * keep + g * new_share
        tl.store(b_ptr, b.to(KIND), mask)
        g = g + b * keep if NESTEROV else b
    tl.store(p_ptr, (p + g * size).to(KIND), mask)
