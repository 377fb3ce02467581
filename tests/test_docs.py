"""The doc page of every registered game tells its layouts, options and sizes. Nothing here names a game."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

from tabletop_envs import registry
from tabletop_envs.core.game import Game
from tabletop_envs.core.spec import Flag, GameSpec

GAMES = list(registry.games())
SECTIONS = ("Description", "Observation space", "Legal-action mask", "Action space", "Rewards", "Options")
SECTIONS += ("Termination", "Baseline", "Version history")


def page_of(spec: GameSpec) -> str:
    """The doc page: the docstring of the game's folder."""
    return inspect.getdoc(import_module(spec.package)) or ""


def row_of(page: str, name: str) -> str:
    """The row of a table that begins with a name; empty if there is none."""
    return next((line for line in page.splitlines() if line.startswith(f"| {name} |")), "")


def sizes(game: Game, players: int) -> set[int]:
    """The lengths of the observation with any options for so many players."""
    found = {game.observation_size(game.settings(players))}
    for option in game.spec.options:
        if isinstance(option, Flag) and option.fits(players):
            found.add(game.observation_size(game.settings(players, **{option.name: not option.default})))
    return found


@pytest.mark.parametrize("name", GAMES)
def test_tables_are_those_of_the_layouts(name: str) -> None:
    game = registry.load(name)
    page = page_of(game.spec)
    for section, layout in (("Action space", game.actions), ("Observation space", game.observations)):
        text = page.split(f"## {section}\n")[1].split("\n## ")[0]
        assert layout.markdown() in text, f"put into the section {section!r}:\n{layout.markdown()}"


@pytest.mark.parametrize("name", GAMES)
def test_head_names_ids_agents_and_sizes(name: str) -> None:
    game = registry.load(name)
    spec, page = game.spec, page_of(game.spec)
    assert page.startswith(f"{spec.title}: ")
    for creation in (f'tabletop_envs.make("{spec.id}"', f"{spec.name}.env()", f'"{spec.env_id}"'):
        assert creation in row_of(page, "Creation")
    count = str(spec.min_players)
    count += f" to {spec.max_players}" if spec.max_players > spec.min_players else ""
    assert row_of(page, "Number of agents") == f"| Number of agents | {count} |"
    assert all(f"`player_{seat}`" in row_of(page, "Agents") for seat in (0, spec.max_players - 1))
    for actions in game.actions.sizes():
        assert f"`Discrete({actions})`" in row_of(page, "Action values")
    for players in {spec.min_players, spec.max_players}:
        for size in sizes(game, players):
            assert f"`({size},)`" in row_of(page, "Observation shape")
            assert f"`({players * size},)`" in row_of(page, "State shape")


@pytest.mark.parametrize("name", GAMES)
def test_sections_stand_in_their_order(name: str) -> None:
    page = page_of(registry.spec(name))
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == list(SECTIONS)
    assert f"* v{registry.spec(name).version}: " in page.split("## Version history")[1]


def _defaults() -> list[Any]:
    return [(spec.id, option) for spec in registry.games().values() for option in spec.all_options(spec.min_players)]


@pytest.mark.parametrize(("name", "option"), _defaults(), ids=lambda part: getattr(part, "name", part))
def test_options_are_named_with_default_and_meaning(name: str, option: Any) -> None:
    row = row_of(page_of(registry.spec(name)), f"`{option.name}`")
    default = repr(option.default) if isinstance(option.default, str) else str(option.default)
    assert f"| {default} |" in row.replace("`", "")
    assert option.summary in row
    if option in registry.spec(name).options:
        assert f"({option.clause}" in row


@pytest.mark.parametrize("name", GAMES)
def test_the_score_scale_is_told(name: str) -> None:
    spec = registry.spec(name)
    assert f"divided by {spec.score_scale}" in page_of(spec).split("## Rewards")[1].split("\n## ")[0]
