"""A scene as SVG: one self-contained text, without scripts, fonts or links. Knows no game."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from tabletop_envs.errors import GameDefinitionError
from tabletop_envs.render.scene import Circle, Group, Line, Polygon, Rect, Scene, Shape, Text

_FONT: Final = "Aileron, Helvetica, Arial, sans-serif"
_HEIGHT: Final = 480  # pixels in which a page shows the shorter side, unless it says otherwise
_MIDDLE: Final = 0.36  # from the middle of a text down to its baseline, in sizes

# what XML cannot hold, not even escaped
_FORBIDDEN: Final = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF)}


def svg(scene: Scene) -> str:
    """The picture as an SVG document; titles become tooltips, title and caption are what a screen reader reads."""
    zoom = _HEIGHT / min(scene.width, scene.height)
    size = f'width="{_number(scene.width * zoom)}" height="{_number(scene.height * zoom)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(scene.width)} {_number(scene.height)}" {size} '
        f'role="img" font-family="{_FONT}" stroke-linejoin="round" stroke-linecap="round">',
        f"<title>{_escaped(scene.title)}</title>",
        f"<desc>{_escaped('. '.join(scene.caption))}</desc>",
        f'<rect width="{_number(scene.width)}" height="{_number(scene.height)}" fill="{scene.background}"/>',
        *(_drawn(shape) for shape in scene.shapes),
        "</svg>",
    ]
    return "\n".join(lines)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _escaped(text: str) -> str:
    return escape(text.translate(_FORBIDDEN))


def _attributes(**values: float | str) -> str:
    parts = []
    for name, value in values.items():
        text = value if isinstance(value, str) else _number(value)
        parts.append(f" {name.replace('_', '-')}={quoteattr(text)}")
    return "".join(parts)


@lru_cache(maxsize=2**11)  # pictures of successive steps are made of almost the same shapes
def _drawn(shape: Shape | Group) -> str:
    if isinstance(shape, Group):
        inside = "".join(_drawn(part) for part in shape.shapes)
        place = f"translate({_number(shape.x)} {_number(shape.y)})"
        if shape.scale != 1:
            place += f" scale({shape.scale:.4g})"
        return f'<g transform="{place}">{_title(shape.title)}{inside}</g>'
    if isinstance(shape, Rect):
        name = "rect"
        geometry = _attributes(x=shape.x, y=shape.y, width=shape.w, height=shape.h)
        geometry += _attributes(rx=shape.radius) if shape.radius else ""
    elif isinstance(shape, Circle):
        name, geometry = "circle", _attributes(cx=shape.x, cy=shape.y, r=shape.radius)
    elif isinstance(shape, (Polygon, Line)):
        name = "polygon" if isinstance(shape, Polygon) else "polyline"
        geometry = _attributes(points=" ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points))
    elif isinstance(shape, Text):
        name = "text"
        geometry = _attributes(x=shape.x, y=shape.y + _MIDDLE * shape.size, font_size=shape.size)
        geometry += _attributes(text_anchor=shape.anchor) if shape.anchor != "start" else ""
        geometry += _attributes(font_weight="bold") if shape.bold else ""
    else:
        raise GameDefinitionError(f"{type(shape).__name__} is no shape of a scene: use those of render.scene")
    inside = _title(shape.title) + (_escaped(shape.text) if isinstance(shape, Text) else "")
    return f"<{name}{geometry}{_paint(shape)}>{inside}</{name}>" if inside else f"<{name}{geometry}{_paint(shape)}/>"


def _paint(shape: Shape) -> str:
    surface = None if isinstance(shape, Line) else shape.fill
    paint = _attributes(fill=surface or "none")
    if shape.stroke is not None:
        paint += _attributes(stroke=shape.stroke, stroke_width=shape.width)
    return paint + (_attributes(opacity=shape.opacity) if shape.opacity != 1 else "")


def _title(text: str) -> str:
    return f"<title>{_escaped(text)}</title>" if text else ""
