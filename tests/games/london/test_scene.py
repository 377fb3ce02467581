"""London's picture against the facts of its positions, read from the SVG and from the text for terminals."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.games.london.scene import _PROMPTS
from tabletop_envs.games.london.state import Phase
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.svg import svg
from tabletop_envs.testing.subject import GREEDY, MIXED, RANDOM, walk

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def game() -> Game:
    return registry.load("london")


@pytest.fixture(scope="module")
def shown(game: Game) -> list[Position]:
    """Positions of some games, the ends and the first of each node included."""
    found = []
    for seed, style in enumerate((RANDOM, MIXED, GREEDY)):
        met: set[str] = set()
        for position in walk(game, game.settings(2 + seed), seed, style):
            if position.over or position.phase not in met or position.decisions % 90 == seed:
                met.add(position.phase)
                found.append(position.clone())
    return found


def tooltips(position: Position, viewer: int) -> list[str]:
    root = ElementTree.fromstring(svg(position.scene(viewer)))
    return [title.text or "" for title in root.iter(f"{NAMESPACE}title")][1:]


def words(position: Position, viewer: int) -> str:
    root = ElementTree.fromstring(svg(position.scene(viewer)))
    return " ".join(text.text or "" for text in root.iter(f"{NAMESPACE}text"))


def terminal(position: Position, viewer: int) -> str:
    return " ".join(ansi(position.scene(viewer), colour=False).split())


def test_boroughs_stacks_and_display_are_there(shown: list[Position]) -> None:
    for position in shown:
        facts = position.to_json(PUBLIC)["position"]
        told = tooltips(position, PUBLIC)
        for seat, facts_of_seat in enumerate(facts["seats"]):
            for name in facts_of_seat["boroughs"]:
                tube = ", Underground" if name in facts["underground"] else ""
                assert f"{name}, of seat {seat}{tube}" in told
        for stack in facts["stacks"]:
            state = "face up" if stack["face_up"] else "face down"
            assert any(line.startswith(f"{stack['cards'][-1]}, {state}") for line in told)
        for row, cards in enumerate(facts["display"]):
            for column, name in enumerate(cards):
                expected = ", empty" if name is None else f": {name}"
                assert f"space {row + 1},{column + 1}{expected}" in told


def test_figures_of_the_players(shown: list[Position]) -> None:
    for position in shown:
        seen, text = words(position, PUBLIC), terminal(position, PUBLIC)
        for seat, points in enumerate(position.points()):
            assert f"seat {seat}" in seen
            assert f"{points} VP" in seen
            assert f"{points} VP if the game ended now" in text


def test_hands_are_shown_to_their_owners_alone(shown: list[Position]) -> None:
    for position in shown:
        facts = position.to_json(ALL)["position"]
        for seat, told in enumerate(facts["seats"]):
            own = [line for line in tooltips(position, seat) if line.startswith("in hand: ")]
            assert sorted(own) == sorted(f"in hand: {name}" for name in told["hand"])
        assert not any(line.startswith("in hand: ") for line in tooltips(position, PUBLIC))


def test_seen_cards_are_shown_to_the_reader_alone(game: Game) -> None:
    """R6.5, R17.2."""
    met = 0
    for seed in range(6):
        for position in walk(game, game.settings(3), seed, MIXED):
            facts = position.to_json(ALL)["position"]
            if facts["reader"] is None or position.decisions % 7:
                continue
            met += 1
            line = f"has seen the top {len(facts['seen'])} card"
            for viewer in (PUBLIC, *range(3)):
                text = terminal(position, viewer)
                assert line in text
                names = ", ".join(facts["seen"])
                assert (f"of the deck: {names}" in text) == (viewer == facts["reader"])
    assert met


def test_every_node_says_what_it_waits_for(shown: list[Position]) -> None:
    """R15."""
    met = set()
    for position in shown:
        if position.over:
            assert "first with" in words(position, PUBLIC)
            continue
        phase = Phase[position.phase.upper()]
        met.add(phase)
        assert f"seat {position.seat} {_PROMPTS[phase]}" in words(position, PUBLIC)
    assert set(_PROMPTS) == set(Phase) - {Phase.OVER}
    assert len(met) > 12
