"""The Python tables of The Palaces of Carrara against `data.json`, which was written down apart from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabletop_envs import registry
from tabletop_envs.games.carrara import GAME, notation, tables
from tabletop_envs.games.carrara.state import Phase

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))


def plain(name: str) -> str:
    return name.replace("_", " ")


def test_bricks_and_wheel() -> None:
    """R1.1 to R1.3, R4.3."""
    assert list(tables.COLOUR_NAMES) == DATA["colours"]
    assert DATA["bricks"] == {"per_colour": tables.BRICKS, "total": tables.BRICKS * tables.COLOURS}
    wheel = DATA["wheel"]
    assert list(tables.SEGMENT_NAMES) == wheel["segments"]
    assert wheel["refill_segment"] == tables.SEGMENT_NAMES[0]
    assert wheel["refill_total"] == tables.REFILL
    for segment, prices in wheel["prices"].items():
        row = tables.PRICE[tables.SEGMENT_NAMES.index(segment)].tolist()
        assert dict(zip(tables.COLOUR_NAMES, row, strict=True)) == prices


def test_what_can_be_paid() -> None:
    for coins in range(tables.MAX_PRICE + 1):
        for segment in range(tables.SEGMENTS):
            payable = [colour for colour in range(tables.COLOURS) if tables.PRICE[segment, colour] <= coins]
            assert tables.AFFORDABLE[coins, segment] == sum(1 << colour for colour in payable)


def test_cities() -> None:
    """R1.4."""
    assert list(tables.CITY_NAMES) == [city["name"] for city in DATA["cities"]]
    for index, city in enumerate(DATA["cities"]):
        assert city["index"] == index
        assert city["colour"] == tables.COLOUR_NAMES[index]
        assert city["accepts"] == list(tables.COLOUR_NAMES[: index + 1])
        assert city["multiplier"] == tables.MULTIPLIER[index]
        assert city["reward"] == ("coins" if tables.PAYS_COINS[index] else "vp")
        assert city["buildings_needed_for_city_scoring"] == tables.NEEDED[index]
    assert tables.CITY_NAMES[tables.LERICI] == "lerici"


def test_tiles_and_objects() -> None:
    """R1.5, R1.6, R2.2, R2.3, R7.1, R13.1."""
    assert [kind["name"] for kind in DATA["building_types"]] == list(tables.TYPE_NAMES)
    assert [plain(kind["object"]) for kind in DATA["building_types"]] == list(tables.OBJECT_NAMES)
    tiles = {tile["id"]: tile for tile in DATA["buildings"] + DATA["monuments"]}
    assert set(tiles) == set(tables.TILE_NAMES)
    for index, name in enumerate(tables.TILE_NAMES):
        bit, kind = int(tables.TILE_SET[index]), index // tables.LEVELS
        assert tiles[name]["cost"] == tables.COST[index]
        assert tiles[name]["type"] == tables.TYPE_NAMES[kind]
        assert bit & tables.TYPE_SET[kind]
        assert bit & tables.GROUP_SET[tables.GROUP_NAMES.index(tiles[name]["group"])]
        assert bit & tables.LEVEL_SET[index % tables.LEVELS]
        is_monument = tiles[name] in DATA["monuments"]
        assert bool(bit & tables.MONUMENT_SET) == is_monument != bool(bit & tables.PLAIN_SET)
        for cost in range(9):
            assert bool(bit & tables.UP_TO_COST[cost]) == (not is_monument and tiles[name]["cost"] <= cost)
            assert bool(bit & tables.FROM_COST[cost]) == (not is_monument and tiles[name]["cost"] >= cost)
    assert DATA["display_size"] == tables.DISPLAY
    assert len(DATA["buildings"]) == tables.DISPLAY + tables.PILE
    objects = DATA["objects"]
    assert [plain(kind) for kind in objects["kinds"]] == list(tables.OBJECT_NAMES)
    assert objects["per_kind"] == tables.OBJECTS == objects["on_board_for_sale_per_kind"] + 5
    assert objects["in_supply_per_kind"] == tables.OBJECTS - 1
    assert objects["price"] == tables.OBJECT_PRICE
    assert not objects["display_refilled"]


def test_setup_and_end() -> None:
    """R1.7 to R1.9, R2.4, R8.4, R8.5, R9.1."""
    setup, end = DATA["setup"], DATA["end"]
    assert {int(n): coins for n, coins in setup["coins_by_player_count"].items()} == {
        n: tables.START_COINS[n - 2] for n in (2, 3, 4)
    }
    assert setup["starting_brick_by_turn_order"] == [tables.COLOUR_NAMES[brick] for brick in tables.START_BRICK]
    assert setup["scoring_markers_to_place"] == tables.MARKERS
    assert DATA["relief_coins"] == tables.RELIEF_COINS
    assert end["announce_bonus_vp"] == tables.ANNOUNCE_POINTS
    assert DATA["final"]["coins_per_vp"] == tables.COINS_PER_POINT
    first = [tables.CARDS[start] for start in tables.DECK_START[:-1]]
    assert [end["base_card_ids"][deck] for deck in tables.DECK_NAMES] == [card.id for card in first]
    for players, objectives in end["base_objectives"].items():
        least = [card.conditions[0][1][int(players) - 2] for card in first[:3]]
        assert least == [objectives["scorings"], objectives["objects"], objectives["building_cost"]]


@pytest.mark.parametrize("facts", DATA["cards"], ids=lambda facts: facts["id"])
def test_cards(facts: dict[str, Any]) -> None:
    index = notation.CARD_IDS.index(facts["id"])
    card = tables.CARDS[index]
    assert card.name == facts["name"]
    assert [(metric.name.lower(), list(least)) for metric, least in card.conditions] == [
        (condition["metric"], condition["min"]) for condition in facts["condition"]
    ]
    assert (card.counts.name.lower(), card.per) == (facts["vp"]["metric"], facts["vp"]["per"])
    assert card.coin_rate == facts.get("coin_rate", tables.COINS_PER_POINT)
    assert (tables.CARD_COUNTS[index], tables.CARD_PER[index]) == (card.counts, card.per)
    assert tables.CARD_COIN_RATE[index] == card.coin_rate
    for number in range(tables.MAX_CONDITIONS):
        metric, least = card.conditions[number] if number < len(card.conditions) else (tables.Metric.NONE, (0, 0, 0))
        assert tables.CARD_METRIC[index, number] == metric
        assert tables.CARD_LEAST[index, number].tolist() == list(least)
    deck = tables.DECK_NAMES.index(facts["deck"])
    assert tables.DECK_START[deck] <= index < tables.DECK_START[deck + 1]
    assert facts.get("base", False) == (index == tables.DECK_START[deck])


def test_decks_and_metrics() -> None:
    """R12.1, R12.3, R12.4."""
    assert len(tables.CARDS) == len(DATA["cards"]) == 31
    sizes = [DATA["card_decks"][deck]["count"] for deck in tables.DECK_NAMES]
    assert sizes == (tables.DECK_START[1:] - tables.DECK_START[:-1]).tolist()
    assert {metric.name.lower() for metric in tables.Metric} == set(DATA["metrics"])
    for metric in tables.Metric:
        assert tables.OBJECTS_USED[metric] == DATA["metric_objects_used"].get(metric.name.lower(), 0)


def test_improvements() -> None:
    supplies = [DATA["improvements"][name] for name in ("supply_default", "supply_eight")]
    assert [dict(zip(tables.CITY_NAMES, row, strict=True)) for row in tables.IMPROVEMENTS.tolist()] == supplies


def test_options_actions_and_phases() -> None:
    known = {option.name: option.default for option in GAME.options}
    given = {name: facts["default"] for name, facts in DATA["options"].items() if name != "n_players"}
    assert known == given
    for option in GAME.options:
        values = DATA["options"][option.name]["values"]
        if isinstance(values, list) and isinstance(values[0], str):
            assert list(getattr(option, "names", ())) == values
    assert [phase.name for phase in Phase][:-1] == DATA["actions"]["phases"]
    actions = registry.load("carrara").actions
    assert actions.full_size == DATA["actions"]["size"]
    rows = [{"block": b.name.upper(), "first": actions.start(b.name), "count": b.size} for b in actions.blocks]
    assert rows == DATA["actions"]["blocks"]
