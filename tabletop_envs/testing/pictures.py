"""Checks of pictures: every position is drawn in every form, and no viewer is shown what it may not know."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import unicodedata
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL, PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.modes import EVERYONE, NOTHING_HIDDEN, RENDER_MODES
from tabletop_envs.render.raster import rgb_array
from tabletop_envs.render.scene import COLUMNS, Circle, Line, Polygon, Rect, Scene, Shape, Text, flat
from tabletop_envs.render.svg import svg
from tabletop_envs.testing.knowledge import disturb
from tabletop_envs.testing.subject import RANDOM, Subject, fail, pick, shortened

_PIXELS: Final = 64  # of a picture whose look does not matter
_LOOKS: Final = (0, 1, 4, 16, 64, 256)  # decisions after which any game is drawn
_PLAYED: Final = 24  # decisions of a game that environments draw one by one
_SALT: Final = 1
_SLACK: Final = 1e-6  # of a border, in units
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]*m")
_SVG: Final = "{http://www.w3.org/2000/svg}"
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def pictures(subject: Subject) -> str:
    """Scenes are sound in every phase, tell no secret, are drawn in every form, and environments show them."""
    seen = changed = 0
    phases: set[str] = set()
    for position, is_new in _shown(subject):
        before = position.to_bytes()
        for viewer in (PUBLIC, ALL, *range(position.num_players)):
            scene = position.scene(viewer)
            _sound(position, scene)
            if position.scene(viewer) != scene:
                fail(position, f"two scenes for viewer {viewer} differ")
            seen += 1
        if is_new:
            _drawn(position, position.scene(ALL))
        changed += _keeps_secrets(subject, position)
        if position.to_bytes() != before:
            fail(position, "scene changes the record")
        phases.add(position.phase)
    for number, settings in enumerate(subject.grid):
        _environments(subject, shortened(settings, _PLAYED), number)
    return f"{seen} scenes in {len(phases)} phases, {changed} changes of secrets, {len(RENDER_MODES)} render modes"


def _shown(subject: Subject) -> Iterator[tuple[Position, bool]]:
    """With each number of players the first position of each phase, with each settings an end, which are new; and some
    between, ever further from each other."""
    met: set[tuple[object, str]] = set()
    for game in subject.walks():
        for position in game:
            kind = (position.settings if position.over else position.num_players), position.phase
            is_new, number = kind not in met, position.decisions
            if is_new or position.over or number & (number - 1) == 0:
                yield position, is_new
            met.add(kind)


# --- what a scene is --------------------------------------------------------------------------------------------


def _sound(position: Position, scene: Scene) -> None:
    if not isinstance(scene, Scene):
        fail(position, f"scene returns {type(scene).__name__}: return a tabletop_envs.render.scene.Scene")
    if not scene.title.strip() or not (scene.grid or scene.caption):
        fail(position, "a scene needs a title, and a grid or a caption for terminals")
    for shape in flat(scene.shapes):
        left, top, right, bottom = _extent(shape)
        inside = -_SLACK <= left <= right <= scene.width + _SLACK and -_SLACK <= top <= bottom <= scene.height + _SLACK
        if not inside or not 0 <= shape.opacity <= 1:
            fail(position, f"{shape} is not inside {scene.width:g} x {scene.height:g}, or its opacity outside 0 to 1")
    words = " ".join(scene.caption)
    for event in position.events():
        if event not in words:
            fail(position, f"the event {event!r} is not in the caption")
    plain = ansi(scene, colour=False)
    if any(unicodedata.category(letter) == "Cc" and letter != "\n" for letter in plain):
        fail(position, "there are control characters in the text for terminals")
    widest = max(map(_columns, plain.split("\n")))
    if widest > COLUMNS:
        fail(position, f"a line for terminals is {widest} characters wide: use at most {COLUMNS}")
    if _ESCAPE.sub("", ansi(scene, colour=True)) != plain:
        fail(position, "the text for terminals says something else without colours")


def _columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def _extent(shape: Shape) -> tuple[float, float, float, float]:
    """Left, top, right, bottom; of a text its place alone, as its width depends on the font."""
    if isinstance(shape, Rect):
        return shape.x, shape.y, shape.x + shape.w, shape.y + shape.h
    if isinstance(shape, Circle):
        return shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius
    if isinstance(shape, (Polygon, Line)):
        xs, ys = zip(*shape.points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)
    if isinstance(shape, Text) and shape.size > 0:
        return shape.x, shape.y, shape.x, shape.y
    return math.nan, math.nan, math.nan, math.nan


# --- what is drawn of it ----------------------------------------------------------------------------------------


def _drawn(position: Position, scene: Scene) -> None:
    try:
        root = ElementTree.fromstring(svg(scene))
    except ElementTree.ParseError as error:
        fail(position, f"the SVG is no XML: {error}")
    if root.tag != f"{_SVG}svg" or root.findtext(f"{_SVG}title") != scene.title:
        fail(position, "the SVG has no title of its own")
    if position._repr_svg_() != svg(scene):
        fail(position, "a notebook shows another picture")
    picture = rgb_array(scene, _PIXELS)
    _is_picture(position, picture)
    if not np.array_equal(picture, rgb_array(scene, _PIXELS)):
        fail(position, "two pictures of one scene differ")


def _is_picture(place: Position | Settings, picture: object) -> None:
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
        fail(place, f"rgb_array gives {type(picture).__name__}, not an array of uint8 of shape (height, width, 3)")
    if (picture == picture[0, 0]).all():
        fail(place, "rgb_array shows nothing but one colour")


def _keeps_secrets(subject: Subject, position: Position) -> int:
    """Neither a new deal nor a changed entry that a viewer may not know moves its scene, nor a new deal what an
    environment prints for it."""
    if not subject.secrets:
        return 0
    changed = 0
    public = position.scene(PUBLIC)
    for seat in range(position.num_players):
        own, dealt = position.scene(seat), position.determinize(seat, _SALT)
        if dealt.scene(seat) != own or dealt.scene(PUBLIC) != public:
            fail(position, f"determinize of seat {seat} changes the scene of that seat or of the public")
        for viewer in () if position.over else (seat, EVERYONE):
            if _printed(position, viewer) != _printed(dealt, viewer):
                fail(position, f"determinize of seat {seat} changes what an environment prints for viewer {viewer!r}")
        for field in subject.secrets_in(position):
            copy = position.clone()
            index = disturb(copy, field, seat, 0)
            if index is None:
                continue
            changed += 1
            for viewer, shown in ((seat, own), (PUBLIC, public)):
                if copy.scene(viewer) != shown:
                    who = "the public" if viewer == PUBLIC else f"seat {seat}"
                    fail(position, f"the scene of {who} changes with {field.name}{list(index)}, which is secret")
    return changed


def _printed(position: Position, viewer: int | str) -> str:
    """What an environment prints for a viewer of a position in play."""
    arguments: dict[str, Any] = {"render_mode": "ansi", "render_viewer": viewer, **position.settings.values}
    env = TabletopAEC(position.game, position.num_players, **arguments)
    env.reset(options={"key": 0})
    state = env.get_state()
    episode = {**state["episode"], "agent_selection": env.possible_agents[position.seat or 0]}
    env.set_state({**state, "record": position.to_bytes(), "episode": episode})
    return str(env.render())


# --- environments -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _headless() -> Iterator[io.StringIO]:
    """Without a display, every warning an error, and what is printed caught."""
    kept = {name: os.environ.pop(name) for name in _DISPLAYS if name in os.environ}
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
            warnings.simplefilter("error")
            yield printed
    finally:
        os.environ.update(kept)


def _environments(subject: Subject, settings: Settings, number: int) -> None:
    """Every render mode shows the deal, a position in play and the end; the kinds of viewer take turns."""
    from pettingzoo.test import render_test

    def make(render_mode: str, render_viewer: str | int = EVERYONE) -> TabletopAEC:
        arguments: dict[str, Any] = {"render_mode": render_mode, "render_viewer": render_viewer, **settings.values}
        return TabletopAEC(subject.game, settings.num_players, **arguments)

    viewers = (EVERYONE, NOTHING_HIDDEN, settings.num_players - 1)
    for turn, mode in enumerate(RENDER_MODES, number):
        with _headless() as printed:
            for result in _renderings(make(mode, viewers[turn % len(viewers)])):
                _shows(settings, mode, result)
        if (mode == "human") != bool(printed.getvalue()):
            fail(settings, f"render mode {mode!r} prints {printed.getvalue()[:40]!r}")
    try:
        with _headless():
            render_test(make, custom_tests={"svg": lambda result: result.startswith("<svg ")})
    except (AssertionError, Warning) as error:
        fail(settings, f"{type(error).__name__} from PettingZoo's render_test: {error}")


def _renderings(env: TabletopAEC) -> Iterator[object]:
    env.reset(options={"key": 0})
    yield env.render()
    while not any(env.terminations.values()):
        env.step(pick(env.position, 0, RANDOM))
        if env.position.decisions == 1:
            yield env.render()
    yield env.render()


def _shows(settings: Settings, mode: str, result: object) -> None:
    if mode == "rgb_array":
        _is_picture(settings, result)
    elif mode == "human":
        if result is not None:
            fail(settings, "render mode 'human' returns something")
    elif not isinstance(result, str) or not result.strip():
        fail(settings, f"render mode {mode!r} returns {result!r}")
