"""Sampling planes and volumes at places between their elements, and the gradients for both, as LLVM IR.

A vector holds places side by side: what each is made of is computed once for all channels, whose elements are gathered.
"""

from __future__ import annotations

from itertools import product

from tenfold.llvm.places_between import Places, Sampling, Tap
from tenfold.llvm.products import HEAD
from tenfold.llvm.writer import Function


class _Sampler:
    """A function over vectors of places: items are images times vectors."""

    def __init__(self, how: Sampling, names: list[str]) -> None:
        self.how, self.f = how, Function(HEAD)
        self.p = Places(self.f, how)
        self.v = self.p.v
        n = how.ndim
        words = self.f.words([*names, "C", "P", *["number"] * n])
        self.given, (self.C, self.P), self.sizes = words[: len(names)], words[len(names) : -n], words[-n:]
        self.plane = "1"
        for size in self.sizes:
            self.plane = self.f.mul(self.plane, size)
        self.floats = [self.p.number(size) for size in self.sizes]

    def spot(self, grid: str, image: str, start: str) -> None:
        """Read places from `start` on, and what each is made of."""
        f, p, v, n = self.f, self.p, self.v, self.how.ndim
        self.mask = v.below(f.sub(self.P, start))
        first = v.place(grid, f.mul(f.add(f.mul(image, self.P), start), n))
        self.at, self.taps = [], []
        for axis in range(n):
            steps = ", ".join(f"i32 {n * k + n - 1 - axis}" for k in range(v.lanes))
            x = self.gather(first, f"<{steps}>", self.mask)
            self.at.append(p.unnormalized(x, self.floats[axis]))
            self.taps.append(p.taps(p.placed(self.at[axis], self.floats[axis]), self.floats[axis]))

    def gather(self, base: str, index: str, mask: str) -> str:
        v = self.v
        places = self.f.let(f"getelementptr {v.element}, ptr {base}, <{v.lanes} x i32> {index}")
        arguments = f"<{v.lanes} x ptr> {places}, i32 {v.stored.size}, {self.p.flags} {mask}, {v.type} zeroinitializer"
        return self.f.let(f"call {v.type} @llvm.masked.gather.{v.suffix}.v{v.lanes}p0({arguments})")

    def elements(self) -> list[tuple[tuple[Tap, ...], str, str]]:
        """Of every element that a place is made of: its taps, where there is one, and its place in the plane."""
        found = []
        known = [[self.p.within(tap.place, self.floats[axis]) for tap in taps] for axis, taps in enumerate(self.taps)]
        whole = f"<{self.v.lanes} x i32>"
        narrow = [self._every(size) for size in self.sizes]
        for chosen in product(*(range(len(taps)) for taps in self.taps)):
            mask, flat = self.mask, ""
            for axis, tap in enumerate(chosen):
                ok, index = known[axis][tap]
                mask = self.p.both(mask, ok)
                if flat:
                    flat = self.f.let(f"mul {whole} {flat}, {narrow[axis]}")
                    flat = self.f.let(f"add {whole} {flat}, {index}")
                else:
                    flat = index
            found.append((tuple(self.taps[axis][tap] for axis, tap in enumerate(chosen)), mask, flat))
        return found

    def _every(self, number: str) -> str:
        whole = f"<{self.v.lanes} x i32>"
        one = self.f.let(f"insertelement {whole} poison, i32 {self.f.let(f'trunc i64 {number} to i32')}, i64 0")
        return self.f.let(f"shufflevector {whole} {one}, {whole} poison, {whole} zeroinitializer")

    def weight(self, taps: tuple[Tap, ...], changed: int = -1) -> str:
        """The product of weights, along one dimension of how it changes; "" for 1."""
        total = ""
        for axis, tap in enumerate(taps):
            factor = tap.change if axis == changed else tap.weight
            total = self.p.do("fmul", total, factor) if total and factor else total or factor
        return total

    def vectors(self) -> str:
        """How many vectors of places an image has."""
        return self.f.let(f"udiv i64 {self.f.add(self.P, self.v.lanes - 1)}, {self.v.lanes}")

    def text(self) -> str:
        return self.p.declarations() + self.f.text()


def values(how: Sampling) -> str:
    """Context: x, grid, out; channels, places of an image, sizes. Items are vectors of places."""
    s = _Sampler(how, ["*x", "*grid", "*out"])
    f, v = s.f, s.v
    x, grid, out = s.given
    count = s.vectors()
    with f.loop("%lo", "%hi") as item:
        image, k = f.split(item, count)
        start = f.mul(k, v.lanes)
        s.spot(grid, image, start)
        made = [(s.weight(taps), mask, flat) for taps, mask, flat in s.elements()]
        with f.loop(0, s.C) as c:
            channel = f.add(f.mul(image, s.C), c)
            here = v.place(x, f.mul(channel, s.plane))
            total = ""
            for weight, mask, flat in made:
                value = s.gather(here, flat, mask)
                value = s.p.do("fmul", value, weight) if weight else value
                total = s.p.do("fadd", total, value) if total else value
            v.store_some(total, v.place(out, f.add(f.mul(channel, s.P), start)), s.mask)
    return s.text()


