"""The Palaces of Carrara in words: actions, events and positions as text and as JSON facts. Decides no rule.

Things go by the names of RULES.md: a tile is its type and cost (`palazzo3`), a segment a Roman number (`IV`). What
lies behind a screen (R15.1) is told to its owner alone, to others when it is open: at the end, and with the option
`open_holdings`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tabletop_envs.core.game import ALL
from tabletop_envs.core.header import NOBODY, OVER_CAP, RUNNING
from tabletop_envs.core.words import ActionReader
from tabletop_envs.errors import NotationError
from tabletop_envs.games.carrara.actions import ACTIONS, NUM_ACTIONS
from tabletop_envs.games.carrara.state import (
    EXHAUSTED,
    FIELDS,
    NONE,
    NOT_PAYABLE,
    RELIEVED,
    Phase,
    objective_met,
    refresh_kept,
)
from tabletop_envs.games.carrara.tables import (
    BRICKS,
    CARDS,
    CITY_NAMES,
    COINS_PER_POINT,
    COLOUR_NAMES,
    DECK_NAMES,
    DECKS,
    GROUP_NAMES,
    LEVELS,
    MONUMENT_LEVEL,
    OBJECT_NAMES,
    OBJECTS,
    PILE,
    SEGMENT_NAMES,
    TILE_NAMES,
    TYPE_NAMES,
    Metric,
)

CARD_IDS: Final = tuple(card.id for card in CARDS)
_PHASES: Final = tuple(phase.name.lower() for phase in Phase)


# --- actions and events -----------------------------------------------------------------------------------------

# action block -> names of its single index; the block's own name, with a blank for "_", comes before
_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "score_city": CITY_NAMES,
    "score_type": TYPE_NAMES,
    "score_group": GROUP_NAMES,
    "city": CITY_NAMES,
    "segment": SEGMENT_NAMES,
    "colour": COLOUR_NAMES,
    "improve": CITY_NAMES,
    "object": OBJECT_NAMES,
}


def action_text(action: int) -> str:
    """An action in words: `buy turn`, `tile palazzo3`, `score city lucca`, `segment IV`, `colour red`, `done`."""
    block, index = ACTIONS.decode(action)
    words = block.replace("_", " ")
    if block == "tile":
        return f"{words} {TILE_NAMES[LEVELS * index[0] + index[1]]}"
    return f"{words} {_NAMES[block][index[0]]}" if index else words


parse_action: Final = ActionReader(
    "The Palaces of Carrara",
    action_text,
    NUM_ACTIONS,
    "'buy turn', 'tile palazzo3', 'score city lucca', 'segment IV', 'colour red', 'done' and the like",
)


def event_text(kind: int, seat: int, value: int) -> str:
    """What happened by itself, in words; raises NotationError for an event that is none."""
    if kind == NOT_PAYABLE:
        return f"seat {seat} can pay no brick and receives {value} coins"
    if kind == RELIEVED:
        return f"seat {seat} can do nothing else and receives {value} coins"
    if kind == EXHAUSTED:
        return "the tiles are used up: the end is triggered"
    raise NotationError(f"event {kind} is none of The Palaces of Carrara")


# what the metrics of the cards count
_METRIC_WORDS: Final = {
    Metric.SCORINGS: "scorings",
    Metric.CITY_SCORINGS: "city scorings",
    Metric.OWN_SCORINGS: "own-board scorings",
    Metric.COINS: "coins",
    Metric.BRICKS: "bricks",
    Metric.BRICK_PAIRS: "pairs of bricks",
    Metric.VP: "points on the track",
    Metric.BUILDINGS: "buildings",
    Metric.BUILDING_COST: "cost of all buildings",
    Metric.BUILDINGS_COST_4_UP: "buildings of cost 4 or more",
    Metric.BUILDINGS_COST_5_UP: "buildings of cost 5 or 8",
    Metric.CITIES_BUILT: "cities with a building",
    Metric.TYPES_BUILT: "types built",
    Metric.COUNTRY_BUILDINGS: "country buildings",
    Metric.CITY_BUILDINGS: "city buildings",
    Metric.COST_IN_BEST_THREE_CITIES: "cost in Livorno, Pisa, Lucca",
    Metric.BUILDINGS_IN_LERICI: "buildings in Lerici",
    Metric.CITIES_WITH_THREE_BUILDINGS: "cities with 3 or more buildings",
    Metric.UNUSED_MARKERS: "unused markers",
    Metric.OBJECTS: "objects",
    Metric.OBJECT_PAIRS: "pairs of equal objects",
    Metric.OBJECT_TRIPLES: "triples of equal objects",
    Metric.OBJECT_SETS_3: "sets of 3 different objects",
    Metric.OBJECT_SETS_4: "sets of 4 different objects",
    Metric.OBJECT_SETS_5: "sets of 5 different objects",
    Metric.COUNTRY_OBJECTS: "flags and coats of arms",
    Metric.CITY_OBJECTS: "gates, books, cups, crowns",
}


def card_text(card: int, num_players: int) -> str:
    """A card in words: the least numbers of its condition, what it pays: `objects: 8 or more, 3 VP each`."""
    facts = CARDS[card]
    parts = [f"{_METRIC_WORDS[metric]}: {least[num_players - 2]} or more" for metric, least in facts.conditions]
    if facts.per:
        head = "" if facts.conditions else f"{_METRIC_WORDS[facts.counts]}: "
        parts.append(f"{head}{facts.per} VP each")
    if facts.coin_rate != COINS_PER_POINT:
        parts.append(f"{facts.coin_rate} count 1 VP")
    return ", ".join(parts) or "coins only"


def counted(number: int, thing: str) -> str:
    """`1 brick`, `2 bricks`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


