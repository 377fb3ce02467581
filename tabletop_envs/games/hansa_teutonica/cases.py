"""Worked cases for `tabletop_envs.casebook`: set-up -> record, entry -> action, expectation -> differences.

The format is told at the head of `tests/games/hansa_teutonica/cases.json`. Expectations are compared with what a
position answers; a key that is not known is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.casebook import unequal
from tabletop_envs.core.game import ALL
from tabletop_envs.core.position import Position
from tabletop_envs.errors import NotationError
from tabletop_envs.games.hansa_teutonica.actions import (
    DONE,
    INCOME,
    PAY,
    PAY_KINDS,
    PLACE,
    REWARD,
    REWARD_NAMES,
    ROUTE,
    SPACE,
    USE_PLUS3,
    USE_PLUS4,
    USE_REMOVE3,
    USE_SWAP,
    USE_UPGRADE,
)
from tabletop_envs.games.hansa_teutonica.notation import (
    describe,
    parse_piece,
    piece_text,
    read_marker,
    read_route,
    route_spaces,
    write_cities,
    write_pile,
    write_player,
    write_routes,
)
from tabletop_envs.games.hansa_teutonica.rules import action_possible, end_context, marker_usable, setup
from tabletop_envs.games.hansa_teutonica.state import Phase, recount
from tabletop_envs.games.hansa_teutonica.tables import (
    ABILITY_NAMES,
    ACTIONS,
    CITY_KEYS,
    COELLEN_POINTS,
    EXTRA_OFFICE,
    MARKER_NAMES,
    OFFICE_COUNT,
    PLUS3,
    PLUS4,
    REMOVE3,
    ROUTE_KEYS,
    ROUTES,
    SIDE_ROUTES,
    SWAP_OFFICES,
    SWAP_PAIRS,
    TRACK,
    UPGRADE,
    members,
    side_of,
)

_SETUP_KEYS: Final = {
    "num_players",
    "initial",
    "players",
    "routes",
    "fill_all_routes_with",
    "route_markers",
    "pile",
    "cities",
    "coellen",
    "east_west",
    "current_player",
    "actions_left",
}
_PLAYER_KEYS: Final = {"stock", "supply", "levels", "markers", "used_markers", "plate", "prestige"}
_PILE: Final = ("plus3_actions",) * 5

# --- set-up and actions -----------------------------------------------------------------------------------------


def is_manual(case: Mapping[str, Any]) -> bool:
    """Whether only a reader can judge the case: one without anything to expect."""
    return "expect" not in case


def settings(case: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Number of players and options; single options are asked unless the case says otherwise."""
    return case["setup"]["num_players"], {"auto_forced": False, **case.get("options", {})}


def arrange(case: Mapping[str, Any], s: np.record) -> None:
    """Write the set-up into a record with header and options filled; raises NotationError for one that is none.

    Piece totals are taken as given.
    """
    given = case["setup"]
    odd = set(given) - _SETUP_KEYS
    odd |= {key for player in given.get("players", ()) for key in player if key not in _PLAYER_KEYS}
    if odd:
        raise NotationError(f"set-up keys {', '.join(sorted(odd))} are not understood")
    setup(s)
    if given.get("initial"):
        return
    end_context(s)
    s.route_marker[:] = 0
    s.pile[:] = 0
    s.turn = given.get("current_player", 0)
    _arrange_board(given, s)
    plate = _arrange_players(given, s)
    pile = list(given.get("pile", _PILE))
    # the next marker to be drawn lies last, those face down on the plate behind it, the latest first
    s.pile_size, s.drawn = len(pile), len(plate)
    write_pile(s, [*reversed(pile), *reversed(plate)])
    recount(s)
    full = s.filled == OFFICE_COUNT[side_of(int(s.num_players))]
    s.completed = int(np.count_nonzero(full))
    s.phase, s.seat = Phase.MAIN, s.turn
    seat = int(s["turn"])
    s.actions_left = given.get("actions_left", TRACK[ACTIONS, s.levels[seat, ACTIONS]])
    s.optionless = int(not action_possible(s, seat) and not marker_usable(s, seat))


def _arrange_board(given: Mapping[str, Any], s: np.record) -> None:
    filling = given.get("fill_all_routes_with")
    if filling is not None:
        for route in members(int(SIDE_ROUTES[side_of(int(s.num_players))])):
            s.spaces[list(route_spaces(route))] = parse_piece(filling)
    write_routes(s, given.get("routes", {}))
    for key, marker in given.get("route_markers", {}).items():
        s.route_marker[read_route(s, key)] = 1 + read_marker(marker)
    write_cities(s, given.get("cities", {}))
    for points, seat in given.get("coellen", {}).items():
        s.circles[COELLEN_POINTS.tolist().index(int(points))] = 1 + seat
    for rank, seat in enumerate(given.get("east_west", ()), 1):
        s.east_west_rank[seat] = rank


