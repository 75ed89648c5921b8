"""Losses of classes that lie in planes, (N, C, places), as LLVM IR: neighbouring places are computed in vectors.

A block of places goes down the classes for their largest logits, and for the sums of exp(x - largest), which are float64's. What
a target's class makes of them is done for each place by itself. The gradient goes down once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenfold.llvm import maths
from tenfold.llvm.expressions import Expr, constant, convert, equal, select
from tenfold.llvm.loops import METADATA, TAGS, counted
from tenfold.llvm.lowering import Lowering, declarations
from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import FLOAT32, FLOAT64, Stored
from tenfold.llvm.writer import Function

BLOCK = 256  # places that go down together
TOGETHER = 4  # classes whose terms are added in the dtype itself
SIZES = ["columns", "inner", "blocks", "ignored"]
DECLARED = "declare i64 @llvm.smin.i64(i64, i64)\n"


def _element(array: str, type: str) -> Expr:
    """The element of an array of this name."""
    return Expr("load", type, (), array)


def kept(stored: Stored) -> Stored:
    """The dtype of what is kept for the gradient: half precision's in float32."""
    return FLOAT64 if stored is FLOAT64 else FLOAT32


@dataclass(frozen=True)
class _Loop:
    """A function of arrays and numbers, done for all j: goal[j] = result."""

    name: str
    arrays: dict[str, Stored]
    result: Expr
    goal: str
    numbers: tuple[str, ...] = ()

    def text(self) -> str:
        """Its IR; arrays that are read only may be given twice."""
        lowering: Lowering

        def leaf(e: Expr) -> str | None:
            if e.op == "parameter":
                return f"%{e.value}"
            if e.op == "largest":
                a, b = (lowering.names[x] for x in e.args)
                name, suffix = f"%top{len(lowering.lines)}", "f32" if e.type == "float" else "f64"
                lowering.lines.append(f"{name} = call nsz {e.type} @llvm.maximum.{suffix}({e.type} {a}, {e.type} {b})")
                return name
            if e.op != "load":
                return None
            stored, name = self.arrays[e.value], f"%{e.value}.v"
            lowering.lines.append(f"%{e.value}.p = getelementptr {stored.memory}, ptr %{e.value}, i64 %j")
            lowering.lines.extend(stored.read(f"%{e.value}.p", name, 1, TAGS))
            return name

        lowering = Lowering(leaf)
        goal = self.arrays[self.goal]
        value = lowering.name(goal.rounded(self.result))
        lines = [*lowering.lines, f"%goal = getelementptr {goal.memory}, ptr %{self.goal}, i64 %j"]
        lines += goal.write(value, "%goal", 1, TAGS)
        given = [*(f"ptr %{a}" for a in self.arrays), *(f"{self.result.type} %{n}" for n in self.numbers)]
        return counted(self.name, ", ".join(given), lines)


def _of_classes(name: str, stored: Stored, ways: int) -> _Loop:
    """A pass over some classes: the largest logits so far, or the sums so far."""
    arrays: dict[str, Stored] = {"tops": kept(stored), "sums": FLOAT64}
    arrays |= {f"x{k}": stored for k in range(ways)}
    type = stored.computed
    tops, values = _element("tops", type), [_element(f"x{k}", type) for k in range(ways)]
    if name.startswith("top"):
        for value in values:
            tops = Expr("largest", type, (tops, value))
        return _Loop(name, arrays, tops, "tops")
    terms = [maths.exp_of_negative(value - tops) for value in values]
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=True)]
    return _Loop(name, arrays, _element("sums", "double") + convert(terms[0], "double"), "sums")


