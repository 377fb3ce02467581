"""Playing in a terminal: whole games by typed lines, taking back, saving and going on, and what must not be shown."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tabletop_envs import agents, cli, registry
from tabletop_envs.agents.base import View
from tabletop_envs.arena import replay as replays
from tabletop_envs.arena import table as tables
from tabletop_envs.arena.table import SavedGame, Table
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import (
    CorruptDataError,
    IllegalActionError,
    OptionError,
    TerminalError,
    UnknownAgentError,
    UnknownGameError,
)
from tabletop_envs.play import (
    PROMPT,
    Offer,
    Session,
    check_free,
    columns,
    interrupted_by_signals,
    new_table,
    resumed_table,
)
from tabletop_envs.testing.suite import run_check, subject_of

OURS = "urbino"  # long lists of actions, and no chance
SEED = 7
WIDE = os.terminal_size((120, 60))
PATIENCE = 40  # seconds that another process may take


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Every test runs in a folder of its own: leaving a game writes a file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def talk(table: Table, *lines: str, file: Path | None = None, size: os.terminal_size | None = None) -> str:
    """What a session prints that is typed these lines."""
    sink = io.StringIO()
    source = io.StringIO("".join(f"{line}\n" for line in lines))
    Session(table, file=file, source=source, sink=sink, size=lambda: size).run()
    return sink.getvalue()


def saved_in(printed: str) -> Path:
    """The file that a session says it saved the game in when somebody left."""
    found = re.search(r"^saved in (\S+); it goes on with: tabletop-envs play --resume (\S+)$", printed, re.MULTILINE)
    assert found is not None, printed
    assert found[1] == found[2]
    return Path(found[1])


ONES = ("1",) * 400


# --- a game -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.games())
def test_a_whole_game_against_greedy(name: str) -> None:
    game = registry.load(name)
    players = game.spec.min_players
    # always the first action makes for long games
    table = new_table(game, players, seed=SEED, max_decisions=min(game.spec.max_decisions[players], len(ONES)))
    printed = talk(table, *ONES, file=Path("kept.json"))
    position = table.position
    assert position.over
    assert table.names == ("human", *("greedy",) * (position.num_players - 1))
    for seat, (points, place) in enumerate(zip(position.points(), position.places(), strict=True)):
        who = "you" if seat == 0 else "greedy"
        assert f"  place {place}: seat {seat} ({who}), {points} points" in printed
    assert "replay saved in kept.json" in printed
    (replay,) = replays.read("kept.json")
    assert replays.verify(replay) == []
    assert list(replay.actions) == table.actions
    assert replay.agents == table.names


def test_the_game_is_the_one_that_was_typed(toy: Game) -> None:
    table = new_table(toy, 3, seed=SEED, seats=[1], against=["random", "greedy"])
    rng = random.Random(SEED)
    while not table.position.over:
        table.ask_agents()
        if not table.position.over:
            legal = table.position.legal_actions().tolist()
            table.decide(rng.choice(legal))
    again = new_table(toy, 3, seed=SEED, seats=[1], against=["random", "greedy"])
    talk(again, *(toy.modules["notation"].action_text(step.action) for step in table.steps if step.seat == 1))
    assert again.position == table.position
    assert again.actions == table.actions


def test_what_happened_is_told(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED, against=["greedy"], cards={"one": 0, "two": 8, "three": 0})
    printed = talk(table, *ONES)
    for number, step in enumerate(table.steps):
        before = table.steps[number - 1].after if number else table.start
        if step.seat == 1 and not toy.actions.is_secret(step.action):
            assert f"seat 1 (greedy): {before.action_text(step.action)}" in printed
        for event in step.after.events():
            assert f"  {event}" in printed
    assert any(step.after.events() for step in table.steps)


def test_a_game_with_its_options_is_announced(toy: Game) -> None:
    printed = talk(new_table(toy, 3, seed=5, heap=6, seats=[2], against=["random", "greedy"]))
    assert printed.startswith("Toy with heap=6, seed 5\nyou: seat 2; against: seat 0 (random), seat 1 (greedy)\n")
    assert f"seed {new_table(toy).start.seed}" != f"seed {new_table(toy).start.seed}"  # any seed, and told


def test_the_end_at_the_cap_is_told(toy: Game) -> None:
    printed = talk(new_table(toy, 2, seed=5, max_decisions=3), *ONES)
    assert "the game is over, stopped at its cap and scored as it stands" in printed


# --- typing -----------------------------------------------------------------------------------------------------


def first_choice(game: Game, *lines: str) -> tuple[int, str]:
    """The action that lines choose first, and what is printed."""
    table = new_table(game, 2, seed=SEED)
    printed = talk(table, *lines)
    return table.actions[0], printed


def test_actions_by_number_by_words_and_by_their_beginning(toy: Game) -> None:
    legal = Position.new(toy, 2, seed=SEED).legal_actions().tolist()
    texts = [toy.modules["notation"].action_text(action) for action in legal]
    for number, (action, text) in enumerate(zip(legal, texts, strict=True)):
        assert first_choice(toy, str(number + 1))[0] == action
        assert first_choice(toy, f"  {text.upper()}  ")[0] == action
        chosen, printed = first_choice(toy, text[:-1])
        assert chosen == action
        assert f"you: {text}" in printed


def test_what_cannot_be_chosen_is_said_and_asked_again() -> None:
    def typed(*lines: str) -> str:
        table = new_table(registry.load(OURS), seed=3)
        printed = talk(table, "architect 0 a1", "brown first", *lines)
        assert [step.seat for step in table.steps].count(0) == 2
        return printed.split("you: brown first")[1]

    assert "there is no number 0: they go from 1 to" in typed("0")
    assert "there is no number 999: they go from 1 to" in typed("999")
    assert "there is no number 999999999: they" in typed("9" * 5000)
    # the game's own hint
    assert "did you mean 'house e5'?" in " ".join(typed("hause e5").split())
    assert "`list` shows the legal actions, `help` the commands" in " ".join(typed("?!").split())
    # known, but not legal: what is legal of that kind
    refused = typed("house a1")
    assert "'house a1' is not legal now: `list` shows what is\nlegal with 'house':" in refused
    # a beginning that fits several, and a word within
    offered = refused.split("legal with 'house':\n")[1].split("your action:")[0]
    assert offered == typed("house").split("your action: ")[-2]
    assert offered == typed("list house").split("your action: ")[-2]
    assert "legal with 'e1':" in typed("e1")
    assert "no legal action begins with 'zz'" in typed("list zz")
    assert "there is nothing to take back" not in typed("", "  ")


def test_help_show_and_list(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED)
    printed = talk(table, "help", "?", "show", "list")
    for command in ("list", "show", "undo", "save", "quit", "help"):
        assert printed.count(f"\n  {command} ") == 2
    assert printed.count("you are seat 0 of 2, play") == 2
    offer = Offer(table.position)
    assert printed.count("\n".join(offer.lines(80))) == 2


@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_list_holds_every_action_once(width: int) -> None:
    position = Position.new(OURS, seed=SEED)
    while not position.over:
        offer = Offer(position)
        lines = offer.lines(width)
        numbers = [int(number) for line in lines for number in re.findall(r"(?:^|  ) *(\d+) \D", line)]
        assert sorted(numbers) == list(range(1, len(offer.actions) + 1)), lines
        assert all(len(line) <= max(width, 25) for line in lines)
        position.apply(offer.actions[len(offer.actions) // 2])


def test_a_list_without_room_counts_its_groups() -> None:
    position = Position.new(OURS, seed=SEED)
    for text in ("architect 0 a1", "architect 1 e5", "brown first", "house b2"):
        position.apply(text)
    offer = Offer(position)
    counted = offer.lines(80, room=2)
    assert len(counted) == 4
    assert counted[0].startswith("  architect 0: ")
    assert f"  stay (number {len(offer.actions)})" in counted
    assert len(offer.lines(80)) > 8


def test_columns() -> None:
    assert columns(["a", "bb", "c"], 80) == ["a   bb  c"]
    assert columns(["a", "bb", "c"], 6) == ["a   c", "bb"]
    assert columns(["a", "bb"], 1) == ["a", "bb"]
    assert columns([], 80) == []


# --- taking back ------------------------------------------------------------------------------------------------


def test_undo_goes_back_and_the_same_choice_gets_the_same_reply(toy: Game) -> None:
    plain, undone = (new_table(toy, 3, seed=SEED, against=["random"]) for _ in range(2))
    talk(plain, "1", "1")
    printed = talk(undone, "1", "1", "undo", "undo", "2", "undo", "1", "1")
    assert undone.actions == plain.actions
    assert undone.position == plain.position
    assert printed.count("taken back") == 3


def test_undo_at_the_first_decision(toy: Game) -> None:
    table = new_table(toy, 3, seed=SEED, seats=[2])  # others have decided before
    printed = talk(table, "undo")
    assert "there is nothing to take back: you have not decided yet" in printed
    assert "taken back" not in printed
    assert table.steps


class Moody:
    """An agent whose choices follow from how often it was asked, in all games."""

    name = "moody"

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, view: View) -> int:
        self.asked += 1
        legal = view.legal_actions()
        return int(legal[self.asked % len(legal)])


def test_undo_with_an_agent_that_remembers(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents._PLAIN, "moody", lambda game: Moody())
    plain, undone = (new_table(toy, 2, seed=SEED, against=["moody"]) for _ in range(2))
    talk(plain, "1", "1", "1")
    talk(undone, "1", "1", "undo", "1", "1")
    assert undone.actions == plain.actions


def test_undo_among_people(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED, seats=[0, 1])
    first = table.position
    table.decide(int(first.legal_actions()[0]))
    second = table.position
    table.decide(int(second.legal_actions()[0]))
    assert table.undo()
    assert table.position == second
    assert table.undo()
    assert table.position == first
    assert not table.undo()


# --- leaving and going on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [["quit"], []], ids=["quit", "end of input"])
def test_leaving_keeps_the_game(toy: Game, last: list[str]) -> None:
    table = new_table(toy, 3, seed=SEED, heap=20)
    path = saved_in(talk(table, "1", "1", *last))
    assert path == Path(f"toy-{SEED}.json")
    again = resumed_table(path)
    assert again.position == table.position
    assert (again.actions, again.names, again.agent_seeds) == (table.actions, table.names, table.agent_seeds)
    # another game does not take the name
    assert saved_in(talk(new_table(toy, seed=SEED), "1")) == Path(f"toy-{SEED}-2.json")


def test_leaving_before_the_first_decision_leaves_nothing(toy: Game, folder: Path) -> None:
    assert "nothing was decided: nothing is saved" in talk(new_table(toy, seats=[1]), "quit")
    assert list(folder.iterdir()) == []


class Interrupting(io.StringIO):
    """Input that ends as if somebody pressed Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> str:
        line = super().readline(-1)
        if not line:
            raise KeyboardInterrupt
        return line


