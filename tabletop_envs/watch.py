"""Watching a game: its frames from a replay or from agents at play, and stepping through them in a terminal.

A viewer is shown nothing that it may not know: of a decision that the game keeps secret, only that it was made;
points while the game has secrets and goes on, not at all (the picture shows those that are public).
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from tabletop_envs.agents import make_agent
from tabletop_envs.agents.base import Agent, ask, begin, check_table, finish
from tabletop_envs.arena.replay import Replay, outcome, scan, why_unfinished
from tabletop_envs.core.game import ALL, PUBLIC, Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import OPPONENTS, derive_key
from tabletop_envs.core.record import PUBLIC as SEEN
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import CorruptDataError, GameOverError, IllegalActionError, OptionError, TerminalError
from tabletop_envs.render.ansi import ansi
from tabletop_envs.render.frame import Frame

SECRET: Final = "a secret decision"
DRAWN: Final = "opening, drawn at random"  # who made a decision that no agent was asked for
PROMPT: Final = "Enter = next, b = back, a number = go to that step, q = quit: "
PROMPT_LAST: Final = "Enter or q = leave, b = back, a number = go to that step: "
CLEAR: Final = "\x1b[2J\x1b[H"  # the terminal, and its cursor to the upper left corner


@dataclass(frozen=True)
class Film:
    """A game made ready for a viewer: the position before each decision and behind the last."""

    title: str
    players: tuple[str, ...]
    frames: tuple[Frame, ...]


# --- from a game to frames --------------------------------------------------------------------------------------


def load(path: str | Path, number: int = 1) -> Replay:
    """The replay in one line of a file; lines are counted from 1, blank ones and a header left out.

    Raises OptionError when the file has fewer, CorruptDataError when the line is no replay.
    """
    found = 0
    for found, line in enumerate((line for line in scan(path) if line.header is None), 1):
        if found == number and line.replay is not None:
            return line.replay
        if found == number and line.error is not None:
            raise line.error
    if found == 0:
        raise CorruptDataError(f"{path} holds no game: give a file that `replay record` or a Recorder wrote")
    raise OptionError(f"{path} has no game {number}: give a number from 1 to {found}")


def film_of(replay: Replay, viewer: int = PUBLIC) -> Film:
    """A recorded game for a viewer: a seat, `PUBLIC` or `ALL`.

    Raises OptionError for no viewer, UnknownGameError, and CorruptDataError where the game did not go as recorded.
    """
    position = replay.start()
    try:
        film = _film(position, replay.actions, replay.agents, viewer, replay.opening)
    except (IllegalActionError, GameOverError) as error:
        raise CorruptDataError(
            f"the recorded game cannot be played: actions[{position.decisions}]: {error}; `replay verify` tells more"
        ) from error
    unfinished = why_unfinished(position, replay.forfeit)
    if unfinished:
        raise CorruptDataError(f"of the recorded game, {unfinished}: record it anew")
    points, places, end = outcome(position, replay.forfeit)
    recorded, found = (replay.points, replay.places, replay.end), (tuple(points), tuple(places), end)
    if recorded != found:
        raise CorruptDataError(
            f"the recorded game ends with points, places, end {recorded}, but played again with {found}: "
            "`replay verify` tells more"
        )
    return film if replay.forfeit is None else _forfeited(film, replay)


def _forfeited(film: Film, replay: Replay) -> Film:
    """The film with the end that a forfeit put to its game."""
    reason, _, seat = replay.end.partition(":")
    events = (*film.frames[-1].events, f"seat {seat} forfeits the game ({reason})")
    last = dataclasses.replace(film.frames[-1], events=events, points=replay.points, places=replay.places)
    return dataclasses.replace(film, frames=(*film.frames[:-1], last))


def film_of_agents(
    game: Game, settings: Settings, names: Sequence[str], *, seed: int = 0, viewer: int = PUBLIC
) -> Film:
    """A new game between agents for a viewer: a seat, `PUBLIC` or `ALL`.

    names: as `make_agent` takes them, one a seat; seed: the key of the game, from which those of the agents follow.

    Raises OptionError when the names are not one a seat and for an agent that does not play such a game, and what
    `make_agent` raises.
    """
    if len(names) != settings.num_players:
        raise OptionError(f"{len(names)} agents do not fill {settings.num_players} seats: name one a seat")
    position = Position.new(game, settings.num_players, seed=seed, **settings.values)
    agents = [make_agent(name, game) for name in names]
    try:
        for agent in agents:
            check_table(agent, settings)
        for seat, agent in enumerate(agents):
            begin(agent, seat, derive_key(seed, OPPONENTS, seat))
        return _film(position, _choices(position, agents), names, viewer)
    finally:
        for agent in agents:
            finish(agent)


def _choices(position: Position, agents: Sequence[Agent]) -> Iterator[int]:
    while position.seat is not None:
        yield ask(agents[position.seat], position)


def _film(position: Position, actions: Iterable[int], players: Sequence[str], viewer: int, opening: int = 0) -> Film:
    """The frames of a game, which is played in `position`."""
    frames = [_frame(position, viewer)]
    for number, action in enumerate(actions):
        seat, words = position.seat, decision_text(position, action, viewer)
        position.apply(action)
        player = DRAWN if number < opening else players[seat or 0]
        frames.append(_frame(position, viewer, seat, player, words))
    title = f"{position.game.spec.title}: {' against '.join(players)}"
    return Film(title, tuple(players), tuple(frames))


def _frame(position: Position, viewer: int, seat: int | None = None, player: str = "", words: str = "") -> Frame:
    points = places = None
    if _knows_points(position, viewer):
        points, places = tuple(position.points()), tuple(position.places())
    return Frame(position.scene(viewer), seat, player, words, tuple(position.events()), points, places)


def decision_text(position: Position, action: int, viewer: int) -> str:
    """What a viewer learns of a decision that the seat to act makes; raises IllegalActionError outside the space."""
    words = position.action_text(action)
    if viewer in (ALL, position.seat) or not position.game.actions.is_secret(action):
        return words
    return SECRET


def _knows_points(position: Position, viewer: int) -> bool:
    # running points may count what is secret; what of them is public, the picture shows
    fields = position.game.modules["state"].FIELDS
    return viewer == ALL or position.over or all(field.sees == SEEN for field in fields)


# --- in a terminal ----------------------------------------------------------------------------------------------


def step_through(
    film: Film,
    *,
    delay: float | None = None,
    source: TextIO | None = None,
    sink: TextIO | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Show a game step by step in a terminal, asking how to go on.

    delay: seconds a step, nobody is asked; source, sink: streams to read from and write to, by default the terminal.

    Raises TerminalError for a terminal that is narrower than the pictures.
    """
    show = _Screen(film, sink or sys.stdout)
    last = len(film.frames) - 1
    if delay is not None:
        for number in range(last + 1):
            show(number)
            if number < last:
                sleep(delay)
        return
    number, shown = 0, -1
    while 0 <= number <= last:
        if number != shown:
            show(number)
            shown = number
        typed = show.ask(source or sys.stdin, PROMPT_LAST if number == last else PROMPT)
        if typed is None or typed in ("q", "quit"):
            return
        if typed == "":
            number += 1
        elif typed in ("b", "back"):
            number = max(0, number - 1)
        elif typed.isdecimal() and int(typed) <= last:
            number = int(typed)
        else:
            show.say(f"{typed!r} is no step: type a number from 0 to {last}, or Enter, b or q")