def _down(f: Function, stored: Stored, name: str, head: str, x: str, columns: str, inner: str, count: str) -> None:
    """All classes by the loop `name`, of which there is one for several at once."""

    def call(function: str, first: str, ways: int) -> None:
        places = [f.at(x, f.mul(f.add(first, k), inner), stored.memory) for k in range(ways)]
        f.do(f"call void @{function}({head}, {', '.join(f'ptr {p}' for p in places)}, i64 {count})")

    whole = f.mul(f.let(f"udiv i64 {columns}, {TOGETHER}"), TOGETHER)
    with f.loop(0, whole, TOGETHER) as c:
        call(f"{name}s", c, TOGETHER)
    with f.loop(whole, columns) as c:
        call(name, c, 1)


def _read(f: Function, stored: Stored, address: str, index: str) -> str:
    """An element as float64."""
    name = f.let(f"getelementptr {stored.memory}, ptr {address}, i64 {index}")
    f.lines += [f"  {line}" for line in stored.read(name, f"{name}.x", 1, "")]
    return f"{name}.x" if stored.computed == "double" else f.let(f"fpext float {name}.x to double")


def _write(f: Function, stored: Stored, number: str, address: str, index: str) -> None:
    """A float64 to memory."""
    place = f.at(address, index, stored.memory)
    if stored.computed == "float":
        number = f.let(f"fptrunc double {number} to float")
    lowering = Lowering(lambda e: number if e.op == "load" else None, f"{place[1:]}.w")
    name = lowering.name(stored.rounded(_element("number", stored.computed)))
    f.lines += [f"  {line}" for line in (*lowering.lines, *stored.write(name, place, 1, ""))]


class _Block:
    """A block's losses and weights as they add up, and where their sums go."""

    def __init__(self, f: Function, sums: str, totals: str) -> None:
        self.f, self.goals = f, {f.variable("double"): goal for goal in (sums, totals)}

    def begin(self) -> None:
        for variable in self.goals:
            self.f.do(f"store double 0.0, ptr {variable}")

    def add(self, loss: str, share: str, counts: str) -> str:
        """A place's loss, 0 if it does not count, and its weight."""
        loss = self.f.let(f"select i1 {counts}, double {loss}, double 0.0")
        for variable, number in zip(self.goals, (loss, share), strict=True):
            so_far = self.f.let(f"load double, ptr {variable}")
            self.f.do(f"store double {self.f.let(f'fadd double {so_far}, {number}')}, ptr {variable}")
        return loss

    def end(self, item: str) -> None:
        for variable, goal in self.goals.items():
            self.f.do(f"store double {self.f.let(f'load double, ptr {variable}')}, ptr {self.f.at(goal, item, 'double')}")


def _share(f: Function, stored: Stored, weighed: bool, target: str, weight: str, columns: str, ignored: str) -> Any:
    """A target's class, its weight (0 if it is ignored), whether it counts, and whether it is no class."""
    counts = f.let(f"icmp ne i64 {target}, {ignored}")
    column = f.let(f"select i1 {counts}, i64 {target}, i64 0")
    far = f.let(f"icmp uge i64 {column}, {columns}")
    column = f.let(f"select i1 {far}, i64 0, i64 {column}")
    share = _read(f, stored, weight, column) if weighed else "1.0"
    return column, f.let(f"select i1 {counts}, double {share}, double 0.0"), counts, far


@dataclass(frozen=True)
class _Item:
    """Where a block of places lies: its first element, its first place, and how many there are."""

    first: str
    place: str
    count: str

    @classmethod
    def of(cls, f: Function, item: str, columns: str, inner: str, blocks: str) -> _Item:
        outer, block = f.split(item, blocks)
        begin = f.mul(block, BLOCK)
        count = f.least(BLOCK, f.sub(inner, begin))
        base = f.mul(outer, inner)
        return cls(f.add(f.mul(base, columns), begin), f.add(base, begin), count)


