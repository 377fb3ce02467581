"""Umbra Via's tables against data.json, a second witness, and against plain arithmetic on rows and columns."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_envs import registry
from tabletop_envs.games.umbra_via import tables
from tabletop_envs.games.umbra_via.actions import ACTIONS
from tabletop_envs.games.umbra_via.state import Phase
from tabletop_envs.games.umbra_via.view import OBSERVATIONS

DATA: dict[str, Any] = json.loads((Path(__file__).parent / "data.json").read_text(encoding="utf-8"))
SPEC = registry.spec("umbra_via")
ARRAYS = sorted(name for name, value in vars(tables).items() if isinstance(value, np.ndarray))


def letters(tile: int) -> str:
    return "".join(letter for bit, letter in zip((1, 2, 4, 8), "NESW", strict=True) if tile & bit)


def test_board() -> None:
    board = DATA["board"]
    assert (board["rows"], board["cols"]) == (tables.ROWS, tables.COLS)
    assert board["central_cells"] == [cell for cell in range(tables.CELLS) if tables.CENTRE >> cell & 1]
    for cell, sides in board["adjacency"].items():
        for side, letter in enumerate(tables.SIDE_LETTERS):
            beside = -1 if sides[letter] is None else sides[letter]
            assert tables.NEIGHBOUR[int(cell), side] == beside
    assert {letter: 1 << side for side, letter in enumerate(tables.SIDE_LETTERS)} == board["direction_bits"]
    names = tables.SIDE_LETTERS
    assert all(names[(side + 2) % 4] == board["opposite"][letter] for side, letter in enumerate(names))
    assert DATA["altar"]["slots"] == tables.SLOTS == len(tables.SLOT_NAMES)
    columns = [sum(1 << 4 * row + col for row in range(4)) for col in (0, 3)]
    assert columns == [tables.WEST_COLUMN, tables.EAST_COLUMN]


def test_tiles() -> None:
    """R1.3, R1.4, R3.3."""
    assert [tile["id"] for tile in DATA["tiles"]] == list(tables.KIND_NAMES)
    assert sum(tile["count"] for tile in DATA["tiles"]) == DATA["components"]["path_tiles"]
    for kind, tile in enumerate(DATA["tiles"]):
        turned = tables.TURNED[kind].tolist()
        assert all(tables.KIND_OF[code] == kind for code in turned)
        assert (tile["family"] == "regular") == (kind < tables.REGULAR_KINDS)
        if kind >= tables.REGULAR_KINDS:
            assert tile["count"] == 1
            assert len(set(turned)) == 1
            assert turned[0] > 15
            continue
        assert tile["count"] == tables.REGULAR_TILES[kind]
        assert turned == tile["quarter_turn_masks"]
        assert turned[0] == tile["base_open_mask"]
        assert all(turned[quarter + 1] == (turned[quarter] << 1 | turned[quarter] >> 3) & 15 for quarter in range(3))
        found = {letters(code): Fraction(turned.count(code), 4) for code in turned}
        assert found == {o["open"]: Fraction(o["probability"]) for o in tile["distinct_orientations"]}
        assert all(letters(o["mask"]) == o["open"] for o in tile["distinct_orientations"])
    known = {code for code in range(tables.TILE_CODES) if tables.KIND_OF[code] >= 0}
    assert known == set(tables.TURNED.ravel().tolist())
    specials = {tile["id"]: tile for tile in DATA["tiles"][tables.REGULAR_KINDS :]}
    assert tuple(tables.TURNED[tables.KIND_NAMES.index(name), 0] for name in specials) == (
        tables.FOUR_POINT_TILE,
        tables.VOID_TILE,
        tables.BLOCK_TILE,
    )
    assert [name for name, tile in specials.items() if not tile["biddable"]] == ["block"]


def test_flowers() -> None:
    flowers = DATA["flowers"]
    assert flowers["energy_total_per_player"] == tables.ENERGY_IN_ALL
    assert flowers["energy_tie_marker"] == tables.TIE_MARKERS
    assert flowers["energy_in_bag_at_start"] == tables.ENERGY_IN_BAG
    assert flowers["soul_total_per_player"] == tables.SOULS_IN_ALL
    assert flowers["soul_on_tile_at_start"] == tables.SOULS_ON_TILE
    assert flowers["soul_in_bag_at_start"] == tables.SOULS_IN_BAG
    assert flowers["bid_value"] == {"energy": tables.BID_VALUE[tables.ENERGY], "soul": tables.BID_VALUE[tables.SOUL]}
    assert (flowers["flowers_drawn_per_bid"], flowers["bids_per_round"]) == (tables.HAND, tables.BIDS)
    assert DATA["components"]["energy_flowers"] == tables.SEATS * tables.ENERGY_IN_ALL
    assert DATA["components"]["soul_flowers"] == tables.SEATS * tables.SOULS_IN_ALL
    for players, setup in DATA["setup_by_players"].items():
        assert setup["tie_markers"] == int(players)
        assert setup["victory_target"] == tables.TARGET
        assert setup["energy_bag"] == tables.ENERGY_IN_BAG
        assert (setup["soul_bag"], setup["soul_tile"]) == (tables.SOULS_IN_BAG, tables.SOULS_ON_TILE)


def test_awards_are_halves() -> None:
    for length, awards in DATA["awards_by_path_length"].items():
        assert awards == [int(length) >> rank for rank in range(4)]


def test_players_options_and_bounds() -> None:
    assert (SPEC.min_players, SPEC.max_players) == (DATA["players"]["min"], DATA["players"]["max"])
    options, known = {option.name: option for option in SPEC.options}, DATA["options"]
    assert set(known) - {"auto_skip_forced"} == set(options)
    for name, option in options.items():
        default = known[name]["default"]
        assert option.default == (tuple(default) if isinstance(default, list) else default)
    assert options["victory_target"].default == tables.TARGET
    assert options["max_rounds"].default == tables.MAX_ROUNDS
    assert {known["summon_ties"]["default"], *known["summon_ties"]["alternatives"]} == set(options["summon_ties"].names)
    assert SPEC.auto_forced == known["auto_skip_forced"]["default"]
    for target in (1, 11, 12, 99, 2**31 - 1):
        assert SPEC.settings(2, victory_target=target).values["victory_target"] == target
    for players, cap in DATA["bounds"]["with_cap_150"].items():
        most = DATA["bounds"]["decisions_per_round_max"]["special"][players]
        assert SPEC.max_decisions[int(players)] == cap == tables.MAX_ROUNDS * most


def test_layouts() -> None:
    actions = DATA["actions"]
    assert ACTIONS.full_size == actions["size"]
    assert ACTIONS.start("bid") == actions["bid_slot"]["from"]
    assert ACTIONS.start("cell") == actions["cell"]["from"]
    assert ACTIONS.start("decline") == actions["decline"]["from"]
    assert [block.name for block in ACTIONS.blocks if block.secret] == ["bid"]
    assert [[block.name, block.size] for block in OBSERVATIONS.blocks] == DATA["observation"]["blocks"]
    assert OBSERVATIONS.full_size == DATA["observation"]["total"]
    asked = [phase.name.lower() for phase in Phase if phase not in (Phase.ROUND, Phase.RESOLVE, Phase.OVER)]
    assert asked == DATA["phases"]


@pytest.mark.parametrize("name", ARRAYS)
def test_tables_are_read_only(name: str) -> None:
    assert not vars(tables)[name].flags.writeable
