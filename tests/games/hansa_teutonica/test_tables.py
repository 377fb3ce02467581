"""Hansa Teutonica's tables against data.json, a second witness, and against plain searches on the map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs.games.hansa_teutonica import actions, tables
from tabletop_envs.games.hansa_teutonica.tables import members

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))
BOARDS = (DATA["boards"]["board_2_3"], DATA["boards"]["board_4_5"])  # [side]
SHAPES = ("square", "circle")
PUBLIC = {name: value for name, value in vars(tables).items() if not name.startswith("_")}
ARRAYS = sorted(name for name, value in PUBLIC.items() if isinstance(value, np.ndarray))


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name: str) -> None:
    assert not PUBLIC[name].flags.writeable


@pytest.mark.parametrize("side", [tables.SIDE_2_3, tables.SIDE_4_5])
def test_offices(side: int) -> None:
    """R1.1, R1.3, R1.6: shape, colour and coin of every office; which city develops what."""
    for city in BOARDS[side]["cities"]:
        number = city["id"]
        assert tables.CITY_KEYS[number] == city["key"]
        assert tables.OFFICE_COUNT[side, number] == len(city["offices"])
        for place, office in enumerate(city["offices"]):
            assert SHAPES[tables.OFFICE_SHAPE[side, number, place]] == office["shape"]
            assert tables.PRIVILEGE_NAMES[tables.OFFICE_COLOUR[side, number, place]] == office["privilege"]
            assert tables.OFFICE_COIN[side, number, place] == office["coin"]
        ability = int(tables.CITY_ABILITY[number])
        assert (tables.ABILITY_NAMES[ability] if ability >= 0 else None) == city["ability"]
        assert (number in (tables.WEST, tables.EAST)) == city["east_west_terminus"]
    assert tables.OFFICE_COUNT[side].sum() == (57, 62)[side]


@pytest.mark.parametrize("side", [tables.SIDE_2_3, tables.SIDE_4_5])
def test_routes(side: int) -> None:
    """R1.1, R2.1, R2.5: cities, spaces and taverns of every route."""
    routes = BOARDS[side]["routes"]
    assert members(int(tables.SIDE_ROUTES[side])) == [route["id"] for route in routes]
    spaces = 0
    for route in routes:
        number = route["id"]
        first, length = int(tables.ROUTE_FIRST[number]), int(tables.ROUTE_LENGTH[number])
        assert tables.ROUTE_KEYS[number] == route["key"]
        assert tables.ROUTE_CITIES[number].tolist() == route["cities"]
        assert list(range(first, first + length)) == route["space_ids"]
        assert tables.SPACE_ROUTE[first : first + length].tolist() == [number] * length
        assert (number in tables.TAVERNS) == route["tavern"]
        spaces += length
    assert spaces == (101, 107)[side]
    assert {side for players in BOARDS[side]["players"] for side in [tables.side_of(players)]} == {side}


def test_places_on_the_map() -> None:
    """Those of the 4-5 side; the other side's differ by little and are drawn in the same places."""
    for side, board in enumerate(BOARDS):
        near = 0.013 if side == tables.SIDE_2_3 else 1e-9
        for city in board["cities"]:
            assert np.allclose(tables.CITY_XY[city["id"]], city["xy"], atol=near)
        for route in board["routes"]:
            for space, xy in zip(route["space_ids"], route["space_xy"], strict=True):
                assert np.allclose(tables.SPACE_XY[space], xy, atol=near)
    assert np.allclose(tables.COELLEN_XY, DATA["coellen"]["xy"])
    assert DATA["layout"]["aspect_w_over_h"] == tables.BOARD_ASPECT


def test_desks() -> None:
    """R1.2, R1.3, R2.3."""
    for ability in DATA["abilities"]:
        number, values = ability["id"], ability["values"]
        assert tables.ABILITY_NAMES[number] == ability["key"]
        assert tables.ABILITY_CITY[number] == ability["city"]
        assert tables.LAST_LEVEL[number] == len(values) - 1
        assert tables.KIND_NAMES[tables.ABILITY_KIND[number]] == ability["piece"]
        assert tables.OPEN_BONUS[number] == ability["final_bonus"]
        told = [tables.PRIVILEGE_NAMES.index(value) if value in tables.PRIVILEGE_NAMES else value for value in values]
        told = [tables.EVERYTHING if value == "all" else value for value in told]
        assert tables.TRACK[number, : len(values)].tolist() == told
    parts, setup = DATA["components"], DATA["setup"]
    on_desk = [int(tables.LAST_LEVEL[kind == tables.ABILITY_KIND].sum()) for kind in (tables.TRADER, tables.MERCHANT)]
    assert on_desk == [parts["traders_on_abilities"], parts["merchants_on_book"]]
    assert tables.TOTAL[0] == parts["traders_per_player"] - parts["traders_on_score_track"]
    assert tables.TOTAL[1] == parts["merchants_per_player"]
    supply = [int(tables.FIRST_SUPPLY[0]) + seat for seat in range(tables.SEATS)]
    stock = [int(tables.FIRST_STOCK[0]) - seat for seat in range(tables.SEATS)]
    assert (supply, stock) == (setup["supply_traders_by_seat"], setup["stock_traders_by_seat"])
    assert [tables.FIRST_SUPPLY[1], tables.FIRST_STOCK[1]] == [setup["supply_merchants"], setup["stock_merchants"]]


