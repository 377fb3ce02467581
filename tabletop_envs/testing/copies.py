"""Checks that a record is the whole game: copies, stored forms, replays, and every way of stepping agree."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Final

import numpy as np

from tabletop_envs.core import loops, record
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.testing.subject import RANDOM, Subject, fail, pick, walk

_BATCH: Final = 6  # games played side by side

_COPIES: Final[dict[str, Callable[[Position], Position]]] = {
    "clone": Position.clone,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda position: pickle.loads(pickle.dumps(position)),
    "bytes": lambda position: Position(
        position.game, position.settings, record.from_bytes(position.game.dtype, position.to_bytes())
    ),
}


def copies(subject: Subject) -> str:
    """Every kind of copy is equal and independent, in the middle and at the end."""
    for position in subject.some_positions():
        before, mask = position.to_bytes(), position.action_mask()
        for kind, make in _COPIES.items():
            other = make(position)
            if other != position or other.to_bytes() != before or not np.array_equal(other.action_mask(), mask):
                fail(
                    position,
                    f"{kind} gives another position: {record.differences(position.states, other.states)[:3]}",
                )
            if np.shares_memory(other.states, position.states):
                fail(position, f"{kind} shares memory with its original")
            while not other.over:
                other.apply(pick(other, 0, RANDOM))
            if position.to_bytes() != before or not np.array_equal(position.action_mask(), mask):
                fail(position, f"playing on with the result of {kind} changes the original")
    return ", ".join(_COPIES)


def history(subject: Subject) -> str:
    """Clones of earlier positions stay as they were while the game goes on."""
    for game in subject.walks():
        kept = []
        for position in game:
            kept.append((position.clone(), position.to_bytes()))
        for number, (earlier, data) in enumerate(kept):
            if earlier.to_bytes() != data:
                fail(position, f"the clone made at step {number} has changed by the end")
    return ""


def replays(subject: Subject) -> str:
    """Key, options and actions give every byte of the game again, from its start and from any stored position."""
    for settings in subject.grid:
        for seed in range(subject.games):
            actions, states = [], []
            for position in walk(subject.game, settings, seed):
                states.append(position.to_bytes())
                if not position.over:
                    actions.append(pick(position, seed))
            middle = len(actions) // 2
            starts = {
                0: Position.new(subject.game, settings.num_players, seed=seed, **settings.values),
                middle: Position(subject.game, settings, record.from_bytes(subject.game.dtype, states[middle])),
            }
            for first, again in starts.items():
                for number in range(first, len(states)):
                    if again.to_bytes() != states[number]:
                        fail(again, f"the replay from decision {first} differs")
                    if number < len(actions):
                        again.apply(actions[number])
    return ""


# --- ways of stepping -------------------------------------------------------------------------------------------


def batches(subject: Subject) -> str:
    """Dealing, stepping, observing and scoring a batch is the same as one position after another."""
    for settings in subject.grid:
        _batch_agrees(subject, settings)
    return f"{_BATCH} games at a time"


def _batch_agrees(subject: Subject, settings: Settings) -> None:
    game, rows = subject.game, np.arange(_BATCH)
    singles = [Position.new(game, settings.num_players, seed=seed, **settings.values) for seed in range(_BATCH)]
    states = np.repeat(game.template(settings), _BATCH)
    masks = np.zeros((_BATCH, game.num_actions(settings)), dtype=np.int8)
    loops.deal_batch(game.calls, game.template(settings), states, rows, np.arange(_BATCH), masks)
    while len(rows):
        for row in rows.tolist():
            _same(singles[row], states[row : row + 1], masks[row], "loops.deal_batch or loops.step_batch")
        outs = np.full((len(rows), game.observation_size(settings)), np.nan, dtype=np.float32)
        seats = np.arange(len(rows)) % settings.num_players
        loops.observe_batch(game.calls, states, rows, seats, outs)
        points, places = np.zeros((2, len(rows), settings.num_players), dtype=np.int32)
        loops.score_batch(game.calls, states, rows, points, places)
        for number, row in enumerate(rows.tolist()):
            single = singles[row]
            if not np.array_equal(outs[number], single.observe(int(seats[number]))):
                fail(single, "loops.observe_batch gives another observation")
            if points[number].tolist() != single.points() or places[number].tolist() != single.places():
                fail(single, "loops.score_batch gives another score")
        rows = rows[states["over"][rows] == 0]
        actions = np.array([pick(singles[row], row, RANDOM) for row in rows.tolist()], dtype=np.int64)
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            _observed_step_agrees(singles[row], action)
            singles[row].apply(action)
        loops.step_batch(game.calls, states, rows, actions, masks)


def _observed_step_agrees(position: Position, action: int) -> None:
    copied, mask = position.states.copy(), np.zeros(position.game.num_actions(position.settings), dtype=np.int8)
    out = np.full(position.game.observation_size(position.settings), np.nan, dtype=np.float32)
    answer = int(loops.step_observed(position.game.calls, copied, 0, action, mask, out))
    after = position.clone()
    after.apply(action)
    _same(after, copied, mask, "loops.step_observed")
    seat = -1 if after.seat is None else after.seat
    if answer != seat + 1 + (256 if after.states["num_events"][0] else 0):
        fail(after, f"loops.step_observed returns {answer} for seat {seat}")
    if not np.array_equal(out, after.observe(max(seat, 0))):
        fail(after, "loops.step_observed gives another observation")


def _same(position: Position, states: np.ndarray, mask: np.ndarray, way: str) -> None:
    difference = record.differences(position.states, states)
    if difference:
        fail(position, f"{way} gives another record: {'; '.join(difference[:3])}")
    if not np.array_equal(position.action_mask(), mask):
        fail(position, f"{way} gives another mask")