def test_ctrl_c_keeps_the_game(toy: Game) -> None:
    table, sink = new_table(toy, 2, seed=SEED), io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        Session(table, source=Interrupting("1\n1\n"), sink=sink).run()
    assert resumed_table(saved_in(sink.getvalue())).position == table.position


class Broken:
    """An agent that is not made well."""

    name = "broken"

    def choose(self, view: View) -> int:
        if view.decisions > 3:
            return -1
        return int(view.legal_actions()[0])


def test_an_agent_that_fails_does_not_lose_the_game(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents._PLAIN, "broken", lambda game: Broken())
    table, sink = new_table(toy, 2, seed=SEED, against=["broken"]), io.StringIO()
    with pytest.raises(IllegalActionError, match="'broken' has to be mended"):
        Session(table, source=io.StringIO("1\n" * 9), sink=sink).run()
    assert len(resumed_table(saved_in(sink.getvalue())).steps) == len(table.steps) > 2


class Gone(io.StringIO):
    """A terminal that is closed when somebody has decided."""

    def write(self, text: str, /) -> int:
        if self.getvalue().count(PROMPT) > 1:
            raise OSError(5, "Input/output error")
        return super().write(text)


def test_a_terminal_that_goes_away_does_not_lose_the_game(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED)
    with pytest.raises(OSError, match="Input/output"):
        Session(table, source=io.StringIO("1\n1\n"), sink=Gone()).run()
    assert resumed_table(Path(f"toy-{SEED}.json")).position == table.position


