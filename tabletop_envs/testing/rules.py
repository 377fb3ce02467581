"""Checks of masks, steps, caps, chance and scores: what the contract asks of rules and state."""

from __future__ import annotations

from typing import Final

import numpy as np

from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.header import HEADER, KEY_LIMIT, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.core.position import Position
from tabletop_envs.core.spec import Settings
from tabletop_envs.envs.rewards import REWARDS, Reward
from tabletop_envs.errors import GameOverError, IllegalActionError
from tabletop_envs.testing.subject import RANDOM, Subject, fail, guard_kept, guarded, label, pick, walk

_POISON: Final = 7  # neither 0 nor 1
_ENDLESS: Final = 100_000  # automatic steps in a row after which `advance` counts as endless
_DEALS: Final = 20  # seeds that are to give more than one deal
_NAMED: Final = 5  # unreached actions that are named


# --- masks ------------------------------------------------------------------------------------------------------


def masks_are_rules(subject: Subject) -> str:
    """The mask has a 1 exactly where `apply` accepts the action, tried for every action."""
    game = subject.game
    scratch = np.empty(1, dtype=game.dtype)
    seen = 0
    for position in subject.some_positions():
        mask = _written_mask(position)
        if position.over:
            continue
        accepted = np.zeros(game.num_actions(position.settings), dtype=np.int8)
        loops.accepted(game.calls, position.states, 0, scratch, accepted)
        if not np.array_equal(mask, accepted):
            wrong = int(np.flatnonzero(mask != accepted)[0])
            verdict = "legal, but apply refuses it" if mask[wrong] else "not legal, but apply accepts it"
            fail(position, f"action {wrong} ({position.action_text(wrong)}) is {verdict}")
        seen += 1
    return f"{seen} positions, {game.actions.full_size} actions each with every option"


def _written_mask(position: Position) -> np.ndarray:
    """What `legal` writes into a poisoned buffer, checked for form."""
    game, before = position.game, position.to_bytes()
    mask, around = guarded(game.num_actions(position.settings), np.int8, _POISON)
    if position.over:
        mask[:] = 0
    else:
        count = int(game.functions["legal"](position.states[0], mask))
        if not np.isin(mask, (0, 1)).all():
            entry = int(np.flatnonzero(~np.isin(mask, (0, 1)))[0])
            fail(position, f"legal leaves entry {entry} of the mask unwritten, or writes neither 0 nor 1")
        if count != int(mask.sum()):
            fail(position, f"legal returns {count}, the mask has {int(mask.sum())}")
        if count == 0:
            fail(position, "no action is legal, but the game is not over")
    if not guard_kept(around, _POISON):
        fail(position, "legal writes beyond the mask")
    if position.to_bytes() != before:
        fail(position, "legal changes the record")
    if not np.array_equal(mask, position.action_mask()):
        fail(position, "the position's mask is not what legal writes")
    return mask


