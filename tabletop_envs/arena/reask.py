"""Asking agents again: whether they would do what is recorded of them.

Which decisions, a hash over the games says, and a salt that who submits does not know: nobody can choose games so that
they do not come up. A stateless agent is asked in the position alone; another plays the game from its beginning up to
there, and all that it chooses on the way counts. Seats that forfeited are asked whether they fail again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from tabletop_envs.agents.base import seat_seed
from tabletop_envs.arena.asking import Answer, Question, Watched
from tabletop_envs.arena.replay import ILLEGAL, Replay, forfeiting_seat
from tabletop_envs.arena.submission import Submission
from tabletop_envs.core import loops
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.errors import IllegalActionError

if TYPE_CHECKING:
    from tabletop_envs.arena.check import How

SIMULATIONS: Final = 20_000
"""Simulations that the searches of others may spend on a file: with 100 a decision 200 decisions, with 1000 20."""
LEAST: Final = 20
"""Decisions that every agent is asked again, however long it thinks."""

Games = Sequence[tuple[int, Replay]]
"""Games with their lines."""


def quota(agent: Submission, owner: str | None, asked: int) -> int:
    """How many decisions an agent is asked again: all `asked` of who submits; of other searches fewer, if they are
    long."""
    simulations = agent.entrant.simulations
    if agent.name == owner or not simulations:
        return asked
    return min(asked, max(LEAST, SIMULATIONS // simulations))


def ask_all(
    game: Game,
    settings: Settings,
    played: Games,
    agents: Mapping[str, Submission],
    *,
    owner: str | None,
    how: How,
    wrong: Callable[[int, str], None],
    progress: Callable[[str, int, int], None],
) -> dict[str, int]:
    """Ask every agent again, and tell what does not agree; returns how many decisions each was asked.

    played: games that can have been played so; owner: whose games they are; wrong: takes line and text.
    """
    quotas = {name: quota(agent, owner, how.asked) for name, agent in agents.items()}
    drawn = draw(played, quotas, how.salt)
    asked = {}
    for name, agent in agents.items():
        watched = Watched(agent.entrant, game.spec.env_id, how.inside, how.patience)
        try:
            asking = _Asking(game, settings, agent, watched, wrong)
            forfeits = [entry for entry in played if _loser(entry[1]) == name]
            of = len(drawn[name]) + len(forfeits)
            for number, (line, replay, index) in enumerate(drawn[name]):
                progress(name, number, of)
                asking.decision(line, replay, index)
                if asking.lost:
                    break
            for number, (line, replay) in enumerate(forfeits[: how.asked] if name == owner else forfeits):
                progress(name, len(drawn[name]) + number, of)
                asking.forfeit(line, replay)
            asked[name] = asking.asked
        finally:
            watched.close()
    return asked


def _loser(replay: Replay) -> str | None:
    seat = forfeiting_seat(replay.end)
    return None if seat is None else replay.agents[seat]


# --- which ------------------------------------------------------------------------------------------------------


def draw(played: Games, quotas: Mapping[str, int], salt: str) -> dict[str, list[tuple[int, Replay, int]]]:
    """Which decisions of each agent, as (line, game, number of the action), by line and number.

    Each number of each game gets a random word out of the hash; they are taken by these words until all agents have
    their quota or no more decisions.
    """
    found: dict[str, list[tuple[int, Replay, int]]] = {name: [] for name in quotas}
    lengths = np.array([len(game.actions) - game.opening for _, game in played], dtype=np.int64)
    ends = lengths.cumsum()
    order = np.argsort(_words(played, salt, int(lengths.sum())), kind="stable")
    waiting = {name for name, number in quotas.items() if number}
    for drawn in order.tolist():
        if not waiting:
            break
        number = int(np.searchsorted(ends, drawn, side="right"))
        line, game = played[number]
        index = game.opening + drawn - int(ends[number] - lengths[number])
        if waiting.isdisjoint(game.agents):
            continue
        name = game.agents[seat_of(game, index)]
        if name in waiting:
            found[name].append((line, game, index))
            if len(found[name]) >= quotas[name]:
                waiting.remove(name)
    return {name: sorted(entries, key=lambda entry: (entry[0], entry[2])) for name, entries in found.items()}


def _words(played: Games, salt: str, size: int) -> np.ndarray:
    digest = hashlib.sha256(salt.encode())
    for _, game in played:
        digest.update(f"{game.seed} {game.agents} {game.actions}\n".encode())
    return np.random.PCG64(int(digest.hexdigest(), 16)).random_raw(size)


def position_at(replay: Replay, number: int) -> Position:
    """The position in which the action of this number was chosen."""
    position = replay.start()
    mask = position.action_mask()
    loops.replay(position.game.calls, position.states, 0, np.array(replay.actions[:number], dtype=np.int64), mask)
    return Position(position.game, position.settings, position.states)


def seat_of(replay: Replay, number: int) -> int:
    """Whose action it was."""
    position = position_at(replay, number)
    assert position.seat is not None, "the game went on"
    return position.seat


# --- asking -----------------------------------------------------------------------------------------------------


class _Asking:
    """One agent and what it answers.

    asked: how many decisions; lost: whether its process ended or hung, so that it is not worth asking on.
    """

    def __init__(
        self, game: Game, settings: Settings, agent: Submission, watched: Watched, wrong: Callable[[int, str], None]
    ) -> None:
        self.game = game
        self.settings = settings
        self.agent = agent
        self.watched = watched
        self.wrong = wrong
        self.asked = 0
        self.lost = False
        self._known: set[tuple[int, int]] = set()  # line and number of what it was asked
        self._at: tuple[int, int, int] | None = None  # line, seat and number of the last, while its memory lasts

    def decision(self, line: int, replay: Replay, index: int) -> None:
        """Ask for an action that is recorded."""
        for number in self._asked_before(line, replay, index):
            answer = self._answer(line, replay, number)
            if (line, number) not in self._known:
                self._known.add((line, number))
                self.asked += 1
                if answer.action != replay.actions[number]:
                    self._tell(line, replay, number, answer)
            if answer.ended:
                self.lost = True
                return

    def _tell(self, line: int, replay: Replay, number: int, answer: Answer) -> None:
        position = position_at(replay, number)
        who = f"actions[{number}]: {self.agent.name!r} (seat {position.seat})"
        recorded = _worded(position, replay.actions[number])
        self.wrong(line, f"{who} {_does(position, answer)}, but {recorded} is recorded")

    def forfeit(self, line: int, replay: Replay) -> None:
        """Ask in the last position of a game whether the agent fails there as recorded."""
        answer = Answer(None)
        for number in self._asked_before(line, replay, len(replay.actions)):
            answer = self._answer(line, replay, number)
            if answer.ended:
                break
        self.asked += 1
        position = position_at(replay, len(replay.actions))
        if self._failure(position, answer) != replay.end.partition(":")[0]:
            does = f"{self.agent.name!r} {_does(position, answer)}"
            self.wrong(line, f"end {replay.end!r} is recorded, but asked again {does}")

    def _failure(self, position: Position, answer: Answer) -> str:
        if answer.action is None:
            return answer.failure
        mask = position.action_mask()
        return "" if 0 <= answer.action < len(mask) and mask[answer.action] else ILLEGAL

    def _asked_before(self, line: int, replay: Replay, index: int) -> Iterator[int]:
        """The decisions that have to be asked for this one's sake, this one last."""
        if self.agent.entrant.stateless:
            yield index
            return
        seat = seat_of(replay, index)
        start = replay.opening
        if self._at is not None and self._at[:2] == (line, seat) and self._at[2] < index:
            start = self._at[2] + 1
        for number in range(start, index):
            if seat_of(replay, number) == seat:
                yield number
        yield index

    def _answer(self, line: int, replay: Replay, number: int) -> Answer:
        seat = seat_of(replay, number)
        begins = (
            self.agent.entrant.stateless or self._at is None or self._at[:2] != (line, seat) or self._at[2] >= number
        )
        answer = self.watched.ask(
            Question(
                num_players=replay.num_players,
                options=replay.options,
                seed=replay.seed,
                actions=replay.actions[:number],
                seat=seat,
                agent_seed=seat_seed(replay.seed, seat),
                begins=begins,
            )
        )
        self._at = None if answer.ended else (line, seat, number)
        return answer


def _does(position: Position, answer: Answer) -> str:
    return answer.words if answer.action is None else f"chooses {_worded(position, answer.action)}"


def _worded(position: Position, action: int) -> str:
    try:
        return f"{position.action_text(action)!r} ({action})"
    except IllegalActionError:
        return f"{action}, which is no action"
