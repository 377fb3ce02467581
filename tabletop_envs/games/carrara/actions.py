"""The 85 actions of The Palaces of Carrara (R17.1) as named blocks, and the offsets that the compiled rules use."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.games.carrara.tables import CITIES, COLOURS, GROUPS, LEVELS, SEGMENTS, TYPES

ACTIONS: Final = ActionLayout(
    Block("buy_turn", (), "buy bricks: turn the wheel first", "R4.2"),
    Block("buy_stay", (), "buy bricks without turning the wheel", "R11.1"),
    Block("tile", (TYPES, LEVELS), "build this tile (type, level); in `site`: replace it", "R5.1, R13.4"),
    Block("score_city", (CITIES,), "score a city", "R6.3"),
    Block("score_type", (TYPES,), "score a type of building", "R6.2"),
    Block("score_group", (GROUPS,), "score the city or the country group", "R14.1"),
    Block("relief", (), "take 2 coins, when nothing else is legal", "R10.1"),
    Block("city", (CITIES,), "the city to build in", "R5.2"),
    Block("segment", (SEGMENTS,), "the segment to buy from", "R4.4"),
    Block("colour", (COLOURS,), "take a brick of this colour, or pay one", "R17.4, R17.6"),
    Block("improve", (CITIES,), "take the improvement of a city", "R13.7"),
    Block("object", (TYPES,), "buy an object", "R7.1"),
    Block("done", (), "take no more bricks; buy no object; do not announce", "R17.4, R7.1, R8.3"),
    Block("announce", (), "announce the end", "R8.3"),
)

BUY_TURN: Final = ACTIONS.start("buy_turn")
BUY_STAY: Final = ACTIONS.start("buy_stay")
TILE: Final = ACTIONS.start("tile")  # + 6 * type + level
SCORE_CITY: Final = ACTIONS.start("score_city")  # + city
SCORE_TYPE: Final = ACTIONS.start("score_type")  # + type
SCORE_GROUP: Final = ACTIONS.start("score_group")  # + group
RELIEF: Final = ACTIONS.start("relief")
CITY: Final = ACTIONS.start("city")  # + city
SEGMENT: Final = ACTIONS.start("segment")  # + segment
COLOUR: Final = ACTIONS.start("colour")  # + colour
IMPROVE: Final = ACTIONS.start("improve")  # + city
OBJECT: Final = ACTIONS.start("object")  # + type
DONE: Final = ACTIONS.start("done")
ANNOUNCE: Final = ACTIONS.start("announce")
NUM_ACTIONS: Final = ACTIONS.full_size
