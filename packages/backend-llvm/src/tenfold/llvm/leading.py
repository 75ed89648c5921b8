"""The first few of a row in order and their positions, as LLVM IR: of equals those that PyTorch names.

Few of many are kept in a heap, whose top is the last of them; else the row is parted around the last one, and those before it are
sorted. Both are the algorithms of the standard library of C++, since the places of equals follow from their steps. Numbers are
compared as whole numbers that have the same order, nan the greatest.

Sources: R. Floyd, "Algorithm 245: Treesort 3" (1964); D. Musser, "Introspective sorting and selection algorithms" (1997).
"""

from __future__ import annotations

from collections.abc import Callable

from tenfold.llvm.products import HEAD
from tenfold.llvm.storage import Stored
from tenfold.llvm.writer import Function

FEW = 64  # a row this many times as long as what is wanted of it goes through a heap
SMALL, SELECTED = 16, 3  # elements that are sorted by insertion
_INFINITE = {"half": 0x7C00, "float": 0x7F800000, "double": 0x7FF0000000000000, "i16": 0x7F80}


class _Pairs:
    """Arrays of keys and positions in a function; those with greater keys come first."""

    def __init__(self, f: Function, key: str, keys: str = "%keys", places: str = "%places") -> None:
        self.f, self.key, self.keys, self.places = f, key, keys, places

    def at(self, index: str | int) -> str:
        return self.f.let(f"load {self.key}, ptr {self.f.at(self.keys, index, self.key)}")

    def pair(self, index: str | int) -> tuple[str, str]:
        return self.at(index), self.f.whole(self.places, index)

    def put(self, index: str | int, pair: tuple[str, str]) -> None:
        self.f.do(f"store {self.key} {pair[0]}, ptr {self.f.at(self.keys, index, self.key)}")
        self.f.do(f"store i64 {pair[1]}, ptr {self.f.at(self.places, index, 'i64')}")

    def swap(self, a: str | int, b: str | int) -> None:
        first, second = self.pair(a), self.pair(b)
        self.put(a, second)
        self.put(b, first)

    def before(self, a: str, b: str) -> str:
        return self.f.let(f"icmp sgt {self.key} {a}, {b}")

    def call(self, name: str, *numbers: str | int, first: str | int = 0) -> None:
        """Call a function on the pairs from one of them on."""
        given = f"ptr {self.f.at(self.keys, first, self.key)}, ptr {self.f.at(self.places, first, 'i64')}"
        self.f.do(f"call void @{name}({', '.join([given, *(f'i64 {n}' for n in numbers)])})")

    def sift(self, hole: str | int, count: str | int, pair: tuple[str, str]) -> None:
        """Let a pair go to its place in a heap, from a hole on."""
        given = f"ptr {self.keys}, ptr {self.places}, i64 {hole}, i64 {count}, {self.key} {pair[0]}, i64 {pair[1]}"
        self.f.do(f"call void @sift({given})")


def leading(stored: Stored, kind: str, ordered: bool, given: bool) -> str:
    """The first `count` of each row and their positions; in order, or as PyTorch leaves those that need none.

    Context: x, values, positions; length, count; where room is given, which else is on the stack: keys, places.
    """
    f, type, key = Function(HEAD), stored.memory, f"i{8 * stored.size}"
    x, values, positions, length, count = f.words(["*x", "*values", "*positions", "length", "count"])
    few = f.let(f"icmp sle i64 {f.mul(count, FEW)}, {length}")
    room = f.let(f"select i1 {few}, i64 {count}, i64 {length}")
    if given:
        keys, places = f.words(["*keys", "*places"], 5)
    else:
        keys, places = (f.let(f"alloca {each}, i64 {room}, align 64") for each in (key, "i64"))
    with f.loop("%lo", "%hi") as item:
        start, first = f.at(x, f.mul(item, length), type), f.mul(item, room) if given else "0"
        row = _Pairs(f, key, f.at(keys, first, key), f.at(places, first, "i64"))
        with f.loop(0, room) as i:
            row.put(i, (_key(f, stored, kind, start, i), i))
        with f.either(few) as otherwise:
            row.call("heaped", count)
            with f.loop(count, length) as i:
                mine = _key(f, stored, kind, start, i)
                with f.when(row.before(mine, row.at(0))):
                    row.sift(0, count, (mine, i))
            row.call("unheaped", count)
            otherwise()
            row.call("selected", f.sub(count, 1), length)
            if ordered:
                row.call("sorted", 0, f.sub(count, 1), _depth(f, f.sub(count, 1)))
                row.call("inserted", 0, f.sub(count, 1))
        with f.loop(0, count) as j:
            place, to = f.whole(row.places, j), f.add(f.mul(item, count), j)
            f.do(f"store {type} {f.let(f'load {type}, ptr {f.at(start, place, type)}')}, ptr {f.at(values, to, type)}")
            f.do(f"store i64 {place}, ptr {f.at(positions, to, 'i64')}")
    parts = _sifted(key), _heaped(key), _unheaped(key), _inserted(key), _cut(key), _selected(key), _sorted(key)
    return "".join(("declare i64 @llvm.ctlz.i64(i64, i1)\n", *parts, f.text()))


