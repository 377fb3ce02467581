"""A scene as an array of pixels, drawn by Pillow in memory: no display, no window. Knows no game.

The picture is drawn larger and then reduced, which smooths every edge.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tabletop_envs.core.checks import is_whole
from tabletop_envs.errors import GameDefinitionError, OptionError
from tabletop_envs.render.scene import Circle, Line, Polygon, Rect, Scene, Shape, Text, flat

PIXELS: Final = 600
MIN_PIXELS: Final = 16
MAX_PIXELS: Final = 4096

# Drawn so many times as large; large pictures less, where the eye sees single pixels no longer.
_SAMPLES: Final = 3
_SAMPLES_LARGE: Final = 2
_LARGE: Final = 1000  # pixels

_BOLD: Final = 0.02  # how far the strokes of bold letters grow to each side, in sizes
_SMALLEST_FONT: Final = 1.0
_BETWEEN_CORNERS: Final = 3.0  # pixels of a side that are left straight
_ANCHORS: Final = {"start": "lm", "middle": "mm", "end": "rm"}


def rgb_array(scene: Scene, pixels: int = PIXELS) -> np.ndarray:
    """The picture as uint8 of shape (height, width, 3), the shorter side `pixels` long.

    Both sides are even, as encoders of video ask. Raises OptionError unless pixels is from 16 to 4096.
    """
    if not is_whole(pixels, MIN_PIXELS, MAX_PIXELS):
        raise OptionError(f"pixels={pixels!r} is not possible: give a whole number from {MIN_PIXELS} to {MAX_PIXELS}")
    samples = _SAMPLES if pixels < _LARGE else _SAMPLES_LARGE
    zoom = pixels / min(scene.width, scene.height)
    width, height = (2 * max(1, round(side * zoom / 2)) for side in (scene.width, scene.height))
    image = Image.new("RGB", (width * samples, height * samples), scene.background)
    opaque, mixing = ImageDraw.Draw(image), ImageDraw.Draw(image, "RGBA")  # mixing takes several times as long
    for shape in flat(scene.shapes, scale=zoom * samples):
        _draw(opaque if shape.opacity == 1 else mixing, shape)
    return np.array(image.reduce(samples))


def _draw(brush: ImageDraw.ImageDraw, shape: Shape) -> None:
    fill, stroke = _ink(shape.fill, shape.opacity), _ink(shape.stroke, shape.opacity)
    if isinstance(shape, Rect):
        _rect(brush, shape, fill, stroke)
    elif isinstance(shape, Circle):
        reach = shape.radius + (shape.width / 2 if stroke else 0)
        box = (shape.x - reach, shape.y - reach, shape.x + reach, shape.y + reach)
        brush.ellipse(box, fill, stroke, max(1, round(shape.width)))
    elif isinstance(shape, Polygon):
        if fill:
            brush.polygon(shape.points, fill)
        if stroke:
            # past the first corner, so that the joint where the line closes is a round one too
            _line(brush, (*shape.points, *shape.points[:2]), stroke, shape.width)
    elif isinstance(shape, Line):
        if stroke:
            _line(brush, shape.points, stroke, shape.width)
    elif isinstance(shape, Text):
        if fill:
            font = _font(max(_SMALLEST_FONT, round(shape.size, 1)))
            bold = max(1, round(shape.size * _BOLD)) if shape.bold else 0
            brush.text((shape.x, shape.y), shape.text, fill, font, _ANCHORS[shape.anchor], stroke_width=bold)
    else:
        raise GameDefinitionError(f"{type(shape).__name__} is no shape of a scene: use those of render.scene")


def _rect(brush: ImageDraw.ImageDraw, shape: Rect, fill: Any, stroke: Any) -> None:
    # Pillow draws an outline inside the box, and the box's last row and column belong to it
    reach = shape.width / 2 if stroke else 0
    box = (shape.x - reach, shape.y - reach, shape.x + shape.w + reach - 1, shape.y + shape.h + reach - 1)
    if box[2] < box[0] or box[3] < box[1]:
        return
    outline = max(1, round(shape.width))
    # Pillow fails at corners that meet, after rounding, in the middle of a side
    radius = min(shape.radius + reach, (min(box[2] - box[0], box[3] - box[1]) - _BETWEEN_CORNERS) / 2)
    if shape.radius > 0 and radius >= 1:
        brush.rounded_rectangle(box, radius, fill, stroke, outline)
    else:
        brush.rectangle(box, fill, stroke, outline)


def _line(brush: ImageDraw.ImageDraw, points: tuple[tuple[float, float], ...], ink: Any, width: float) -> None:
    brush.line(points, ink, max(1, round(width)), joint="curve")
    radius = width / 2
    if radius > 1:
        for x, y in (points[0], points[-1]):
            brush.ellipse((x - radius, y - radius, x + radius, y + radius), ink)


def _ink(colour: str | None, opacity: float) -> tuple[int, int, int, int] | None:
    if colour is None:
        return None
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue, round(255 * opacity)


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    return ImageFont.load_default(size)
