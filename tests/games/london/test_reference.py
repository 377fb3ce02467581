"""The compiled core against `reference.py`, the rulebook's clauses in plain Python.

First the reference shows by the worked cases and the stored game that it can be trusted.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from games.london import reference
from games.london.reference import BOROUGH_NUMBERS, BOROUGHS, CARD_NUMBERS, CARDS, Table, choice_action

from tabletop_envs import casebook

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [case for case in casebook.load(HERE / "cases.json") if "setup" in case]


def settle(table: Table) -> None:
    """Answer what has one answer (R14.2)."""
    while len(table.legal()) == 1:
        table.apply(next(iter(table.legal())))


# --- the reference by itself ------------------------------------------------------------------------------------


def names(cards: Any) -> list[str]:
    return [CARDS[card].name for card in cards]


def facts(table: Table) -> dict[str, Any]:
    """The position in the notation of the cases' expectations."""
    results = table.final()
    return {
        "node": table.node,
        "current": table.current,
        "display": [[None if card is None else CARDS[card].name for card in row] for row in table.display],
        "discard": sorted(names(table.discard.elements())),
        "deck": names(table.deck),
        "deck_size": len(table.deck),
        "underground": sorted(BOROUGHS[borough].name for borough in table.underground),
        "final_turns_left": table.turns_left,
        "final": {
            "vp": [result.vp for result in results],
            "poverty": [result.poverty for result in results],
            "ranks": [result.rank for result in results],
        },
    }


def differs(table: Table, expected: dict[str, Any]) -> list[str]:
    """What a case expects and the reference does not show."""
    found = facts(table)
    wrong = []
    for key, value in expected.items():
        name = key.removeprefix("expect_")
        if name == "legal":
            bounds = {bound: {choice_action(text) for text in texts} for bound, texts in value.items()}
            legal = table.legal()
            fits = legal == bounds.get("exactly", legal) and legal >= bounds.get("includes", set())
            if not fits or legal & bounds.get("excludes", set()):
                wrong.append(f"legal: {sorted(legal)} for {value}")
        elif name == "seats":
            wrong += [line for seat, wanted in value.items() for line in seat_differs(table.players[int(seat)], wanted)]
        elif found[name] != (sorted(value) if name in ("discard", "underground") else value):
            wrong.append(f"{name}: {found[name]} for {value}")
    return wrong


def seat_differs(player: reference.Player, expected: dict[str, Any]) -> list[str]:
    wrong = []
    for name, value in expected.items():
        if name == "hand":
            same = player.hand.total() == len(value) and player.hand == Counter(CARD_NUMBERS[card] for card in value)
        elif name == "boroughs":
            same = player.boroughs == {BOROUGH_NUMBERS[borough] for borough in value}
        elif name == "stacks":
            same = len(player.stacks) == len(value) and all(
                names(stack.cards) == wanted["cards"]
                and stack.face_up == wanted.get("face_up", stack.face_up)
                and stack.money == wanted.get("money", stack.money)
                for stack, wanted in zip(player.stacks, value, strict=True)
            )
        else:
            same = getattr(player, name) == value
        if not same:
            wrong.append(f"{name} of {player} for {value}")
    return wrong


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_reference_passes_the_cases(case: dict[str, Any]) -> None:
    table = Table.arranged(case["setup"])
    settle(table)
    for entry in case["actions"]:
        if isinstance(entry, dict):
            assert not differs(table, entry)
        else:
            table.apply(choice_action(entry))
            settle(table)
    assert not differs(table, case["expect"])


def test_the_reference_knows_the_poverty_table() -> None:
    (case,) = (case for case in casebook.load(HERE / "cases.json") if "table" in case)
    assert [[points, reference.poverty_penalty(points)] for points, _ in case["table"]] == case["table"]


def test_the_reference_replays_the_stored_game() -> None:
    trace = json.loads((HERE / "trace_2p.json").read_text(encoding="utf-8"))
    table = Table(2)
    table.deck = [CARD_NUMBERS[name] for name in trace["deck"]]
    for player, hand in zip(table.players, trace["hands"], strict=True):
        player.hand = Counter(CARD_NUMBERS[name] for name in hand)
    table.current = trace["start_player"]
    table.begin()
    settle(table)
    checkpoints = {checkpoint[0]: checkpoint[1:] for checkpoint in trace["checkpoints"]}
    for number, (*asked, choice, options) in enumerate(trace["steps"], 1):
        assert [table.current, table.node, len(table.legal())] == [*asked, options]
        table.apply(choice_action(choice))
        settle(table)
        if number in checkpoints:
            columns = [[getattr(p, name) for p in table.players] for name in ("money", "loans", "poverty", "vp")]
            sizes = [[p.hand.total() for p in table.players], [len(p.stacks) for p in table.players]]
            assert [table.turns, *columns, *sizes, len(table.deck)] == checkpoints[number]
    assert table.over == reference.ENDED
    assert table.turns == trace["final"]["turns"]
    assert table.points() == trace["final"]["vp"]
    assert table.places() == trace["final"]["ranks"]
