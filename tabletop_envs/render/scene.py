"""What a picture is made of: shapes with positions in abstract units, and rows of characters for a terminal.

A game's `scene.py` returns a `Scene`; `svg`, `raster` and `ansi` draw it. Nothing here knows a game or a file format.
x grows to the right and y downwards, from (0, 0) in the upper left corner; a colour is `#rrggbb`. Later shapes lie on
earlier ones. The units are the game's own: a picture is scaled as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from tabletop_envs.errors import GameDefinitionError

Point: TypeAlias = tuple[float, float]

ANCHORS: Final = ("start", "middle", "end")
COLUMNS: Final = 80  # what a terminal shows in one line

_COLOUR: Final = re.compile(r"#[0-9a-f]{6}")


def _check_colours(*colours: str | None) -> None:
    for colour in colours:
        if colour is not None and not _COLOUR.fullmatch(colour):
            raise GameDefinitionError(f"{colour!r} is no colour of a scene: write '#rrggbb' in small letters, or None")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What all shapes have.

    fill, stroke: colours, None for no surface or no outline; width: of the outline, in units, half of it on either
    side of the edge; opacity: 0 (not seen) to 1; title: what the shape is, in words (a tooltip in a browser).
    """

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    opacity: float = 1.0
    title: str = ""

    def __post_init__(self) -> None:
        _check_colours(self.fill, self.stroke)


@dataclass(frozen=True)
class Rect(Shape):
    """A rectangle from its upper left corner; radius: of rounded corners, at most half the shorter side."""

    x: float
    y: float
    w: float
    h: float
    radius: float = 0.0


@dataclass(frozen=True)
class Circle(Shape):
    """A circle around (x, y)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Polygon(Shape):
    """A closed surface with straight edges."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Line(Shape):
    """A line through points, with round ends; it has a stroke and no surface."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Text(Shape):
    """One line of text in Latin letters, `fill` its colour; y is its middle.

    size: the height of the font; anchor: whether x is the text's start, middle or end. How wide a text becomes
    depends on the font at hand: leave room for 0.7 sizes a letter.
    """

    x: float
    y: float
    text: str
    size: float
    anchor: str = "start"
    bold: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anchor not in ANCHORS:
            raise GameDefinitionError(f"{self.anchor!r} is no anchor: write one of {', '.join(ANCHORS)}")


@dataclass(frozen=True)
class Group:
    """Shapes drawn in a place: their origin is moved to (x, y), their sizes are multiplied by scale.

    title: what they are together, in words.
    """

    shapes: tuple[Shape | Group, ...]
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Cell:
    """A piece of a row in a terminal, with its colours. It must be understood without them."""

    text: str
    colour: str | None = None
    background: str | None = None
    bold: bool = False

    def __post_init__(self) -> None:
        _check_colours(self.colour, self.background)


@dataclass(frozen=True)
class Scene:
    """A position as a viewer sees it.

    width, height, background, shapes: the picture. title: what it shows, in one line. grid: rows of cells, the board
    for a terminal, each row at most `COLUMNS` characters. caption: everything else in words, a line or more a fact;
    it is what a terminal prints below the grid and a screen reader reads. Grid and caption say what the picture shows.
    """

    width: float
    height: float
    background: str
    shapes: tuple[Shape | Group, ...]
    title: str
    grid: tuple[tuple[Cell, ...], ...] = ()
    caption: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_colours(self.background)
        if not (self.width > 0 and self.height > 0):
            raise GameDefinitionError(f"a scene of {self.width} x {self.height} units shows nothing: give it a size")


def flat(shapes: Iterable[Shape | Group], x: float = 0.0, y: float = 0.0, scale: float = 1.0) -> Iterator[Shape]:
    """The shapes one by one in the order of drawing, those of groups moved and scaled to where they are drawn.

    x, y, scale: where the shapes' own origin lies, and the length of their unit.
    """
    for shape in shapes:
        if isinstance(shape, Group):
            yield from flat(shape.shapes, x + shape.x * scale, y + shape.y * scale, scale * shape.scale)
        else:
            yield _moved(shape, x, y, scale)


def _moved(shape: Shape, x: float, y: float, scale: float) -> Shape:
    width = shape.width * scale
    if isinstance(shape, Rect):
        left, top, w, h = x + shape.x * scale, y + shape.y * scale, shape.w * scale, shape.h * scale
        return replace(shape, x=left, y=top, w=w, h=h, radius=shape.radius * scale, width=width)
    if isinstance(shape, Circle):
        centre = x + shape.x * scale, y + shape.y * scale
        return replace(shape, x=centre[0], y=centre[1], radius=shape.radius * scale, width=width)
    if isinstance(shape, Text):
        return replace(shape, x=x + shape.x * scale, y=y + shape.y * scale, size=shape.size * scale, width=width)
    if isinstance(shape, (Polygon, Line)):
        points = tuple((x + px * scale, y + py * scale) for px, py in shape.points)
        return replace(shape, points=points, width=width)
    raise GameDefinitionError(f"{type(shape).__name__} is no shape of a scene: use those of tabletop_envs.render.scene")
