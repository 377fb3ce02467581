"""Checks of declaration, record, masks, steps, caps and scores: what the contract asks of rules and state."""

from __future__ import annotations

import re
from enum import IntEnum
from inspect import signature
from pathlib import Path
from typing import Final

import numpy as np

from tabletop_envs.core import jit, loops, record
from tabletop_envs.core.game import Game
from tabletop_envs.core.header import HEADER, KEY_LIMIT, NOBODY, OVER_CAP, RUNNING
from tabletop_envs.core.position import Position
from tabletop_envs.core.record import OWNER
from tabletop_envs.envs.aec import TabletopAEC
from tabletop_envs.envs.rewards import REWARDS, Reward
from tabletop_envs.errors import GameOverError, IllegalActionError
from tabletop_envs.testing.subject import MIXED, RANDOM, Subject, fail, guard_kept, guarded, label, pick, walk

_POISON: Final = 7  # neither 0 nor 1
_ENDLESS: Final = 100_000  # automatic steps in a row after which `advance` counts as endless
_DEALS: Final = 20  # seeds that are to give more than one deal
_NAMED: Final = 5  # unreached actions that are named
_CLAUSE: Final = re.compile(r"R\d+(?:\.\d+)*")


# --- declarations -----------------------------------------------------------------------------------------------


def declaration(subject: Subject) -> str:
    """GAME is well formed; every cited clause stands in RULES.md."""
    game, spec = subject.game, subject.game.spec
    if not re.fullmatch(r"[a-z][a-z0-9_]*", spec.id):
        fail(spec.id, "an id is lower case with underscores")
    if (
        spec.version < 0
        or not spec.title
        or not spec.summary
        or spec.score_scale <= 0
        or spec.opening_decisions < 0
    ):
        fail(spec.id, "version, title, summary, score_scale or opening_decisions is missing or negative")
    if not 2 <= spec.min_players <= spec.max_players:
        fail(spec.id, f"{spec.min_players} to {spec.max_players} players are not possible")
    counts = range(spec.min_players, spec.max_players + 1)
    if sorted(spec.max_decisions) != list(counts) or min(spec.max_decisions.values()) < 1:
        fail(spec.id, f"max_decisions is {dict(spec.max_decisions)}, not a cap for each of {list(counts)} players")
    names = [option.name for option in spec.all_options(spec.min_players)]
    taken = set(names) & set(signature(TabletopAEC.__init__).parameters)
    if taken:
        fail(spec.id, f"options {sorted(taken)} are called like arguments of the environments: rename them")
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        fail(spec.id, f"option names {names} are not different identifiers")
    phases, invariants = game.modules["state"].Phase, game.modules["state"].INVARIANTS
    if not issubclass(phases, IntEnum) or not all(0 <= phase <= np.iinfo(np.int8).max for phase in phases):
        fail(spec.id, "state.Phase is not an IntEnum of small numbers")
    if not invariants or any(code < 1 or not words for code, words in invariants.items()):
        fail(spec.id, "state.INVARIANTS does not give words to positive codes")
    for field in subject.fields:
        if field.sees == OWNER and field.shape[:1] != (spec.max_players,):
            fail(spec.id, f"field {field.name!r} is its owner's, so its first axis must be the seat")
    _clauses(game)
    players = f"{spec.min_players} to {spec.max_players} players"
    return f"{players}, {len(spec.options)} options, {len(subject.fields)} fields"


def _clauses(game: Game) -> None:
    path = Path(str(game.modules["rules"].__file__)).with_name("RULES.md")
    if not path.is_file():
        fail(game.spec.id, "the game's folder has no RULES.md")
    known = set(_CLAUSE.findall(path.read_text(encoding="utf-8")))
    cited = {f"option {option.name}": option.clause for option in game.spec.options}
    cited |= {f"block {block.name}": block.clause for block in (*game.actions.blocks, *game.observations.blocks)}
    for what, clause in cited.items():
        missing = set(_CLAUSE.findall(clause)) - known
        if missing:
            fail(game.spec.id, f"{what} cites {', '.join(sorted(missing))}, which RULES.md does not have")


def layouts(subject: Subject) -> str:
    """Spaces, sizes and offsets follow from the layouts; every action has one place in them."""
    game = subject.game
    offset = 0
    for block in game.actions.blocks:
        if block.option is not None:
            fail(
                game.spec.id, f"action block {block.name!r} belongs to an option: the action space is one for all"
            )
        if game.actions.start(block.name) != offset:
            fail(
                game.spec.id,
                f"action block {block.name!r} starts at {game.actions.start(block.name)}, not {offset}",
            )
        offset += block.size
    if not game.num_actions == offset == game.actions.space().n:
        fail(game.spec.id, f"{offset} actions in the blocks, {game.num_actions} in the space")
    for action in range(game.num_actions):
        name, index = game.actions.decode(action)
        if game.actions.encode(name, *index) != action:
            fail(
                game.spec.id,
                f"action {action} is decoded to {name}{index}, which is {game.actions.encode(name, *index)}",
            )
    for block in game.observations.blocks:
        if block.option is not None and block.option not in {option.name for option in game.spec.options}:
            fail(game.spec.id, f"observation block {block.name!r} belongs to {block.option!r}, which is no option")
    for settings in subject.grid:
        size = game.observation_size(settings)
        space = game.observations.space(settings.values)
        parts = game.observations.decode(np.arange(size, dtype=np.float32), settings.values)
        if (
            space.shape != (size,)
            or space.dtype != np.float32
            or sum(part.size for part in parts.values()) != size
        ):
            fail(settings, f"space {space} and blocks do not agree on {size} numbers")
    return f"{game.num_actions} actions, {game.observations.full_size} numbers with every option"


