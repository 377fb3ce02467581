"""Checks of replays: every game is recorded, written, read and verified, and what is changed in a line is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tabletop_envs.arena.replay import Recorder, Replay, rules_digest, sample, verify
from tabletop_envs.core.game import Game
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.testing.subject import Subject, fail, pick

_SAMPLED: Final = 2  # games that the built-in agents play with each settings
_OTHER: Final = "0" * 16  # a digest


def recorded_games(subject: Subject) -> str:
    """A recorded game comes back from its line, is verified, and differs from each changed one at the right place."""
    verified = 0
    for settings in subject.grid:
        for seed in range(subject.games):
            replay, end = _recorded(subject, settings, seed)
            _verified(end, replay, subject.game)
            _found(end, replay)
            verified += 1
        agents = ["random"] * (settings.num_players - 1) + ["greedy"]
        for replay in sample(subject.game, settings, agents, _SAMPLED):
            _verified(settings, replay, subject.game)
            verified += 1
    return f"{verified} games, rules digest {rules_digest(subject.game)}"


def _recorded(subject: Subject, settings: Settings, seed: int) -> tuple[Replay, Position]:
    position = Position.new(subject.game, settings.num_players, seed=seed, **settings.values)
    recorder = Recorder(position, [f"walk {seed}"] * settings.num_players)
    while not position.over:
        recorder.apply(pick(position, seed))
    return recorder.replay(), position


def _verified(place: Position | Settings, replay: Replay, game: Game) -> None:
    again = Replay.from_line(replay.to_line())
    if again != replay:
        fail(place, "the replay read from its own line is another one")
    differences = verify(again, game)
    if differences:
        fail(place, f"its own replay is not verified: {'; '.join(differences)}")


def _found(end: Position, replay: Replay) -> None:
    actions, last = replay.actions, len(replay.actions) - 1
    position = Position.new(end.game, end.num_players, seed=end.seed, **end.settings.values)
    for action in actions[:-1]:
        position.apply(action)
    illegal = [action for action, entry in enumerate(position.action_mask()) if not entry]
    changes = {
        "follow": replace(replay, actions=(*actions, actions[-1])),
        "is not over": replace(replay, actions=actions[:-1]),
        "points": replace(replay, points=tuple(points + 1 for points in replay.points)),
        "final digest": replace(replay, final=_OTHER),
        "rules digest": replace(replay, rules=_OTHER),
        "max_decisions": replace(replay, options={**replay.options, "max_decisions": 0}),
    }
    if illegal:
        changes[f"actions[{last}]"] = replace(replay, actions=(*actions[:-1], illegal[0]))
    for words, changed in changes.items():
        differences = verify(changed, end.game)
        if not differences or words not in differences[0]:
            fail(end, f"a changed replay is verified as {differences}, without a word of {words!r}")
