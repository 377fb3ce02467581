"""Checks of notation: texts name what they say, and can be read back."""

from __future__ import annotations

import json

import numpy as np

from tabletop_envs.core import loops, record
from tabletop_envs.core.game import ALL, PUBLIC
from tabletop_envs.core.position import Position
from tabletop_envs.errors import CorruptDataError, NotationError
from tabletop_envs.testing.subject import Subject, fail


def action_texts(subject: Subject) -> str:
    """Every action has a text of its own that is read back, whatever its case and blanks; nonsense is refused."""
    game, notation = subject.game, subject.game.modules["notation"]
    texts: dict[str, int] = {}
    for action in range(game.actions.full_size):
        text = notation.action_text(action)
        if not isinstance(text, str) or not text.strip():
            fail(game.spec.id, f"action {action} has the text {text!r}")
        if text in texts:
            fail(game.spec.id, f"actions {texts[text]} and {action} have the same text {text!r}")
        texts[text] = action
    for text, action in texts.items():
        for written in (text, f"  {text.upper()} "):
            try:
                read = notation.parse_action(written)
            except NotationError as error:
                fail(game.spec.id, f"the text of action {action} is not read back: {error}")
            if read != action:
                fail(game.spec.id, f"{written!r} is the text of action {action}, but is read as {read}")
    for nonsense in ("", "?", "no such action"):
        try:
            notation.parse_action(nonsense)
        except NotationError:
            continue
        fail(game.spec.id, f"parse_action reads {nonsense!r} as an action instead of raising NotationError")
    return f"{len(texts)} texts, for example {next(iter(texts))!r}"


def position_texts(subject: Subject) -> str:
    """Texts, facts and events exist for every viewer; those for all are read back to the same position."""
    seen = 0
    for position in subject.some_positions():
        if not all(isinstance(text, str) and text for text in position.events()):
            fail(position, f"the events have the texts {position.events()}")
        for viewer in (*range(position.num_players), PUBLIC, ALL):
            if not position.text(viewer).strip():
                fail(position, f"the text for viewer {viewer} is empty")
            if position.text(viewer) != position.clone().text(viewer):
                fail(position, f"the text for viewer {viewer} is not the same twice")
            facts = position.to_json(viewer)
            if viewer != ALL and ("seed" in facts or "draws" in facts):
                fail(position, f"the facts for viewer {viewer} hold the key of all chance")
        _facts_return(position)
        _text_returns(position)
        seen += 1
    return f"{seen} positions"


def _facts_return(position: Position) -> None:
    facts = json.loads(json.dumps(position.to_json(ALL)))
    try:
        again = Position.from_json(facts)
    except CorruptDataError as error:
        fail(position, f"its own facts are refused: {error}")
    if again != position:
        difference = record.differences(position.states, again.states)
        fail(position, f"its own facts give another record: {'; '.join(difference[:3])}")
    if again.to_json(ALL) != facts:
        fail(position, "facts written, read and written again differ")


def _text_returns(position: Position) -> None:
    game, text = position.game, position.text(ALL)
    states = game.template(position.settings)
    states["key"] = position.seed
    try:
        game.modules["notation"].parse_position(text, states[0])
    except NotationError as error:
        fail(position, f"its own text {text!r} is refused: {error}")
    code = int(loops.check(game.check_call, states, 0))
    if code:
        fail(
            position,
            f"what is read from {text!r} breaks invariant {code}: {game.modules['state'].INVARIANTS[code]}",
        )
    again = Position(game, position.settings, states)
    if again.text(ALL) != text:
        fail(position, f"{text!r} is read and written again as {again.text(ALL)!r}")
    _plays_alike(position, again, "parse_position")


def _plays_alike(position: Position, again: Position, way: str) -> None:
    # not byte for byte: a record may keep the same facts in another order
    if again.seat != position.seat or again.over != position.over or again.phase != position.phase:
        fail(position, f"{way} gives {again!r}")
    if not np.array_equal(again.action_mask(), position.action_mask()):
        fail(position, f"{way} gives a position with other legal actions")
    for seat in range(position.num_players):
        if not np.array_equal(again.observe(seat), position.observe(seat)):
            fail(position, f"{way} gives a position that seat {seat} observes differently")
    if (again.points(), again.places()) != (position.points(), position.places()):
        fail(position, f"{way} gives another score")


def refused_texts(subject: Subject) -> str:
    """What is no position raises NotationError, or CorruptDataError as facts."""
    game = subject.game
    for settings in subject.grid[:1]:
        for nonsense in ("", "?", "no such position"):
            try:
                game.modules["notation"].parse_position(nonsense, game.template(settings)[0])
            except NotationError:
                continue
            fail(settings, f"parse_position reads {nonsense!r} instead of raising NotationError")
        facts = Position.new(game, settings.num_players, **settings.values).to_json(ALL)
        for name in facts:
            broken = {key: value for key, value in facts.items() if key != name}
            try:
                Position.from_json(broken)
            except CorruptDataError:
                continue
            fail(settings, f"from_json takes facts without {name!r} instead of raising CorruptDataError")
    return ""