def test_a_named_file_holds_the_game_at_all_times(toy: Game) -> None:
    table, path = new_table(toy, 2, seed=SEED), Path("kept.json")
    seen = []

    class Looking(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            seen.append((SavedGame.read(path).actions, tuple(table.actions)))
            return super().readline(-1)

    Session(table, file=path, source=Looking("1\n1\nundo\n2\n"), sink=io.StringIO()).run()
    assert len(seen) == 5
    assert all(kept == made for kept, made in seen)


def test_save_while_playing(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED)
    Path("taken.json").write_text("something else")
    Path("place").mkdir()
    printed = talk(table, "save", "1", "save taken.json", "save place", "save nowhere/x.json", "save My Game.json", "1")
    assert f"saved in toy-{SEED}.json\n" in printed
    assert "not saved: taken.json is there already: name another file, or remove it" in printed
    assert "not saved: place is there already" in printed
    assert "not saved: there is no folder" in printed
    assert Path("taken.json").read_text() == "something else"
    assert resumed_table(Path("My Game.json")).position == table.position  # the last one is kept up
    assert "tabletop-envs play --resume 'My Game.json'" in printed


def test_where_nothing_can_be_written_the_game_goes_elsewhere(
    toy: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill_disk: Callable[[Path], None]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    fill_disk(tmp_path)
    table = new_table(toy, 2, seed=SEED)
    printed = talk(table, "save", "1")
    assert f"not saved: toy-{SEED}.json: no room: name another place" in printed
    assert saved_in(printed).parent == elsewhere
    assert resumed_table(saved_in(printed)).position == table.position


def test_saved_in_the_middle_and_ended_by_another_process() -> None:
    game = registry.load(OURS)
    whole, half = (new_table(game, seed=3, against=["random"]) for _ in range(2))
    talk(whole, *ONES, file=Path("whole.json"))
    path = saved_in(talk(half, *ONES[:9], "save half.json", "1", "quit"))
    code = "import sys; from tabletop_envs.cli import main; main(['play', '--resume', 'half.json'])"
    done = subprocess.run(
        [sys.executable, "-c", code], input="1\n" * 400, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "going on at decision" in done.stdout
    assert f"replay saved in {path}" in done.stdout
    assert path.read_text() == Path("whole.json").read_text()


def test_a_finished_game_that_could_not_be_kept_ends_at_once(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED)
    talk(table, *ONES)
    SavedGame.of(table).write(Path("end.json"))
    assert "the game is over" in talk(resumed_table(Path("end.json")), file=Path("end.json"))
    assert replays.verify(next(replays.read("end.json"))) == []


# --- files that are no saved game -------------------------------------------------------------------------------


@pytest.fixture
def saved(toy: Game) -> dict[str, Any]:
    """The content of a saved game."""
    table = new_table(toy, 2, seed=SEED, heap=20)
    talk(table, "1", "1", "save good.json")
    content: dict[str, Any] = json.loads(Path("good.json").read_text())
    return content


def refusal(content: Any) -> CorruptDataError:
    Path("bad.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(CorruptDataError, match=r"^bad\.json") as caught:
        resumed_table(Path("bad.json"))
    return caught.value


@pytest.mark.parametrize("text", ["", "{", "no JSON", "[1]", "7", "[" * 100_000])
def test_files_that_are_no_saved_game(text: str) -> None:
    assert "give a file that `save` wrote" in str(refusal(text))


def test_a_file_that_is_no_text() -> None:
    Path("bad.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CorruptDataError, match=r"bad\.json cannot be read as JSON"):
        resumed_table(Path("bad.json"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 2}, "is of schema 2, not 1: install the tabletop_envs that wrote it"),
        ({"schema": True}, "is of schema True"),
        ({"num_players": 9}, "not 9"),
        ({"num_players": "2"}, "not '2'"),
        ({"seed": -1}, "seed -1 is not possible"),
        ({"options": []}, "'options' is not an object"),
        ({"options": {"heep": 20}}, "did you mean 'heap'?"),
        ({"options": {"seed": 3}}, "seed"),
        ({"options": {"heap": 10**30}}, "heap"),
        ({"agents": ["human"]}, "do not fit 2 seats"),
        ({"agents": ["greedy", "greedy"]}, "do not fit 2 seats"),
        ({"agents": [1, 2]}, "'agents' is not a list of str"),
        ({"agent_seeds": [1]}, "do not fit 2 seats"),
        ({"agent_seeds": [1, True]}, "'agent_seeds' is not a list of int"),
        ({"people": [1]}, "do not fit 2 seats"),
        ({"people": 0}, "'people' is not a list of int"),
        ({"actions": [999]}, "actions[0]: action 999 is not a whole number from 0 to 8"),
        ({"actions": ["pass"]}, "'actions' is not a list of int"),
        ({"actions": [4, 8]}, "actions[1]: 'take 4' (8) is not legal"),
        ({"actions": [4]}, "its actions lead to another position now"),
        ({"position": "0" * 16}, "its actions lead to another position now"),
        ({"position": 7}, "its actions lead to another position now"),
        ({"game": "tabletop/toy-v0x"}, "no game"),
        ({"game": 7}, "no game"),
        ({"game": "toy"}, "is of 'toy', not of 'tabletop/toy-v0'"),
    ],
)
def test_a_changed_file_says_what_is_wrong(saved: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    Path("bad.json").write_text(json.dumps({**saved, **changes}))
    with pytest.raises((CorruptDataError, UnknownGameError), match=r"^bad\.json") as caught:
        resumed_table(Path("bad.json"))
    assert words in str(caught.value)


@pytest.mark.parametrize("name", [field for field in SavedGame.__dataclass_fields__])
def test_a_file_without_a_field(saved: dict[str, Any], name: str) -> None:
    del saved[name]
    assert f"is no saved game, it has no {name!r}" in str(refusal(saved))


def test_games_and_agents_that_are_not_at_hand(saved: dict[str, Any]) -> None:
    Path("bad.json").write_text(json.dumps({**saved, "game": "tabletop/chess-v0"}))
    with pytest.raises(UnknownGameError, match=r"bad\.json: no game 'tabletop/chess-v0'.*install the package"):
        resumed_table(Path("bad.json"))
    Path("bad.json").write_text(json.dumps({**saved, "agents": ["human", "sb3:nowhere"]}))
    with pytest.raises(UnknownAgentError, match=r"bad\.json: .*nowhere"):
        resumed_table(Path("bad.json"))
    Path("bad.json").write_text(json.dumps({**saved, "agent_seeds": [1, -1]}))
    with pytest.raises(OptionError, match=r"bad\.json: seed -1"):
        resumed_table(Path("bad.json"))


def test_a_replay_is_no_saved_game(toy: Game) -> None:
    talk(new_table(toy, 2, seed=SEED), *ONES, file=Path("kept.json"))
    with pytest.raises(CorruptDataError, match=r"kept\.json is the replay of a game that is over"):
        resumed_table(Path("kept.json"))


def test_a_game_that_was_named_has_to_be_the_saved_one(saved: dict[str, Any]) -> None:
    assert resumed_table(Path("good.json"), "toy").actions == saved["actions"]
    with pytest.raises(OptionError, match=rf"good\.json is a game of 'tabletop/toy-v0', not of '{OURS}'"):
        resumed_table(Path("good.json"), OURS)


# --- who sits where ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ("human", "greedy")),
        ({"num_players": 3, "against": ["random"]}, ("human", "random", "random")),
        ({"against": ["random", "greedy"]}, ("human", "random", "greedy")),
        ({"against": ["random", "greedy"], "seats": [1]}, ("random", "human", "greedy")),
        ({"seats": [1, 0, 1]}, ("human", "human")),
        ({"num_players": 4, "seats": [3, 1]}, ("greedy", "human", "greedy", "human")),
        ({"against": ["human"]}, ("human", "human")),
    ],
)
def test_seats(toy: Game, arguments: dict[str, Any], names: tuple[str, ...]) -> None:
    assert new_table(toy, **arguments).names == names


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"seats": [2]}, OptionError, "seat 2 is not at the table: with 2 players, give 0 to 1"),
        ({"seats": [-1]}, OptionError, "seat -1 is not at the table"),
        ({"num_players": 4, "against": ["random", "greedy"]}, OptionError, "2 agents do not fill 3 other seats"),
        ({"seats": [0, 1], "num_players": 2, "against": ["random"]}, OptionError, "0 other seats"),
        ({"num_players": 9}, OptionError, "not 9"),
        ({"seed": -1}, OptionError, "seed -1"),
        ({"heep": 4}, OptionError, "did you mean 'heap'"),
        ({"against": ["gredy"]}, UnknownAgentError, "did you mean 'greedy'?"),
        ({"against": ["sb3:nowhere"]}, UnknownAgentError, "nowhere"),
    ],
)
def test_tables_that_there_cannot_be(toy: Game, arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        new_table(toy, **arguments)
    assert words in str(caught.value)


# --- secrets ----------------------------------------------------------------------------------------------------


def screen(table: Table) -> str:
    """What the person is shown that is asked now, however it looks around."""
    sink = io.StringIO()
    with contextlib.suppress(KeyboardInterrupt):
        Session(table, source=Interrupting("show\nlist\n"), sink=sink).run()
    asked = sink.getvalue().split("to leave\n")[1]  # what comes before names the seed
    return asked.split("\nsaved in")[0].split("\nnothing was decided")[0]


def test_no_screen_shows_what_the_seat_cannot_know(toy: Game) -> None:
    """Other hidden cards, and other secret decisions, give the same screen."""
    compared = secret = 0
    for seed in range(6):
        rng = random.Random(seed)
        table = new_table(toy, 3, seed=seed, against=["random"])
        table.ask_agents()
        while not table.position.over:
            shown = screen(table)
            for salt in range(3):
                twin = redealt(table, salt)
                if twin is not None:
                    assert screen(twin) == shown
                    compared += 1
            secret += shown.count("a secret decision")
            assert not re.search(r"seat [12] \(random\): (play|pass)", shown)
            table.decide(rng.choice(table.position.legal_actions().tolist()))
            table.ask_agents()
    assert compared > 100
    assert secret > 10


def redealt(table: Table, salt: int) -> Table:
    """A table that the person of seat 0 cannot tell from this one: other cards, or another last secret decision."""
    twin = Table(table.start, table.names)
    twin.steps = list(table.steps)
    if not twin.steps:
        twin.start = table.start.determinize(0, salt)
        return twin
    last = twin.steps[-1]
    before = twin.steps[-2].after if len(twin.steps) > 1 else twin.start
    if last.seat == 0 or not table.start.game.actions.is_secret(last.action) or last.after.events():
        twin.steps[-1] = tables.Step(last.seat, last.action, last.after.determinize(0, salt))
        return twin
    legal = before.legal_actions().tolist()
    other, after = legal[salt % len(legal)], before.clone()
    after.apply(other)
    twin.steps[-1] = tables.Step(last.seat, other, after)
    return twin


def test_people_with_secrets_change_places(toy: Game) -> None:
    table = new_table(toy, 2, seed=SEED, seats=[0, 1])
    printed = talk(table, "1", "", "1", size=WIDE)
    assert "it is the turn of seat 1\nEnter, when only you look: " in printed
    before, after = printed.split("\x1b[2J\x1b[3J\x1b[H", 1)
    assert "you are seat 0 of 2" in before
    assert "you are seat 1 of 2" in after
    hidden = table.start.action_text(table.actions[0])
    assert f"seat 0 (human): {hidden}" not in after
    assert "seat 0 (human): a secret decision" in after
    # leaving is possible there as well, and nothing is asked where nothing is secret
    assert "saved in" in talk(new_table(toy, 2, seed=SEED, seats=[0, 1]), "1", "quit")
    assert "only you look" not in talk(new_table(registry.load(OURS), seats=[0, 1]), "1", "1", size=WIDE)


# --- the terminal -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(29, 60), (120, 10)])
def test_a_terminal_that_is_too_small(size: tuple[int, int]) -> None:
    table = new_table(registry.load(OURS), seed=SEED)
    words = rf"the terminal has {size[0]} columns and {size[1]} lines, but the board takes 30 and 11: make it larger"
    with pytest.raises(TerminalError, match=words):
        talk(table, "1", file=Path("kept.json"), size=os.terminal_size(size))
    assert not Path("kept.json").exists()


def test_a_terminal_that_becomes_too_small_is_told_of_it(toy: Game) -> None:
    sizes = [WIDE] * 4
    sink = io.StringIO()
    small = os.terminal_size((3, 3))
    Session(
        new_table(toy, 2, seed=SEED),
        source=io.StringIO("1\n1\n"),
        sink=sink,
        size=lambda: sizes.pop() if sizes else small,
    ).run()
    assert "make it larger" in sink.getvalue()
    assert "saved in" in sink.getvalue()


@pytest.fixture
def call() -> Callable[..., Result]:
    """Runs the command; lines go in by `typed`."""

    def run(*arguments: object, typed: str = "") -> Result:
        return CliRunner().invoke(cli.main, ["play", *map(str, arguments)], input=typed)

    return run


def test_the_command(call: Callable[..., Result]) -> None:
    result = call(OURS, "--seed", 3, "--seat", 1, "--against", "random", "--save", "a.json", typed="1\n2\nquit\n")
    assert result.exit_code == 0, result.output
    assert saved_in(result.output) == Path("a.json")
    kept = SavedGame.read(Path("a.json"))
    assert (kept.seed, kept.agents, kept.people) == (3, ("random", "human"), (1,))
    result = call(OURS, "--resume", "a.json", "--save", "b.json", typed="1\n")
    assert result.exit_code == 0, result.output
    assert saved_in(result.output) == Path("b.json")
    assert len(SavedGame.read(Path("b.json")).actions) > len(kept.actions)
    assert SavedGame.read(Path("a.json")) == kept


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "which game? name it"),
        (["chess"], "no game 'chess'"),
        ([OURS, "--seat", "5"], "seat 5 is not at the table: with 2 players, give 0 to 1"),
        ([OURS, "--against", "gredy"], "did you mean 'greedy'?"),
        ([OURS, "--against", "random", "--against", "greedy"], "set num_players=2"),
        ([OURS, "--players", "7"], "not 7"),
        ([OURS, "-o", "monument=true"], "did you mean 'monuments'?"),
        ([OURS, "--save", "there.json"], "there.json is there already"),
        ([OURS, "--save", "nowhere/a.json"], "there is no folder"),
        (["--resume", "there.json"], "there.json cannot be read as JSON"),
        (["--resume", "there.json", "--seed", "3"], "with --resume, give no other option than --save"),
    ],
)
def test_what_the_command_refuses(call: Callable[..., Result], arguments: list[str], words: str) -> None:
    Path("there.json").write_text("no JSON")
    result = call(*arguments)
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert Path("there.json").read_text() == "no JSON"