class _Screen:
    """Writes frames to a stream; a terminal is cleared before each."""

    def __init__(self, film: Film, sink: TextIO) -> None:
        self.film, self.sink = film, sink
        self.terminal = sink.isatty()
        if self.terminal:
            needed = max(sum(len(cell.text) for cell in row) for f in film.frames for row in (*f.scene.grid, ()))
            there = shutil.get_terminal_size().columns
            if there < needed:
                raise TerminalError(
                    f"the terminal has {there} columns, but the game takes {needed}: widen it, or give --html FILE"
                )

    def __call__(self, number: int) -> None:
        frame, last = self.film.frames[number], len(self.film.frames) - 1
        head = f"{self.film.title}, step {number} of {last}"
        lines = [head, "", ansi(frame.scene, None if self.sink is sys.stdout else False), "", frame.words]
        if frame.points is not None and frame.places is not None:
            lines.append(_table(frame.points, frame.places))
        self.say((CLEAR if self.terminal else "") + "\n".join(lines) + "\n")

    def say(self, text: str) -> None:
        print(text, file=self.sink)

    def ask(self, source: TextIO, prompt: str) -> str | None:
        """What is typed, in small letters; None at the end of the input."""
        self.sink.write(prompt)
        self.sink.flush()
        line = source.readline()
        if not line:
            self.say("")
            return None
        return line.strip().lower()


def _table(points: tuple[int, ...], places: tuple[int, ...]) -> str:
    pairs = enumerate(zip(points, places, strict=True))
    return "points: " + ", ".join(f"seat {seat}: {own} (place {place})" for seat, (own, place) in pairs)
