"""The 118 actions of London (R14.3) as named blocks, and the offsets that the compiled rules use."""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.games.london.tables import COLUMNS, PLACES, ROWS, SEATS, SEEN_CARDS, TYPES

ACTIONS: Final = ActionLayout(
    Block("card", (TYPES,), "a card type: from the hand, or on top of a stack, as the node asks", "R14.3, R14.4"),
    Block("slot", (ROWS, COLUMNS), "a space of the Card Display by row and column; row 1 fills first", "R14.3, R5"),
    Block("deck", (), "the top card of the deck", "R6.3"),
    Block("peek", (SEEN_CARDS,), "a seen University card left, the nearest to the top first", "R6.5", secret=True),
    Block("borough", (PLACES,), "a borough to buy, or for an Underground counter", "R10.1, R9.14"),
    Block("opponent", (SEATS - 1,), "the player 1, 2 or 3 seats on", "R9.22, R9.23"),
    Block("new_stack", (), "place on a new stack", "R7.5"),
    Block("face_down_stack", (), "place on a stack whose top card lies face down", "R7.5"),
    Block("run_city", (), "action 2: run the city", "R9.1"),
    Block("take_three", (), "action 4: take three cards", "R8.1"),
    Block("done", (), "stop, or take no more", "R15"),
    Block("exchange", (), "use the Stock Exchange", "R7.11"),
    Block("loan", (), "take a voluntary loan", "R11.5"),
    Block("flip_self", (), "flip the card just activated", "R9.7"),
    Block("flip_hospital", (), "flip a Hospital instead", "R9.12"),
)

CARD: Final = ACTIONS.start("card")  # + type
SLOT: Final = ACTIONS.start("slot")  # + space
DECK: Final = ACTIONS.start("deck")
PEEK: Final = ACTIONS.start("peek")  # + place among the seen cards, from 0
BOROUGH: Final = ACTIONS.start("borough")  # + borough
OPPONENT: Final = ACTIONS.start("opponent")  # + seats on - 1
NEW_STACK: Final = ACTIONS.start("new_stack")
FACE_DOWN_STACK: Final = ACTIONS.start("face_down_stack")
RUN_CITY: Final = ACTIONS.start("run_city")
TAKE_THREE: Final = ACTIONS.start("take_three")
DONE: Final = ACTIONS.start("done")
EXCHANGE: Final = ACTIONS.start("exchange")
LOAN_TAKEN: Final = ACTIONS.start("loan")
FLIP_SELF: Final = ACTIONS.start("flip_self")
FLIP_HOSPITAL: Final = ACTIONS.start("flip_hospital")
NUM_ACTIONS: Final = ACTIONS.full_size