def _key(f: Function, stored: Stored, kind: str, start: str, index: str) -> str:
    """The whole number in whose order an element stands: its bits, turned round where it is negative."""
    type, infinite = f"i{8 * stored.size}", _INFINITE[stored.memory]
    most = (1 << (8 * stored.size - 1)) - 1
    bits = f.let(f"load {type}, ptr {f.at(start, index, type)}")
    size = f.let(f"and {type} {bits}, {most}")
    signed = f.let(f"select i1 {f.let(f'icmp slt {type} {bits}, 0')}, {type} {f.let(f'sub {type} 0, {size}')}, {type} {size}")
    found = f.let(f"select i1 {f.let(f'icmp sgt {type} {size}, {infinite}')}, {type} {most}, {type} {signed}")
    return found if kind == "largest" else f.let(f"sub {type} 0, {found}")


def _depth(f: Function, count: str) -> str:
    """How often parts are parted again before a heap takes over: twice the logarithm."""
    zeros = f.let(f"call i64 @llvm.ctlz.i64(i64 {count}, i1 false)")
    return f.mul(f.sub(63, zeros), 2)


def _function(name: str, key: str, *numbers: str) -> tuple[Function, _Pairs]:
    words = "".join(f", {number}" for number in numbers)
    f = Function(f"internal void @{name}(ptr %keys, ptr %places{words})", "noinline nounwind")
    return f, _Pairs(f, key)


def _sifted(key: str) -> str:
    """A hole goes down a heap, to whichever child comes later, then up to where the pair belongs."""
    f, pairs = _function("sift", key, "i64 %top", "i64 %count", f"{key} %key", "i64 %place")
    hole = f.variable("i64", "%top")
    with f.until() as leave:
        here = f.let(f"load i64, ptr {hole}")
        right = f.add(f.mul(here, 2), 2)
        left = f.sub(right, 1)
        leave(f.let(f"icmp sge i64 {right}, %count"))
        child = f.let(f"select i1 {pairs.before(pairs.at(right), pairs.at(left))}, i64 {left}, i64 {right}")
        pairs.put(here, pairs.pair(child))
        f.do(f"store i64 {child}, ptr {hole}")
    here = f.let(f"load i64, ptr {hole}")
    only = f.add(f.mul(here, 2), 1)
    with f.when(f.let(f"icmp eq i64 {f.add(only, 1)}, %count")):
        pairs.put(here, pairs.pair(only))
        f.do(f"store i64 {only}, ptr {hole}")
    with f.until() as leave:
        here = f.let(f"load i64, ptr {hole}")
        leave(f.let(f"icmp sle i64 {here}, %top"))
        parent = f.let(f"sdiv i64 {f.sub(here, 1)}, 2")
        leave(f.let(f"icmp sle {key} {pairs.at(parent)}, %key"))
        pairs.put(here, pairs.pair(parent))
        f.do(f"store i64 {parent}, ptr {hole}")
    pairs.put(f.let(f"load i64, ptr {hole}"), ("%key", "%place"))
    return f.text()


def _heaped(key: str) -> str:
    f, pairs = _function("heaped", key, "i64 %count")
    half = f.let("sdiv i64 %count, 2")
    with f.loop(0, half) as j:
        parent = f.sub(f.sub(half, 1), j)
        pairs.sift(parent, "%count", pairs.pair(parent))
    return f.text()


def _unheaped(key: str) -> str:
    """A heap in order."""
    f, pairs = _function("unheaped", key, "i64 %count")
    with f.loop(1, "%count") as j:
        last = f.sub("%count", j)
        pair = pairs.pair(last)
        pairs.put(last, pairs.pair(0))
        pairs.sift(0, last, pair)
    return f.text()


def _inserted(key: str) -> str:
    """A part in order, equals as they stood."""
    f, pairs = _function("inserted", key, "i64 %first", "i64 %last")
    with f.loop(f.add("%first", 1), "%last") as i:
        mine, hole = pairs.pair(i), f.variable("i64")
        f.do(f"store i64 {i}, ptr {hole}")
        with f.until() as leave:
            here = f.let(f"load i64, ptr {hole}")
            leave(f.let(f"icmp sle i64 {here}, %first"))
            above = f.sub(here, 1)
            leave(f.let(f"icmp sle {key} {mine[0]}, {pairs.at(above)}"))
            pairs.put(here, pairs.pair(above))
            f.do(f"store i64 {above}, ptr {hole}")
        pairs.put(f.let(f"load i64, ptr {hole}"), mine)
    return f.text()


