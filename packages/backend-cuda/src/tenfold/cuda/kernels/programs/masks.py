"""What masks choose, by how many places they chose before: nobody has to know how many those are."""

# mypy: disable-error-code="no-untyped-def"
# Parameters are what Triton makes of them: annotations other than its own would mean something to it.

from __future__ import annotations

from triton import language as tl


def scatter_masked(report_ptr, out_ptr, x_ptr, mask_ptr, ends_ptr, source_ptr, code, count, size, BLOCK: tl.constexpr):
    """Where the mask holds the source's next element, elsewhere x; `ends` counts where it held up to and with a place."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    chosen = inside & (tl.load(mask_ptr + i, inside, other=0) != 0)
    place = tl.load(ends_ptr + i, chosen, other=1) - 1
    wrong = chosen & (place >= size)
    tl.store(report_ptr + code + i * 0, wrong.to(tl.int32), wrong)  # same value: that it is so
    value = tl.load(source_ptr + place, chosen & (place < size), other=0)
    kept = tl.load(x_ptr + i, inside & (chosen == 0), other=0)
    tl.store(out_ptr + i, tl.where(chosen, value, kept), inside)


def place_chosen(out_ptr, ends_ptr, count, size, filled, n1, n2, n3, DIMS: tl.constexpr, BLOCK: tl.constexpr):
    """The first `size` places at which `ends` grows, DIMS coordinates each; `filled` behind the last; n1 to n3: inner sizes."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    end = tl.load(ends_ptr + i, inside, other=0)
    before = tl.load(ends_ptr + i - 1, inside & (i > 0), other=0)
    chosen = inside & (end > before) & (end <= size)
    near = out_ptr + (end - 1) * DIMS
    rest = i
    if DIMS > 3:
        tl.store(near + 3, rest % n3, chosen)
        rest = rest // n3
    if DIMS > 2:
        tl.store(near + 2, rest % n2, chosen)
        rest = rest // n2
    if DIMS > 1:
        tl.store(near + 1, rest % n1, chosen)
        rest = rest // n1
    tl.store(near, rest, chosen)
    late = (i < size) & (i >= tl.load(ends_ptr + count - 1))
    for d in tl.static_range(0, DIMS):
        tl.store(out_ptr + i * DIMS + d, i * 0 + filled, late)
