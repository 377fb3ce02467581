"""The 278 actions of Hansa Teutonica as named blocks, and the offsets that the compiled rules use.

The option `two_player_pawn` appends 13 (R16.6).
"""

from __future__ import annotations

from typing import Final

from tabletop_envs.core.layout import ActionLayout, Block
from tabletop_envs.games.hansa_teutonica.tables import ABILITIES, PROVINCES, ROUTES, SPACES, SWAP_PAIRS

MAX_INCOME_MERCHANTS: Final = 4  # R4.2
PAY_KINDS: Final = 3  # R6.2: merchants in the fee, 0 to 2

REWARD_NAMES: Final = (
    "nothing",
    "office A trader",
    "office A merchant",
    "office B trader",
    "office B merchant",
    "ability",
    "extra A trader",
    "extra A merchant",
    "extra B trader",
    "extra B merchant",
    "coellen 7",
    "coellen 8",
    "coellen 9",
    "coellen 11",
)

ACTIONS: Final = ActionLayout(
    Block("place_trader", (ROUTES,), "trader to route", "R5, R6.4"),
    Block("place_merchant", (ROUTES,), "merchant to route", "R5, R6.4"),
    Block("route", (ROUTES,), "choose route: establish, put a piece, put a marker", "R8.1, R6.3, R7.1, R10.8"),
    Block("space", (SPACES,), "choose the piece on space: displace, move, exchange, lift, remove", "R6.1, R7, R10.7"),
    Block("income", (MAX_INCOME_MERCHANTS + 1,), "income with 0 to 4 merchants", "R4.2"),
    Block("pay", (2, PAY_KINDS), "trader or merchant placed, 0 to 2 merchants in the fee", "R6.2"),
    Block("reward", (len(REWARD_NAMES),), f"{', '.join(REWARD_NAMES)}", "R8.4"),
    Block("use_plus3", (), "use a marker plus 3", "R10.5"),
    Block("use_plus4", (), "use a marker plus 4", "R10.5"),
    Block("use_remove3", (), "use a marker remove three", "R10.7"),
    Block("use_upgrade", (ABILITIES,), "use a marker upgrade: keys, actions, privilege, book, money", "R10.6"),
    Block("use_swap", (len(SWAP_PAIRS),), "use a marker swap on pair of offices", "R10.4"),
    Block("done", (), "end the turn, stop, decline", "R3.4, R6.4, R7.2"),
    Block("pawn", (PROVINCES,), "pawn to province", "R16.6", option="two_player_pawn"),
)

PLACE: Final = ACTIONS.start("place_trader")  # + ROUTES * kind + route
ROUTE: Final = ACTIONS.start("route")  # + route
SPACE: Final = ACTIONS.start("space")  # + space
INCOME: Final = ACTIONS.start("income")  # + merchants
PAY: Final = ACTIONS.start("pay")  # + PAY_KINDS * kind placed + merchants in the fee
REWARD: Final = ACTIONS.start("reward")  # + one of the following
USE_PLUS3: Final = ACTIONS.start("use_plus3")
USE_PLUS4: Final = ACTIONS.start("use_plus4")
USE_REMOVE3: Final = ACTIONS.start("use_remove3")
USE_UPGRADE: Final = ACTIONS.start("use_upgrade")  # + ability
USE_SWAP: Final = ACTIONS.start("use_swap")  # + pair
DONE: Final = ACTIONS.start("done")
PAWN: Final = ACTIONS.start("pawn")  # + province
MAX_ACTIONS: Final = ACTIONS.full_size

# rewards of an established route (R8.4)
NOTHING: Final = 0
OFFICE: Final = 1  # + 2 * end + kind
ABILITY: Final = 5
EXTRA: Final = 6  # + 2 * end + kind
COELLEN: Final = 10  # + circle
REWARDS: Final = len(REWARD_NAMES)