def losses(stored: Stored, weighed: bool, each: bool, smoothed: bool) -> str:
    """The losses' sum and the weights' of each item, and whether a target is no class; `each`: the losses too.

    Context: x, targets, weights, losses, tops, log_sums, sums, weights' sums, flags, sizes; if smoothed, what a class has of each
    loss, and the sum of the classes' weights, as numbers.
    """
    f, wide = Function(HEAD), kept(stored)
    x, target, weight, out, tops, logs, sums, totals, flag, columns, inner, blocks, ignored = f.words(
        ["*x", "*target", "*weight", "*out", "*tops", "*logs", "*sums", "*totals", "*flag", *SIZES]
    )
    found, spread = f.variable(f"[{BLOCK} x double]"), f.variable(f"[{BLOCK} x double]")
    block = _Block(f, sums, totals)
    with f.loop("%lo", "%hi") as item:
        at = _Item.of(f, item, columns, inner, blocks)
        plane = f.at(x, at.first, stored.memory)
        top, log = (f.at(a, at.place, wide.memory) for a in (tops, logs))
        f.do(f"call void @begin_tops(ptr {top}, i64 {at.count})")
        f.do(f"call void @begin(ptr {found}, i64 {at.count})")
        for name in ("top", "term"):
            _down(f, stored, name, f"ptr {top}, ptr {found}", plane, columns, inner, at.count)
        f.do(f"call void @logs(ptr {found}, i64 {at.count})")
        f.do(f"call void @keep(ptr {found}, ptr {log}, i64 {at.count})")
        if smoothed:
            f.do(f"call void @begin(ptr {spread}, i64 {at.count})")
            with f.loop(0, columns) as c:
                one = _read(f, stored, weight, c) if weighed else "1.0"
                place = f.at(plane, f.mul(c, inner), stored.memory)
                f.do(f"call void @spread(ptr {spread}, ptr {top}, ptr {place}, double {one}, i64 {at.count})")
        block.begin()
        with f.loop(0, at.count) as j:
            given = f.whole(target, f.add(at.place, j))
            column, share, counts, far = _share(f, stored, weighed, given, weight, columns, ignored)
            with f.when(far):
                f.do(f"store i64 1, ptr {flag}")
            picked = _read(f, stored, plane, f.add(f.mul(column, inner), j))
            log_sum = f.let(f"load double, ptr {f.at(found, j, 'double')}")
            loss = f.let(f"fsub double {log_sum}, {f.let(f'fsub double {picked}, {_read(f, wide, top, j)}')}")
            loss = f.let(f"fmul double {loss}, {share}")
            if smoothed:
                loss = _mixed(f, loss, log_sum, f.let(f"load double, ptr {f.at(spread, j, 'double')}"), columns)
            loss = block.add(loss, share, counts)
            if each:
                _write(f, stored, loss, out, f.add(at.place, j))
        block.end(item)
    return _module(f, _loops_of_losses(stored, smoothed))


def _mixed(f: Function, loss: str, log_sum: str, spread: str, columns: str) -> str:
    """(1 - s) loss + s / C (log_sum sum(w) - spread), where s / C and sum(w) are the context's last two numbers."""
    each, weights = (f.let(f"load double, ptr {f.at('%ctx', 13 + k, 'i64')}") for k in range(2))
    share = f.let(f"fmul double {each}, {f.let(f'uitofp i64 {columns} to double')}")
    own = f.let(f"fmul double {loss}, {f.let(f'fsub double 1.0, {share}')}")
    others = f.let(f"fsub double {f.let(f'fmul double {log_sum}, {weights}')}, {spread}")
    return f.let(f"fadd double {own}, {f.let(f'fmul double {others}, {each}')}")


def _loops_of_losses(stored: Stored, smoothed: bool) -> list[_Loop]:
    type, wide = stored.computed, kept(stored)
    loops = [
        _Loop("begin_tops", {"tops": wide}, constant(float("-inf"), type), "tops"),
        _Loop("begin", {"sums": FLOAT64}, constant(0.0, "double"), "sums"),
        _Loop("logs", {"sums": FLOAT64}, maths.log(_element("sums", "double")), "sums"),
        _Loop("keep", {"sums": FLOAT64, "logs": wide}, convert(_element("sums", "double"), type), "logs"),
        *(_of_classes(f"{name}{'s' * (ways > 1)}", stored, ways) for name in ("top", "term") for ways in (1, TOGETHER)),
    ]
    if smoothed:
        distance = convert(_element("x", type) - _element("tops", type), "double")
        result = _element("spread", "double") + Expr("parameter", "double", (), "share") * distance
        loops.append(_Loop("spread", {"spread": FLOAT64, "tops": wide, "x": stored}, result, "spread", ("share",)))
    return loops


