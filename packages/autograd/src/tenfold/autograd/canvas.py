"""Pictures of boxes, lines and words, written as SVG by hand, or as PNG with Pillow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from tenfold.autograd.lettering import FONT, fitting

Point = tuple[float, float]
PALETTE = (
    "#8ecae6", "#ffd166", "#95d5b2", "#f4a261", "#cdb4db", "#a3b18a", "#ffafcc", "#bde0fe", "#e9c46a", "#d4a373",
)  # fmt: skip


@dataclass
class Canvas:
    """Shapes in order of drawing; coordinates are pixels from the upper left corner.

    >>> canvas = Canvas(100, 40)
    >>> canvas.box(10, 10, 80, 20, "#ffffff", "mm")
    >>> canvas.svg().count("<rect")
    2
    """

    width: float
    height: float
    title: str = ""
    shapes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.title:
            self.text(8, 16, self.title)

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, label: str = "", told: str = "", round: float = 0
    ) -> None:  # fmt: skip
        """A filled rectangle with as much of a label as it has room for; `told` is shown to who points at it."""
        self.shapes.append(
            ("box", {"x": x, "y": y, "w": width, "h": height, "colour": colour, "label": label, "told": told, "round": round})
        )

    def line(self, points: Sequence[Point], colour: str = "#555555", arrow: bool = False) -> None:
        """A line through points, with an arrow's head at its end."""
        self.shapes.append(("line", {"points": list(points), "colour": colour, "arrow": arrow}))

    def area(self, points: Sequence[Point], colour: str, told: str = "") -> None:
        """A filled outline."""
        if points:
            self.shapes.append(("area", {"points": list(points), "colour": colour, "told": told}))

    def text(self, x: float, y: float, words: str, anchor: str = "start") -> None:
        """Words on one line, from `x` on or (anchor "end", "middle") to it or around it."""
        self.shapes.append(("text", {"x": x, "y": y, "words": words, "anchor": anchor}))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture; ValueError for another ending than .svg and .png, ImportError for .png without Pillow."""
        name = os.fspath(path)
        ending = os.path.splitext(name)[1].lower()
        if ending not in (".svg", ".png"):
            raise ValueError(f"a picture is saved as .svg or .png, got {name!r}")
        data = self.svg().encode() if ending == ".svg" else self.png()
        temporary = f"{name}.{os.getpid()}.tmp"
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, name)

    def svg(self) -> str:
        """The picture as the text of an SVG file."""
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" height="{self.height:.0f}"',
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" font-family="monospace" font-size="{FONT}">',
            '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
            '<path d="M0,0 L8,4 L0,8 z" fill="#555555"/></marker></defs>',
            '<rect width="100%" height="100%" fill="white"/>',
        ]
        lines += [_WRITERS[kind](shape) for kind, shape in self.shapes]
        return "\n".join([*lines, "</svg>"]) + "\n"

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file; needs Pillow."""
        try:
            from tenfold.autograd.painting import painted  # only for pictures of this kind

            return painted(self)
        except ImportError as error:
            raise ImportError(
                "a picture as .png needs Pillow: pip install 'tenfold-autograd[draw]', or save it as .svg"
            ) from error

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg()


def _box(shape: dict[str, Any]) -> str:
    x, y, w, h = (shape[k] for k in "xywh")
    label = fitting(shape["label"], w)
    lines = [
        f"<g><title>{escape(shape['told'] or shape['label'])}</title>",
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{shape["round"]}" fill="{shape["colour"]}"/>',
    ]
    if label:
        lines.append(f'<text x="{x + w / 2:.1f}" y="{y + h / 2 + FONT * 0.35:.1f}" text-anchor="middle">{escape(label)}</text>')
    return "".join([*lines, "</g>"])


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _line(shape: dict[str, Any]) -> str:
    head = ' marker-end="url(#head)"' if shape["arrow"] else ""
    return f'<polyline points="{_joined(shape["points"])}" fill="none" stroke="{shape["colour"]}"{head}/>'


def _area(shape: dict[str, Any]) -> str:
    told = f"<title>{escape(shape['told'])}</title>"
    return f'<polygon points="{_joined(shape["points"])}" fill="{shape["colour"]}">{told}</polygon>'


def _text(shape: dict[str, Any]) -> str:
    return f'<text x="{shape["x"]:.1f}" y="{shape["y"]:.1f}" text-anchor="{shape["anchor"]}">{escape(shape["words"])}</text>'


_WRITERS = {"box": _box, "line": _line, "area": _area, "text": _text}

__all__ = ["PALETTE", "Canvas"]