def _arrange_players(given: Mapping[str, Any], s: np.record) -> list[str]:
    """Writes what the players have; returns what lies face down on the plate of the one in turn."""
    down: list[str] = []
    for seat, player in enumerate(given.get("players", ())):
        facts = dict(player)
        if seat == s.turn:
            down = list(facts.pop("plate", ()))
        # the kind of a used marker does not matter
        facts["used"] = {MARKER_NAMES[EXTRA_OFFICE]: facts.pop("used_markers", 0)}
        write_player(s, seat, facts)
        ranked = given.get("east_west", [])
        s.east_west_rank[seat] = 1 + ranked.index(seat) if seat in ranked else 0
    return down


def _piece_space(entry: Mapping[str, Any], s: np.record) -> int:
    route = read_route(s, entry["route"])
    piece = parse_piece(f"{entry['owner']}{entry['type']}")
    for space in route_spaces(route):
        if s.spaces[space] == piece:
            return SPACE + space
    raise NotationError(f"{piece_text(piece)} does not lie on {entry['route']}")


def _use(entry: Mapping[str, Any], s: np.record) -> int:
    marker = read_marker(entry["marker"])
    if marker == SWAP_OFFICES:
        pair = [CITY_KEYS.index(entry["city"]), entry["left_office"]]
        return USE_SWAP + int(SWAP_PAIRS.tolist().index(pair))
    if marker == UPGRADE:
        return USE_UPGRADE + ABILITY_NAMES.index(entry["ability"])
    return {PLUS3: USE_PLUS3, PLUS4: USE_PLUS4, REMOVE3: USE_REMOVE3}[marker]


def _place(entry: Mapping[str, Any], s: np.record) -> int:
    return PLACE + ROUTES * "TM".index(entry["type"]) + read_route(s, entry["route"])


def _route(entry: Mapping[str, Any], s: np.record) -> int:
    return ROUTE + read_route(s, entry["route"])


_REWARDS: Final = {
    "none" if number == 0 else name.replace(" ", "_").lower(): REWARD + number
    for number, name in enumerate(REWARD_NAMES)
}
_ACTS: Final[dict[str, Callable[[Mapping[str, Any], np.record], int]]] = {
    **dict.fromkeys(("PLACE", "EXTRA"), _place),
    **dict.fromkeys(("ESTABLISH", "PUT", "MOVE_TO", "PLACE_MARKER"), _route),
    **dict.fromkeys(("DISPLACE", "MOVE_FROM", "SWAP_WITH", "REMOVE", "LIFT"), _piece_space),
    **dict.fromkeys(("END_TURN", "STOP", "DECLINE"), lambda entry, s: DONE),
    "INCOME": lambda entry, s: INCOME + int(entry["merchants"]),
    "PAY": lambda entry, s: PAY + PAY_KINDS * "TM".index(entry["placed"]) + int(entry["fee_merchants"]),
    "REWARD": lambda entry, s: _REWARDS[entry["choice"].lower()],
    "USE": _use,
}


def entry_action(entry: Mapping[str, Any], s: np.record) -> int | dict[str, Any]:
    """The action of an entry; {"check": {...}} stands for expectations to be met there; raises NotationError."""
    if set(entry) == {"check"}:
        return dict(entry["check"])
    if entry["act"] not in _ACTS:
        raise NotationError(f"{entry['act']!r} is no entry: give one of {', '.join(_ACTS)}")
    if "by" in entry and entry["by"] != s.seat:
        raise NotationError(f"seat {entry['by']} is to decide, but seat {int(s.seat)} is asked")
    return _ACTS[entry["act"]](entry, s)


# --- expectations -----------------------------------------------------------------------------------------------


def differences(expected: Mapping[str, Any], position: Position) -> list[str]:
    """What of the expectations does not hold in the position, a line each."""
    facts = describe(position.states[0], ALL)
    lines = []
    for key, value in expected.items():
        if key in _FACTS:
            lines += unequal(key, value, _FACTS[key](position, facts))
        elif key in _CHECKS:
            lines += _CHECKS[key](value, position, facts)
        else:
            lines.append(f"{key}: not understood")
    return lines


