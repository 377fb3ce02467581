"""Scenes and what draws them: shapes, SVG, pixels, terminals, render modes, and the check of pictures."""

from __future__ import annotations

import dataclasses
import io
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.errors import GameDefinitionError, OptionError
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.modes import check_viewer
from tabletop_envs.render.raster import rgb_array
from tabletop_envs.render.scene import COLUMNS, Cell, Circle, Group, Line, Polygon, Rect, Scene, Shape, Text, flat
from tabletop_envs.render.svg import svg
from tabletop_envs.testing.suite import Report, run_check, subject_of

WHITE, BLACK, RED = "#ffffff", "#000000", "#ff0000"
NAMESPACE = "{http://www.w3.org/2000/svg}"

EVERY_SHAPE: tuple[Shape, ...] = (
    Rect(10, 10, 20, 10, fill=RED),
    Rect(40, 10, 20, 10, 4, fill=RED, stroke=BLACK, width=2),
    Circle(80, 20, 8, fill=RED, stroke=BLACK, width=2),
    Polygon(((10, 40), (30, 40), (20, 60)), fill=RED, stroke=BLACK, width=2),
    Line(((40, 40), (60, 40), (60, 60)), stroke=BLACK, width=4),
    Text(80, 50, "Ab", 20, "middle", True, fill=BLACK),
)


def picture(*shapes: Shape | Group, width: float = 100, height: float = 100, **facts: Any) -> Scene:
    return Scene(width, height, WHITE, shapes, "a picture", **facts)


