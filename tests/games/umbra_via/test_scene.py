"""Umbra Via's picture against the facts of its positions, read from the SVG and from the text for terminals."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.games.umbra_via import scene as drawing
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.raster import rgb_array
from tabletop_envs.testing.subject import GREEDY, MIXED, RANDOM, walk

NAMESPACE = "{http://www.w3.org/2000/svg}"
SPECIAL = ("four_point", "void", "block")
CELLS = [f"{col}{row}" for row in "1234" for col in "abcd"]
SLOTS = ("I", "II", "III", "IV")


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("umbra_via")


@pytest.fixture(scope="module")
def shown(game: Game) -> list[Position]:
    """Positions of some games: all phases, the ends included."""
    found = []
    for seed, style in enumerate((RANDOM, MIXED, GREEDY, RANDOM, MIXED, RANDOM)):
        settings = game.settings(2 + seed % 3, special_tiles=SPECIAL if seed % 2 else ())
        for position in walk(game, settings, seed, style):
            if position.over or position.decisions % 13 == seed or position.phase.endswith("target"):
                found.append(position.clone())
    assert {position.phase for position in found} == {
        "bid1",
        "bid2",
        "place",
        "four_point_target",
        "void_target",
        "over",
    }
    return found


def tooltips(position: Position, viewer: int = ALL) -> list[str]:
    """What a browser tells of the shapes."""
    return [title.text or "" for title in ElementTree.fromstring(position.svg(viewer)).iter(f"{NAMESPACE}title")][1:]


def words(position: Position, viewer: int = ALL) -> list[str]:
    """All that is written in the picture."""
    return [text.text or "" for text in ElementTree.fromstring(position.svg(viewer)).iter(f"{NAMESPACE}text")]


def facts_of(position: Position, viewer: int = ALL) -> dict[str, Any]:
    facts: dict[str, Any] = position.to_json(viewer)["position"]
    return facts


def test_tiles_and_energy_lie_where_they_are(shown: list[Position]) -> None:
    for position in shown:
        facts, told = facts_of(position), Counter(tooltips(position))
        expected = Counter(f"{tile} on {cell}" for cell, tile in facts["tiles"].items())
        expected.update(
            f"{lying['tile']} on {slot}" for slot, lying in zip(SLOTS, facts["altar"], strict=True) if lying
        )
        expected.update(f"flowers wait on {cell}" for cell in facts["waiting"])
        piles = [*facts["energy"].values(), *facts["waiting"].values()]
        expected.update(f"energy of seat {seat}: {count}" for pile in piles for seat, count in enumerate(pile) if count)
        found = Counter(
            {tip: count for tip, count in told.items() if re.match(r"\w+ on (\w\d|I|V)|flowers|energy", tip)}
        )
        assert found == expected


def test_tiles_have_their_places(game: Game) -> None:
    position = next(p for p in walk(game, game.settings(), 3, RANDOM) if len(facts_of(p)["tiles"]) > 5)
    places = {}
    for group in ElementTree.fromstring(position.svg()).iter(f"{NAMESPACE}g"):
        title = group.findtext(f"{NAMESPACE}title") or ""
        if re.fullmatch(r"[NESW]+ on [a-d][1-4]", title):
            places[title[-2:]] = re.findall(r"[\d.]+", group.get("transform") or "")
    left, top, size = 44, 46, 126
    for cell, place in places.items():
        number = CELLS.index(cell)
        assert [float(x) for x in place] == [left + size * (number % 4) + 4, top + size * (number // 4) + 4]
    assert len(places) > 5


def test_bids_order_and_track(shown: list[Position]) -> None:
    for position in shown:
        facts, told = facts_of(position), tooltips(position)
        for slot, lying in zip(SLOTS, facts["altar"], strict=True):
            for seat in range(position.num_players if lying else 0):
                down = facts["pending"][seat].get(slot, {"souls": 0, "energy": 0})
                for kind in ("souls", "energy"):
                    count, hidden = lying[kind][seat], down[kind]
                    line = f"seat {seat} on {slot}: {kind} {count}" + (f", {hidden} face down" if hidden else "")
                    assert (line in told) == bool(count or hidden)
            if lying and lying["order"]:
                assert f"order counter of {slot}: {lying['order']}" in told
        for place, seat in enumerate(facts["track"], 1):
            assert f"track place {place}: seat {seat}" in told


def test_seats_and_piles_are_told(shown: list[Position]) -> None:
    for position in shown:
        facts, written = facts_of(position), words(position)
        text = " ".join(ansi(position.scene(), False).split())
        for seat in range(position.num_players):
            assert f"{facts['claims'][seat]} of 13 claims" in written
            left, gone = facts["soul_tile"][seat], facts["removed"][seat]
            energy, souls = facts["pool"]["energy"][seat], facts["pool"]["souls"][seat]
            line = f"seat {seat}: {facts['claims'][seat]} of 13 claims; {left} on the soul tile; unseen {energy} energy"
            assert line in text
            assert f"{souls} soul" in text
            assert f"{gone} soul{'' if gone == 1 else 's'} gone" in written
        for pile in ("stack", "discard"):
            assert f"{pile} {sum(facts[pile].values())}" in written
            for kind, count in facts[pile].items():
                assert not count or f"{count} {kind}" in text


def test_the_terminal_shows_board_and_altar(shown: list[Position]) -> None:
    for position in shown:
        facts, lines = facts_of(position), ansi(position.scene(), False).split("\n")
        start = next(number for number, line in enumerate(lines) if line.split() == list("abcd"))
        for row in range(4):
            upper, lower = lines[start + 1 + 2 * row], lines[start + 2 + 2 * row]
            for col in range(4):
                cell = CELLS[4 * row + col]
                first = 3 + 16 * col
                drawn, below = upper[first : first + 15].split(), lower[first : first + 15].strip()
                assert drawn[-1] == facts["tiles"].get(cell, ".")
                pile, waiting = facts["energy"].get(cell), facts["waiting"].get(cell)
                expected = " ".join(map(str, pile)) if pile else ""
                assert below == (f"({' '.join(map(str, waiting))})" if waiting else expected)
        text = " ".join(" ".join(lines).split())
        for slot, lying in zip(SLOTS, facts["altar"], strict=True):
            line = f"altar {slot}: empty"
            if lying:
                energy, souls = (" ".join(map(str, lying[kind])) for kind in ("energy", "souls"))
                line = f"altar {slot}: {lying['tile']}, energy {energy}, souls {souls}"
            assert line in text


def test_what_is_asked(shown: list[Position]) -> None:
    for position in shown:
        title, legal = position.scene().title, position.legal_actions()
        cells = {CELLS[action - 4] for action in legal if 4 <= action < 20}
        assert {tip.split()[0] for tip in tooltips(position) if tip.endswith("may be chosen")} == cells
        if position.over:
            assert f"seat {position.places().index(1)} wins with" in title
            continue
        assert f"seat {position.seat} " in title
        assert words(position).count("to act") == 1
        if position.phase.startswith("bid"):
            souls = facts_of(position)["hands"][position.seat]["souls"]
            assert title.endswith("a soul" if souls else "an energy")
            assert not position.scene(PUBLIC).title.endswith(("soul", "energy"))
        elif position.phase == "place":
            assert title.endswith(f"places the tile on {facts_of(position)['resolving']}")


def test_closed_hands_stay_closed(shown: list[Position]) -> None:
    """R11.2: the others see how many flowers are still to be bid, and not which."""
    seen = 0
    for position in shown:
        for viewer in (PUBLIC, *range(position.num_players)):
            told = tooltips(position, viewer)
            for seat in range(position.num_players):
                if seat == viewer:
                    continue
                assert not any(re.match(rf"seat {seat} on .*face down", tip) for tip in told)
                count = facts_of(position)["to_bid"][seat]
                if count:
                    assert f"{count} drawn flowers still to bid" in told
                    seen += 1
    assert seen > 20


def test_an_end_at_the_cap_and_many_events(game: Game) -> None:
    *_, end = walk(game, game.settings(2, max_decisions=9), 1, RANDOM)
    assert "Stopped at the cap of 9 decisions" in words(end)
    *_, end = walk(game, game.settings(2, max_rounds=1), 1, RANDOM)
    assert "1 rounds are over: the game ends" in end.scene().caption
    assert not any("cap" in line for line in end.scene().caption)
    *_, end = walk(game, game.settings(4), 2, RANDOM)
    states = end.states.copy()
    states["events"][0, :8], states["num_events"] = (4, 1, 2), 8
    picture = drawing.scene(states[0], ALL)
    assert picture.caption.count("seat 1 earns 2 souls") == 8
    assert "And 4 more" in [getattr(shape, "text", "") for shape in picture.shapes]


@pytest.mark.parametrize("pixels", [500, 1000])
def test_the_picture(game: Game, pixels: int) -> None:
    """An empty cell, the stone of a tile and its path look different; so do the flowers of the seats."""
    tiles: dict[str, str] = {}
    for position in walk(game, game.settings(4), 3, RANDOM):
        tiles = facts_of(position)["tiles"]
        if len(tiles) > 6 and any("S" in tile for tile in tiles.values()):
            break
    array, zoom = rgb_array(position.scene(), pixels).astype(int), pixels / 760

    def at(cell: str, x: float, y: float) -> np.ndarray:
        col, row = "abcd".index(cell[0]), int(cell[1]) - 1
        pixel: np.ndarray = array[int((46 + 126 * (row + y)) * zoom), int((44 + 126 * (col + x)) * zoom)]
        return pixel

    paved = next(cell for cell, tile in tiles.items() if "S" in tile)
    empty = next(cell for cell in CELLS if cell not in tiles)
    colours = [at(paved, 0.58, 0.9), at(paved, 0.68, 0.68), at(empty, 0.5, 0.5)]
    colours += [np.array([int(code[k : k + 2], 16) for k in (1, 3, 5)]) for code in drawing._SEATS]
    for number, colour in enumerate(colours):
        assert all(np.abs(colour - other).max() > 30 for other in colours[number + 1 :])
        assert (np.abs(array - colour).max(axis=2) < 8).sum() > 50 * zoom