# --- facts ------------------------------------------------------------------------------------------------------


def shows_holdings(s: np.record, viewer: int, seat: int) -> bool:
    """R15.1, R15.3: whether a viewer is shown what a seat has behind its screen."""
    return viewer in (ALL, seat) or bool(s["open_holdings"]) or int(s["over"]) != RUNNING


def members(bits: int, names: Sequence[str]) -> list[str]:
    """The names of a set."""
    return [name for index, name in enumerate(names) if bits >> index & 1]


def amounts(counts: Sequence[int], names: Sequence[str]) -> dict[str, int]:
    """The names of what there is, with its number."""
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _name(index: int, names: Sequence[str]) -> str | None:
    return None if index == NONE else names[index]


def describe(s: np.record, viewer: int) -> dict[str, Any]:
    """The facts of a position that a viewer may know, fit for JSON.

    * `phase`, `turn` (the seat), `rounds` completed;
    * `seats`, for each: `vp`, `markers` left, `types_scored`, `groups_scored`, `improvements`, `buildings` by city;
      and `coins`, `bricks`, `objects`, `objectives` (met or not), all None behind a closed screen;
    * `wheel` by segment, `bag_empty`, `bag` (for ALL alone);
    * `display`, `monuments` on offer, `pile_tiles` in no order, `pile`, the top first (for ALL alone),
      `replaced_tiles`;
    * `for_sale`, `supply` (objects), `city_scored`, `improvement_stock`, `cards`, `end_triggered`, `announcer`;
    * `choice`: what has been decided of the decision in progress; `paid`: the bricks of the last payment.
    """
    offer = members(int(s["offer"]), TILE_NAMES)
    pile = s["pile"].tolist()[: int(s["pile_size"])]
    everything = viewer == ALL
    return {
        "phase": _PHASES[int(s["phase"])],
        "turn": int(s["turn"]),
        "rounds": int(s["rounds"]),
        "seats": [_seat(s, seat, shows_holdings(s, viewer, seat)) for seat in range(int(s["num_players"]))],
        "wheel": {
            name: amounts(row, COLOUR_NAMES) for name, row in zip(SEGMENT_NAMES, s["wheel"].tolist(), strict=True)
        },
        "bag_empty": bool(s["bag_empty"]),
        "bag": amounts(s["bag"].tolist(), COLOUR_NAMES) if everything else None,
        "display": [name for name in offer if name not in _MONUMENT_NAMES],
        "monuments": [name for name in offer if name in _MONUMENT_NAMES],
        "pile_tiles": members(int(s["in_pile"]), TILE_NAMES),
        "pile": [TILE_NAMES[tile] for tile in reversed(pile)] if everything else None,
        "replaced_tiles": members(int(s["gone"]), TILE_NAMES),
        "for_sale": members(int(s["for_sale"]), OBJECT_NAMES),
        "supply": amounts(s["supply"].tolist(), OBJECT_NAMES),
        "city_scored": {
            name: seat for name, seat in zip(CITY_NAMES, s["city_scored"].tolist(), strict=True) if seat != NONE
        },
        "improvement_stock": amounts(s["improvements"].tolist(), CITY_NAMES),
        "cards": [CARD_IDS[card] for card in s["in_force"].tolist()],
        "end_triggered": bool(s["triggered"]),
        "announcer": None if s["announcer"] == NONE else int(s["announcer"]),
        "choice": {
            "segment": _name(int(s["segment"]), SEGMENT_NAMES),
            "taken": int(s["taken"]),
            "tile": _name(int(s["tile"]), TILE_NAMES),
            "replaced": _name(int(s["replaced"]), TILE_NAMES),
            "site": _name(int(s["site"]), CITY_NAMES),
            "to_pay": int(s["to_pay"]),
            "last_colour": _name(int(s["last_colour"]), COLOUR_NAMES),
        },
        "paid": amounts(s["paid"].tolist(), COLOUR_NAMES),
    }


