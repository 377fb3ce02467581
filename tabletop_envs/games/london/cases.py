"""Worked cases for `tabletop_envs.casebook`: set-up -> record, entry -> action, expectation -> differences.

The format is told at the head of `tests/games/london/cases.json`. A case of the kind "function" has no set-up: its
table is compared with the function that it names. A key that is not known is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tabletop_envs.casebook import unequal
from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import NOBODY, OVER_RULES
from tabletop_envs.core.position import Position
from tabletop_envs.errors import NotationError
from tabletop_envs.games.london import GAME
from tabletop_envs.games.london.actions import (
    BOROUGH,
    CARD,
    DECK,
    DONE,
    EXCHANGE,
    FACE_DOWN_STACK,
    FLIP_HOSPITAL,
    FLIP_SELF,
    LOAN_TAKEN,
    NEW_STACK,
    OPPONENT,
    PEEK,
    RUN_CITY,
    SLOT,
    TAKE_THREE,
)
from tabletop_envs.games.london.notation import (
    BOROUGH_NAMES,
    CARD_NAMES,
    borough_number,
    card_number,
    describe,
    set_deck,
    set_display,
    set_stacks,
)
from tabletop_envs.games.london.rules import (
    add_to_hand,
    clear,
    final_poverty,
    lowest_poverty,
    penalty,
    settle_in,
    start_turn,
)
from tabletop_envs.games.london.state import Phase
from tabletop_envs.games.london.tables import COLUMNS, MONEY, POVERTY, SEATS, SEEN_CARDS

_SETUP_KEYS: Final = {
    "players",
    "current",
    "node",
    "deck",
    "display",
    "discard",
    "underground",
    "final_turns_left",
    "options",
    "seats",
}
_SEAT_KEYS: Final = {"money", "loans", "poverty", "vp", "hand", "stacks", "boroughs", "pub_activated"}
_STACK: Final = {
    "face_up": True,
    "money": 0,
    "placed_this_turn": False,
    "activated_this_run": False,
}
_FUNCTIONS: Final[dict[str, Callable[[int], int]]] = {
    "poverty_penalty(points) -> VP change": lambda points: -int(penalty(points)),
}

# choices without a number or name
_PLAIN: Final = {
    "deck": DECK,
    "new": NEW_STACK,
    "face_down": FACE_DOWN_STACK,
    "run": RUN_CITY,
    "take3": TAKE_THREE,
    "done": DONE,
    "exchange": EXCHANGE,
    "loan": LOAN_TAKEN,
    "flip_self": FLIP_SELF,
    "flip_hospital": FLIP_HOSPITAL,
}


# --- set-up -----------------------------------------------------------------------------------------------------


def is_manual(case: Mapping[str, Any]) -> bool:
    """Whether only a reader can judge the case: none of London's is."""
    return False


def _is_function(case: Mapping[str, Any]) -> bool:
    return case.get("kind") == "function"


