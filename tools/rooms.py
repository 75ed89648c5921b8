"""Core's rooms and the packages above them: their order, and their picture (docs/rooms.svg).

    python tools/rooms.py        writes the picture; tools/check_imports.py says when it is out of date

A room is a folder of core. It imports only rooms that stand before it in `ROOMS`; modules beside the rooms are the front
of the house, which may use all of them and which no room imports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape

from import_graph import Edges, Import, graph, sources
from workspace import ROOT, Package, packages, siblings

PICTURE = ROOT / "docs/rooms.svg"
ROOMS = {
    "settings": "environment variables, threads, determinism",
    "types": "dtypes, sizes, promotion",
    "return_types": "named results",
    "dispatch": "operators, call paths, devices",
    "plugins": "finding and loading packages",
    "tensor": "the tensor, its memory",
    "random": "generators, samples",
    "ops": "what operators mean",
    "cpu": "NumPy's kernels",
    "generic": "kernels for any device",
}
FRONT = "tenfold"
WIDTH, BOX, FLOOR, MARGIN = 980, (140, 44), 84, 20


def room_of(module: str) -> str:
    """The room of one of core's modules."""
    name = module.split(".")[1] if "." in module else FRONT
    return name if name in ROOMS else FRONT


def violations(edges: Edges, core: Package) -> Iterator[tuple[str, Import, str]]:
    """Imports against the rooms' order: (module, import, what is wrong)."""
    own = sources([core])
    order = [*ROOMS, FRONT]
    for module, targets in edges.items():
        for target, found in targets.items():
            a, b = room_of(module), room_of(target)
            if module in own and target in own and order.index(b) > order.index(a):
                yield module, found, f"the room {a} imports {target} of {b}, which stands above it"


def drawn(among: list[Package]) -> dict[str, set[str]]:
    """What the picture shows: {room or package: those that it imports directly and through no other}."""
    modules = sources(among)
    declared = {package.name: siblings([package.name], among) for package in among}

    def box(module: str) -> str:
        package = modules[module][1]
        return room_of(module) if package.short == "core" else package.short

    uses: dict[str, set[str]] = {}
    for module, targets in graph(among).items():
        for target, found in targets.items():
            a, b = box(module), box(target)
            mine, theirs = modules[module][1], modules[target][1]
            optional = mine != theirs and (found.in_function or theirs not in declared[mine.name])
            if a != b and not optional:
                uses.setdefault(a, set()).add(b)
                uses.setdefault(b, set())
    below = {name: _reached(name, uses) for name in uses}
    return {name: {t for t in targets if not any(t in below[o] for o in targets)} for name, targets in uses.items()}


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = list(uses[name])
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += uses[one]
    return found


def floors(uses: dict[str, set[str]]) -> list[list[str]]:
    """The boxes by height: each stands right above the highest that it uses."""
    height: dict[str, int] = {}

    def measure(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((measure(target) for target in uses[name]), default=-1)
        return height[name]

    for name in sorted(uses):
        measure(name)
    return [sorted(name for name in uses if height[name] == floor) for floor in range(max(height.values(), default=-1) + 1)]


def picture(among: list[Package]) -> str:
    """The picture as SVG text; the same text for the same imports."""
    uses = drawn(among)
    levels = floors(uses)
    total = MARGIN * 2 + FLOOR * len(levels)
    place = {
        name: (round(WIDTH * (i + 1) / (len(level) + 1)), total - MARGIN - FLOOR * (floor + 1) + FLOOR // 2)
        for floor, level in enumerate(levels)
        for i, name in enumerate(level)
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" font-family="sans-serif" font-size="12">',
        "<title>Rooms of tenfold-core (blue) and the packages above them; each imports only what stands below it</title>",
        f'<rect width="{WIDTH}" height="{total}" fill="#ffffff"/>',
    ]
    for name in sorted(uses):
        x, y = place[name]
        for target in sorted(uses[name]):
            to_x, to_y = place[target]
            lines.append(
                f'<path d="M{x} {y + BOX[1] // 2} C{x} {y + FLOOR // 2 + 10} {to_x} {to_y - FLOOR // 2 - 10} '
                f'{to_x} {to_y - BOX[1] // 2}" fill="none" stroke="#8a97a6"/>'
            )
    for name in sorted(uses):
        x, y = place[name]
        fill = "#dbe9f9" if name in ROOMS else "#c4dcf5" if name == FRONT else "#f4e8d3"
        left, upper = x - BOX[0] // 2, y - BOX[1] // 2
        lines.append(f'<rect x="{left}" y="{upper}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="{fill}" stroke="#50606f"/>')
        lines.append(f'<text x="{x}" y="{y - 3}" text-anchor="middle" font-weight="bold">{escape(name)}</text>')
        note = ROOMS.get(name, "the public names" if name == FRONT else f"tenfold-{name}")
        lines.append(f'<text x="{x}" y="{y + 13}" text-anchor="middle" font-size="9">{escape(note)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> int:
    PICTURE.write_text(picture(list(packages(ROOT).values())), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
