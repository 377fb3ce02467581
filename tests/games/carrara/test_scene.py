"""The picture of The Palaces of Carrara and its words: what is drawn is what stands, for each viewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.games.carrara.tables import COLOUR_NAMES, OBJECT_NAMES
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.raster import rgb_array
from tabletop_envs.render.scene import Group, Scene, Shape, Text, flat
from tabletop_envs.testing.subject import MIXED, walk

FULL = dict.fromkeys(("no_turn", "cards", "monuments", "colour_scoring"), True)
TASKS = {
    "main": "buys, builds or scores",
    "segment": "chooses a segment",
    "take": "takes bricks from",
    "site": "chooses where to build",
    "pay": "pays for",
    "improve": "takes an improvement",
    "object": "may buy an object",
    "announce": "may announce the end",
}


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("carrara")


@pytest.fixture(scope="module")
def shown(game: Game) -> list[Position]:
    """Some positions of games of 2 to 4 seats, without and with all modules, and the ends."""
    kept = []
    for players in (2, 3, 4):
        for options in ({}, FULL):
            met: set[str] = set()
            for number, position in enumerate(walk(game, game.settings(players, **options), players, MIXED)):
                if position.over or position.phase not in met or number % 29 == 0:
                    kept.append(position.clone())
                met.add(position.phase)
    return kept


def words(scene: Scene) -> list[str]:
    return [shape.text for shape in flat(scene.shapes) if isinstance(shape, Text)]


def titles(shapes: tuple[Shape | Group, ...]) -> list[str]:
    """What the groups of a picture are, the inner ones too."""
    found = []
    for shape in shapes:
        if isinstance(shape, Group):
            found += [shape.title, *titles(shape.shapes)]
    return found


def facts_of(position: Position, viewer: int = ALL) -> dict[str, Any]:
    facts: dict[str, Any] = position.to_json(viewer)["position"]
    return facts


def test_every_tile_is_drawn_where_it_is(shown: list[Position]) -> None:
    for position in shown:
        facts = facts_of(position)
        scene = position.scene()
        drawn = titles(scene.shapes)
        for tile in facts["display"] + facts["monuments"]:
            assert drawn.count(tile) == 1
        for tile in facts["pile"] + facts["replaced_tiles"]:
            assert tile not in drawn
        boards = [shape for shape in scene.shapes if isinstance(shape, Group) and shape.shapes[0] and not shape.title]
        for seat, board in enumerate(boards[-position.num_players :]):
            inside = titles(board.shapes)
            assert f"board of seat {seat}" in inside
            for tile in (tile for tiles in facts["seats"][seat]["buildings"].values() for tile in tiles):
                assert inside.count(tile) == 1


def test_holdings_are_drawn_for_those_who_may_see_them(shown: list[Position]) -> None:
    for position in shown:
        for viewer in (PUBLIC, ALL, *range(position.num_players)):
            scene, facts = position.scene(viewer), facts_of(position, viewer)
            hidden = sum(seat["coins"] is None for seat in facts["seats"])
            assert words(scene).count("behind the screen") == hidden
            for seat, known in enumerate(facts["seats"]):
                line = next((line for line in scene.caption if line.startswith(f"seat {seat} holds")), None)
                assert (line is None) == (known["coins"] is None)
                if line is not None:
                    counts = [f"{known['bricks'][name]} {name}" for name in COLOUR_NAMES if name in known["bricks"]]
                    counts += [f"{known['objects'][name]} {name}" for name in OBJECT_NAMES if name in known["objects"]]
                    assert all(count in line for count in counts)
                    assert f"{known['coins']} coin" in line
            assert any("in the bag" in line for line in scene.caption) == (viewer == ALL)


def test_bricks_on_the_wheel(shown: list[Position]) -> None:
    for position in shown:
        facts = facts_of(position, PUBLIC)
        drawn = titles(position.scene(PUBLIC).shapes)
        for colour in COLOUR_NAMES:
            for number in range(1, 8):
                there = sum(segment.get(colour) == number for segment in facts["wheel"].values())
                held = sum((seat["bricks"] or {}).get(colour) == number for seat in facts["seats"])
                assert drawn.count(f"{number} {colour}") == there + held
        for row, segment in zip(position.scene().grid[1:], facts["wheel"].values(), strict=True):
            letters = [cell.text.strip() for cell in row[1:]]
            assert [letter.split()[0] for letter in letters] == [str(segment.get(c, ".")) for c in COLOUR_NAMES]


def test_the_title_says_what_is_asked(shown: list[Position]) -> None:
    met = set()
    for position in shown:
        scene = position.scene(PUBLIC)
        if position.seat is None:
            winner = position.places().index(1)
            assert f"{max(position.points())} points" in scene.title
            assert position.places().count(1) > 1 or f"seat {winner} wins" in scene.title
            for seat, points in enumerate(position.points()):
                assert f"{points} points, place {position.places()[seat]}" in words(scene)
            continue
        assert f"seat {position.seat} {TASKS[position.phase]}" in scene.title
        assert words(scene).count("to act") == 1
        assert ("monuments" in scene.title) == position.settings.values["monuments"]
        met.add(position.phase)
    assert met >= set(TASKS) - {"announce"}


def test_scores_and_markers_are_told(shown: list[Position]) -> None:
    for position in shown:
        facts = facts_of(position, PUBLIC)
        text = ansi(position.scene(PUBLIC), False).replace("\n ", "")
        for seat, known in enumerate(facts["seats"]):
            assert f"seat {seat}: {known['vp']} VP, {known['markers']} marker" in text
        for city, seat in facts["city_scored"].items():
            assert f"{city.capitalize()} by seat {seat}" in text
        for card in facts["cards"]:
            assert f"card {card}: " in text
        if facts["paid"]:
            assert any(word.startswith("last paid: ") for word in words(position.scene(PUBLIC)))


def test_special_ends(game: Game) -> None:
    position = Position.new(game, max_rounds=2)
    while not position.over:
        position.apply(int(position.legal_actions()[0]))
    assert "stopped at the cap after 2 rounds" in position.scene().caption
    position = Position.new(game, max_decisions=3)
    while not position.over:
        position.apply(int(position.legal_actions()[0]))
    assert "stopped at the cap after 3 decisions" in position.scene().caption
    states = Position.new(game).states.copy()
    states["seat"], states["phase"] = -1, 1
    scene: Scene = game.modules["scene"].scene(states[0], ALL)
    assert scene.title.endswith("seat 0's turn goes on")
    states["announcer"], states["triggered"] = 1, 1
    assert "seat 1 has announced the end" in game.modules["scene"].scene(states[0], PUBLIC).caption


def test_a_shared_win(game: Game) -> None:
    states = Position.new(game).states.copy()
    states["over"], states["phase"], states["seat"] = 1, 8, -1
    assert "seats 0 and 1 share the win with 4 points" in game.modules["scene"].scene(states[0], PUBLIC).title


@pytest.mark.parametrize(("players", "options"), [(2, {}), (4, FULL)], ids=str)
def test_the_picture(game: Game, players: int, options: dict[str, Any]) -> None:
    position = Position.new(game, players, **options)
    scene = position.scene(0)
    array = rgb_array(scene, 700)
    assert min(array.shape[:2]) == 700
    ground = np.array([int(scene.background[i : i + 2], 16) for i in (1, 3, 5)])
    assert (np.abs(array.astype(int) - ground).max(axis=2) > 8).mean() > 0.5  # much is drawn
    assert len(np.unique(array.reshape(-1, 3)[::7], axis=0)) > 100
