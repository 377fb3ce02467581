"""Hansa Teutonica's picture and terminal text say what the record holds."""

from __future__ import annotations

from typing import Any

import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.games.hansa_teutonica import cases, tables
from tabletop_envs.games.hansa_teutonica.state import recount
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.scene import Circle, Group, Rect, Scene, Shape, Text, flat


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("hansa_teutonica")


def arranged(game: Game, setup: dict[str, Any], **options: Any) -> Position:
    case = {"setup": {"num_players": 4, **setup}, "options": options}
    players, values = cases.settings(case)
    states = game.template(game.settings(players, **values))
    cases.arrange(case, states[0])
    return Position(game, game.settings(players, **values), states)


def titles(scene: Scene) -> list[str]:
    """What the shapes and groups of shapes are, in words."""
    found: list[str] = []

    def collect(shapes: tuple[Shape | Group, ...]) -> None:
        for shape in shapes:
            found.extend([shape.title] if shape.title else [])
            if isinstance(shape, Group):
                collect(shape.shapes)

    collect(scene.shapes)
    return found


def texts(scene: Scene) -> list[str]:
    return [shape.text for shape in flat(scene.shapes) if isinstance(shape, Text)]


BOARD = {
    "players": [
        {"supply": [3, 1], "stock": [2, 0], "levels": {"actions": 2, "privilege": 1}, "markers": {"plus4_actions": 1}}
    ],
    "routes": {"Hamburg-Lubeck": ["0T", "1M", "-"]},
    "cities": {"Minden": {"offices": ["2T", "3T"], "extras": ["2M"]}},
    "coellen": {"8": 3},
    "east_west": [2],
    "route_markers": {"Goslar-Magdeburg": "upgrade_ability"},
}


@pytest.mark.parametrize(
    "title",
    [
        "Hamburg-Lubeck 1: trader of Red",
        "Hamburg-Lubeck 2: merchant of Blue",
        "Hamburg-Lubeck 3: free",
        "Minden: trader of Green, trader of Yellow, extra merchant of Green, controlled by Green",
        "Coellen 8: Yellow",
        "Goslar-Magdeburg: marker upgrade ability",
    ],
)
def test_the_board_is_drawn(game: Game, title: str) -> None:
    """R1.1, R9.2, R10.3, R8.7."""
    assert title in titles(arranged(game, BOARD).scene())


@pytest.mark.parametrize(("players", "spaces"), [(2, 101), (4, 107)])
def test_the_side_in_use_is_drawn(players: int, spaces: int) -> None:
    """R2.1: every space and office of it, nothing of the other."""
    scene = Position.new("hansa_teutonica", players).scene()
    assert sum(title.endswith(": free") for title in titles(scene)) == spaces
    assert ("Emden-Stade 1: free" in titles(scene)) == (players == 4)
    assert {f"{city}: no office" for city in tables.CITY_KEYS} <= set(titles(scene))


def test_desks_are_drawn(game: Game) -> None:
    """R1.3: as many resources on closed spaces as the desk has; numbers of supply and stock."""
    scene = arranged(game, {"num_players": 2, "players": [{}, {"supply": [12, 3], "stock": [0, 0]}]}).scene()
    small = [shape for shape in flat(scene.shapes) if isinstance(shape, (Rect, Circle)) and shape.fill == "#2f64ad"]
    assert len([shape for shape in small if isinstance(shape, Rect) and shape.w == 10]) == 15
    assert {"12", "3"} <= set(texts(scene))


def test_the_terminal_says_the_same(game: Game) -> None:
    text = ansi(arranged(game, BOARD).scene(), False)
    for words in (
        "Hamburg-Lubeck        0T 1M --",
        "Goslar-Magdeburg      -- -- *u",
        "Minden     =2+2M 2T 3T sP sB",
        "Red (0): 0 prestige",
        "supply 3T 1M, stock 2T 0M; keys 1, actions 3, privilege O, book 2, money 3",
        "markers: plus 4 actions",
        "east-west link for 7",
        "8 Yellow",
        "Red's turn, 3 actions left",
    ):
        assert " ".join(words.split()) in " ".join(text.split()), words


def test_what_is_under_way_is_told(game: Game) -> None:
    """R6: whom the game waits for, and the resource that lies on no space."""
    setup = {"players": [{"supply": [2, 0]}, {"stock": [3, 0]}], "routes": {"Stade-Hamburg": ["1T", "-", "-"]}}
    position = arranged(game, setup)
    for action in ("space Stade-Hamburg 1", "put trader, pay with 0 merchants"):
        position.apply(action)
    scene = position.scene()
    assert "Blue puts the displaced resource (on Stade-Hamburg, trader of Blue, 1 extra left)" in scene.title
    assert "the displaced resource" in titles(scene)


def test_the_pawn_is_drawn() -> None:
    """R16.6."""
    position = Position.new("hansa_teutonica", 2, two_player_pawn=True)
    position.apply("pawn Heath")
    assert "pawn in Heath" in titles(position.scene())
    assert "Pawn in Heath" in position.scene().caption


def test_the_end_is_told(game: Game) -> None:
    position = arranged(game, {"num_players": 2, "players": [{"prestige": 3}, {"prestige": 3}]}, max_rounds=1)
    position.apply("done")
    position.apply("done")
    assert "Red and Blue win with 3 points (cap)" in position.scene().title
    short = Position.new("hansa_teutonica", 3, max_decisions=1)
    short.apply(int(short.legal_actions()[0]))
    assert "stopped at the cap of 1 decisions" in short.scene().caption


def test_face_down_markers_are_not_shown(game: Game) -> None:
    """R15.2: a face-down plate is drawn for all viewers alike."""
    pictures = set()
    for marker in ("remove3", "swap_offices"):
        position = arranged(game, {"players": [{"plate": [marker]}]})
        position.states["unseen"] = 0
        recount(position.states[0])
        pictures |= {position.svg(viewer) for viewer in (0, 1, PUBLIC, ALL)}
    assert len(pictures) == 1
    assert "plate: face down" in pictures.pop()