def changed(scene: Scene, pixels: int = 100) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of the pixels that are not white, the last two exclusive."""
    rows, cols = np.nonzero((rgb_array(scene, pixels) < 128).any(axis=2))
    return int(cols.min()), int(rows.min()), int(cols.max()) + 1, int(rows.max()) + 1


def parsed(scene: Scene) -> ElementTree.Element:
    return ElementTree.fromstring(svg(scene))


# --- scenes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("colour", ["red", "#fff", "#FF0000", "#ff00000", ""])
def test_colours_are_six_digits(colour: str) -> None:
    for make in (
        lambda: Rect(0, 0, 1, 1, fill=colour),
        lambda: Text(0, 0, "a", 10, stroke=colour),
        lambda: Cell("a", background=colour),
        lambda: Scene(1, 1, colour, (), "a"),
    ):
        with pytest.raises(GameDefinitionError, match="write '#rrggbb'"):
            make()


def test_scenes_without_size_and_unknown_anchors() -> None:
    with pytest.raises(GameDefinitionError, match="give it a size"):
        picture(width=0)
    with pytest.raises(GameDefinitionError, match="start, middle, end"):
        Text(0, 0, "a", 10, "left")


def test_groups_move_and_scale_what_is_in_them() -> None:
    inner = Group(EVERY_SHAPE, 1, 2, 2)
    shapes = list(flat([Group((inner,), 10, 20, 3)]))
    assert shapes[0] == Rect(10 + 3 * (1 + 20), 20 + 3 * (2 + 20), 120, 60, fill=RED, width=6)
    assert shapes[1] == Rect(253, 86, 120, 60, 24, fill=RED, stroke=BLACK, width=12)
    assert shapes[2] == Circle(493, 146, 48, fill=RED, stroke=BLACK, width=12)
    assert shapes[3] == Polygon(((73, 266), (193, 266), (133, 386)), fill=RED, stroke=BLACK, width=12)
    assert shapes[4] == Line(((253, 266), (373, 266), (373, 386)), stroke=BLACK, width=24)
    assert shapes[5] == Text(493, 326, "Ab", 120, "middle", True, fill=BLACK, width=6)


class Star(Shape):
    """A shape that no renderer knows."""


@pytest.mark.parametrize("draw", [svg, rgb_array])
def test_unknown_shapes_are_refused(draw: Callable[[Scene], Any]) -> None:
    with pytest.raises(GameDefinitionError, match="Star is no shape of a scene"):
        draw(picture(Star()))


# --- SVG --------------------------------------------------------------------------------------------------------


def test_svg_elements() -> None:
    root = parsed(picture(*EVERY_SHAPE, caption=("one", "two")))
    assert [child.tag.removeprefix(NAMESPACE) for child in root] == [
        *("title", "desc", "rect", "rect", "rect", "circle", "polygon", "polyline", "text")
    ]
    assert root.get("viewBox") == "0 0 100 100"
    assert root.get("role") == "img"
    assert root.findtext(f"{NAMESPACE}desc") == "one. two"
    rounded, circle, text = root[4], root[5], root[8]
    assert (rounded.get("rx"), rounded.get("stroke"), rounded.get("stroke-width")) == ("4", BLACK, "2")
    assert (circle.get("cx"), circle.get("r"), circle.get("fill")) == ("80", "8", RED)
    assert (text.text, text.get("text-anchor"), text.get("font-weight")) == ("Ab", "middle", "bold")
    assert root[7].get("fill") == "none"


def test_svg_escapes_every_text() -> None:
    nasty = "<script>alert('a & \"b\"')</script>\x00\x1b\ufffe"
    shapes = Text(1, 1, nasty, 5, fill=BLACK, title=nasty), Group((Circle(1, 1, 1, title=nasty),), title=nasty)
    scene = Scene(10, 10, WHITE, shapes, nasty, caption=(nasty,))
    root = parsed(scene)
    clean = nasty[: nasty.index("\x00")] + "\N{REPLACEMENT CHARACTER}" * 3
    assert [title.text for title in root.iter(f"{NAMESPACE}title")] == [clean] * 4
    assert root.findtext(f"{NAMESPACE}desc") == clean
    assert not list(root.iter("script"))
    assert "<script" not in svg(scene)


def test_svg_opacity_and_groups() -> None:
    root = parsed(picture(Group((Circle(1, 2, 3, fill=RED, opacity=0.25),), 10, 20.5, 0.5, "a thing")))
    group = root[-1]
    assert group.get("transform") == "translate(10 20.5) scale(0.5)"
    assert group[0].text == "a thing"
    assert group[1].get("opacity") == "0.25"


# --- pixels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "pixels", "shape"),
    [((100, 100), 600, (600, 600, 3)), ((150, 100), 600, (600, 900, 3)), ((100, 201), 102, (206, 102, 3))],
)
def test_the_shorter_side_is_given(size: tuple[int, int], pixels: int, shape: tuple[int, ...]) -> None:
    array = rgb_array(picture(width=size[0], height=size[1]), pixels)
    assert array.dtype == np.uint8
    assert (array == 255).all()
    assert array.shape == shape


@pytest.mark.parametrize("pixels", [15, 4097, 0, -1, 99.5, True, "600", None])
def test_impossible_sizes(pixels: Any) -> None:
    with pytest.raises(OptionError, match="give a whole number from 16 to 4096"):
        rgb_array(picture(), pixels)


def test_arrays_are_the_callers_own() -> None:
    scene = picture(*EVERY_SHAPE)
    array = rgb_array(scene)
    kept = array.copy()
    array[:] = 0
    assert (rgb_array(scene) == kept).all()


@pytest.mark.parametrize(
    ("shape", "box"),
    [
        (Rect(10, 20, 30, 40, fill=BLACK), (10, 20, 40, 60)),
        (Rect(10, 20, 30, 40, stroke=BLACK, width=4), (8, 18, 42, 62)),
        (Rect(10, 20, 30, 40, 8, fill=BLACK), (10, 20, 40, 60)),
        (Circle(50, 50, 20, fill=BLACK), (30, 30, 70, 70)),
        (Circle(50, 50, 20, stroke=BLACK, width=4), (28, 28, 72, 72)),
        (Polygon(((20, 20), (60, 20), (60, 60), (20, 60)), fill=BLACK), (20, 20, 60, 60)),
        (Polygon(((20, 20), (60, 20), (60, 60), (20, 60)), stroke=BLACK, width=4), (18, 18, 62, 62)),
        (Line(((20, 50), (80, 50)), stroke=BLACK, width=10), (15, 45, 85, 55)),
        (Group((Rect(0, 0, 10, 10, fill=BLACK),), 20, 30, 2), (20, 30, 40, 50)),
    ],
)
def test_where_pixels_are(shape: Shape | Group, box: tuple[int, int, int, int]) -> None:
    assert np.abs(np.subtract(changed(picture(shape)), box)).max() <= 1
    assert np.abs(np.subtract(changed(picture(shape), 400), np.multiply(box, 4))).max() <= 1


def test_small_rectangles_with_round_corners() -> None:
    """Of any size and place, as thumbnails have them."""
    sizes = np.random.default_rng(1).uniform(0.1, 8, (4000, 5)).tolist()
    shapes = tuple(
        Rect(x, y, w, h, min(w, h) / 2, fill="#ff0000", stroke="#000000", width=o) for x, y, w, h, o in sizes
    )
    assert rgb_array(Scene(20, 20, "#ffffff", shapes, "small", caption=("small",)), 20).any()


def test_texts_stand_where_their_anchors_say() -> None:
    def box(anchor: str, **facts: Any) -> tuple[int, int, int, int]:
        return changed(picture(Text(50, 50, "HHHH", 20, anchor, fill=BLACK, **facts)), 400)

    start, middle, end = box("start"), box("middle"), box("end")
    assert abs(start[0] - 200) < 10
    assert abs((middle[0] + middle[2]) / 2 - 200) < 4
    assert abs(end[2] - 200) < 10
    assert start[2] - start[0] == pytest.approx(end[2] - end[0], abs=2)
    assert abs((start[1] + start[3]) / 2 - 200) < 8  # y is the middle
    bold = box("middle", bold=True)
    assert bold[2] - bold[0] > middle[2] - middle[0]


def test_edges_are_smooth_and_opacity_mixes() -> None:
    array = rgb_array(picture(Circle(50, 50, 30, fill=BLACK)), 100)
    assert len(np.unique(array)) > 5
    half = rgb_array(picture(Rect(0, 0, 100, 100, fill=BLACK, opacity=0.5)), 100)
    assert abs(int(half[50, 50, 0]) - 128) <= 1


def test_svg_and_pixels_agree_on_every_shape() -> None:
    """The same shape is changed in both drawings when it is changed in the scene."""
    plain, array = svg(picture(*EVERY_SHAPE)), rgb_array(picture(*EVERY_SHAPE), 200)
    for number, shape in enumerate(EVERY_SHAPE):
        part = "stroke" if isinstance(shape, Line) else "fill"
        other = dataclasses.replace(shape, **{part: "#00aa00"})
        scene = picture(*EVERY_SHAPE[:number], other, *EVERY_SHAPE[number + 1 :])
        assert svg(scene) != plain
        assert (rgb_array(scene, 200) != array).any()


def test_no_display_is_needed(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = "\n".join(
        [
            "import os, sys",
            "os.environ.pop('DISPLAY', None)",
            "from tabletop_envs.core.position import Position",
            "assert 'PIL' not in sys.modules",
            "from tabletop_envs.render.raster import rgb_array",
            "from tabletop_envs.render.scene import *",
            "rgb_array(Scene(1, 1, '#ffffff', (), 'x'))",
            "assert 'pygame' not in sys.modules and 'matplotlib' not in sys.modules",
        ]
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


# --- terminals --------------------------------------------------------------------------------------------------

GRID = ((Cell("a", RED, BLACK, True), Cell(" b ")), (Cell("c", bold=True),))


def test_a_terminal_shows_title_grid_and_caption() -> None:
    scene = picture(grid=GRID, caption=("one", "two " * 50))
    text = ansi(scene, colour=False)
    assert text.startswith("a picture\n\na b \nc\n\none\ntwo two")
    assert max(map(len, text.split("\n"))) <= COLUMNS
    assert text.split("\n")[-1].startswith("  two")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    scene = picture(grid=GRID)
    text = ansi(scene)
    assert "\x1b[1;38;2;255;0;0;48;2;0;0;0ma\x1b[0m" in text
    assert ansi(scene, colour=False).count("\x1b") == 0
    monkeypatch.setenv("COLORTERM", "")
    assert "38;5;" in ansi(scene)
    monkeypatch.setenv("NO_COLOR", "1")
    assert ansi(scene) == ansi(scene, colour=False)
    assert "\x1b[" in ansi(scene, colour=True)


def test_no_colours_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert ansi(picture(grid=GRID)) == ansi(picture(grid=GRID), colour=False)
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" in ansi(picture(grid=GRID), colour=True)


# --- positions and environments ---------------------------------------------------------------------------------


def test_a_notebook_shows_a_position(toy: Game) -> None:
    position = Position.new(toy, 3, seed=1)
    assert position._repr_svg_() == position.svg() == svg(position.scene(ALL))
    assert position.svg(0) != position.svg(1) != position.svg(PUBLIC)
    for viewer in (3, -3):
        with pytest.raises(OptionError, match="seats are 0 to 2"):
            position.scene(viewer)


def test_viewers() -> None:
    assert check_viewer("public", 2) == PUBLIC
    assert check_viewer("all", 2) == ALL
    assert check_viewer(np.int64(1), 2) == 1
    for viewer in ("everyone", 2, -1, -2, True, None, 0.5):
        with pytest.raises(OptionError, match="'public', 'all' or a seat, 0 to 1"):
            check_viewer(viewer, 2)


def test_an_environment_shows_what_its_viewer_may_see(toy: Game) -> None:
    def shown(**arguments: Any) -> Any:
        env = TabletopAEC(toy, 3, render_mode="svg", **arguments)
        env.reset(seed=4)
        position = env.position
        assert env.render() == svg(position.scene(env.render_viewer))
        return env.render()

    assert shown() == shown(render_viewer="public") != shown(render_viewer="all")
    assert len({shown(render_viewer=viewer) for viewer in (0, 1, 2, "all", "public")}) == 5
    with pytest.raises(OptionError, match="render_viewer=3 is not possible"):
        shown(render_viewer=3)


def test_render_modes_are_told(two_moves: Game) -> None:
    env = TabletopAEC(two_moves)
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array", "svg"]
    assert env.metadata["render_fps"] > 0


# --- the check of pictures --------------------------------------------------------------------------------------


def report_with(game: Game, scene: Callable[[Any, int], Any]) -> Report:
    """What the check says when the game draws otherwise."""
    twin = Game(game.spec)  # not a copy: that is the game itself
    module = ModuleType("scene")
    module.scene = scene  # type: ignore[attr-defined]
    twin.modules = {**game.modules, "scene": module}
    return run_check("pictures", subject_of(twin, quick=True, games=1))


def test_faulty_pictures_are_found(toy: Game) -> None:
    right = toy.modules["scene"].scene

    def faulty(**facts: Any) -> Callable[[Any, int], Scene]:
        return lambda s, viewer: dataclasses.replace(right(s, viewer), **facts)

    def told(scene: Callable[[Any, int], Any]) -> str:
        report = report_with(toy, scene)
        assert not report.ok
        return report.detail

    assert "return a tabletop_envs.render.scene.Scene" in told(lambda s, viewer: "a board")
    assert "needs a title" in told(faulty(title=" "))
    assert "is not inside" in told(faulty(shapes=(Circle(0, 0, 1),)))
    assert "is not inside" in told(faulty(shapes=(Rect(0, 0, 1, 1, opacity=2),)))
    assert "nothing but one colour" in told(faulty(shapes=()))
    assert "a line for terminals is 81 characters wide" in told(faulty(grid=((Cell("x" * 81),),)))
    assert "control characters" in told(faulty(title="\x1b[2J a title"))
    assert "is not in the caption" in told(faulty(caption=("nothing",)))
    assert "determinize of seat" in told(lambda s, viewer: right(s, ALL))
    assert "determinize of seat" in told(lambda s, viewer: right(s, 0 if viewer == PUBLIC else viewer))
    cards_of_deck = lambda s: f"deck of {s.deck.sum()}"  # noqa: E731  # a fact that no new deal changes
    assert "changes with deck" in told(lambda s, v: dataclasses.replace(right(s, v), title=cards_of_deck(s)))

    def meddling(s: Any, viewer: int) -> Scene:
        s.stones += 1
        return right(s, viewer)  # type: ignore[no-any-return]

    assert "differ" in told(meddling)


def test_faulty_environments_are_found(two_moves: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TabletopAEC, "render", lambda env: np.zeros((4, 4)))
    report = run_check("pictures", subject_of(two_moves, quick=True, games=1))
    assert "render mode" in report.detail or "rgb_array gives" in report.detail


def test_rounded_corners_of_any_size() -> None:
    rects = [
        Rect(3 * column, 3 * row, 0.2 + 0.13 * column, 0.2 + 0.11 * row, radius, fill=RED, stroke=BLACK, width=width)
        for column in range(20)
        for row in range(20)
        for radius, width in ((0.1, 0.2), (2.0, 0.5), (0.4, 2.0))
    ]
    for pixels in (16, 40, 64, 200):
        assert (rgb_array(picture(*rects), pixels) < 255).any()
