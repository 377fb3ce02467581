"""Playing seasons: the referee's rulings, identity whatever is played beside, stops and resumption, the watchdog."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_board import Board
from click.testing import CliRunner, Result

from tabletop_envs import cli
from tabletop_envs.agents.base import ask, seat_seed
from tabletop_envs.arena import play as playing
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena import roster
from tabletop_envs.arena import schedule as schedules
from tabletop_envs.arena.play import Progress, play
from tabletop_envs.arena.referee import Played, Referee
from tabletop_envs.arena.replay import Replay, verify
from tabletop_envs.arena.schedule import Fixture, Lineup, Schedule
from tabletop_envs.arena.workers import Job, Pool, Unit
from tabletop_envs.core.game import Game
from tabletop_envs.envs.vector import Batch, draw_opening
from tabletop_envs.errors import CorruptDataError, OptionError, ProcessError, UnknownAgentError

TESTS = Path(__file__).parent
PATIENCE = 120  # seconds for what should take a few


@pytest.fixture
def board(toy: Game, tmp_path: Path) -> Board:
    made = Board(tmp_path / "board", toy)
    for name in ("random", "greedy", "mcts-10"):
        made.add(name)
    for name in ("last", "batch"):
        made.add(name, name)
    made.add("moody", "moody", stateless=False)
    return made


def referee(board: Board, schedule: Schedule, **options: Any) -> Referee:
    entrants = {name: roster.read(board.root / "agents" / name) for name in schedule.agents()}
    return Referee(schedule, entrants, *schedule.load_game(), **options)


def ruled(board: Board, *agents: str, tables: int = 6, **options: Any) -> list[Played]:
    """The games of one line-up, played side by side."""
    schedule = board.schedule(list(agents), tables=tables, players=len(agents))
    return referee(board, schedule, **options).play(list(schedule.fixtures()))


# --- the referee ------------------------------------------------------------------------------------------------

LINEUPS = [
    ["random", "greedy"],
    ["greedy", "last"],
    ["batch", "last", "batch"],
    ["moody", "moody", "greedy"],
    ["mcts-10", "random", "moody"],
    ["batch", "batch", "moody", "random"],
]


@pytest.mark.parametrize("agents", LINEUPS, ids="+".join)
def test_games_come_out_the_same_whatever_is_played_beside_them(board: Board, agents: list[str]) -> None:
    schedule = board.schedule(agents, tables=4, players=len(agents))
    fixtures = list(schedule.fixtures())
    together = referee(board, schedule).play(fixtures)
    assert [result.fixture for result in together] == fixtures
    alone = [referee(board, schedule).play([fixture])[0] for fixture in fixtures]
    # one referee for all, in another order
    again = referee(board, schedule)
    backwards = [result for number in range(len(fixtures), 0, -3) for result in again.play(fixtures[max(0, number - 3) : number])[::-1]]  # fmt: skip  # noqa: E501
    assert together == alone == backwards[::-1]
    for result in together:
        assert result.replay is not None
        assert verify(result.replay) == []
        assert result.replay.agents == result.fixture.agents
        assert result.replay.info == schedule.info(result.fixture)
    assert len({result.replay.to_line() for result in together if result.replay}) == len(fixtures)


def test_whoever_is_asked_again_answers_the_same(board: Board, toy: Game) -> None:
    names = ["random", "greedy", "mcts-10", "batch"]
    for result in ruled(board, *names, tables=2):
        replay, fixture = result.replay, result.fixture
        assert replay is not None
        asked = [
            roster.seated(roster.read(board.root / "agents" / name), toy, seat, seat_seed(fixture.seed, seat))
            for seat, name in enumerate(fixture.agents)
        ]
        for position, action in zip(replay.positions(), replay.actions, strict=False):
            assert position.seat is not None
            assert ask(asked[position.seat], position) == action


def test_a_batch_policy_is_answered_in_batches_where_it_may(board: Board) -> None:
    schedule = board.schedule(["batch", "last"], tables=8)
    asked = referee(board, schedule)
    one = asked.play(list(schedule.fixtures()))
    assert asked._shared["batch"].most > 4
    board.add("batch", "batch", stateless=False)
    assert referee(board, schedule).play(list(schedule.fixtures())) == one


def test_openings_are_those_of_the_deal(two_moves: Game, tmp_path: Path) -> None:
    board = Board(tmp_path, two_moves)
    board.add("last", "last")
    board.add("random")
    results = ruled(board, "last", "random", tables=40)
    seeds = np.array([result.fixture.seed for result in results])
    batch = Batch(two_moves, len(seeds))
    batch.deal(batch.rows, seeds)
    drawn = draw_opening(batch, seeds)[:, 0].tolist()
    assert [result.replay.actions[0] for result in results if result.replay] == drawn
    assert {result.replay.opening for result in results if result.replay} == {1}
    assert drawn[::2] == drawn[1::2]  # both rotations
    assert set(drawn) == {0, 1}
    # as the rules of the leaderboard say: both actions are legal
    assert drawn == [(seed >> 8) % 2 for seed in seeds.tolist()]


def test_seconds_are_noted_where_they_are_wanted(board: Board) -> None:
    for result in ruled(board, "last", "random", "batch", timed=True):
        assert result.replay is not None
        seconds = result.replay.info["seconds"]
        assert [value > 0 for value in seconds] == [name != "random" for name in result.fixture.agents]
        assert "seconds" not in referee(board, board.schedule(["last", "random"])).schedule.info(result.fixture)


def test_no_state_passes_from_game_to_game(board: Board) -> None:
    schedule = board.schedule(["last", "last"], tables=3)
    asked = referee(board, schedule)
    fixtures = list(schedule.fixtures())
    asked.play(fixtures)
    log = asked._shared["last"].log
    # one that keeps nothing in mind is told whose game comes whenever it is another one
    assert len(log) > len(fixtures)
    assert set(log) == {(seat, seat_seed(seed, seat)) for seed in schedule.seeds for seat in range(2)}
    assert all(one != other for one, other in itertools.pairwise(log))
    asked.close()
    assert asked._shared == {}


# --- failures ---------------------------------------------------------------------------------------------------


def failing(board: Board, name: str, **changes: Any) -> list[Played]:
    """Games of an agent of this make against the last legal action, of which some fail."""
    board.add("me", name, **changes)
    results = ruled(board, "me", "last", tables=8)
    for result in results:
        if result.replay is not None:
            assert verify(Replay.from_line(result.replay.to_line())) == []
    return results


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        ("bad_illegal", "illegal", "is not legal for seat"),
        ("bad_outside", "illegal", "action 99 is not"),
        ("bad_negative", "illegal", "action -1 is not"),
        ("bad_none", "illegal", "action None is not"),
        ("bad_text", "illegal", "action 'pass' is not"),
        ("bad_real", "illegal", "action 1.5 is not"),
        ("bad_raise", "crash", "ValueError('lost\\nmy way')"),
        ("bad_exit", "crash", "SystemExit(3)"),
        ("bad_reset", "crash", "RuntimeError('no reset')"),
        ("batch_raise", "crash", "ValueError('four are too many')"),
        ("batch_illegal", "illegal", "action 99 is not"),
        ("batch_shape", "illegal", "int64 of shape (1, 1) instead of a whole number a game"),
        ("batch_real", "illegal", "float64 of shape (1,) instead of"),
    ],
)
@pytest.mark.parametrize("stateless", [True, False])
def test_who_fails_forfeits(board: Board, make: str, kind: str, words: str, stateless: bool) -> None:
    if make in ("batch_shape", "batch_real") and not stateless:
        pytest.skip("as an agent, its answer is taken for a number")
    results = failing(board, make, stateless=stateless)
    failed = [result for result in results if result.end is not None]
    assert failed
    for result in failed:
        seat = result.fixture.agents.index("me")
        assert result.end == f"{kind}:{seat}"
        assert result.replay is not None
        assert result.replay.end == result.end
        assert result.replay.places == ((2, 1) if seat == 0 else (1, 2))
        assert words in result.words
        assert f"{kind} of me at seat {seat}, table {result.fixture.table} of me+last, rotation" in result.words
        assert f"decision {len(result.replay.actions)}: " in result.words
        assert "\n" not in result.words
    # the others went on as if nothing had happened
    board.add("me", "batch")
    sound = ruled(board, "me", "last", tables=8)
    whole = [result for result in results if result.end is None]
    assert [result for result in sound if result.fixture in [other.fixture for other in whole]] == whole
    if make.startswith("batch_") and make not in ("batch_shape", "batch_real"):
        assert whole


def test_who_searches_too_much_forfeits(board: Board) -> None:
    results = failing(board, "search", budget={"kind": "search", "simulations": 10})
    over = [result for result in results if result.end is not None]
    assert over
    for result in over:
        seat = result.fixture.agents.index("me")
        assert result.end == f"budget:{seat}"
        assert "11 simulations instead of 10" in result.words
        assert result.replay is not None
        assert result.replay.actions
    assert not any(result.end for result in failing(board, "search", budget={"kind": "search", "simulations": 11}))
    # who declares none may make none
    assert all(result.end for result in failing(board, "search"))
    for simulations, end in ((10, False), (9, True)):
        board.add("mcts-10", budget={"kind": "search", "simulations": simulations})
        assert any(result.end for result in ruled(board, "mcts-10", "last")) == end


def test_a_search_that_is_not_counted_is_refused(board: Board) -> None:
    with pytest.raises(UnknownAgentError, match="has no attribute simulations_made that counts them: add it"):
        failing(board, "uncounted", budget={"kind": "search", "simulations": 10})


def test_games_of_language_models_are_void_where_they_crash(board: Board) -> None:
    results = failing(board, "bad_raise", kind="llm")
    assert {result.end for result in results if result.replay is None} == {"crash:0", "crash:1"}
    assert not any(result.end for result in results if result.replay is not None)
    results = failing(board, "bad_illegal", kind="llm")
    assert all(result.replay is not None for result in results)
    assert {"illegal:0", "illegal:1"} <= {result.end for result in results}


# --- seasons ----------------------------------------------------------------------------------------------------


class Inline:
    """Stands for the worker processes: plays the units one after another in this process."""

    played = 0

    def __init__(self, job: Job, units: Any, processes: int, limit: float) -> None:
        self.queue, self.referee = deque(units), job.referee()

    def __enter__(self) -> Inline:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def results(self) -> Iterator[tuple[Unit, list[Played]]]:
        while self.queue:
            unit = self.queue.popleft()
            Inline.played += len(unit.fixtures)
            yield unit, self.referee.play(unit.fixtures)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> type[Inline]:
    monkeypatch.setattr(playing, "Pool", Inline)
    Inline.played = 0
    return Inline


SEASON: list[Lineup | list[str]] = [["greedy", "random"], ["batch", "moody"], ["last", "greedy"]]


def games(path: Path) -> list[bytes]:
    """The lines of a file behind its header."""
    first, *lines = gzip.decompress(path.read_bytes()).splitlines()
    assert b'"header":1' in first
    return lines


def stop_after(number: int) -> Callable[[Progress], None]:
    """A callback that presses Ctrl-C when so many games were played."""

    def stop(progress: Progress) -> None:
        if progress.played >= number:
            raise KeyboardInterrupt

    return stop


def test_a_season_is_played_in_order_and_verified(board: Board, inline: type[Inline]) -> None:
    folder = board.season(*SEASON, ["candidate", "greedy"], tables=4)
    seen: list[Progress] = []
    result = play(folder, on_progress=seen.append)
    assert result.finished
    assert result.path == folder / "games-anchors.jsonl.gz"
    assert result.progress == Progress(24, 24, 24, {})
    assert [progress.done for progress in seen] == list(range(25))
    assert sorted(path.name for path in folder.iterdir()) == ["games-anchors.jsonl.gz", "schedule.json"]
    schedule = Schedule.read(folder / "schedule.json").part()
    recorded = list(replays.read(result.path))
    assert [replay.info for replay in recorded] == [schedule.info(fixture) for fixture in schedule.fixtures()]
    for replay, fixture in zip(recorded, schedule.fixtures(), strict=True):
        assert (replay.seed, replay.agents) == (fixture.seed, fixture.agents)
        assert verify(replay) == []
    header = replays.header(result.path)
    assert header is not None
    assert list(header) == ["header", "package", "numpy", "numba", "python", "machine", "date", "agents"]
    assert list(header["agents"]) == ["batch", "greedy", "last", "moody", "random"]
    assert header["agents"]["greedy"] == {"version": "1", "code_sha256": None, "weights_sha256": None}
    assert len(header["agents"]["last"]["code_sha256"]) == 64
    # what is played is not played again
    before = result.path.read_bytes()
    assert play(folder).progress == Progress(24, 24, 0, {})
    assert (inline.played, result.path.read_bytes()) == (24, before)


def test_candidates_have_a_file_of_their_own(board: Board, inline: type[Inline]) -> None:
    folder = board.season(["greedy", "random"], ["candidate", "greedy"], ["candidate", "random"], tables=2)
    result = play(folder, "last")
    assert result.path == folder / "games-last.jsonl.gz"
    assert [replay.agents for replay in replays.read(result.path)][:2] == [("last", "greedy"), ("greedy", "last")]
    assert {replay.info["lineup"] for replay in replays.read(result.path)} == {"candidate+greedy", "candidate+random"}


@pytest.mark.parametrize("together", [1, 5, 64])
def test_any_stops_leave_the_same_file(board: Board, inline: type[Inline], together: int, tmp_path: Path) -> None:
    folder = board.season(*SEASON, tables=4)
    whole = play(folder).path
    expected = whole.read_bytes()
    rng = np.random.default_rng(together)
    for _ in range(6):
        whole.unlink()
        inline.played = stops = 0
        while True:
            result = play(folder, together=together, on_progress=stop_after(int(rng.integers(1, 12))))
            if result.finished:
                break
            stops += 1
            assert not whole.exists()
            part = folder / "games-anchors.jsonl.part"
            kept = part.read_bytes()
            if rng.random() < 0.7:  # what a sudden end leaves of the last line
                cut = rng.integers(0, len(kept) - kept.rindex(b"\n", 0, -1) - 1)
                part.write_bytes(kept[: len(kept) - cut])
        assert stops > 1
        assert whole.read_bytes() == expected
        assert not part.exists()
        # at most what was under way when it stopped is played twice
        assert inline.played <= 24 + stops * together


def test_a_stop_before_anything_is_written(board: Board, inline: type[Inline]) -> None:
    folder = board.season(["greedy", "random"])
    part = folder / "games-anchors.jsonl.part"
    assert not play(folder, on_progress=stop_after(0)).finished
    assert not part.exists()
    for content in (b"", b'{"header":1,"pack'):
        part.write_bytes(content)
        assert play(folder).progress.done == 6
        (folder / "games-anchors.jsonl.gz").unlink()


def test_two_at_once_are_refused(board: Board, inline: type[Inline]) -> None:
    folder = board.season(["greedy", "random"], ["candidate", "greedy"], tables=2)

    def play_too(progress: Progress) -> None:
        if progress.played == 1:
            with pytest.raises(OptionError, match=r"games-anchors.jsonl.gz is being played by another process"):
                play(folder)
            assert play(folder, "last").finished  # another file

    result = play(folder, on_progress=play_too)
    assert (result.finished, result.progress.failures) == (True, {})
    assert len(list(replays.read(result.path))) == result.progress.games
    assert sorted(path.suffix for path in folder.iterdir()) == [".gz", ".gz", ".json"]


def test_schedules_grow_and_files_with_them(board: Board, inline: type[Inline]) -> None:
    short = board.season(["greedy", "random"], ["last", "greedy"], tables=4)
    first = games(play(short, tables=2).path)
    assert len(first) == 8
    second = games(play(short).path)
    assert inline.played == 16
    assert [line for line in second if line in first] == first
    folder = board.season(["greedy", "random"], ["last", "greedy"], ["batch", "last"], tables=5)
    grown = play(folder)
    assert grown.progress == Progress(30, 30, 14, {})
    third = games(grown.path)
    assert [line for line in third if line in second] == second
    fresh = play(folder).path.read_bytes()
    grown.path.unlink()
    assert play(folder).path.read_bytes() == fresh
    # fewer tables are wanted than are there: nothing is lost
    assert play(folder, tables=1).progress == Progress(6, 6, 0, {})
    assert games(grown.path) == third


def test_failures_are_counted_over_all_parts_of_a_run(board: Board, inline: type[Inline]) -> None:
    board.add("me", "bad_raise")
    folder = board.season(["me", "last"], ["me", "greedy"], tables=4)
    seen: list[Progress] = []
    assert not play(folder, on_progress=stop_after(5), together=1).finished
    result = play(folder, on_progress=seen.append)
    ends = [replay.end for replay in replays.read(result.path)]
    crashes = sum(end.startswith("crash:") for end in ends)
    assert crashes > 5
    assert result.progress.failures == {"crash": crashes}
    news = [progress.news for progress in seen if progress.news]
    assert 0 < len(news) < crashes
    assert all(words.startswith("crash of me at seat ") for words in news)


def test_void_tables_are_played_again(board: Board, inline: type[Inline]) -> None:
    board.add("me", "bad_raise_once", kind="llm")
    folder = board.season(["last", "greedy"], ["greedy", "me"], tables=3)
    result = play(folder)
    assert result.finished
    assert result.progress.failures == {"crash": 1}
    assert result.progress.done == 12
    recorded = list(replays.read(result.path))
    voids = [replay for replay in recorded if "voids" in replay.info]
    assert len(voids) == 1
    assert voids[0].info["voids"] == [f"crash:{voids[0].agents.index('me')}"]
    assert all(verify(replay) == [] for replay in recorded)
    # the failure stays known when the season grows
    board.season(["last", "greedy"], ["greedy", "me"], tables=4)
    grown = play(folder)
    assert list(replays.read(grown.path))[:6] == recorded[:6]
    assert [replay for replay in replays.read(grown.path) if "voids" in replay.info] == voids


def test_a_model_that_always_fails_stops_the_run(board: Board, inline: type[Inline]) -> None:
    board.add("me", "bad_raise", kind="llm")
    folder = board.season(["last", "greedy"], ["greedy", "me"], tables=3)
    with pytest.raises(UnknownAgentError, match=r"a table was void 6 times: crash of me at seat \d, .*; see to the"):
        play(folder)
    voids = (folder / "games-anchors.jsonl.part").read_bytes().count(b'{"void":')
    assert voids > 6  # of that table, and of the others
    # when it answers again, the same call goes on
    board.add("me", "bad_raise_once", kind="llm")
    result = play(folder)
    assert result.finished
    assert sum(len(replay.info.get("voids", ())) for replay in replays.read(result.path)) == voids + 1


# --- files that cannot be gone on with --------------------------------------------------------------------------


def test_another_agent_does_not_go_on(board: Board, inline: type[Inline]) -> None:
    folder = board.season(["last", "greedy"], tables=4)
    play(folder, on_progress=stop_after(2), together=2)
    part = folder / "games-anchors.jsonl.part"
    kept = part.read_bytes()
    code = board.root / "agents" / "last" / "agent.py"
    code.write_text(code.read_text() + "\n# changed\n")
    with pytest.raises(OptionError, match=r"'last' is another agent than that of .*part:1: .*; remove the file"):
        play(folder)
    assert part.read_bytes() == kept
    board.add("last", "last")
    result = play(folder)
    board.add("last", "last", version="2")
    before = result.path.read_bytes()
    with pytest.raises(OptionError, match=r"'last' is another agent than that of .*games-anchors\.jsonl\.gz:1"):
        play(folder)
    assert result.path.read_bytes() == before


def damaged(line: bytes, **changes: Any) -> bytes:
    content = json.loads(line)
    content["info"] |= {name: changes.pop(name) for name in ("lineup", "table", "rotation", "season") if name in changes}  # fmt: skip  # noqa: E501
    return json.dumps({**content, **changes}).encode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lineup": "other"}, "is no game of this schedule: remove the file"),
        ({"table": 9}, "is no game of this schedule"),
        ({"table": [1]}, "is no game of this schedule"),
        ({"season": "2027"}, "is no game of this schedule"),
        ({"rules": "0" * 16}, "is no game of this schedule"),
        ({"game": "tabletop/two_moves-v0"}, "is no game of this schedule"),
        ({"seed": 5}, "has another seed, agents or options than its table"),
        ({"agents": ["greedy", "greedy"]}, "has another seed, agents or options"),
        ({"options": {"heap": 9}}, "has another seed, agents or options"),
        ({"places": [1]}, "1 places for 2 players"),
    ],
)
def test_games_of_another_season(board: Board, inline: type[Inline], changes: dict[str, Any], words: str) -> None:
    folder = board.season(["last", "greedy"], tables=2)
    play(folder, on_progress=stop_after(4), together=2)
    part = folder / "games-anchors.jsonl.part"
    lines = part.read_bytes().splitlines()
    lines[2] = damaged(lines[2], **changes)
    part.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(CorruptDataError, match=rf"games-anchors\.jsonl\.part:3:? {words}"):
        play(folder)
    result = folder / "games-anchors.jsonl.gz"
    result.write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    part.unlink()
    with pytest.raises(CorruptDataError, match=rf"games-anchors\.jsonl\.gz:3:? {words}"):
        play(folder)


@pytest.mark.parametrize("line", [b"junk", b"[1]", b'{"void":7}', b'{"void":{"lineup":"a","table":0,"rotation":0}}'])
def test_lines_that_no_run_writes(board: Board, inline: type[Inline], line: bytes) -> None:
    folder = board.season(["last", "greedy"])
    part = folder / "games-anchors.jsonl.part"
    part.write_bytes(b'{"header":1,"agents":{}}\n' + line + b"\n")
    with pytest.raises(CorruptDataError, match=r"jsonl\.part:2 is no game"):
        play(folder)
    part.write_bytes(b'{"header":1}\n')
    with pytest.raises(CorruptDataError, match=r"jsonl\.part:1 names no agents"):
        play(folder)


def test_what_cannot_be_played(board: Board, inline: type[Inline], tmp_path: Path) -> None:
    folder = board.season(["last", "greedy"])
    with pytest.raises(OptionError, match="has no line-up of a candidate: make one with"):
        play(folder, "last")
    board.add("last", "last", games={"toy-v0": [3]})
    with pytest.raises(OptionError, match="'last' does not play toy-v0 with 2 players"):
        play(folder)
    (board.root / "agents" / "last" / "agent.json").unlink()
    with pytest.raises(UnknownAgentError, match="there is no agent 'last'"):
        play(folder)
    moved = tmp_path / "a" / "b" / "c" / "d"
    moved.parent.mkdir(parents=True)
    folder.rename(moved)
    with pytest.raises(OptionError, match="is not the place of this season: move it to"):
        play(moved)
    for wrong in ({"processes": 0}, {"limit": 0.0}, {"tables": 0}, {"together": 0}):
        with pytest.raises(OptionError, match=r"more than 0|at least 1"):
            play(moved, **wrong)  # type: ignore[arg-type]


# --- processes --------------------------------------------------------------------------------------------------


def test_any_number_of_processes_writes_the_same(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = board.season(*SEASON, ["mcts-10", "greedy"], tables=5)
    with monkeypatch.context() as patch:
        patch.setattr(playing, "Pool", Inline)
        path = play(folder).path
    expected = path.read_bytes()
    for processes, together in ((1, 64), (2, 7), (3, 1)):
        path.unlink()
        result = play(folder, processes=processes, together=together)
        assert result.finished
        assert path.read_bytes() == expected


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_killed_run_goes_on(board: Board, inline: type[Inline]) -> None:
    folder = board.season(["mcts-10", "greedy"], ["greedy", "random"], ["mcts-10", "moody"], tables=30)
    expected = play(folder).path.read_bytes()
    (folder / "games-anchors.jsonl.gz").unlink()
    part = folder / "games-anchors.jsonl.part"
    rng, kept = np.random.default_rng(3), 0
    command = [sys.executable, str(TESTS / "arena_board.py"), str(folder)]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            wanted = kept + int(rng.integers(5, 40))
            for line in process.stdout:
                if line.strip().isdecimal() and int(line) >= wanted:
                    break
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
            # the workers end with it: nobody holds the other end of its output
            process.stdout.read()
        lines = part.read_bytes().splitlines()
        assert len(lines) - 1 >= wanted
        kept = len(lines) - 2  # the last one may be broken
    inline.played = 0
    result = play(folder)
    assert result.path.read_bytes() == expected
    assert inline.played <= 180 - kept


@pytest.mark.parametrize(("make", "kind"), [("bad_die", "crash"), ("bad_hang", "timeout")])
def test_what_only_shows_from_outside(board: Board, make: str, kind: str) -> None:
    """An agent that ends its process or gives no answer forfeits; the games beside it are played."""
    board.add("me", make)
    folder = board.season(["me", "greedy"], Lineup("others", ("last", "greedy"), 3), tables=1)
    news: list[str] = []
    result = play(folder, processes=1, limit=1.0, on_progress=lambda progress: news.append(progress.news))
    recorded = list(replays.read(result.path))
    assert len(recorded) == 8
    assert all(verify(replay) == [] for replay in recorded)
    ends = [replay.end for replay in recorded]
    assert not set(ends[2:]) - {"rules", "cap"}
    failed = [replay for replay in recorded if replay.forfeit]
    assert failed
    assert result.progress.failures == {kind: len(failed)}
    for replay in failed:
        assert replay.end == f"{kind}:{replay.agents.index('me')}"
        assert len(replay.actions) >= 3
        other = next(iter(ruled_as(board, replay)))
        assert other.actions[: len(replay.actions)] == replay.actions
    words = {"crash": "its process ended", "timeout": "no answer within 1 seconds"}[kind]
    assert any(words in line for line in news)


def ruled_as(board: Board, replay: Replay) -> Iterator[Replay]:
    """The same game by an agent that is sound."""
    board.add("me", "last")
    for result in ruled(board, "me", "greedy", tables=1):
        if result.replay is not None and result.replay.agents == replay.agents:
            yield result.replay


@pytest.mark.parametrize("make", ["bad_die_once", "bad_hang_once"])
def test_a_fault_that_does_not_come_again_is_nobodys(board: Board, make: str) -> None:
    board.add("me", make)
    folder = board.season(["me", "greedy"], tables=1)
    result = play(folder, processes=1, limit=1.0)
    assert (board.root / "agents" / "me" / "failed").exists()
    assert result.progress == Progress(2, 2, 2, {})


def test_agents_that_cannot_be_made_stop_the_run(board: Board) -> None:
    board.add("me", "unmade")
    folder = board.season(["last", "greedy"], ["me", "greedy"], tables=1)
    with pytest.raises(UnknownAgentError, match=r"the agent 'me' cannot be made: KeyError\('weights'\)"):
        play(folder, processes=1, together=1)
    assert (folder / "games-anchors.jsonl.part").read_bytes().count(b"\n") == 3
    board.add("me", "unready")
    (folder / "games-anchors.jsonl.part").unlink()
    with pytest.raises(
        UnknownAgentError, match="the agent 'me' cannot be made, or not be closed: no answer within 1 s"
    ):
        play(folder, processes=1, together=1, limit=1.0)


def test_workers_that_never_come_to_work(board: Board, toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = board.schedule(["last", "greedy"])
    entrants = {name: roster.read(board.root / "agents" / name) for name in schedule.agents()}
    units = [Unit((fixture,)) for fixture in schedule.fixtures()]
    with Pool(Job(toy.spec, schedule, entrants), units, 1, 60.0) as pool:
        worker = pool._workers[0]
        worker.process.kill()
        worker.process.join(PATIENCE)
        monkeypatch.setattr(pool, "_replace", lambda number: None)
        with pytest.raises(ProcessError, match="4 worker processes ended before they had played a game"):
            list(pool.results())


# --- the command ------------------------------------------------------------------------------------------------


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli.main, ["arena", *[str(argument) for argument in arguments]])


def test_the_command_plays(board: Board, inline: type[Inline], monkeypatch: pytest.MonkeyPatch) -> None:
    board.add("me", "bad_raise")
    folder = board.season(["greedy", "random"], ["candidate", "greedy"], tables=2)
    result = call("play", folder)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == f"4 games in {folder / 'games-anchors.jsonl.gz'}, 4 of them new"
    assert call("play", folder).output.splitlines()[-1].endswith("0 of them new")
    result = call("play", folder, "--candidate", "me", "--tables", 1, "--processes", 1, "--timed")
    assert result.exit_code == 0, result.output
    assert "crash of me at seat 0, table 0 of candidate+greedy" in result.output.replace("\n", " ")
    assert result.output.splitlines()[-1].endswith(" crash")
    assert all("seconds" in replay.info for replay in replays.read(folder / "games-me.jsonl.gz"))


def test_ctrl_c_says_how_to_go_on(board: Board, inline: type[Inline], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = board.season(["greedy", "last"], tables=3)
    whole = Inline.results

    def interrupted(pool: Inline) -> Iterator[tuple[Unit, list[Played]]]:
        for number, result in enumerate(whole(pool)):
            if number == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            yield result

    monkeypatch.setattr(Inline, "results", interrupted)
    monkeypatch.setattr(playing, "_units", lambda left, *_: [Unit((fixture,)) for fixture in left])
    result = call("play", folder)
    assert result.exit_code == 130
    assert result.output.splitlines()[-1] == "stopped after 2 of 6 games; the same command goes on"
    monkeypatch.setattr(Inline, "results", whole)
    result = call("play", folder)
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith("4 of them new")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "Missing argument"),
        (["nowhere"], 2, "does not exist"),
        (["."], 1, "schedule.json: No such file"),
        (["SEASON", "--candidate", "nobody"], 1, "there is no agent 'nobody'"),
        (["SEASON", "--processes", 0], 2, "--processes"),
        (["SEASON", "--limit", 0], 2, "--limit"),
    ],
)
def test_mistakes(board: Board, inline: type[Inline], arguments: Sequence[Any], status: int, words: str) -> None:
    folder = board.season(["greedy", "last"], ["candidate", "last"])
    result = call("play", *[folder if argument == "SEASON" else argument for argument in arguments])
    assert result.exit_code == status, result.output
    assert words in result.output.replace("\n", " ")
    assert "Traceback" not in result.output


def test_places_of_fixtures(board: Board) -> None:
    schedule = board.schedule(["greedy", "last"], tables=2)
    places = [fixture.place for fixture in schedule.fixtures()]
    assert places == [("greedy+last", table, rotation) for table in range(2) for rotation in range(2)]
    assert schedules.games_file(Path("x")) == Path("x/games-anchors.jsonl.gz")
    assert isinstance(next(schedule.fixtures()), Fixture)