def record_form(subject: Subject) -> str:
    """The record has no holes, begins with the header, and holds every option and field as declared."""
    game, dtype = subject.game, subject.game.dtype
    if dtype.type is not np.record:
        fail(game.spec.id, "the record's element type is not numpy.record: build it with record_dtype")
    offset = 0
    for name in dtype.names or ():
        part, start = (dtype.fields or {})[name][:2]
        if start != offset:
            fail(game.spec.id, f"there is a hole of {start - offset} bytes before field {name!r}")
        offset += part.itemsize
    if offset != dtype.itemsize:
        fail(game.spec.id, f"there is a hole of {dtype.itemsize - offset} bytes at the end of the record")
    for name in HEADER.names or ():
        if (dtype.fields or {}).get(name, ())[:2] != (HEADER.fields or {})[name][:2]:
            fail(game.spec.id, f"header field {name!r} is not where the machinery looks for it")
    for part in (*game.spec.options, *subject.fields):
        if dtype[part.name].base != np.dtype(part.dtype) or dtype[part.name].shape != tuple(part.shape):
            fail(game.spec.id, f"{part.name!r} is {dtype[part.name]} in the record, not as declared")
    for settings in subject.grid:
        states = game.template(settings)
        for name, value in settings.encoded().items():
            if not np.array_equal(states[name][0], value):
                fail(settings, f"the record says {name}={states[name][0]}")
    return f"{dtype.itemsize} bytes"


# --- masks ------------------------------------------------------------------------------------------------------


def masks_are_rules(subject: Subject) -> str:
    """The mask has a 1 exactly where `apply` accepts the action, tried for every action."""
    game = subject.game
    scratch, accepted = np.empty(1, dtype=game.dtype), np.zeros(game.num_actions, dtype=np.int8)
    seen = 0
    for position in subject.some_positions():
        mask = _written_mask(position)
        if position.over:
            continue
        loops.accepted(game.calls, position.states, 0, scratch, accepted)
        if not np.array_equal(mask, accepted):
            wrong = int(np.flatnonzero(mask != accepted)[0])
            verdict = "legal, but apply refuses it" if mask[wrong] else "not legal, but apply accepts it"
            fail(position, f"action {wrong} ({position.action_text(wrong)}) is {verdict}")
        seen += 1
    return f"{seen} positions, {game.num_actions} actions each"


def _written_mask(position: Position) -> np.ndarray:
    """What `legal` writes into a poisoned buffer, checked for form."""
    game, before = position.game, position.to_bytes()
    mask, around = guarded(game.num_actions, np.int8, _POISON)
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
        tries = [-1, position.game.num_actions, *illegal[:: max(1, len(illegal) // 3)].tolist()]
        for action in tries:
            inside = 0 <= action < position.game.num_actions
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
            _settle(subject, states, f"{place}, setup")
            for position in walk(game, settings, seed):
                difference = record.differences(states, position.states)
                if difference:
                    fail(position, f"single steps and loops.step do not agree: {'; '.join(difference[:3])}")
                _header(position)
                if not position.over:
                    action = pick(position, seed, MIXED if seed % 2 else RANDOM)
                    states["events"], states["num_events"] = 0, 0
                    states["decisions"] += 1
                    loops.raw_apply(game.calls, states, 0, action)
                    after = f"{place}, decision {position.decisions}, after {position.action_text(action)!r}"
                    _settle(subject, states, after)
                    taken += 1
    return f"{taken} decisions"


def _settle(subject: Subject, states: np.ndarray, place: str) -> None:
    # what loops.settle does, in plain words and with a look between any two steps
    game, mask = subject.game, np.zeros(subject.game.num_actions, dtype=np.int8)
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
    for game in subject.walks():
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
    defaults = [settings for settings in subject.grid if not settings.changed()]
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
    met = np.zeros(game.num_actions, dtype=np.int8)
    for settings in subject.grid:
        for seed in range(enough):
            for position in walk(game, settings, seed, RANDOM):
                met |= position.action_mask()
            if met.all():
                return f"all {game.num_actions} in play"
    never = np.flatnonzero(met == 0)
    shown = ", ".join(game.modules["notation"].action_text(int(action)) for action in never[:_NAMED])
    return f"{len(never)} of {game.num_actions} never legal in {enough * len(subject.grid)} random games: {shown}"
