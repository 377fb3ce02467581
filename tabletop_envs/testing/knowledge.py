"""Checks of the information boundary: what observation, mask, greedy baseline and texts may depend on."""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core import loops
from tabletop_envs.core.game import PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.core.random import POLICY, SALT_LIMIT, word
from tabletop_envs.core.record import HIDDEN, Field
from tabletop_envs.core.record import PUBLIC as SEEN
from tabletop_envs.testing.subject import RANDOM, Subject, fail, guard_kept, guarded, pick

_SALTS: Final = (1, 2, 3)
_CHANGES: Final = 3  # entries of each secret field that are changed in a position


def observations(subject: Subject) -> str:
    """Every entry of every seat's observation is written, finite and in [0, 1]; nothing else is touched."""
    used = np.zeros(subject.game.observations.full_size, dtype=bool)
    seen = 0
    for position in subject.some_positions():
        before = position.to_bytes()
        for seat in range(position.num_players):
            out, around = guarded(position.game.observation_size(position.settings), np.float32, np.nan)
            loops.observe(position.game.calls, position.states, 0, seat, out)
            _in_unit_range(position, seat, out)
            if not guard_kept(around, np.nan):
                fail(position, f"observe of seat {seat} writes beyond the vector")
            if not np.array_equal(out, position.observe(seat)):
                fail(position, f"two observations of seat {seat} differ")
            _mark_used(position, out, used)
            seen += 1
        if position.to_bytes() != before:
            fail(position, "observe changes the record")
    layout = subject.game.observations
    idle = [b.name for b in layout.blocks if not used[layout.start(b.name) : layout.start(b.name) + b.size].any()]
    return f"{seen} observations" + (f"; never anything but 0: {', '.join(idle)}" if idle else "")


def _in_unit_range(position: Position, seat: int, out: np.ndarray) -> None:
    if np.isfinite(out).all() and out.min(initial=0.0) >= 0.0 and out.max(initial=0.0) <= 1.0:
        return
    wrong = int(np.flatnonzero(~((out >= 0.0) & (out <= 1.0)))[0])
    what = "is not written" if np.isnan(out[wrong]) else f"is {out[wrong]}, outside 0 to 1"
    fail(position, f"entry {wrong} of seat {seat}'s observation ({_block_of(position, wrong)}) {what}")


def _block_of(position: Position, index: int) -> str:
    for block in position.game.observations.present(position.settings.values):
        if index < block.size:
            return f"{block.name}[{index}]"
        index -= block.size
    return "behind the last block"


def _mark_used(position: Position, out: np.ndarray, used: np.ndarray) -> None:
    layout = position.game.observations
    for name, part in layout.decode(out, position.settings.values).items():
        used[layout.start(name) : layout.start(name) + part.size] |= part.ravel() != 0


# --- determinize ------------------------------------------------------------------------------------------------


def determinize(subject: Subject) -> str:
    """A re-dealt copy keeps what the seat knows, has its own key, plays on soundly and varies what is secret."""
    varied: dict[str, bool] = {field.name: False for field in subject.secrets if not field.screened}
    seen = 0
    for position in subject.some_positions():
        for seat in range(position.num_players):
            copies = [position.determinize(seat, salt) for salt in (*_SALTS, SALT_LIMIT - 1)]
            for copy in copies:
                _keeps(subject, position, copy, seat)
            _same_texts(position, _told(position, seat), _told(copies[0], seat), f"determinize of seat {seat}")
            if position.determinize(seat, _SALTS[0]) != copies[0]:
                fail(position, f"determinize of seat {seat} gives two results for one salt")
            if len({copy.seed for copy in (position, *copies)}) < 1 + len(copies):
                fail(position, f"determinize of seat {seat} does not re-key chance by the salt: call rekey(s, salt)")
            for name in varied:
                varied[name] |= any(not np.array_equal(copy.states[name], position.states[name]) for copy in copies)
            _plays_on(position, copies[0], seat)
            seen += 1
    constant = [name for name, differs in varied.items() if not differs]
    if constant:
        fail(subject.game.spec.id, f"determinize never changes {', '.join(constant)}, which not every seat may know")
    return f"{seen} seats in positions; varied: {', '.join(varied) or 'nothing, as nothing is secret'}"


def _keeps(subject: Subject, position: Position, copy: Position, seat: int) -> None:
    if not np.array_equal(position.observe(seat), copy.observe(seat)):
        fail(position, f"determinize changes what seat {seat} itself observes")
    if position.seat == seat and not np.array_equal(position.action_mask(), copy.action_mask()):
        fail(position, f"determinize changes the legal actions of seat {seat} itself")
    for name in position.states.dtype.names or ():
        before, after = position.states[name][0], copy.states[name][0]
        field = next((field for field in subject.fields if field.name == name), None)
        if field is not None and field.sees != SEEN:
            if field.sees == HIDDEN:
                continue
            before, after = before[seat], after[seat]
        if name not in ("key", "draws") and not np.array_equal(before, after):
            fail(position, f"determinize of seat {seat} changes {name!r}, which the seat knows")