def settings(case: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options."""
    if _is_function(case):
        return GAME.min_players, {}
    return case["setup"]["players"], dict(case["setup"].get("options", {}))


def arrange(case: Mapping[str, Any], s: np.record) -> None:
    """Write the set-up into a record with header and options filled; raises NotationError for one that is none."""
    given = {} if _is_function(case) else case["setup"]
    _only_known("set-up", given, _SETUP_KEYS)
    players = int(s["num_players"])
    clear(s)
    s["turn"] = s["start"] = given.get("current", 0)
    set_deck(given.get("deck", []), s)
    running = given.get("node") != "FINAL"
    s["ending"] = given.get("final_turns_left") or (players if running and s["deck_size"] == 0 else 0)
    set_display(given.get("display", [[None] * (players + 1)] * 2), s)
    for name in given.get("discard", []):
        s["discard"][card_number(name)] += 1
    seats = given.get("seats", [{}] * players)
    if len(seats) != players:
        raise NotationError(f"{len(seats)} seats are set up for {players} players")
    stacks = []
    for seat, told in enumerate(seats):
        _only_known("seat", told, _SEAT_KEYS)
        _arrange_seat(seat, told, s)
        stacks += [_stack(seat, stack) for stack in told.get("stacks", [])]
    set_stacks(stacks, [number for number, told in enumerate(stacks) for _ in told["cards"]], s)
    s["underground"] = sum(1 << borough_number(name) for name in given.get("underground", []))
    _begin(given.get("node", "ACTION"), s)


def _only_known(what: str, given: Mapping[str, Any], known: set[str]) -> None:
    if not set(given) <= known:
        raise NotationError(f"{what} keys {', '.join(sorted(set(given) - known))} are not understood")


def _arrange_seat(seat: int, told: Mapping[str, Any], s: np.record) -> None:
    s["money"][seat] = told.get("money", MONEY)
    s["loans"][seat] = told.get("loans", 0)
    s["poverty"][seat] = told.get("poverty", POVERTY)
    s["counters"][seat] = told.get("vp", 0)
    s["pub_activated"][seat] = told.get("pub_activated", False)
    for name in told.get("hand", []):
        add_to_hand(s, seat, card_number(name))
    for name in told.get("boroughs", []):
        settle_in(s, seat, borough_number(name))


def _stack(seat: int, told: Any) -> dict[str, Any]:
    facts = {"cards": [told]} if isinstance(told, str) else dict(told)
    _only_known("stack", facts, {"cards", *_STACK})
    return {"seat": seat, **_STACK, **facts}


def _begin(node: str, s: np.record) -> None:
    s["seat"] = NOBODY
    if node == "START":
        start_turn(s)
        s["events"], s["num_events"] = 0, 0
    elif node == "FINAL":
        s["phase"], s["over"] = Phase.OVER, OVER_RULES
    elif node == "ACTION":
        s["phase"], s["seat"] = Phase.ACTION, s["turn"]
    else:
        raise NotationError(f"node {node!r}: give START, ACTION or FINAL")


# --- entries ----------------------------------------------------------------------------------------------------


def choice_action(text: str) -> int:
    """The action of a choice like `card:Grocers`, `slot:1,2`, `peek:1`, `borough:City`, `opp:1` or `take3`."""
    if text in _PLAIN:
        return _PLAIN[text]
    block, _, what = text.partition(":")
    if block == "card":
        return CARD + card_number(what)
    if block == "borough":
        return BOROUGH + borough_number(what)
    numbers = [int(part) for part in what.split(",") if part.isdecimal()]
    if block == "slot" and len(numbers) == 2:
        return SLOT + COLUMNS * (numbers[0] - 1) + numbers[1] - 1
    if block in ("peek", "opp") and len(numbers) == 1:
        return (PEEK if block == "peek" else OPPONENT) + numbers[0] - 1
    raise NotationError(f"{text!r} is no choice")


def choice_text(action: int) -> str:
    """The choice of an action, as cases write it."""
    for text, number in _PLAIN.items():
        if action == number:
            return text
    if action < SLOT:
        return f"card:{CARD_NAMES[action - CARD]}"
    if action < DECK:
        row, column = divmod(action - SLOT, COLUMNS)
        return f"slot:{row + 1},{column + 1}"
    if PEEK <= action < PEEK + SEEN_CARDS:
        return f"peek:{action - PEEK + 1}"
    if BOROUGH <= action < OPPONENT:
        return f"borough:{BOROUGH_NAMES[action - BOROUGH]}"
    assert OPPONENT <= action < OPPONENT + SEATS - 1, "every action belongs to a block"
    return f"opp:{action - OPPONENT + 1}"


def entry_action(entry: Any, s: np.record) -> int | dict[str, Any]:
    """The action of a choice; an object with `expect_node`, `expect_legal`, `expect_seats` is to be met there."""
    if isinstance(entry, dict):
        if not all(key.startswith("expect_") for key in entry):
            raise NotationError(f"{entry!r} is no entry: give a choice, or an object of expect_... keys")
        return {key.removeprefix("expect_"): value for key, value in entry.items()}
    return choice_action(entry)


# --- expectations -----------------------------------------------------------------------------------------------


def expectation(case: Mapping[str, Any]) -> dict[str, Any]:
    """What is expected behind the last entry."""
    if _is_function(case):
        return {"function": case["function"], "table": case["table"]}
    return dict(case["expect"])


def differences(expected: Mapping[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold in the position, a line each."""
    facts = _facts(position)
    lines = []
    for key, value in expected.items():
        if key in facts:
            lines += unequal(key, value, facts[key])
        elif key == "legal":
            lines += _legal(value, position)
        elif key == "seats":
            lines += _seats(value, position)
        elif key == "final":
            lines += _final(value, position)
        elif key == "table":
            function = _FUNCTIONS[expected["function"]]
            for argument, result in value:
                lines += unequal(f"{expected['function']} of {argument}", result, function(argument))
        elif key != "function":
            lines.append(f"{key}: not understood")
    return lines


def _told(position: Position) -> dict[str, Any]:
    told: dict[str, Any] = describe(position.states[0], ALL)
    return told


def _facts(position: Position) -> dict[str, Any]:
    s, told = position.states[0], _told(position)
    # R12.1: in the turn in which the last card was taken no turn is counted yet
    ending = int(s["ending"])
    return {
        "node": "END" if position.over else Phase(int(s["phase"])).name,
        "current": int(s["turn"]),
        "display": told["display"],
        "discard": _Bag(told["discard"]),
        "deck": told["deck"],
        "deck_size": told["deck_size"],
        "underground": _Bag(told["underground"]),
        "final_turns_left": ending if 0 < ending < position.num_players else None,
    }


class _Bag(list[str]):
    """Names of which the order does not matter."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and Counter(self) == Counter(other)

    __hash__ = None


def _legal(expected: Mapping[str, list[str]], position: Position) -> list[str]:
    found = {choice_text(int(action)) for action in position.legal_actions()}
    lines = []
    for key, choices in expected.items():
        if key == "exactly":
            lines += unequal("legal", sorted(choices), sorted(found))
        elif key == "includes":
            lines += [f"{choice} is not legal" for choice in choices if choice not in found]
        elif key == "excludes":
            lines += [f"{choice} is legal" for choice in choices if choice in found]
        else:
            lines.append(f"legal.{key}: not understood")
    return lines


def _seats(expected: Mapping[str, Mapping[str, Any]], position: Position) -> list[str]:
    told = _told(position)
    lines = []
    for number, facts in expected.items():
        seat = told["seats"][int(number)]
        own = [stack for stack in told["stacks"] if stack["seat"] == int(number)]
        for key, value in facts.items():
            where = f"seat {number} {key}"
            if key == "stacks":
                lines += unequal(f"{where}: number", len(value), len(own))
                for place, (wanted, found) in enumerate(zip(value, own, strict=False)):
                    lines += unequal(f"{where}[{place}]", dict(wanted), {name: found.get(name) for name in wanted})
            elif key in ("hand", "boroughs"):
                lines += unequal(where, sorted(value), sorted(seat[key]))
            else:
                lines += unequal(where, value, seat.get("vp_counters" if key == "vp" else key, "nothing"))
    return lines


def _final(expected: Mapping[str, Any], position: Position) -> list[str]:
    s = position.states[0]
    lowest = int(lowest_poverty(s))
    found = {
        "vp": position.points(),
        "poverty": [int(final_poverty(s, seat)) - lowest for seat in range(position.num_players)],
        "ranks": position.places(),
    }
    return [line for key, value in expected.items() for line in unequal(f"final.{key}", value, found.get(key))]
