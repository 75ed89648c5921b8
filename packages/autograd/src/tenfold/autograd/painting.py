"""A canvas as a PNG file, painted with Pillow."""

from __future__ import annotations

import io
import math
from typing import Any

from tenfold.autograd.lettering import FONT, fitting

SCALE = 2  # pixels of the file for one of the canvas
Point = tuple[float, float]
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def painted(canvas: Any) -> bytes:
    """The bytes of the file."""
    from PIL import Image, ImageDraw, ImageFont  # an extra

    image = Image.new("RGB", (math.ceil(canvas.width * SCALE), math.ceil(canvas.height * SCALE)), "white")
    brush: Any = ImageDraw.Draw(image)
    font = ImageFont.load_default(FONT * SCALE * 0.9)
    for kind, shape in canvas.shapes:
        if kind == "box":
            x, y, w, h = (shape[k] * SCALE for k in "xywh")
            brush.rounded_rectangle((x, y, x + max(w, 1), y + max(h, 1)), shape["round"] * SCALE, fill=shape["colour"])
            brush.text((x + w / 2, y + h / 2), fitting(shape["label"], shape["w"]), fill="black", font=font, anchor="mm")
        elif kind == "text":
            place = (shape["x"] * SCALE, shape["y"] * SCALE)
            brush.text(place, shape["words"], fill="black", font=font, anchor=_ANCHORS[shape["anchor"]])
        else:
            points = [(x * SCALE, y * SCALE) for x, y in shape["points"]]
            if kind == "area":
                brush.polygon(points, fill=shape["colour"])
            else:
                brush.line(points, fill=shape["colour"], width=SCALE)
                if shape["arrow"]:
                    brush.polygon(_head(points[-2], points[-1]), fill=shape["colour"])
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _head(before: Point, tip: Point) -> list[Point]:
    """The head of an arrow."""
    angle = math.atan2(tip[1] - before[1], tip[0] - before[0])
    size = 7 * SCALE
    sides = [(tip[0] - size * math.cos(angle + turn), tip[1] - size * math.sin(angle + turn)) for turn in (0.4, -0.4)]
    return [tip, *sides]


__all__ = ["painted"]