def _told(position: Position, seat: int) -> dict[str, object]:
    """What notation tells the seat and the public."""
    told: dict[str, object] = {}
    for viewer, who in ((seat, f"seat {seat}"), (PUBLIC, "the public")):
        told |= {
            f"describe tells {who}": position.to_json(viewer),
            f"position_text tells {who}": position.text(viewer),
        }
    return told


def _same_texts(position: Position, before: dict[str, object], after: dict[str, object], cause: str) -> None:
    for teller, told in before.items():
        if after[teller] != told:
            fail(position, f"{teller} what it may not know: it changes by {cause}")


def _plays_on(position: Position, copy: Position, seat: int) -> None:
    check = position.game.check_call
    after = f"determinize of seat {seat}, salt {_SALTS[0]}"
    code = int(loops.check(check, copy.states, 0))
    while not code and not copy.over:
        try:
            copy.apply(pick(copy, seat, RANDOM))
        except AssertionError as error:
            fail(position, f"after {after} the game breaks off: {error}")
        code = int(loops.check(check, copy.states, 0)) if copy.over or copy.decisions % 8 == 0 else 0
    if code:
        fail(position, f"after {after} invariant {code} is broken at decision {copy.decisions}")


def secrets(subject: Subject) -> str:
    """Changing an entry of a field that a seat may not know changes neither its observation, mask nor texts."""
    if not subject.secrets:
        return "nothing is secret"
    changed = 0
    for position in subject.some_positions():
        for seat in range(position.num_players):
            seen, mask, told = position.observe(seat), position.action_mask(), _told(position, seat)
            for field in subject.secrets_in(position):
                for number in range(_CHANGES):
                    copy = position.clone()
                    index = disturb(copy, field, seat, number)
                    if index is None:
                        continue
                    changed += 1
                    what = f"{field.name}{list(index)}"
                    if not np.array_equal(seen, copy.observe(seat)):
                        fail(position, f"the observation of seat {seat} changes with {what}, which it may not know")
                    if position.seat == seat:
                        loops.legal(copy.game.calls, copy.states, 0, mask)
                        if not np.array_equal(mask, position.action_mask()):
                            fail(position, f"the mask of seat {seat} changes with {what}, which it may not know")
                    if number == 0:
                        _same_texts(position, told, _told(copy, seat), f"a change of {what}")
    return f"{changed} changes of {', '.join(field.name for field in subject.secrets)}"


def disturb(position: Position, field: Field, seat: int, number: int) -> tuple[int, ...] | None:
    """Put another value of its range into an entry that the seat may not know; None where there is none."""
    low, high = field.span
    values = position.states[field.name][0]
    entries: list[tuple[int, ...]] = [i for i in np.ndindex(field.shape) if field.sees == HIDDEN or i[0] != seat]
    if low == high or not entries:
        return None
    salt = position.decisions * _CHANGES + number
    index = entries[int(word(salt, POLICY, seat)) % len(entries)]
    step = 1 + int(word(salt, POLICY, seat + len(entries))) % (high - low)
    value = low + (int(values[index]) - low + step) % (high - low + 1)
    if field.shape:
        values[index] = value
    else:
        position.states[field.name][0] = value
    return tuple(index)


# --- the greedy baseline ----------------------------------------------------------------------------------------


def greedy(subject: Subject) -> str:
    """The baseline's choice is legal, the same for the same salt, and blind to what its seat may not know."""
    seen = split = 0
    for position in subject.some_positions():
        if position.over or position.seat is None:
            continue
        before, mask = position.to_bytes(), position.action_mask()
        salts = [int(word(position.decisions, POLICY, number)) for number in _SALTS]
        choices = [position.greedy_action(salt) for salt in salts]
        for salt, choice in zip(salts, choices, strict=True):
            if not 0 <= choice < len(mask) or not mask[choice]:
                fail(position, f"greedy chooses {choice}, which is not legal")
            if position.greedy_action(salt) != choice:
                fail(position, f"greedy gives two choices for salt {salt}")
            if position.determinize(position.seat, salt % SALT_LIMIT).greedy_action(salt) != choice:
                fail(
                    position,
                    f"greedy chooses otherwise after determinize: it uses what seat {position.seat} cannot know",
                )
        if position.to_bytes() != before or not np.array_equal(position.action_mask(), mask):
            fail(position, "greedy changes the record or the mask")
        seen += 1
        split += len(set(choices)) > 1
    return f"{seen} choices, {split} of them settled by the salt"