def refusals(subject: Subject) -> str:
    """An illegal action raises and changes nothing, and so does any action when the game is over."""
    for position in subject.some_positions():
        before, mask = position.to_bytes(), position.action_mask()
        illegal = np.flatnonzero(mask == 0)
        tries = [-1, len(mask), *illegal[:: max(1, len(illegal) // 3)].tolist()]
        for action in tries:
            inside = 0 <= action < len(mask)
            expected = GameOverError if position.over and inside else IllegalActionError
            try:
                position.apply(action)
            except expected:
                pass
            else:
                fail(position, f"action {action} is not legal, but is taken")
            if position.to_bytes() != before or not np.array_equal(position.action_mask(), mask):
                fail(position, f"the refused action {action} changed the position")
    return ""


# --- steps ------------------------------------------------------------------------------------------------------


def steps(subject: Subject) -> str:
    """After every single step, automatic ones too: invariants and ranges hold; together they are `step`."""
    game, taken = subject.game, 0
    for settings in subject.grid:
        for seed in range(subject.games):
            states = game.template(settings)
            states["key"] = seed
            game.functions["setup"](states[0])
            place = f"{game.spec.id}, {label(settings)}, seed {seed}"
            _settle(subject, settings, states, f"{place}, setup")
            for position in walk(game, settings, seed):
                difference = record.differences(states, position.states)
                if difference:
                    fail(position, f"single steps and loops.step do not agree: {'; '.join(difference[:3])}")
                _header(position)
                if not position.over:
                    action = pick(position, seed)
                    states["events"], states["num_events"] = 0, 0
                    states["decisions"] += 1
                    loops.raw_apply(game.calls, states, 0, action)
                    after = f"{place}, decision {position.decisions}, after {position.action_text(action)!r}"
                    _settle(subject, settings, states, after)
                    taken += 1
    return f"{taken} decisions"


def _settle(subject: Subject, settings: Settings, states: np.ndarray, place: str) -> None:
    # what loops.settle does, in plain words and with a look between any two steps
    game = subject.game
    mask = np.zeros(game.num_actions(settings), dtype=np.int8)
    _sound(subject, states, place)
    for _ in range(_ENDLESS):
        if states["over"][0] != RUNNING:
            return
        if states["seat"][0] == NOBODY:
            loops.raw_advance(game.calls, states, 0)
            _sound(subject, states, f"{place}, after advance")
            continue
        if states["decisions"][0] >= states["max_decisions"][0]:
            states["over"], states["seat"] = OVER_CAP, NOBODY
            _sound(subject, states, f"{place}, at the cap")
            return
        count = loops.legal(game.calls, states, 0, mask)
        if count != 1 or not states["auto_forced"][0]:
            return
        loops.raw_apply(game.calls, states, 0, int(np.flatnonzero(mask)[0]))
        _sound(
            subject,
            states,
            f"{place}, after the forced {game.modules['notation'].action_text(int(mask.argmax()))!r}",
        )
    fail(place, f"{_ENDLESS} automatic steps without a decision or an end")


def _sound(subject: Subject, states: np.ndarray, place: str) -> None:
    code = int(loops.check(subject.game.check_call, states, 0))
    if code:
        words = subject.game.modules["state"].INVARIANTS.get(code, "a code without words in INVARIANTS")
        fail(place, f"invariant {code} is broken: {words}")
    wrong = record.out_of_range(states, subject.fields)
    if wrong:
        fail(place, f"values out of their declared range: {'; '.join(wrong)}")


def _header(position: Position) -> None:
    s = position.states[0]
    if not -1 <= s.seat < s.num_players:
        fail(position, f"seat {s.seat} is not at the table")
    if (s.over != RUNNING) != (s.seat == NOBODY):
        fail(position, f"over is {s.over}, but the seat to act is {s.seat}")
    if int(s.phase) not in set(position.game.modules["state"].Phase):
        fail(position, f"phase {s.phase} is not in state.Phase")
    if not 0 <= s.key < KEY_LIMIT or (s.draws < 0).any() or s.num_events < 0:
        fail(position, "key, draws or num_events is out of range")
    count = len(position.legal_actions())
    if position.over != (count == 0):
        fail(position, f"{count} legal actions")
    if s.auto_forced and count == 1:
        fail(position, "a decision with one option is asked, although auto_forced is on")
    encoded = position.settings.encoded()
    if not all(np.array_equal(s[name], value) for name, value in encoded.items()):
        fail(position, "the game has changed its own options or number of players")


def caps(subject: Subject) -> str:
    """No game exceeds its cap; at a lowered cap it ends, is scored, and asks nobody."""
    longest: dict[int, int] = {}
    for game in subject.walks(whole=True):
        for position in game:
            if position.decisions > int(position.states["max_decisions"][0]):
                fail(position, "the game goes on beyond its cap")
        players = position.num_players
        longest[players] = max(longest.get(players, 0), position.decisions)
        length = position.decisions - 1  # of a game that would go on
        if length < 1:
            continue
        lowered = {**position.settings.values, "max_decisions": length}
        short = subject.game.settings(players, **lowered)
        *_, end = walk(subject.game, short, position.seed)
        if not end.capped or end.decisions != length or end.seat is not None or len(end.legal_actions()):
            found = f"after {end.decisions} decisions, over={end.states['over'][0]}"
            fail(end, f"with max_decisions={length} it ends {found}")
        _places_agree(end, *_written_score(end))
    spec = subject.game.spec
    return ", ".join(f"{n} players: at most {m} of {spec.max_decisions[n]}" for n, m in sorted(longest.items()))


def chance(subject: Subject) -> str:
    """Where the setup draws, seeds deal differently; `opening_decisions` is for games that draw nothing."""
    game, spec = subject.game, subject.game.spec
    drawn = np.zeros(HEADER["draws"].shape, dtype=np.int32)
    for walked in subject.walks():
        for position in walked:
            drawn = np.maximum(drawn, position.states["draws"][0])
    if drawn.any() and spec.opening_decisions:
        fail(spec.id, f"draws {drawn.tolist()} happen, so opening_decisions is 0, not {spec.opening_decisions}")
    if not drawn.any():
        if not spec.opening_decisions:
            fail(spec.id, "nothing is ever drawn, so opening_decisions must say how many decisions an arena draws")
        return f"none; {spec.opening_decisions} opening decisions"
    defaults = [settings for settings in subject.whole_grid if not settings.changed()]
    for settings in defaults:
        starts = np.concatenate([next(walk(game, settings, seed)).states for seed in range(_DEALS)])
        starts["key"] = 0
        if starts["draws"].any() and len({start.tobytes() for start in starts}) == 1:
            fail(settings, f"{_DEALS} seeds give one and the same deal")
    return f"draws by kind at most {drawn.tolist()}"


# --- scores -----------------------------------------------------------------------------------------------------


def scores(subject: Subject) -> str:
    """Points and places fit together at any time; rewards are in -1..1, and `win` sums to zero."""
    ties = ends = 0
    for position in subject.some_positions():
        points, places = _written_score(position)
        _places_agree(position, points, places)
        if not position.over:
            continue
        ends += 1
        ties += len(set(places.tolist())) < len(places)
        for name in REWARDS:
            paid = Reward(name, position.game.spec)(points, places)
            if paid.shape != (len(points),) or (np.abs(paid) > 1).any():
                fail(position, f"reward {name!r} pays {paid.tolist()}")
            if name == "win" and abs(float(paid.sum())) > 1e-9:
                fail(position, f"reward 'win' pays {paid.tolist()}, which does not sum to zero")
    return f"{ends} ends, {ties} with a shared place"


def _written_score(position: Position) -> tuple[np.ndarray, np.ndarray]:
    poison, before = -(2**30), position.to_bytes()
    points, points_around = guarded(position.num_players, np.int32, poison)
    places, places_around = guarded(position.num_players, np.int32, poison)
    loops.score(position.game.calls, position.states, 0, points, places)
    if poison in points or poison in places:
        fail(position, f"score leaves an entry unwritten: points {points.tolist()}, places {places.tolist()}")
    if not guard_kept(points_around, poison) or not guard_kept(places_around, poison):
        fail(position, "score writes beyond the seats in play")
    if position.to_bytes() != before:
        fail(position, "score changes the record")
    return points, places


def _places_agree(position: Position, points: np.ndarray, places: np.ndarray) -> None:
    facts = f"points {points.tolist()}, places {places.tolist()}"
    for seat, place in enumerate(places):
        if place != 1 + int((places < place).sum()):
            fail(
                position,
                f"{facts}: seat {seat} has place {place} with {int((places < place).sum())} seats before it",
            )
        if (places[points > points[seat]] >= place).any():
            fail(position, f"{facts}: a seat with more points than seat {seat} has no better place")


def reachable_actions(subject: Subject) -> str:
    """Every action becomes legal in some game; those that did not are told, but are no failure."""
    game, enough = subject.game, subject.games * (10 if jit.COMPILED else 1)
    met = np.zeros(game.actions.full_size, dtype=np.int8)
    for settings in subject.grid:
        for seed in range(enough):
            for position in walk(game, settings, seed, RANDOM):
                mask = position.action_mask()
                met[: len(mask)] |= mask
            if met.all():
                return f"all {len(met)} in play"
    never = np.flatnonzero(met == 0)
    shown = ", ".join(game.modules["notation"].action_text(int(action)) for action in never[:_NAMED])
    return f"{len(never)} of {len(met)} never legal in {enough * len(subject.grid)} random games: {shown}"