_FACTS: Final[dict[str, Callable[[Position, Mapping[str, Any]], Any]]] = {
    "pile_size": lambda position, facts: facts["pile_size"],
    "completed_cities": lambda position, facts: facts["completed"],
    "current_player": lambda position, facts: facts["turn"],
    "actions_left": lambda position, facts: facts["actions_left"],
    "phase": lambda position, facts: facts["phase"].upper(),
    "actor": lambda position, facts: position.seat,
    "turn": lambda position, facts: facts["turns"],
    "route_markers": lambda position, facts: facts["route_markers"],
    "game_over": lambda position, facts: position.over,
    "end_reason": lambda position, facts: facts["end_reason"],
    "network": lambda position, facts: facts["networks"],
    "winners": lambda position, facts: [seat for seat, place in enumerate(position.places()) if place == 1],
}


def _player_facts(position: Position, facts: Mapping[str, Any], seat: int) -> dict[str, Any]:
    player = dict(facts["players"][seat])
    used = sum(player.pop("used").values())
    rank = player.pop("east_west")
    if seat == facts["turn"]:
        down = facts["pile"][facts["pile_size"] :]
        player["plate"] = [*player["plate"], *reversed(down)]
    collected = used + sum(player["markers"].values())
    return {**player, "used_markers": used, "collected": collected, "east_west_rank": rank - 1 if rank else None}


def _players(expected: Sequence[Mapping[str, Any]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for seat, wanted in enumerate(expected):
        found = _player_facts(position, facts, seat)
        for key, value in wanted.items():
            if key not in found:
                lines.append(f"players[{seat}].{key}: not understood")
            elif key == "levels":
                lines += unequal(f"players[{seat}].levels", value, {name: found[key][name] for name in value})
            else:
                lines += unequal(f"players[{seat}].{key}", value, found[key])
    return lines


def _routes(expected: Mapping[str, Sequence[str]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, pieces in expected.items():
        free = ["-"] * len(route_spaces(ROUTE_KEYS.index(key)))
        found = facts["routes"].get(key, free)
        lines += unequal(f"routes.{key}", Counter(pieces), Counter(found))
    return lines


def _cities(expected: Mapping[str, Any], position: Position, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, wanted in expected.items():
        found = {"offices": [], "extras": [], **facts["cities"].get(key, {})}
        for part, pieces in wanted.items():
            lines += unequal(f"cities.{key}.{part}", pieces, found[part])
    return lines


def _coellen(expected: Mapping[str, int | None], position: Position, facts: Mapping[str, Any]) -> list[str]:
    found = dict(zip(map(str, COELLEN_POINTS.tolist()), facts["coellen"], strict=True))
    return [line for key, seat in expected.items() for line in unequal(f"coellen.{key}", seat, found[key])]


def _controllers(expected: Mapping[str, int | None], position: Position, facts: Mapping[str, Any]) -> list[str]:
    found = facts["controllers"]
    return [line for key, seat in expected.items() for line in unequal(f"controller.{key}", seat, found.get(key))]


def _scores(expected: Sequence[Mapping[str, int]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    lines = []
    for seat, wanted in enumerate(expected):
        for part, value in wanted.items():
            lines += unequal(f"score[{seat}].{part}", value, facts["scores"][seat].get(part))
    return lines


def _options(entries: Sequence[Mapping[str, Any]], position: Position) -> dict[int, Mapping[str, Any]]:
    return {_ACTS[entry["act"]](entry, position.states[0]): entry for entry in entries}


def _legal(expected: Sequence[Mapping[str, Any]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    mask = position.action_mask()
    return [f"legal: {entry} is not" for action, entry in _options(expected, position).items() if not mask[action]]


def _illegal(expected: Sequence[Mapping[str, Any]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    mask = position.action_mask()
    return [f"illegal: {entry} is legal" for action, entry in _options(expected, position).items() if mask[action]]


def _legal_exactly(expected: Sequence[Mapping[str, Any]], position: Position, facts: Mapping[str, Any]) -> list[str]:
    wanted, found = set(_options(expected, position)), set(map(int, position.legal_actions()))
    lines = [f"legal_exactly: {position.action_text(action)!r} is missing" for action in sorted(wanted - found)]
    return lines + [
        f"legal_exactly: {position.action_text(action)!r} is legal too" for action in sorted(found - wanted)
    ]


_CHECKS: Final[dict[str, Callable[[Any, Position, Mapping[str, Any]], list[str]]]] = {
    "players": _players,
    "routes": _routes,
    "cities": _cities,
    "coellen": _coellen,
    "controller": _controllers,
    "score": _scores,
    "legal": _legal,
    "illegal": _illegal,
    "legal_exactly": _legal_exactly,
}