def test_markers() -> None:
    """R1.7, R13.4, R16.1."""
    assert [kind["key"] for kind in DATA["markers"]["types"]] == list(tables.MARKER_NAMES)
    for edition, name in enumerate(("original", "bigbox")):
        facts = DATA["markers"]["editions"][name]
        for table, key in ((tables.PILE, "pile_counts"), (tables.MARKER_COUNT, "counts")):
            assert dict(zip(tables.MARKER_NAMES, table[edition].tolist(), strict=True)) == facts[key]
        assert tables.PILE_SIZE[edition] == facts["pile_size"]
        assert tables.MARKER_COUNT[edition].sum() == facts["total"]
        assert [tables.MARKER_NAMES[marker] for marker in tables.START_MARKERS] == facts["start"]
    assert tables.MARKER_POINTS.tolist() == DATA["markers"]["score_table"]


def test_points() -> None:
    """R1.8, R8.7, R12.1, R13.6."""
    ends = DATA["end_triggers"]
    assert [ends["prestige_points"], ends["completed_cities"]] == [tables.END_PRESTIGE, tables.END_CITIES]
    assert tables.EAST_WEST_POINTS.tolist() == [0, *DATA["east_west"]["points"]]
    assert [tables.CITY_KEYS[tables.WEST], tables.CITY_KEYS[tables.EAST]] == DATA["east_west"]["cities"]
    spots = DATA["coellen"]["spots"]
    assert tables.COELLEN_POINTS.tolist() == [spot["points"] for spot in spots]
    assert [spot["privilege"] for spot in spots] == list(tables.PRIVILEGE_NAMES)
    assert tables.ROUTE_KEYS[tables.COELLEN_ROUTE] == DATA["coellen"]["route"]
    assert DATA["scoring"]["controlled_city"] == tables.CITY_POINTS


def test_pairs_and_provinces() -> None:
    """R10.4, R16.6."""
    pairs = [[pair["city"], pair["left_office"]] for pair in DATA["swap_pairs"]]
    assert tables.SWAP_PAIRS.tolist() == pairs
    for province in DATA["two_player_pawn"]["provinces"]:
        number, beside = province["id"], province["adjacent"]
        assert tables.PROVINCE_NAMES[number] == province["name"]
        assert members(int(tables.PROVINCE_ROUTES[number])) == province["routes"]
        assert members(int(tables.NEXT_PROVINCES[number])) == beside
        further = {other for near in beside for other in DATA["two_player_pawn"]["provinces"][near]["adjacent"]}
        assert set(members(int(tables.NEAR_PROVINCES[number]))) == (further | set(beside)) - {number}


def test_actions() -> None:
    """The indices of RULES.md's decision points."""
    space = DATA["action_space"]
    names = {"PLACE_TRADER": "place_trader", "PLACE_MERCHANT": "place_merchant"}
    for block in [*space["blocks"], space["pawn_extension"]]:
        name = names.get(block["name"], block["name"].lower())
        assert actions.ACTIONS.start(name) == block["offset"]
        assert actions.ACTIONS.block(name).size == block["size"]
    for pawn, size in ((False, space["size"]), (True, space["size"] + space["pawn_extension"]["size"])):
        assert actions.ACTIONS.size({"two_player_pawn": pawn}) == size
    rewards = [name.upper().replace(" ", "_") for name in actions.REWARD_NAMES]
    assert ["NONE", *rewards[1:]] == space["reward"]


@pytest.mark.parametrize("side", [tables.SIDE_2_3, tables.SIDE_4_5])
def test_rings_and_links(side: int) -> None:
    """R6.3, R11.1: breadth-first over the routes of data.json."""
    ends = {route["id"]: set(route["cities"]) for route in BOARDS[side]["routes"]}
    for start in ends:
        steps, edge, distance = {start: 0}, {start}, 0
        while edge:
            distance += 1
            near = {a for a in ends for b in edge if a not in steps and ends[a] & ends[b]}
            steps |= dict.fromkeys(near, distance)
            edge = near
        rings = [members(int(ring)) for ring in tables.RINGS[side, start]]
        assert rings == [sorted(r for r, s in steps.items() if s == d + 1) for d in range(len(rings))]
        assert len(steps) == len(ends)  # the whole map hangs together
    for city in range(tables.CITIES):
        beside = {other for pair in ends.values() if city in pair for other in pair - {city}}
        assert members(int(tables.LINKS[side, city])) == sorted(beside)


def test_sets_of_spaces() -> None:
    """Each space has a bit of its own in the word of its route."""
    seen = set()
    for space in range(tables.SPACES):
        word, bit = int(tables.SPACE_WORD[space]), int(tables.SPACE_BIT[space])
        assert bit.bit_count() == 1
        assert bit < 1 << 62
        assert word == int(space >= tables.LOW_SPACES)
        assert bit == 1 << space - tables.LOW_SPACES * word
        seen.add((word, bit))
    assert len(seen) == tables.SPACES
    for route in range(tables.ROUTES):
        first, length = int(tables.ROUTE_FIRST[route]), int(tables.ROUTE_LENGTH[route])
        assert len(set(tables.SPACE_WORD[first : first + length].tolist())) == 1
        assert tables.ROUTE_SPACES[route] == tables.SPACE_BIT[first : first + length].sum()
        ability = {int(tables.CITY_ABILITY[city]) for city in tables.ROUTE_CITIES[route]} - {-1}
        assert ability == ({int(tables.ROUTE_ABILITY[route])} - {-1})
