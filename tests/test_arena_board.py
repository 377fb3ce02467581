"""Ratings of seasons and the README of a board, from files of games made up to be clear or by agents that played."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_board import Board
from click.testing import CliRunner, Result

from tabletop_envs import cli
from tabletop_envs.arena import board as boards
from tabletop_envs.arena.board import across_games, latest, read_ratings, season_folders, season_ratings, write_ratings
from tabletop_envs.arena.play import play
from tabletop_envs.arena.rating import rate
from tabletop_envs.arena.readme import readme, write_readme
from tabletop_envs.arena.replay import Replay, read
from tabletop_envs.arena.schedule import Fixture, Schedule, games_file
from tabletop_envs.core.game import Game
from tabletop_envs.core.intervals import interval
from tabletop_envs.errors import CorruptDataError, OptionError

STRENGTHS = {"random": 0.0, "greedy": 1.0, "mcts-10": 1.2, "mcts-1000": 2.0, "ppo": 1.5, "candidate": 1.0}
FEW = 60  # resamples

Change = Callable[[Replay], Replay]


@pytest.fixture
def board(toy: Game, tmp_path: Path) -> Board:
    made = Board(tmp_path / "board", toy)
    for name in ("random", "greedy", "mcts-10", "mcts-1000"):
        made.add(name)
    training = {"decisions": 30_000_000, "hours": 2.0, "device": "cpu", "opponents": ["itself"]}
    made.add("ppo", "last", training=training)
    return made


def made_up(fixture: Fixture, schedule: Schedule, random: np.random.Generator) -> Replay:
    """A game that nobody played: the better an agent, the more points, with ties here and there."""
    points = [round(3 * (STRENGTHS[name] + random.gumbel())) for name in fixture.agents]
    return Replay(
        game=f"tabletop/{schedule.game}",
        num_players=schedule.num_players,
        options=schedule.options,
        seed=fixture.seed,
        agents=fixture.agents,
        opening=0,
        actions=(),
        points=tuple(points),
        places=tuple(1 + sum(other > own for other in points) for own in points),
        end="rules",
        rules=schedule.rules,
        final="0" * 16,
        info=schedule.info(fixture),
    )


def fill(folder: Path, candidate: str | None = None, change: Change = lambda game: game) -> list[Replay]:
    """Write the games of a season, or of a candidate in it; returns them."""
    schedule = Schedule.read(folder / "schedule.json").part(candidate)
    random = np.random.default_rng(len(folder.name))
    games = [change(made_up(fixture, schedule, random)) for fixture in schedule.fixtures()]
    write(games_file(folder, candidate), [game.to_line() for game in games])
    return games


def write(path: Path, lines: Sequence[str]) -> None:
    """A file of games: its header and lines."""
    text = "\n".join(['{"header":1}', *lines]) + "\n"
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def round_robin(*names: str) -> list[list[str]]:
    return [[one, other] for number, one in enumerate(names) for other in names[:number]]


def arena(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.main, ["arena", *map(str, words)], terminal_width=200)


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


# --- the ratings of a season ------------------------------------------------------------------------------------


def test_a_season_is_rated_by_all_its_games(board: Board) -> None:
    names = ("random", "greedy", "mcts-10", "mcts-1000", "ppo")
    folder = board.season(*round_robin(*names), tables=40)
    games = fill(folder)
    content = season_ratings(folder, FEW)
    assert content["game"] == "toy-v0"
    assert (content["num_players"], content["season"], content["reference"]) == (2, "2026-1", "random")
    assert (content["games"], content["tables"], content["deals"], content["caps"]) == (800, 400, 40, 0)
    agents = by_name(content["agents"])
    assert list(agents) == ["mcts-1000", "ppo", "mcts-10", "greedy", "random"]
    assert (agents["random"]["rating"], agents["random"]["low"], agents["random"]["high"]) == (0, 0, 0)
    assert agents["mcts-1000"]["score"] == {"value": 1, "low": 1, "high": 1}
    assert agents["random"]["score"] == {"value": 0, "low": 0, "high": 0}
    # the same numbers from arrays
    order = sorted(names)
    seats = np.array([[order.index(name) for name in game.agents] for game in games])
    places = np.array([game.places for game in games])
    seeds = np.array([game.seed for game in games])
    rating = rate(seats, places, seeds, order, "random", resamples=FEW)
    for name, row in agents.items():
        value, low, high = rating.difference(order.index(name), order.index("random"))
        assert (row["rating"], row["low"], row["high"]) == pytest.approx((value, low, high), abs=0.051)
        own = seats == order.index(name)
        assert row["games"] == 320
        assert row["deals"] == 40
        assert row["mean_place"] == pytest.approx(places[own].mean(), abs=1e-4)
        points = np.array([game.points for game in games])
        assert row["mean_margin"] == pytest.approx((points[own] - points[:, ::-1][own]).mean(), abs=1e-3)
        assert row["failures"] == {"illegal": 0, "crash": 0, "timeout": 0, "budget": 0}
        assert row["voids"] == 0
    for row in content["pairs"]:
        met = [game for game in games if set(game.agents) == {row["agent"], row["opponent"]}]
        shares = [
            {-1: 0, 0: 0.5, 1: 1}[int(np.sign(game.places[1 - seat] - game.places[seat]))]
            for game in met
            for seat in [game.agents.index(row["agent"])]
        ]
        assert (row["games"], row["deals"]) == (80, 40)
        assert row["share"] == pytest.approx(np.mean(shares), abs=1e-4)
        assert (row["low"], row["high"]) == pytest.approx(interval(np.reshape(shares, (40, 2))), abs=1e-4)
    assert len(content["pairs"]) == 20
    assert sum(row["effect"] for row in content["seats"]) == pytest.approx(0, abs=0.11)
    assert list(content["ties"]) == ["2"]
    assert [(row["agent"], row["over"]) for row in content["skill_room"]] == [
        ("mcts-10", "random"),
        ("mcts-1000", "mcts-10"),
    ]
    rungs = sum(row["points"] for row in content["skill_room"])
    assert rungs == pytest.approx(agents["mcts-1000"]["rating"], abs=0.2)


def test_divisions_rank_their_own(board: Board) -> None:
    folder = board.season(*round_robin("random", "greedy", "mcts-10", "mcts-1000", "ppo"), tables=40)
    fill(folder)
    shutil.rmtree(board.root / "agents" / "greedy")
    divisions = season_ratings(folder, FEW)["divisions"]
    members = {name: [row["name"] for row in rows] for name, rows in divisions.items()}
    assert members == {
        "open": ["mcts-1000", "ppo", "mcts-10", "greedy", "random"],
        "instant": ["ppo", "random"],
        "search-100": ["ppo", "mcts-10", "random"],
        "search-1000": ["mcts-1000", "ppo", "mcts-10", "random"],
        "trained-1e7": ["mcts-1000", "mcts-10", "random"],
        "trained-1e8": ["mcts-1000", "ppo", "mcts-10", "random"],
    }
    first = by_name(divisions["instant"])["ppo"]
    assert first == {"name": "ppo", "rank": 1, "rank_low": 1, "rank_high": 1, "first": 1.0}
    assert by_name(divisions["open"])["ppo"]["first"] < 0.5


def test_several_players_and_a_candidate(board: Board) -> None:
    names = ("random", "greedy", "mcts-1000")
    line_ups = [[one, other, other, other] for one in names for other in names if one != other]
    gauntlet = [["candidate", name, name, name] for name in names]
    folder = board.season(*line_ups, *gauntlet, tables=25, players=4)
    fill(folder)
    assert by_name(season_ratings(folder, FEW)["agents"]).keys() == set(names)
    STRENGTHS["newcomer"] = STRENGTHS["candidate"]
    fill(folder, "newcomer")
    content = season_ratings(folder, FEW)
    assert (content["games"], content["tables"], content["deals"]) == (900, 225, 25)
    newcomer = by_name(content["agents"])["newcomer"]
    assert newcomer["games"] == 300
    greedy = by_name(content["agents"])["greedy"]
    assert abs(newcomer["rating"] - greedy["rating"]) < 60
    assert newcomer["low"] < newcomer["rating"] < newcomer["high"]
    # no folder of its own: in the open division alone
    assert [name for name, rows in content["divisions"].items() if "newcomer" in by_name(rows)] == ["open"]


def test_forfeits_count_and_are_counted(board: Board) -> None:
    folder = board.season(["greedy", "random"], tables=20)

    def failing(game: Replay) -> Replay:
        if game.info["table"] < 6 and game.agents[0] == "greedy":
            end = ("illegal", "crash", "timeout", "budget", "illegal", "crash")[game.info["table"]] + ":0"
            return replace(game, end=end, places=(2, 1))
        return replace(game, end="cap") if game.info["table"] == 9 else game

    games = fill(folder, change=failing)
    content = season_ratings(folder, FEW)
    assert content["caps"] == 2
    assert by_name(content["agents"])["greedy"]["failures"] == {"illegal": 2, "crash": 2, "timeout": 1, "budget": 1}
    assert not any(by_name(content["agents"])["random"]["failures"].values())
    wins = [1 / game.places.count(1) for game in games if game.places[game.agents.index("greedy")] == 1]
    assert by_name(content["agents"])["greedy"]["win_share"]["value"] == pytest.approx(sum(wins) / 40)
    assert "2 illegal, 2 crash, 1 timeout, 1 budget" in readme_of(board, folder)


def test_an_agent_with_too_many_void_games_has_no_rank(board: Board) -> None:
    folder = board.season(["greedy", "random"], ["mcts-1000", "random"], tables=20)

    def voided(many: int) -> Change:
        def change(game: Replay) -> Replay:
            void = "greedy" in game.agents and game.info["table"] < many and game.info["rotation"] == 0
            return replace(game, info={**game.info, "voids": ["crash:0"]}) if void else game

        return change

    fill(folder, change=voided(2))
    content = season_ratings(folder, FEW)
    assert by_name(content["agents"])["greedy"]["voids"] == 2
    assert by_name(content["agents"])["greedy"]["rank"] is not None
    fill(folder, change=voided(3))
    content = season_ratings(folder, FEW)
    greedy = by_name(content["agents"])["greedy"]
    assert greedy["voids"] == 3
    assert [greedy[name] for name in ("rank", "rank_low", "rank_high", "first")] == [None] * 4
    assert all("greedy" not in by_name(rows) for rows in content["divisions"].values())
    assert re.search(r"\| - \| \[greedy\]\(agents/greedy\) \|.*\| 3 void \|", readme_of(board, folder))


def test_the_same_games_give_the_same_bytes(board: Board) -> None:
    folder = board.season(["greedy", "random"], ["candidate", "random"], tables=10)
    STRENGTHS["newcomer"] = 1.0
    fill(folder)
    fill(folder, "newcomer")
    first = write_ratings(folder).read_bytes()
    assert write_ratings(folder).read_bytes() == first
    # whatever stands beside the games, and however they are spread over files and lines
    lines = [game.to_line() for path in boards.games_files(folder) for game in read(path)]
    for path in boards.games_files(folder):
        path.unlink()
    write(folder / "games-one.jsonl.gz", lines[::-2])
    write(folder / "games-two.jsonl.gz", lines[-2::-2])
    (folder / "games-three.part").write_text("{")
    again = json.loads(write_ratings(folder).read_bytes())
    assert {**again, "tables": 0} == {**json.loads(first), "tables": 0}
    assert json.dumps(read_ratings(folder), sort_keys=True, indent=1) + "\n" == write_ratings(folder).read_text()


def test_without_a_scale_there_is_no_score(board: Board) -> None:
    folder = board.season(["greedy", "random"], tables=10)
    fill(folder)
    assert [agent["score"] for agent in season_ratings(folder, FEW)["agents"]] == [None, None]
    folder = board.season(["mcts-1000", "random"], tables=10)
    fill(folder, change=lambda game: replace(game, places=game.places[::-1]))
    assert [agent["score"] for agent in season_ratings(folder, FEW)["agents"]] == [None, None]


# --- what cannot be rated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "tabletop/chess-v0"}, "game is 'chess-v0', but the season's is 'toy-v0': remove the game"),
        ({"options": {"memory": True}}, "options is {'memory': True}"),
        ({"rules": "f" * 16}, "rules is 'ffffffffffffffff', but"),
        ({"info": {"season": "2025-1", "lineup": "a", "table": 0}}, "season is '2025-1', but"),
        ({"info": {"season": "2026-1", "lineup": ["a"], "table": 0}}, "info does not tell line-up, table"),
        ({"info": {"season": "2026-1", "lineup": "a"}}, "info does not tell line-up, table"),
        ({"info": {"season": "2026-1", "lineup": "a", "table": 0, "voids": "crash:0"}}, "and void games"),
        ({"info": {"season": "2026-1", "lineup": "a", "table": 0, "voids": ["crash:2"]}}, "and void games"),
        ({"info": {"season": "2026-1", "lineup": "a", "table": 0, "voids": [1]}}, "and void games"),
    ],
)
def test_games_of_something_else_are_named(board: Board, change: dict[str, Any], message: str) -> None:
    folder = board.season(["greedy", "random"])
    games = fill(folder)
    games[2] = replace(games[2], **change)
    write(games_file(folder), [game.to_line() for game in games])
    with pytest.raises(CorruptDataError, match=f"{re.escape(str(games_file(folder)))}:4: .*{re.escape(message)}"):
        season_ratings(folder, FEW)


def test_a_damaged_line_is_named(board: Board) -> None:
    folder = board.season(["greedy", "random"])
    lines = [game.to_line() for game in fill(folder)]
    for damage, message in (("{", ":3 cannot be read as JSON"), ("[]", ":3 holds no JSON object")):
        write(games_file(folder), [lines[0], damage, *lines[2:]])
        with pytest.raises(CorruptDataError, match=message):
            season_ratings(folder, FEW)


def test_seasons_that_cannot_be_rated(board: Board) -> None:
    folder = board.season(["greedy", "random"])
    with pytest.raises(OptionError, match=r"has no games: play them with `arena play "):
        season_ratings(folder, FEW)
    fill(folder, change=lambda game: replace(game, agents=tuple(n.replace("random", "ppo") for n in game.agents)))
    with pytest.raises(OptionError, match=f"{folder}: the reference 'random' is not among the agents"):
        season_ratings(folder, FEW)
    folder = board.season(["greedy", "ppo"], ["random", "mcts-10"])
    fill(folder)
    with pytest.raises(OptionError, match="greedy, ppo and random have met neither each other nor a common opponent"):
        season_ratings(folder, FEW)


def test_a_budget_that_cannot_be_read_is_named(board: Board) -> None:
    folder = board.season(["greedy", "random"])
    fill(folder)
    for training in ([], {}, {"decisions": "many"}, {"decisions": -1}):
        board.add("greedy", training=training)
        with pytest.raises(CorruptDataError, match=r"agents/greedy/agent\.json: training is .*: mend it"):
            season_ratings(folder, FEW)


def test_ratings_of_another_program_are_named(board: Board) -> None:
    folder = board.season(["greedy", "random"])
    fill(folder)
    content = json.loads(write_ratings(folder, FEW).read_text())
    for change, message in (({"schema": 2}, "is of schema 2, not 1"), ({"pairs": None}, "has no 'pairs'")):
        changed = {name: value for name, value in {**content, **change}.items() if value is not None}
        (folder / "ratings.json").write_text(json.dumps(changed))
        with pytest.raises(CorruptDataError, match=f"{message}: make it anew with `arena rate {folder}`"):
            read_ratings(folder)


# --- boards -----------------------------------------------------------------------------------------------------


def season(game: str, players: int, name: str = "2026-1", **scores: float | None) -> dict[str, Any]:
    """What `across_games` reads of ratings."""
    rows = [
        {"name": agent, "score": None if score is None else {"value": score, "low": score - 0.3, "high": score + 0.4}}
        for agent, score in scores.items()
    ]
    return {"game": game, "num_players": players, "season": name, "agents": rows}


def test_scores_across_games_by_hand() -> None:
    found = across_games(
        [
            season("one-v0", 2, a=1.0, b=2.0, c=3.0),
            season("two-v0", 2, a=0.5, b=0.1),
            season("two-v0", 4, a=0.7, b=0.1, c=4.0),
            season("two-v0", 4, "2025-9", a=9.0, b=9.0),
            season("three-v0", 2, a=None, b=None),
        ]
    )
    assert [row.agent for row in found] == ["b", "a"]
    assert found[1].score == pytest.approx((1.0 + (0.5 + 0.7) / 2) / 2)
    spread = np.sqrt(0.5**2 + 0.25**2 + 0.25**2)
    assert (found[1].low, found[1].high) == pytest.approx((0.8 - 0.3 * spread, 0.8 + 0.4 * spread))
    assert found[1].scores == {("one-v0", 2): 1.0, ("two-v0", 2): 0.5, ("two-v0", 4): 0.7}
    assert across_games([]) == []
    assert across_games([season("one-v0", 2, a=None)]) == []


def test_the_latest_season_counts() -> None:
    seasons = [season("a-v0", 2, name) for name in ("2026-9", "2026-10", "2025-11")] + [season("a-v0", 3, "2024-1")]
    assert [(row["num_players"], row["season"]) for row in latest(seasons)] == [(2, "2026-10"), (3, "2024-1")]


def readme_of(board: Board, folder: Path) -> str:
    write_ratings(folder, FEW)
    return readme(board.root)


def test_the_readme_shows_every_table(board: Board) -> None:
    assert "No season has been rated yet" in readme(board.root)
    names = ("random", "greedy", "mcts-10", "mcts-1000", "ppo")
    two = board.season(*round_robin(*names), tables=20)
    three = board.season(*([one, *[other] * 2] for one, other in round_robin(*names)), players=3, tables=20)
    for folder in (two, three):
        fill(folder)
        write_ratings(folder, FEW)
    text = readme(board.root)
    assert write_readme(board.root).read_text() == text
    assert season_folders(board.root) == [two, three]
    for title in ("# Leaderboard", "## All games", "## Toy, 2 players", "## Toy, 3 players"):
        assert f"{title}\n" in text
    assert "`toy-v0`, season 2026-1, rules " in text
    assert "400 games, on 20 deals" in text
    content = read_ratings(two)
    for agent in content["agents"]:
        line = f"| {agent['rank']} | [{agent['name']}](agents/{agent['name']}) | {agent['rating']:.0f} ["
        assert line in text
    assert "**Instant: no search**" in text
    assert "**At most 1,000 simulations a decision**: all of them." in text
    assert "**Trained on at most 10^7 decisions**\n\n| rank | agent |" in text
    assert text.count("| random |") >= 4
    for row in text.splitlines():
        assert len(re.findall(r"(?<!\\)\|", row)) != 1
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    for table in tables:
        assert len({line.count("|") for line in table}) == 1, table
        assert set(table[1]) <= set("|- ")
    assert len(tables) == 1 + 2 * (1 + 3 + 1)


def test_the_readme_marks_who_cannot_be_asked_again(board: Board) -> None:
    folder = board.season(["greedy", "random"], ["ppo", "random"])
    fill(folder)
    board.add("greedy", deterministic=False)
    board.add("ppo", "last", kind="llm")
    text = readme_of(board, folder)
    assert "| [greedy](agents/greedy) (not asked again) |" in text
    assert "| [ppo](agents/ppo) (not asked again) |" in text
    assert "| [random](agents/random) |" in text


def test_a_season_of_a_game_that_is_not_installed_is_shown(board: Board) -> None:
    folder = board.season(["greedy", "random"])
    fill(folder)
    content = json.loads(write_ratings(folder, FEW).read_text())
    (folder / "ratings.json").write_text(json.dumps({**content, "game": "gone-v3", "options": {"memory": True}}))
    text = readme(board.root)
    assert "## gone-v3, 2 players" in text
    assert "`gone-v3`, memory=True, season 2026-1" in text


# --- the command ------------------------------------------------------------------------------------------------


def test_games_are_played_and_rated(board: Board) -> None:
    folder = board.season(["greedy", "random"], ["mcts-10", "random"], ["greedy", "mcts-10"], tables=4)
    assert play(folder, processes=1).finished
    result = arena("rate", folder)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(folder / "ratings.json")
    assert not (board.root / "README.md").exists()
    before = (folder / "ratings.json").read_bytes()
    unplayed = board.season(["greedy", "random", "random"], players=3)
    result = arena("rate", board.root)
    assert result.exit_code == 0, result.output
    assert result.output.split() == [str(folder / "ratings.json"), str(board.root / "README.md")]
    assert (folder / "ratings.json").read_bytes() == before
    assert not (unplayed / "ratings.json").exists()
    assert "## Toy, 2 players" in (board.root / "README.md").read_text()


def test_what_the_command_cannot_rate_it_names(board: Board, tmp_path: Path) -> None:
    folder = board.season(["greedy", "random"])
    for place, message in (
        (folder, f"Error: {folder} has no games: play them with `arena play {folder}`"),
        (tmp_path, f"Error: {tmp_path} is no season, and no board with games"),
        (board.root, f"Error: {board.root} is no season, and no board with games"),
    ):
        result = arena("rate", place)
        assert result.exit_code == 1
        assert message in result.output
        assert len(result.output.splitlines()) == 1