def plane_gradient(how: Sampling) -> str:
    """Context: gradient, grid, out (zeros); channels, places of an image, sizes. Items are images."""
    s = _Sampler(how, ["*grad", "*grid", "*out"])
    f, v = s.f, s.v
    grad, grid, out = s.given
    with f.loop("%lo", "%hi") as image, f.loop(0, s.P, v.lanes) as start:
        s.spot(grid, image, start)
        kept = []
        for taps, mask, flat in s.elements():
            weight = s.weight(taps)
            places, shares = f.variable(f"<{v.lanes} x i32>"), f.variable(v.type)
            none = f"<{', '.join(['i32 -1'] * v.lanes)}>"
            chosen = f.let(f"select {s.p.flags} {mask}, <{v.lanes} x i32> {flat}, <{v.lanes} x i32> {none}")
            f.do(f"store <{v.lanes} x i32> {chosen}, ptr {places}")
            f.do(f"store {v.type} {weight or s.p.one}, ptr {shares}")
            kept.append((places, shares))
        many = f.least(f.sub(s.P, start), v.lanes)
        with f.loop(0, s.C) as c:
            channel = f.add(f.mul(image, s.C), c)
            here, there = v.place(out, f.mul(channel, s.plane)), v.place(grad, f.add(f.mul(channel, s.P), start))
            for places, shares in kept:
                with f.loop(0, many) as lane:
                    index = f.let(f"load i32, ptr {f.at(places, lane, 'i32')}")
                    with f.when(f.let(f"icmp sge i32 {index}, 0")):
                        place = v.place(here, f.let(f"sext i32 {index} to i64"))
                        share = v.load(v.place(shares, lane), v.element)
                        share = f.let(f"fmul {v.element} {share}, {v.load(v.place(there, lane), v.element)}")
                        total = f.let(f"fadd {v.element} {v.load(place, v.element)}, {share}")
                        f.do(f"store {v.element} {total}, ptr {place}, align {v.stored.size}")
    return s.text()


def place_gradient(how: Sampling) -> str:
    """Context: gradient, x, grid, out; channels, places of an image, sizes. Items are vectors of places."""
    s = _Sampler(how, ["*grad", "*x", "*grid", "*out"])
    f, v, p = s.f, s.v, s.p
    grad, x, grid, out = s.given
    count, n = s.vectors(), how.ndim
    sums = [f.variable(v.type) for _ in range((4 if how.mode == "bicubic" else 2) ** n)]
    with f.loop("%lo", "%hi") as item:
        image, k = f.split(item, count)
        start = f.mul(k, v.lanes)
        s.spot(grid, image, start)
        elements = s.elements()
        for total in sums:
            f.do(f"store {v.type} zeroinitializer, ptr {total}")
        with f.loop(0, s.C) as c:
            channel = f.add(f.mul(image, s.C), c)
            here = v.place(x, f.mul(channel, s.plane))
            given = v.load_some(v.place(grad, f.add(f.mul(channel, s.P), start)), s.mask)
            for total, (_, mask, flat) in zip(sums, elements, strict=True):
                before = f.let(f"load {v.type}, ptr {total}")
                f.do(f"store {v.type} {v.fma(given, s.gather(here, flat, mask), before)}, ptr {total}")
        made = [f.let(f"load {v.type}, ptr {total}") for total in sums]
        row = f.variable(f"[{n * v.lanes} x {v.element}]")
        for axis in range(n):
            result = ""
            for total, (taps, _, _) in zip(made, elements, strict=True):
                term = p.do("fmul", total, s.weight(taps, axis))
                result = p.do("fadd", result, term) if result else term
            size = s.floats[axis]
            slope = p.times(p.plus(size, -1.0) if how.align else size, 0.5)
            if how.mode != "bicubic":
                slope = p.do("fmul", slope, p.slope_inside(s.at[axis], size))
            result = p.do("fmul", result, slope)
            for lane in range(v.lanes):
                one = f.let(f"extractelement {v.type} {result}, i64 {lane}")
                f.do(f"store {v.element} {one}, ptr {v.place(row, n * lane + n - 1 - axis)}")
        goal = v.place(out, f.mul(f.add(f.mul(image, s.P), start), n))
        amount = f.mul(f.least(f.sub(s.P, start), v.lanes), n * v.stored.size)
        f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {goal}, ptr {row}, i64 {amount}, i1 false)")
    return "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + s.text()