def gradient(stored: Stored, weighed: bool, each: bool, smoothed: bool) -> str:
    """exp(x - top - log_sum) times what a place's classes have together, less what each has, and what the target's has besides.

    Context: result, x, targets, weight, tops, log_sums, incoming gradients; sizes; the gradient of all places, if not `each` has
    its own; then as in `losses`.
    """
    f, wide = Function(HEAD), kept(stored)
    type = stored.computed
    out, x, target, weight, tops, logs, grads, columns, inner, blocks, ignored, _ = f.words(
        ["*out", "*x", "*target", "*weight", "*tops", "*logs", "*grads", *SIZES, "grad"]
    )
    scales, hards, softs, classes = (f.variable(f"[{BLOCK} x {type}]") for _ in range(4))
    numbers = [f.let(f"load double, ptr {f.at('%ctx', 11 + k, 'i64')}") for k in range(3 if smoothed else 1)]
    narrow = f"fptrunc double {{}} to {type}" if type == "float" else "fadd double {}, -0.0"
    with f.loop("%lo", "%hi") as item:
        at = _Item.of(f, item, columns, inner, blocks)
        with f.loop(0, at.count) as j:
            place = f.add(at.place, j)
            column, share, counts, _ = _share(f, stored, weighed, f.whole(target, place), weight, columns, ignored)
            grad = _read(f, stored, grads, place) if each else numbers[0]
            grad = f.let(f"select i1 {counts}, double {grad}, double 0.0")
            hard, soft = f.let(f"fmul double {grad}, {share}"), "0.0"
            scale = hard
            if smoothed:
                own = f.let(f"fmul double {numbers[1]}, {f.let(f'uitofp i64 {columns} to double')}")
                hard = f.let(f"fmul double {hard}, {f.let(f'fsub double 1.0, {own}')}")
                soft = f.let(f"fmul double {grad}, {numbers[1]}")
                scale = f.let(f"fadd double {hard}, {f.let(f'fmul double {soft}, {numbers[2]}')}")
            for value, goal in ((scale, scales), (hard, hards), *[(soft, softs)] * smoothed):
                f.do(f"store {type} {f.let(narrow.format(value))}, ptr {f.at(goal, j, type)}")
            f.do(f"store {type} {f.let(f'uitofp i64 {column} to {type}')}, ptr {f.at(classes, j, type)}")
        top, log = (f.at(a, at.place, wide.memory) for a in (tops, logs))
        with f.loop(0, columns) as c:
            first = f.add(at.first, f.mul(c, inner))
            arrays = [f.at(a, first, stored.memory) for a in (out, x)]
            arrays += [top, log, scales, hards, classes, *[softs] * smoothed]
            given = [f"ptr {a}" for a in arrays] + [f"{type} {f.let(f'uitofp i64 {c} to {type}')}"]
            if smoothed:
                one = _read(f, stored, weight, c) if weighed else "1.0"
                given.append(f"{type} {f.let(narrow.format(one))}")
            f.do(f"call void @slopes({', '.join(given)}, i64 {at.count})")
    return _module(f, [_slopes(stored, smoothed)])


