"""The board that is handed over: its tables are those of its games, and its agents still play them as recorded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs.arena import roster
from tabletop_envs.arena import schedule as schedules
from tabletop_envs.arena.board import RATINGS, games_files, read_ratings, season_folders, season_ratings
from tabletop_envs.arena.readme import README, readme
from tabletop_envs.arena.referee import Referee
from tabletop_envs.arena.replay import Replay, read, verify
from tabletop_envs.arena.schedule import FILE, Schedule, season_lineups

BOARD = Path(__file__).parents[1] / "benchmarks" / "leaderboard"
SEASONS = season_folders(BOARD)
PLAYED = [folder for folder in SEASONS if games_files(folder)]
VERIFIED = 100  # games of a season, about


def named(folder: Path) -> str:
    return "-".join(folder.parts[-3:])


@cache
def games_of(folder: Path) -> list[Replay]:
    return [replay for path in games_files(folder) for replay in read(path)]


def test_schedules_stand_in_their_places_and_name_anchors() -> None:
    anchors = schedules.read_anchors(BOARD)
    assert SEASONS
    for folder in SEASONS:
        path = folder / FILE
        schedule = Schedule.read(path)
        assert schedule.text() == path.read_text(encoding="utf-8")
        assert schedules.season_folder(BOARD, schedule) == folder
        assert schedules.board_of(folder) == BOARD
        names = schedule.part().agents()
        assert set(names) <= set(anchors)
        for name in names:
            entrant = roster.read(BOARD / "agents" / name)
            assert (schedule.game, schedule.num_players) in entrant.games
        in_order = [name for name in anchors if name in names]
        lineups = {entry.name for entry in season_lineups(in_order, schedule.num_players, 1)}
        assert {entry.name for entry in schedule.lineups} >= lineups  # one that was extended holds others too


def test_the_readme_is_that_of_the_ratings() -> None:
    assert [folder for folder in SEASONS if (folder / RATINGS).is_file()] == PLAYED
    assert readme(BOARD) == (BOARD / README).read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", PLAYED, ids=named)
def test_ratings_are_those_of_the_games(folder: Path) -> None:
    stored, made = read_ratings(folder), season_ratings(folder, resamples=2)
    for name in ("game", "num_players", "season", "options", "rules", "games", "tables", "deals", "caps", "reference"):
        assert made[name] == stored[name], name
    for name in ("name", "mean_place", "mean_margin", "games", "deals", "failures", "voids"):
        assert [agent[name] for agent in made["agents"]] == [agent[name] for agent in stored["agents"]], name
    rated = [agent["rating"] for agent in stored["agents"]]
    assert [agent["rating"] for agent in made["agents"]] == pytest.approx(rated, abs=0.2)


@pytest.mark.parametrize("folder", PLAYED, ids=named)
def test_recorded_games_hold(folder: Path) -> None:
    games = games_of(folder)
    for replay in games[:: max(1, len(games) // VERIFIED)]:
        assert verify(replay) == []


@pytest.mark.parametrize("folder", PLAYED, ids=named)
def test_agents_without_search_still_play_the_first_deal_so(folder: Path) -> None:
    """A policy or baseline that changes has to come with another version, and its games with it."""
    schedule = Schedule.read(folder / FILE)
    entrants = {name: roster.read(BOARD / "agents" / name) for name in schedule.part().agents()}
    fixtures = [
        fixture
        for fixture in schedule.part(tables=1).fixtures()
        if all(entrants[name].quick for name in fixture.agents)
    ]
    wanted: dict[Any, Replay] = {}
    for replay in games_of(folder):
        wanted[tuple(replay.info[name] for name in ("lineup", "table", "rotation"))] = replay
    assert fixtures
    for result in Referee(schedule, entrants, *schedule.load_game()).play(fixtures):
        assert result.replay == wanted[result.fixture.place]
