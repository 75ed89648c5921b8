"""Where a mask holds, as LLVM IR: positions in one pass, which NumPy finds dimension by dimension."""

from __future__ import annotations

from tenfold.llvm.products import HEAD
from tenfold.llvm.writer import Function


def positions() -> str:
    """The positions of a mask's elements that hold, in their order: (dimensions, count). One item, the whole mask.

    Context: mask, out; count, rows, length of a row, leading dimensions, their sizes.
    """
    f = Function(HEAD)
    mask, out, count, rows, length, leading = f.words(["*mask", "*out", "count", "rows", "length", "leading"])
    sizes = f.let("getelementptr i64, ptr %ctx, i64 6")
    last = f.at(out, f.mul(leading, count), "i64")
    found = f.variable("i64", "0")
    with f.loop(0, rows) as row:
        first = f.let(f"load i64, ptr {found}")
        line = f.at(mask, f.mul(row, length))
        now = f.variable("i64")
        f.do(f"store i64 0, ptr {now}")
        with f.until() as leave:  # behind the last that holds nothing is written
            j, k = (f.let(f"load i64, ptr {x}") for x in (now, found))
            ended = f.let(f"icmp sge i64 {j}, {length}")
            leave(f.let(f"or i1 {ended}, {f.let(f'icmp sge i64 {k}, {count}')}"))
            _skip(f, line, j, length, now)
            at = f.let(f"load i64, ptr {now}")
            with f.when(f.let(f"icmp slt i64 {at}, {length}")):
                f.do(f"store i64 {at}, ptr {f.at(last, k, 'i64')}")
                holds = f.let(f"load i8, ptr {f.at(line, at)}")
                more = f.let(f"zext i1 {f.let(f'icmp ne i8 {holds}, 0')} to i64")
                f.do(f"store i64 {f.add(k, more)}, ptr {found}")
                f.do(f"store i64 {f.add(at, 1)}, ptr {now}")
        to = f.let(f"load i64, ptr {found}")
        with f.when(f.let(f"icmp slt i64 {first}, {to}")):
            _lead(f, (out, count, leading, sizes), row, first, to)
    return f.text()


def _skip(f: Function, line: str, j: str, length: str, now: str) -> None:
    """Go on by eight places where none of eight holds."""
    whole = f.let(f"icmp sle i64 {f.add(j, 8)}, {length}")
    with f.when(whole):
        eight = f.let(f"load i64, ptr {f.at(line, j)}, align 1")
        with f.when(f.let(f"icmp eq i64 {eight}, 0")):
            f.do(f"store i64 {f.add(j, 8)}, ptr {now}")


def _lead(f: Function, where: tuple[str, str, str, str], row: str, first: str, to: str) -> None:
    """Write the positions along the leading dimensions for what was found in a row."""
    out, count, leading, sizes = where
    rest = f.variable("i64")
    f.do(f"store i64 {row}, ptr {rest}")
    with f.loop(0, leading) as back:
        d = f.sub(f.sub(leading, back), 1)
        left = f.let(f"load i64, ptr {rest}")
        high, place = f.split(left, f.whole(sizes, d))
        f.do(f"store i64 {high}, ptr {rest}")
        line = f.at(out, f.mul(d, count), "i64")
        with f.loop(first, to) as k:
            f.do(f"store i64 {place}, ptr {f.at(line, k, 'i64')}")
