"""Playing in a terminal: people on some seats of a table, agents on the others.

A person is shown the position for its seat, what happened since its last decision and what it may do, and types an
action or a command. However it leaves, the game is kept in a file from which it goes on. Reads and writes lines of
text; knows games through `Position` and `arena.table` alone.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import shlex
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from tabletop_envs import registry
from tabletop_envs.arena.table import SavedGame, Table, seat_names
from tabletop_envs.core.game import PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.errors import NotationError, OptionError, PlayerQuitError, TabletopError, TerminalError
from tabletop_envs.files import write_whole
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.scene import COLUMNS, Scene

with contextlib.suppress(ImportError):  # where there is one, the lines that a person types can be edited
    import readline  # noqa: F401

PROMPT: Final = "your action: "
HANDOVER: Final = "Enter, when only you look: "
HELP: Final = """\
Type an action: its number in the list, or its words. The beginning of the words is enough where it fits one
action only; where it fits several, these are listed.
  list [WORDS]  the legal actions, or those that begin with the words
  show          the position and the news again
  undo          take back your last decision, and all that came of it
  save [FILE]   keep the game in a file, from which `tabletop-envs play --resume FILE` goes on
  quit          leave; the game is saved (Ctrl-C and the end of the input do the same)
  help          this"""

_SEEDS: Final = 1_000_000  # of new games: few digits, as they name files
_IN_FULL: Final = 12  # legal actions that are listed in all their words
_ALWAYS: Final = 8  # lines of a list for which there is room in any terminal
_GROUP: Final = 3  # actions that have to begin with the same words to be listed behind these
_DIGITS: Final = 9  # of a number that somebody may mean
_GAP: Final = "  "  # between two columns
_IMPATIENT: Final = 1.0  # seconds in which further signals mean the same as the first
_CLEAR: Final = "\x1b[2J\x1b[3J\x1b[H"  # a terminal and what it has scrolled away

Size = os.terminal_size


# --- beginning --------------------------------------------------------------------------------------------------


def new_table(
    game: Game,
    num_players: int | None = None,
    *,
    against: Sequence[str] = (),
    seats: Sequence[int] = (),
    seed: int | None = None,
    **options: Any,
) -> Table:
    """A table with a new game.

    num_players: by default as many as are named, else the least possible; against: agents of the other seats in
    order, or one for all of them (none: greedy); seats: of people (none: seat 0); seed: None for any.

    Raises OptionError, UnknownAgentError and what else `make_agent` raises.
    """
    people = tuple(sorted(set(seats))) or (0,)
    if num_players is None and (len(against) > 1 or len(people) > 1):
        num_players = max(game.spec.min_players, len(people) + len(against))
    settings = game.settings(num_players, **options)
    everywhere = len(people) == settings.num_players
    names = seat_names(settings.num_players, people, against or (() if everywhere else ("greedy",)))
    key = secrets.randbelow(_SEEDS) if seed is None else seed
    return Table(Position.new(game, settings.num_players, seed=key, **options), names)


def resumed_table(path: Path, game: str | None = None) -> Table:
    """The table of a saved game; game: which it has to be of, where that was named.

    Raises OptionError for a game of another id, and what `SavedGame.read` and `SavedGame.table` raise.
    """
    saved = SavedGame.read(path)
    if game is not None and registry.spec(game).env_id != saved.game:
        raise OptionError(f"{path} is a game of {saved.game!r}, not of {game!r}: leave the game out, or name that one")
    return saved.table(str(path))


# --- lists of actions -------------------------------------------------------------------------------------------


def columns(entries: Sequence[str], width: int) -> list[str]:
    """Entries in columns, read downwards, as lines of a width."""
    wide = max(map(len, entries), default=0) + len(_GAP)
    across = max(1, (width + len(_GAP)) // wide)
    rows = -(-len(entries) // across)
    padded = [entry.ljust(wide - len(_GAP)) for entry in entries]
    return [_GAP.join(padded[row::rows]).rstrip() for row in range(rows)]


class Offer:
    """The legal actions of a position in words, numbered from 1."""

    def __init__(self, position: Position) -> None:
        self.actions: list[int] = position.legal_actions().tolist()
        self.texts = [position.action_text(action) for action in self.actions]
        self._blocks = [position.game.actions.decode(action)[0] for action in self.actions]
        self._digits = len(str(len(self.actions)))

    def beginning(self, words: str) -> list[int]:
        """The indices of the actions whose words begin so."""
        return [index for index, text in enumerate(self.texts) if _normal(text).startswith(words)]

    def holding(self, words: str) -> list[int]:
        """The indices of the actions that have these words anywhere."""
        return [index for index, text in enumerate(self.texts) if f" {words} " in f" {_normal(text)} "]

    def lines(self, width: int, room: int | None = None, chosen: Sequence[int] | None = None) -> list[str]:
        """A list of the actions.

        width, room: of the terminal, for the list; where it has no room, groups are counted instead (None: never);
        chosen: the indices of those to list (None: all).
        """
        indices = range(len(self.actions)) if chosen is None else chosen
        if len(indices) <= _IN_FULL:
            return columns([self._entry(index, self.texts[index]) for index in indices], width)
        groups = self._groups(indices)
        label = max(map(len, groups)) + len(_GAP)
        listed = [line for stem, members in groups.items() for line in self._group(stem, members, width, label)]
        if room is None or len(listed) <= max(room, _ALWAYS):
            return listed
        counted = [self._count(stem, members) for stem, members in groups.items()]
        return [*counted, "`list` shows them all; type some words, and those that begin so are listed"]

    def _groups(self, indices: Sequence[int]) -> dict[str, list[int]]:
        """Indices by the words that they begin with, within a block; under "" those that share theirs with few."""
        together: dict[tuple[str, str], list[int]] = {}
        for index in indices:
            together.setdefault((self._blocks[index], self.texts[index].rpartition(" ")[0]), []).append(index)
        groups = {stem: members for (_, stem), members in together.items() if stem and len(members) >= _GROUP}
        grouped = {index for members in groups.values() for index in members}
        single = [index for index in indices if index not in grouped]
        return {**groups, "": single} if single else groups

    def _group(self, stem: str, members: Sequence[int], width: int, label: int) -> list[str]:
        """The lines of a group, behind its words where it fits into one line, else below them."""
        if not stem:
            return columns([self._entry(index, self.texts[index]) for index in members], width)
        entries = [self._entry(index, self.texts[index].rpartition(" ")[2]) for index in members]
        beside = columns(entries, width - label)
        if len(beside) == 1:
            return [stem.ljust(label) + beside[0]]
        wide = max(map(len, entries))
        across = max(1, width // (wide + len(_GAP)))
        rows = [entries[start : start + across] for start in range(0, len(entries), across)]
        return [f"{stem} ...", *("".join(_GAP + entry.ljust(wide) for entry in row).rstrip() for row in rows)]

    def _entry(self, index: int, text: str) -> str:
        return f"{index + 1:>{self._digits}} {text}"

    def _count(self, stem: str, members: Sequence[int]) -> str:
        first, last = members[0] + 1, members[-1] + 1
        if len(members) == 1:
            return f"{_GAP}{self.texts[members[0]]} (number {first})"
        return f"{_GAP}{stem or 'others'}: {len(members)} actions (numbers {first} to {last})"


def _normal(text: str) -> str:
    return " ".join(text.split()).lower()


# --- the conversation -------------------------------------------------------------------------------------------


class Session:
    """A conversation with the people at a table.

    file: where the game is kept, from the beginning on; when it is over, as a replay (None: nowhere, until somebody
    saves it or leaves); source, sink: streams to read from and write to, by default the terminal; size: returns the
    size of the terminal, None where it has none (a file, say), by default that of the sink.

    Raises TerminalError where the board does not fit, OptionError and OSError where the file cannot be written.
    """

    def __init__(
        self,
        table: Table,
        *,
        file: Path | None = None,
        source: TextIO | None = None,
        sink: TextIO | None = None,
        size: Callable[[], Size | None] | None = None,
    ) -> None:
        self._table = table
        self._file = file
        self._source = source or sys.stdin
        self._sink = sink or sys.stdout
        self._size = size or (lambda: _size_of(self._sink))
        self._facing: int | None = None  # the seat whose person looks at the terminal
        problem = self._too_small(table.start.scene(table.people[0]))
        if problem:
            raise TerminalError(problem)
        if file is not None:
            SavedGame.of(table).write(file)

    def run(self) -> bool:
        """Play until the game is over (True) or somebody leaves (False), and close the agents.

        KeyboardInterrupt, and whatever an agent raises, comes through when the game is saved.
        """
        try:
            self._greet()
            self._table.ask_agents()
            while not self._table.position.over:
                self._turn()
                self._keep()  # before an agent takes its time
                self._table.ask_agents()
                self._keep()
            self._end()
        except PlayerQuitError:
            self._leave()
            return False
        except BaseException:
            self._leave()
            raise
        finally:
            self._table.close()
        return True

    # --- a turn

    def _turn(self) -> None:
        """One decision of the person whose turn it is, or one taken back."""
        position = self._table.position
        seat = position.seat
        assert seat is not None, "the game is not over"
        self._hand_over(seat)
        offer = Offer(position)
        self._offer(offer, self._show(seat))
        while True:
            typed = self._read(PROMPT)
            command, _, rest = typed.partition(" ")
            if not typed:
                continue
            if command == "undo" and not rest:
                if self._table.undo():
                    self._say("taken back")
                    return
                self._say("there is nothing to take back: you have not decided yet")
            elif command == "list":
                self._list(offer, _normal(rest))
            elif command == "save":
                self._save(rest.strip())
            elif typed == "show":
                self._show(seat)
            elif typed in ("help", "?"):
                self._help()
            else:
                action = self._chosen(_normal(typed), position, offer)
                if action is not None:
                    self._table.decide(action)
                    self._say(f"you: {position.action_text(action)}")
                    return

    def _chosen(self, typed: str, position: Position, offer: Offer) -> int | None:
        if typed.isdecimal():
            number = int(typed) if len(typed) <= _DIGITS else 0
            if 1 <= number <= len(offer.actions):
                return offer.actions[number - 1]
            self._say(f"there is no number {typed[:_DIGITS]}: they go from 1 to {len(offer.actions)}")
            return None
        try:
            action = position.parse_action(typed)
        except NotationError as error:
            return self._begun(typed, offer, str(error))
        if action in offer.actions:
            return action
        text = position.action_text(action)
        self._say(f"{text!r} is not legal now: `list` shows what is")
        stem = _normal(text.rpartition(" ")[0])
        near = offer.beginning(stem) if stem else []
        if near:
            self._say(f"legal with {stem!r}:", *offer.lines(self._width(), chosen=near))
        return None

    def _begun(self, typed: str, offer: Offer, reason: str) -> int | None:
        """The one legal action whose words begin so; else those that do, or why there is none."""
        fitting = offer.beginning(typed)
        if len(fitting) == 1:
            return offer.actions[fitting[0]]
        if fitting:
            self._say(*offer.lines(self._width(), chosen=fitting))
            return None
        holding = offer.holding(typed)
        if holding:
            self._say(f"legal with {typed!r}:", *offer.lines(self._width(), chosen=holding))
        else:
            text = f"{reason}; `list` shows the legal actions, `help` the commands"
            self._say(*textwrap.wrap(text, self._width()))
        return None

    def _list(self, offer: Offer, words: str) -> None:
        fitting = offer.beginning(words)
        if fitting:
            self._say(*offer.lines(self._width(), chosen=fitting))
        else:
            self._say(f"no legal action begins with {words!r}: `list` shows them all")

    # --- what is shown

    def _greet(self) -> None:
        start = self._table.start
        changed = ", ".join(f"{name}={value}" for name, value in start.settings.changed().items())
        people = ", ".join(f"seat {seat}" for seat in self._table.people)
        others = [self._table.who(seat) for seat in range(start.num_players) if seat not in self._table.people]
        self._say(
            f"{start.game.spec.title}" + (f" with {changed}" if changed else "") + f", seed {start.seed}",
            f"you: {people}" + (f"; against: {', '.join(others)}" if others else ""),
            "type `help` for the commands, `quit` to leave",
        )
        if self._table.steps:
            self._say(f"going on at decision {self._table.position.decisions}")

    def _hand_over(self, seat: int) -> None:
        """Where people keep secrets from each other, let them change places."""
        if self._facing not in (None, seat) and self._table.has_secrets():
            if self._size() is not None:
                self._sink.write(_CLEAR)
            self._say(f"it is the turn of seat {seat}")
            self._read(HANDOVER)
        self._facing = seat

    def _lines_of_position(self, seat: int) -> list[str]:
        scene = self._table.position.scene(seat)
        position = self._table.position
        news = self._table.news(seat)
        decided = any(step.seat == seat for step in self._table.steps)
        lines = ["", *self._drawn(scene), ""]
        if news:
            lines.append("since your last decision:" if decided else "so far:")
        for line in news:
            lines += textwrap.wrap(line, self._width(), initial_indent="  ", subsequent_indent="    ")
        lines.append(f"you are seat {seat} of {position.num_players}, {position.phase.replace('_', ' ')}")
        return lines

    def _show(self, seat: int) -> int:
        """Show the position and the news; returns the number of lines."""
        problem = self._too_small(self._table.position.scene(seat))
        if problem:
            self._say(problem)
        lines = self._lines_of_position(seat)
        self._say(*lines)
        return len(lines)

    def _offer(self, offer: Offer, above: int) -> None:
        size = self._size()
        room = None if size is None else size.lines - above - 2  # for the heading and the prompt
        self._say(f"{len(offer.actions)} legal actions:", *offer.lines(self._width(), room))

    def _drawn(self, scene: Scene) -> list[str]:
        colour = None if self._sink is sys.stdout else self._size() is not None
        return ansi(scene, colour).split("\n")

    def _too_small(self, scene: Scene) -> str | None:
        """What is wrong with the size of the terminal."""
        size = self._size()
        if size is None:
            return None
        wide = max((sum(len(cell.text) for cell in row) for row in scene.grid), default=0)
        high = len(scene.grid) + 1  # and the prompt
        if size.columns >= wide and size.lines >= high:
            return None
        there = f"{size.columns} columns and {size.lines} lines"
        return f"the terminal has {there}, but the board takes {wide} and {high}: make it larger"

    def _help(self) -> None:
        self._say(HELP)

    # --- keeping the game

    def _keep(self) -> None:
        if self._file is not None:
            SavedGame.of(self._table).write(self._file)

    def _save(self, name: str) -> None:
        path = Path(name).expanduser() if name else self._file or self._free()
        try:
            if path != self._file:
                check_free(path)
            SavedGame.of(self._table).write(path)
        except (TabletopError, OSError) as error:
            self._say(f"not saved: {_words(error)}")
            return
        self._file = path
        self._say(f"saved in {path}")

    def _free(self, folder: Path | None = None) -> Path:
        """The name of a file that does not exist."""
        start = self._table.start
        name = f"{start.game.spec.id}-{start.seed}"
        number = 1
        while True:
            path = (folder or Path()) / (f"{name}.json" if number == 1 else f"{name}-{number}.json")
            if not path.exists():
                return path
            number += 1

    def _leave(self) -> None:
        """Keep the game, then say where."""
        if self._file is None and not any(step.seat in self._table.people for step in self._table.steps):
            self._say_if_possible("\nnothing was decided: nothing is saved")
            return
        saved = SavedGame.of(self._table)
        places = [*([self._file] if self._file else []), self._free(), self._free(Path(tempfile.gettempdir()))]
        refused = ""
        for path in places:
            try:
                saved.write(path)
            except (TabletopError, OSError) as error:
                refused += f"\nnot saved: {_words(error)}"
                continue
            command = f"tabletop-envs play --resume {shlex.quote(str(path))}"
            self._say_if_possible(f"{refused}\nsaved in {path}; it goes on with: {command}")
            return
        self._say_if_possible(f"{refused}\nthe game is lost: there is no place to save it in")

    def _end(self) -> None:
        people, position = self._table.people, self._table.position
        viewer = people[0] if len(people) == 1 else PUBLIC  # several people look now
        news = self._table.news(viewer) if viewer != PUBLIC else []
        self._say("", *self._drawn(position.scene(viewer)), "")
        if news:
            self._say("since your last decision:", *(f"  {line}" for line in news))
        self._say("the game is over" + (", stopped at its cap and scored as it stands" if position.capped else ""))
        for place, seat, points in sorted(
            zip(position.places(), range(position.num_players), position.points(), strict=True)
        ):
            who = "you" if people == (seat,) else self._table.names[seat]
            self._say(f"  place {place}: seat {seat} ({who}), {points} points")
        if self._file is not None:
            write_whole(self._file, self._table.replay().to_line() + "\n")
            self._say(f"replay saved in {self._file}")

    # --- streams

    def _read(self, prompt: str) -> str:
        """A line without blanks around it; raises PlayerQuitError for `quit` and at the end of the input."""
        while True:
            try:
                typed = self._line(prompt).strip()
            except EOFError:
                raise PlayerQuitError("the input ended") from None
            except UnicodeDecodeError:
                self._say("that cannot be read as text: type it again")
                continue
            if typed == "quit":
                raise PlayerQuitError("somebody left")
            return typed

    def _line(self, prompt: str) -> str:
        if self._source is sys.stdin and self._sink is sys.stdout:
            return input(prompt)
        self._sink.write(prompt)
        self._sink.flush()
        line = self._source.readline()
        if not line:
            raise EOFError
        return line

    def _width(self) -> int:
        size = self._size()
        return COLUMNS if size is None else size.columns

    def _say(self, *lines: str) -> None:
        print(*lines, sep="\n", file=self._sink, flush=True)

    def _say_if_possible(self, *lines: str) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._say(*lines)


def check_free(path: Path) -> None:
    """Raise OptionError for a file that is there already."""
    if path.exists():
        raise OptionError(f"{path} is there already: name another file, or remove it")


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, TabletopError):
        return f"{error.filename}: {error.strerror}: name another place"
    return str(error)


def _size_of(sink: TextIO) -> Size | None:
    if not sink.isatty():
        return None
    try:
        size = os.get_terminal_size(sink.fileno())
    except (OSError, ValueError):
        return None
    return size if size.columns and size.lines else None  # one that was never told its size says 0 x 0


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Within it, a closed terminal and a request to end raise KeyboardInterrupt, like Ctrl-C.

    Signals that follow at once are left out, so that an impatient one does not stop the saving.
    """
    raised = -math.inf

    def interrupt(number: int, frame: Any) -> None:
        nonlocal raised
        now = time.monotonic()
        if now - raised >= _IMPATIENT:
            raised = now
            raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