def _cut(key: str) -> str:
    """A part is parted around the median of its second, its middle and its last; where the later ones begin goes to %out."""
    f, pairs = _function("cut", key, "i64 %first", "i64 %last", "ptr %out")
    a, c = f.add("%first", 1), f.sub("%last", 1)
    b = f.add("%first", f.let(f"sdiv i64 {f.sub('%last', '%first')}, 2"))
    x, y, z = (pairs.at(place) for place in (a, b, c))
    xy, yz, xz = pairs.before(x, y), pairs.before(y, z), pairs.before(x, z)

    def choose(condition: str, one: str, other: str) -> str:
        return f.let(f"select i1 {condition}, i64 {one}, i64 {other}")

    rising, falling = choose(yz, b, choose(xz, c, a)), choose(xz, a, choose(yz, c, b))
    pairs.swap("%first", choose(xy, rising, falling))
    pivot, low, high = pairs.at("%first"), f.variable("i64", a), f.variable("i64", "%last")
    with f.until() as leave:
        _walk(f, pairs, low, 0, 1, lambda found: f.let(f"icmp sle {key} {found}, {pivot}"))
        _walk(f, pairs, high, -1, -1, lambda found: f.let(f"icmp sge {key} {found}, {pivot}"))
        i, j = f.let(f"load i64, ptr {low}"), f.sub(f.let(f"load i64, ptr {high}"), 1)
        leave(f.let(f"icmp sge i64 {i}, {j}"))
        pairs.swap(i, j)
        f.do(f"store i64 {f.add(i, 1)}, ptr {low}")
        f.do(f"store i64 {j}, ptr {high}")
    f.do(f"store i64 {f.let(f'load i64, ptr {low}')}, ptr %out")
    return f.text()


def _walk(f: Function, pairs: _Pairs, place: str, beside: int, step: int, there: Callable[[str], str]) -> None:
    """Go on by steps until the element, or the one beside the place, is such a one."""
    with f.until() as leave:
        here = f.let(f"load i64, ptr {place}")
        leave(there(pairs.at(f.add(here, beside))))
        f.do(f"store i64 {f.add(here, step)}, ptr {place}")


def _selected(key: str) -> str:
    """What comes before the n-th and it itself to the front, by parting again the part that it is in."""
    f, pairs = _function("selected", key, "i64 %n", "i64 %count")
    low, high, left = f.variable("i64", "0"), f.variable("i64", "%count"), f.variable("i64", _depth(f, "%count"))
    cut = f.variable("i64")

    def ends() -> tuple[str, str]:
        return f.let(f"load i64, ptr {low}"), f.let(f"load i64, ptr {high}")

    with f.until() as leave:
        first, last = ends()
        leave(f.let(f"icmp sle i64 {f.sub(last, first)}, {SELECTED}"))
        depth = f.let(f"load i64, ptr {left}")
        leave(f.let(f"icmp eq i64 {depth}, 0"))
        f.do(f"store i64 {f.sub(depth, 1)}, ptr {left}")
        f.do(f"call void @cut(ptr %keys, ptr %places, i64 {first}, i64 {last}, ptr {cut})")
        there = f.let(f"load i64, ptr {cut}")
        goal = f.let(f"select i1 {f.let(f'icmp sle i64 {there}, %n')}, ptr {low}, ptr {high}")
        f.do(f"store i64 {there}, ptr {goal}")
    first, last = ends()
    with f.either(f.let(f"icmp sle i64 {f.sub(last, first)}, {SELECTED}")) as otherwise:
        pairs.call("inserted", first, last)
        otherwise()
        part = _Pairs(f, key, f.at("%keys", first, key), f.at("%places", first, "i64"))
        count = f.add(f.sub("%n", first), 1)
        part.call("heaped", count)
        with f.loop(count, f.sub(last, first)) as i:
            mine = part.pair(i)
            with f.when(part.before(mine[0], part.at(0))):
                part.put(i, part.pair(0))
                part.sift(0, count, mine)
        pairs.swap(first, "%n")
    return f.text()


def _sorted(key: str) -> str:
    """A part in order but for small parts, which `inserted` is for."""
    f, pairs = _function("sorted", key, "i64 %first", "i64 %last", "i64 %depth")
    high, left, cut = f.variable("i64", "%last"), f.variable("i64", "%depth"), f.variable("i64")
    with f.until() as leave:
        last, depth = f.let(f"load i64, ptr {high}"), f.let(f"load i64, ptr {left}")
        leave(f.let(f"icmp sle i64 {f.sub(last, '%first')}, {SMALL}"))
        leave(f.let(f"icmp eq i64 {depth}, 0"))
        f.do(f"store i64 {f.sub(depth, 1)}, ptr {left}")
        f.do(f"call void @cut(ptr %keys, ptr %places, i64 %first, i64 {last}, ptr {cut})")
        there = f.let(f"load i64, ptr {cut}")
        pairs.call("sorted", there, last, f.sub(depth, 1))
        f.do(f"store i64 {there}, ptr {high}")
    count = f.sub(f.let(f"load i64, ptr {high}"), "%first")
    with f.when(f.let(f"icmp sgt i64 {count}, {SMALL}")):
        pairs.call("heaped", count, first="%first")
        pairs.call("unheaped", count, first="%first")
    return f.text()