_MONUMENT_NAMES: Final = frozenset(TILE_NAMES[MONUMENT_LEVEL::LEVELS])


def _seat(s: np.record, seat: int, shown: bool) -> dict[str, Any]:
    standing = zip(CITY_NAMES, s["standing"][seat].tolist(), strict=True)
    return {
        "vp": int(s["vp"][seat]),
        "markers": int(s["markers"][seat]),
        "types_scored": members(int(s["types_scored"][seat]), TYPE_NAMES),
        "groups_scored": members(int(s["groups_scored"][seat]), GROUP_NAMES),
        "improvements": members(int(s["improved"][seat]), CITY_NAMES),
        "buildings": {city: members(tiles, TILE_NAMES) for city, tiles in standing if tiles},
        "coins": int(s["coins"][seat]) if shown else None,
        "bricks": amounts(s["bricks"][seat].tolist(), COLOUR_NAMES) if shown else None,
        "objects": amounts(s["objects"][seat].tolist(), OBJECT_NAMES) if shown else None,
        "objectives": [bool(objective_met(s, seat, deck)) for deck in range(DECKS - 1)] if shown else None,
    }


# --- and back ---------------------------------------------------------------------------------------------------


def index_of(name: Any, names: Sequence[str], what: str) -> int:
    """The index of a name; raises NotationError."""
    if name not in names:
        raise NotationError(f"{what} {name!r}: give one of {', '.join(names)}")
    return names.index(name)


def set_of(chosen: Sequence[str], names: Sequence[str], what: str) -> int:
    """The set of the names; raises NotationError for one that is unknown or named twice."""
    if isinstance(chosen, str) or len(set(chosen)) < len(chosen):
        raise NotationError(f"{what} {chosen!r}: name each one once")
    return sum(1 << index_of(name, names, what) for name in chosen)


def counts_of(given: Mapping[str, int], names: Sequence[str], most: int, what: str) -> list[int]:
    """The numbers of the names, 0 where none is given; raises NotationError."""
    strange = set(given) - set(names)
    if strange or not all(type(count) is int and 0 <= count <= most for count in given.values()):
        raise NotationError(f"{what} {given!r}: give numbers from 0 to {most} for {', '.join(names)}")
    return [given.get(name, 0) for name in names]


def number_of(value: Any, low: int, high: int, what: str) -> int:
    """A whole number of a range; raises NotationError."""
    if type(value) is not int or not low <= value <= high:
        raise NotationError(f"{what} {value!r}: give a whole number from {low} to {high}")
    return value


_SPANS: Final = {field.name: field.span for field in FIELDS}


def write_number(s: np.record, name: str, value: Any, seat: int | None = None) -> None:
    """Write a number into a field, or into a seat's entry of it; raises NotationError outside the field's range."""
    number = number_of(value, *_SPANS[name], name)
    if seat is None:
        s[name] = number
    else:
        s[name][seat] = number


def write_pile(s: np.record, tiles: Sequence[str]) -> None:
    """Write the pile, the top first."""
    if len(tiles) > PILE:
        raise NotationError(f"pile {tiles!r}: at most {PILE} tiles lie in it")
    s["in_pile"] = set_of(tiles, TILE_NAMES, "pile")
    s["pile_size"] = len(tiles)
    s["pile"][:] = NONE
    s["pile"][: len(tiles)] = [TILE_NAMES.index(tile) for tile in reversed(tiles)]


def write_seat(s: np.record, seat: int, facts: Mapping[str, Any]) -> None:
    """Write what a seat has, its markers left out."""
    write_number(s, "vp", facts["vp"], seat)
    write_number(s, "coins", facts["coins"], seat)
    s["types_scored"][seat] = set_of(facts["types_scored"], TYPE_NAMES, "types_scored")
    s["groups_scored"][seat] = set_of(facts["groups_scored"], GROUP_NAMES, "groups_scored")
    s["improved"][seat] = set_of(facts["improvements"], CITY_NAMES, "improvements")
    s["bricks"][seat] = counts_of(facts["bricks"], COLOUR_NAMES, BRICKS, "bricks")
    s["objects"][seat] = counts_of(facts["objects"], OBJECT_NAMES, OBJECTS, "objects")
    s["standing"][seat] = 0
    for city, tiles in facts["buildings"].items():
        s["standing"][seat, index_of(city, CITY_NAMES, "city")] = set_of(tiles, TILE_NAMES, "buildings")


