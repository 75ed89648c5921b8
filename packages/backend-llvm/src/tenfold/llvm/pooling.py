"""Maximum pooling over two dimensions and its gradient, as LLVM IR; items are planes.

The window's size and steps are constants of the code, so that LLVM's vectoriser makes shuffles of its strided reads. That holds
for the pixels whose windows lie inside the plane; those at its rim go tap by tap and ask each whether it is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.llvm.loops import TAGS
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function

HEAD = "void @kernel(ptr %ctx, i64 %lo, i64 %hi)"
METADATA = """
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
"""


@dataclass(frozen=True)
class MaxPool:
    """A dtype with a window's (rows, columns), stride and dilation."""

    stored: Stored
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]

    def text(self) -> str:
        """Context: x, values, indices; rows, columns, result rows and columns, padding of both, and the first result column
        whose window begins inside the plane and the first one after it whose window does not end there."""
        return _Writer(self).module()


class _Writer:
    def __init__(self, pool: MaxPool) -> None:
        self.pool, self.f = pool, Function(HEAD)
        self.type, self.size = pool.stored.memory, pool.stored.size

    def module(self) -> str:
        f, pool = self.f, self.pool
        x, values, indices, self.H, self.W, outH, outW, padH, padW, begin, end = f.words(
            ["*x", "*values", "*indices", *["number"] * 8]
        )
        reach = (pool.kernel[0] - 1) * pool.dilation[0]
        with f.loop("%lo", "%hi") as plane:
            self.here = f.at(x, f.mul(plane, f.mul(self.H, self.W)), self.type)
            with f.loop(0, outH) as y:
                row = f.mul(f.add(f.mul(plane, outH), y), outW)
                self.values, self.indices = f.at(values, row, self.type), f.at(indices, row, "i64")
                top = f.sub(f.mul(y, pool.stride[0]), padH)
                above = f.let(f"icmp sge i64 {top}, 0")
                below = f.let(f"icmp slt i64 {f.add(top, reach)}, {self.H}")
                with f.either(f.let(f"and i1 {above}, {below}")) as otherwise:
                    self._rim(top, padW, "0", begin)
                    self._inside(top, padW, begin, end)
                    self._rim(top, padW, end, outW)
                    otherwise()
                    self._rim(top, padW, "0", outW)
        return f.text() + METADATA

    def _better(self, value: str, best: str, lines: list[str] | None = None) -> str:
        """Whether a value takes the place of the best so far: the first of equals does, and the last that is no number."""
        larger = self.f.let(f"fcmp ogt {self.type} {value}, {best}")
        nan = self.f.let(f"fcmp uno {self.type} {value}, {value}")
        return self.f.let(f"or i1 {larger}, {nan}")

    def _inside(self, top: str, pad: str, begin: str, end: str) -> None:
        """Pixels whose windows lie inside: a loop for the vectoriser, without branches."""
        f, pool = self.f, self.pool
        f.count += 1
        n = f.count
        some = f.let(f"icmp slt i64 {begin}, {end}")
        base = f.sub(f.mul(top, self.W), pad)
        # How far a tap lies behind the window's first: in 32 bits, of which a vector holds as many as of float32 numbers.
        far = [
            [f.add(f.mul(self.W, ky * pool.dilation[0]), kx * pool.dilation[1]) for kx in range(pool.kernel[1])]
            for ky in range(pool.kernel[0])
        ]
        narrow = [[f.let(f"trunc i64 {place} to i32") for place in row] for row in far]
        # One address for each of a window's rows, and constants behind it: of many, LLVM would weigh every combination.
        rows = [f.at(self.here, f.add(base, row[0]), self.type) for row in far]
        f.do(f"br i1 {some}, label %start{n}, label %past{n}")
        f.lines.append(f"start{n}:")
        f.do(f"br label %inside{n}")
        f.lines.append(f"inside{n}:")
        j = f.let(f"phi i64 [{begin}, %start{n}], [%next{n}, %inside{n}]")
        left = f.mul(j, pool.stride[1])
        best, at = "", ""
        for ky in range(pool.kernel[0]):
            row = f.at(rows[ky], left, self.type)
            for kx in range(pool.kernel[1]):
                place = f.at(row, kx * pool.dilation[1], self.type)
                value = f.let(f"load {self.type}, ptr {place}, align {self.size}{TAGS}")
                if not best:
                    best, at = value, "0"
                    continue
                better = self._better(value, best)
                best = f.let(f"select i1 {better}, {self.type} {value}, {self.type} {best}")
                at = f.let(f"select i1 {better}, i32 {narrow[ky][kx]}, i32 {at}")
        f.do(f"store {self.type} {best}, ptr {f.at(self.values, j, self.type)}, align {self.size}{TAGS}")
        found = f.add(f.add(base, left), f.let(f"sext i32 {at} to i64"))
        f.do(f"store i64 {found}, ptr {f.at(self.indices, j, 'i64')}, align 8{TAGS}")
        f.do(f"%next{n} = add nuw nsw i64 {j}, 1")
        f.do(f"%more{n} = icmp slt i64 %next{n}, {end}")
        f.do(f"br i1 %more{n}, label %inside{n}, label %past{n}, !llvm.loop !1")
        f.lines.append(f"past{n}:")

    def _rim(self, top: str, pad: str, begin: str, end: str) -> None:
        """Pixels whose windows may reach over the plane's edge."""
        f, pool = self.f, self.pool
        best, at = f.variable(self.type), f.variable("i64")
        with f.loop(begin, end) as j:
            f.do(f"store {self.type} 0xFFF0000000000000, ptr {best}")  # minus infinity
            f.do(f"store i64 -1, ptr {at}")
            left = f.sub(f.mul(j, pool.stride[1]), pad)
            with f.loop(0, pool.kernel[0]) as ky:
                y = f.add(top, f.mul(ky, pool.dilation[0]))
                with f.when(f.let(f"icmp ult i64 {y}, {self.H}")), f.loop(0, pool.kernel[1]) as kx:
                    x = f.add(left, f.mul(kx, pool.dilation[1]))
                    with f.when(f.let(f"icmp ult i64 {x}, {self.W}")):
                        place = f.add(f.mul(y, self.W), x)
                        value = f.let(f"load {self.type}, ptr {f.at(self.here, place, self.type)}, align {self.size}")
                        known = f.let(f"load i64, ptr {at}")
                        none = f.let(f"icmp slt i64 {known}, 0")
                        better = self._better(value, f.let(f"load {self.type}, ptr {best}"))
                        with f.when(f.let(f"or i1 {none}, {better}")):
                            f.do(f"store {self.type} {value}, ptr {best}")
                            f.do(f"store i64 {place}, ptr {at}")
            f.do(f"store {self.type} {f.let(f'load {self.type}, ptr {best}')}, ptr {f.at(self.values, j, self.type)}")
            # A dilated window can straddle a short plane and hold none of it.
            found = f.let(f"call i64 @llvm.smax.i64(i64 {f.let(f'load i64, ptr {at}')}, i64 0)")
            f.do(f"store i64 {found}, ptr {f.at(self.indices, j, 'i64')}")


def max_pool(pool: MaxPool) -> str:
    """The largest element of each window, and its index in the plane."""
    return "declare i64 @llvm.smax.i64(i64, i64)\n" + pool.text()


def max_pool_grad(stored: Stored) -> str:
    """The gradient is added where each maximum came from.

    Context: gradient, indices, out; elements of a plane, and of a result's plane.
    """
    f = Function(HEAD)
    type = stored.memory
    grad, indices, out, size, count = f.words(["*grad", "*indices", "*out", "number", "number"])
    with f.loop("%lo", "%hi") as plane:
        here, there = f.at(out, f.mul(plane, size), type), f.mul(plane, count)
        with f.loop(0, size) as j:
            f.do(f"store {type} 0.0, ptr {f.at(here, j, type)}")
        with f.loop(0, count) as j:
            k = f.add(there, j)
            place = f.at(here, f.whole(indices, k), type)
            given = f.let(f"load {type}, ptr {f.at(grad, k, type)}")
            before = f.let(f"load {type}, ptr {place}")
            f.do(f"store {type} {f.let(f'fadd {type} {before}, {given}')}, ptr {place}")
    return f.text()