def _slopes(stored: Stored, smoothed: bool) -> _Loop:
    type, wide = stored.computed, kept(stored)
    held = FLOAT64 if type == "double" else FLOAT32
    arrays = {"out": stored, "x": stored, "tops": wide, "logs": wide, "scales": held, "hards": held, "classes": held}
    values = {name: _element(name, type) for name in (*arrays, "softs")}
    result = maths.exp(values["x"] - values["tops"] - values["logs"]) * values["scales"]
    numbers: tuple[str, ...] = ("c",)
    if smoothed:
        arrays["softs"] = held
        numbers = ("c", "w")
        result = result - values["softs"] * Expr("parameter", type, (), "w")
    at_target = equal(values["classes"], Expr("parameter", type, (), "c"))
    return _Loop("slopes", arrays, result - select(at_target, values["hards"], 0.0), "out", numbers)


# The negative log likelihood: the elements that targets name. Steps are from image to image, class to class, place to place.

STEPS = ["outer_step", "class_step", "place_step", "columns", "inner", "blocks", "ignored"]


def _place_of(f: Function, item: str, words: list[str]) -> _Item:
    """A block's first element is that of its first place."""
    outer_step, _, place_step, _, inner, blocks, _ = words
    outer, block = f.split(item, blocks)
    begin = f.mul(block, BLOCK)
    first = f.add(f.mul(outer, outer_step), f.mul(begin, place_step))
    return _Item(first, f.add(f.mul(outer, inner), begin), f.least(BLOCK, f.sub(inner, begin)))


def likelihoods(stored: Stored, weighed: bool, each: bool) -> str:
    """Minus the elements that targets name times their weights; sums and flags as those of `losses`.

    Context: x, targets, weight, losses, sums, weights' sums, flags; the steps and sizes.
    """
    f = Function(HEAD)
    x, target, weight, out, sums, totals, flag, *words = f.words(
        ["*x", "*target", "*weight", "*out", "*sums", "*totals", "*flag", *STEPS]
    )
    _, class_step, place_step, columns, _, _, ignored = words
    block = _Block(f, sums, totals)
    with f.loop("%lo", "%hi") as item:
        at = _place_of(f, item, words)
        block.begin()
        with f.loop(0, at.count) as j:
            given = f.whole(target, f.add(at.place, j))
            column, share, counts, far = _share(f, stored, weighed, given, weight, columns, ignored)
            with f.when(far):
                f.do(f"store i64 1, ptr {flag}")
            picked = _read(f, stored, x, f.add(f.add(at.first, f.mul(column, class_step)), f.mul(j, place_step)))
            loss = f.let(f"fmul double {f.let(f'fneg double {picked}')}, {share}")
            loss = block.add(loss, share, counts)
            if each:
                _write(f, stored, loss, out, f.add(at.place, j))
        block.end(item)
    return _module(f, [])


def likelihood_slopes(stored: Stored, weighed: bool, each: bool) -> str:
    """Minus the incoming gradients times the weights, at the classes of an array of zeros.

    Context: result, targets, weight, gradients; the steps and sizes; the gradient of all places, if not `each` has its own.
    """
    f = Function(HEAD)
    out, target, weight, grads, *words = f.words(["*out", "*target", "*weight", "*grads", *STEPS])
    _, class_step, place_step, columns, _, _, ignored = words
    number = f.let(f"load double, ptr {f.at('%ctx', 11, 'i64')}")
    with f.loop("%lo", "%hi") as item:
        at = _place_of(f, item, words)
        with f.loop(0, at.count) as j:
            place = f.add(at.place, j)
            column, share, counts, _ = _share(f, stored, weighed, f.whole(target, place), weight, columns, ignored)
            with f.when(counts):
                grad = _read(f, stored, grads, place) if each else number
                slope = f.let(f"fneg double {f.let(f'fmul double {grad}, {share}')}")
                _write(f, stored, slope, out, f.add(f.add(at.first, f.mul(column, class_step)), f.mul(j, place_step)))
    return _module(f, [])


def _module(f: Function, loops: list[_Loop]) -> str:
    text = DECLARED + "\n".join([*(loop.text() for loop in loops), f.text()])
    return f"{declarations(text)}\n{text}{METADATA}"