def test_a_free_name(folder: Path) -> None:
    check_free(folder / "free.json")
    with pytest.raises(OptionError, match="is there already"):
        check_free(folder)


def test_the_conformance_check_finds_faults(toy: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of(toy, quick=True)
    assert run_check("typed games", subject).ok
    with monkeypatch.context() as patch:
        patch.setattr(Table, "undo", lambda self: False)
        assert not run_check("typed games", subject).ok
    with monkeypatch.context() as patch:
        patch.setattr(tables.SavedGame, "of", lambda table: SavedGame("x", 2, {}, 0, (), (), (), (), ""))
        assert not run_check("typed games", subject).ok


# --- a real terminal --------------------------------------------------------------------------------------------


class Terminal:
    """A process under a pseudo-terminal."""

    def __init__(self, *arguments: str, columns: int = 100, lines: int = 50) -> None:
        self.process_id, self.end = pty.fork()
        if self.process_id == 0:  # pragma: no cover - another process
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.environ.update(TERM="xterm-256color", NO_COLOR="")
            os.environ.pop("COLUMNS", None)
            os.execv(sys.executable, [sys.executable, "-m", "tabletop_envs", "play", *arguments])
        self.shown = ""

    def until(self, words: str, again: str = "") -> str:
        """What is shown until the words have come; again: keys that are pressed every second while nothing comes."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.shown:
            ready, _, _ = select.select([self.end], [], [], 1.0)
            if not ready:
                assert time.monotonic() < deadline, f"{words!r} did not come:\n{self.shown}"
                self.type(again)
                continue
            try:
                data = os.read(self.end, 65_536)
            except OSError:  # the other side is closed
                data = b""
            assert data, f"it ended before {words!r} came:\n{self.shown}"
            self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        before, found, self.shown = self.shown.partition(words)
        return before + found

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def status(self) -> int:
        """How it ended."""
        deadline = time.monotonic() + PATIENCE
        with contextlib.suppress(OSError):
            while select.select([self.end], [], [], max(0.0, deadline - time.monotonic()))[0]:
                if not os.read(self.end, 65_536):
                    break
            else:
                os.kill(self.process_id, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.process_id, 0)[1])
        os.close(self.end)
        return status


def test_a_game_in_a_real_terminal() -> None:
    terminal = Terminal(OURS, "--seed", "3", "--save", "kept.json")
    assert "\x1b[" in terminal.until(PROMPT)  # colours
    terminal.type("architect 0 a1\n")
    assert "seat 1 (greedy): architect 1" in terminal.until(PROMPT)
    terminal.type("\x1b[D\xff\x80" + "\n")  # keys that are no text
    terminal.until(PROMPT)
    terminal.type("brown first\n")
    assert "Brown builds" in terminal.until(PROMPT)
    terminal.type("undo\n")
    terminal.until("taken back")
    terminal.until(PROMPT)
    terminal.type("\x03")  # Python's readline can miss a Ctrl-C that comes together with the prompt
    assert "saved in kept.json; it goes on with" in terminal.until("--resume kept.json", again="\x03")
    assert terminal.status() == 130
    assert len(SavedGame.read(Path("kept.json")).actions) == 2

    terminal = Terminal("--resume", "kept.json")
    assert "going on at decision 2" in terminal.until(PROMPT)
    terminal.type("white first\n")
    terminal.until("you: white first")
    terminal.until(PROMPT)
    terminal.type("\x04")  # the end of the input
    terminal.until("--resume kept.json")
    assert terminal.status() == 0


def test_a_terminal_that_is_closed_keeps_the_game() -> None:
    terminal = Terminal(OURS, "--seed", "3")
    terminal.until(PROMPT)
    terminal.type("architect 0 a1\n")
    terminal.until(PROMPT)
    os.close(terminal.end)
    os.waitpid(terminal.process_id, 0)
    assert SavedGame.read(Path(f"{OURS}-3.json")).actions[0] == 0


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_impatient_signals_interrupt_once() -> None:
    caught = 0
    with interrupted_by_signals():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            try:
                signal.raise_signal(number)
            except KeyboardInterrupt:
                caught += 1
    assert caught == 1
    with pytest.raises(KeyboardInterrupt):  # as before
        signal.raise_signal(signal.SIGINT)


def test_a_real_terminal_that_is_too_small() -> None:
    terminal = Terminal(OURS, columns=20)
    assert "Error: " in terminal.until("make it")
    assert terminal.status() == 1
