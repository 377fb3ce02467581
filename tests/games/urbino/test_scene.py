"""Urbino's picture against the facts of its positions, read from the SVG and from the text for terminals."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.games.urbino import notation
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.raster import rgb_array
from tabletop_envs.render.scene import Scene
from tabletop_envs.testing.subject import GREEDY, MIXED, RANDOM, walk

NAMESPACE = "{http://www.w3.org/2000/svg}"
NAMES = {"h": "house", "p": "palace", "t": "tower"}
CELL, LEFT, TOP = 60, 34, 34
TASKS = {
    "place_architect": "places architect",
    "choose_first": "says who builds first",
    "relocate": "relocates or stays",
    "build": "builds",
}


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("urbino")


@pytest.fixture(scope="module")
def shown(game: Game) -> list[Position]:
    """Positions of some games, the ends included."""
    found = []
    for seed, style in enumerate((RANDOM, MIXED, GREEDY, GREEDY)):
        for position in walk(game, game.settings(monuments=bool(seed & 1)), seed, style):
            if position.over or position.decisions < 4 or position.decisions % 9 == seed:
                found.append(position.clone())
    return found


def tooltips(position: Position) -> list[str]:
    """What a browser tells of the shapes."""
    return [title.text or "" for title in ElementTree.fromstring(position.svg()).iter(f"{NAMESPACE}title")][1:]


def words(position: Position) -> list[str]:
    """All that is written in the picture."""
    return [text.text or "" for text in ElementTree.fromstring(position.svg()).iter(f"{NAMESPACE}text")]


def test_every_piece_has_its_place_and_tooltip(shown: list[Position]) -> None:
    for position in shown:
        facts = position.to_json()["position"]
        expected = [f"lot {cell}" for cell in facts["lots"] if not position.over]
        for row, letters in enumerate(facts["board"]):
            for col, letter in enumerate(letters):
                if letter.lower() in NAMES:
                    colour = "Brown" if letter.islower() else "White"
                    expected.append(f"{colour} {NAMES[letter.lower()]} {'abcdefghi'[col]}{row + 1}")
        expected += [f"architect {n} {cell}" for n, cell in enumerate(facts["architects"]) if cell]
        told = tooltips(position)
        kinds = ("lot", "architect", *NAMES.values())
        assert sorted(t for t in told if "left" not in t and any(kind in t.split() for kind in kinds)) == sorted(
            expected
        )
        for group in ElementTree.fromstring(position.svg()).iter(f"{NAMESPACE}g"):
            title = group.findtext(f"{NAMESPACE}title") or ""
            if title in expected:
                col, row = "abcdefghi".index(title[-2]), int(title[-1]) - 1
                assert group.get("transform") == f"translate({LEFT + CELL * col} {TOP + CELL * row})"


def test_districts_supplies_and_points_are_told(shown: list[Position]) -> None:
    for position in shown:
        facts = position.to_json()["position"]
        told, text = tooltips(position), ansi(position.scene(), False)
        scored = 0
        for district in facts["districts"]:
            brown, white = district["value"].values()
            where = min(district["cells"], key=lambda cell: (cell[1], cell[0]))
            line = next(line for line in told if line.startswith(f"District {where}: "))
            if brown and white:
                assert line in " ".join(text.split())
                assert re.search(rf"Brown {brown}\b.*White {white}\b", line)
                winner = district["scored_by"]
                value = district["value"].get(winner)
                assert line.endswith(f"{winner.capitalize()} scores {value}" if winner else "nobody scores")
                scored += winner is not None
            else:
                assert line.endswith("alone, scores nothing")
        assert len([line for line in told if line.startswith("District")]) == len(facts["districts"])
        written = words(position)
        for colour, points in facts["points"].items():
            supply = facts["supply"][colour]
            plural = "point" if points == 1 else "points"
            assert f"{colour.capitalize()}: {points} {plural}, {supply['houses']} house" in text
            assert str(points) in written
            for kind, left in supply.items():
                assert f"{colour.capitalize()} has {left} {kind.removesuffix('s') if left == 1 else kind} left" in told
        # points of the two, six supplies, a badge for each scored district, nine rows, two digits of architects
        placed = sum(cell is not None for cell in facts["architects"])
        assert sum(word.isdigit() for word in written) == 2 + 6 + scored + 9 + placed


def test_the_terminal_shows_the_board(shown: list[Position]) -> None:
    for position in shown:
        rows = ansi(position.scene(), False).split("\n")[3:12]
        facts = position.to_json()["position"]
        for row, (line, letters) in enumerate(zip(rows, facts["board"], strict=True)):
            assert line.split()[0] == str(row + 1)
            lots = {cell for cell in facts["lots"] if not position.over}
            drawn = ["+" if f"{'abcdefghi'[col]}{row + 1}" in lots else letter for col, letter in enumerate(letters)]
            assert line.split()[1:] == drawn


def test_the_title_says_what_is_asked(shown: list[Position]) -> None:
    met = set()
    for position in shown:
        scene = position.scene()
        assert f"decision {position.decisions}: " in scene.title
        assert ("monuments" in scene.title) == position.settings.values["monuments"]
        if position.seat is None:
            brown, white = position.points()
            winner = position.places().index(1)
            result = "drawn at" if position.places() == [1, 1] else f"{['Brown', 'White'][winner]} wins "
            assert result + f"{max(brown, white)} to {min(brown, white)}" in scene.title or brown == white
            continue
        assert f"{['Brown', 'White'][position.seat]} {TASKS[position.phase]}" in scene.title
        assert words(position).count("to act") == 1
        met.add(position.phase)
    assert met == set(TASKS)


def test_all_viewers_see_the_same(shown: list[Position]) -> None:
    for position in shown:
        assert position.scene(PUBLIC) == position.scene(ALL) == position.scene(0) == position.scene(1)


# --- special positions ------------------------------------------------------------------------------------------


def read(game: Game, text: str, **options: Any) -> Position:
    states = game.template(game.settings(**options))
    notation.parse_position(text, states[0])
    return Position(game, game.settings(**options), states)


def test_a_capped_game(game: Game) -> None:
    position = Position.new(game, max_decisions=5)
    while not position.over:
        position.apply(int(position.legal_actions()[0]))
    assert position.capped
    assert "stopped at the cap of 5 decisions" in position.scene().caption
    assert "Stopped at the cap of 5 decisions" in words(position)
    assert "drawn at 0 points" in position.scene().title
    assert not any(tip.startswith("lot ") for tip in tooltips(position))


def test_a_skip_is_told_as_long_as_it_counts(game: Game) -> None:
    games = (walk(game, game.settings(), seed, RANDOM) for seed in range(20))
    position = next(
        position.clone() for moves in games for position in moves if position.events() and not position.over
    )
    (skip,) = position.events()
    assert skip in words(position)
    assert skip in position.scene().caption
    position.apply(int(position.legal_actions()[0]))
    assert not position.events()
    assert "skips since the last build: 1" in position.scene().caption


def test_between_two_steps_nobody_is_asked(game: Game) -> None:
    states = Position.new(game).states.copy()
    states["seat"] = -1
    scene: Scene = game.modules["scene"].scene(states[0], ALL)
    assert scene.title.endswith("nobody is asked")


def test_monuments_are_named(game: Game) -> None:
    board = "hhh6/H8/9/9/9/9/9/9/9 e5,g7 15,6,3/17,6,3 white relocate 0 9"
    told = tooltips(read(game, board, monuments=True))
    assert "District a1: Brown 6 with a town wall, White 1, Brown scores 6" in told
    assert "District a1: Brown 3, White 1, Brown scores 3" in tooltips(read(game, board))


def test_a_draw(game: Game) -> None:
    position = read(game, "hH7/9/9/9/9/9/9/9/9 e5,g7 17,6,3/17,6,3 white over 2 9")
    assert "drawn at 0 points" in position.scene().title


@pytest.mark.parametrize("pixels", [600, 1200])
def test_the_picture(game: Game, pixels: int) -> None:
    position = read(game, "hH7/9/9/9/9/9/9/9/T8 e5,g7 17,6,3/17,6,2 white relocate 0 9")
    array = rgb_array(position.scene(), pixels)
    assert array.shape == (pixels, pixels * 3 // 2, 3)
    zoom = pixels / 600

    def at(col: int, row: int) -> np.ndarray:
        """What is drawn in a cell, left below its middle: a wall of a house, a coat of an architect."""
        pixel: np.ndarray = array[int((TOP + CELL * (row + 0.68)) * zoom), int((LEFT + CELL * (col + 0.37)) * zoom)]
        return pixel.astype(int)

    colours = [at(8, 0), at(0, 0), at(1, 0), at(4, 4), at(6, 6)]  # an empty cell, two houses, the architects
    for number, colour in enumerate(colours):
        for other in colours[number + 1 :]:
            assert np.abs(colour - other).max() > 50