def write_wheel(s: np.record, wheel: Mapping[str, Mapping[str, int]]) -> None:
    """Write the wheel; segments that are not named are empty."""
    s["wheel"][:] = 0
    for segment, bricks in wheel.items():
        counts = counts_of(bricks, COLOUR_NAMES, BRICKS, f"segment {segment}")
        s["wheel"][index_of(segment, SEGMENT_NAMES, "segment")] = counts


def write_city_scored(s: np.record, scored: Mapping[str, int]) -> None:
    """Write who scored which city."""
    s["city_scored"][:] = NONE
    for city, seat in scored.items():
        place = index_of(city, CITY_NAMES, "city")
        s["city_scored"][place] = number_of(seat, 0, int(s["num_players"]) - 1, "city_scored")


def write_cards(s: np.record, cards: Sequence[str]) -> None:
    """Write the cards in force."""
    if len(cards) != DECKS:
        raise NotationError(f"cards {cards!r}: give one of each deck, {', '.join(DECK_NAMES)}")
    s["in_force"][:] = [index_of(card, CARD_IDS, "card") for card in cards]


def restore(facts: Mapping[str, Any], s: np.record) -> None:
    """Write the position of `describe` for ALL into a record with header and options filled.

    Markers, objectives, what is empty and what the pile holds in no order are found anew. Raises NotationError,
    KeyError or TypeError for facts that are no position.
    """
    if len(facts["seats"]) != s["num_players"]:
        raise NotationError(f"{len(facts['seats'])} seats are given for {int(s['num_players'])} players")
    for field in FIELDS:
        s[field.name] = 0
    s["phase"] = index_of(facts["phase"], _PHASES, "phase")
    write_number(s, "turn", facts["turn"])
    write_number(s, "rounds", facts["rounds"])
    for seat, part in enumerate(facts["seats"]):
        write_seat(s, seat, part)
    write_wheel(s, facts["wheel"])
    s["bag"][:] = counts_of(facts["bag"], COLOUR_NAMES, BRICKS, "bag")
    s["offer"] = set_of([*facts["display"], *facts["monuments"]], TILE_NAMES, "display")
    write_pile(s, facts["pile"])
    s["gone"] = set_of(facts["replaced_tiles"], TILE_NAMES, "replaced_tiles")
    s["for_sale"] = set_of(facts["for_sale"], OBJECT_NAMES, "for_sale")
    s["supply"][:] = counts_of(facts["supply"], OBJECT_NAMES, OBJECTS - 1, "supply")
    write_city_scored(s, facts["city_scored"])
    s["improvements"][:] = counts_of(facts["improvement_stock"], CITY_NAMES, 2, "improvement_stock")
    write_cards(s, facts["cards"])
    s["triggered"] = bool(facts["end_triggered"])
    write_number(s, "announcer", NONE if facts["announcer"] is None else facts["announcer"])
    _write_choice(s, facts["choice"])
    s["paid"][:] = counts_of(facts["paid"], COLOUR_NAMES, BRICKS, "paid")
    refresh_kept(s)


def _write_choice(s: np.record, choice: Mapping[str, Any]) -> None:
    names = {
        "segment": SEGMENT_NAMES,
        "tile": TILE_NAMES,
        "replaced": TILE_NAMES,
        "site": CITY_NAMES,
        "last_colour": COLOUR_NAMES,
    }
    for name, known in names.items():
        s[name] = NONE if choice[name] is None else index_of(choice[name], known, name)
    write_number(s, "taken", choice["taken"])
    write_number(s, "to_pay", choice["to_pay"])


# --- text -------------------------------------------------------------------------------------------------------


def position_text(s: np.record, viewer: int) -> str:
    """The facts of `describe` as lines `name: JSON`, with `decisions` and `over` before them.

    That for ALL says all of a position that waits for a decision or is over, but for the events that led to it.
    """
    facts = {"decisions": int(s["decisions"]), "over": int(s["over"]), **describe(s, viewer)}
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in facts.items())


def parse_position(text: str, s: np.record) -> None:
    """Write the position of `position_text` for ALL into a record with header and options filled.

    Raises NotationError.
    """
    try:
        lines = [line.partition(":") for line in text.splitlines() if line.strip()]
        facts = {name.strip(): json.loads(value) for name, _, value in lines}
        over = number_of(facts.pop("over"), RUNNING, OVER_CAP, "over")
        decisions = number_of(facts.pop("decisions"), 0, int(s["max_decisions"]), "decisions")
        restore(facts, s)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        raise NotationError(f"{text!r} is no position ({error!r}): give what position_text writes for ALL") from error
    s["decisions"], s["over"] = decisions, over
    s["seat"] = s["turn"] if over == RUNNING else NOBODY
