"""London's tables against data.json, a second witness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.games.london import actions, notation, rules, state, tables

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))
PUBLIC = {name: value for name, value in vars(tables).items() if not name.startswith("_")}
ARRAYS = sorted(name for name, value in PUBLIC.items() if isinstance(value, np.ndarray))
PAYMENTS = {"none": tables.NO_PAYMENT, "card_any": tables.ANY_CARD, "card_blue": tables.BLUE_CARD}


def members(words: Any) -> list[int]:
    """The types of a set, by the stated encoding: type t is bit t % 36 of word t // 36."""
    return [kind for kind in range(72) if int(words[kind // 36]) >> kind % 36 & 1]


def places(word: int) -> list[int]:
    return [place for place in range(20) if word >> place & 1]


def code(texts: tuple[str, ...], name: str | None) -> int:
    return texts.index((name or "").lower())


@pytest.mark.parametrize("facts", DATA["cards"], ids=lambda facts: facts["code"])
def test_card(facts: dict[str, Any]) -> None:
    """R1.3, R1.6."""
    kind = facts["index"]
    card = tables.CARDS[kind]
    assert card.name == facts["name"]
    assert card.name.split(" (")[0] == facts["display_name"]
    assert tables.COLOUR_NAMES[tables.COLOUR[kind]] == facts["colour"]
    assert dict(zip(tables.LETTERS, card.copies, strict=True)) == facts["copies_by_deck"]
    assert tables.COPIES[kind] == facts["copies"] == tables.LETTER_COPIES[:, kind].sum()
    assert (kind < tables.STONE_TYPES) == facts["stone_base"] == (kind in members(tables.STONE))
    assert (tables.COST[kind], tables.POINTS[kind]) == (facts["cost"], facts["vp"])
    cost = facts["activation_cost"]
    assert tables.PAYMENT[kind] == PAYMENTS.get(cost["kind"], tables.FOR_MONEY)
    assert tables.PAYMENT_MONEY[kind] == (cost["amount"] if cost["kind"] == "money" else 0)
    assert (tables.GAIN_MONEY[kind], tables.GAIN_COUNTERS[kind]) == (facts["gain_money"], facts["gain_vp"])
    assert tables.GAIN_POVERTY[kind] == facts["add_poverty"] - facts["remove_poverty"]
    assert bool(tables.FLIPS[kind]) == facts["flips"]
    assert tables.STANDING[kind] == code(tables.STANDING_TEXTS, facts["static_effect"] or facts["play_effect"])
    assert tables.RUN[kind] == code(tables.RUN_TEXTS, facts["activation_effect"])


def test_decks_and_colours() -> None:
    """R1.1, R1.2, R2.2."""
    counts = DATA["counts_check"]
    assert (
        counts["card_types"],
        counts["stone_types"],
        counts["cards"],
    ) == (tables.TYPES, tables.STONE_TYPES, tables.CARDS_IN_ALL)
    assert dict(zip(tables.LETTERS, tables.LETTER_SIZES.tolist(), strict=True)) == counts["by_deck"]
    by_colour = [int(tables.COPIES[colour == tables.COLOUR].sum()) for colour in range(tables.COLOURS)]
    assert dict(zip(tables.COLOUR_NAMES, by_colour, strict=True)) == counts["by_colour"]
    assert int(tables.COPIES[: tables.STONE_TYPES].sum()) == tables.STONE_CARDS == 95  # R16.2
    assert {name: len(DATA["colours"]) for name in DATA["colours"]}.keys() == set(tables.COLOUR_NAMES)


def test_cards_that_can_be_activated() -> None:
    """R9.5: what has an effect by R9.4 is what has something printed to carry out."""
    parts = (tables.ALWAYS, tables.IF_POOR, tables.IF_BROWN, tables.IF_BOROUGH, tables.IF_THAMES, tables.IF_NORTH)
    parts += (tables.IF_HAND, tables.IF_PAUPERS, tables.IF_STONE_SHOWN, tables.IF_TARGET)
    found = sorted({kind for part in parts for kind in members(part)})
    assert found == [facts["index"] for facts in DATA["cards"] if facts["has_printed_activation"]]


def test_sets_of_types() -> None:
    for kind in range(72):
        assert members(tables.TYPE_BIT[kind]) == [kind]
    for colour, name in enumerate(tables.COLOUR_NAMES):
        own = [facts["index"] for facts in DATA["cards"] if facts["colour"] == name]
        assert members(tables.COLOUR_TYPES[colour]) == own
        assert members(tables.STONE_BY_COLOUR[colour]) == [kind for kind in own if kind < 68]
    schools = [facts["index"] for facts in DATA["cards"] if facts["static_effect"] == "SCHOOL"]
    assert members(tables.SCHOOLS) == schools
    by_payment = [members(part) for part in (tables.WITHOUT_CARD, tables.FOR_ANY_CARD, tables.FOR_BLUE_CARD)]
    assert sorted(kind for part in by_payment for kind in part) == list(range(72))
    named = {tables.CARDS[kind].name for kind in members(tables.NO_TARGET)}
    assert named == {"Whitehall", "Public Houses", "Coffee House"}


@pytest.mark.parametrize("facts", DATA["boroughs"], ids=lambda facts: facts["name"])
def test_borough(facts: dict[str, Any]) -> None:
    """R3."""
    place = facts["index"]
    borough = tables.BOROUGHS[place]
    assert (borough.name, borough.bank, borough.thames, borough.red) == (
        facts["name"],
        facts["bank"],
        facts["thames"],
        facts["start"],
    )
    assert (borough.x, borough.y) == (facts["x"], facts["y"])
    assert (tables.PRICE[place], tables.DRAWN[place], tables.BOROUGH_POINTS[place]) == (
        facts["cost"],
        facts["cards"],
        facts["vp"],
    )
    assert places(int(tables.LAND[place])) == sorted(facts["land_neighbours"])
    assert places(int(tables.ADJACENT[place])) == sorted(facts["land_neighbours"] + facts["bridge_neighbours"])
    for word, expected in (
        (tables.RED, facts["start"]),
        (tables.ON_THAMES, facts["thames"]),
        (tables.NORTH, facts["bank"] == "north"),
    ):
        assert bool(word >> place & 1) == expected


def test_edges() -> None:
    """R3.3, R3.4."""
    for table, bridge in ((tables.BORDERS, False), (tables.BRIDGES, True)):
        expected = {frozenset((edge["a"], edge["b"])) for edge in DATA["edges"] if edge["bridge"] == bridge}
        assert {frozenset(pair) for pair in table} == expected
        assert len(table) == len(expected)
    assert len(tables.BORDERS) == 33
    assert tables.BOROUGHS[tables.CITY].name == DATA["underground"]["start_borough"]
    assert [list(point) for point in tables.THAMES] == DATA["drawing"]["river"]


def test_setup_and_money() -> None:
    """R1.5, R2, R4.6, R11, R13."""
    setup, loans, scoring = DATA["setup"], DATA["loans"], DATA["scoring"]
    assert (setup["money"], setup["poverty"], setup["hand"]) == (tables.MONEY, tables.POVERTY, tables.HAND)
    assert setup["building_counters_per_player"] == tables.COUNTERS
    assert setup["underground_counters"] == tables.UNDERGROUNDS
    assert setup["hand_limit"] == tables.HAND_LIMIT
    assert setup["display_rows"] == tables.ROWS
    columns = {str(players): players + tables.SPARE_COLUMNS for players in (2, 3, 4)}
    assert columns == setup["display_columns"]
    assert (loans["cash"], loans["cash_with_bank_of_england"]) == (tables.LOAN, tables.LOAN_WITH_BANK)
    assert (loans["repay"], loans["vp_per_unpaid_loan"]) == (tables.REPAY, -tables.UNPAID)
    assert (
        scoring["pounds_per_vp"],
        scoring["underground_bonus_vp"],
    ) == (tables.POUNDS_A_POINT, tables.UNDERGROUND_POINTS)
    assert {str(n): -int(lost) for n, lost in enumerate(tables.PENALTY)} == scoring["poverty_penalty"]
    assert scoring["poverty_penalty_each_above_10"] == -tables.PENALTY_ABOVE
    assert DATA["underground"]["counters_per_activation"] == tables.PER_UNDERGROUND
    assert DATA["underground"]["river_charge"] == tables.RIVER


def test_actions_and_nodes() -> None:
    """R14.3, R15."""
    space = DATA["action_space"]
    assert space["size"] == actions.NUM_ACTIONS
    renamed = {"loan": "LOAN"}
    for block, facts in zip(actions.ACTIONS.blocks, space["blocks"], strict=True):
        assert renamed.get(block.name, block.name.upper()) == facts["name"]
        assert (actions.ACTIONS.start(block.name), block.size) == (facts["first"], facts["count"])
    assert [phase.name for phase in state.Phase][:-1] == DATA["nodes"]


def test_options_have_the_defaults() -> None:
    options = {option.name: option for option in registry.spec("london").options}
    assert {name: facts["default"] for name, facts in DATA["options"].items()} == {
        name: option.default for name, option in options.items()
    }
    for name, facts in DATA["options"].items():
        if "values" in facts:
            assert list(options[name].names) == facts["values"]  # type: ignore[attr-defined]
    assert options["public_houses"].encode("official") == rules.OFFICIAL
    assert options["public_houses"].encode("end_only") == rules.END_ONLY
    assert options["count_scope"].encode("all") == rules.COUNT_ALL


def test_names_are_those_of_the_notation() -> None:
    assert [facts["name"] for facts in DATA["cards"]] == list(notation.CARD_NAMES)
    assert [facts["name"] for facts in DATA["boroughs"]] == list(notation.BOROUGH_NAMES)


@pytest.mark.parametrize("name", ARRAYS)
def test_tables_are_read_only(name: str) -> None:
    assert not PUBLIC[name].flags.writeable
